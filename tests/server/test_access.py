"""Who may be counted: invitations that are spent once, blind tokens that are signed once, and what is kept of both."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import urllib3
from apiflask import APIFlask
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable import CollectorError, Report, Survey, SurveyError, tally_reports
from deniable.access.invitation import hash_of, new_invitation
from deniable_server import inviting, remote, signing
from deniable_server.app import create_issuer
from deniable_server.settings import Settings
from deniable_server.signing import PrivateKey, SigningFault
from deniable_server.store import Outcome, invitations
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.tokens import create_token
from tests.support.access import (
    Purchase,
    invite,
    invited_survey,
    key_number,
    publish,
    report_for,
    unlinkable_survey,
)
from tests.support.collectors import StartCollector, free_port, running_issuer
from tests.support.command_line import CommandLine
from tests.support.surveys import Clock
from tools.torture import storage_access
from tools.torture.storage_disk import read_elsewhere

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "blind_rsa.json").read_text(encoding="utf-8"))

ACCESS = Literal["invited", "unlinkable"]


def store_one(store: SqliteStore, report: Report, survey: Survey) -> Outcome:
    ((outcome,),) = store.store_reports([(survey, [report])])
    return outcome


def post(http: FlaskClient, survey: Survey, what: str, body: object, token: str = "") -> TestResponse:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    raw = body if isinstance(body, bytes) else json.dumps(body)
    path = f"/api/v1/surveys/{survey.id}/{what}"
    return http.post(path, data=raw, content_type="application/json", headers=headers)


def send(http: FlaskClient, survey: Survey, report: Report) -> TestResponse:
    return post(http, survey, "reports", report.encode())


def ask(http: FlaskClient, survey: Survey, purchase: Purchase) -> TestResponse:
    return post(http, survey, "tokens", {"invitation": purchase.invitation, "blinded": purchase.blinded})


def bought(http: FlaskClient, survey: Survey, invitation: str) -> str:
    purchase = Purchase(survey, invitation)
    answer = ask(http, survey, purchase)
    assert answer.status_code == 200, answer.text
    return purchase.token(answer.json["signature"])


def turned(token: str) -> str:
    """A token with another last digit."""
    return token[:-1] + ("0" if token[-1] != "0" else "1")


class TestInvitation:
    """An invitation lets one report count."""

    def test_is_spent_by_the_report_that_is_stored(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        publish(store, survey)
        mine, yours = invite(store, survey, 2)
        first = report_for(survey, mine)
        assert send(http, survey, first).status_code == 201
        assert send(http, survey, first).status_code == 200
        other = send(http, survey, report_for(survey, mine))
        assert (other.status_code, other.json["detail"]) == (
            409,
            "credential: another report was stored for this invitation; it was not changed",
        )
        assert send(http, survey, replace(first, cohort="web")).status_code == 409
        refused = send(http, survey, report_for(survey, new_invitation()))
        assert (refused.status_code, refused.json["detail"]) == (
            403,
            "credential: must be an invitation of this survey",
        )
        assert send(http, survey, report_for(survey, yours)).status_code == 201
        assert store.state(survey.id).reports == 2
        assert store.unused_invitations(survey.id)[:2] == (2, 0)

    @pytest.mark.parametrize("n", [3, 200])
    @pytest.mark.parametrize("retention", ["reports", "tallies"])
    def test_is_spent_once_in_a_batch_that_waits_and_in_one_that_does_not(
        self, store: SqliteStore, n: int, retention: Literal["reports", "tallies"]
    ) -> None:
        survey = invited_survey(results="batches", retention=retention)
        publish(store, survey)
        mine = invite(store, survey, n)
        good = [report_for(survey, each) for each in mine]
        again = [
            good[0],
            report_for(survey, mine[0]),
            report_for(survey, new_invitation()),
            replace(good[1], id="a" * 32),
        ]
        without = replace(good[2], id="b" * 32, credential=None)
        (outcomes,) = store.store_reports([(survey, [*good, *again, without])])
        assert outcomes == [
            *[Outcome.STORED] * n,
            *(Outcome.KNOWN, Outcome.SPENT, Outcome.UNINVITED, Outcome.SPENT, Outcome.UNINVITED),
        ]
        (rested,) = store.db.execute("SELECT coalesce(sum(n), 0) FROM totals").fetchone()
        assert rested == (n if n >= 200 else 0)  # as many as a release do not wait
        assert store.unused_invitations(survey.id)[:2] == (n, 0)
        (outcomes,) = store.store_reports([(survey, good)])
        assert outcomes == [Outcome.KNOWN] * n
        assert inspect(store.path).findings == ()

    def test_of_a_report_that_is_refused_stays_unused(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        publish(store, survey)
        mine, yours = invite(store, survey, 2)
        first = report_for(survey, mine)
        assert send(http, survey, first).status_code == 201
        under_the_same_id = replace(report_for(survey, yours), id=first.id)
        if under_the_same_id != first:
            assert send(http, survey, replace(under_the_same_id, cohort="web")).status_code == 409
        wrong = json.loads(report_for(survey, yours).encode()) | {"values": {"affair": 9, "religious": 0}}
        assert post(http, survey, "reports", wrong).status_code == 422
        assert store.unused_invitations(survey.id, [hash_of(yours)]).unused == 1

    def test_cannot_be_tried_with_an_id_that_is_taken(self, store: SqliteStore) -> None:
        """Rows show ids: with one of them an onlooker asks for nothing but the id."""
        survey = invited_survey()
        publish(store, survey)
        mine, yours = invite(store, survey, 2)
        first = report_for(survey, mine, "web")
        store_one(store, first, survey)
        for credential in (mine, yours, new_invitation()):
            assert store_one(store, replace(first, cohort=None, credential=credential), survey) is Outcome.CONFLICT
            assert store_one(store, replace(first, credential=credential), survey) is Outcome.KNOWN
        assert store.unused_invitations(survey.id).unused == 1

    def test_of_another_survey_does_not_count(self, http: FlaskClient, store: SqliteStore) -> None:
        survey, other = invited_survey(), invited_survey(title="Other")
        for each in (survey, other):
            publish(store, each)
        (theirs,) = invite(store, other, 1)
        assert send(http, survey, report_for(survey, theirs)).status_code == 403

    def test_in_a_batch_has_the_status_that_its_report_has_alone(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        publish(store, survey)
        mine, yours = invite(store, survey, 2)
        lines = [
            report_for(survey, mine),
            report_for(survey, mine),
            report_for(survey, new_invitation()),
            report_for(survey, yours),
        ]
        answer = http.post(
            f"/api/v1/surveys/{survey.id}/reports",
            data=b"\n".join(each.encode() for each in lines),
            content_type="application/x-ndjson",
        )
        assert (answer.json["stored"], answer.json["known"]) == (2, 0)
        assert [(each["line"], each["status"]) for each in answer.json["refused"]] == [(2, 409), (3, 403)]

    def test_is_counted_by_what_became_of_it(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        for credential in (mine, mine, new_invitation()):
            send(http, survey, report_for(survey, credential))
        text = http.get("/metrics", headers={"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}).text
        for outcome in ("stored", "spent", "uninvited"):
            assert f'deniable_reports_total{{outcome="{outcome}"}} 1.0' in text

    def test_is_closed_with_its_survey(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        store.close_survey(survey.id)
        assert send(http, survey, report_for(survey, mine)).status_code == 410


class TestInviting:
    """What authors may do, and what they learn."""

    @pytest.fixture
    def token(self, store: SqliteStore) -> str:
        return create_token(store, "ada")

    def test_adds_each_invitation_once(self, http: FlaskClient, store: SqliteStore, token: str) -> None:
        survey = invited_survey(results="batches")
        publish(store, survey, "ada")
        hashes = [hash_of(new_invitation()) for _ in range(5)]
        answer = post(http, survey, "invitations", {"hashes": [*hashes[:3], hashes[0]]}, token)
        assert (answer.status_code, answer.json) == (201, {"added": 3, "known": 1})
        assert post(http, survey, "invitations", {"hashes": hashes}, token).json == {"added": 2, "known": 3}

    def test_tells_who_has_not_answered_but_beside_live_results(
        self, http: FlaskClient, store: SqliteStore, token: str
    ) -> None:
        for results in ("batches", "closed", "live"):
            survey = invited_survey(results=results)
            publish(store, survey, "ada")
            made = invite(store, survey, 3)
            store_one(store, report_for(survey, made[1]), survey)
            hashes = [*map(hash_of, made), "0" * 64]
            answer = post(http, survey, "invitations/unused", {"hashes": hashes}, token)
            unused = None if results == "live" else sorted([hashes[0], hashes[2]])
            assert answer.json == {"invited": 3, "unused": 2, "hashes": unused}
            assert post(http, survey, "invitations/unused", {}, token).json == answer.json | {"hashes": None}
            found = inviting.unused_invitations(store, survey.id, hashes)
            assert found == (3, 2, unused)
            assert inviting.unused_invitations(store, survey.id, []).hashes == (None if results == "live" else [])

    def test_is_the_same_in_a_file_and_over_http_however_many(
        self, store: SqliteStore, token: str, monkeypatch: pytest.MonkeyPatch, http: FlaskClient
    ) -> None:
        survey = invited_survey(results="batches")
        publish(store, survey, "ada")
        monkeypatch.setattr(inviting, "MOST_HASHES", 7)

        def answered(url: str, token: str | None, survey_id: str, what: str, hashes: list[str] | None) -> Any:
            body = {} if hashes is None else {"hashes": list(hashes)}
            answer = http.post(
                f"/api/v1/surveys/{survey_id}/invitations{what}",
                json=body,
                headers={"Authorization": f"Bearer {token}"},
            )
            return answer.json

        monkeypatch.setattr("deniable_server.remote.invitations", answered)
        over_http = inviting.inviting(store.path, "http://127.0.0.1:1", token)
        hashes = [hash_of(new_invitation()) for _ in range(30)]
        assert inviting.add_invitations(over_http, survey.id, hashes) == (30, 0)
        in_file = inviting.inviting(store.path)
        assert inviting.add_invitations(in_file, survey.id, [*hashes, hashes[0]]) == (0, 31)
        for place in (over_http, in_file):
            assert inviting.unused_invitations(place, survey.id) == (30, 30, None)
            found = inviting.unused_invitations(place, survey.id, hashes)
            assert (found.unused, sorted(found.hashes or [])) == (30, sorted(hashes))

    @pytest.mark.parametrize("what", ["invitations", "invitations/unused"])
    def test_is_for_the_owner_and_the_operator(
        self, http: FlaskClient, store: SqliteStore, token: str, what: str
    ) -> None:
        survey = invited_survey()
        publish(store, survey, "grace")
        body = {"hashes": ["0" * 64]}
        assert post(http, survey, what, body).status_code == 401
        assert post(http, survey, what, body, token).status_code == 403
        assert post(http, survey, what, body, create_token(store, "reader", "read")).status_code == 401
        assert post(http, survey, what, body, create_token(store, "grace")).status_code in (200, 201)
        assert post(http, survey, what, body, create_token(store, "boss", "operate")).status_code in (200, 201)
        assert post(http, replace(survey, title="Nowhere"), what, body, token).status_code == 404

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            ({}, "body: must be an object with hashes"),
            ([], "body: must be an object with hashes"),
            ({"hashes": []}, "hashes: must be at least one, got none"),
            ({"hashes": "0" * 64}, "hashes: must be a list of at most 10,000"),
            ({"hashes": ["0" * 64] * 10_001}, "hashes: must be a list of at most 10,000"),
            ({"hashes": ["0" * 64], "more": 1}, "body: must be an object with hashes"),
            ({"hashes": ["0" * 64, "0" * 32]}, "hashes: number 2 must be 64 lower-case hexadecimal digits"),
            ({"hashes": [None]}, "hashes: number 1 must be 64 lower-case hexadecimal digits"),
            ({"hashes": [["0" * 64]]}, "hashes: number 1 must be 64 lower-case hexadecimal digits"),
            ({"hashes": ["A" * 64]}, "hashes: number 1 must be 64 lower-case hexadecimal digits"),
            (b'{"hashes":[],"hashes":[]}', "body: must not hold the same key twice"),
            (b"[" * 5000, "body: must not nest deeper than 8"),
        ],
    )
    def test_refuses_what_is_no_list_of_hashes(
        self, http: FlaskClient, store: SqliteStore, token: str, body: object, sentence: str
    ) -> None:
        survey = invited_survey()
        publish(store, survey, "ada")
        answer = post(http, survey, "invitations", body, token)
        assert (answer.status_code, answer.json["detail"]) == (422, sentence)
        assert store.unused_invitations(survey.id).invited == 0

    def test_is_for_surveys_that_have_invitations_here(
        self, http: FlaskClient, store: SqliteStore, token: str, survey: Survey
    ) -> None:
        elsewhere = unlinkable_survey(url="https://issuer.example")
        for each in (survey, elsewhere):
            store.publish(each, "ada")
        for each, sentence in (
            (survey, "is open to everybody, so it has no invitations"),
            (elsewhere, "its invitations belong to its issuer, https://issuer.example"),
        ):
            for what in ("invitations", "invitations/unused"):
                answer = post(http, each, what, {"hashes": ["0" * 64]}, token)
                assert answer.status_code == 422
                assert sentence in answer.json["detail"]


class TestSigning:
    """Blind signatures as the standards have them."""

    @pytest.mark.parametrize("vector", VECTORS["privacy_pass"], ids=lambda each: each["nonce"][:8])
    def test_gives_the_responses_of_rfc_9578(self, vector: dict[str, str]) -> None:
        key = PrivateKey.parse(bytes.fromhex(vector["skS"]).decode("ascii"))
        assert key.public.der.hex() == vector["pkS"]
        blinded = bytes.fromhex(vector["token_request"])[3:]  # after the type and the last byte of the key's id
        assert key.blind_sign(blinded).hex() == vector["token_response"]

    @pytest.mark.parametrize("vector", VECTORS["blind_rsa"], ids=lambda each: each["name"])
    def test_gives_the_signatures_of_rfc_9474(self, vector: dict[str, str]) -> None:
        n, e, d = (int(vector[name], 16) for name in "ned")
        p, q = rsa.rsa_recover_prime_factors(n, e, d)
        public = rsa.RSAPublicNumbers(e, n)
        numbers = rsa.RSAPrivateNumbers(
            p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
        )
        pem = numbers.private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        assert PrivateKey(pem.decode()).blind_sign(bytes.fromhex(vector["blinded_msg"])).hex() == vector["blind_sig"]

    def test_raises_no_message_as_it_came(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is raised to the private exponent is another number at each try; the signature is the same."""
        key = key_number(0)
        blinded = key.public.blind(b"message").message
        raised: list[int] = []

        def watched(base: int, exponent: int, modulus: int) -> int:
            if exponent.bit_length() > 512:
                raised.append(base)
            return pow(base, exponent, modulus)

        monkeypatch.setattr(signing, "pow", watched, raising=False)
        assert key.blind_sign(blinded) == key.blind_sign(blinded)
        assert len(raised) == 4
        assert len(set(raised)) == 2
        assert int.from_bytes(blinded) not in raised

    @pytest.mark.parametrize("fault", [1, 2])
    def test_tells_no_signature_that_a_fault_spoilt(self, monkeypatch: pytest.MonkeyPatch, fault: int) -> None:
        """One right and one wrong half would give the primes away (Boneh, DeMillo and Lipton 1997)."""
        calls = 0

        def faulty(base: int, exponent: int, modulus: int) -> int:
            nonlocal calls
            calls += exponent.bit_length() > 512
            return pow(base, exponent, modulus) ^ (calls == fault and exponent.bit_length() > 512)

        monkeypatch.setattr(signing, "pow", faulty, raising=False)
        key = key_number(0)
        with pytest.raises(SigningFault, match="was not given away"):
            key.blind_sign(key.public.blind(b"message").message)

    def test_shows_no_key(self) -> None:
        assert "PRIVATE" not in repr(key_number(0))
        with pytest.raises(ValueError, match="blinded message"):
            key_number(0).blind_sign(bytes(256))
        small = rsa.generate_private_key(65537, 1024).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with pytest.raises(ValueError, match="2048 bits"):
            PrivateKey.parse(small.decode())


