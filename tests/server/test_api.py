"""The HTTP interface, request by request."""

from __future__ import annotations

import csv
import datetime
import io
import json
import threading
from typing import Any

import pandas as pd
import pytest
import urllib3
from apiflask import APIFlask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.access.tokens import create_token, revoke_token
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.published.date_columns import DATE_LABELS
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

NDJSON = "application/x-ndjson"


def report(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {"id": f"{number:032x}", "cohort": None, "values": {"affair": 1, "religious": 3}} | changes


@pytest.fixture
def base(store: SqliteStore, survey: Survey) -> str:
    """Path of a published survey."""
    store.publish(survey)
    return f"/api/v1/surveys/{survey.id}"


def send(http: FlaskClient, base: str, content: Any, mimetype: str = "application/json") -> TestResponse:
    body = content if isinstance(content, (str, bytes)) else json.dumps(content)
    return http.post(f"{base}/reports", data=body, content_type=mimetype)


def stored(http: FlaskClient, base: str) -> int:
    return http.get(f"{base}/estimates").json["n"]


def assert_problem(response: TestResponse, status: int, detail: str) -> None:
    assert response.status_code == status, response.text
    assert response.mimetype == "application/problem+json"
    assert set(response.json) == {"type", "title", "status", "detail"}  # type: ignore[arg-type]
    assert response.json["status"] == status
    assert detail in response.json["detail"]


def test_survey_is_served_as_published(http: FlaskClient, base: str, survey: Survey) -> None:
    response = http.get(base)
    assert response.data == survey.document
    assert "immutable" in response.headers["Cache-Control"]
    assert_problem(http.get("/api/v1/surveys/" + "a" * 26), 404, "there is none at this address")


def test_report_is_stored_then_known_then_in_conflict(http: FlaskClient, base: str) -> None:
    first = send(http, base, report())
    assert (first.status_code, first.json) == (201, {"status": "stored"})
    again = send(http, base, report())
    assert (again.status_code, again.json) == (200, {"status": "known"})
    other_spacing = send(http, base, json.dumps(report(), indent=2))
    assert other_spacing.status_code == 200
    assert_problem(send(http, base, report(values={"affair": 0, "religious": 3})), 409, "it was not changed")
    assert_problem(send(http, base, report(cohort="web")), 409, "it was not changed")
    assert stored(http, base) == 1


@pytest.mark.slow
def test_thousand_replays_count_once(http: FlaskClient, base: str) -> None:
    statuses = {send(http, base, report()).status_code for _ in range(1000)}
    assert statuses == {200, 201}
    assert stored(http, base) == 1


BAD_BODIES: dict[str, tuple[bytes | str, int, str]] = {
    "empty": (b"", 422, "report: must be JSON"),
    "truncated": (json.dumps(report())[:-7], 422, "report: must be JSON"),
    "2000 brackets": ("[" * 2000, 422, "must not nest deeper"),
    "60000 brackets": ("[" * 60_000, 422, "must not nest deeper"),
    "duplicate key": ('{"id":"x",' + json.dumps(report())[1:], 422, "must not hold the same key twice"),
    "true for 1": (json.dumps(report(values={"affair": True, "religious": 3})), 422, "got true"),
    "4000 digits": (json.dumps(report()).replace(": 3", ": " + "3" * 4000), 422, "at most 15 digits, got 4000"),
    "out of range": (json.dumps(report(values={"affair": 2, "religious": 3})), 422, "in [0, 2), got 2"),
    "negative": (json.dumps(report(values={"affair": -1, "religious": 3})), 422, "got -1"),
    "unknown question": (json.dumps(report(values={"affair": 1, "religious": 3, "age": 5})), 422, "unknown key 'age'"),
    "missing question": (json.dumps(report(values={"affair": 1})), 422, "must have the key 'religious'"),
    "unknown cohort": (json.dumps(report(cohort="radio")), 422, "cohort: must be null or one of"),
    "utf-16": (json.dumps(report()).encode("utf-16"), 422, "must be UTF-8"),
    "5 MB": (b" " * 5_000_000 + json.dumps(report()).encode(), 413, "too large"),
    "a batch in place of one": (json.dumps(report()) + "\n" + json.dumps(report(1)), 422, "Extra data"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_bad_body_is_refused_with_a_sentence_and_changes_nothing(http: FlaskClient, base: str, name: str) -> None:
    send(http, base, report(7))
    body, status, detail = BAD_BODIES[name]
    assert_problem(send(http, base, body), status, detail)
    assert stored(http, base) == 1


@pytest.mark.parametrize("mimetype", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_other_content_types_are_refused(http: FlaskClient, base: str, mimetype: str) -> None:
    assert_problem(send(http, base, report(), mimetype), 415, "Content-Type: must be application/json")


def test_report_for_no_survey(http: FlaskClient, base: str) -> None:
    assert_problem(send(http, "/api/v1/surveys/" + "b" * 26, report()), 404, "there is none")
    assert_problem(send(http, "/api/v1/surveys/'; DROP TABLE surveys; --", report()), 404, "there is none")


def test_survey_opens_and_closes_by_the_day(http: FlaskClient, base: str, clock: Clock) -> None:
    for day, status in [(19, 410), (20, 201), (30, 201)]:
        clock.today = datetime.date(2026, 11, day)
        assert send(http, base, report(day)).status_code == status
    clock.today = datetime.date(2026, 12, 20)
    assert send(http, base, report(1)).status_code == 201
    clock.today = datetime.date(2026, 12, 21)
    assert_problem(send(http, base, report(2)), 410, "takes no reports: it closed at the end of 2026-12-20 (UTC)")
    assert stored(http, base) == 3


def test_closing_by_hand_is_final(http: FlaskClient, base: str, store: SqliteStore, survey: Survey) -> None:
    send(http, base, report())
    store.close_survey(survey.id)
    assert_problem(send(http, base, report(1)), 410, "it was closed on 2026-11-25 (UTC)")
    assert_problem(send(http, base, report()), 410, "it was closed on")
    assert stored(http, base) == 1


def test_batch_stores_the_good_lines_and_names_the_others(http: FlaskClient, base: str) -> None:
    send(http, base, report(2))
    send(http, base, report(3))
    lines = [
        json.dumps(report(1)),
        json.dumps(report(2)),
        json.dumps(report(3, cohort="web")),
        "",
        "nonsense",
        json.dumps(report(4)),
        json.dumps(report(4)),
        json.dumps(report(5, values={"affair": 9, "religious": 3})),
    ]
    response = send(http, base, "\r\n".join(lines) + "\n", NDJSON)
    assert response.status_code == 200
    result = response.json
    assert (result["stored"], result["known"]) == (2, 2)
    assert [(each["line"], each["status"]) for each in result["refused"]] == [(3, 409), (5, 422), (8, 422)]
    assert "in [0, 2), got 9" in result["refused"][2]["detail"]
    assert stored(http, base) == 4


def test_batch_for_a_closed_survey_stores_nothing(
    http: FlaskClient, base: str, store: SqliteStore, survey: Survey
) -> None:
    store.close_survey(survey.id)
    result = send(http, base, json.dumps(report()), NDJSON).json
    assert result["stored"] == 0
    assert result["refused"][0]["status"] == 410


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [("\n" * 20_000, 422, "must be at most 10000 lines"), (b" " * 5_000_000, 413, "too large")],
)
def test_batch_has_limits(http: FlaskClient, base: str, body: str | bytes, status: int, detail: str) -> None:
    assert_problem(send(http, base, body, NDJSON), status, detail)


def test_empty_batch_is_no_error(http: FlaskClient, base: str) -> None:
    assert send(http, base, "", NDJSON).json == {"stored": 0, "known": 0, "refused": []}


def test_many_senders_at_once_lose_nothing(app: APIFlask, base: str) -> None:
    def sender(start: int) -> None:
        http = app.test_client()
        for number in range(start, start + 50):
            assert send(http, base, report(number)).status_code == 201

    threads = [threading.Thread(target=sender, args=(1000 * index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(app.test_client(), base) == 400


@pytest.fixture
def filled(http: FlaskClient, base: str, survey: Survey) -> str:
    """A survey with 600 reports in two cohorts and none."""
    lines = []
    for number in range(600):
        answers = {"affair": "yes" if number % 3 else "no", "religious": "mildly"}
        lines.append(randomize(survey, answers, [None, "paper", "web"][number % 3]).encode())
    assert send(http, base, b"\n".join(lines), NDJSON).json["stored"] == 600
    return base


def test_json_and_csv_hold_the_same_rows(http: FlaskClient, filled: str, survey: Survey) -> None:
    for query in ("", "?by=cohort", "?confidence=0.8&method=clopper-pearson"):
        result = http.get(f"{filled}/estimates{query}").json
        assert (result["survey"], result["n"]) == (survey.id, 600)
        assert http.get(f"{filled}/estimates.json{query}").json == result
        response = http.get(f"{filled}/estimates.csv{query}")
        assert response.mimetype == "text/csv"
        rows = list(csv.DictReader(io.StringIO(response.text)))
        columns = "question option cohort n count estimate std_error conf_low conf_high conf_level method epsilon"
        assert " ".join(rows[0]).startswith(columns)
        for row, line in zip(result["estimates"], rows, strict=True):
            access = {"access": result["access"], "one_report_a_person": result["one_report_a_person"]}
            dates = {name: result[name] for name in DATE_LABELS}
            assert {key: "" if value is None else str(value) for key, value in (row | access | dates).items()} == line


def test_estimates_read_in_pandas(http: FlaskClient, filled: str) -> None:
    frame = pd.read_csv(io.StringIO(http.get(f"{filled}/estimates.csv").text))
    shares = frame.set_index(["question", "option"])["estimate"]
    assert shares.groupby("question").sum().tolist() == pytest.approx([1, 1])
    assert frame["n"].eq(600).all()
    noisy = pd.read_csv(io.StringIO(http.get(f"{filled}/reports.csv").text), dtype={"id": str})
    assert list(noisy.columns) == ["id", "cohort", "affair", "religious", "one_report_a_person"]
    assert noisy["id"].is_monotonic_increasing
    assert noisy["affair"].sum() == frame.query("question == 'affair' and option == 'yes'")["count"].item()


def test_cohorts_add_up(http: FlaskClient, filled: str) -> None:
    whole = http.get(f"{filled}/estimates").json["estimates"]
    parts = http.get(f"{filled}/estimates?by=cohort").json["estimates"]
    assert [row["cohort"] for row in parts[::6]] == ["paper", "web", None]
    for row in whole:
        same = [each for each in parts if (each["question"], each["option"]) == (row["question"], row["option"])]
        assert sum(each["count"] for each in same) == row["count"]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("confidence=1", "confidence: Input should be less than or equal to 0.999999"),
        ("confidence=nan", "confidence"),
        ("by=question", "by: Input should be 'cohort'"),
        ("method=bayes", "method: must be one of default, feldman-cousins"),
        ("target=nobody", "target: Input should be 'population' or 'respondents'"),
        ("level=0.9", "level: Extra inputs are not permitted"),
        ("assume_fake=0.51", "assume_fake: Input should be less than or equal to 0.5"),
        ("assume_fake=nan", "assume_fake"),
        ("assume_fake=0.1&misbehaving=0.1", "assume_fake must not go with misbehaving"),
    ],
)
def test_bad_query_is_refused(http: FlaskClient, filled: str, query: str, detail: str) -> None:
    for path in ("estimates", "estimates.csv"):
        assert_problem(http.get(f"{filled}/{path}?{query}"), 422, detail)


def test_intervals_hold_whatever_fakes_say_if_they_are_asked_to(http: FlaskClient, filled: str) -> None:
    plain = http.get(f"{filled}/estimates").json["estimates"]
    found = http.get(f"{filled}/estimates?assume_fake=0.2").json["estimates"]
    fakes = int(0.2 * http.get(f"{filled}/estimates").json["n"])
    assert fakes > 0
    for before, row in zip(plain, found, strict=True):
        assert before["assumed_fake"] is None
        assert row["assumed_fake"] == 0.2
        assert row["conf_low"] <= before["conf_low"] <= before["conf_high"] <= row["conf_high"]
        assert row["conf_high"] - row["conf_low"] > min(before["conf_high"] - before["conf_low"], 1 - 1e-9)
    for cohort_row in http.get(f"{filled}/estimates?assume_fake=0.2&by=cohort").json["estimates"]:
        if cohort_row["n"] <= fakes:  # all of a cohort may be fake
            assert (cohort_row["conf_low"], cohort_row["conf_high"]) == (0, 1)
    lines = http.get(f"{filled}/estimates.csv?assume_fake=0.2").text.splitlines()
    assert lines[0].endswith(",assumed_fake,a,b,access,one_report_a_person,first_day,last_day,as_of")
    assert ",0.2,0.75,0.25,open,not enforced,20" in lines[1]  # the days follow


def test_estimates_without_reports_have_no_numbers(http: FlaskClient, base: str) -> None:
    result = http.get(f"{base}/estimates").json
    assert result["n"] == 0
    assert result["estimates"][0]["estimate"] is None
    assert (result["estimates"][0]["conf_low"], result["estimates"][0]["conf_high"]) == (0, 1)


class TestPublishing:
    SURVEY = read_survey('title = "New"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1')

    def publish(self, http: FlaskClient, token: str | None, body: bytes = SURVEY.document) -> TestResponse:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return http.post("/api/v1/surveys", data=body, headers=headers, content_type="application/json")

    def test_needs_a_token(self, http: FlaskClient, store: SqliteStore, clock: Clock) -> None:
        token = create_token(store, "ada", days=10)
        for wrong in (None, "", "dn_wrong", token[:-1], token + "x"):
            response = self.publish(http, wrong)
            sentence = "This token is unknown, revoked or expired" if wrong else "Authorization: Bearer dn_..."
            assert_problem(response, 401, sentence)
            assert "Bearer" in response.headers["WWW-Authenticate"]
        assert self.publish(http, token).status_code == 201
        clock.today += datetime.timedelta(days=11)
        assert self.publish(http, token).status_code == 401
        clock.today -= datetime.timedelta(days=11)
        revoke_token(store, "ada")
        assert self.publish(http, token).status_code == 401
        assert len(store.states()) == 1

    def test_token_is_kept_as_a_hash(self, store: SqliteStore) -> None:
        token = create_token(store, "ada")
        store.close()
        content = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
        assert b"ada" in content
        assert token.encode() not in content

    def test_is_idempotent_and_gives_the_address(self, http: FlaskClient, store: SqliteStore) -> None:
        token = create_token(store, "ada")
        first, second = self.publish(http, token), self.publish(http, token)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json == second.json == {"id": self.SURVEY.id, "path": f"/s/{self.SURVEY.id}"}
        assert http.get(f"/api/v1/surveys/{self.SURVEY.id}").data == self.SURVEY.document

    @pytest.mark.parametrize("body", [b"", b"{}", b"[" * 5000, SURVEY.document + b" ", b'title = "TOML"'])
    def test_refuses_what_is_no_survey(self, http: FlaskClient, store: SqliteStore, body: bytes) -> None:
        assert_problem(self.publish(http, create_token(store, "ada"), body), 422, "survey: ")
        assert store.states() == []

    def test_refuses_what_every_device_refuses_unless_forced(self, http: FlaskClient, store: SqliteStore) -> None:
        token = create_token(store, "ada")
        asked = [question_toml(f"q{n}", "yes-no", epsilon=2.7) for n in range(3)]
        body = read_survey(survey_toml("T", *asked)).document
        assert_problem(self.publish(http, token, body), 422, "epsilons must add up to at most 8")
        assert_problem(self.publish(http, token, body), 422, "publish it all the same with ?force=true")
        assert store.states() == []
        headers = {"Authorization": f"Bearer {token}"}
        url = "/api/v1/surveys?force=true"
        forced = http.post(url, data=body, headers=headers, content_type="application/json")
        assert forced.status_code == 201
        assert_problem(http.post(url, data=body, content_type="application/json"), 401, "Authorization")

    def test_list_and_close_over_http(self, http: FlaskClient, store: SqliteStore, base: str) -> None:
        headers = {"Authorization": f"Bearer {create_token(store, 'ada', 'operate')}"}
        send(http, base, report())
        (listed,) = http.get("/api/v1/surveys", headers=headers).json["surveys"]
        assert (listed["reports"], listed["open"], listed["opens"]) == (1, True, "2026-11-20")
        assert listed["state"] == "open"
        assert http.post(f"{base}/close").status_code == 401
        assert http.post(f"{base}/close", headers=headers).status_code == 204
        assert not http.get("/api/v1/surveys", headers=headers).json["surveys"][0]["open"]
        missing = "/api/v1/surveys/" + "a" * 26 + "/close"
        assert_problem(http.post(missing, headers=headers), 404, "there is none")


def test_other_origins_may_fetch_and_send_but_no_cookie_is_ever_set(http: FlaskClient, base: str) -> None:
    preflight = http.options(f"{base}/reports", headers={"Origin": "https://embedder.example"})
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type"
    for response in (preflight, http.get(base), send(http, base, report()), send(http, base, b"")):
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Set-Cookie" not in response.headers
        assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("path", ["/", "/api/v1/nothing", "/livez", "/s/" + "a" * 26, "/client/define.js"])
def test_every_response_says_what_a_browser_may_do(http: FlaskClient, path: str) -> None:
    with http.get(path) as response:
        headers = response.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers.getlist("Accept-Ranges") == ["none"]


@pytest.mark.parametrize(
    "path", ["/client/define.js", "/client/deniable.js", "/client/catalogues/en.json", "/static/pages.css"]
)
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_files_come_whole_whoever_asks_for_a_part(http: FlaskClient, path: str, encoding: str) -> None:
    asked = {"Accept-Encoding": encoding}
    with http.get(path, headers=asked) as whole, http.get(path, headers={**asked, "Range": "bytes=5-5"}) as part:
        assert (part.status_code, part.data) == (200, whole.data)
    with http.get(path, headers={**asked, "If-None-Match": whole.headers["ETag"]}) as known:
        assert (known.status_code, known.data) == (304, b"")


CHROME = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)


def test_errors_are_pages_for_browsers_and_problems_for_programs(http: FlaskClient) -> None:
    assert_problem(http.get("/nothing"), 404, "nothing at this address")
    for accept in ("text/html,*/*;q=0.8", CHROME):
        for path in ("/nothing", "/s/nonsense"):
            page = http.get(path, headers={"Accept": accept})
            assert (page.status_code, page.mimetype) == (404, "text/html")
    assert "nothing at this address" in http.get("/nothing", headers={"Accept": CHROME}).text
    assert_problem(http.get("/s/nonsense", headers={"Accept": "*/*"}), 404, "")
    assert_problem(http.delete("/livez"), 405, "does not take that method")


def test_mistakes_are_a_problem_too_and_say_nothing_of_the_inside(
    http: FlaskClient, base: str, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_arguments: object) -> None:
        raise KeyError("the inside")

    monkeypatch.setattr(store, "store_reports", broken)
    assert_problem(send(http, base, report()), 500, "The collector made a mistake")
    monkeypatch.undo()
    assert send(http, base, report()).status_code == 201, "the writer goes on"
    assert "unexpected KeyError" in caplog.text


def test_openapi_document_describes_every_route(app: APIFlask, http: FlaskClient) -> None:
    spec = http.get("/api/openapi.json").json
    assert spec["openapi"] == "3.1.0"
    routes = {
        rule.rule.replace("<", "{").replace(">", "}")
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1")
    }
    assert set(spec["paths"]) >= routes
    body = spec["paths"]["/api/v1/surveys/{survey_id}/reports"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", NDJSON}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_bad_bodies_bounce_off_the_real_server_too(collector: Collector, demo_survey: Survey, name: str) -> None:
    collector.publish(demo_survey)
    url = f"{collector.url}/api/v1/surveys/{demo_survey.id}/reports"
    headers = {"Content-Type": "application/json"}
    answer = urllib3.request("POST", url, body=BAD_BODIES[name][0], headers=headers, retries=False)
    assert 400 <= answer.status < 500
    assert len(answer.json()["detail"]) > 10
    assert collector.reports(demo_survey) == 0
