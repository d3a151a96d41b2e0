"""Somebody polls everything that a collector shows while people answer, and learns no more than the releases tell."""

from __future__ import annotations

import datetime
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from unittest.mock import patch

from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.in_process import ended
from tools.rig.surveys import FIVE_TYPES, TODAY, Clock, person

RELEASE = 200

Sight = dict[str, tuple[int, dict[str, str], bytes]]
"""By address what an onlooker gets: status, headers but the date, and body."""


def polling(short: bool) -> str:
    """Poll every address while a thousand answer: what it shows is byte for byte that of the last release."""
    people, pause, pauses = (80, 40, 2) if short else (1000, 10, 4)
    dice = random.Random(31)
    first = replace(
        read_survey(FIVE_TYPES),
        cohorts=("paper", "web"),
        results="batches",
        release=50 if short else RELEASE,
        closes=TODAY + datetime.timedelta(days=1),
    )
    surveys = [first, replace(first, retention="tallies"), replace(first, results="closed")]
    surveys.append(replace(first, revises=first.id))
    calendar = Clock()
    polls = releases = 0
    with collector(calendar) as app:
        store: Store = app.extensions["deniable"]["store"]
        http = app.test_client()
        for survey in surveys:
            store.publish(survey)
        onlooker = Onlooker(http, store, surveys)
        before = onlooker.look()
        known = totals(store, surveys)
        for number in range(people):
            cohort = dice.choice([None, "web", "web", "web"])
            for survey in surveys:
                report = randomize(survey, person(number), cohort)
                path = f"/api/v1/surveys/{survey.id}/reports"
                assert http.post(path, data=report.encode(), content_type="application/json").status_code == 201
            if number % pause == pause - 1:
                now = onlooker.look()
                polls += len(now)
                assert now == before, difference(before, now)
            if number % (pauses * pause) == pauses * pause - 1:  # the timer
                store.settle()
                shown, now = totals(store, surveys), onlooker.look()
                for survey in surveys:
                    for cohort in (None, *survey.cohorts):
                        more = shown[survey.id, cohort] - known[survey.id, cohort]
                        assert more == 0 or more >= survey.release, "fewer than a release came out"
                if shown == known:
                    assert now == before, difference(before, now)
                else:
                    releases += 1
                    assert now != before
                before, known = now, shown
        calendar.today += datetime.timedelta(days=2)
        store.settle()
        shown = totals(store, surveys)
        assert {sum(shown[survey.id, each] for each in (None, "web")) for survey in surveys} == {people}
    assert releases
    seen = f"{people} people, {len(surveys)} surveys, {polls} answers to polls, {releases} releases"
    return f"{seen}, 0 differences between them"


SCENARIOS: dict[str, Callable[[bool], str]] = {"polling": polling}


