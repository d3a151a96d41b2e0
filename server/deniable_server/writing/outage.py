"""Whether the database takes reports: said when it changes, not when somebody's report is refused.

A line for each refused report would tell when each respondent came. So a refusal only starts a thread that looks at the
database on whole multiples of `SECONDS`, writes one line when it has gone, and one when it is back.
"""

from __future__ import annotations

import logging
import threading
import time

from apiflask import APIFlask
from flask import current_app

from deniable.errors import DeniableError
from deniable_server.logs import log
from deniable_server.store import Store, StoreDamaged, StoreForbidden, StoreFull, StoreReplaced, StoreUnavailable
from deniable_server.writing.writer import Writer

SECONDS = 10

_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (StoreFull, "the disk is full"),
    (StoreReplaced, "its files were replaced"),
    (StoreDamaged, "it is damaged"),
    (StoreForbidden, "its role may not write"),
)


class Outage:
    """What keeps the database of one collector from taking reports, if anything does.

    Parameters
    ----------
    store : Store
        Whose database.
    writer : Writer
        As long as it runs, an outage is followed to its end.
    seconds : float
        Between two looks.
    """

    def __init__(self, store: Store, writer: Writer, seconds: float = SECONDS) -> None:
        self._store = store
        self._writer = writer
        self._seconds = seconds
        self._lock = threading.Lock()
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """Why the database took nothing when it was last tried, or None."""
        return self._reason

    def began(self, error: Exception) -> None:
        """Take note that the database refused something."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = _reason_of(error)
            threading.Thread(target=self._follow, name="deniable-outage", daemon=True).start()

    def _follow(self) -> None:
        """Log that it began, and when it is over that it is."""
        told: str | None = None
        while self._waited():
            if told is not None:
                reason = self._try_to_write()
                with self._lock:
                    self._reason = reason
            if self._reason is None:
                log("database takes reports again")
                return
            if self._reason != told:
                told = self._reason
                log("database does not take reports", logging.ERROR, because=told)

    def _waited(self) -> bool:
        """Wait for the moment of the next look; whether anybody is left whom it concerns."""
        time.sleep(self._seconds - time.time() % self._seconds)
        return self._writer.is_running

    def _try_to_write(self) -> str | None:
        """Commit what changes nothing; why that failed, or None."""
        try:
            self._store.try_to_write()
        except DeniableError as error:
            return _reason_of(error)
        finally:
            self._store.leave()
        return None


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Follow the outages of an application."""
    app.extensions["deniable-outage"] = Outage(store, writer)


def get_outage() -> Outage:
    """That of the application which serves this request."""
    outage: Outage = current_app.extensions["deniable-outage"]
    return outage


def _reason_of(error: Exception) -> str:
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, StoreUnavailable):
        return error.reason
    return type(error).__name__
