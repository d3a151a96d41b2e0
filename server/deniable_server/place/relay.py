"""Passing on: a batch leaves a random time after twice as many wait, or when its survey is over, until acknowledged.

As many as a batch has stay behind (a threshold pool mix: Serjantov, Dingledine and Syverson 2002). Otherwise the last
batch would hold what happens to be left, maybe one report, and all of a batch would have come after the one before.
"""

from __future__ import annotations

import datetime
import logging
import secrets
import threading
import time
from collections.abc import Callable, Container, Sequence

from deniable import Survey
from deniable.errors import CollectorError, DeniableError
from deniable.survey.sealed import LATE_BATCHES
from deniable_server.logs import log
from deniable_server.place.collectors import BatchRefused, deliver
from deniable_server.place.room import domain_of
from deniable_server.store.sqlite.letterbox import Letterbox
from deniable_server.web.api import MAX_BATCH_BYTES

PAUSE = 5.0
"""Seconds between two looks for batches that are full, or were not acknowledged."""

DELAY = 900.0
"""Longest time for which a full batch is held, in seconds.

Each is held for a random part of it, and drawn then from all that wait: so the time at which a batch leaves says
neither when its last report came, nor who is in it.
"""

LONGEST_PAUSE = 300.0
"""Longest time between two tries of a batch, in seconds."""


MOST_AT_ONCE = 16
"""Number of collectors that are passed batches at the same time: one that is slow holds up none of the others.

Half of them, and one a domain, for those that nobody allowed: whoever is many must not hold up those that were.
"""

_random = secrets.SystemRandom()


class BatchRelay:
    """What passes batches on: a thread that looks which ones are due, and one for each collector that gets some.

    Parameters
    ----------
    box : Letterbox
    size : int
        Least number of sealed reports in a batch.
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
        self._busy: dict[str, threading.Thread] = {}  # by collector
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="deniable-relay", daemon=True)

    def start(self) -> None:
        """Begin to pass on."""
        self._thread.start()

    def stop(self) -> None:
        """End after the batches that are on their way."""
        self._stop.set()
        self._thread.join()
        for thread in list(self._busy.values()):
            thread.join()

    def round(self) -> None:
        """Make the batches that are due, and try those that are not acknowledged, until each was tried."""
        self._begin()
        for thread in list(self._busy.values()):
            thread.join()

    def _begin(self) -> None:
        """Make the batches that are due, and begin to try those that are not acknowledged."""
        self._cut_due()
        try:
            self._box.write_anew()
        except DeniableError as error:
            log("the order of arrival could not be removed", logging.WARNING, reason=type(error).__name__)
        by_collector: dict[str, list[bytes]] = {}
        for name, collector in self._box.leaving():
            by_collector.setdefault(collector, []).append(name)
        allowed = self._box.collectors()
        # In another order each time: where more collectors than that are slow, none is always last.
        for collector in _random.sample(sorted(by_collector), len(by_collector)):
            if self._has_turn(collector, allowed):
                act = threading.Thread(target=self._pass_all_on, args=(collector, by_collector[collector]), daemon=True)
                self._busy[collector] = act
                act.start()

    def _has_turn(self, collector: str, allowed: Container[str]) -> bool:
        """Whether batches may be passed to a collector beside those that are passed to others now."""
        busy = list(self._busy)
        if collector in busy or len(busy) >= MOST_AT_ONCE:
            return False
        if collector in allowed:
            return True
        strangers = [each for each in busy if each not in allowed]
        domains = {domain_of(each) for each in strangers}
        return len(strangers) < MOST_AT_ONCE // 2 and domain_of(collector) not in domains

    def _cut_due(self) -> None:
        today = self._today()
        for slot, survey, _, waiting in self._box.slots():
            is_over = survey.closes is not None and today > survey.closes
            size = self._size_for(survey)
            # The last batch is held, too: who is on the way to the disk when the day ends would leave alone after it.
            if self._is_due(slot, waiting, 1 if is_over else 2 * size):
                try:
                    # Drawn from all that wait by now, not from those that filled it.
                    self._box.cut(slot, size, stay=size, is_last=is_over)
                except DeniableError as error:  # a disk that is full, say; what leaves others makes room
                    log("a batch could not be made", logging.WARNING, survey=survey.id, reason=type(error).__name__)
                else:
                    self._due.pop(slot, None)
            elif is_over and not waiting:
                self._box.remove(slot)  # once everything in it was acknowledged

    def _is_lost(self, survey: Survey) -> bool:
        """Whether no collector takes reports of a survey any more; before, whoever refuses may have a wrong clock."""
        assert survey.closes is not None, "sealed surveys have a last day"
        return self._today() > survey.closes + LATE_BATCHES

    def _size_for(self, survey: Survey) -> int:
        """Number of reports in a batch: a last one, of fewer than twice as many, must not be too long to be taken."""
        assert survey.sealed is not None, "others are not served"
        return min(self._size, MAX_BATCH_BYTES // (2 * survey.sealed.length))

    def _is_due(self, slot: str, waiting: int, enough: int) -> bool:
        """Whether enough wait for a survey, and were held for a random time."""
        if waiting < enough:
            self._due.pop(slot, None)
            return False
        if slot not in self._due:
            self._due[slot] = self._now() + _random.uniform(0.0, self._delay)
        return self._now() >= self._due[slot]

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._begin()
            except Exception as error:  # a disk that is full, say: nothing is lost, and the next round tries again
                log("a round of passing on failed", logging.WARNING, reason=type(error).__name__)
            self._stop.wait(self._pause)

    def _pass_all_on(self, collector: str, names: Sequence[bytes]) -> None:
        """Try all batches of one collector, one after the other."""
        try:
            for name in names:
                if not self._stop.is_set():
                    self._pass_on(name)
        except Exception as error:  # a disk that is full, say: nothing is lost, and the next round tries again
            log("a round of passing on failed", logging.WARNING, reason=type(error).__name__)
        finally:
            del self._busy[collector]

    def _pass_on(self, name: bytes) -> None:
        # The more often a collector did not answer, the longer it is left alone.
        tries = self._tries.get(name, 0)
        self._tries[name] = tries + 1
        # Twice as long each time, until the longest pause, counted in rounds.
        is_power = tries & (tries - 1) == 0  # 0, 1, 2, 4, 8, ...
        if not is_power and tries % max(1, round(LONGEST_PAUSE / self._pause)):
            return
        if (batch := self._box.batch(name)) is None:
            return
        allowed = self._box.collectors()
        token, is_allowed = allowed.get(batch.collector), batch.collector in allowed
        try:
            outcome = deliver(batch.survey, batch.collector, token, batch.messages, is_allowed=is_allowed)
        except BatchRefused:
            if not tries or self._is_lost(batch.survey):
                log("a batch was refused: its survey is closed", logging.WARNING, survey=batch.survey.id)
            if not self._is_lost(batch.survey):
                return
        except CollectorError as error:
            if not tries:
                log("a batch could not be passed on", logging.WARNING, survey=batch.survey.id, reason=str(error))
            return
        else:
            if outcome.refused:
                log("sealed reports were refused", survey=batch.survey.id, reports=outcome.refused)
        self._box.acknowledged(batch)
        self._tries.pop(name, None)
