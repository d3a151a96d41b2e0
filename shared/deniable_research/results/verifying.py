"""Verification of what a collector publishes: survey, log, signatures, noisy rows, and every published number.

Nothing is believed: each number is computed anew from the record of its release, the record's tallies are a recount of
the noisy rows, and the rows have the hash that was signed. What nobody can check from outside stands in
`docs/verifying.md`.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deniable.errors import CollectorError, DeniableError
from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable.survey.published import parse_survey
from deniable.table import printable
from deniable_research.output import counted
from deniable_research.results.collector import NoSurvey
from deniable_statistics.data.reports_csv import reports_from_csv
from deniable_statistics.estimates.tally import Tally, tally_reports
from deniable_statistics.published.published_rows import estimate
from deniable_statistics.release.merkle import leaf_hash, root_of
from deniable_statistics.release.record import LogHead, ReleaseRecord
from deniable_statistics.release.signature import VerifyingKey
from deniable_statistics.views.view_row import ViewOptions, refusal_to_cross
from deniable_statistics.views.view_rows import MOST_DIFFERENCES, view_of

Fetch = Callable[[str], bytes]
"""Gets the bytes at a path of the collector, such as ``/api/v1/surveys/...``."""

MOST_CROSSED = 3
"""Largest number of questions with which each is crossed, so that a survey of 100 questions is verified in minutes."""

CLOSE = 1e-9
"""Largest difference of two numbers that are the same: other versions of numpy round the last digits so."""


class NotVerified(DeniableError):
    """Something that a collector publishes is not as it must be. The first word of the message says what."""


@dataclass(frozen=True)
class Log:
    """A survey's log of releases, checked: its head is signed, and its root is that of all its leaves.

    Attributes
    ----------
    survey : str
    key : VerifyingKey
    head : LogHead
    leaves : tuple of bytes
    signatures : tuple of bytes
        Of the records, in order.
    is_rehearsal : bool
        Whether the collector says that the replies are made up.
    """

    survey: str
    key: VerifyingKey
    head: LogHead
    leaves: tuple[bytes, ...]
    signatures: tuple[bytes, ...]
    is_rehearsal: bool = False


def fetch_log(fetch: Fetch, survey_id: str) -> Log:
    """Fetch the log of a survey, and check its head.

    Raises
    ------
    NotVerified
        If the head is not signed, is another survey's, or is not that of the releases in the list.
    """
    try:
        listed = json.loads(fetch(f"/api/v1/surveys/{survey_id}/releases"))
        key = VerifyingKey(bytes.fromhex(listed["key"]))
        encoded, signature = listed["head"].encode("ascii"), bytes.fromhex(listed["head_signature"])
        numbers = [each["number"] for each in listed["releases"]]
        leaves = tuple(bytes.fromhex(each["leaf"]) for each in listed["releases"])
        signatures = tuple(bytes.fromhex(each["signature"]) for each in listed["releases"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotVerified(f"log: must be a list of releases, got none ({type(error).__name__})") from None
    if not key.verifies(signature, encoded):
        raise NotVerified("signature: the head of the log must be signed by the collector's key, but is not")
    head = LogHead.parse(encoded)
    # A head that is signed for another survey is a true signature of a wrong thing.
    if head.survey != survey_id:
        raise NotVerified(f"log: must be that of survey {survey_id}, got that of {head.survey}")
    if numbers != list(range(1, head.size + 1)):
        raise NotVerified(f"log: its head has {head.size} releases, numbered from 1, but the list has {len(numbers)}")
    if root_of(leaves).hex() != head.root:
        raise NotVerified("log: its head is not that of the releases in the list")
    return Log(survey_id, key, head, leaves, signatures, listed.get("rehearsal") is True)


def verify(fetch: Fetch, survey_id: str) -> Iterator[str]:
    """Check everything that a collector publishes of a survey; yields a sentence for each check that held.

    Raises
    ------
    NotVerified
        At the first check that does not hold; the message begins with what is wrong: ``survey``, ``signature``,
        ``log``, ``release``, ``rows``, ``tallies`` or ``numbers``.
    """
    survey = _survey(fetch, survey_id)
    mechanisms = ", ".join(sorted({each.mechanism.name for each in survey.questions}))
    yield f"survey: its bytes have the hash that is its address; mechanisms {mechanisms}, epsilon {survey.epsilon:.4g}"
    log = fetch_log(fetch, survey_id)
    if log.is_rehearsal:
        yield "rehearsal: made-up replies"
    yield f"log: {counted(log.head.size, 'release')}, head {log.head.root}, signed by key {log.key.key_id}"
    records = _records(fetch, log)
    if records:
        yield f"signature: {counted(len(records), 'release')}, all signed and all in the log"
    reports = _reports(fetch, survey, records)
    tallies = _tallies(survey, records, reports)
    if reports is not None:
        yield f"rows: {len(reports)} noisy replies, of which the published tallies are a recount"
    elif records:
        yield "rows: the survey keeps only tallies, so these cannot be recounted"
    compared = sum(_numbers(fetch, survey, tallies, reports))
    yield (
        f"numbers: {compared:,} published numbers (estimates, errors and intervals, in every view of every question) "
        "are what the library computes from these tallies"
    )
    latest = f"release {records[-1].number}, " if records else ""
    replies = sum(tally.n for tally in tallies.values())
    yield f"all checks passed: {printable(str(survey.title))}, {latest}{counted(replies, 'reply', 'replies')}"


def _survey(fetch: Fetch, survey_id: str) -> Survey:
    try:
        # The address is a hash of the bytes: a changed question, option or mechanism has another one.
        return parse_survey(fetch(f"/api/v1/surveys/{survey_id}"), expected_id=survey_id)
    except (NoSurvey, CollectorError):
        raise  # nothing was published that could be false
    except DeniableError as error:
        raise NotVerified(f"survey: is not the one of this address: {error}") from None


def _records(fetch: Fetch, log: Log) -> list[ReleaseRecord]:
    records: list[ReleaseRecord] = []
    for number, (leaf, signature) in enumerate(zip(log.leaves, log.signatures, strict=True), start=1):
        document = fetch(f"/api/v1/surveys/{log.survey}/releases/{number}")
        if leaf_hash(document) != leaf:
            raise NotVerified(f"release {number}: is not the one in the log")
        if not log.key.verifies(signature, document):
            raise NotVerified(f"signature: release {number} must be signed by the collector's key, but is not")
        record = ReleaseRecord.parse(document)
        # Its place in the log is signed by the root; what it says of itself has to agree.
        if (record.survey, record.number) != (log.survey, number):
            raise NotVerified(f"release {number}: is release {record.number} of survey {record.survey}")
        if records and not _grows(records[-1].tallies, record.tallies):
            raise NotVerified(f"release {number}: counts fewer replies of some kind than the release before it")
        records.append(record)
    return records


def _grows(before: Mapping[str | None, Tally], after: Mapping[str | None, Tally]) -> bool:
    """Whether every count of a release is at least that of the one before: replies are added and never removed."""
    for cohort, tally in before.items():
        if cohort not in after or after[cohort].n < tally.n:
            return False
        for question, counts in tally.counts.items():
            if any(now < then for then, now in zip(counts, after[cohort].counts[question], strict=True)):
                return False
    return True


def _reports(fetch: Fetch, survey: Survey, records: Sequence[ReleaseRecord]) -> list[Report] | None:
    """The noisy rows; None where the survey keeps none."""
    if survey.retention == "tallies":
        return None
    content = fetch(f"/api/v1/surveys/{survey.id}/reports.csv")
    # The file as it was served, not what was read of it: another writing of the same rows has another hash.
    if records and hashlib.sha256(content).hexdigest() != records[-1].rows_sha256:
        raise NotVerified(f"rows: reports.csv is not the one of release {records[-1].number}, whose hash was signed")
    try:
        return list(reports_from_csv(io.StringIO(content.decode("utf-8"), newline=""), survey))
    except (DeniableError, UnicodeDecodeError) as error:
        raise NotVerified(f"rows: {error}") from None


def _tallies(
    survey: Survey, records: Sequence[ReleaseRecord], reports: Sequence[Report] | None
) -> Mapping[str | None, Tally]:
    """The tallies of the newest release, or of the rows where none was recorded yet."""
    counted = None if reports is None else tally_reports(reports, survey)
    if not records:
        return counted or {}
    tallies = records[-1].tallies
    if counted is not None and counted != tallies:
        raise NotVerified(
            f"tallies: release {records[-1].number} must have a recount of its noisy rows, but has other numbers"
        )
    return tallies


def _numbers(
    fetch: Fetch, survey: Survey, tallies: Mapping[str | None, Tally], reports: Sequence[Report] | None
) -> Iterator[int]:
    """How many numbers of each view were compared."""
    for by_cohort in (False, True) if survey.cohorts else (False,):
        path = f"/api/v1/surveys/{survey.id}/estimates.json{'?by=cohort' if by_cohort else ''}"
        expected = [asdict(row) for row in estimate(tallies, survey, by_cohort=by_cohort)]
        yield _compared(path, _rows(fetch, path, "estimates"), expected)
    if not any(tally.n for tally in tallies.values()):
        return
    for question in survey.questions:
        for query, options in _views(survey, question.id, tallies):
            path = f"/s/{survey.id}/results/{question.id}.json{query}"
            joint: list[Any] = []
            if options.crossed_with is not None:
                if reports is None:
                    continue
                pairs = Counter((each.values[question.id], each.values[options.crossed_with]) for each in reports)
                # In the order of the collector, because sums of floats depend on it.
                joint = sorted(((*pair, n) for pair, n in pairs.items()), key=lambda each: tuple(map(str, each)))
            expected = [asdict(row) for row in view_of(survey, tallies, question.id, options, joint)]
            yield _compared(path, _rows(fetch, path, "rows"), expected)


def _views(survey: Survey, question_id: str, tallies: Mapping[str | None, Tally]) -> Iterator[tuple[str, ViewOptions]]:
    """The views of a question that are checked: for everybody, by cohort, compared, and crossed with some others."""
    question = survey.question(question_id)
    yield "", ViewOptions()
    known = [cohort for cohort in survey.cohorts if cohort in tallies]
    if survey.cohorts:
        yield "?by=cohort", ViewOptions(by_cohort=True)
        if math.comb(len(known), 2) * question.rows <= MOST_DIFFERENCES:
            yield "?compare=cohort", ViewOptions(compare=True)
    others = (other for other in survey.questions if refusal_to_cross(question, other) is None)
    for other in itertools.islice(others, MOST_CROSSED):
        yield f"?with={other.id}", ViewOptions(crossed_with=other.id)


def _rows(fetch: Fetch, path: str, name: str) -> Sequence[Mapping[str, Any]]:
    try:
        rows = json.loads(fetch(path))[name]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise NotVerified(f"numbers: {path} must hold {name}, got something else") from None
    return rows


def _compared(path: str, published: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]) -> int:
    if len(published) != len(expected):
        raise NotVerified(f"numbers: {path} must have {len(expected)} rows, got {len(published)}")
    compared = 0
    for row, ours in zip(published, expected, strict=True):
        for name, value in ours.items():
            if not _is_same(row.get(name), value):
                where = f"{ours['question']}, {ours['option'] or ours['statistic']}"
                raise NotVerified(f"numbers: {path}: {name} of {where} must be {value}, got {row.get(name)}")
            compared += isinstance(value, (int, float)) and not isinstance(value, bool)
    return compared


def _is_same(published: object, ours: object) -> bool:
    if isinstance(published, (int, float)) and isinstance(ours, (int, float)):
        # Absolutely too, because a difference of shares may be 0 but for rounding.
        return math.isclose(published, ours, rel_tol=CLOSE, abs_tol=CLOSE)
    return published == ours
