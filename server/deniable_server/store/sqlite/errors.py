"""The translation of SQLite's errors into those of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable_server.store.errors import StoreDamaged, StoreFull, StoreUnavailable
from deniable_server.store.sqlite.lock import last_holder

_FULL = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # what a limit on the size of files looks like
    sqlite3.SQLITE_IOERR_SHMSIZE,  # the index of the log could not grow
    sqlite3.SQLITE_IOERR_TRUNCATE,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PRIMARY = 0xFF
"""The low byte of an extended result code is the result code that it refines."""


def is_in_use(error: BaseException | None) -> bool:
    """Whether SQLite gave up waiting for another program that has locked the database."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY


def in_use(path: Path) -> StoreUnavailable:
    """The error for a database that another program keeps locked; it names the last known collector."""
    server = last_holder(path)
    return StoreUnavailable(
        f"database {path.name}: another program has locked it (SQLITE_BUSY), such as a collector of another version, "
        "a backup or an open transaction of the sqlite3 shell; wait until it is done or stop it, and try again"
        f"{f'. Its last known collector: {server}' if server else ''}",
        "SQLITE_BUSY",
    )


@contextmanager
def in_our_words(path: Path) -> Iterator[None]:
    """Raise the errors of a store in place of SQLite's for a full disk, a damaged file, and a file in use."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0)  # errors of the module itself have none
        if code in _FULL:
            raise StoreFull(
                f"database: the disk takes no more ({error.sqlite_errorname}); nothing was stored, "
                "the same can be sent again once there is space"
            ) from error
        # Extended codes, such as SQLITE_CORRUPT_INDEX, refine the primary code in the low byte.
        if code & _PRIMARY in _DAMAGED:
            raise StoreDamaged(
                f"database {path.name}: is damaged ({error}); stop the collector, look at it with 'deniable check', "
                "and put a backup in its place"
            ) from error
        if is_in_use(error):
            raise in_use(path) from error
        if isinstance(error, sqlite3.OperationalError):
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            raise StoreUnavailable(f"database {path.name}: cannot be used ({name}: {error})", name) from error
        raise
