"""``deniable sealing keys | list``"""

from __future__ import annotations

import datetime
from pathlib import Path

import click

from deniable.survey.sealed import MOST_KEYS, WEEK
from deniable.table import format_table
from deniable_commands.main import example

FOLDER = click.option(
    "--keys",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sealing-keys"),
    show_default=True,
    help="The folder for the private keys. Do not include this folder in any backup.",
)


@click.group()
def sealing() -> None:
    """Generate the keys to which devices seal (encrypt) reports, one per week."""


@sealing.command(
    epilog=example(
        "deniable sealing keys --from 2026-11-23 --weeks 4 >> my-survey.toml",
        "deniable sealing keys --weeks 4 --keys /var/lib/deniable/sealing-keys",
    )
)
@click.option(
    "--weeks", type=click.IntRange(1, MOST_KEYS), required=True, help="Number of weeks during which people answer."
)
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), help="First day of the first week; default: today.")
@click.option("--kind", type=click.Choice(["p256", "x25519"]), default="p256", show_default=True, help="Kind of keys.")
@FOLDER
def keys(weeks: int, first: datetime.datetime | None, kind: str, folder: Path) -> None:
    """Generate keys for one survey, and print the table [sealed] for its TOML file.

    The collector needs the folder: 'deniable serve --sealing-keys FOLDER'. It destroys each key two weeks after the
    key's week. After that, nobody can open what was sealed to it. Every browser supports p256; x25519 needs a
    browser from 2025 or later.
    """
    from deniable_server.sealing import SealingKey

    day = first.date() if first else datetime.datetime.now(datetime.UTC).date()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = [SealingKey.generate(day + number * WEEK, kind) for number in range(weeks)]
    for key in made:
        key.write(folder)
    rows = "".join(f'    "{key.public}",\n' for key in made)
    click.echo(f"[sealed]\nfirst = {day}\nkeys = [\n{rows}]")
    last = day + weeks * WEEK - datetime.timedelta(days=1)
    click.echo(f"The survey needs closes = {last}, or a day before, above its first table as well.", err=True)


@sealing.command(name="list", epilog=example("deniable sealing list"))
@FOLDER
def list_keys(folder: Path) -> None:
    """List the keys in a folder, and the day on which the collector destroys each of them."""
    from deniable_server.sealing import SealingKeys

    rows = [[str(key.first), str(key.destroyed_on), key.public[-16:]] for key in SealingKeys(folder).every()]
    click.echo(format_table(["week from", "destroyed on", "key ends in"], rows) if rows else "There are no keys.")
