"""Surveys that ask who may be counted, and what a device does to be."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from deniable import Report, Survey, read_survey
from deniable.access.invitation import hash_of, new_invitation
from deniable.access.issuer import NONCE, Issuer, report_id
from deniable_client import randomize
from deniable_server.signing import PrivateKey
from deniable_server.store import Store
from tests.support.surveys import SURVEY

ANSWERS = {"affair": "yes", "religious": "not"}

Ask = Callable[[str, str], str]
"""Sends an invitation and a blinded message; gives the signature."""


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
