"""``deniable serve``"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from deniable_commands.main import example
from deniable_server.location import Location
from deniable_server.people.links import cautions_about_start
from deniable_server.settings import Rehearsal, Settings, flag, settings_from, variable

NAMED = 3
"""Largest number of unchecked surveys that are named at the start; a collector may have thousands."""


METAVARS: Mapping[object, str] = {
    bool: "YES|NO",
    Rehearsal: "YES|NO|DEMO",
    int: "NUMBER",
    float: "NUMBER",
    Location: "DATABASE",
}
"""What help prints in place of the value of a flag, by the type of its setting; other settings take a text."""


def flags_of_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for each setting; `settings_from` reads the texts of flags and of the environment alike."""
    for name, field in reversed(Settings.model_fields.items()):
        default = "" if field.default is None else f"; default: {field.default}"
        command = click.option(
            flag(name),
            name,
            metavar=METAVARS.get(field.annotation, "TEXT"),
            help=f"{field.description}  [env var: {variable(name)}{default}]",
        )(command)
    return command


@click.command(
    epilog=example(
        "deniable serve",
        "deniable serve --db survey.db --port 8080 --rate-limit 1000/minute",
        "DENIABLE_DB=survey.db deniable serve",
    )
)
@flags_of_settings
def serve(**flags: Any) -> None:
    """Run the collector until Ctrl-C."""
    run("Collector", flags)


def run(what: str, flags: Mapping[str, Any], is_issuer: bool = False) -> None:
    """Run a collector, or an issuer, with these values of flags."""
    from deniable_server import logs, serving
    from deniable_server.store import database_at, open_store
    from deniable_server.store.integrity import ROWS_AT_START, refuse_damaged

    # Flags go unread to the settings, so that a flag and a variable of the environment are judged alike.
    settings = settings_from(flags)
    database = database_at(settings.db)
    with serving.listen(settings.host, settings.port) as listener, database.serving() as right:
        # A database that cannot be opened is an error here, not in a worker; and here nobody else is serving it.
        logs.configure()  # before the database is opened, which may make or migrate it and says so in the log
        store = open_store(settings.db, may_update=True)
        store.close()
        right.begin()
        for warning in (*cautions_about_start(settings.public_url or ""), *database.warnings()):
            click.echo(f"Warning: {warning}", err=True)
        unread = refuse_damaged(database, database.inspect(ROWS_AT_START)).unread
        if unread:
            more = len(unread) - NAMED
            named = [*unread[:NAMED], *([f"{more:,} more"] if more > 0 else [])]
            click.echo(
                f"Not compared with their checksums, for there is not the time at start: {', '.join(named)}; "
                "'deniable check' does it.",
                err=True,
            )
        where = origin(settings.host, settings.port)
        click.echo(f"{what} on {where} with the {'new ' * store.is_new}database {database}. Ctrl-C stops it.")
        serving.serve(settings, listener, serving.load_issuer if is_issuer else serving.load_collector)


def origin(host: str, port: int) -> str:
    """The address of a collector that listens on a host and a port, as browsers take it.

    >>> origin("127.0.0.1", 8000), origin("::1", 8000)
    ('http://127.0.0.1:8000', 'http://[::1]:8000')
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
