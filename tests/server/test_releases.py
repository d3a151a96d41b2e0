"""A fold is a release: what results show between two of them, who may read it, and by which calendar it ends."""

from __future__ import annotations

import datetime
import functools
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from deniable import Report, Survey, read_survey, tally_reports
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.store import Verdict
from deniable_server.store.calendar import DAY, STEP
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import pending_table, reports_table
from tools.rig.surveys import SURVEY, TODAY, Clock
from tools.torture import network_polling


@pytest.fixture
def survey() -> Survey:
    """The survey with results that change with every release."""
    return replace(read_survey(SURVEY), results="batches")


def reports(survey: Survey, n: int, cohort: str | None = None) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}, cohort) for _ in range(n)]


def take(store: SqliteStore, survey: Survey, sent: list[Report]) -> list[Verdict]:
    """Reports come, too few at a time for a fold."""
    chunks = [sent[start : start + 40] for start in range(0, len(sent), 40)]
    return [outcome for each in chunks for outcomes in store.store_reports([(survey, each)]) for outcome in outcomes]


def shown(store: SqliteStore, survey: Survey) -> dict[str | None, int]:
    return {cohort: tally.n for cohort, tally in store.tallies(survey).items()}


def waiting(store: SqliteStore, survey: Survey) -> int:
    n: int = store.db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()[0]
    return n


class TestCohorts:
    def test_fold_by_themselves_and_all_that_wait_together(self, store: SqliteStore, survey: Survey) -> None:
        store.publish(survey)
        take(store, survey, reports(survey, 203, "web") + reports(survey, 199, "paper") + reports(survey, 7))
        assert shown(store, survey) == {}
        store.settle()
        assert shown(store, survey) == {"web": 203}
        take(store, survey, reports(survey, 1, "paper") + reports(survey, 5, "web"))
        assert shown(store, survey) == {"web": 203}
        store.settle()
        assert shown(store, survey) == {"web": 203, "paper": 200}
        assert inspect(store.path).findings == ()
        store.close_survey(survey.id)
        assert shown(store, survey) == {"web": 208, "paper": 200, None: 7}
        assert inspect(store.path).findings == ()

    @pytest.mark.parametrize("retention", ["reports", "tallies"])
    def test_of_a_batch_fold_at_once_where_it_brings_enough(
        self, store: SqliteStore, survey: Survey, retention: str
    ) -> None:
        survey = replace(survey, retention=retention)
        store.publish(survey)
        sent = reports(survey, 50, "paper") + reports(survey, 200, "web")
        assert store.store_reports([(survey, sent)]) == [[Verdict.STORED] * 250]
        assert shown(store, survey) == {"web": 200}
        assert waiting(store, survey) == 50
        assert store.store_reports([(survey, sent)]) == [[Verdict.KNOWN] * 250]
        assert inspect(store.path).findings == ()

    def test_one_id_in_two_cohorts_of_a_batch_counts_for_the_first(self, store: SqliteStore, survey: Survey) -> None:
        store.publish(survey)
        sent = reports(survey, 200, "web")
        (outcomes,) = store.store_reports([(survey, [replace(sent[5], cohort="paper"), *sent])])
        assert outcomes == [Verdict.STORED] + [Verdict.STORED] * 5 + [Verdict.CONFLICT] + [Verdict.STORED] * 194

    def test_wait_for_the_number_that_the_author_chose(self, store: SqliteStore, survey: Survey) -> None:
        survey = replace(survey, release=50)
        store.publish(survey)
        take(store, survey, reports(survey, 49))
        store.settle()
        assert shown(store, survey) == {}
        take(store, survey, reports(survey, 1))
        store.settle()
        assert shown(store, survey) == {None: 50}


