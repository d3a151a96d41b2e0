"""Verification of what a collector publishes: survey, log, signatures, noisy rows, and published numbers.

Nothing is believed: each number is computed anew from the record of its release, the record's tallies are a recount of
the noisy rows, and the rows have the hash that was signed. What nobody can check from outside stands in
`docs/verifying.md`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence

from deniable.errors import CollectorError, DeniableError
from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable.survey.published import parse_survey
from deniable_research.output import counted
from deniable_research.results.collector import NoSurvey
from deniable_research.results.log import Fetch, Log, NotVerified, fetch_log, in_one_line, served
from deniable_research.results.published_numbers import Shown, compared_numbers
from deniable_research.results.witness import KeptHead, check_extends
from deniable_statistics.data.reports_csv import reports_from_csv
from deniable_statistics.estimates.tally import Tally, tally_reports
from deniable_statistics.release.merkle import leaf_hash
from deniable_statistics.release.record import ReleaseRecord, check_record

MOST_STARTS = 3
"""How often a check is started, because results move while it runs."""


NO_STUDY = "no study: the collector says that it is a demo or a rehearsal, and that a program sent all replies"
"""The line on a collector of a rehearsal or of the demo; all checks are the same there."""


def verify(fetch: Fetch, survey_id: str, seen: KeptHead | None = None) -> Iterator[str]:
    """Check what a collector publishes of a survey; yields a sentence for each check that held.

    Parameters
    ----------
    fetch : function of a path
    survey_id : str
    seen : KeptHead, optional
        The head that a witness saw: the very log that is checked must extend it.

    Raises
    ------
    NotVerified
        At the first check that does not hold; the message begins with what is wrong: ``survey``, ``signature``,
        ``log``, ``release``, ``rows``, ``tallies`` or ``numbers``.
    """
    survey = _survey(fetch, survey_id)
    mechanisms = ", ".join(sorted({each.mechanism.name for each in survey.questions}))
    yield f"survey: its bytes have the hash that is its address; mechanisms {mechanisms}, epsilon {survey.epsilon:.4g}"
    for start in range(1, MOST_STARTS + 1):
        log = fetch_log(fetch, survey_id)
        if seen is not None:
            check_extends(log, seen)
        content = None if survey.retention == "tallies" else served(fetch, _rows_path(survey), "rows")
        try:
            yield from _results(fetch, survey, log, seen, content)
            return
        except NotVerified:
            # Nothing is wrong if results moved between two answers.
            if start == MOST_STARTS or not _have_moved(fetch, survey, log, content):
                raise
        yield "release: results moved while this check ran, so it starts again"


def _have_moved(fetch: Fetch, survey: Survey, log: Log, content: bytes | None) -> bool:
    """Whether a release came since a log was fetched, or a reply where results are live."""
    later = fetch_log(fetch, survey.id)
    # A log that does not extend the one before is no later one.
    check_extends(later, KeptHead.of(log))
    if later.head.size > log.head.size:
        return True
    is_live = survey.results == "live" and not log.head.size and content is not None
    return is_live and fetch(_rows_path(survey)) != content


def _results(fetch: Fetch, survey: Survey, log: Log, seen: KeptHead | None, content: bytes | None) -> Iterator[str]:
    """Check everything after the log; ``content`` is `reports.csv`, None where the survey keeps no rows."""
    if log.is_rehearsal:
        yield NO_STUDY
    yield f"log: {counted(log.head.size, 'release')}, head {log.head.root}, signed by key {log.key.key_id}"
    if seen is not None:
        yield f"heads: the log extends the {counted(seen.size, 'release')} that were seen before"
    records = _records(fetch, survey, log)
    if records:
        yield f"signature: {counted(len(records), 'release')}, all signed and all in the log"
    reports = None if content is None else _reports(content, survey, records)
    shown = Shown(survey, _tallies(survey, records, reports), records, reports)
    if not records and shown.n:
        yield "release: none is signed yet, because results are live: these numbers can still change"
    if reports is not None:
        rows = counted(len(reports), "noisy reply", "noisy replies")
        yield f"rows: {rows}, of which the published tallies are a recount"
    elif records:
        yield "rows: the survey keeps only tallies, so these cannot be recounted"
    compared = sum(compared_numbers(fetch, shown))
    yield (
        f"numbers: {compared:,} published numbers (estimates, errors and intervals, in every view of every question) "
        "are what the library computes from these tallies"
    )
    latest = f"release {records[-1].number}, " if records else "no signed release yet, "
    by_program = ", all of them sent by a program" if log.is_rehearsal else ""
    yield (
        f"all checks passed: {in_one_line(str(survey.title))}, {latest}{counted(shown.n, 'reply', 'replies')}"
        f"{by_program}"
    )


def _survey(fetch: Fetch, survey_id: str) -> Survey:
    try:
        # The address is a hash of the bytes: a changed question, option or mechanism has another one.
        return parse_survey(fetch(f"/api/v1/surveys/{survey_id}"), expected_id=survey_id)
    except (NoSurvey, CollectorError):
        raise  # nothing was published that could be false
    except DeniableError as error:
        raise NotVerified(f"survey: is not the one of this address: {error}") from None


def _records(fetch: Fetch, survey: Survey, log: Log) -> list[ReleaseRecord]:
    records: list[ReleaseRecord] = []
    for number, (leaf, signature) in enumerate(zip(log.leaves, log.signatures, strict=True), start=1):
        document = served(fetch, f"/api/v1/surveys/{survey.id}/releases/{number}", f"release {number}")
        if leaf_hash(document) != leaf:
            raise NotVerified(f"release {number}: is not the one in the log")
        if not log.key.verifies(signature, document):
            raise NotVerified(f"signature: release {number} must be signed by the collector's key, but is not")
        try:
            record = ReleaseRecord.parse(document)
            # Its place in the log is signed by the root; what it says of itself has to agree.
            check_record(record, survey, number)
        except DeniableError as error:
            raise NotVerified(f"release {number}: {str(error).removeprefix('release: ')}") from None
        if records and record.released_on < records[-1].released_on:
            raise NotVerified(f"release {number}: is of {record.released_on}, before the release before it")
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


def _reports(content: bytes, survey: Survey, records: Sequence[ReleaseRecord]) -> list[Report]:
    """The noisy rows."""
    # The file as it was served, not what was read of it: another writing of the same rows has another hash.
    if records and hashlib.sha256(content).hexdigest() != records[-1].rows_sha256:
        raise NotVerified(f"rows: reports.csv is not the one of release {records[-1].number}, whose hash was signed")
    try:
        return list(reports_from_csv(io.StringIO(content.decode("utf-8"), newline=""), survey))
    except (DeniableError, UnicodeDecodeError) as error:
        raise NotVerified(f"rows: {error}") from None


def _rows_path(survey: Survey) -> str:
    return f"/api/v1/surveys/{survey.id}/reports.csv"


def _tallies(
    survey: Survey, records: Sequence[ReleaseRecord], reports: Sequence[Report] | None
) -> Mapping[str | None, Tally]:
    """The tallies of the newest release, or of the rows where none was recorded yet."""
    counted_rows = None if reports is None else tally_reports(reports, survey)
    if not records:
        # A log without releases would let a collector show any rows, signed by nobody.
        if counted_rows and survey.results != "live":
            raise NotVerified("release: must be in the log before replies are shown, got none, and rows that are shown")
        return counted_rows or {}
    tallies = records[-1].tallies
    if counted_rows is not None and counted_rows != tallies:
        raise NotVerified(
            f"tallies: release {records[-1].number} must have a recount of its noisy rows, but has other numbers"
        )
    return tallies
