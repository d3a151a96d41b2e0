"""Releases are recorded and computed when they come, before somebody asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Survey
from deniable_server.results import service
from deniable_server.results.ahead import Ahead
from deniable_server.results.service import ResultsService
from deniable_server.store import Store
from deniable_server.web import results_pages
from tests.support.views import filled
from tools.rig.patience import PATIENCE
from tools.rig.surveys import FIVE_TYPES


@pytest.mark.slow
def test_a_release_is_recorded_and_computed_before_somebody_asks(
    app: APIFlask, http: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: ResultsService = app.extensions["deniable-results"]
    told: list[str] = []
    monkeypatch.setattr(store, "on_release", lambda survey: told.append(survey.id))
    results.prepare_releases()
    survey, _ = filled(store, FIVE_TYPES, 150)
    assert results.ahead.wait(PATIENCE)
    assert set(told) == {survey.id}, "whoever was told of releases before is told of them still"
    assert [row.number for row in store.releases(survey)] == [1]

    def compute(*_arguments: object) -> None:
        raise AssertionError("nothing is left to compute")

    monkeypatch.setattr(results._pool, "run", compute)
    for path in ("results", "results?by=cohort", "results/affair", "results/town.csv?by=cohort", "results/drinks.svg"):
        assert http.get(f"/s/{survey.id}/{path}").status_code == 200, path


@pytest.mark.slow
def test_of_more_rows_than_a_page_shows_the_csv_by_cohort_is_written_when_a_release_comes(
    app: APIFlask, http: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: ResultsService = app.extensions["deniable-results"]
    survey, _ = filled(store, FIVE_TYPES, 150)
    address = f"/s/{survey.id}/results.csv?by=cohort"
    of_rows = http.get(address).data
    monkeypatch.setattr(service, "MOST_TOGETHER", 10)
    monkeypatch.setattr(results_pages, "MOST_ON_PAGE", 10)
    results.ahead.add(survey.id)
    assert results.ahead.wait(PATIENCE)

    def compute(*_arguments: object) -> None:
        raise AssertionError("nothing is left to compute")

    monkeypatch.setattr(results._pool, "run", compute)
    assert http.get(address).data == of_rows


def test_a_release_that_comes_while_results_are_read_is_not_shown_with_the_numbers_before_it(
    app: APIFlask, http: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: ResultsService = app.extensions["deniable-results"]
    survey, reports = filled(store, FIVE_TYPES, 150)
    state = store.state(survey.id)
    before = results.releases.shown(state)
    store.store_reports([(survey, [replace(each, id=f"f{each.id[1:]}") for each in reports])])
    store.settle()

    def numbers() -> set[int]:
        paths = (f"/s/{survey.id}/{each}.json" for each in ("results/affair", "results"))
        return {http.get(path).json["rows"][0]["n"] for path in paths}

    with monkeypatch.context() as patched:
        patched.setattr(results.releases, "shown", lambda *_: before)  # read before the release, computed after it
        assert numbers() == {150}
    assert numbers() == {300}


@pytest.mark.slow
def test_hidden_results_are_not_computed(app: APIFlask, store: Store, survey: Survey) -> None:
    results: ResultsService = app.extensions["deniable-results"]
    store.publish(survey)
    results.ahead.add(survey.id)
    results.ahead.add("a" * 26)  # which nobody published
    assert results.ahead.wait(PATIENCE)
    assert store.releases(survey) == []


def test_what_fails_holds_nothing_up() -> None:
    prepared: list[str] = []

    def prepare(survey_id: str) -> None:
        prepared.append(survey_id)
        if survey_id == "bad":
            raise ValueError(survey_id)

    ahead = Ahead(prepare)
    for _ in range(2):
        for survey_id in ("bad", "good", "good"):
            ahead.add(survey_id)
        assert ahead.wait(PATIENCE)
    assert prepared.count("bad") == 2
    assert prepared[-1] == "good"
