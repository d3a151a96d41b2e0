"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from deniable.errors import ParameterError
from deniable_commands.files import NEW_FILE
from deniable_server.access import remote
from deniable_server.location import Location, location
from deniable_server.people.links import id_at, is_start, read_place
from deniable_statistics.data.writing import WRITTEN

DATABASE = Path("deniable.db")
"""Default of ``--db``, repeated from `deniable_server.settings`: authors without a collector cannot import that."""


class LocationType(click.ParamType[Location]):
    """A file, or the address of a PostgreSQL database."""

    name = "database"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Location:
        """The location that was named; a folder is refused here, because SQLite's own message would not say why."""
        try:
            where = location(value)
        except ParameterError as error:
            self.fail(str(error), parameter, context)
        if isinstance(where, Path) and where.is_dir():
            self.fail(f"File {str(where)!r} is a directory.", parameter, context)
        return where


database = click.option(
    "--db",
    "database",
    type=LocationType(),
    metavar="DATABASE",
    default=DATABASE,
    envvar="DENIABLE_DB",
    show_default=True,
    show_envvar=True,
    help="The collector's SQLite file, or postgresql://user@host/name.",
)

url = click.option("--url", help="The address of a running collector, instead of --db, such as http://127.0.0.1:8000.")

token = click.option(
    "--token",
    envvar="DENIABLE_TOKEN",
    show_envvar=True,
    help="API token for --url, made by 'deniable token create'.",
)

to = click.option(
    "--to",
    metavar="FILE",
    type=NEW_FILE,
    help=f"A file with labels: {WRITTEN}.",
)

public_url = click.option(
    "--public-url",
    envvar="DENIABLE_PUBLIC_URL",
    show_envvar=True,
    default="http://127.0.0.1:8000",
    show_default=True,
    help=(
        "The address at which people reach the collector; printed links start with it. 'survey publish' stores it for "
        "the links that are made later."
    ),
)


def is_given(name: str) -> bool:
    """Whether an option was given, by flag or environment, and does not have its default."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def people_at(collector: str, public_url: str) -> str:
    """The address with which the links of a running collector start, which a command reaches at another one perhaps.

    ``--public-url`` always wins. Somebody who reaches the collector at an address of this machine gets the address in
    the environment, or the collector's own, because nobody else could follow a link to this machine.
    """
    source = click.get_current_context().get_parameter_source("public_url")
    if source is ParameterSource.COMMANDLINE:
        return public_url
    if not remote.is_this_machine(urlsplit(collector).hostname or ""):
        return collector
    if source is ParameterSource.ENVIRONMENT:
        return public_url
    said = remote.public_url(collector)
    return said if said and is_start(said) else collector


def asked_at(collector: str | None, url: str | None) -> str | None:
    """The collector that a command asks: that of --url, or the one that a link names; None means the database.

    ``--db`` on the command line wins over the collector of a link. ``DENIABLE_DB`` does not: it was set for other
    commands, and a reader of the figures would take them for those at the link.
    """
    source = click.get_current_context().get_parameter_source("database")
    return url or (None if source is ParameterSource.COMMANDLINE else collector)


def survey_at(text: str, url: str | None) -> tuple[str, str | None]:
    """The id of a survey that was named by id or link, and the collector to ask, as `asked_at` has it.

    Raises
    ------
    SurveyError
        If the text is a link to no survey, or to one of another collector than that of --url.
    """
    survey_id = id_at(text, url)
    # What is no link is an id, which the store knows or refuses.
    collector = None if survey_id == text else read_place(text).collector
    return survey_id, asked_at(collector, url)
