"""The inspection of a database: every row in a checksum, every tally a recount."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from deniable import Survey, parse_survey, tally_reports
from deniable_server.store import checksum, counts, invitations, release_log, token_keys
from deniable_server.store.connection import Connection
from deniable_server.store.errors import StoreDamaged, StoreUnavailable
from deniable_server.store.tables import pending_table, report_of, reports_table, rows_of

ROWS_AT_START = 100_000
"""Largest number of reports and invitations that are inspected before a collector starts, in about a second."""

SURVEYS_AT_START = 500
"""Largest number of surveys that are inspected before a collector starts, in about two seconds."""

UNFINISHED = "unfinished_copy"
"""Name of a table that marks a copy as incomplete, from its first survey until everything has arrived."""


@dataclass(frozen=True)
class Inspection:
    """The result of comparing a database with its checksums and tallies.

    Attributes
    ----------
    surveys, reports : int
        Number of inspected surveys, and of their reports that results show, as ``deniable survey list`` has it.
    waiting : int
        Number of reports of these surveys that results do not show yet.
    findings : tuple of str
        The differences from what was written, one sentence each; empty if there are none.
    unread : tuple of str
        Addresses of surveys that were not inspected, for lack of time.
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
        waits = f", {self.waiting} waiting for a release" if self.waiting else ""
        return f"{contents(self.surveys, self.reports)}{waits}"


def contents(surveys: int, reports: int) -> str:
    """What a database holds.

    >>> contents(1, 0), contents(2, 1)
    ('1 survey, 0 released reports', '2 surveys, 1 released report')
    """
    return f"{surveys} survey{'s' * (surveys != 1)}, {reports} released report{'s' * (reports != 1)}"


def refuse_damaged(name: object, inspection: Inspection) -> Inspection:
    """Return an inspection if it found nothing; a collector does not start otherwise.

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
    """Inspect a database, within a transaction.

    Parameters
    ----------
    most_rows : int, optional
        Largest number of reports and invitations to inspect, in the surveys with the fewest reports and in at most
        `SURVEYS_AT_START` of them.
    beside : iterable of str
        Findings by the database's own means.
    invited : mapping
        Number of invitations by survey.
    differences_of_schema : callable
        Differences of the schema, with the tables of these surveys.
    snapshot : callable
        A transaction whose reads see one state of the tables of a survey.
    """
    findings = [*beside, *token_keys.differences(db)]
    if db.has_table(UNFINISHED):
        findings.append("it is a copy that is not complete; run 'deniable copy' again")
    surveys: list[Survey] = []
    unread: list[str] = []
    sizes = """
SELECT id, document, (SELECT coalesce(sum(n), 0) FROM totals WHERE survey = surveys.id) AS reports
FROM surveys ORDER BY reports, id"""
    rows = 0
    # Smaller surveys first, so that a limited look covers as many surveys as possible.
    for survey_id, document, n in db.execute(sizes).fetchall():
        of_survey = n + invited.get(survey_id, 0)
        if most_rows is not None and (rows + of_survey > most_rows or len(surveys) >= SURVEYS_AT_START):
            unread.append(survey_id)
            continue
        rows += int(of_survey)
        try:
            surveys.append(parse_survey(document, survey_id))
        except Exception as error:
            findings.append(f"survey {survey_id}: its document is not that of its address ({type(error).__name__})")
    findings += differences_of_schema(surveys)
    released = waiting = 0
    for survey in surveys:
        try:
            with snapshot(survey) as its:
                shown, hidden = counts.shown_and_waiting(its, survey)
                released, waiting = released + shown, waiting + hidden
                findings += [f"survey {survey.id}: {finding}" for finding in differences_of_rows(its, survey)]
        except StoreUnavailable:  # somebody else holds a table, or the server is gone: that is no damage
            raise
        except Exception as error:  # damaged rows can be wrong in every way there is, and each is a finding
            findings.append(f"survey {survey.id}: its rows cannot be read ({type(error).__name__}: {error})")
    return Inspection(len(surveys), released, tuple(findings), tuple(unread), waiting=waiting)


def differences_of_rows(db: Connection, survey: Survey) -> Iterator[str]:
    """The differences of a survey's rows from what was written, one sentence each."""
    pending, reports = pending_table(survey), reports_table(survey)
    keeps_reports = survey.retention == "reports"
    (row,) = db.execute("SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id]).fetchall()
    owners = db.execute("SELECT token FROM owners WHERE survey = ?", [survey.id]).fetchall()
    public_urls = db.execute("SELECT url FROM public_urls WHERE survey = ?", [survey.id]).fetchall()
    found = (
        checksum.digest(survey, "survey", row)
        ^ checksum.sum_of(survey, "owner", owners)
        ^ checksum.sum_of(survey, "public url", public_urls)
        ^ checksum.sum_of(survey, "key", token_keys.rows_of(db, survey))
        ^ checksum.sum_of(survey, "invitation", invitations.rows_of(db, survey))
        ^ checksum.sum_of(survey, "release", release_log.rows_of(db, survey))
        ^ counts.checksum_of_tallies(db, survey)
        ^ checksum.sum_of(survey, "report", rows_of(db, pending))
        ^ checksum.sum_of(survey, checksum.kind_kept(survey), rows_of(db, reports))
    )
    if found != db.checksum(survey.id):
        yield "its rows are not those that were written; their checksum differs"
        return
    # Checksums cannot see this: both rows may be as they were written.
    if db.execute(f"SELECT 1 FROM {pending} JOIN {reports} USING (id) LIMIT 1").fetchone():
        yield "a report is both pending and folded"
    if survey.access == "invited":
        # Each used invitation stands for one report, waiting or counted.
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