class Onlooker:
    """Somebody who asks for everything, with every token and with none.

    How many reports wait, which owners are told, is left out; of what is told without a token nothing is left out.
    """

    def __init__(self, http: FlaskClient, store: Store, surveys: list[Survey]) -> None:
        self._http = http
        self._public: list[str] = []
        self._tokens = {scope: create_token(store, scope, scope) for scope in ("operate", "metrics")}
        self._addresses = ["/", "/api/v1/surveys", "/metrics", "/readyz", "/livez"]
        drawn = f"/s/{surveys[0].id}/results/{surveys[0].questions[0].id}"
        crossed = f"?with={surveys[0].questions[1].id}"
        self._addresses += [f"{drawn}.{form}{query}" for form in ("png", "pdf") for query in ("", crossed)]
        self._public.append(f"HEAD {drawn}.png")
        for survey in surveys:
            pages, api = f"/s/{survey.id}", f"/api/v1/surveys/{survey.id}"
            self._addresses += [pages, api, f"{api}/reports.csv", f"{api}/releases", f"{api}/releases/1"]
            self._addresses += [f"{api}/archive.zip", f"{pages}/releases", f"{pages}/results?view=all"]
            question, other, *_ = survey.questions
            view = f"{pages}/results/{question.id}"
            self._addresses += [
                f"{view}{each}" for each in ("", ".csv", ".json", ".svg", "?by=cohort", "?compare=cohort")
            ]
            self._addresses += [f"{view}?with={other.id}", f"{view}?release=1", f"{view}?lang=de"]
            self._addresses += [f"{view}.{form}?with={other.id}" for form in ("csv", "json", "svg")]
            if survey.revises:
                self._addresses += [f"{view}{form}?pooled=versions" for form in ("", ".csv", ".json", ".svg", "/embed")]
            self._addresses += [f"{view}/embed", f"{view}?over=time", f"{view}.json?over=time"]
            self._addresses.append(f"/oembed?url=http://localhost{view}")
            self._public += [f"GET {view}?over=releases", f"GET {api}/state"]
            self._public += [
                f"HEAD {each}" for each in (view, f"{view}.csv", f"{api}/reports.csv", f"{api}/archive.zip")
            ]
            for by in ("", "?by=cohort"):
                self._addresses += [f"{pages}/results{by}", f"{pages}/results.svg{by}", f"{pages}/results.csv{by}"]
                self._addresses += [f"{api}/{each}{by}" for each in ("estimates", "estimates.json", "estimates.csv")]

        # Whoever has no token asks for the same, but for what is for nobody without one.
        closed = ("/metrics", "/api/v1/surveys")
        self._public += [f"GET {each}" for each in self._addresses if each not in closed]

    def look(self) -> Sight:
        """What everything shows now."""
        seen: Sight = {}
        for address in self._addresses:
            token = self._tokens["metrics" if address == "/metrics" else "operate"]
            with self._http.get(address, headers={"Authorization": f"Bearer {token}"}) as response:
                headers = {
                    key: value for key, value in response.headers.items() if key not in ("Date", "Content-Length")
                }
                body = re.sub(rb'"waiting":(\[[^]]*\]|null)', b"", response.data)
            if address == "/metrics":  # which counts the onlooker's own requests
                body, headers = re.sub(rb'.*method="(GET|HEAD)".*\n', b"", body), {}
            seen[address] = response.status_code, headers, body
        for asked in self._public:
            method, _, address = asked.partition(" ")
            with self._http.open(address, method=method) as response:
                headers = {key: value for key, value in response.headers.items() if key != "Date"}
                seen[f"{asked}, without a token"] = response.status_code, headers, response.data
            if "ETag" in headers:
                with self._http.open(address, method=method, headers={"If-None-Match": headers["ETag"]}) as response:
                    assert response.status_code == HTTPStatus.NOT_MODIFIED, address
                    headers = {key: value for key, value in response.headers.items() if key != "Date"}
                    seen[f"{asked}, with its tag"] = response.status_code, headers, response.data
        return seen


def totals(store: Store, surveys: list[Survey]) -> dict[tuple[str, str | None], int]:
    """Reports that results show, by survey and cohort."""
    found = {(survey.id, cohort): 0 for survey in surveys for cohort in (None, *survey.cohorts)}
    for survey in surveys:
        for cohort, tally in store.tallies(survey).items():
            found[survey.id, cohort] = tally.n
    return found


def difference(before: Sight, now: Sight) -> str:
    """The addresses whose answers changed."""
    return f"changed between releases: {', '.join(each for each in now if now[each] != before[each])}"


@contextmanager
def collector(today: Callable[[], datetime.date]) -> Iterator[APIFlask]:
    """A collector in this process that folds only when it is told to, on a disk that nobody else writes to."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(SqliteStore, "free_bytes", return_value=10**12),
        ended(create_app(Path(folder) / "test.db", today, Settings(rate_limit=None, fold_seconds=3600))) as app,
    ):
        yield app
