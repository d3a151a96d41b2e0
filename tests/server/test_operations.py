"""Operations: settings, probes, figures, logs, headers, stopping, and what the files for deployment say."""

from __future__ import annotations

import configparser
import datetime
import json
import logging
import re
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import urllib3
import yaml
from apiflask import APIFlask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from deniable import ParameterError, Survey, read_survey
from deniable_client import randomize
from deniable_server.access.tokens import SCOPES, create_token, find_token, revoke_token
from deniable_server.app import create_app
from deniable_server.edge.heads import HEADERS
from deniable_server.edge.limits import PROBES, Rate
from deniable_server.location import Address, location
from deniable_server.logs import JsonFormatter
from deniable_server.settings import Settings, flag, settings_from, variable
from deniable_server.store import StoreBusy, StoreDamaged, StoreFull, StoreUnavailable
from deniable_server.store.postgresql.durability import NEEDED
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.web.metrics import OF_RESPONDENTS
from deniable_server.writing.outage import Outage
from tests.support.collectors import StartCollector
from tools.rig.collectors import Collector
from tools.rig.command_line import run_cli
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import FIVE_TYPES, Clock, person
from tools.torture import network_stop

ROOT = Path(__file__).parents[2]


class TestSettings:
    def test_flags_win_over_the_environment_and_that_over_defaults(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DENIABLE_PORT", "8123")
        monkeypatch.setenv("DENIABLE_RATE_LIMIT", "off")
        settings = settings_from({"port": "8456", "host": None})
        assert (settings.port, settings.rate_limit, settings.host) == (8456, None, "127.0.0.1")
        assert settings_from({}).port == 8123
        assert settings_from({"rate_limit": "7/second"}).rate_limit == Rate(7, 1)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            (
                "DENIABLE_RATELIMIT",
                "120/minute",
                "DENIABLE_RATELIMIT: is not a setting; there are DENIABLE_CONTACT, DENIABLE_DB, ",
            ),
            ("DENIABLE_REHEARSAL", "maybe", "DENIABLE_REHEARSAL: must be yes, no or demo, got 'maybe'"),
            ("DENIABLE_RATE_LIMIT", "a lot", "DENIABLE_RATE_LIMIT: must be like 120/minute"),
            ("DENIABLE_PORT", "http", "DENIABLE_PORT: Input should be a valid integer"),
            ("DENIABLE_PORT", "70000", "DENIABLE_PORT: Input should be less than or equal to 65535"),
            ("DENIABLE_TRUSTED_PROXIES", "-1", "DENIABLE_TRUSTED_PROXIES: Input should be greater than or equal to 0"),
        ],
    )
    def test_mistakes_stop_the_start(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
    ) -> None:
        monkeypatch.setenv(name, value)
        with pytest.raises(ParameterError, match=re.escape(message)):
            settings_from({})

    def test_variables_of_other_commands_do_not_stop_the_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DENIABLE_ENGINE", "polars")
        assert settings_from({}) == Settings()

    def test_a_wrong_flag_is_named_as_it_was_typed(self) -> None:
        with pytest.raises(ParameterError, match="--rate-limit: must be like"):
            settings_from({"rate_limit": "120"})

    @pytest.mark.slow
    def test_serve_tells_mistakes_in_a_sentence(self, tmp_path: Path) -> None:
        done = run_cli("serve", "--db", str(tmp_path / "a.db"), DENIABLE_TRUSTED_PROXY="1")
        assert done.returncode == 1
        assert done.stderr.startswith("Error: DENIABLE_TRUSTED_PROXY: is not a setting; there are ")
        assert not (tmp_path / "a.db").exists()

    @pytest.mark.slow
    def test_each_setting_is_in_the_help(self) -> None:
        help_text = re.sub(r"\s+", " ", run_cli("serve", "--help").stdout)
        for name, field in Settings.model_fields.items():
            assert f" {flag(name)} " in help_text
            default = "" if field.default is None else f"; default: {field.default}"
            assert f"[env var: {variable(name)}{default}]" in help_text


