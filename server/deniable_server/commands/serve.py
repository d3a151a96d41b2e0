"""``deniable serve``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli import example
from deniable_server.commands import options


@click.command(
    epilog=example(
        "deniable serve", "deniable serve --db survey.db --port 8080", "DENIABLE_DB=survey.db deniable serve"
    )
)
@options.database
@click.option("--host", default="127.0.0.1", envvar="DENIABLE_HOST", show_default=True, show_envvar=True)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, envvar="DENIABLE_PORT", show_default=True, show_envvar=True
)
def serve(database: Path, host: str, port: int) -> None:
    """Run the collector until Ctrl-C."""
    from deniable_server.serving import serve as run
    from deniable_server.store import Store

    Store(database).close()  # a database that cannot be opened is an error here, not in a worker
    click.echo(f"Collector on http://{host}:{port} with the database {database}. Ctrl-C stops it.")
    run(database, host, port)