class TestToken:
    """A blind token lets one report count, and an invitation gets one token."""

    def test_goes_the_whole_way(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        token = bought(http, survey, mine)
        report = report_for(survey, token)
        assert send(http, survey, report).status_code == 201
        assert send(http, survey, report).status_code == 200
        assert send(http, survey, replace(report, cohort="web")).status_code == 409
        assert store.unused_invitations(survey.id).unused == 0
        assert store.tallies(survey) == tally_reports([report], survey)
        assert inspect(store.path).findings == ()

    def test_is_signed_once_for_an_invitation_and_again_for_the_same_message(
        self, http: FlaskClient, store: SqliteStore
    ) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        first, second = Purchase(survey, mine), Purchase(survey, mine)
        answers = [ask(http, survey, each) for each in (first, first, second, first)]
        assert [each.status_code for each in answers] == [200, 200, 409, 200]
        assert answers[0].json == answers[1].json == answers[3].json
        assert answers[2].json["detail"] == "invitation: was used for another token"

    def test_can_be_asked_for_again_as_often_as_the_issuer_allows(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        before, after = invite(store, survey, 2)
        assert ask(http, survey, Purchase(survey, before)).status_code == 200
        store.set_reissue(survey.id, 2)
        (late,) = invite(store, survey, 1)
        for invitation, signed in ((before, 1), (after, 0), (late, 0)):
            asked = [Purchase(survey, invitation) for _ in range(4)]
            statuses = [ask(http, survey, each).status_code for each in asked]
            assert statuses == [200] * (3 - signed) + [409] * (1 + signed)
            assert ask(http, survey, asked[0]).status_code == 200
        assert store.unused_invitations(survey.id)[:2] == (3, 0)
        store.set_reissue(survey.id, 0)
        assert ask(http, survey, asked[2]).status_code == 200  # signed before
        assert ask(http, survey, asked[3]).status_code == 409
        assert inspect(store.path).findings == ()

    @pytest.mark.parametrize(
        ("change", "status"),
        [
            ({"invitation": "0" * 32}, 403),
            ({"invitation": "0" * 31}, 422),
            ({"invitation": None}, 422),
            ({"blinded": "f" * 512}, 422),
            ({"blinded": "0" * 512}, 422),
            ({"blinded": "0" * 510}, 422),
            ({"blinded": 7}, 422),
            ({"more": 1}, 422),
        ],
    )
    def test_is_refused_before_the_invitation_is_used(
        self, http: FlaskClient, store: SqliteStore, change: dict[str, Any], status: int
    ) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        body = {"invitation": mine, "blinded": Purchase(survey, mine).blinded} | change
        answer = post(http, survey, "tokens", body)
        assert answer.status_code == status
        assert mine not in answer.text
        assert store.unused_invitations(survey.id).unused == 1

    def test_is_not_signed_once_the_survey_is_closed(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        purchase = Purchase(survey, mine)
        assert ask(http, survey, purchase).status_code == 200
        store.close_survey(survey.id)
        assert ask(http, survey, purchase).status_code == 410

    def test_is_for_surveys_with_blind_tokens_that_are_signed_here(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        elsewhere = unlinkable_survey(url="https://issuer.example")
        for each in (survey, elsewhere):
            store.publish(each)
        body = {"invitation": "0" * 32, "blinded": "0" * 512}
        assert post(http, survey, "tokens", body).status_code == 422
        refused = post(http, elsewhere, "tokens", body)
        assert (refused.status_code, refused.json["detail"]) == (
            404,
            "tokens: those of this survey are signed at https://issuer.example",
        )

    def test_is_that_of_its_survey_and_its_report(self, http: FlaskClient, store: SqliteStore) -> None:
        survey, other = unlinkable_survey(), unlinkable_survey(1, title="Other")
        publish(store, survey)
        publish(store, other, number=1)
        (mine,) = invite(store, survey, 1)
        report = report_for(survey, bought(http, survey, mine))
        foreign = report_for(other, bought(http, other, invite(store, other, 1)[0]))
        for wrong in (
            replace(report, id="0" * 32),
            replace(report, credential=turned(f"{report.credential}")),
            replace(foreign, values=report.values),
            replace(report, credential=mine),
        ):
            answer = send(http, survey, wrong)
            assert answer.status_code == 403, answer.text
            assert str(wrong.credential) not in answer.text
        assert store.state(survey.id).reports == 0

    def test_costs_its_network_two_requests(self, app: APIFlask, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        charged: list[int] = []
        limits = app.extensions["deniable-limits"]
        limits.charge = lambda environ, more: charged.append(more)
        ask(http, survey, Purchase(survey, mine))
        ask(http, survey, Purchase(survey, mine))
        assert charged == [1]


class TestKey:
    """One key signs for one survey."""

    def test_must_be_here_when_the_collector_signs(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        token = create_token(store, "ada")
        answer = http.post(
            "/api/v1/surveys",
            data=survey.document,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status_code == 422
        assert "make a key here with 'deniable issuer key'" in answer.json["detail"]
        assert store.states() == []

    def test_serves_one_survey(self, store: SqliteStore) -> None:
        publish(store, unlinkable_survey())
        assert not store.publish(unlinkable_survey())  # the very same
        with pytest.raises(SurveyError, match="a key serves one survey only"):
            store.publish(unlinkable_survey(title="Other"))
        with pytest.raises(SurveyError, match="a key serves one survey only"):
            store.publish(unlinkable_survey(title="Other", url="https://issuer.example"), signs=True)
        assert len(store.states()) == 1

    def test_is_made_added_and_allowed_more_by_commands(self, tmp_path: Path, store: SqliteStore) -> None:
        issuer = CommandLine("issuer")
        file = tmp_path / "issuer.db"
        table = issuer.ok("key", "--db", file, "--url", "https://issuer.example").partition("The survey")[0]
        assert file.stat().st_mode & 0o077 == 0
        toml = (
            'title = "T"\naccess = "unlinkable"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n'
        )
        (tmp_path / "survey.toml").write_text(toml + table, encoding="utf-8")
        survey_id = issuer.ok("add", tmp_path / "survey.toml", "--db", file).strip()
        survey = SqliteStore(file).survey(survey_id)
        assert survey.issuer
        assert survey.issuer.url == "https://issuer.example"
        (tmp_path / "published").write_bytes(survey.document)
        assert issuer.ok("add", tmp_path / "published", "--db", file).strip() == survey_id
        assert issuer.ok("reissue", survey_id, "-n", 1, "--db", file).startswith(f"Survey {survey_id}: each invitation")
        assert "reissue: must be 0 to 9, got 10" in issuer.refused("reissue", survey_id, "-n", 10, "--db", file)
        store.publish(survey)  # at a collector, which signs nothing
        assert "its tokens are not signed here" in issuer.refused("reissue", survey_id, "-n", 1, "--db", store.path)
        assert "its private half must be in this database" in issuer.refused(
            "add", tmp_path / "published", "--db", store.path
        )
        assert "must be a file, or a link" in issuer.refused("add", "nothing", "--db", file)
        assert "issuer.url: must be like" in issuer.refused("key", "--url", "ftp://x", "--db", file)
        assert inspect(file).findings == ()

    def test_in_a_damaged_row_is_found(self, store: SqliteStore) -> None:
        store.add_key(key_number(0))
        store.db.execute("UPDATE signing_keys SET private = replace(private, 'A', 'B')")
        assert inspect(store.path).findings == ("signing_keys: a private key is not that of its public one",)


class TestIssuer:
    """An issuer apart from the collector signs, and does nothing else."""

    @pytest.fixture
    def issuer(self, tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
        app = create_issuer(tmp_path / "issuer.db", clock, Settings(rate_limit=None, fold_seconds=86_400))
        yield app
        app.extensions["deniable"]["writer"].stop()
        app.extensions["deniable"]["store"].close()

    def test_signs_for_a_survey_elsewhere(self, issuer: APIFlask, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey(url="https://issuer.example")
        store.publish(survey)
        signs: SqliteStore = issuer.extensions["deniable"]["store"]
        publish(signs, survey)
        (mine,) = invite(signs, survey, 1)
        token = bought(issuer.test_client(), survey, mine)
        assert send(http, survey, report_for(survey, token)).status_code == 201

    def test_serves_signatures_and_health_alone(self, issuer: APIFlask) -> None:
        routes = {rule.rule for rule in issuer.url_map.iter_rules()}
        assert routes == {"/api/v1/surveys/<survey_id>/tokens", "/livez", "/readyz", "/api/openapi.json"}
        answer = issuer.test_client().get("/readyz")
        assert answer.status_code == 200
        asked = issuer.test_client().options("/api/v1/surveys/x/tokens")
        assert asked.headers["Access-Control-Allow-Origin"] == "*"

    def test_may_be_reached_by_the_pages_of_its_surveys_alone(self, http: FlaskClient, store: SqliteStore) -> None:
        elsewhere, here = unlinkable_survey(url="https://issuer.example:8443"), invited_survey()
        for each in (elsewhere, here):
            store.publish(each)
        for page in ("s", "embed"):
            policies = [http.get(f"/{page}/{each.id}").headers["Content-Security-Policy"] for each in (elsewhere, here)]
            assert "connect-src 'self' https://issuer.example:8443; " in policies[0]
            assert "connect-src 'self'; " in policies[1]
            assert policies[0].replace(" https://issuer.example:8443", "") == policies[1]

    @pytest.mark.slow
    def test_runs_as_a_command(self, tmp_path: Path) -> None:
        survey = replace(unlinkable_survey(url="https://issuer.example"), opens=None, closes=None)
        with closing(SqliteStore(tmp_path / "issuer.db")) as store:
            publish(store, survey)
            (mine,) = invite(store, survey, 1)
        with running_issuer(tmp_path / "issuer.db") as issuer:
            url = issuer.url
            purchase = Purchase(survey, mine)
            body = {"invitation": mine, "blinded": purchase.blinded}
            answer = urllib3.request("POST", f"{url}/api/v1/surveys/{survey.id}/tokens", json=body)
            assert purchase.token(answer.json()["signature"])
            assert urllib3.request("GET", f"{url}/s/{survey.id}").status == 404
            assert urllib3.request("POST", f"{url}/api/v1/surveys/{survey.id}/reports").status == 404


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_report_with_a_credential_goes_the_short_way(
    access: ACCESS, app: APIFlask, http: FlaskClient, store: SqliteStore
) -> None:
    survey = invited_survey() if access == "invited" else unlinkable_survey()
    publish(store, survey)
    (mine,) = invite(store, survey, 1)
    report = report_for(survey, mine if access == "invited" else bought(http, survey, mine))

    def never(**_: object) -> None:
        raise AssertionError("Flask was asked")

    app.view_functions["api.take_reports"] = never
    assert [send(http, survey, report).status_code for _ in range(2)] == [201, 200]


@pytest.mark.slow
def test_authors_reach_a_real_collector(tmp_path: Path, start_collector: StartCollector) -> None:
    collector = start_collector()
    with closing(SqliteStore(collector.database)) as store:
        token = create_token(store, "ada")
    invited = replace(invited_survey(results="batches"), opens=None, closes=None)
    assert remote.publish(collector.url, token, invited)
    place = inviting.inviting(tmp_path / "none.db", collector.url, token)
    hashes = [hash_of(new_invitation()) for _ in range(3)]
    assert inviting.add_invitations(place, invited.id, hashes) == (3, 0)
    assert inviting.unused_invitations(place, invited.id, hashes) == (3, 3, sorted(hashes))
    elsewhere = replace(unlinkable_survey(url="https://issuer.example"), opens=None, closes=None)
    assert remote.publish(collector.url, token, elsewhere)
    with closing(SqliteStore(tmp_path / "issuer.db")) as store:
        store.add_key(key_number(0))
    added = CommandLine("issuer").ok(
        "add", f"{collector.url}/s/{elsewhere.id}#cohort=web", "--db", tmp_path / "issuer.db"
    )
    assert added.strip() == elsewhere.id
    with pytest.raises(CollectorError, match="its invitations belong to its issuer"):
        inviting.add_invitations(place, elsewhere.id, hashes)


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_nothing_that_is_kept_or_said_holds_a_secret_of_a_person(
    access: ACCESS, http: FlaskClient, store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    survey = invited_survey() if access == "invited" else unlinkable_survey()
    publish(store, survey, "ada")
    token = create_token(store, "ada")
    made = [new_invitation() for _ in range(4)]
    hashes = list(map(hash_of, made))
    post(http, survey, "invitations", {"hashes": hashes}, token)
    post(http, survey, "invitations/unused", {"hashes": hashes}, token)
    post(http, survey, "invitations", {"hashes": [made[0]]}, token)
    secrets = list(made)
    for invitation in made[:3]:
        credential = invitation
        if access == "unlinkable":
            purchase = Purchase(survey, invitation)
            signature = ask(http, survey, purchase).json["signature"]
            credential = purchase.token(signature)
            secrets += [purchase.blinded, signature, credential, purchase.nonce.hex()[32:]]
            ask(http, survey, Purchase(survey, invitation))
        assert send(http, survey, report_for(survey, credential)).status_code == 201
        send(http, survey, report_for(survey, credential))
    send(http, survey, replace(report_for(survey, credential), id="0" * 32))
    assert any(record.getMessage() == "operator" for record in caplog.records)
    said = "\n".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    said += http.get("/metrics", headers={"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}).text
    said += http.get(f"/api/v1/surveys/{survey.id}/reports.csv").text + http.get(f"/s/{survey.id}/results").text
    for secret in [*secrets, *hashes]:
        assert secret not in said
    store.settle()
    back_up(store.path, store.path.with_name("copy.db"))
    for path in store.path.parent.iterdir():
        content = read_elsewhere(path)
        for secret in secrets:
            assert secret.encode() not in content, path
            assert bytes.fromhex(secret) not in content, path


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_pages_tell_which_invitations_are_used_and_not_in_which_order(
    access: ACCESS, tmp_path: Path, clock: Clock
) -> None:
    """The table of invitations is the same byte for byte whoever came first, and when who was invited."""
    dice = random.Random(7)
    survey = invited_survey(results="batches") if access == "invited" else unlinkable_survey(results="batches")
    made = [f"{dice.getrandbits(128):032x}" for _ in range(600)]
    used = {each: f"{dice.getrandbits(256):064x}" for each in made[:250]}
    pages = []
    for number in range(3):
        with closing(SqliteStore(tmp_path / f"{number}.db", clock)) as store:
            publish(store, survey)
            order = dice.sample(made, len(made))
            store.add_invitations(survey.id, map(hash_of, order[:400]))
            came = dice.sample(sorted(used), len(used))
            for invitation in came[:100]:
                use(store, survey, invitation, used[invitation])
            store.settle()
            store.add_invitations(survey.id, map(hash_of, order))
            for invitation in came:
                use(store, survey, invitation, used[invitation])
            assert store.settle()
            assert store.unused_invitations(survey.id)[:2] == (600, 350)
            pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            assert inspect(store.path).findings == ()
    assert len(pages[0]) > 10
    assert pages[0] == pages[1] == pages[2]


def test_pages_of_many_invitations_tell_no_order_once_the_survey_is_closed(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable_server.store.sqlite.fold.WRITTEN_ANEW_AT_REST", 50)
    dice = random.Random(7)
    survey = invited_survey(results="batches")
    made = [f"{dice.getrandbits(128):032x}" for _ in range(600)]
    open_pages, closed_pages = [], []
    for number in range(2):
        with closing(SqliteStore(tmp_path / f"{number}.db", clock)) as store:
            publish(store, survey)
            order = dice.sample(made, len(made))
            for start in range(0, 600, 40):
                store.add_invitations(survey.id, map(hash_of, order[start : start + 40]))
            assert store.settle()
            open_pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            store.close_survey(survey.id)
            closed_pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            assert inspect(store.path).findings == ()
    assert open_pages[0] != open_pages[1]  # what closing is needed for
    assert closed_pages[0] == closed_pages[1]


def test_invitations_count_where_a_database_is_looked_at_in_little_time(store: SqliteStore) -> None:
    survey = invited_survey()
    publish(store, survey)
    invite(store, survey, 30)
    assert inspect(store.path, most_rows=29).unread == (survey.id,)
    assert inspect(store.path, most_rows=30).unread == ()


def use(store: SqliteStore, survey: Survey, invitation: str, message: str) -> None:
    """Use an invitation that was added, for a report or for a message."""
    if survey.issuer:
        assert store.issue(survey.id, hash_of(invitation), message) in (
            Outcome.STORED,
            Outcome.KNOWN,
            Outcome.UNINVITED,
        )
    else:
        report = report_for(survey, invitation)
        assert store_one(store, report, survey) in (Outcome.STORED, Outcome.SPENT, Outcome.UNINVITED)


def leaves_with(content: bytes, hashes: list[str]) -> set[bytes]:
    """Pages of tables that hold one of these hashes, and no page but those holds any: each hash stands there once."""
    wanted = [each.encode() for each in hashes]
    found = set()
    for start in range(0, len(content), 4096):
        page = content[start : start + 4096]
        if any(each in page for each in wanted):
            assert page[0] in (2, 10), "a page that is free, or no page of a table without rowids"
            # Of an inner page the numbers of its children say where in the file they are, and nothing else may differ.
            found.add(page if page[0] == 10 else b"".join(each for each in wanted if each in page))
    for each in wanted:
        assert content.count(each) == 1
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE invitations_{0} SET state = '1' WHERE hash = (SELECT max(hash) FROM invitations_{0} WHERE state = '0')",
        "UPDATE invitations_{0} SET state = '0' WHERE hash = (SELECT max(hash) FROM invitations_{0} WHERE state = '1')",
        "DELETE FROM invitations_{0} WHERE hash = (SELECT max(hash) FROM invitations_{0})",
        "INSERT INTO invitations_{0} VALUES ('0', '0')",
    ],
)
def test_change_of_an_invitation_is_found(store: SqliteStore, statement: str) -> None:
    survey = invited_survey()
    publish(store, survey)
    for invitation in invite(store, survey, 6)[:3]:
        store_one(store, report_for(survey, invitation), survey)
    assert inspect(store.path).findings == ()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute(statement.format(survey.id))
    (finding,) = inspect(store.path).findings
    assert "checksum differs" in finding


def test_more_reports_than_used_invitations_are_found_even_with_a_true_checksum(store: SqliteStore) -> None:
    survey = invited_survey()
    publish(store, survey)
    (mine,) = invite(store, survey, 1)
    store_one(store, report_for(survey, mine), survey)
    with store._transaction() as db:
        invitations.change(db, survey, {hash_of(mine): "1"}, {hash_of(mine): "0"})
    (finding,) = inspect(store.path).findings
    assert "more or fewer reports than invitations that are used" in finding


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_backup_knows_who_has_answered(access: ACCESS, store: SqliteStore, http: FlaskClient, clock: Clock) -> None:
    survey = invited_survey() if access == "invited" else unlinkable_survey()
    publish(store, survey)
    mine, yours = invite(store, survey, 2)
    credential = mine if access == "invited" else bought(http, survey, mine)
    assert send(http, survey, report_for(survey, credential)).status_code == 201
    copy = store.path.with_name("copy.db")
    assert back_up(store.path, copy).findings == ()
    assert copy.stat().st_mode & 0o077 == 0
    with closing(SqliteStore(copy, clock)) as restored:
        if access == "invited":
            assert store_one(restored, report_for(survey, mine), survey) is Outcome.SPENT
            assert store_one(restored, report_for(survey, yours), survey) is Outcome.STORED
        else:
            assert restored.issue(survey.id, hash_of(mine), "1" * 64) is Outcome.SPENT
            assert restored.issue(survey.id, hash_of(yours), "1" * 64) is Outcome.STORED
            assert restored.signing_key(survey) == key_number(0).pem


SERVE = """
import sys
from pathlib import Path
from werkzeug.serving import WSGIRequestHandler, make_server
from deniable_server.app import create_app
from deniable_server.settings import Settings
WSGIRequestHandler.protocol_version = "HTTP/1.1"
WSGIRequestHandler.log_request = lambda *_: None
app = create_app(Path(sys.argv[1]), settings=Settings(rate_limit=None, fold_seconds=0.1))
make_server("127.0.0.1", int(sys.argv[2]), app, threaded=True).serve_forever()
"""
"""A collector without the lock that keeps a second one from its database."""


@contextmanager
def two_collectors(database: Path) -> Iterator[list[str]]:
    """Two processes on one database, for which nothing but the database keeps them apart."""
    ports = [free_port(), free_port()]
    started = [subprocess.Popen([sys.executable, "-c", SERVE, str(database), str(port)]) for port in ports]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        for url in urls:
            urllib3.request("GET", f"{url}/livez", retries=urllib3.Retry(60, backoff_factor=0.1, backoff_max=0.5))
        yield urls
    finally:
        for each in started:
            each.terminate()
            each.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_of_50_uses_at_once_over_4_connections_and_2_processes_one_counts(access: ACCESS, tmp_path: Path) -> None:
    survey = invited_survey() if access == "invited" else unlinkable_survey()
    survey = replace(survey, opens=None, closes=None)
    with closing(SqliteStore(tmp_path / "test.db")) as store:
        publish(store, survey)
        (mine,) = invite(store, survey, 1)
        with two_collectors(tmp_path / "test.db") as urls:
            path = f"/api/v1/surveys/{survey.id}"
            if access == "invited":
                different = [report_for(survey, mine) for _ in range(25)]
            else:
                bodies: list[object] = []
                purchases = [Purchase(survey, mine) for _ in range(25)]
                for each in purchases:
                    bodies += [{"invitation": mine, "blinded": each.blinded}] * 2
                answers = at_once(urls, f"{path}/tokens", bodies)
                signed = [(each, data) for each, (status, data) in zip(bodies, answers, strict=True) if status == 200]
                assert Counter(status for status, _ in answers) == {200: 2, 409: 48}
                assert signed[0] == signed[1]
                (bought_one,) = [
                    each for each in purchases if {"invitation": mine, "blinded": each.blinded} == signed[0][0]
                ]
                token = bought_one.token(signed[0][1]["signature"])
                different = [report_for(survey, token, (None, "web", "paper")[n % 3]) for n in range(25)]
                assert len({each.encode() for each in different}) > 3
            twice = [each for each in different for _ in range(2)]
            answers = at_once(urls, f"{path}/reports", [json.loads(each.encode()) for each in twice])
            statuses = Counter(status for status, _ in answers)
            assert statuses[201] == 1
            assert set(statuses) <= {200, 201, 409}
            assert statuses[409] >= 40 or access == "unlinkable"
        assert store.state(survey.id).reports == 1
        assert store.unused_invitations(survey.id)[:2] == (1, 0)
    assert inspect(tmp_path / "test.db").findings == ()


def at_once(urls: list[str], path: str, bodies: list[object]) -> list[tuple[int, Any]]:
    """Send bodies over two connections to each address; status and answer of each."""
    answers: dict[int, tuple[int, Any]] = {}
    ready = threading.Barrier(4)

    def run(place: int) -> None:
        pool = urllib3.connectionpool.connection_from_url(urls[place % 2], maxsize=1)
        ready.wait()
        for number in range(place, len(bodies), 4):
            answer = pool.request("POST", path, json=bodies[number], retries=False, timeout=30)
            answers[number] = (answer.status, answer.json())

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(bodies))]


@pytest.mark.fuzz
def test_10_000_wrong_credentials_store_nothing(http: FlaskClient, store: SqliteStore) -> None:
    """Forged, replayed, of another survey, of a closed one, malformed: refused with a sentence, each of them."""
    dice = random.Random(1974)
    invited, unlinkable = invited_survey(), unlinkable_survey()
    closed = [invited_survey(title="Closed"), unlinkable_survey(1, title="Closed")]
    for each in (invited, unlinkable, *closed):
        publish(store, each, number=int(each in closed))
    right: dict[str, list[str]] = {}
    for each in (invited, unlinkable, *closed):
        made = invite(store, each, 20)
        right[each.id] = [bought(http, each, one) for one in made[:10]] if each.issuer else made[:10]
        if each in (invited, unlinkable):
            for spent in right[each.id][:5]:  # these are replayed
                assert send(http, each, report_for(each, spent, "web")).status_code == 201
    for each in closed:
        store.close_survey(each.id)
    before = [store.state(each.id).reports for each in (invited, unlinkable, *closed)]
    unused = [store.unused_invitations(each.id).unused for each in (invited, unlinkable)]
    statuses: Counter[int] = Counter()
    for _ in range(10_000):
        survey = dice.choice([invited, unlinkable, unlinkable, *closed])
        credential: object = wrong_credential(dice, survey, right, [invited, unlinkable, *closed])
        if dice.random() < 0.1:
            other = dice.choice(["tokens", "invitations", "invitations/unused"])
            body: object = {"invitation": credential, "blinded": credential, "hashes": [credential]}
            answer = post(http, survey, other, body)
        else:
            report = report_for(survey, "00" * 354 if survey.issuer else "00" * 16)
            content = json.loads(report.encode()) | {"credential": credential}
            if isinstance(credential, str) and survey.issuer and dice.random() < 0.8:
                content["id"] = credential[4:36]  # as if it belonged to it
            answer = post(http, survey, "reports", content)
        statuses[answer.status_code] += 1
        assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:200])
        assert len(answer.json["detail"]) > 10
    assert {403, 409, 410, 422} <= set(statuses), statuses
    assert [store.state(each.id).reports for each in (invited, unlinkable, *closed)] == before
    assert [store.unused_invitations(each.id).unused for each in (invited, unlinkable)] == unused
    assert inspect(store.path).findings == ()


def wrong_credential(dice: random.Random, survey: Survey, right: dict[str, list[str]], surveys: list[Survey]) -> object:
    """What lets no report of the survey count any more, or never did."""
    is_closed = survey not in surveys[:2]
    kind = dice.randrange(6)
    if kind == 0:  # used before, or right but too late
        return dice.choice(right[survey.id] if is_closed else right[survey.id][:5])
    if kind == 1:
        return dice.choice(right[dice.choice([each for each in surveys if each is not survey]).id])
    if kind == 2:
        return dice.choice([None, True, 7, [], {}, "", "0" * 31, "0" * 33, "0x" * 16, "é" * 32, "0" * 708, "A" * 32])
    if kind == 3:
        return f"{dice.getrandbits(128):032x}"
    token = list(dice.choice(right[surveys[1].id]))  # one of the unlinkable survey's, forged
    for _ in range(dice.randint(1, 3)):
        token[dice.randrange(4, len(token))] = dice.choice("0123456789abcdef") if kind == 4 else dice.choice("xyz ")
    forged = "".join(token)
    return "f" * 708 if forged in right[surveys[1].id] else forged


@pytest.mark.slow
def test_killed_between_issuing_spending_and_storing_nobody_loses_and_nobody_counts_twice() -> None:
    storage_access.access(short=True)