class TestHeaders:
    REQUESTS: tuple[tuple[str, str, dict[str, Any], int], ...] = (
        ("GET", "/", {}, 200),
        ("GET", "/static/icon.png", {}, 200),
        ("GET", "/client/define.js", {}, 200),
        ("GET", "/favicon.ico", {}, 301),
        ("GET", "/static/nothing", {}, 404),
        ("GET", "/nothing", {"headers": {"Accept": "text/html"}}, 404),
        ("DELETE", "/livez", {}, 405),
        ("BREW", "/livez", {}, 405),
        ("GET", "/metrics", {}, 401),
        ("POST", "/api/v1/surveys/{id}/reports", {"data": "x", "content_type": "text/plain"}, 415),
        ("POST", "/api/v1/surveys/{id}/reports", {"data": b" " * 70_000, "content_type": "application/json"}, 413),
        ("POST", "/api/v1/surveys/{id}/reports", {"data": b"{", "content_type": "application/json"}, 422),
        ("OPTIONS", "/api/v1/surveys/{id}/reports", {}, 200),
        ("GET", "/s/{id}/results.svg", {}, 404),
        ("GET", "/readyz", {}, 200),
    )

    @pytest.mark.slow
    @pytest.mark.parametrize(("method", "path", "sent", "status"), REQUESTS)
    def test_are_on_every_answer(
        self,
        http: FlaskClient,
        store: SqliteStore,
        survey: Survey,
        method: str,
        path: str,
        sent: dict[str, Any],
        status: int,
    ) -> None:
        store.publish(survey)
        with http.open(path.format(id=survey.id), method=method, **sent) as response:
            assert response.status_code == status
            for name, value in HEADERS:
                assert response.headers.getlist(name) == [value]
            assert len(response.headers.getlist("Content-Security-Policy")) == 1
            assert "Set-Cookie" not in response.headers

    def test_are_on_refusals_of_the_rate_and_on_mistakes(
        self, http: FlaskClient, store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store, "states", None)
        token = create_token(store, "ada")
        response = http.get("/api/v1/surveys", headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == 500
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_the_short_way_answers_as_the_long_way_does(http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    url = f"/api/v1/surveys/{survey.id}/reports"
    for number in range(3):
        body = json.dumps({"id": f"{number % 2:032x}", "cohort": "web", "values": {"affair": 1, "religious": 3}})
        short = http.post(url, data=body, content_type="application/json")
        other = body.replace(f"{number % 2:032x}", f"{number % 2 + 100:032x}")
        long = http.post(url, data=other, content_type="application/json; charset=utf-8")  # not the ordinary type
        assert (short.status, short.data, dict(short.headers)) == (long.status, long.data, dict(long.headers))


def test_a_stored_report_is_acknowledged_though_the_database_went_away_since(
    http: FlaskClient, store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures look up the survey again once all is done: that must not turn an answer into another one."""
    store.publish(survey)
    original, asked = store.survey, []

    def survey_of(survey_id: str) -> Survey:
        asked.append(survey_id)
        if len(asked) > 1:
            raise StoreUnavailable("database: the inside", "of a test")
        return original(survey_id)

    monkeypatch.setattr(store, "survey", survey_of)
    body = json.dumps({"id": "7" * 32, "cohort": "web", "values": {"affair": 1, "religious": 3}})
    url = f"/api/v1/surveys/{survey.id}/reports"
    answer = http.post(url, data=body, content_type="application/json; charset=utf-8")
    assert (answer.status_code, len(asked)) == (201, 2)


class TestProbes:
    def test_alive_and_ready(self, http: FlaskClient) -> None:
        for path in ("/livez", "/readyz"):
            response = http.get(path)
            assert (response.status_code, response.json) == (200, {"status": "ok"})

    def test_not_ready_without_room(self, tmp_path: Path, clock: Clock) -> None:
        app = create_app(tmp_path / "test.db", clock, Settings(min_free_mb=10**9))
        response = app.test_client().get("/readyz")
        assert response.status_code == 503
        assert response.mimetype == "application/problem+json"
        assert response.json["detail"] == "The disk has less than 1000000000 megabytes left."
        assert response.headers["Retry-After"]
        stop(app)

    def test_asking_takes_no_lock_and_waits_for_none(self, http: FlaskClient, store: SqliteStore) -> None:
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert http.get("/readyz").status_code == 200
            other.execute("ROLLBACK")
            statements: list[str] = []
            real = sqlite3.connect

            def watched(*arguments: Any, **named: Any) -> sqlite3.Connection:
                connection = real(*arguments, **named)
                connection.set_trace_callback(statements.append)
                return connection

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("deniable_server.store.sqlite.store.sqlite3.connect", watched)
                assert http.get("/readyz").status_code == 200
        assert statements
        assert not [each for each in statements if not each.startswith(("SELECT", "PRAGMA", "select"))]

    def test_probes_count_together_and_against_nothing_else(self, tmp_path: Path, clock: Clock) -> None:
        app = create_app(tmp_path / "test.db", clock, Settings(rate_limit=Rate(1, 60)))
        http = app.test_client()
        asked = [http.get(path).status_code for path in ("/livez", "/readyz") * 11]
        assert asked == [200] * PROBES.times + [429] * 2
        assert http.get("/").status_code == 200
        stop(app)

    def test_not_ready_while_the_database_takes_nothing(
        self, app: APIFlask, http: FlaskClient, store: SqliteStore
    ) -> None:
        app.extensions["deniable-outage"].began(StoreFull("database: the inside"))
        response = http.get("/readyz")
        assert (response.status_code, response.json["detail"]) == (
            503,
            "The database took no report when it was last tried: the disk is full.",
        )

    def test_not_ready_when_the_file_is_no_database_any_more(self, http: FlaskClient, store: SqliteStore) -> None:
        connection = sqlite3.connect(store.path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        store.path.with_name("test.db").write_bytes(b"nonsense" * 1000)
        response = http.get("/readyz")
        assert response.status_code == 503
        assert "SQLITE_NOTADB" in response.json["detail"] or "SQLITE_CORRUPT" in response.json["detail"]

    def test_not_ready_when_the_database_is_of_another_version(self, http: FlaskClient, store: SqliteStore) -> None:
        with store.db.conn as db:
            (name, *_) = db.execute("SELECT name FROM _sqlite_migrations ORDER BY name DESC").fetchone()
            db.execute("UPDATE _sqlite_migrations SET name = '999 from the future' WHERE name = ?", [name])
        assert "older version" in http.get("/readyz").json["detail"]
        with store.db.conn as db:
            db.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('deniable', ?, '')", [name]
            )
        response = http.get("/readyz")
        assert (response.status_code, response.json["detail"]) == (
            503,
            "The database is of a newer version; start that one.",
        )

    def test_not_ready_when_the_file_is_gone(self, http: FlaskClient, store: SqliteStore) -> None:
        store.path.unlink()
        assert http.get("/readyz").status_code == 503
        assert not store.path.exists(), "asking makes no new one"

    def test_not_ready_when_the_folder_is_gone(self, tmp_path: Path, clock: Clock) -> None:
        folder = tmp_path / "mounted"
        folder.mkdir()
        app = create_app(folder / "deniable.db", today=clock)
        folder.rename(tmp_path / "elsewhere")
        response = app.test_client().get("/readyz")
        assert response.status_code == 503
        assert response.json["detail"] == "The folder of the database is gone."

    def test_not_ready_without_a_writer(self, app: APIFlask) -> None:
        app.extensions["deniable"]["writer"].stop()
        response = app.test_client().get("/readyz")
        assert response.status_code == 503
        assert "restart the collector" in response.json["detail"]


class TestMetrics:
    def test_need_a_token_of_their_scope(self, http: FlaskClient, store: SqliteStore) -> None:
        tokens = {scope: create_token(store, scope, scope) for scope in ("publish", "metrics")}
        for token, status in (("", 401), (tokens["publish"], 403), (tokens["metrics"], 200)):
            assert http.get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == status
        publishing = http.get("/api/v1/surveys", headers={"Authorization": f"Bearer {tokens['metrics']}"})
        assert publishing.status_code == 403
        assert publishing.json["detail"] == (
            "The token 'metrics' of scope 'metrics' reads /metrics alone. This needs the header 'Authorization: Bearer "
            "dn_...' with a token of scope 'publish' or 'operate'."
        )
        assert find_token(store, tokens["metrics"], "metrics")
        assert not find_token(store, tokens["metrics"], "publish")

    @pytest.mark.slow
    def test_count_and_name_nothing(self, http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
        store.publish(survey)
        url = f"/api/v1/surveys/{survey.id}/reports"
        body = {"id": "7" * 32, "cohort": None, "values": {"affair": 1, "religious": 3}}
        for _ in range(3):
            http.post(url, json=body)
        http.post(url, json=body | {"cohort": "web"})
        batch = "\n".join(json.dumps(body | {"id": f"{number:032x}"}) for number in range(5))
        http.post(url, data=batch, content_type="application/x-ndjson")
        http.get(f"/s/{survey.id}/results")
        http.open("/secret/path", method="INVENTED")
        text = http.get("/metrics", headers={"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}).text
        samples = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
        route = "/api/v1/surveys/<survey_id>/reports"
        assert samples["deniable_reports_total", "stored"] == 6
        assert samples["deniable_reports_total", "known"] == 2
        assert samples["deniable_reports_total", "conflict"] == 1
        assert samples["deniable_request_seconds_count", "POST", route, "201"] == 1
        assert samples["deniable_request_seconds_count", "POST", route, "200"] == 3
        assert samples["deniable_request_seconds_count", "POST", route, "409"] == 1
        assert samples["deniable_request_seconds_count", "other", "none", "404"] == 1
        assert samples[("deniable_queue_length",)] == 0
        assert samples[("deniable_disk_free_bytes",)] > 0
        assert samples[("deniable_surveys",)] == 1
        for secret in (survey.id, "7" * 32, "secret", "INVENTED", "127.0.0.1", "affair", "web"):
            assert secret not in text

    def test_every_route_of_respondents_is_held_back(self, app: APIFlask) -> None:
        survey, files = "/api/v1/surveys/<survey_id>", ".<any(csv, json, svg, png, pdf):form>"
        told_at_once = {
            *(
                "/",
                "/livez",
                "/readyz",
                "/metrics",
                "/columns",
                "/api/openapi.json",
                "/api/v1/surveys",
                f"{survey}/close",
            ),
            *(f"{survey}/invitations", f"{survey}/invitations/unused", f"{survey}/reports.csv"),
            *(f"{survey}/estimates", f"{survey}/estimates.json", f"{survey}/estimates.csv"),
            *(
                f"{survey}/releases",
                f"{survey}/releases/<number>",
                f"{survey}/archive.zip",
                "/s/<survey_id>/releases",
                "/s/<survey_id>/results/<question_id>/embed",
                "/oembed",
            ),
            *(f"/s/<survey_id>/results{each}" for each in ("", files, "/<question_id>", f"/<question_id>{files}")),
        }
        assert {rule.rule for rule in app.url_map.iter_rules()} == OF_RESPONDENTS | told_at_once

    @pytest.mark.slow
    def test_a_device_on_its_way_to_a_report_changes_nothing(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        held = replace(survey, results="batches")
        store.publish(held)
        bearer = {"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}
        http.get("/metrics", headers=bearer)

        def told() -> str:
            text = http.get("/metrics", headers=bearer).text
            return re.sub(r'.*route="/metrics".*\n', "", text)

        before = told()
        for path in (f"/s/{held.id}", "/client/deniable.js", "/static/pages.css", f"/api/v1/surveys/{held.id}/state"):
            assert http.get(path).status_code == 200
        http.post(f"/api/v1/surveys/{held.id}/invitations/state", json={"hash": "0" * 64})
        assert told() == before

    def test_of_two_collectors_in_one_process_do_not_meet(self, tmp_path: Path, clock: Clock) -> None:
        apps = [create_app(tmp_path / f"{name}.db", clock) for name in "ab"]
        apps[0].extensions["deniable-metrics"].answered("GET", "/", 200, 0.1)
        counts = [
            each.extensions["deniable-metrics"].registry.get_sample_value(
                "deniable_request_seconds_count", {"method": "GET", "route": "/", "status": "200"}
            )
            for each in apps
        ]
        assert counts == [1, None]
        for each in apps:
            stop(each)


def test_who_may_do_what(http: FlaskClient, store: SqliteStore, survey: Survey, clock: Clock) -> None:
    """Every call of the OpenAPI document by every role: only a living token of its scope opens what is closed."""
    store.publish(survey)
    clock.today -= datetime.timedelta(days=2)
    roles = {"expired": create_token(store, "expired", days=1)}
    both = {"publish", "operate"}
    clock.today += datetime.timedelta(days=2)
    roles |= {scope: create_token(store, scope, scope) for scope in SCOPES}
    roles |= {"revoked": create_token(store, "revoked"), "nobody": "", "guess": "dn_" + "A" * 43}
    revoke_token(store, "revoked")
    invalid = {"expired", "revoked", "nobody", "guess"}
    opened: dict[tuple[str, str], set[str]] = {}
    for path, calls in http.get("/api/openapi.json").json["paths"].items():
        for method in calls.keys() - {"parameters"}:
            for role, token in roles.items():
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                with http.open(
                    path.replace("{survey_id}", survey.id), method=method.upper(), headers=headers
                ) as answer:
                    is_refused = answer.status_code in (401, 403) and "Bearer" in str(answer.json)
                    if answer.status_code != 401 and not is_refused:
                        opened.setdefault((method, path), set()).add(role)
                    elif role in invalid:
                        assert answer.status_code == 401, "only a valid token learns what it may do"
            needs_token = {} not in calls[method].get("security", [{}])
            assert needs_token == (opened.get((method, path)) != set(roles)), (method, path)
    closed = {call: who for call, who in opened.items() if who != set(roles)}
    assert closed == {
        ("get", "/metrics"): {"metrics"},
        ("get", "/api/v1/surveys"): both,
        ("post", "/api/v1/surveys"): both,
        ("post", "/api/v1/surveys/{survey_id}/close"): both,
        ("post", "/api/v1/surveys/{survey_id}/invitations"): both,
        ("post", "/api/v1/surveys/{survey_id}/invitations/unused"): both,
    }


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (StoreFull("database: the inside"), 507, "The collector's disk is full. Nothing of this request was stored"),
        (StoreDamaged("database: the inside"), 503, "The collector's database is not available"),
        (StoreBusy("The collector has more waiting than it will hold."), 503, "more waiting than it will hold"),
        (StoreUnavailable("the inside", "SQLITE_BUSY"), 503, "The collector's database is not available"),
    ],
)
def test_what_the_store_meets_is_a_status_a_sentence_and_a_time(
    app: APIFlask, survey: Survey, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, sentence: str
) -> None:
    deniable = app.extensions["deniable"]
    deniable["store"].publish(survey)

    def refuse(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(deniable["writer"], "submit", refuse)
    body = json.dumps({"id": "7" * 32, "cohort": None, "values": {"affair": 1, "religious": 3}})
    for mimetype in ("application/json", "application/x-ndjson"):
        url = f"/api/v1/surveys/{survey.id}/reports"
        response = app.test_client().post(url, data=body, content_type=mimetype)
        assert response.status_code == status
        assert response.mimetype == "application/problem+json"
        assert sentence in response.json["detail"]
        assert "the inside" not in response.text
        assert int(response.headers["Retry-After"]) >= 1


class TestLogs:
    def test_a_line_is_json_and_an_exception_does_not_quote_what_was_sent(self) -> None:
        record = None
        try:
            {}["somebody's answer"]
        except KeyError as error:
            record = logging.LogRecord(
                "deniable", 40, "", 1, "un\nexpected", (), (KeyError, error, error.__traceback__)
            )
        assert record
        text = JsonFormatter().format(record)
        line = json.loads(text)
        assert "\n" not in text
        assert (line["level"], line["event"], line["exception"]) == ("error", "un\nexpected", "KeyError")
        assert line["time"].endswith("+00:00")
        assert "test_operations.py" in line["at"][0]
        assert "somebody" not in text

    def test_what_operators_do_is_logged_and_what_respondents_do_is_not(
        self, http: FlaskClient, store: SqliteStore, survey: Survey, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "deniable")
        token = {"Authorization": f"Bearer {create_token(store, 'ada')}"}
        assert http.post("/api/v1/surveys", data=survey.document, headers=token, content_type="application/json").json
        http.get(f"/s/{survey.id}")
        http.get(f"/api/v1/surveys/{survey.id}")
        body = {"id": "7" * 32, "cohort": None, "values": {"affair": 1, "religious": 3}}
        for changes in ({}, {"values": {"affair": 5}}, {"id": "8"}):
            http.post(f"/api/v1/surveys/{survey.id}/reports", json=body | changes)
        http.get(f"/api/v1/surveys/{survey.id}/estimates")
        assert http.post(f"/api/v1/surveys/{survey.id}/close").status_code == 401
        for name in ("list_surveys", "publish_survey"):
            guess = {"Authorization": "Bearer dn_guess"}
            method = "GET" if name == "list_surveys" else "POST"
            assert http.open("/api/v1/surveys", method=method, headers=guess).status_code == 401
        other = {"Authorization": f"Bearer {create_token(store, 'grace')}"}
        assert http.post(f"/api/v1/surveys/{survey.id}/close", headers=other).status_code == 403
        assert http.post("/api/v1/surveys/nonsense/close", headers=other).status_code == 404
        assert http.post(f"/api/v1/surveys/{survey.id}/close", headers=token).status_code == 204
        # Collectors of other tests may still find out, in threads of their own, how their disks are.
        mine = [record for record in caplog.records if not record.getMessage().startswith("database ")]
        lines = [(record.getMessage(), record.details) for record in mine]  # type: ignore[attr-defined]
        assert lines == [
            ("operator", {"call": "publish_survey", "token": "ada", "survey": survey.id, "status": 201}),
            ("operator", {"call": "close_survey", "token": "grace", "survey": survey.id, "status": 403}),
            ("operator", {"call": "close_survey", "token": "grace", "status": 404}),
            ("operator", {"call": "close_survey", "token": "ada", "survey": survey.id, "status": 204}),
        ]

    def test_refused_readers_are_logged_and_others_are_not(
        self, http: FlaskClient, store: SqliteStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "deniable")
        first, second = (
            read_survey(f'readers = "token"\n{FIVE_TYPES}'.replace('title = "', f'title = "{name}: '))
            for name in ("First", "Second")
        )
        store.publish(first)
        store.publish(second)
        rita = {"Authorization": f"Bearer {create_token(store, 'rita', 'read', surveys=[first.id])}"}
        guess = {"Authorization": "Bearer dn_guess"}
        for of, headers, status in ((first, rita, 200), (second, rita, 403), (second, {}, 401), (second, guess, 401)):
            assert http.get(f"/api/v1/surveys/{of.id}/estimates", headers=headers).status_code == status
        assert http.get(f"/s/{second.id}/results", headers=rita).status_code == 403
        mine = [record for record in caplog.records if record.getMessage() == "operator"]
        said = [record.details for record in mine]  # type: ignore[attr-defined]
        assert [(each["token"], each["survey"], each["status"]) for each in said] == [("rita", second.id, 403)] * 2
        assert said[0]["call"] == "estimates_json"

    @pytest.mark.slow
    def test_an_outage_is_two_lines_however_many_reports_it_refuses(
        self, app: APIFlask, survey: Survey, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "deniable")
        store, writer = app.extensions["deniable"]["store"], app.extensions["deniable"]["writer"]
        app.extensions["deniable-outage"] = Outage(store, writer, seconds=0.5)
        store.publish(survey)
        http = app.test_client()
        url = f"/api/v1/surveys/{survey.id}/reports"

        def lines() -> list[tuple[str, dict[str, str]]]:
            return [
                (record.getMessage(), record.details)  # type: ignore[attr-defined]
                for record in caplog.records
                if record.getMessage().startswith("database")
            ]

        def send(number: int) -> int:
            values = {"affair": 1, "religious": 3}
            return http.post(url, json={"id": f"{number:032x}", "cohort": None, "values": values}).status_code

        assert send(0) == 201
        elsewhere = store.path.with_name("elsewhere.db")
        store.path.rename(elsewhere)
        for number in range(1, 21):
            assert send(number) == 503
        wait_until(lambda: len(lines()) == 1, "a line is written")
        for number in range(21, 31):
            assert send(number) == 503
        assert http.get("/readyz").status_code == 503
        elsewhere.rename(store.path)
        wait_until(lambda: len(lines()) == 2, "a second line is written")
        assert send(31) == 201
        assert http.get("/readyz").status_code == 200
        assert lines() == [
            ("database does not take reports", {"because": "its files were replaced"}),
            ("database takes reports again", {}),
        ]

    def test_an_outage_is_over_only_when_a_write_succeeds(self, app: APIFlask, store: SqliteStore) -> None:
        outage = Outage(store, app.extensions["deniable"]["writer"], seconds=0.1)
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            other.execute("PRAGMA query_only = OFF")
            outage.began(StoreFull("database: the inside"))
            assert outage.reason == "the disk is full"
            wait_until(lambda: outage.reason is None, "the outage ends")
        assert store.path.with_name("test.db-wal").stat().st_size > 0

    def test_a_mistake_is_logged_once_for_its_place(
        self, http: FlaskClient, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(store, "survey", None)
        for number in range(5):
            assert http.get(f"/api/v1/surveys/{number}").status_code == 500
        (record,) = caplog.records
        assert record.getMessage() == "unexpected TypeError"


MARK = "127.0.0.77"


@pytest.mark.slow
def test_no_file_holds_an_address_or_an_agent(start_collector: StartCollector) -> None:
    survey = read_survey(FIVE_TYPES)
    collector = start_collector("--trusted-proxies", "1", "--rate-limit", "5/hour")
    collector.publish(survey)
    for number in range(12):
        raw_request(collector, survey, number)
    for method, path in (("GET", f"/s/{survey.id}/results"), ("POST", "/api/v1/surveys"), ("GET", "/nothing")):
        urllib3.request(method, collector.url + path, headers=MARKED, retries=False, timeout=PATIENCE)
    collector.process.terminate()
    assert collector.process.wait(PATIENCE) == 0
    files = {path.name: path.read_bytes() for path in collector.database.parent.iterdir()}
    assert {"test.db", "log"} <= set(files)
    assert survey.id.encode() in b"".join(files.values()), "this search finds what is there"
    for name, content in files.items():
        for mark in (MARK, "198.51.100.23", "MarkedAgent", "marked.example"):
            assert mark.encode() not in content, f"{name} holds {mark}"


MARKED = {"User-Agent": "MarkedAgent/1", "X-Forwarded-For": "198.51.100.23", "Referer": "https://marked.example/"}


def raw_request(collector: Collector, survey: Survey, number: int) -> None:
    """A report from the marked address, sometimes one that is refused."""
    place = urlsplit(collector.url)
    body = randomize(survey, person(number)).encode() if number % 3 else b'{"id": "nonsense'
    head = "".join(f"{name}: {value}\r\n" for name, value in MARKED.items())
    head += f"Host: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    address = (place.hostname or "", place.port or 0)
    with socket.create_connection(address, PATIENCE, source_address=(MARK, 0)) as connection:
        connection.sendall(f"POST /api/v1/surveys/{survey.id}/reports HTTP/1.1\r\n{head}".encode() + body)
        assert connection.recv(100).startswith(b"HTTP/1.1 ")


@pytest.mark.slow
def test_a_stop_under_load_loses_nothing_and_answers_whoever_is_being_served() -> None:
    assert "0 lost" in network_stop.stop(short=True)


@pytest.mark.slow
def test_logs_of_a_run_are_lines_of_json(start_collector: StartCollector) -> None:
    collector = start_collector()
    collector.process.terminate()
    assert collector.process.wait(PATIENCE) == 0
    made, sentence, *lines = collector.log.read_text(encoding="utf-8").splitlines()
    assert sentence.startswith("Collector on http://")
    assert [json.loads(line)["event"] for line in (made, *lines)] == ["created a new database", "starting", "stopped"]


class TestDeployment:
    DEPLOY = ROOT / "deploy"

    def test_compose_file_runs_one_service_as_nobody_special(self, monkeypatch: pytest.MonkeyPatch) -> None:
        compose = yaml.safe_load((self.DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
        services = compose["services"]
        assert [name for name, each in services.items() if "profiles" not in each] == ["collector"]
        collectors = [services.pop(name) for name in ("collector", "collector-1", "collector-2")]
        for service in (*collectors, *services.values()):
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["logging"]["driver"] == "json-file"
        for service in collectors:
            with monkeypatch.context() as patch:
                for name, value in service["environment"].items():
                    patch.setenv(name, value)
                assert settings_from({}).trusted_proxies == 1
        published = [str(port) for service in collectors for port in service["ports"]]
        assert all(port.startswith("127.0.0.1:") for port in published), "what faces the world is the proxy"
        assert len({port.split(":")[1] for port in published}) == 3
        everybody = (*collectors, *services.values())
        volumes = {volume.split(":")[0] for service in everybody for volume in service.get("volumes", ())}
        assert volumes == set(compose["volumes"])

    def test_compose_file_has_a_profile_with_two_collectors_on_one_postgresql(self) -> None:
        compose = yaml.safe_load((self.DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
        services = {name: each for name, each in compose["services"].items() if each.get("profiles") == ["postgresql"]}
        postgres = services.pop("postgres")
        assert "ports" not in postgres, "nobody but the collectors reaches it"
        settings = dict(each.split("=") for each in postgres["command"] if "=" in each)
        assert not settings.keys() & set(NEEDED)
        assert (settings["log_statement"], settings["log_min_duration_statement"]) == ("none", "-1")
        assert "--host" in postgres["healthcheck"]["test"], "while its files are made the server has a socket only"
        assert len(services) == 2
        for collector in services.values():
            address = location(collector["environment"]["DENIABLE_DB"])
            assert isinstance(address, Address)
            user, _, rest = address.url.removeprefix("postgresql://").partition("@")
            assert (user, rest) == (postgres["environment"]["POSTGRES_USER"], "postgres/deniable")
            assert collector["depends_on"] == {"postgres": {"condition": "service_healthy"}}
            assert "volumes" not in collector, "nothing of a collector has to be kept"

    def test_container_does_not_run_as_root_and_asks_whether_it_is_ready(self) -> None:
        text = (self.DEPLOY / "Containerfile").read_text(encoding="utf-8")
        instructions = [line.split()[0] for line in text.replace("\\\n", " ").splitlines() if line[:1].isupper()]
        assert instructions[0] == "FROM"
        assert {"USER", "VOLUME", "HEALTHCHECK", "EXPOSE"} <= set(instructions)
        assert re.search(r"^USER (?!root|0\b)", text, re.MULTILINE)
        assert "/readyz" in text
        for name in re.findall(r"DENIABLE_[A-Z_]+", text):
            assert name in {variable(each) for each in Settings.model_fields}
        for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
            for name in source.split():
                assert (ROOT / name).exists(), name

    def test_proxies_log_no_addresses_and_pass_on_who_asks(self) -> None:
        nginx = (self.DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        assert "access_log off;" in nginx
        assert set(re.findall(r"error_log (.*);", nginx)) == {"/dev/null crit"}, "its lines name the client"
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx, "what the client wrote itself is replaced"
        tokens = nginx[nginx.index("/tokens$ {") :]
        assert re.findall(r"^ {8}(\w+) (\S+);", tokens, re.MULTILINE) == [
            ("keepalive_timeout", "0"),
            ("proxy_pass", "http://deniable"),
        ], "and it inherits every header from the server"
        assert not re.search(r"^ {8}proxy_set_header", nginx, re.MULTILINE), "one in a location would undo the others"
        caddy = (self.DEPLOY / "Caddyfile").read_text(encoding="utf-8")
        assert re.findall(r"^\s*log\b.*\{\s*(.*)", caddy, re.MULTILINE) == ["output discard"]
        assert "\theader_up -*_*\n" in caddy, "X_Forwarded_For would take the place of what Caddy wrote"
        assert "underscores_in_headers" not in nginx, "which drops them unless told to keep them"

    def test_proxies_wait_for_who_is_slow_and_not_for_ever(self) -> None:
        nginx = (self.DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        for line in ("proxy_request_buffering on", "client_body_timeout 10s", "send_timeout 10s"):
            assert f"    {line};" in nginx
        assert "limit_conn deniable_addresses" in nginx
        assert "proxy_max_temp_file_size 16m;" in nginx, "a gigabyte an answer by default"
        caddy = (self.DEPLOY / "Caddyfile").read_text(encoding="utf-8")
        for word in ("request_buffers", "response_buffers", "read_body", "write", "idle"):
            assert re.search(rf"^\t+{word} \d", caddy, re.MULTILINE), word

    @pytest.mark.parametrize(("name", "memory"), [("deniable", "1G"), ("deniable-place", "512M")])
    def test_units_give_each_service_its_own_user_and_time_to_stop(self, name: str, memory: str) -> None:
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd tells letters apart
        unit.read(self.DEPLOY / f"{name}.service", encoding="utf-8")
        service = unit["Service"]
        assert service["User"] == service["StateDirectory"] == name
        assert service["UMask"] == "0077"
        assert service["ProtectSystem"] == "strict"
        assert service["KillMode"] == "mixed"
        assert service["MemoryMax"] == memory
        assert service["LimitCORE"] == "0"
        assert int(service["TimeoutStopSec"]) > 10
        assert "serve" in service["ExecStart"]


def stop(app: APIFlask) -> None:
    """End an application that a test made."""
    app.extensions["deniable"]["writer"].stop()
    app.extensions["deniable"]["store"].close()
