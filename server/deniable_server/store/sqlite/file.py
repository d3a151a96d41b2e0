"""A SQLite file by its name, for commands."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from deniable_server.store.integrity import Inspection
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.lock import Lock
from deniable_server.store.sqlite.store import SqliteStore


@dataclass(frozen=True)
class SqliteFile:
    """A `deniable_server.store.database.Database`."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    def open(self, today: Callable[[], datetime.date], may_update: bool = False, may_make: bool = True) -> SqliteStore:
        """The store of this file."""
        return SqliteStore(self.path, today, may_update, may_make)

    def serving(self) -> AbstractContextManager[Lock]:
        """The right to serve the file, which one collector at a time may have."""
        return Lock(self.path)

    def alone(self) -> AbstractContextManager[object]:
        """The right to have the file alone, which for one collector at a time is the right to serve it."""
        return Lock(self.path)

    def warnings(self) -> list[str]:
        """Always empty: every fault of a file is an error, not a warning."""
        return []

    def inspect(self, most_rows: int | None = None) -> Inspection:
        """Inspect the file without changing it."""
        return inspect(self.path, most_rows)

    def back_up(self, destination: Path) -> Inspection:
        """Copy the file, also while a collector uses it, and inspect the copy."""
        return back_up(self.path, destination)
