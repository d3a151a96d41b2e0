"""Outages of the database, logged when they begin and end, not when a report is refused.

A line for each refused report would tell when each respondent came. So a refusal only starts a thread that tries the
database at whole multiples of `SECONDS`, logs one line when it is unavailable, and one when it is back.
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
"""Interval between two tries, in seconds."""

_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (StoreFull, "the disk is full"),
    (StoreReplaced, "its files were replaced"),
    (StoreDamaged, "it is damaged"),
    (StoreForbidden, "its role may not write"),
)


class Outage:
    """The outage of one collector's database, if there is one.

    Parameters
    ----------
    store : Store
        The store of the database.
    writer : Writer
        An outage is followed to its end as long as the writer runs.
    seconds : float
        Interval between two tries.
    """

    def __init__(self, store: Store, writer: Writer, seconds: float = SECONDS) -> None:
        self._store = store
        self._writer = writer
        self._seconds = seconds
        self._lock = threading.Lock()
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """The reason why the database took nothing when it was last tried; None if it works."""
        return self._reason

    def began(self, error: Exception) -> None:
        """Take note that the database refused something."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = _reason_of(error)
            threading.Thread(target=self._follow, name="deniable-outage", daemon=True).start()

    def _follow(self) -> None:
        """Log the beginning and the end of the outage."""
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
        """Wait for the next try; return whether the writer still runs."""
        # On whole multiples of the interval, so that the line's time says nothing of the report that met the outage.
        time.sleep(self._seconds - time.time() % self._seconds)
        return self._writer.is_running

    def _try_to_write(self) -> str | None:
        """Try an empty commit; return why it failed, or None."""
        try:
            self._store.try_to_write()
        except DeniableError as error:
            return _reason_of(error)
        finally:
            # This thread ends with the outage, so its connection must not stay open.
            self._store.leave()
        return None


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Follow the outages of an application."""
    app.extensions["deniable-outage"] = Outage(store, writer)


def get_outage() -> Outage:
    """The outage of the application that serves this request."""
    outage: Outage = current_app.extensions["deniable-outage"]
    return outage


def _reason_of(error: Exception) -> str:
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, StoreUnavailable):
        return error.reason
    return type(error).__name__