class TestResults:
    def test_totals_cohorts_and_rows_are_of_one_set(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        store.publish(survey)
        sent = reports(survey, 200, "web")
        take(store, survey, sent)
        store.settle()
        take(store, survey, reports(survey, 150, "web") + reports(survey, 3))
        url = f"/api/v1/surveys/{survey.id}"
        found = http.get(f"{url}/estimates.json?by=cohort").json
        assert found["n"] == 200
        assert {(row["cohort"], row["n"]) for row in found["estimates"]} == {("paper", 0), ("web", 200)}
        rows = http.get(f"{url}/reports.csv").text.splitlines()[1:]
        assert [row.split(",")[0] for row in rows] == sorted(each.id for each in sent)
        assert tally_reports(store.reports(survey), survey) == store.tallies(survey)
        assert "Replies counted: 200" in http.get(f"/s/{survey.id}/results").text
        assert store.release_of(survey.id) == store.state(survey.id).reports == 200

    def test_closed_show_nothing_until_the_survey_has_closed(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        survey = replace(survey, results="closed")
        store.publish(survey)
        url = f"/api/v1/surveys/{survey.id}"
        take(store, survey, reports(survey, 230))
        store.settle()
        found = http.get(f"{url}/estimates.json").json
        assert (found["n"], found["note"]) == (0, "results come out once the survey has closed")
        assert len(http.get(f"{url}/reports.csv").text.splitlines()) == 1
        assert "Results come out once the survey has closed." in http.get(f"/s/{survey.id}/results").text
        assert store.release_of(survey.id) == -1
        store.close_survey(survey.id)
        found = http.get(f"{url}/estimates.json").json
        assert (found["n"], found["note"]) == (230, None)
        assert len(http.get(f"{url}/reports.csv").text.splitlines()) == 231

    def test_closed_by_the_calendar_show_everything_after_the_last_day(
        self, store: SqliteStore, survey: Survey, clock: Clock
    ) -> None:
        survey = replace(survey, results="closed")
        store.publish(survey)
        take(store, survey, reports(survey, 3))
        for _ in days_until(clock, datetime.date(2026, 12, 20)):
            store.settle()
        assert shown(store, survey) == {}
        clock.today += DAY
        assert store.release_of(survey.id) == -1  # not yet folded
        store.settle()
        assert shown(store, survey) == {None: 3}

    def test_of_live_surveys_change_with_every_report(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        survey = replace(survey, results="live")
        store.publish(survey)
        for n in range(1, 4):
            take(store, survey, reports(survey, 1))
            assert http.get(f"/api/v1/surveys/{survey.id}/estimates").json["n"] == store.release_of(survey.id) == n

    @pytest.mark.slow
    def test_for_readers_with_a_token(self, http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
        survey = replace(survey, readers="token")
        store.publish(survey, owner="publish")
        take(store, survey, reports(survey, 200))
        store.settle()
        tokens = {scope: create_token(store, scope, scope) for scope in ("read", "publish", "operate", "metrics")}
        tokens["another's"] = create_token(store, "somebody else")
        api, page = f"/api/v1/surveys/{survey.id}", f"/s/{survey.id}"
        for address in (
            *(f"{api}/{each}" for each in ("estimates", "estimates.json", "estimates.csv", "reports.csv")),
            *(f"{page}/{each}" for each in ("results", "results.svg", "results.png")),
        ):
            refused = http.get(address, headers={"Accept": "application/json"})
            assert (refused.status_code, refused.mimetype) == (401, "application/problem+json")
            assert "not public" in refused.json["detail"]
            for scope, token in tokens.items():
                status = http.get(address, headers={"Authorization": f"Bearer {token}"}).status_code
                assert status == (200 if scope in ("read", "publish", "operate") else 403), (address, scope)
        refused = http.get(f"{page}/results", headers={"Accept": "text/html"})
        assert refused.mimetype == "text/html"
        assert "Results of this survey are not public." in refused.text
        assert http.get(api).status_code == http.get(page).status_code == 200

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "file", ["estimates.csv", "estimates.json", "reports.csv", "archive.zip", "releases", "releases/1"]
    )
    def test_have_tags_that_change_with_them(
        self, http: FlaskClient, store: SqliteStore, survey: Survey, file: str
    ) -> None:
        store.publish(survey)
        take(store, survey, reports(survey, 200))
        store.settle()
        address = f"/api/v1/surveys/{survey.id}/{file}"
        with closing(http.get(address)) as first:
            tag = first.headers["ETag"]
        take(store, survey, reports(survey, 150))  # which wait
        for method in ("GET", "HEAD"):
            with closing(http.open(address, method=method, headers={"If-None-Match": tag})) as same:
                assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tag)
        owner = {"Authorization": f"Bearer {create_token(store, 'operate', 'operate')}", "If-None-Match": tag}
        with closing(http.get(address, headers=owner)) as whole:
            assert (whole.status_code, "ETag" in whole.headers) == (200, False)
        take(store, survey, reports(survey, 50))
        store.settle()
        with closing(http.get(address, headers={"If-None-Match": tag})) as now:
            if file == "releases/1":
                assert now.status_code == 304, "a release never changes"
            else:
                assert (now.status_code, now.headers["ETag"] == tag) == (200, False)

    @pytest.mark.slow
    def test_stand_still_for_whoever_polls(self) -> None:
        network_polling.polling(short=True)


class TestMetrics:
    def test_move_with_releases_only(self, http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
        store.publish(survey)
        take_over_http(http, survey, 199)
        before = figures(http, store, "a")
        assert before["deniable_reports_total", "stored"] == 0
        assert not any("POST" in key for key in before)
        take_over_http(http, survey, 1)
        store.settle()
        after = figures(http, store, "b")
        assert after["deniable_reports_total", "stored"] == 200
        route = "/api/v1/surveys/<survey_id>/reports"
        assert after["deniable_request_seconds_count", "POST", route, "201"] == 200

    def test_of_one_survey_do_not_come_out_with_another(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        other = replace(survey, title="Other", release=50)
        for each in (survey, other):
            store.publish(each)
        take_over_http(http, survey, 7)
        take_over_http(http, other, 50)
        store.settle()
        assert figures(http, store, "a")["deniable_reports_total", "stored"] == 50

    def test_tell_no_moment(self, http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
        store.publish(replace(survey, results="live"))
        take_over_http(http, replace(survey, results="live"), 1)
        found = figures(http, store, "a")
        assert found["deniable_reports_total", "stored"] == 1
        assert not [name for name, *_ in found if name.endswith("_created")]


class TestClock:
    @pytest.fixture
    def tallied(self, store: SqliteStore, survey: Survey) -> Iterator[Survey]:
        """A survey whose ids go after it closed, with three reports that wait; the collector has run a day."""
        tallied = replace(survey, retention="tallies")
        store.publish(tallied)
        take(store, tallied, reports(tallied, 3))
        store.settle()
        yield tallied
        assert inspect(store.path).findings == ()

    def test_that_is_wrong_for_a_while_does_nothing_that_cannot_be_undone(
        self, store: SqliteStore, tallied: Survey, clock: Clock
    ) -> None:
        clock.today = datetime.date(2038, 1, 19)
        for _ in range(3):
            store.settle()
        (again,) = reports(tallied, 1)
        assert take(store, tallied, [again]) == [Verdict.CLOSED]  # that can be undone
        assert store.state(tallied.id).closed_on is None
        assert (waiting(store, tallied), shown(store, tallied)) == (3, {})
        clock.today = TODAY + DAY
        store.settle()
        assert take(store, tallied, [again]) == [Verdict.STORED]
        assert (waiting(store, tallied), shown(store, tallied)) == (4, {})

    def test_that_is_wrong_when_the_collector_starts(self, store: SqliteStore, tallied: Survey, clock: Clock) -> None:
        clock.today = datetime.date(2038, 1, 19)
        for _ in range(3):
            with closing(SqliteStore(store.path, clock)) as restarted:
                restarted.settle()
        assert (waiting(store, tallied), store.state(tallied.id).closed_on) == (3, None)

    def test_that_stands_is_believed_in_the_end(
        self, store: SqliteStore, tallied: Survey, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        passed = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: passed)
        clock.today = datetime.date(2027, 1, 1)  # it was off for a month
        store.settle()
        for _ in days_until(clock, clock.today + STEP):
            assert waiting(store, tallied) == 3
            passed += DAY.total_seconds()
            store.settle()
        assert store.state(tallied.id).closed_on == clock.today.isoformat()
        assert shown(store, tallied) == {None: 3}

    def test_that_jumps_again_and_again_is_not_believed_any_sooner(
        self, store: SqliteStore, tallied: Survey, clock: Clock
    ) -> None:
        clock.today = datetime.date(2027, 1, 1)
        for _ in range(20):
            clock.today += 2 * DAY  # within seconds
            store.settle()
        assert (waiting(store, tallied), store.state(tallied.id).closed_on) == (3, None)

    def test_is_not_asked_when_somebody_closes_by_hand(self, store: SqliteStore, tallied: Survey, clock: Clock) -> None:
        clock.today = datetime.date(2027, 1, 1)
        store.settle()
        store.close_survey(tallied.id)
        assert shown(store, tallied) == {None: 3}

    def test_is_doubted_and_believed_with_a_line_each(
        self, store: SqliteStore, tallied: Survey, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        clock.today = datetime.date(2038, 1, 19)
        for _ in range(5):
            store.settle()
        clock.today = TODAY
        for _ in range(5):
            store.settle()
        lines = [each.getMessage() for each in caplog.records if each.getMessage().startswith("clock: ")]
        assert [line.split(",")[0] for line in lines] == ["clock: must not be 2038-01-19", "clock: is believed again"]


def test_settling_looks_only_at_surveys_with_something_to_do(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys = [replace(survey, title=f"Survey {n}") for n in range(20)]
    for each in surveys:
        store.publish(each)
    for each in surveys[:10]:
        take(store, each, reports(each, 2))
    store.settle()
    looked: list[str] = []
    original = store._settle
    monkeypatch.setattr(store, "_settle", lambda each, *rest: (looked.append(each.id), original(each, *rest)))  # type: ignore[func-returns-value]
    store.settle()
    assert looked == []
    take(store, surveys[15], reports(survey, 1))
    with closing(SqliteStore(store.path, store.today)) as restarted:  # after a crash
        monkeypatch.setattr(restarted, "_settle", lambda each, *rest: looked.append(each.id))
        restarted.settle()
    assert looked == [surveys[15].id]


def test_closing_day_folds_what_waited_long_ago(store: SqliteStore, survey: Survey, clock: Clock) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 2))
    store.settle()
    for _ in days_until(clock, datetime.date(2026, 12, 21)):
        store.settle()
    assert waiting(store, survey) == 0
    assert store.db.execute(f"SELECT count(*) FROM {reports_table(survey)}").fetchone() == (2,)


def days_until(clock: Clock, day: datetime.date) -> Iterator[datetime.date]:
    """Let days pass."""
    while clock.today < day:
        clock.today += DAY
        yield clock.today


def test_metrics_wait_for_the_release_however_much_there_is(app: APIFlask, survey: Survey) -> None:
    metrics = app.extensions["deniable-metrics"]
    stored = functools.partial(metrics.registry.get_sample_value, "deniable_reports_total", {"outcome": "stored"})
    metrics.taken(survey, [Verdict.STORED])
    for _ in range(20_000):
        metrics.answered("GET", "/s/<survey_id>", 200, 0.001, survey)
    assert stored() == 0, "whoever makes the other requests would see the one that is not his"
    metrics.release(survey)
    assert stored() == 1


def take_over_http(http: FlaskClient, survey: Survey, n: int) -> None:
    for each in reports(survey, n):
        path = f"/api/v1/surveys/{survey.id}/reports"
        assert http.post(path, data=each.encode(), content_type="application/json").status_code == 201


def figures(http: FlaskClient, store: SqliteStore, name: str) -> dict[tuple[str, ...], float]:
    token = create_token(store, name, "metrics")
    text = http.get("/metrics", headers={"Authorization": f"Bearer {token}"}).text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
