"""Passing on: a batch leaves a random time after it is full, or when its survey is over, until it is acknowledged."""

from __future__ import annotations

import datetime
import logging
import secrets
import threading
import time
from collections.abc import Callable

from deniable.errors import CollectorError
from deniable_server.logs import log
from deniable_server.place.collectors import BatchRefused, deliver
from deniable_server.store.sqlite.letterbox import Letterbox, SealedBatch

PAUSE = 5.0
"""Seconds between two looks for batches that are full, or were not acknowledged."""

DELAY = 900.0
"""Longest time for which a full batch is held, in seconds.

Each is held for a random part of it, and drawn then from all that wait: so the time at which a batch leaves says
neither when its last report came, nor who is in it.
"""

LONGEST_PAUSE = 300.0
"""Longest time between two tries of a batch, in seconds."""


_random = secrets.SystemRandom()


class BatchRelay:
    """The one thread of a place that passes batches on.

    Parameters
    ----------
    box : Letterbox
    size : int
        Number of sealed reports in a batch.
    today : callable
        The day by which a survey is over.
    pause, delay : float
        See `PAUSE` and `DELAY`.
    now : callable
        Seconds that only go up.
    """

    def __init__(
        self,
        box: Letterbox,
        size: int,
        today: Callable[[], datetime.date],
        pause: float = PAUSE,
        delay: float = DELAY,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._box = box
        self._size = size
        self._today = today
        self._pause = pause
        self._delay = delay
        self._now = now
        self._due: dict[str, float] = {}  # in memory alone: the file of a place says no time
        self._tries: dict[bytes, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="deniable-relay", daemon=True)

    def start(self) -> None:
        """Begin to pass on."""
        self._thread.start()

    def stop(self) -> None:
        """End after the batch that is on its way."""
        self._stop.set()
        self._thread.join()

    def round(self) -> None:
        """Make the batches that are due, and try those that are not acknowledged."""
        today = self._today()
        for survey, _, waiting in self._box.surveys():
            is_over = survey.closes is not None and today > survey.closes
            if (is_over and waiting) or self._is_due(survey.id, waiting):
                self._box.cut(survey.id, self._size, is_last=is_over)
                self._due.pop(survey.id, None)
        for batch in self._box.leaving():
            self._pass_on(batch)

    def _is_due(self, survey_id: str, waiting: int) -> bool:
        """Whether a batch of a survey is full, and was held for its random time."""
        if waiting < self._size:
            return False
        if survey_id not in self._due:
            self._due[survey_id] = self._now() + _random.uniform(0.0, self._delay)
        return self._now() >= self._due[survey_id]

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.round()
            except Exception as error:  # a disk that is full, say: nothing is lost, and the next round tries again
                log("a round of passing on failed", logging.WARNING, reason=type(error).__name__)
            self._stop.wait(self._pause)

    def _pass_on(self, batch: SealedBatch) -> None:
        # The more often a collector did not answer, the longer it is left alone.
        tries = self._tries.get(batch.name, 0)
        self._tries[batch.name] = tries + 1
        is_power = tries & (tries - 1) == 0  # 0, 1, 2, 4, 8, ...
        if not is_power and tries % max(1, round(LONGEST_PAUSE / self._pause)):
            return
        token = self._box.collectors().get(batch.collector)
        try:
            outcome = deliver(batch.survey, batch.collector, token, batch.messages)
        except BatchRefused:
            log("a batch was refused: its survey is closed", logging.WARNING, survey=batch.survey.id)
        except CollectorError as error:
            if not tries:
                log("a batch could not be passed on", logging.WARNING, survey=batch.survey.id, reason=str(error))
            return
        else:
            if outcome.refused:
                log("sealed reports were refused", survey=batch.survey.id, reports=outcome.refused)
        self._box.acknowledged(batch)
        self._tries.pop(batch.name, None)
