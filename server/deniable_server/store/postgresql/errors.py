"""The translation of PostgreSQL's errors into those of a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from deniable_server.store.errors import StoreDamaged, StoreForbidden, StoreFull, StoreUnavailable


class Collision(Exception):
    """Another collector stored one of these ids at the same moment; the transaction has to be tried again."""


AGAIN = (Collision, errors.DeadlockDetected, errors.SerializationFailure)
"""Errors after which the whole transaction is run again."""

UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.ReadOnlySqlTransaction,  # the primary has become a standby
    errors.IdleInTransactionSessionTimeout,
)


@contextmanager
def in_our_words(name: str) -> Iterator[None]:
    """Raise the errors of a store in place of PostgreSQL's, whose messages may repeat values of a row."""
    try:
        yield
    # First, because DiskFull is an OperationalError too and would be reported as a server out of reach.
    except (errors.DiskFull, errors.ConfigurationLimitExceeded) as error:
        raise StoreFull(
            f"database {name}: its disk takes no more; nothing was stored, "
            "the same can be sent again once there is space"
        ) from error
    except (errors.DataCorrupted, errors.IndexCorrupted) as error:
        raise StoreDamaged(
            f"database {name}: is damaged ({type(error).__name__}); stop the collectors, look at it with "
            "'deniable check' and pg_amcheck, and restore a backup"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise StoreForbidden(
            f"database {name}: this needs a role with more rights ({error.diag.message_primary}); "
            "see roles in docs/postgresql.md"
        ) from error
    # These are operational errors too, but `_again` wants them as they are.
    except (errors.DeadlockDetected, errors.SerializationFailure):
        raise
    except UNAVAILABLE as error:
        kind = type(error).__name__
        raise StoreUnavailable(f"database {name}: cannot be used ({kind}: {_first_line(error)})", kind) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
