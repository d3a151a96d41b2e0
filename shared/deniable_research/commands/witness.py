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
@click.option("--token", metavar="TOKEN", envvar="DENIABLE_TOKEN", help="An API token, where results need one.")
@click.option(
    "--heads",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Where the heads are kept; it is made if it is not there.",
)
def witness(addresses: tuple[str, ...], token: str | None, heads: Path) -> None:
    """Keep the heads of the logs of releases, and say when one does not extend the last.

    For a timer: run it once a day from a machine that the collector's operator does not run. ADDRESSES are links to
    surveys. The first log that does not extend what was seen before ends the command with status 1, and its old head
    stays in the file.
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
