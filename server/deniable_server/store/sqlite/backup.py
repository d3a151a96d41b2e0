"""A copy of a database that a collector may be using: consistent, complete, inspected, and on the disk."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from deniable.errors import DeniableError
from deniable_server.store.errors import StoreDamaged
from deniable_server.store.integrity import Inspection
from deniable_server.store.sqlite.connection import connect
from deniable_server.store.sqlite.errors import in_our_words
from deniable_server.store.sqlite.integrity import inspect


def back_up(path: Path, destination: Path) -> Inspection:
    """Copy a database, compare the copy with its checksums, and only then give it its name.

    SQLite writes the copy from one snapshot, table after table in the order of keys, so no page of it remembers what
    was where in the original.

    Parameters
    ----------
    path : Path
        The collector's SQLite file.
    destination : Path
        The copy. Never overwrites.

    Raises
    ------
    DeniableError
        If there is something of that name already.
    StoreDamaged
        If the original is damaged; nothing is left under the name.
    """
    if destination.exists():
        raise DeniableError(f"backup {destination}: must be a new file, there is one of that name")
    part = destination.with_name(f"{destination.name}.part")
    try:
        part.unlink(missing_ok=True)
        # Before SQLite writes to it: a copy of a private file must never be readable by others.
        part.touch(mode=0o600)
        with closing(connect(path)) as db, in_our_words(path):
            db.execute("VACUUM INTO ?", [str(part)])
        _to_disk(part)
        inspection = inspect(part, may_be_older=True)
        if inspection.findings:
            raise StoreDamaged(f"database {path}: is damaged, there is no backup of it: {inspection.findings[0]}")
        # Renamed only once it is checked and on the disk: a file of that name is always a whole backup.
        part.rename(destination)
        _to_disk(destination.absolute().parent)
    except OSError as error:
        raise DeniableError(f"backup {destination}: cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return inspection


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
