"""The file of a `Memory`: SQLite, because it locks against other processes and survives a crash on every platform."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from traceback import clear_frames

from deniable.errors import DeniableError

WAIT_SECONDS = 10.0
"""Timeout for another process's transaction, in seconds."""

# Rows are ordered by their keys and not by insertion, so the file does not tell which was answered first on a day.
_SCHEMA = """
CREATE TABLE reports (
    survey TEXT PRIMARY KEY,
    report BLOB NOT NULL CHECK (typeof(report) = 'blob')
) WITHOUT ROWID;
CREATE TABLE recipients (
    survey TEXT NOT NULL REFERENCES reports (survey),
    collector TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'refused')),
    PRIMARY KEY (survey, collector)
) WITHOUT ROWID;
CREATE TABLE noisy (
    question TEXT PRIMARY KEY,
    value NOT NULL CHECK (typeof(value) IN ('integer', 'text'))
) WITHOUT ROWID;
CREATE TABLE told (
    origin TEXT NOT NULL,
    question TEXT NOT NULL,
    day TEXT NOT NULL CHECK (day IS date(day)),
    millionths INTEGER NOT NULL CHECK (typeof(millionths) = 'integer' AND millionths >= 0),
    PRIMARY KEY (origin, question)
) WITHOUT ROWID;
PRAGMA application_id = 0x44656e69;
"""
_TOKENS = """
CREATE TABLE tokens (
    survey TEXT PRIMARY KEY,
    request TEXT,
    token TEXT,
    CHECK ((request IS NULL) != (token IS NULL))
) WITHOUT ROWID;
"""
_SEVERAL_DAYS = """
ALTER TABLE told RENAME TO told_once;
CREATE TABLE told (
    origin TEXT NOT NULL,
    question TEXT NOT NULL,
    day TEXT NOT NULL CHECK (day IS date(day)),
    millionths INTEGER NOT NULL CHECK (typeof(millionths) = 'integer' AND millionths >= 0),
    PRIMARY KEY (origin, question, day)
) WITHOUT ROWID;
INSERT INTO told SELECT * FROM told_once;
DROP TABLE told_once;
"""

_MADE_BY = {2: _SCHEMA, 3: _TOKENS, 4: _SEVERAL_DAYS}
"""For each version, the SQL statements that turn a file of the version before into one of this version."""

VERSION = max(_MADE_BY)

# Without the check a page whose count of rows was damaged would read as an empty one, and be drawn for again.
_MARKS = {"application_id": (0x44656E69,), "user_version": tuple(_MADE_BY), "quick_check": ("ok",)}


class UnusableMemory(DeniableError):
    """The file of a `Memory` cannot be read or written. It was not changed, and nothing was drawn."""


class MemoryFile:
    """An SQLite file that several processes share and that only its owner may read (mode 0600).

    A file that cannot be read raises `UnusableMemory` and is never replaced: an empty memory in its place would draw
    again what was drawn before.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that locks the file for other processes until the block ends; it keeps all changes or none."""
        with self._connection(make=True) as db:
            assert db is not None
            # The write lock from the start: check, draw and charge must not run on a state that another process
            # changes.
            db.execute("BEGIN IMMEDIATE")
            try:
                _bring_up_to_date(db)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for reading, or None while there is no file; it makes none."""
        with self._connection(make=False) as db:
            yield db

    def unusable(self, reason: str) -> UnusableMemory:
        """The error for a file that cannot be trusted, with the way out."""
        return UnusableMemory(
            f"memory {self.path}: must be a file of this program that it may read and write, but: {reason}. It was "
            "left as it is; put back a copy, or move it away, and this device no longer knows what it answered"
        )

    @contextmanager
    def _connection(self, make: bool) -> Iterator[sqlite3.Connection | None]:
        try:
            if not self.path.exists():
                if not make:
                    yield None
                    return
                self._make()
            # A connection for each use: threads and forked processes share none. Mode rw never makes a file.
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)) as db:
                self._only_for_its_owner()
                db.execute("PRAGMA synchronous = EXTRA")  # a commit outlives a power cut, the folder's entry too
                # Overwritten requests and tokens must not be left on free pages.
                db.execute("PRAGMA secure_delete = ON")
                for mark, wanted in _MARKS.items():
                    if db.execute(f"PRAGMA {mark}").fetchone()[0] not in wanted:
                        raise self.unusable("it is damaged, of another version, or of another program")
                yield db
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            # Frames of the error hold the cursor whose row could not be read; while there is one, SQLite keeps the file
            # locked, as long as anybody keeps the error.
            clear_frames(error.__traceback__)
            if isinstance(error, UnicodeDecodeError):  # raised for damaged text, in names of tables too
                raise self.unusable("it is damaged: it holds text that is not UTF-8") from None
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise UnusableMemory(f"memory {self.path}: is in use by another process; try again") from None
            raise self.unusable(str(error)) from None

    def _make(self) -> None:
        """Put a whole file in place at once, so that an empty one is always a damaged one."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".new-", dir=self.path.parent)  # mode 0600
        os.close(handle)
        try:
            with closing(sqlite3.connect(name, isolation_level=None)) as db:
                _bring_up_to_date(db)
            os.link(name, self.path)  # unlike a renaming it never replaces
        except FileExistsError:
            pass  # another process was faster
        finally:
            os.unlink(name)

    def _only_for_its_owner(self) -> None:
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            self.path.chmod(0o600)


def _bring_up_to_date(db: sqlite3.Connection) -> None:
    """Make a file of this version out of one of any older version, or out of an empty one."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    # Within the caller's transaction, so a file is of one version or the next, never between.
    for number, script in _MADE_BY.items():
        if number > version:
            for statement in script.split(";"):
                db.execute(statement)
    if version != VERSION:
        db.execute(f"PRAGMA user_version = {VERSION}")
