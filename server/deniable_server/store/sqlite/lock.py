"""The lock of a database, which one collector may serve: on a file beside it, released by the system with its holder.

Other programs read and write the database all the same; SQLite's own locks see to that.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from deniable import __version__
from deniable.errors import DeniableError

_MOST_BYTES = 400
"""Number of bytes of a lock's file that are read, in case something else stands in it."""

_NAME = r"deniable [\w.+!-]+, process \d+"
_CONTENT = re.compile(rf"(?:({_NAME})\n)?(?:held by ({_NAME})\n)?")
"""A lock's file: the last collector that accepted the database, and who holds the lock without having accepted it.

They are apart because a collector that refuses the database of a newer version tells people which one served it last.
"""


def lock_path(database: Path) -> Path:
    """The file on which the right to serve a database is locked, beside the file to which links lead."""
    place = database.resolve()
    return place.with_name(f"{place.name}-lock")


def last_server(database: Path) -> str | None:
    """The last known collector of a database, its version and its process; None if the lock's file does not name it.

    It need not be running any more, and earlier versions of deniable do not write their name.
    """
    return _names(database)[0]


def last_holder(database: Path) -> str | None:
    """The last known collector or other holder of the lock, such as a collector that is starting or `deniable copy`.

    This process itself counts only once it serves the database.
    """
    server, holder = _names(database)
    return server if holder in (None, _own_name()) else holder


class Lock:
    """The right to serve a database, from here on and until `release`, or the end of this process and its children.

    A worker that is forked inherits it, so nobody else serves a database whose worker outlives its parent. The holder
    is not known as the database's last collector before it calls `begin`.

    Parameters
    ----------
    database : Path
        The SQLite file, which need not be there yet. Links to it are followed.

    Raises
    ------
    DeniableError
        If another collector holds the lock, or the folder cannot be written.
    """

    def __init__(self, database: Path) -> None:
        self._path = lock_path(database)
        try:
            while not self._is_held_under_its_name(descriptor := os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)):
                os.close(descriptor)  # somebody has removed the file in between
        except BlockingIOError:
            server, holder = _names(database)
            name = holder or server
            raise DeniableError(
                f"database {database}: must be served by one collector, another one serves it; stop that one first"
                f"{f' (last known: {name})' if name else ''}"
            ) from None
        except OSError as error:
            raise DeniableError(f"database {database}: its folder must be writable, got: {error.strerror}") from None
        self._descriptor = descriptor
        self._has_begun = False
        self._before, _ = _names_in(os.read(descriptor, _MOST_BYTES))
        self._write(self._before, _own_name())

    def begin(self) -> None:
        """Name this process as the last collector of the database, which it has accepted."""
        self._has_begun = True
        self._write(_own_name())

    def release(self) -> None:
        """Release the lock. Its file stays: another collector may have opened it and be about to lock it."""
        if not self._has_begun:
            self._write(self._before)
        os.close(self._descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def _write(self, server: str | None, holder: str | None = None) -> None:
        content = f"{server}\n" if server else ""
        content += f"held by {holder}\n" if holder else ""
        with suppress(OSError):  # a full disk must not keep a collector from serving what it has
            # Written before it is cut: a full disk that takes nothing new leaves what stands there.
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, content.encode())
            os.ftruncate(self._descriptor, len(content))

    def _is_held_under_its_name(self, descriptor: int) -> bool:
        try:
            _lock(descriptor)
            # Locked, but perhaps a file that was removed: another collector would lock a new one of this name.
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False
        except OSError:
            os.close(descriptor)
            raise


def _own_name() -> str:
    return f"deniable {__version__}, process {os.getpid()}"


def _names(database: Path) -> tuple[str | None, str | None]:
    try:
        with lock_path(database).open("rb") as file:
            return _names_in(file.read(_MOST_BYTES))
    except OSError:  # there is none, or it may not be read by this user or, on Windows, while it is locked
        return None, None


def _names_in(content: bytes) -> tuple[str | None, str | None]:
    found = _CONTENT.fullmatch(content.decode("ascii", "replace"))
    return (found[1], found[2]) if found else (None, None)


def _lock(descriptor: int) -> None:
    """Lock a file at once, or raise `BlockingIOError`."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
