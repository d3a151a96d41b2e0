"""Tokens: who owns a survey, who may manage it, and where a token may be sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import urllib3
from flask.testing import FlaskClient

from deniable import CollectorError, Survey
from deniable_server.access import remote
from deniable_server.access.tokens import Token, create_token, revoke_token
from deniable_server.store.sqlite.store import SqliteStore


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
