"""``deniable witness``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable.errors import DeniableError
from deniable_commands.main import example
from deniable_research.output import counted
from deniable_research.results.collector import NoSurvey, PublishedBytes
from deniable_research.results.log import NotVerified, fetch_log
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
    collector's operator does not control. If a log does not extend the one seen before, or cannot be fetched, the
    command says so, looks at the other logs, and ends with status 1. The old head stays in the file.
    """
    kept = read_heads(heads)
    failed = 0
    # Each address is read before any is asked: one that is mistyped is no finding about a collector.
    for published in [PublishedBytes(address, token) for address in addresses]:
        before = kept.get(published.address)
        try:
            log = fetch_log(published.fetch, published.survey_id)
            if before is not None:
                check_extends(log, before)
        except DeniableError as error:
            # A collector that refuses one log must not keep the others from being looked at.
            failed += 1
            gone = f" (it had {counted(before.size, 'release')})" if before and isinstance(error, NoSurvey) else ""
            click.echo(f"{published.address}: {error}{gone}", err=True)
            continue
        kept[published.address] = KeptHead.of(log)
        # After each: whatever stops this command must not lose what was learnt.
        write_heads(heads, kept)
        seen = f", {log.head.size - before.size} new" if before else ""
        click.echo(f"{published.address}: {counted(log.head.size, 'release')}{seen}")
    if failed:
        raise NotVerified(f"witness: every log must be there and extend the one seen before, {failed} did not")
