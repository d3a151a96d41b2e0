"""Databases by location: the one place that decides which kind of store ``--db`` means."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Protocol

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.location import Address, Location, location
from deniable_server.store.copying import CopySummary, copy
from deniable_server.store.integrity import Inspection
from deniable_server.store.interface import Store, utc_today
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite.file import SqliteFile


class ServingRight(Protocol):
    """The right of a collector to serve a database."""

    def begin(self) -> None:
        """Note this process as the last collector of the database, after the database was accepted."""


class Database(Protocol):
    """A database that nobody has opened yet. Its text is its name in messages."""

    @property
    def exists(self) -> bool:
        """Whether the database exists; opening one that does not makes it, if possible."""

    def open(self, today: Callable[[], datetime.date], may_update: bool = False, may_make: bool = True) -> SqlStore:
        """The store of the database; one of an older version only with ``may_update``, which brings it up to date.

        Without ``may_make`` a database that does not exist, or has no tables, is an error, and nothing is made.
        """

    def serving(self) -> AbstractContextManager[ServingRight]:
        """The right to serve the database, for as long as the block lasts."""

    def alone(self) -> AbstractContextManager[object]:
        """The right to have the database alone: no collector serves it, for as long as the block lasts.

        Raises
        ------
        DeniableError
            If a collector serves it.
        """

    def warnings(self) -> list[str]:
        """Warnings for the operator about what the database writes down besides the tables."""

    def inspect(self, most_rows: int | None = None) -> Inspection:
        """Inspect the database without changing it, even in use: at most ``most_rows`` rows, by default all of them."""

    def back_up(self, destination: Path) -> Inspection:
        """Copy the database to a new file, and inspect the copy."""


def database_at(place: str | Path | Address) -> Database:
    """The database of that name: a file, or a PostgreSQL database where it begins with ``postgresql://``."""
    where = location(place)
    if isinstance(where, Address):
        # Imported here, because psycopg is an optional dependency.
        from deniable_server.store.postgresql.database import PostgresqlDatabase

        return PostgresqlDatabase(where)
    return SqliteFile(where)


def open_store(
    place: str | Path | Address,
    today: Callable[[], datetime.date] = utc_today,
    may_update: bool = False,
    may_make: bool = True,
) -> Store:
    """The store of that database; with `may_update`, for a collector that starts, also of one of an older version.

    Without `may_make`, for commands that change or read what a collector has, a database must be there already.

    Raises
    ------
    DeniableError
        If it cannot be opened, is of another kind, was written by another version, or is a copy that is not complete.
    """
    store = database_at(place).open(today, may_update, may_make)
    if store.is_unfinished:
        store.close()
        raise DeniableError(f"database {store.name}: is a copy that is not complete; run 'deniable copy' again")
    return store


def copy_everything(
    source: str | Path | Address, target: str | Path | Address, tell: Callable[[Survey], None] = lambda survey: None
) -> CopySummary:
    """Copy a database into another one, while no collector serves either; see `deniable_server.store.copying.copy`.

    Raises
    ------
    DeniableError
        If a collector serves one of them, or they are the same.
    """
    one, other = database_at(source), database_at(target)
    if _is_same(location(source), location(target)):
        raise DeniableError(f"copy: must be of two databases, got {one} twice")
    # Both locks before either is opened: opening brings nothing up to date here, and reads what nobody changes.
    with one.alone(), other.alone(), closing(one.open(utc_today)) as store, closing(other.open(utc_today)) as into:
        if store.is_unfinished:
            raise DeniableError(f"copy: must be of a complete database, got {one}, a copy that is not complete")
        return copy(store, into, tell)


def _is_same(one: Location, other: Location) -> bool:
    """Whether two locations are one database, perhaps under two names of a file."""
    if isinstance(one, Path) and isinstance(other, Path) and one.exists() and other.exists():
        return one.samefile(other)
    return one == other
