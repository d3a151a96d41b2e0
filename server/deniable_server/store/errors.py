"""The errors of stores, which are the same for every kind of database."""

from __future__ import annotations

from deniable import __version__
from deniable.errors import DeniableError


class NotFound(DeniableError, LookupError):
    """The store has no such survey."""


class NoRelease(NotFound):
    """The survey has no release of the number that was asked for.

    Attributes
    ----------
    is_live : bool
        Whether its results change with every reply, and are numbered when it closes.
    """

    def __init__(self, message: str, is_live: bool) -> None:
        super().__init__(message)
        self.is_live = is_live


class StoreBusy(Exception):
    """More reports wait than the collector holds in memory.

    Attributes
    ----------
    wait : int
        Seconds after which the sender may try again.
    """

    wait = 1


class StoreFull(DeniableError):
    """The disk is full. Nothing of the transaction was stored, and its reports can be sent again."""


class StoreDamaged(DeniableError):
    """The database does not hold what was written to it."""


class StoreReplaced(DeniableError):
    """The files that the collector opened were replaced. Nothing of the transaction was stored."""


class StoreUnavailable(DeniableError):
    """The database cannot be reached, or cannot promise that a report is on its disk; reports can be sent again.

    Attributes
    ----------
    reason : str
        The database's own name of the error, for the log; it holds nothing that a respondent sent.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class StoreForbidden(DeniableError):
    """The PostgreSQL role with which the database was opened lacks the right to do this."""


def versions(server: str | None = None) -> str:
    """This version and, if it is known, the version that served a database last, in parentheses."""
    return f"(this is deniable {__version__}{f'; last known collector of this database: {server}' if server else ''})"


def no_database(name: object, way: str = "") -> DeniableError:
    """The error for a file that does not exist, for a caller that may not make it; it ends with another way, if any."""
    return DeniableError(
        f"database {name}: does not exist; name the one of the collector with --db or DENIABLE_DB. Only 'deniable "
        f"serve', 'deniable survey publish' and 'deniable issuer key' make a new one{way}"
    )


def empty_database(name: object) -> DeniableError:
    """The error for a database without tables, for a caller that may not make them."""
    return DeniableError(
        f"database {name}: is empty; name another one with --db or DENIABLE_DB, or let 'deniable serve' or 'deniable "
        "survey publish' make its tables, by a role that owns them"
    )


def older_version(name: object, server: str | None = None) -> DeniableError:
    """The error for a database of an older version that the caller may not bring up to date."""
    return DeniableError(
        f"database {name}: is of an older version; 'deniable serve' brings it up to date: back it up, stop the "
        f"collector that serves it, and start 'deniable serve' of this version once {versions(server)}"
    )
