"""Surveys that ask who may be counted, and what a device does to be."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable import Report, Survey, read_survey
from deniable.access.invitation import hash_of, new_invitation
from deniable.access.issuer import NONCE, Issuer, report_id
from deniable_client import randomize
from deniable_server.signing import PrivateKey
from deniable_server.store import Store, Verdict
from tools.rig.surveys import SURVEY

ANSWERS = {"affair": "yes", "religious": "not"}

Access = Literal["invited", "unlinkable"]
"""Kinds of access that ask for a credential."""


@cache
def key_number(number: int) -> PrivateKey:
    """A key that tests share: making one takes a while."""
    return PrivateKey.generate()


def invited_survey(**changes: Any) -> Survey:
    """The survey of the tests, by invitation."""
    return replace(read_survey(SURVEY), access="invited", **changes)


def unlinkable_survey(number: int = 0, url: str | None = None, **changes: Any) -> Survey:
    """The survey of the tests, by blind token, signed by that key."""
    issuer = Issuer(key_number(number).public.der.hex(), url)
    return replace(read_survey(SURVEY), access="unlinkable", issuer=issuer, **changes)


def survey_with(access: Access, **changes: Any) -> Survey:
    """The survey of the tests, by invitation or by blind token."""
    return invited_survey(**changes) if access == "invited" else unlinkable_survey(**changes)


def publish(store: Store, survey: Survey, owner: str | None = None, number: int = 0) -> None:
    """Publish a survey, with its key where it has one."""
    if survey.issuer:
        store.add_key(key_number(number))
    store.publish(survey, owner, signs=survey.issuer is not None)


def invite(store: Store, survey: Survey, n: int) -> list[str]:
    """Invite so many; their invitations."""
    made = [new_invitation() for _ in range(n)]
    store.add_invitations(survey.id, map(hash_of, made))
    return made


def publish_to(store: Store, survey: Survey, n: int) -> list[str]:
    """Publish a survey, with its key where it has one, and invite so many; their invitations."""
    publish(store, survey)
    return invite(store, survey, n)


def report_for(survey: Survey, credential: str, cohort: str | None = None) -> Report:
    """A report with the right to be counted."""
    report = randomize(replace(survey, access="open", issuer=None), ANSWERS, cohort)
    mine = report.id if survey.issuer is None else credential[4 : 4 + 32]
    return replace(report, id=mine, credential=credential)


@dataclass
class Purchase:
    """A token on its way: what a device keeps of it."""

    survey: Survey
    invitation: str

    def __post_init__(self) -> None:
        assert self.survey.tokens
        self.nonce = os.urandom(NONCE)
        self._message = self.survey.tokens.message(self.nonce)
        self._blinded = self.survey.tokens.issuer.public.blind(self._message)

    @property
    def blinded(self) -> str:
        """What the issuer is sent."""
        return self._blinded.message.hex()

    @property
    def report_id(self) -> str:
        """The id of the report that the token lets count."""
        return report_id(self.nonce)

    def token(self, blind_signature: str) -> str:
        """The token, from the issuer's answer."""
        assert self.survey.tokens
        signature = self.survey.tokens.issuer.public.finalize(
            self._message, bytes.fromhex(blind_signature), self._blinded.inverse
        )
        assert signature, "the issuer has not signed it"
        return self.survey.tokens.token(self.nonce, signature)


def store_one(store: Store, report: Report, survey: Survey) -> Verdict:
    """What becomes of one report."""
    ((outcome,),) = store.store_reports([(survey, [report])])
    return outcome


def post(http: FlaskClient, survey: Survey, what: str, body: object, token: str = "") -> TestResponse:
    """Send something about a survey."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    raw = body if isinstance(body, bytes) else json.dumps(body)
    path = f"/api/v1/surveys/{survey.id}/{what}"
    return http.post(path, data=raw, content_type="application/json", headers=headers)


def post_survey(http: FlaskClient, survey: Survey, token: str) -> TestResponse:
    """Publish a survey as its author."""
    headers = {"Authorization": f"Bearer {token}"}
    return http.post("/api/v1/surveys", data=survey.document, content_type="application/json", headers=headers)


def send(http: FlaskClient, survey: Survey, report: Report) -> TestResponse:
    """Send a report."""
    return post(http, survey, "reports", report.encode())


def ask(http: FlaskClient, survey: Survey, purchase: Purchase) -> TestResponse:
    """Ask for a signature."""
    return post(http, survey, "tokens", {"invitation": purchase.invitation, "blinded": purchase.blinded})


def bought(http: FlaskClient, survey: Survey, invitation: str) -> str:
    """Have a token signed, and take the blinding off."""
    purchase = Purchase(survey, invitation)
    answer = ask(http, survey, purchase)
    assert answer.status_code == 200, answer.text
    return purchase.token(answer.json["signature"])
