"""Reports that come and days that pass, for tests of what a store counts when."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.store import Verdict
from deniable_server.store.sql_store import SqlStore
from tests.support.stores import rows
from tools.rig.patience import wait_until
from tools.rig.surveys import SURVEY, Clock


@pytest.fixture
def survey() -> Survey:
    """The survey with results that change with every release."""
    return replace(read_survey(SURVEY), results="batches")


@pytest.fixture
def live(survey: Survey) -> Survey:
    """The survey with results that change with every report."""
    return replace(survey, results="live")


@pytest.fixture
def tallied(survey: Survey) -> Survey:
    """The survey with its rows dropped once they are counted."""
    return replace(survey, retention="tallies")


def reports(survey: Survey, n: int, cohort: str | None = None) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}, cohort) for _ in range(n)]


def take(store: SqlStore, survey: Survey, sent: list[Report]) -> list[Verdict]:
    """Reports come, too few at a time for a fold."""
    return [
        outcome
        for start in range(0, len(sent), 100)
        for outcome in take_together(store, survey, sent[start : start + 100])
    ]


def take_together(store: SqlStore, survey: Survey, sent: list[Report]) -> list[Verdict]:
    (outcomes,) = store.store_reports([(survey, sent)])
    return outcomes


def go_to(store: SqlStore, clock: Clock, day: datetime.date) -> None:
    """Let days pass, and settle on each."""
    while clock.today < day:
        clock.today += datetime.timedelta(days=1)
        store.settle()


def wait_until_folded(store: SqlStore, survey: Survey, n: int) -> None:
    wait_until(lambda: rows(store, survey) == (0, n), "all are folded")
