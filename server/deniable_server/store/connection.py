"""A connection whose commits are on the disk when they return, and whose files keep nothing that was deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from deniable.errors import DeniableError
from deniable_server.store.errors import in_our_words

WAIT_MS = 10_000
"""How long one process waits for another one's transaction."""


def connect(path: Path) -> Database:
    """Open a database so that a commit is on the disk when it returns."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT_MS / 1000)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # or sorting could leave copies of rows in other files
        connection.execute("PRAGMA foreign_keys = ON")
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    except sqlite3.DatabaseError as error:
        raise DeniableError(f"database {path}: cannot be opened: {error}") from None
    if (journal, synchronous) != ("wal", 2):  # read back: a stored report must mean a report on disk
        raise DeniableError(f"database {path}: must run with WAL and synchronous FULL, got {journal}, {synchronous}")
    return Database(connection)


@contextmanager
def transaction(db: Database, path: Path, begin: str = "BEGIN IMMEDIATE") -> Iterator[Database]:
    """A transaction that holds the write lock from its start, so that what it reads cannot change under it.

    With ``begin="BEGIN"`` one whose reads all see the same state.
    """
    with in_our_words(path):
        db.conn.execute(begin)
        try:
            yield db
            db.conn.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


def truncate_log(db: Database, path: Path) -> bool:
    """Move everything from the write-ahead log to the database and leave the log empty; whether it is.

    The log holds pages in the order in which they were written, and so tells when which report came. Somebody who
    reads at this moment keeps it from being emptied; nobody waits for that, the next time will do.
    """
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or not log.stat().st_size:
        return True
    with in_our_words(path):
        db.conn.execute("PRAGMA busy_timeout = 0")
        try:
            busy, _, _ = db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            db.conn.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
    return not busy
