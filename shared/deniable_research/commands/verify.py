"""``deniable verify``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable_commands.main import example
from deniable_research.results.collector import PublishedBytes
from deniable_research.results.log import NotVerified
from deniable_research.results.verifying import verify as verify_all
from deniable_research.results.witness import read_heads


@click.command(
    epilog=example(
        "deniable verify https://collector.example/s/rq63yln63zxn277654vvg45c44",
        "deniable verify https://collector.example/s/rq63yln63zxn277654vvg45c44 --heads heads.json",
    )
)
@click.argument("address")
@click.option("--token", metavar="TOKEN", envvar="DENIABLE_TOKEN", help="An API token, if the results need one.")
@click.option(
    "--heads",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file that 'deniable witness' wrote: the log must still contain everything that it recorded.",
)
def verify(address: str, token: str | None, heads: Path | None) -> None:
    """Recompute every published number of a survey, and check its signatures and its log.

    ADDRESS is a link to the survey or its results. The command prints a line for each check that succeeds. At the first
    one that fails, it says what is wrong and ends with status 1.
    """
    published = PublishedBytes(address, token)
    seen = None if heads is None else read_heads(heads).get(published.address)
    if heads is not None and seen is None:
        raise NotVerified(f"heads: hold none of {published.address}; 'deniable witness' keeps one")
    for line in verify_all(published.fetch, published.survey_id, seen):
        click.echo(line)
