"""A state machine over the store, killed before and after any statement: it loses nothing, and doubles nothing."""

from __future__ import annotations

import datetime
import itertools
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from deniable import Report, Tally, read_survey, tally_reports
from deniable_server.store import Verdict, counts
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import pending_table, reports_table
from tools.rig.surveys import SURVEY, TODAY, Clock

FIRST = read_survey(SURVEY)
RELEASE = 5
with patch("deniable.survey.document.LEAST_RELEASE", RELEASE):
    SURVEYS = tuple(
        replace(FIRST, retention=retention, results=results, release=RELEASE)
        for retention, results in (
            ("reports", "live"),
            ("tallies", "live"),
            ("reports", "batches"),
            ("tallies", "batches"),
            ("reports", "closed"),
        )
    )
NUMBERS = st.integers(0, len(SURVEYS) - 1)
Batch = list[tuple[int, int, int]]
"""For each report: the place of its survey, and its id and its content as small numbers."""

BATCHES = st.lists(st.tuples(NUMBERS, st.integers(0, 40), st.sampled_from([0, 0, 0, 1])), max_size=12) | (
    st.builds(  # enough for a fold of one survey, and often new
        lambda n, start, size: [(n, number, 0) for number in range(start, start + size)],
        NUMBERS,
        st.integers(0, 35),
        st.integers(5, 9),
    )
)
MOMENTS = st.integers(0, 60)
"""Before and after each statement of storing a batch, and of settling."""

DAY = datetime.timedelta(days=1)
LAST_DAY = FIRST.closes or TODAY


