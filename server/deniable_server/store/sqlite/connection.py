"""A connection whose commits are on the disk when they return, and whose files keep nothing that was deleted."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from deniable.errors import DeniableError
from deniable_server.store.errors import StoreReplaced
from deniable_server.store.sqlite.database_files import FileConnection, Siblings, beside, identity, refuse_replaced
from deniable_server.store.sqlite.errors import in_our_words, in_use, is_in_use
from deniable_server.store.sqlite.library import Database

WAIT_MS = 10_000
"""Timeout for another process's transaction, in milliseconds."""

ROWS_AT_ONCE = 64
"""Number of rows in one statement: with 100 questions, 6,528 of the 32,766 values that SQLite takes."""


class SqliteConnection(Database):
    """A `deniable_server.store.connection.Connection` to a SQLite file."""

    def execute(self, sql: str, parameters: Sequence[Any] | dict[str, Any] | None = None) -> sqlite3.Cursor:
        """Run one statement; unlike sqlite-utils, without a look at the kind of the statement before."""
        return self.conn.execute(sql, parameters or ())

    def stream(self, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, however many."""
        yield from self.execute(query, values)

    def rows_with(
        self, columns: str, table: str, key: str, wanted: Iterable[str], *, lock: bool = False
    ) -> Iterable[Any]:
        """Rows by their keys. A transaction that writes has the whole database to itself, so nothing needs a lock."""
        # One parameter for any number of keys; CROSS JOIN keeps SQLite from scanning the table instead.
        kept = f"SELECT {columns} FROM json_each(?) AS asked CROSS JOIN {table} AS kept ON kept.{key} = asked.value"
        return self.execute(kept, [_as_json(wanted)])

    def has_some(self, key: str, wanted: Iterable[str], *tables: str) -> bool:
        """Whether one of the tables has a row of one of these keys."""
        found = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {key} = asked.value)" for table in tables)
        query = f"SELECT 1 FROM json_each(?) AS asked WHERE {found} LIMIT 1"
        return self.execute(query, [_as_json(wanted)]).fetchone() is not None

    def insert(self, table: str, rows: Sequence[Sequence[object]]) -> int:
        """Insert the rows whose keys a table does not have; return the number of inserted rows."""
        row = f"({', '.join('?' * len(rows[0]))})"
        stored = 0
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            # sqlite3 gives up the interpreter's lock for every row of executemany, and under load waits to get it back
            stored += self.execute(
                f"INSERT INTO {table} VALUES {', '.join([row] * len(some))} ON CONFLICT DO NOTHING",
                list(itertools.chain.from_iterable(some)),
            ).rowcount
        return stored

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return self.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [name]).fetchone() is not None

    def checksum(self, survey_id: str) -> int | None:
        """The stored checksum of a survey; None if there is none, or if it was damaged so that it is not a number."""
        found = self.execute("SELECT checksum FROM checksums WHERE survey = ?", [survey_id]).fetchone()
        try:
            return int(found[0], 16) if found else None
        except ValueError:
            return None

    def start_checksum(self, survey_id: str, total: int) -> None:
        """Begin the checksum of a survey."""
        self.execute("INSERT INTO checksums VALUES (?, ?)", [survey_id, f"{total:064x}"])

    def change_checksum(self, survey_id: str, difference: int) -> None:
        """XOR something into the checksum of a survey."""
        stored = self.checksum(survey_id)
        if stored is not None:  # without one the database is damaged; `integrity` says so, and nothing hides it here
            row = [f"{stored ^ difference:064x}", survey_id]
            self.execute("UPDATE checksums SET checksum = ? WHERE survey = ?", row)


def connect(path: Path, siblings: Siblings | None = None) -> SqliteConnection:
    """Open a database so that a commit is on the disk when it returns.

    Raises
    ------
    DeniableError
        If it cannot be opened.
    StoreReplaced
        If it is not the file that the siblings have open. It is not touched then: SQLite would mix their log into it.
    """
    asked, path = path, path.resolve()  # SQLite would make the file that a link lacks, with other rights
    siblings = siblings or Siblings()
    siblings.refuse_replaced()
    try:
        _make_private(path)
        opened = identity(path)
        connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT_MS / 1000, factory=FileConnection)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # or sorting could leave copies of rows in other files
        connection.execute("PRAGMA foreign_keys = ON")
        # A pragma that is not understood is silently ignored, so the settings are read back.
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
        connection.execute("PRAGMA schema_version").fetchone()  # the first thing read opens the log
    except (sqlite3.DatabaseError, OSError) as error:
        if is_in_use(error):
            raise in_use(path) from None
        # The path is said already, and the number of an error says nothing.
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeniableError(f"database {path}: cannot be opened: {reason}") from None
    if (journal, synchronous) != ("wal", 2):  # read back: a stored report must mean a report on disk
        raise DeniableError(f"database {path}: must run with WAL and synchronous FULL, got {journal}, {synchronous}")
    connection.remember(asked)
    if connection.files[0] != opened:
        raise StoreReplaced(f"database {path}: was replaced while it was opened; try again")
    siblings.refuse_replaced()
    siblings.add(connection)
    return SqliteConnection(connection)


@contextmanager
def transaction(db: SqliteConnection, path: Path, begin: str = "BEGIN IMMEDIATE") -> Iterator[SqliteConnection]:
    """A transaction that holds the write lock from its start, so that what it reads cannot change under it.

    With ``begin="BEGIN"`` one whose reads all see the same state.

    Raises
    ------
    StoreReplaced
        If other files have the names of those that the connection opened, before the commit or after it: what was
        written to a file that is gone is not acknowledged. A look is at least two calls of the system, each of which
        gives up the interpreter's lock, so there are no others, unless something failed, which may have that reason.
    """
    with in_our_words(path):
        try:
            db.conn.execute(begin)
            yield db
            refuse_replaced(db.conn)
            # After COMMIT the report is on the disk of the file that was opened, which must still be the one that is
            # named.
            db.conn.execute("COMMIT")
        except StoreReplaced:
            raise
        except BaseException:
            db.rollback()
            refuse_replaced(db.conn)
            raise
        refuse_replaced(db.conn)


def truncate_log(db: SqliteConnection, path: Path) -> bool:
    """Move everything from the write-ahead log to the database and leave the log empty; whether it is.

    The log holds pages in the order in which they were written, and so tells when which report came. Somebody who
    reads at this moment keeps it from being emptied; nobody waits for that, the next time will do.
    """
    refuse_replaced(db.conn)
    log = beside(path, "-wal")
    if not log.exists() or not log.stat().st_size:
        return True
    assert isinstance(db.conn, FileConnection), "only the connection that writes the log empties it"
    with in_our_words(path):
        return db.conn.empty_log()


def _as_json(keys: Iterable[str]) -> str:
    """Keys for ``json_each``: sorted, neighbours are found on one page."""
    return json.dumps(sorted(set(keys)))


def _make_private(path: Path) -> None:
    """Make a file that only its owner can read, where there is none yet; SQLite gives the log the same rights.

    Rights that somebody gave to a file that is there are left as they are.
    """
    with suppress(FileExistsError):  # an open one is left alone: closing it would let go of SQLite's locks on it
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
