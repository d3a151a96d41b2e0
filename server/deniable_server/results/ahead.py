"""Work ahead of readers: what they will ask for first after a release is done when it comes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

LOGGER = logging.getLogger("deniable")


class Ahead:
    """Prepares surveys one after the other in a thread of its own, which ends when there is nothing left.

    Parameters
    ----------
    prepare : callable
        Prepares the survey of that address. What it cannot do now, the first reader's request will do.
    """

    def __init__(self, prepare: Callable[[str], None]) -> None:
        self._prepare = prepare
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}  # in order, each survey once
        self._idle = threading.Event()
        self._idle.set()

    def add(self, survey_id: str) -> None:
        """Prepare a survey soon; returns at once."""
        with self._lock:
            self._waiting[survey_id] = None
            if self._idle.is_set():
                self._idle.clear()
                threading.Thread(target=self._run, name="deniable-ahead", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to prepare; whether that came in time."""
        return self._idle.wait(seconds)

    def _run(self) -> None:
        while (survey_id := self._next()) is not None:
            try:
                self._prepare(survey_id)
            except Exception as error:  # such as a busy database: nobody waits for it, and readers come to it again
                LOGGER.info("results: not prepared, %s", type(error).__name__)

    def _next(self) -> str | None:
        with self._lock:
            if not self._waiting:
                self._idle.set()
                return None
            survey_id = next(iter(self._waiting))
            del self._waiting[survey_id]
            return survey_id