def machine(short: bool) -> str:
    """Many short lives of a store, with kills at random statements and torn ends of its log."""
    Storing.kills = Counter()
    how = settings(
        max_examples=20 if short else 1000,
        stateful_step_count=30 if short else 50,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    run_state_machine_as_test(Storing, settings=how)
    return f"killed {Storing.kills.total()} times: {dict(Storing.kills)}; lost 0, counted twice 0"


SCENARIOS: dict[str, Callable[[bool], str]] = {"machine": machine}


class Killed(BaseException):
    """The process is gone: no statement is run any more, not even to clean up."""


class Fuse:
    """How many moments are left before the kill: one before each statement and one after it. None is no end."""

    left: int | None = None

    @classmethod
    def burn(cls) -> None:
        """Let a moment pass."""
        if cls.left is not None:
            if cls.left == 0:
                raise Killed
            cls.left -= 1


class Fused(sqlite3.Connection):
    """A connection that can be killed."""

    def execute(self, *values: Any) -> sqlite3.Cursor:
        Fuse.burn()
        cursor = super().execute(*values)
        Fuse.burn()
        return cursor

    def executemany(self, *values: Any) -> sqlite3.Cursor:
        Fuse.burn()
        cursor = super().executemany(*values)
        Fuse.burn()
        return cursor


class Storing(RuleBasedStateMachine):
    """What a store must hold, beside one."""

    kills: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        Fuse.left = None
        self._folder = tempfile.TemporaryDirectory()
        self._names = (Path(self._folder.name) / f"{n}.db" for n in itertools.count())
        self._clock = Clock(LAST_DAY - DAY)
        self._dead: list[SqliteStore] = []
        self._patches: list[Any] = [
            patch("sqlite3.connect", partial(sqlite3.connect, factory=Fused)),
            patch("deniable.survey.document.LEAST_RELEASE", RELEASE),
            patch("deniable_server.store.sqlite.fold.WRITTEN_ANEW", 12),
            patch("deniable_server.store.sqlite.fold.LOAD", 8),
            patch("deniable_server.store.sqlite.fold.WRITTEN_ANEW_AT_REST", 16),
        ]
        for each in self._patches:
            each.start()
        self._store = SqliteStore(next(self._names), self._clock)
        for survey in SURVEYS:
            self._store.publish(survey)
        self._reports: list[dict[str, Report]] = [{} for _ in SURVEYS]
        self._closed = [False for _ in SURVEYS]
        self._shown: list[dict[str | None, Tally]] = [{} for _ in SURVEYS]
        self._releases = [self._store.release_of(survey.id) for survey in SURVEYS]
        self._durable = 0

    def teardown(self) -> None:
        Fuse.left = None
        self._look_into_it()
        for store in [self._store, *self._dead]:
            store.close()
        for each in self._patches:
            each.stop()
        self._folder.cleanup()

    @rule(batch=BATCHES)
    def take(self, batch: Batch) -> None:
        """Store a batch, and compare every outcome."""
        self._compare(self._made(batch), self._sent(self._made(batch)))

    @rule()
    def settle(self) -> None:
        """Fold, sort, truncate."""
        assert self._store.settle()

    @rule(n=NUMBERS, sure=st.sampled_from([False, False, False, True]))
    def close(self, n: int, sure: bool) -> None:
        """Close a survey, seldom."""
        if sure:
            self._store.close_survey(SURVEYS[n].id)
            self._closed[n] = True

    @rule(days=st.integers(-1, 1))
    def set_clock(self, days: int) -> None:
        """A clock is set."""
        day = self._clock.today + datetime.timedelta(days=days)
        assert FIRST.closes is not None
        before, after = (FIRST.closes + datetime.timedelta(days=days) for days in (-1, 1))
        self._clock.today = min(max(day, before), after)

    @rule(batch=BATCHES, moments=MOMENTS, tear=st.floats(0, 1))
    def take_and_be_killed(self, batch: Batch, moments: int, tear: float) -> None:
        """Be killed while storing: then all of the batch is there or nothing."""
        made = self._made(batch)
        outcomes: list[Verdict] = []
        with self._killed("take", moments, tear):
            outcomes = self._sent(made)
        if outcomes:
            self._compare(made, outcomes)
            return
        new = [(n, each) for n, each in made if self._is_open(n) and each.id not in self._reports[n]]
        there = [each.id in self._ids(n) for n, each in new]
        assert len(set(there)) <= 1, "half a batch"
        if any(there):
            for n, each in new:
                self._reports[n].setdefault(each.id, each)

    @rule(moments=MOMENTS)
    def settle_and_be_killed(self, moments: int) -> None:
        """Be killed within a fold."""
        with self._killed("settle", moments):
            self._store.settle()

    @rule(n=NUMBERS, moments=MOMENTS, sure=st.sampled_from([False, False, False, True]))
    def close_and_be_killed(self, n: int, moments: int, sure: bool) -> None:
        """Be killed while closing."""
        if sure:
            with self._killed("close", moments):
                self._store.close_survey(SURVEYS[n].id)
            self._closed[n] = bool(self._store.state(SURVEYS[n].id).closed_on)

    @invariant()
    def holds_what_was_acknowledged(self) -> None:
        """Every report is counted once, wherever it is."""
        for n, survey in enumerate(SURVEYS):
            folded = counts.stored(self._store.db, survey)
            waiting = counts.count(self._store.db, survey, pending_table(survey))
            assert counts.together(folded, waiting) == tally_reports(self._reports[n].values(), survey)
        assert {each.id: each for each in self._store.reports(SURVEYS[0])} == self._reports[0]
        self._durable = self._log_size()

    @invariant()
    def shows_whole_releases(self) -> None:
        """Estimates, counts and rows are of one set, and none of its cohorts grows by less than a release."""
        for n, survey in enumerate(SURVEYS):
            shown = self._store.tallies(survey)
            total = sum(tally.n for tally in shown.values())
            release = self._store.release_of(survey.id)
            assert (release != self._releases[n]) == (shown != self._shown[n]) or not shown
            assert self._store.state(survey.id).reports == total == max(release, 0)
            rows = list(self._store.reports(survey))
            assert survey.retention == "tallies" or tally_reports(rows, survey) == shown
            is_over = self._closed[n] or self._clock.today > LAST_DAY
            if survey.results == "live":
                assert shown == tally_reports(self._reports[n].values(), survey)
            elif survey.results == "batches" and not is_over:
                for cohort, tally in shown.items():
                    before = self._shown[n][cohort].n if cohort in self._shown[n] else 0
                    assert tally.n == before or tally.n - before >= RELEASE
            elif survey.results == "closed":
                # What was shown at the end is not taken back by a clock that is.
                stands = not shown or shown == self._shown[n]
                assert stands or (is_over and shown == tally_reports(self._reports[n].values(), survey))
            self._shown[n], self._releases[n] = shown, release

    def _made(self, batch: Batch) -> list[tuple[int, Report]]:
        return [
            (n, Report(f"{number:032x}", None if number % 3 else "web", {"affair": content, "religious": number % 4}))
            for n, number, content in batch
        ]

    def _is_open(self, n: int) -> bool:
        return not self._closed[n] and FIRST.not_open_because(self._clock.today) is None

    def _ids(self, n: int) -> set[str]:
        tables = (pending_table(SURVEYS[n]), reports_table(SURVEYS[n]))
        return {row[0] for table in tables for row in self._store.db.conn.execute(f"SELECT id FROM {table}")}

    def _sent(self, made: Sequence[tuple[int, Report]]) -> list[Verdict]:
        stored = self._store.store_reports([(SURVEYS[n], [each]) for n, each in made])
        return [outcome for (outcome,) in stored]

    def _compare(self, made: Sequence[tuple[int, Report]], outcomes: Sequence[Verdict]) -> None:
        for (n, report), outcome in zip(made, outcomes, strict=True):
            before = self._reports[n].get(report.id)
            if not self._is_open(n):
                assert outcome is Verdict.CLOSED
            elif before is None:
                assert outcome is Verdict.STORED
                self._reports[n][report.id] = report
            elif before == report:
                assert outcome is Verdict.KNOWN
            else:  # a folded id of which nothing else was kept cannot conflict
                assert outcome is Verdict.CONFLICT or (outcome is Verdict.KNOWN and SURVEYS[n].retention == "tallies")

    @contextmanager
    def _killed(self, what: str, moments: int, tear: float = 1) -> Iterator[None]:
        """Kill what is done within after so many moments, and start again with what is on the disk then."""
        Fuse.left = moments
        try:
            yield
        except Killed:
            self.kills[what] += 1
            path = next(self._names)
            shutil.copy(self._store.path, path)
            log, copied = (each.with_name(f"{each.name}-wal") for each in (self._store.path, path))
            if log.exists():
                content = log.read_bytes()
                if len(content) > self._durable:  # what was not waited for may be there in part
                    content = content[: self._durable + round(tear * (len(content) - self._durable))]
                copied.write_bytes(content)
            Fuse.left = None
            self._dead.append(self._store)
            self._store = SqliteStore(path, self._clock)
            self._look_into_it()
        finally:
            Fuse.left = None

    def _log_size(self) -> int:
        log = self._store.path.with_name(f"{self._store.path.name}-wal")
        return log.stat().st_size if log.exists() else 0

    def _look_into_it(self) -> None:
        assert inspect(self._store.path).findings == ()
