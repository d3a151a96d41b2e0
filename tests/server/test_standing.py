"""Whether a survey takes reports and an invitation still counts, as clients ask it before anybody answers."""

from __future__ import annotations

import datetime
import http.client
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable import Survey
from deniable.access.invitation import hash_of, new_invitation
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.access import Purchase, invited_survey, publish_to, report_for, store_one, unlinkable_survey
from tools.rig.collectors import running_collector
from tools.rig.patience import PATIENCE
from tools.rig.surveys import Clock


def state_of(http: FlaskClient, survey: Survey) -> TestResponse:
    return http.get(f"/api/v1/surveys/{survey.id}/state")


def invitation_state(http: FlaskClient, survey: Survey, content: object) -> TestResponse:
    path = f"/api/v1/surveys/{survey.id}/invitations/state"
    return http.post(path, data=json.dumps(content), content_type="application/json")


class TestOfASurvey:
    """Open, early or closed, and no word more."""

    def test_follows_its_days(self, http: FlaskClient, store: SqliteStore, survey: Survey, clock: Clock) -> None:
        store.publish(survey)
        assert survey.opens
        assert survey.closes
        one = datetime.timedelta(days=1)
        for day, state in (
            (survey.opens - one, "early"),
            (survey.opens, "open"),
            (survey.closes, "open"),
            (survey.closes + one, "closed"),
        ):
            clock.today = day
            assert state_of(http, survey).json == {"state": state}

    def test_closed_by_hand_is_closed_whatever_its_days_say(
        self, http: FlaskClient, store: SqliteStore, survey: Survey, clock: Clock
    ) -> None:
        store.publish(survey)
        store.close_survey(survey.id)
        assert survey.opens
        for day in (survey.opens - datetime.timedelta(days=1), survey.opens):
            clock.today = day
            answer = state_of(http, survey)
            assert answer.data == b'{"state":"closed"}\n'

    def test_is_kept_by_no_cache_and_open_to_all_origins(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        store.publish(survey)
        answer = state_of(http, survey)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Access-Control-Allow-Origin"] == "*"

    def test_that_is_not_here_is_not_found(self, http: FlaskClient, survey: Survey) -> None:
        assert state_of(http, survey).status_code == 404


class TestOfAnInvitation:
    """Used or unused, to whoever knows the invitation, and never beside live results."""

    @pytest.fixture
    def survey(self) -> Survey:
        return replace(invited_survey(), results="batches")

    def test_changes_with_its_use_and_by_nothing_else(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        mine, yours = publish_to(store, survey, 2)
        for _ in range(3):
            answer = invitation_state(http, survey, {"hash": hash_of(mine)})
            assert answer.json == {"state": "unused"}
            assert answer.headers["Cache-Control"] == "no-store"
        store_one(store, report_for(survey, mine), survey)
        assert invitation_state(http, survey, {"hash": hash_of(mine)}).json == {"state": "used"}
        assert invitation_state(http, survey, {"hash": hash_of(yours)}).json == {"state": "unused"}
        assert invitation_state(http, survey, {"hash": hash_of(new_invitation())}).json == {"state": "unknown"}

    def test_is_not_told_where_results_are_live(self, http: FlaskClient, store: SqliteStore) -> None:
        """Whoever holds the links and watches the results could put a name to each noisy report."""
        survey = invited_survey()
        assert survey.results == "live"
        (mine,) = publish_to(store, survey, 1)
        for _ in range(2):
            for each in (mine, new_invitation()):
                assert invitation_state(http, survey, {"hash": hash_of(each)}).json == {"state": "untold"}
            store_one(store, report_for(survey, mine), survey)

    def test_asks_nothing_of_the_disk_but_to_read(self, http: FlaskClient, store: SqliteStore, survey: Survey) -> None:
        (mine,) = publish_to(store, survey, 1)
        store.settle()
        files = {path: path.read_bytes() for path in store.path.parent.iterdir() if path.is_file()}
        for each in (mine, new_invitation()):
            assert invitation_state(http, survey, {"hash": hash_of(each)}).status_code == 200
        assert state_of(http, survey).status_code == 200
        assert {path: path.read_bytes() for path in files if path.suffix == ".db"} == {
            path: content for path, content in files.items() if path.suffix == ".db"
        }

    @pytest.mark.parametrize("content", [{}, {"hash": 1}, {"hash": "ab"}, {"hash": "AB" * 32}, {"hash": None}, [], 1])
    def test_refuses_what_is_no_hash(
        self, http: FlaskClient, store: SqliteStore, survey: Survey, content: object
    ) -> None:
        store.publish(survey)
        assert invitation_state(http, survey, content).status_code == 422

    def test_never_takes_the_invitation_itself_nor_repeats_it(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        (mine,) = publish_to(store, survey, 1)
        answer = invitation_state(http, survey, {"hash": mine})
        assert answer.status_code == 422
        assert mine not in answer.text

    def test_is_for_surveys_whose_reports_carry_one(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        (mine,) = publish_to(store, survey, 1)
        assert invitation_state(http, survey, {"hash": hash_of(mine)}).status_code == 422
        assert invitation_state(http, invited_survey(), {"hash": hash_of(mine)}).status_code == 404


def test_collector_closes_the_connection_on_which_it_signed_a_token_and_no_other(tmp_path: Path) -> None:
    survey = unlinkable_survey(opens=None, closes=None)
    with running_collector(tmp_path) as collector:
        with closing(SqliteStore(collector.database)) as store:
            (mine,) = publish_to(store, survey, 1)
        purchase = Purchase(survey, mine)
        connection = http.client.HTTPConnection(collector.url.removeprefix("http://"), timeout=PATIENCE)
        path = f"/api/v1/surveys/{survey.id}"
        for _ in range(2):
            connection.request("GET", f"{path}/state")
            answer = connection.getresponse()
            assert (answer.status, answer.read(), answer.will_close) == (200, b'{"state":"open"}\n', False)
        body = json.dumps({"invitation": mine, "blinded": purchase.blinded})
        connection.request("POST", f"{path}/tokens", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Connection"), answer.will_close) == (200, "close", True)
        assert len(json.loads(answer.read())["signature"]) == 512
