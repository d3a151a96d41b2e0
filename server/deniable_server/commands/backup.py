"""``deniable backup``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable_commands.files import NEW_FILE
from deniable_commands.main import example
from deniable_server.commands import options
from deniable_server.commands.survey import existing
from deniable_server.location import Location
from deniable_server.store import database_at


@click.command(epilog=example("deniable backup backup-2026-12-20.db --db deniable.db"))
@click.argument("destination", type=NEW_FILE)
@options.database
def backup(destination: Path, database: Location) -> None:
    """Copy the database to a new file, even while a collector uses it, and check the copy.

    To restore, stop the collector and replace its database by the copy.
    """
    # The copy is inspected, not the original: a backup that cannot be restored is worth nothing.
    inspection = database_at(existing(database)).back_up(destination)
    unchecked = "; of an older version, so their checksums were not compared" if inspection.is_older else ""
    click.echo(f"{destination}: {inspection}{unchecked}")
