"""The report: what leaves the device. One noisy value for each question that was asked, and a random id."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from deniable.access.issuer import TOKEN_TYPE
from deniable.errors import NotInvited, ReportError, check_kind, describe
from deniable.survey.document import Survey
from deniable.wire import strict_json
from deniable.wire.space import Value

MAX_BYTES = 64 * 1024
"""Largest accepted report, in bytes; one of 100 questions has less than a tenth of that."""

_ID = re.compile(r"[0-9a-f]{32}")

_KEYS = {"id", "cohort", "values"}

_CREDENTIAL = "credential"
"""The key of the credential, in reports of surveys that are not open to everybody."""

_CREDENTIALS = {"invited": "an invitation", "unlinkable": "a token"}


@dataclass(frozen=True)
class Report:
    """Noisy values of one person. No field holds an answer.

    Attributes
    ----------
    id : str
        16 random bytes in hexadecimal, made together with the noise: the key under which a report counts once.
    cohort : str or None
        The label that the survey's author put on the link.
    values : mapping of str to int, str or None
        Question id to noisy value; None where the device drew other questions of a group.
    credential : str or None
        The right of the report to be counted, in hexadecimal: an invitation or a blind token. It is never stored.
    """

    id: str
    cohort: str | None
    values: Mapping[str, Value]
    credential: str | None = field(default=None, repr=False, compare=False)

    def encode(self) -> bytes:
        """The JSON that is sent, and sent again: the same bytes at every try.

        >>> Report("00" * 16, None, {"affair": 1}).encode()
        b'{"id":"00000000000000000000000000000000","cohort":null,"values":{"affair":1}}'
        """
        # This order of keys, without spaces, is the canonical form that the fast reader knows.
        content: dict[str, Any] = {"id": self.id, "cohort": self.cohort, "values": dict(self.values)}
        if self.credential is not None:
            content[_CREDENTIAL] = self.credential
        return json.dumps(content, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def new_report_id() -> str:
    """A fresh report id: 128 random bits, so no two devices ever meet."""
    # 128 random bits: no two reports ever meet, and an id says nothing about who drew it.
    return os.urandom(16).hex()


def parse_report(raw: bytes, survey: Survey) -> Report:
    """Read a report and check that it fits its survey.

    Raises
    ------
    ReportError
        Naming the key, what was expected there, and what kind of thing came.
    NotInvited
        If its token is forged, or one of another survey.
    """
    check_kind(raw, bytes, "raw")
    check_kind(survey, Survey, "survey")
    if len(raw) > MAX_BYTES:
        raise ReportError(f"report: must be at most {MAX_BYTES} bytes, got {len(raw)}")
    # Nearly every report is in canonical form, which one regular expression reads; others take the strict parser.
    if canonical := survey.canonical_form.read(raw):
        report = Report(*canonical)
    else:
        report_id, cohort, found, credential = _read(raw, survey)
        report = Report(report_id, cohort, _check_values(found, survey), credential)
    _check_token(report, survey)
    return report


def downloaded_report(report_id: str, cohort: str | None, values: Mapping[str, object], survey: Survey) -> Report:
    """A report from a download, which has no credential, checked like one that is sent.

    Raises
    ------
    ReportError
        As `parse_report`.
    """
    _check_cohort(cohort, survey)
    _require_keys(values, survey.checks.keys(), "values")
    return Report(_check_id(report_id), cohort, _check_values(values, survey))


def content_of(raw: bytes) -> dict[str, Any]:
    """The JSON object of a report, of which only the keys are checked: for reports of an unknown survey.

    Raises
    ------
    ReportError
        If it has other keys, as reports of older versions do.
    """
    content = strict_json.loads(raw, ReportError, "report")
    if not isinstance(content, dict):
        raise ReportError(f"report: must be an object, got {describe(content)}")
    # The credential alone is optional; which surveys ask for one is not known here.
    _require_keys(content, _KEYS | (content.keys() & {_CREDENTIAL}), "report")
    return content


def _read(raw: bytes, survey: Survey) -> tuple[str, str | None, dict[str, object], str | None]:
    """Read a report in any form that JSON allows."""
    content = content_of(raw)
    _require_keys(content, _KEYS | ({_CREDENTIAL} if survey.credential else set()), "report")
    report_id, cohort, values = _check_id(content["id"]), content["cohort"], content["values"]
    _check_cohort(cohort, survey)
    if not isinstance(values, dict):
        raise ReportError(f"values: must be an object, got {describe(values)}")
    _require_keys(values, survey.checks.keys(), "values")
    credential = content.get(_CREDENTIAL)
    if survey.credential and not (isinstance(credential, str) and re.fullmatch(survey.credential, credential)):
        raise NotInvited(f"credential: must be {_CREDENTIALS[survey.access]} of this survey")
    return report_id, cohort, values, credential


def _check_id(report_id: object) -> str:
    if not isinstance(report_id, str) or not _ID.fullmatch(report_id):
        raise ReportError("id: must be 32 lower-case hexadecimal digits")
    return report_id


def _check_values(found: Mapping[str, object], survey: Survey) -> dict[str, Value]:
    values = {question: check(found[question], subject) for question, (check, subject) in survey.checks.items()}
    survey.check_values(values)
    return values


def _check_token(report: Report, survey: Survey) -> None:
    if report.credential is None or survey.tokens is None:
        return
    # The report id is the first half of the token's nonce, so a token that is spent twice meets its own report id.
    if not report.credential.startswith(report.id, 2 * len(TOKEN_TYPE)):
        raise NotInvited("id: must be the first half of the nonce of the report's token")
    if not survey.tokens.verifies(report.credential):
        raise NotInvited("credential: was not signed by the issuer of this survey")


def _check_cohort(cohort: object, survey: Survey) -> None:
    if not survey.takes_cohort(cohort):
        named = ", ".join(map(repr, survey.cohorts[:10])) or "this survey has none"
        others = "" if survey.cohort_required else "null or "
        raise ReportError(f"cohort: must be {others}one of the survey's cohorts ({named})")


def _require_keys(content: Mapping[str, object], wanted: Set[str], subject: str) -> None:
    if content.keys() == wanted:
        return
    # Sorted, so that the same mistake gives the same message.
    for key in sorted(wanted - content.keys()):
        raise ReportError(f"{subject}: must have the key {key!r}")
    for key in sorted(content.keys() - wanted):
        raise ReportError(f"{subject}: has the unknown key {key[:40]!r}")
