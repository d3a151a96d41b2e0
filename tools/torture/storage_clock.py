"""Clocks that are set, and reports that are replayed: surveys open as the dates say, and a report counts once."""

from __future__ import annotations

import datetime
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.in_process import ended
from tools.rig.surveys import FIVE_TYPES, TODAY, Clock, person

DAY = datetime.timedelta(days=1)


def clock(short: bool) -> str:
    """Set the clock a day forwards and back at random, over the first and the last day of two surveys."""
    steps = 60 if short else 2000
    dice = random.Random(29)
    dates = replace(read_survey(FIVE_TYPES), opens=TODAY, closes=TODAY + 2 * DAY)
    surveys = [dates, replace(dates, retention="tallies")]
    calendar = Clock(TODAY)
    sent: dict[str, list[Report]] = {survey.id: [] for survey in surveys}
    refused = replayed = 0
    with collector(calendar) as app:
        store: SqliteStore = app.extensions["deniable"]["store"]
        http = app.test_client()
        for survey in surveys:
            store.publish(survey)
        for step in range(steps):
            day = calendar.today + dice.choice([-1, 0, 1]) * DAY
            calendar.today = min(max(day, TODAY - DAY), TODAY + 3 * DAY)
            is_open = TODAY <= calendar.today <= TODAY + 2 * DAY
            for survey in surveys:
                ours = sent[survey.id]
                is_new = not ours or dice.random() < 0.7
                report = randomize(survey, person(step)) if is_new else dice.choice(ours)
                status = post(http, survey, report)
                assert status == (410 if not is_open else 201 if is_new else 200), (step, calendar.today, status)
                if is_open and is_new:
                    ours.append(report)
                refused += status == 410
                replayed += status == 200
            if dice.random() < 0.2:
                store.settle()  # beside the writer, which does so too
            assert [store.state(survey.id).reports for survey in surveys] == list(map(len, sent.values())), step
        stored = {report.id for report in store.reports(dates)}
        assert stored == {report.id for report in sent[dates.id]}
        while calendar.today < TODAY + 30 * DAY:
            calendar.today += DAY
            store.settle()
        calendar.today = TODAY
        assert post(http, surveys[1], sent[surveys[1].id][0]) == 410, "its ids are gone, so it must stay closed"
        assert inspect(store.path).findings == ()
    return (
        f"{steps} steps of a day, {sum(map(len, sent.values()))} stored, {refused} refused when closed, "
        f"{replayed} replays, lost 0, counted twice 0"
    )


def replays(short: bool) -> str:
    """Send one report many times, before and after it is folded, where rows are kept and where only ids are."""
    times = 100 if short else 1000
    survey = read_survey(FIVE_TYPES)
    said = []
    for each in (survey, replace(survey, retention="tallies")):
        with collector(Clock(TODAY)) as app:
            store: SqliteStore = app.extensions["deniable"]["store"]
            http = app.test_client()
            store.publish(each)
            others = [randomize(each, person(n)) for n in range(300)]
            report = randomize(each, person(0))
            assert post(http, each, report) == 201
            assert {post(http, each, report) for _ in range(times // 2)} == {200}
            store.store_reports([(each, others)])
            store.settle()
            assert {post(http, each, report) for _ in range(times // 2)} == {200}
            assert store.state(each.id).reports == 301
            before = store.tallies(each)
            store.settle()
            assert store.tallies(each) == before
            said.append(f"{times} replays with retention {each.retention}: count +0")
    return "; ".join(said)


SCENARIOS: dict[str, Callable[[bool], str]] = {"clock": clock, "replays": replays}


def post(http: FlaskClient, survey: Survey, report: Report) -> int:
    """Send a report; the status."""
    path = f"/api/v1/surveys/{survey.id}/reports"
    return http.post(path, data=report.encode(), content_type="application/json").status_code


@contextmanager
def collector(today: Callable[[], datetime.date]) -> Iterator[APIFlask]:
    """A collector in this process, by a calendar of ours."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ended(create_app(Path(folder) / "test.db", today, Settings(rate_limit=None, fold_seconds=0.05))) as app,
    ):
        yield app
