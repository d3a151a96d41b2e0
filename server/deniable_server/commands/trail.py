"""The line that a command leaves in the operators' log when it changes a database.

It has the keys of the lines that a collector writes about calls over HTTP (`deniable_server.logs`). Like them it is
about operators only: it holds no token, no link and nothing about a respondent.
"""

from __future__ import annotations

import datetime
import getpass
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from deniable.errors import ParameterError
from deniable_server.location import Location

VARIABLE = "DENIABLE_LOG"
"""Environment variable with the file that gets the lines; without it they go to stderr, unless that is a terminal."""

_ALL_THE_SAME = {"done": "was done all the same", "failed": "failed, too"}
"""The end of a message about a line that could not be written, by the outcome of the operation."""


@contextmanager
def operation(call: str, database: Location, **about: str | int) -> Iterator[None]:
    """Write a line about a block that changes a database when it has ended, with its outcome: done or failed.

    Raises
    ------
    ParameterError
        If the file that `VARIABLE` names cannot be opened; then the block does not run. Or if the line cannot be
        written, for example because the disk is full; then the block has run, and the message says so.
    """
    path = os.environ.get(VARIABLE)
    # Nothing is written yet: a file that cannot be opened must stop the operation, which would leave no trace.
    if path:
        _append(path, "")
    outcome = "failed"
    try:
        yield
        outcome = "done"
    finally:
        _write(path, {"call": call, "user": _user(), "database": str(database), **about, "outcome": outcome})


def _write(path: str | None, details: dict[str, str | int]) -> None:
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = json.dumps({"time": time, "level": "info", "event": "operator", **details})
    if path:
        _append(path, f"{line}\n", f"; {details['call']} {_ALL_THE_SAME[str(details['outcome'])]}")
    elif sys.stderr is not None and not sys.stderr.isatty():
        click.echo(line, err=True)


def _append(path: str, text: str, but: str = "") -> None:
    # O_APPEND, so that the lines of commands that run at the same time do not overwrite each other.
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ParameterError(f"{VARIABLE}: must be a file that can be written, got: {error.strerror}{but}") from None


def _user() -> str:
    """The login name of the person who runs the command; under sudo that of the person who called sudo."""
    try:
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name, as in containers
        return str(os.getuid()) if sys.platform != "win32" else "unknown"
