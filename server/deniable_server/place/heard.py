"""What a place has heard of collectors: their surveys, and whether these take reports.

A collector hears of a visit when the place asks it something. So it is asked for each survey, and for its state, at
most once in `FRESH` seconds, however many people come, and whatever it does: it cannot have a survey forgotten sooner
by serving many others.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from deniable import Survey
from deniable.errors import CollectorError, DeniableError
from deniable_server.edge.limits import Slots
from deniable_server.place import collectors
from deniable_server.place.room import MOST_SURVEYS, OF_ALL, OF_ONE, domain_of

FRESH = 60.0
"""Seconds for which what a collector said is said again."""

FAILED = 5.0
"""Seconds for which a refusal is said again; devices try again after as many."""

MOST_FAILURES = 4096
"""Largest number of refusals that are remembered; a new one replaces the oldest."""

MOST_BYTES = 16 * 2**20
"""Largest size of the documents that are remembered of a collector that was allowed, or of all others together."""

STRANGERS = "strangers"
"""The party of all collectors that nobody allowed."""


class CollectorSurvey(NamedTuple):
    """A survey of a collector. Another collector may serve the same one, and say what it likes."""

    collector: str
    survey_id: str


@dataclass
class _Heard:
    survey: Survey
    parties: dict[str, int]
    at: float
    state: str | None = None
    state_at: float | None = None


@dataclass
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


class HeardSurveys:
    """The surveys of collectors, asked for once.

    Parameters
    ----------
    now : callable
        Seconds that only go up.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._heard: dict[CollectorSurvey, _Heard] = {}
        self._failures: OrderedDict[CollectorSurvey, tuple[float, DeniableError]] = OrderedDict()
        self._turns: dict[CollectorSurvey, _Turn] = {}
        self._waiting = Slots(total=64, most=32)

    def survey(self, key: CollectorSurvey, is_allowed: bool) -> Survey:
        """A survey, which its collector is asked for by one visitor alone: others wait for that answer.

        Raises
        ------
        NotFound
            If the collector has no such survey.
        CollectorError
            If it cannot be reached, or is asked for too many surveys at a time.
        """
        if found := self._known(key):
            return found
        with self._turn(key, is_allowed):
            return self._known(key) or self._ask(key, is_allowed)

    def state(self, key: CollectorSurvey, is_allowed: bool) -> str | None:
        """The state of a survey that was fetched, as its collector told it; None where it has told none."""
        with self._lock:
            heard = self._heard.get(key)
            if heard is None:  # forgotten since, because of others
                return None
            now = self._now()
            if heard.state_at is not None and now < heard.state_at + FRESH:
                return heard.state
            heard.state_at = now  # whoever comes while the collector is asked hears what it said before
        heard.state = collectors.state_of(*key, is_allowed=is_allowed)
        return heard.state

    def _known(self, key: CollectorSurvey) -> Survey | None:
        """A survey that was fetched, or None; a refusal that is not old is raised again."""
        with self._lock:
            if key in self._heard:
                return self._heard[key].survey
            until, failure = self._failures.get(key, (0.0, None))
            if failure is not None and self._now() < until:
                raise failure.with_traceback(None)
        return None

    def _ask(self, key: CollectorSurvey, is_allowed: bool) -> Survey:
        parties = _parties_of(key.collector, is_allowed)
        with self._lock:
            for party, most in parties.items():
                self._make_room(party, most)
        try:
            survey = collectors.fetch_survey(*key, is_allowed=is_allowed)
        except DeniableError as error:
            with self._lock:
                self._failures[key] = self._now() + FAILED, error
                self._failures.move_to_end(key)
                if len(self._failures) > MOST_FAILURES:
                    self._failures.popitem(last=False)
            raise
        with self._lock:
            self._heard[key] = _Heard(survey, parties, self._now())
        return survey

    def _make_room(self, party: str, most: int) -> None:
        """Forget what was fetched first, for one more survey of a party.

        Raises
        ------
        CollectorError
            If its collector was asked for that one less than `FRESH` seconds ago, and would be asked again.
        """
        theirs = sorted((heard.at, key) for key, heard in self._heard.items() if party in heard.parties)
        size, number = sum(len(self._heard[key].survey.document) for _, key in theirs), len(theirs)
        for _, key in theirs:
            if number < most and size < MOST_BYTES:
                return
            heard = self._heard[key]
            if self._now() < max(heard.at, heard.state_at or heard.at) + FRESH:
                raise CollectorError(f"{key.collector}: is asked for too many surveys now")
            number -= 1
            size -= len(heard.survey.document)
            del self._heard[key]

    @contextmanager
    def _turn(self, key: CollectorSurvey, is_allowed: bool) -> Iterator[None]:
        """Have the turn to ask for a survey. No more wait for theirs than there are threads to spare."""
        party = next(iter(_parties_of(key.collector, is_allowed))).encode()
        if not self._waiting.take(party):
            raise CollectorError(f"{key.collector}: is asked by too many others now")
        with self._lock:
            turn = self._turns.setdefault(key, _Turn())
            turn.users += 1
        try:
            with turn.lock:
                yield
        finally:
            self._waiting.give_back(party)
            with self._lock:
                turn.users -= 1
                if not turn.users:
                    del self._turns[key]


def _parties_of(collector: str, is_allowed: bool) -> dict[str, int]:
    """Whose room a survey takes, and how many surveys have room there."""
    if is_allowed:
        return {collector: MOST_SURVEYS}
    return {domain_of(collector): OF_ONE.surveys, STRANGERS: OF_ALL.surveys}
