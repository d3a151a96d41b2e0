"""``deniable witness``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable_commands.main import example
from deniable_research.results.collector import PublishedBytes
from deniable_research.results.verifying import fetch_log
from deniable_research.results.witness import KeptHead, check_extends, read_heads, write_heads


@click.command(
    epilog=example("deniable witness https://collector.example/s/rq63yln63zxn277654vvg45c44 --heads heads.json")
)
@click.argument("addresses", nargs=-1, required=True)
@click.option("--token", metavar="TOKEN", envvar="DENIABLE_TOKEN", help="An API token, if the results need one.")
@click.option(
    "--heads",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File in which the heads are stored; it is created if it does not exist.",
)
def witness(addresses: tuple[str, ...], token: str | None, heads: Path) -> None:
    """Record the signed heads of release logs, and detect logs whose past was changed.

    ADDRESSES are links to surveys. Each has a log of its releases, which may only grow; the signed head of a log says
    how long it is and what it contains. Run this command with a timer, for example once a day, on a machine that the
    collector's operator does not control. If a log does not extend the one seen before, the command ends with status 1,
    and the old head stays in the file.
    """
    kept = read_heads(heads)
    for address in addresses:
        published = PublishedBytes(address, token)
        log = fetch_log(published.fetch, published.survey_id)
        if before := kept.get(published.address):
            check_extends(log, before)
        kept[published.address] = KeptHead.of(log)
        # After each: a log that fails must not lose what was learnt of the others.
        write_heads(heads, kept)
        seen = f", {log.head.size - before.size} new" if before else ""
        click.echo(f"{published.address}: {log.head.size} releases{seen}")
