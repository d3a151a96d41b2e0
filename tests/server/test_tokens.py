"""Tokens: who owns a survey, who may manage it, and where a token may be sent."""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import urllib3
from flask.testing import FlaskClient

from deniable import CollectorError, Survey
from deniable_client import randomize
from deniable_server.access import remote
from deniable_server.access.tokens import Token, create_token, revoke_token
from deniable_server.language import words
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.command_line import CommandLine
from tools.rig.surveys import Clock

RESULTS = (
    *(f"/s/{{}}/{each}" for each in ("results", "results/affair", "results?view=all", "releases", "results.csv")),
    *(f"/s/{{}}/results/affair{each}" for each in (".csv", ".json", ".svg", "/embed", "?over=time")),
    *(f"/api/v1/surveys/{{}}/{each}" for each in ("estimates", "estimates.json", "estimates.csv", "reports.csv")),
    *(f"/api/v1/surveys/{{}}/{each}" for each in ("releases", "releases/1", "archive.zip")),
)
"""Addresses with results of a survey."""


def header(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def publish(http: FlaskClient, token: str, survey: Survey) -> int:
    url = "/api/v1/surveys"
    return http.post(url, data=survey.document, headers=header(token), content_type="application/json").status_code


def listed(http: FlaskClient, token: str) -> list[str]:
    return [each["title"] for each in http.get("/api/v1/surveys", headers=header(token)).json["surveys"]]


def close(http: FlaskClient, token: str, survey: Survey) -> int:
    return http.post(f"/api/v1/surveys/{survey.id}/close", headers=header(token)).status_code


def test_a_survey_belongs_to_the_token_that_published_it(http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
    ada, grace, all_ = (create_token(store, *each) for each in (("ada",), ("grace",), ("all", "operate")))
    hers, beside = replace(survey, title="Hers"), replace(survey, title="Beside the file")
    assert publish(http, ada, survey) == 201
    assert publish(http, grace, hers) == 201
    store.publish(beside)
    assert listed(http, ada) == [survey.title]
    assert listed(http, grace) == ["Hers"]
    assert sorted(listed(http, all_)) == sorted([survey.title, "Hers", "Beside the file"])
    assert publish(http, grace, survey) == 200, "publishing again takes it from nobody"
    assert (store.owner(survey.id), store.owner(hers.id)) == ("ada", "grace")
    assert close(http, grace, survey) == 403
    assert close(http, ada, beside) == 403
    assert store.state(survey.id).closed_on is None
    assert store.state(beside.id).closed_on is None
    assert [close(http, *each) for each in ((ada, survey), (all_, hers), (all_, beside))] == [204] * 3


def test_listing_reads_no_survey_of_others(http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
    assert publish(http, create_token(store, "ada"), survey) == 201
    other = create_token(store, "grace")
    store._parse = lambda *_: pytest.fail("a survey of another token was read")  # type: ignore[assignment]
    assert listed(http, other) == []


def test_a_new_token_of_the_same_name_has_its_surveys(http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
    assert publish(http, create_token(store, "ada"), survey) == 201
    revoke_token(store, "ada")
    assert listed(http, create_token(store, "ada")) == [survey.title]


def test_what_a_refusal_says(http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    response = http.post(f"/api/v1/surveys/{survey.id}/close", headers=header(create_token(store, "ada")))
    assert response.json["detail"] == "survey: belongs to another token than 'ada'; closing it needs scope 'operate'"


@pytest.mark.parametrize(
    ("token", "owner", "owns"),
    [
        (Token("ada", "publish"), "ada", True),
        (Token("ada", "publish"), "grace", False),
        (Token("ada", "publish"), None, False),
        (Token("ada", "operate"), "grace", True),
        (Token("ada", "operate"), None, True),
    ],
)
def test_who_owns_what(token: Token, owner: str | None, owns: bool) -> None:
    assert token.owns(owner) is owns


@pytest.mark.parametrize(
    ("token", "owner", "reads"),
    [
        (Token("rita", "read"), "ada", True),
        (Token("rita", "read"), None, True),
        (Token("rita", "read", ("a" * 26,)), "ada", True),
        (Token("rita", "read", ("b" * 26, "a" * 26)), None, True),
        (Token("rita", "read", ("b" * 26,)), "ada", False),
        (Token("rita", "read", ("b" * 26,)), "rita", False),
        (Token("ada", "publish"), "ada", True),
        (Token("ada", "publish"), "grace", False),
        (Token("ada", "operate"), "grace", True),
        (Token("ada", "metrics"), "ada", False),
        (Token("ada", "relay"), "ada", False),
    ],
)
def test_who_reads_what(token: Token, owner: str | None, reads: bool) -> None:
    assert token.reads("a" * 26, owner) is reads


@pytest.fixture
def private(store: SqliteStore, survey: Survey) -> Survey:
    """A survey whose results need a token."""
    private = replace(survey, readers="token", results="batches", release=50)
    store.publish(private)
    return private


class TestRefusals:
    """What somebody with and without a token is told about results that need one."""

    def test_an_invalid_token_is_told_so_and_nothing_else(
        self, http: FlaskClient, store: SqliteStore, private: Survey, clock: Clock
    ) -> None:
        clock.today -= datetime.timedelta(days=2)
        expired = create_token(store, "expired", "read", days=1)
        clock.today += datetime.timedelta(days=2)
        revoked = create_token(store, "revoked", "read")
        revoke_token(store, "revoked")
        address = f"/api/v1/surveys/{private.id}/estimates"
        said = []
        for token in (expired, revoked, "dn_" + "A" * 43):
            response = http.get(address, headers=header(token))
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"].startswith("Bearer")
            said.append(response.data)
        assert len(set(said)) == 1
        assert json.loads(said[0])["detail"] == "This token is unknown, revoked or expired."

    @pytest.mark.parametrize(
        ("scope", "says"),
        [
            ("publish", "publishes surveys, manages those that it published, and reads their results."),
            ("metrics", "reads /metrics alone."),
            ("relay", "passes on sealed reports alone."),
            ("read", "reads the results of 1 survey alone."),
        ],
    )
    def test_a_valid_token_without_the_right_is_told_what_it_may_do(
        self, http: FlaskClient, store: SqliteStore, private: Survey, survey: Survey, scope: str, says: str
    ) -> None:
        store.publish(survey)
        surveys = [survey.id] if scope == "read" else []
        token = create_token(store, "rita", scope, surveys=surveys)
        response = http.get(f"/api/v1/surveys/{private.id}/estimates", headers=header(token))
        assert response.status_code == 403
        assert response.json["detail"] == (
            f"The token 'rita' of scope '{scope}' {says} The results of this survey need a token of scope 'read' that "
            "includes it, the token that published it, or one of scope 'operate'."
        )

    def test_without_a_token_nobody_learns_whether_there_is_one(
        self, http: FlaskClient, store: SqliteStore, private: Survey
    ) -> None:
        address = f"/api/v1/surveys/{private.id}/estimates"
        before = http.get(address)
        create_token(store, "rita", "read", surveys=[private.id])
        after = http.get(address)
        assert (before.status_code, before.data) == (after.status_code, after.data)
        assert after.status_code == 401

    @pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ar"])
    @pytest.mark.parametrize(
        "path", ["/s/{}/results", "/s/{}/releases", "/oembed?url=http://localhost/s/{}/results/affair"]
    )
    def test_people_get_a_page_in_their_language(
        self, http: FlaskClient, private: Survey, language: str, path: str
    ) -> None:
        asked = {"Accept": "text/html", "Accept-Language": language}
        page = http.get(path.format(private.id), headers=asked)
        assert (page.status_code, page.mimetype) == (401, "text/html")
        heading, *_, rest = page.text.partition("<h1>")[2].partition("</h1>")
        card, _, fold = rest.partition("<footer>")
        said = words(language)
        assert heading == said["problemPrivate"]
        assert said["problemPrivateText"] in unescape(card)
        assert said["problemPrivateHow"] in unescape(card)
        assert f"deniable estimate http://localhost/s/{private.id} --token dn_..." in unescape(card)
        assert "Authorization" not in card
        assert "Authorization: Bearer" in fold, "the sentence for programs is in the fold"

    def test_a_browser_without_a_token_is_told_nothing_of_researchers_at_the_metrics(self, http: FlaskClient) -> None:
        page = http.get("/metrics", headers={"Accept": "text/html"})
        assert page.status_code == 401
        assert words("en")["problemPrivate"] not in page.text


def test_a_token_for_one_survey_reads_all_of_its_results_and_none_of_others(
    http: FlaskClient, store: SqliteStore, private: Survey
) -> None:
    other = replace(private, title="Other")
    store.publish(other)
    for each in (private, other):
        store.store_reports([(each, [randomize(each, {"affair": "no", "religious": "not"}) for _ in range(200)])])
    store.settle()
    one, both, all_ = (
        create_token(store, name, "read", surveys=surveys)
        for name, surveys in (("one", [private.id]), ("both", [private.id, other.id]), ("all", []))
    )
    for survey in (private, other):
        for path in RESULTS:
            address = path.format(survey.id)
            for token, status in ((one, 200 if survey is private else 403), (both, 200), (all_, 200)):
                with closing(http.get(address, headers=header(token))) as response:
                    assert response.status_code == status, (address, token)


def test_over_time_a_token_for_one_survey_sees_this_wave_alone(
    http: FlaskClient, store: SqliteStore, private: Survey
) -> None:
    earlier = replace(private, title="An earlier wave")
    store.publish(earlier)
    for each in (private, earlier):
        store.store_reports([(each, [randomize(each, {"affair": "no", "religious": "not"}) for _ in range(200)])])
    store.settle()
    address = f"/s/{private.id}/results/affair.json?over=time"
    shown = {}
    for name, surveys in (("one", [private.id]), ("both", [private.id, earlier.id])):
        token = create_token(store, name, "read", surveys=surveys)
        response = http.get(address, headers=header(token))
        shown[name] = {row["wave"] for row in response.json["rows"]}
    assert shown == {"one": {private.id}, "both": {private.id, earlier.id}}


class TestCommands:
    def test_a_token_for_one_survey_is_made_from_its_link_and_listed_with_it(
        self, tmp_path: Path, survey: Survey
    ) -> None:
        database = tmp_path / "test.db"
        private = replace(survey, readers="token")
        with closing(SqliteStore(database)) as store:
            store.publish(private)
            store.publish(survey)
        deniable, here = CommandLine(), ("--db", database)
        link = f"https://collector.example/s/{private.id}/results"
        made = deniable.run("token", "create", "rita", "--scope", "read", "--survey", link, *here)
        assert made.exit_code == 0
        assert made.stdout.startswith("dn_")
        assert "everybody can read" not in made.stderr
        deniable.ok("token", "create", "reader", "--scope", "read", *here)
        rows = [line.split() for line in deniable.ok("token", "list", *here).splitlines()]
        assert [row[:2] + row[3:] for row in rows[-2:]] == [["reader", "read"], ["rita", "read", private.id]]
        again = ("token", "create", "eve", "--scope", "read")
        assert "there is none with the id" in deniable.refused(*again, "--survey", "a" * 26, *here)
        refused = deniable.refused("token", "create", "eve", "--survey", private.id, *here)
        assert "only a token of scope 'read' is for certain surveys, got scope 'publish'" in refused
        public = deniable.run(*again, "--survey", private.id, "--survey", survey.id, *here)
        assert f"everybody can read the results of {survey.id}, without a token" in public.stderr
        assert "eve" in deniable.ok("token", "list", *here)


class TestRemote:
    @pytest.mark.parametrize(
        "url",
        [
            "http://collector.example",
            "http://192.0.2.7:8000",
            "http://127.0.0.1.example",
            "http://localhost.example",
            "http://user@collector.example",
            "http://localhost@collector.example",
            "http://[2001:db8::1]:8000",
            "HTTP://collector.example",
            "collector.example",
            "//collector.example",
            "http://2130706433.example",
            "http://0.0.0.0:8000",
        ],
    )
    def test_no_token_goes_out_in_the_clear(self, url: str, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(remote._http, "request", forbidden)
        for call in (
            lambda: remote.surveys(url, "dn_secret"),
            lambda: remote.publish(url, "dn_secret", survey),
            lambda: remote.close(url, "dn_secret", survey.id),
        ):
            with pytest.raises(CollectorError, match=r"--url .*: must start with https://, or everybody on the way"):
                call()

    @pytest.mark.parametrize(
        "url",
        [
            "https://collector.example",
            "http://127.0.0.1:8000",
            "http://127.1.2.3",
            "http://localhost:1",
            "http://[::1]:8",
        ],
    )
    def test_a_token_goes_over_tls_and_within_this_machine(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        sent: list[str] = []

        class Answer:
            status = 200

            def json(self) -> dict[str, list[Any]]:
                return {"surveys": []}

        def request(_method: str, url: str, **_options: object) -> Answer:
            sent.append(url)
            return Answer()

        monkeypatch.setattr(remote._http, "request", request)
        assert remote.surveys(url, "dn_secret") == []
        assert len(sent) == 1

    def test_a_certificate_that_is_not_trusted_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def request(*_arguments: object, **_options: object) -> None:
            raise urllib3.exceptions.MaxRetryError(None, "/", urllib3.exceptions.SSLError("self-signed"))  # type: ignore[arg-type]

        monkeypatch.setattr(remote._http, "request", request)
        with pytest.raises(CollectorError, match="this machine does not trust its certificate, so nothing was sent"):
            remote.surveys("https://collector.example", "dn_secret")

    def test_an_address_without_tls_is_not_called_untrusted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def request(*_arguments: object, **_options: object) -> None:
            reason = urllib3.exceptions.SSLError("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")
            raise urllib3.exceptions.MaxRetryError(None, "/", reason)  # type: ignore[arg-type]

        monkeypatch.setattr(remote._http, "request", request)
        with pytest.raises(CollectorError, match="it does not speak TLS there"):
            remote.surveys("https://collector.example", "dn_secret")

    def test_what_is_public_may_be_asked_for_anywhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(remote._http, "request", forbidden)
        with pytest.raises(AssertionError, match="sent"):
            remote.estimates("http://collector.example", None, "a" * 26, {})


def forbidden(*_arguments: object, **_options: object) -> None:
    raise AssertionError("sent")
