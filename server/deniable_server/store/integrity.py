"""Whether a database is what was written: every row accounted for, every tally a recount."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from deniable import Survey, parse_survey, tally_reports
from deniable_server.store import checksum, counts, invitations, keys
from deniable_server.store.connection import Connection
from deniable_server.store.errors import StoreDamaged, StoreUnavailable
from deniable_server.store.tables import pending_table, report_of, reports_table, rows_of

ROWS_AT_START = 100_000
"""Reports and invitations that are looked at before a collector starts, in about a second; smaller surveys first."""

SURVEYS_AT_START = 500
"""Surveys that are, in about two seconds: documents are read and tables compared, however few their reports."""

UNFINISHED = "unfinished_copy"
"""A table that stands in a copy from its first survey on until everything has arrived."""


@dataclass(frozen=True)
class Inspection:
    """What somebody found who compared a database with its checksums and tallies.

    Attributes
    ----------
    surveys, reports : int
        How many were looked at, of reports those that are folded.
    waiting : int
        How many reports of these surveys wait for a fold.
    findings : tuple of str
        What is not as it was written, one sentence each; empty when all is.
    unread : tuple of str
        Addresses of surveys that were not looked at, because there was not the time.
    is_older : bool
        Whether an older version wrote the database, so that it was not compared with its checksums.
    """

    surveys: int
    reports: int
    findings: tuple[str, ...]
    unread: tuple[str, ...] = ()
    is_older: bool = False
    waiting: int = 0

    def __str__(self) -> str:
        waits = f", {self.waiting} that wait for a release" if self.waiting else ""
        return f"{self.surveys} surveys, {self.reports} folded reports{waits}"


def refuse_damaged(name: object, inspection: Inspection) -> Inspection:
    """What was found in a database before a collector starts.

    Raises
    ------
    StoreDamaged
        If something is not as it was written.
    """
    if inspection.findings:
        raise StoreDamaged(
            f"database {name}: is damaged: {inspection.findings[0]}; 'deniable check' tells all, a backup mends it"
        )
    return inspection


def look(
    db: Connection,
    most_rows: int | None,
    beside: Iterable[str],
    invited: Mapping[str, int],
    differences_of_schema: Callable[[list[Survey]], Iterable[str]],
    snapshot: Callable[[Survey], AbstractContextManager[Connection]],
) -> Inspection:
    """Look at a database, within a transaction.

    Parameters
    ----------
    most_rows : int, optional
        Reports and invitations to look at, of surveys with fewer reports first and of `SURVEYS_AT_START` of them.
    beside : iterable of str
        What was found by the means of the database itself.
    invited : mapping
        How many invitations there are, by survey.
    differences_of_schema : callable
        What is not defined as it was, with the tables of these surveys.
    snapshot : callable
        A transaction whose reads see one state of the tables of a survey.
    """
    findings = [*beside, *keys.differences(db)]
    if db.has_table(UNFINISHED):
        findings.append("it is a copy that is not complete; run 'deniable copy' again")
    surveys: list[Survey] = []
    read, unread = 0, []
    sizes = """
SELECT id, document, (SELECT coalesce(sum(n), 0) FROM totals WHERE survey = surveys.id) AS reports
FROM surveys ORDER BY reports, id"""
    rows = 0
    for survey_id, document, n in db.execute(sizes).fetchall():
        of_survey = n + invited.get(survey_id, 0)
        if most_rows is not None and (rows + of_survey > most_rows or len(surveys) >= SURVEYS_AT_START):
            unread.append(survey_id)
            continue
        read += int(n)
        rows += int(of_survey)
        try:
            surveys.append(parse_survey(document, survey_id))
        except Exception as error:
            findings.append(f"survey {survey_id}: its document is not that of its address ({type(error).__name__})")
    findings += differences_of_schema(surveys)
    waiting = 0
    for survey in surveys:
        try:
            with snapshot(survey) as its:
                waiting += sum(counts.waiting(its, survey).values())
                findings += [f"survey {survey.id}: {finding}" for finding in differences_of_rows(its, survey)]
        except StoreUnavailable:  # somebody else holds a table, or the server is gone: that is no damage
            raise
        except Exception as error:  # damaged rows can be wrong in every way there is, and each is a finding
            findings.append(f"survey {survey.id}: its rows cannot be read ({type(error).__name__}: {error})")
    return Inspection(len(surveys), read, tuple(findings), tuple(unread), waiting=waiting)


def differences_of_rows(db: Connection, survey: Survey) -> Iterator[str]:
    """What is not as it was written among the rows of a survey, one sentence each."""
    pending, reports = pending_table(survey), reports_table(survey)
    keeps_reports = survey.retention == "reports"
    (row,) = db.execute("SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id]).fetchall()
    owners = db.execute("SELECT token FROM owners WHERE survey = ?", [survey.id]).fetchall()
    found = (
        checksum.digest(survey, "survey", row)
        ^ checksum.sum_of(survey, "owner", owners)
        ^ checksum.sum_of(survey, "key", keys.rows_of(db, survey))
        ^ checksum.sum_of(survey, "invitation", invitations.rows_of(db, survey))
        ^ counts.checksum_of_tallies(db, survey)
        ^ checksum.sum_of(survey, "report", rows_of(db, pending))
        ^ checksum.sum_of(survey, checksum.kind_kept(survey), rows_of(db, reports))
    )
    if found != db.checksum(survey.id):
        yield "its rows are not those that were written; their checksum differs"
        return
    if db.execute(f"SELECT 1 FROM {pending} JOIN {reports} USING (id) LIMIT 1").fetchone():
        yield "a report is both pending and folded"
    if survey.access == "invited":
        used = sum(state == invitations.USED for _, state in invitations.rows_of(db, survey))
        (waiting,) = db.execute(f"SELECT count(*) FROM {pending}").fetchone()
        if used != waiting + counts.folded(db, survey):
            yield "it has more or fewer reports than invitations that are used"
    tallies = counts.stored(db, survey)
    if keeps_reports:
        if tallies != tally_reports((report_of(survey, each) for each in rows_of(db, reports)), survey):
            yield "its tallies are not a recount of its reports"
    elif row[1] is None:  # closing drops the ids
        (ids,) = db.execute(f"SELECT count(*) FROM {reports}").fetchone()
        if ids != sum(tally.n for tally in tallies.values()):
            yield "its tallies count more or fewer reports than it has ids"
