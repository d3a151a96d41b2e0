"""``deniable copy``"""

from __future__ import annotations

import click

from deniable_commands.main import example
from deniable_server.commands import options
from deniable_server.commands.survey import existing
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.store import copy_everything
from deniable_server.store.integrity import contents


@click.command(
    epilog=example(
        "deniable copy survey.db postgresql://ada@db.example/deniable",
        "deniable copy postgresql://ada@db.example/deniable backup-2026-12-20.db",
    )
)
@click.argument("source", metavar="FROM", type=options.LocationType())
@click.argument("target", metavar="TO", type=options.LocationType())
def copy(source: Location, target: Location) -> None:
    """Copy everything from one database to another, and compare what arrived with its checksums.

    Stop the collectors of both databases first. If the copy is interrupted, run the command again: it continues
    where it stopped.
    """
    # The trail names the target, which the command changes; the source is only read, and must exist.
    with operation("copy", target, source=str(source)):
        copied = copy_everything(existing(source), target, lambda survey: click.echo(f"{survey.id}  {survey.title}"))
    click.echo(contents(*copied))
