"""``deniable check``"""

from __future__ import annotations

import click

from deniable_commands.main import example
from deniable_server.commands import options
from deniable_server.commands.survey import existing
from deniable_server.location import Location
from deniable_server.store import database_at


@click.command(epilog=example("deniable check --db deniable.db", "deniable check --db backup.db"))
@options.database
def check(database: Location) -> None:
    """Check that a database is undamaged: compare rows with their checksums, and recount the tallies.

    You can check a database while a collector uses it. The command fails if anything differs from what was written.
    """
    inspection = database_at(existing(database)).inspect()
    # SQLite says this of a file that does not begin as databases do, which is nearly always another file.
    if inspection.findings == ("file is not a database",):
        raise click.ClickException(f"database {database}: is none, or its beginning is destroyed; name it with --db")
    # All findings, not the first alone: they say together whether one row or a whole disk is damaged.
    for finding in inspection.findings:
        click.echo(finding)
    if inspection.findings:
        raise click.ClickException(f"database {database}: is damaged; put a backup in its place")
    click.echo(f"{database}: sound, {inspection}")
