"""Who may be counted: invitations that are spent once, blind tokens that are signed once, and what is kept of both."""

from __future__ import annotations

import json
import random
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
from flask.testing import FlaskClient

from deniable import CollectorError, Survey, tally_reports
from deniable.access.invitation import hash_of, new_invitation
from deniable_server.access import inviting, remote
from deniable_server.access.tokens import create_token
from deniable_server.app import create_issuer
from deniable_server.settings import Settings
from deniable_server.store import Verdict
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.collectors import StartCollector
from tests.support.marks import long
from tools.rig.access import (
    Access,
    Purchase,
    ask,
    bought,
    invite,
    invited_survey,
    key_number,
    post,
    publish,
    publish_to,
    report_for,
    send,
    store_one,
    survey_with,
    unlinkable_survey,
)
from tools.rig.collectors import answers, free_port, running_issuer
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import Clock
from tools.torture import storage_access


def turned(token: str) -> str:
    """A token with another last digit."""
    return token[:-1] + ("0" if token[-1] != "0" else "1")


class TestInvitation:
    """An invitation lets one report count."""

    def test_is_spent_by_the_report_that_is_stored(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        mine, yours = publish_to(store, survey, 2)
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
        mine = publish_to(store, survey, n)
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
            *[Verdict.STORED] * n,
            *(
                Verdict.KNOWN,
                Verdict.SPENT,
                Verdict.UNINVITED,
                Verdict.SPENT,
                Verdict.UNINVITED,
            ),
        ]
        (rested,) = store.db.execute("SELECT coalesce(sum(n), 0) FROM totals").fetchone()
        assert rested == (n if n >= 200 else 0)  # as many as a release do not wait
        assert store.unused_invitations(survey.id)[:2] == (n, 0)
        (outcomes,) = store.store_reports([(survey, good)])
        assert outcomes == [Verdict.KNOWN] * n
        assert inspect(store.path).findings == ()

    def test_of_a_report_that_is_refused_stays_unused(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        mine, yours = publish_to(store, survey, 2)
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
        mine, yours = publish_to(store, survey, 2)
        first = report_for(survey, mine, "web")
        store_one(store, first, survey)
        for credential in (mine, yours, new_invitation()):
            assert store_one(store, replace(first, cohort=None, credential=credential), survey) is Verdict.CONFLICT
            assert store_one(store, replace(first, credential=credential), survey) is Verdict.KNOWN
        assert store.unused_invitations(survey.id).unused == 1

    def test_of_another_survey_does_not_count(self, http: FlaskClient, store: SqliteStore) -> None:
        survey, other = invited_survey(), invited_survey(title="Other")
        for each in (survey, other):
            publish(store, each)
        (theirs,) = invite(store, other, 1)
        assert send(http, survey, report_for(survey, theirs)).status_code == 403

    def test_in_a_batch_has_the_status_that_its_report_has_alone(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        mine, yours = publish_to(store, survey, 2)
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
        (mine,) = publish_to(store, survey, 1)
        for credential in (mine, mine, new_invitation()):
            send(http, survey, report_for(survey, credential))
        text = http.get("/metrics", headers={"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}).text
        for outcome in ("stored", "spent", "uninvited"):
            assert f'deniable_reports_total{{outcome="{outcome}"}} 1.0' in text

    def test_is_closed_with_its_survey(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = invited_survey()
        (mine,) = publish_to(store, survey, 1)
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
            hashes = [*map(hash_of, made)]
            answer = post(http, survey, "invitations/unused", {"hashes": hashes}, token)
            unused = None if results == "live" else sorted([hashes[0], hashes[2]])
            assert answer.json == {"invited": 3, "unused": 2, "hashes": unused}
            assert post(http, survey, "invitations/unused", {}, token).json == answer.json | {"hashes": None}
            found = inviting.unused_invitations(store, survey.id, hashes)
            assert found == (3, 2, unused)
            assert inviting.unused_invitations(store, survey.id, []).hashes == (None if results == "live" else [])
            unknown = post(http, survey, "invitations/unused", {"hashes": [*hashes, "0" * 64]}, token)
            assert unknown.status_code == 422, "who was never invited has not answered either"
            assert unknown.json["detail"] == "hashes: must be of people who are invited here; 1 of 4 are not"

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

        monkeypatch.setattr("deniable_server.access.remote.invitations", answered)
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
        body = {"hashes": [hash_of(*invite(store, survey, 1))]}
        assert post(http, survey, what, body).status_code == 401
        assert post(http, survey, what, body, token).status_code == 403
        assert post(http, survey, what, body, create_token(store, "reader", "read")).status_code == 403
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


class TestToken:
    """A blind token lets one report count, and an invitation gets one token."""

    def test_goes_the_whole_way(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        (mine,) = publish_to(store, survey, 1)
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
        (mine,) = publish_to(store, survey, 1)
        first, second = Purchase(survey, mine), Purchase(survey, mine)
        answers = [ask(http, survey, each) for each in (first, first, second, first)]
        assert [each.status_code for each in answers] == [200, 200, 409, 200]
        assert answers[0].json == answers[1].json == answers[3].json
        assert answers[2].json["detail"] == "invitation: was used for another token"

    def test_can_be_asked_for_again_as_often_as_the_issuer_allows(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        before, after = publish_to(store, survey, 2)
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
        (mine,) = publish_to(store, survey, 1)
        body = {"invitation": mine, "blinded": Purchase(survey, mine).blinded} | change
        answer = post(http, survey, "tokens", body)
        assert answer.status_code == status
        assert mine not in answer.text
        assert store.unused_invitations(survey.id).unused == 1

    def test_is_not_signed_once_the_survey_is_closed(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        (mine,) = publish_to(store, survey, 1)
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
        (mine,) = publish_to(store, survey, 1)
        charged: list[int] = []
        limits = app.extensions["deniable-limits"]
        limits.charge = lambda environ, more: charged.append(more)
        ask(http, survey, Purchase(survey, mine))
        ask(http, survey, Purchase(survey, mine))
        assert charged == [1]


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
        (mine,) = publish_to(signs, survey, 1)
        token = bought(issuer.test_client(), survey, mine)
        assert send(http, survey, report_for(survey, token)).status_code == 201

    def test_serves_signatures_and_health_alone(self, issuer: APIFlask) -> None:
        routes = {rule.rule for rule in issuer.url_map.iter_rules()}
        assert routes == {"/api/v1/surveys/<survey_id>/tokens", "/livez", "/readyz"}
        answer = issuer.test_client().get("/readyz")
        assert answer.status_code == 200
        for accepted in ("text/html", "*/*"):  # it has no pages, for errors neither
            answer = issuer.test_client().get("/", headers={"Accept": accepted})
            assert (answer.status_code, answer.json["detail"]) == (404, "There is nothing at this address.")
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
            (mine,) = publish_to(store, survey, 1)
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
    access: Access, app: APIFlask, http: FlaskClient, store: SqliteStore
) -> None:
    survey = survey_with(access)
    (mine,) = publish_to(store, survey, 1)
    report = report_for(survey, mine if access == "invited" else bought(http, survey, mine))

    def never(**_: object) -> str:
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
            wait_until(lambda url=url: answers(url), "the collector answers")
        yield urls
    finally:
        for each in started:
            each.terminate()
            each.wait(PATIENCE)


@pytest.mark.slow
def test_of_50_uses_at_once_over_4_connections_and_2_processes_one_counts(tmp_path: Path) -> None:
    surveys = [replace(survey_with(access), opens=None, closes=None) for access in ("invited", "unlinkable")]
    with closing(SqliteStore(tmp_path / "test.db")) as store:
        invitations = [publish_to(store, survey, 1)[0] for survey in surveys]
        with two_collectors(tmp_path / "test.db") as urls:
            for survey, mine in zip(surveys, invitations, strict=True):
                use_50_times(urls, survey, mine)
        for survey in surveys:
            assert store.state(survey.id).reports == 1
            assert store.unused_invitations(survey.id)[:2] == (1, 0)
    assert inspect(tmp_path / "test.db").findings == ()


def use_50_times(urls: list[str], survey: Survey, mine: str) -> None:
    """Send 25 reports with one invitation twice each, and before that as many requests for its token."""
    path = f"/api/v1/surveys/{survey.id}"
    if survey.access == "invited":
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
        (bought_one,) = [each for each in purchases if {"invitation": mine, "blinded": each.blinded} == signed[0][0]]
        token = bought_one.token(signed[0][1]["signature"])
        different = [report_for(survey, token, (None, "web", "paper")[n % 3]) for n in range(25)]
        assert len({each.encode() for each in different}) > 3
    twice = [each for each in different for _ in range(2)]
    answers = at_once(urls, f"{path}/reports", [json.loads(each.encode()) for each in twice])
    statuses = Counter(status for status, _ in answers)
    assert statuses[201] == 1
    assert set(statuses) <= {200, 201, 409}
    assert statuses[409] >= 40 or survey.access == "unlinkable"


def at_once(urls: list[str], path: str, bodies: list[object]) -> list[tuple[int, Any]]:
    """Send bodies over two connections to each address; status and answer of each."""
    answers: dict[int, tuple[int, Any]] = {}
    ready = threading.Barrier(4)

    def run(place: int) -> None:
        pool = urllib3.connectionpool.connection_from_url(urls[place % 2], maxsize=1)
        ready.wait()
        for number in range(place, len(bodies), 4):
            answer = pool.request("POST", path, json=bodies[number], retries=False, timeout=PATIENCE)
            answers[number] = (answer.status, answer.json())

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(bodies))]


@pytest.mark.fuzz
@pytest.mark.parametrize("number", [400, long(10_000)])
def test_wrong_credentials_store_nothing(http: FlaskClient, store: SqliteStore, number: int) -> None:
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
    for _ in range(number):
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


@pytest.mark.long
@pytest.mark.slow
def test_killed_between_issuing_spending_and_storing_nobody_loses_and_nobody_counts_twice() -> None:
    storage_access.access(short=True)
