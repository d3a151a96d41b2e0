"""What can be wrong with a store, whatever keeps it."""

from __future__ import annotations

from deniable.errors import DeniableError


class NotFound(DeniableError, LookupError):
    """There is no such survey here."""


class StoreBusy(Exception):
    """More reports are waiting than the collector will hold in memory."""


class StoreFull(DeniableError):
    """The disk takes no more. Nothing of what was to be stored is; it can be sent again."""


class StoreDamaged(DeniableError):
    """The database is not what was written."""


class StoreReplaced(DeniableError):
    """Other files have the names of those that the collector opened. Nothing of what was to be stored is."""


class StoreUnavailable(DeniableError):
    """The database cannot be reached, or cannot promise that a report is on its disk; the same can be sent again.

    Attributes
    ----------
    reason : str
        What the database itself calls it, for a line of the log: a name without anybody's words.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class StoreForbidden(DeniableError):
    """The role by which the database was opened may not do that."""


def older_version(name: object) -> DeniableError:
    """The error for a database of an older version, for whoever may not bring it up to date."""
    return DeniableError(
        f"database {name}: is of an older version; 'deniable serve' brings it up to date: back it up, stop the "
        "collector that serves it, and start 'deniable serve' of this version once"
    )
