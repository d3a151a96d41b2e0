"""The files of a database, identified by device and inode instead of by name.

SQLite reads and writes the files that it opened. Somebody who puts a backup in the place of a running collector's
database, or removes the log, changes names only: the collector would go on storing reports in a file that nobody will
find again, and the next program would mix the log of one database into another. So a connection remembers what it
opened, and everything that is done with it asks first, and before it acknowledges, whether the names still say so.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from deniable_server.store.errors import StoreReplaced

Identity = tuple[int, int]
"""Device and inode number of a file."""

SUFFIXES = ("", "-wal", "-shm")
"""Suffixes of the files: the database, its write-ahead log, and the log's index, which holds the locks of processes."""

_EVERY, _DATABASE, _OTHERS = slice(None), slice(1), slice(1, None)

REST_NS = 2_000_000_000
"""Time without a change after which a folder's time of change identifies its state, in nanoseconds.

File systems keep that time in steps of up to 2 seconds, and a second change may fall within one step.
"""


class FileConnection(sqlite3.Connection):
    """A connection that knows its files, from `remember` until it is closed."""

    names: tuple[str, ...] = ()
    files: tuple[Identity | None, ...] = ()
    place = folder = ""
    _seen: tuple[int, int, int] | None = None  # the state of the folder in which the names were last looked at

    def remember(self, path: Path) -> None:
        """Remember the files that have the names of a database now as those that this connection opened."""
        database, *others = (str(beside(path, suffix)) for suffix in SUFFIXES)
        self.names = str(path.absolute()), *others
        self.place, self.folder = database, str(Path(database).parent)
        self.files = self._found()

    def refuse_replaced(self) -> None:
        """Raise StoreReplaced unless the names belong to the files of this connection.

        Each commit asks this twice, and each look gives up the interpreter's lock. A name that comes to belong to
        another file changes its folder, so the log and its index are looked at only when that is not as it was. The
        database always is: a link that leads to it may lead elsewhere, and a file may be mounted over it, and neither
        changes its folder.
        """
        state = _state(self.folder)
        is_whole = self._found(_DATABASE) == self.files[_DATABASE]
        if is_whole and state is not None and state == self._seen:
            return
        # A change within the same tick of the file system's clock would leave the folder's time as it is.
        has_rested = state is not None and time.time_ns() - state[2] > REST_NS
        is_whole = is_whole and self._found(_OTHERS) == self.files[_OTHERS]
        self._seen = state if is_whole and has_rested else None  # last: another thread may ask meanwhile
        if not is_whole:
            raise StoreReplaced(
                f"database {Path(self.names[0]).name}: the file, its -wal or its -shm was replaced or removed while it "
                "was in use; nothing was stored; stop the collector, put the files in order, and start it again"
            )

    def rescue(self) -> None:
        """Move the content of the log to the database that it belongs to, even if that was renamed since.

        A log that was removed is gone with the last connection, and it may hold reports that were acknowledged. A log
        that lies beside another database would be mixed into that by the next program that opens it, so it goes.
        """
        database, others = identity(self.place), self._found(_OTHERS)
        is_moved = database != self.files[0]
        if not is_moved and any(
            found not in (None, mine) for found, mine in zip(others, self.files[_OTHERS], strict=True)
        ):
            return  # another program writes this database already, with a log of its own
        with suppress(sqlite3.Error):
            if self.empty_log() and is_moved and database:
                for name, found, mine in zip(self.names[_OTHERS], others, self.files[_OTHERS], strict=True):
                    if found == mine:
                        Path(name).unlink(missing_ok=True)

    def empty_log(self) -> bool:
        """Move the content of the log to the database, without waiting for readers; return whether the log is empty."""
        (wait,) = self.execute("PRAGMA busy_timeout").fetchone()
        # Readers keep a log from being emptied; settling comes again, so it does not wait for them.
        self.execute("PRAGMA busy_timeout = 0")
        try:
            is_busy, _, _ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.execute(f"PRAGMA busy_timeout = {wait}")
        return not is_busy

    def close(self) -> None:
        """Close the connection; with the last connection of all processes SQLite removes the log."""
        self.names = self.files = ()
        self._seen = None
        super().close()

    def _found(self, which: slice = _EVERY) -> tuple[Identity | None, ...]:
        return tuple(map(identity, self.names[which]))


class Siblings:
    """The open connections of one store, one for each thread, all of which have the same files open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: WeakSet[FileConnection] = WeakSet()

    def add(self, connection: FileConnection) -> None:
        """Count a connection in. It counts as long as it is open."""
        with self._lock:
            self._open.add(connection)

    def refuse_replaced(self) -> None:
        """Raise StoreReplaced if the names belong to other files than those of the open connections."""
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            connection.refuse_replaced()


def refuse_replaced(connection: object) -> None:
    """Raise StoreReplaced if the files of a connection were replaced, and rescue what its log holds.

    Connections that only read for a moment, and do not remember what they opened, pass.
    """
    if isinstance(connection, FileConnection):
        try:
            connection.refuse_replaced()
        except StoreReplaced:
            if connection.in_transaction:
                # Nothing of this transaction may be acknowledged, nor keep the log from being moved.
                connection.execute("ROLLBACK")
            connection.rescue()
            raise


def beside(path: Path, suffix: str) -> Path:
    """The file of that suffix beside a database. SQLite follows links before it puts one there."""
    place = path.resolve()
    return place.with_name(place.name + suffix)


def read_only(path: Path) -> str:
    """The URI by which SQLite opens a database for reading, percent-encoded."""
    return f"{path.absolute().as_uri()}?mode=ro"


def identity(name: str | Path) -> Identity | None:
    """The identity of the file with a name; None if there is none."""
    try:
        status = os.stat(name)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _state(folder: str) -> tuple[int, int, int] | None:
    """The state of a folder, which changes if it is replaced or names in it change; None where that cannot be known.

    The time is that of the last change of the folder's own entry, which nobody can set: programs that restore a backup
    set the time of modification. File systems that keep no such time, as FAT of its root, say 0.
    """
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_ctime_ns) if status.st_ctime_ns > 0 else None
