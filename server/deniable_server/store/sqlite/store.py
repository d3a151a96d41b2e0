"""The store over one SQLite file."""

from __future__ import annotations

import datetime
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from deniable import Report, Survey
from deniable.errors import DeniableError
from deniable_server.store.errors import StoreReplaced, no_database
from deniable_server.store.folding import forget_ids
from deniable_server.store.interface import utc_today
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite import fold, pending
from deniable_server.store.sqlite.connection import SqliteConnection, connect, transaction, truncate_log
from deniable_server.store.sqlite.database_files import Siblings, read_only
from deniable_server.store.sqlite.errors import in_our_words, is_in_use
from deniable_server.store.sqlite.migrations import bring_up_to_date, refuse_newer, schema
from deniable_server.store.sqlite.tables import create_tables
from deniable_server.store.verdict import Verdict


class SqliteStore(SqlStore):
    """A collector's database in one file.

    Each thread has its own connection. A transaction that writes has the database to itself.

    Parameters
    ----------
    path : Path or str
        The SQLite file; made when missing.
    today : callable
        The day by which surveys open and close.
    may_update : bool
        Whether a file that an older version wrote is brought up to date; it is refused otherwise. An update needs the
        file to itself: a collector of that version would go on storing reports under its tables.
    may_make : bool
        Whether the file and its tables are made where there are none; that is an error otherwise.

    Raises
    ------
    DeniableError
        If the file cannot be opened, is not a database, or was written by another version.
    """

    def __init__(
        self,
        path: Path | str,
        today: Callable[[], datetime.date] = utc_today,
        may_update: bool = False,
        may_make: bool = True,
    ) -> None:
        self.path = Path(path)
        if not may_make and not self.path.exists():
            raise no_database(self.path)
        super().__init__(str(self.path), today)
        self._threads = threading.local()
        self.files = Siblings()
        try:
            self.is_new = bring_up_to_date(self.db, self.path, may_update, may_make)
        except Exception:
            self.close()
            raise

    @property
    def db(self) -> SqliteConnection:
        """This thread's connection."""
        if not hasattr(self._threads, "db"):
            self._threads.db = connect(self.path, self.files)
        db: SqliteConnection = self._threads.db
        return db

    def close(self) -> None:
        """Close this thread's connection; the other threads have closed theirs."""
        self.leave()

    def leave(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._threads, "db"):
            self._threads.db.close()
            del self._threads.db

    def not_ready_because(self, min_free: int) -> str | None:
        # The file is in its place, readable, and has room.
        folder = self.path.absolute().parent
        if not folder.is_dir():
            return "The folder of the database is gone."
        if self.free_bytes() < min_free:
            return f"The disk has less than {min_free // 10**6} megabytes left."
        if not (os.access(self.path, os.W_OK) and os.access(folder, os.W_OK)):  # SQLite writes its log beside the file
            return "The database or its folder cannot be written."
        try:
            self.files.refuse_replaced()
        except StoreReplaced:
            return (
                "The database, its -wal or its -shm was replaced or removed; "
                "put the files in order and restart the collector."
            )
        return self._unusable_because()

    def free_bytes(self) -> int:
        """Bytes that the disk of the database has left for this user."""
        return shutil.disk_usage(self.path.absolute().parent).free

    def try_to_write(self) -> None:
        if not self.path.exists():
            raise StoreReplaced(f"database {self.path}: is gone")  # asking must not make a new one
        with self._transaction() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            # Writes the file's head, unchanged: a transaction that really reaches the disk.
            db.execute(f"PRAGMA user_version = {version}")

    def _unusable_because(self) -> str | None:
        try:
            with closing(sqlite3.connect(read_only(self.path), 0, uri=True)) as connection:
                (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
                if journal != "wal":  # the first thing that a damaged head of the file loses
                    return "The database has lost its write-ahead log; look at it with 'deniable check'."
                db = SqliteConnection(connection)
                if schema.pending(db):
                    return "The database is of an older version; restart the collector."
                refuse_newer(db, self.path)
        except sqlite3.Error as error:
            if is_in_use(error):
                return "Another program has locked the database (SQLITE_BUSY)."
            return f"The database cannot be used: {error.sqlite_errorname}."
        except DeniableError:
            return "The database is of a newer version; start that one."
        return None

    def _take_open(self, db: SqliteConnection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:  # type: ignore[override]  # its own connections
        return pending.take(db, survey, reports)

    def _settle(self, survey: Survey, closed_on: str | None, days_over: int) -> None:
        new = self._arrived.pop(survey.id, 0)
        # Over is enough for folding; dropping ids waits for a survey that was closed for good.
        closed = bool(closed_on) or days_over > 0
        with self._transaction() as db:
            has_folded = fold.fold_due(db, survey, new, closed)
            is_sorted = fold.sort_pending(db, survey, new)
            if fold.is_unsorted(db, survey) and (closed or fold.may_sort(db, survey, new)):
                fold.sort_reports(db, survey)
            if closed and survey.access != "open":
                fold.sort_invitations(db, survey, whatever_their_number=True)
            if closed_on and survey.retention == "tallies":
                forget_ids(db, survey, fold.empty)
            is_unfinished = not is_sorted or (fold.is_unsorted(db, survey) and fold.may_sort(db, survey, new=0))
            self._put_down(db, survey, closed_on, days_over, is_unfinished)
        if has_folded or closed:
            self._folded(survey)

    def _create_tables(self, db: SqliteConnection, survey: Survey) -> None:  # type: ignore[override]
        create_tables(db, survey)

    def _invitations_moved(self, db: SqliteConnection, survey: Survey) -> None:  # type: ignore[override]
        fold.sort_invitations(db, survey)

    def _leave_no_trace(self) -> bool:
        with in_our_words(self.path):
            return truncate_log(self.db, self.path)

    def _enter(self, db: object, surveys: Iterable[Survey]) -> None:
        """Do nothing: a transaction that writes has the database to itself."""

    def _hold(self, db: object, survey: Survey) -> None:
        """Do nothing: a transaction that writes has the database to itself."""

    def _transaction(self) -> AbstractContextManager[SqliteConnection]:
        return transaction(self.db, self.path)

    def _alone(self) -> AbstractContextManager[SqliteConnection]:
        return self._transaction()

    def _snapshot(self, *surveys: Survey) -> AbstractContextManager[SqliteConnection]:
        return transaction(self.db, self.path, "BEGIN")
