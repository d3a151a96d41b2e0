"""Whether a database is what was written: every row accounted for, every tally a recount."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlite_utils import Database

from deniable import Survey, parse_survey, tally_reports
from deniable.errors import DeniableError
from deniable_server.store import checksum, counts, invitations, keys
from deniable_server.store.connection import WAIT_MS, transaction
from deniable_server.store.errors import StoreDamaged
from deniable_server.store.migrations import apply, refuse_newer, refuse_unreadable, schema
from deniable_server.store.tables import create_tables, pending_table, report_of, reports_table, rows_of

ROWS_AT_START = 100_000
"""Reports and invitations that are looked at before a collector starts, in about a second; smaller surveys first."""

SURVEYS_AT_START = 500
"""Surveys that are, in about two seconds: documents are read and tables compared, however few their reports."""


@dataclass(frozen=True)
class Inspection:
    """What somebody found who compared a database with its checksums and tallies.

    Attributes
    ----------
    surveys, reports : int
        How many were looked at.
    findings : tuple of str
        What is not as it was written, one sentence each; empty when all is.
    unread : tuple of str
        Addresses of surveys that were not looked at, because there was not the time.
    """

    surveys: int
    reports: int
    findings: tuple[str, ...]
    unread: tuple[str, ...] = ()


def inspect(path: Path, most_rows: int | None = None) -> Inspection:
    """Look at a database, also one that a collector is using, without changing it.

    Parameters
    ----------
    path : Path
        The SQLite file.
    most_rows : int, optional
        Reports and invitations to look at, of surveys with fewer reports first and of `SURVEYS_AT_START` of them; then
        SQLite's own look at every page is left out too. By default everything.

    Raises
    ------
    DeniableError
        If there is no database of this version to look at.
    """
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        with closing(connection), transaction(Database(connection), path, "BEGIN") as db:
            refuse_newer(db, path)
            if schema.pending(db):
                refuse_unreadable(db, path)
                raise DeniableError(f"database {path}: is of an older version; 'deniable serve' brings it up to date")
            return _inspect(db, most_rows)
    except sqlite3.OperationalError as error:
        raise DeniableError(f"database {path}: cannot be read: {error}") from None
    except StoreDamaged as error:
        return Inspection(0, 0, (str(error.__cause__),))


def refuse_damaged(path: Path) -> Inspection:
    """Look at as much of a database as there is time for before a collector starts.

    Raises
    ------
    StoreDamaged
        If something is not as it was written.
    """
    inspection = inspect(path, ROWS_AT_START)
    if inspection.findings:
        raise StoreDamaged(
            f"database {path}: is damaged: {inspection.findings[0]}; 'deniable check' tells all, a backup mends it"
        )
    return inspection


def _inspect(db: Database, most_rows: int | None) -> Inspection:
    findings: list[str] = []
    if most_rows is None:
        findings += [f"SQLite: {line}" for (line,) in db.conn.execute("PRAGMA integrity_check") if line != "ok"]
    findings += [f"{table}: a row names no survey" for table, *_ in db.conn.execute("PRAGMA foreign_key_check")]
    findings += _beside_surveys(db)
    surveys: list[Survey] = []
    read, unread = 0, []
    sizes = "SELECT id, document, (SELECT coalesce(sum(n), 0) FROM totals WHERE survey = id) FROM surveys ORDER BY 3"
    invited = _invitations_of_surveys(db)
    rows = 0
    for survey_id, document, n in db.conn.execute(sizes):
        of_survey = n + invited.get(survey_id, 0)
        if most_rows is not None and (rows + of_survey > most_rows or len(surveys) >= SURVEYS_AT_START):
            unread.append(survey_id)
            continue
        read += n
        rows += of_survey
        try:
            surveys.append(parse_survey(document, survey_id))
        except Exception as error:
            findings.append(f"survey {survey_id}: its document is not that of its address ({type(error).__name__})")
    findings += _differences_of_schema(db, surveys)
    for survey in surveys:
        try:
            findings += [f"survey {survey.id}: {finding}" for finding in _differences_of_rows(db, survey)]
        except Exception as error:  # damaged rows can be wrong in every way there is, and each is a finding
            findings.append(f"survey {survey.id}: its rows cannot be read ({type(error).__name__}: {error})")
    return Inspection(len(surveys), read, tuple(findings), tuple(unread))


def _invitations_of_surveys(db: Database) -> dict[str, int]:
    """How many invitations there are, by survey."""
    tables = db.conn.execute("SELECT name FROM sqlite_master WHERE name GLOB 'invitations_*'").fetchall()
    return {
        name.partition("_")[2]: db.conn.execute(f"SELECT count(*) FROM [{name}]").fetchone()[0] for (name,) in tables
    }


def _beside_surveys(db: Database) -> Iterator[str]:
    """What belongs to no survey: tokens, private keys, and the list of migrations."""
    columns = "sha256, name, scope, expires_on"
    for one, other in (("tokens", "tokens_copy"), ("tokens_copy", "tokens")):
        if db.conn.execute(f"SELECT {columns} FROM {one} EXCEPT SELECT {columns} FROM {other}").fetchone():
            yield f"{one}: a row differs from its copy in {other}"
    yield from keys.differences(db)
    if any(each.applied_at for each in schema.applied(db)):
        yield "_sqlite_migrations: a row is not as it was written"


def _differences_of_schema(db: Database, surveys: list[Survey]) -> Iterator[str]:
    query = "SELECT name, type, tbl_name, sql FROM sqlite_master"
    found = {name: rest for name, *rest in db.conn.execute(query)}
    with closing(Database(memory=True)) as fresh:
        apply(fresh)
        for survey in surveys:
            create_tables(fresh, survey)
        for name, *rest in fresh.conn.execute(query):
            if found.get(name) != rest:
                yield f"{name}: is not defined as it was"


def _differences_of_rows(db: Database, survey: Survey) -> Iterator[str]:
    pending, reports = pending_table(survey), reports_table(survey)
    keeps_reports = survey.retention == "reports"
    (row,) = db.conn.execute("SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id]).fetchall()
    owners = db.conn.execute("SELECT token FROM owners WHERE survey = ?", [survey.id]).fetchall()
    found = (
        checksum.digest(survey, "survey", row)
        ^ checksum.sum_of(survey, "owner", owners)
        ^ checksum.sum_of(survey, "key", keys.rows_of(db, survey))
        ^ checksum.sum_of(survey, "invitation", invitations.rows_of(db, survey))
        ^ counts.checksum_of_tallies(db, survey)
        ^ checksum.sum_of(survey, "report", rows_of(db, pending))
        ^ checksum.sum_of(survey, checksum.kind_kept(survey), rows_of(db, reports))
    )
    if found != checksum.read(db, survey):
        yield "its rows are not those that were written; their checksum differs"
        return
    if db.conn.execute(f"SELECT 1 FROM {pending} JOIN {reports} USING (id) LIMIT 1").fetchone():
        yield "a report is both pending and folded"
    if survey.access == "invited":
        used = sum(state == invitations.USED for _, state in invitations.rows_of(db, survey))
        (waiting,) = db.conn.execute(f"SELECT count(*) FROM {pending}").fetchone()
        if used != waiting + counts.folded(db, survey):
            yield "it has more or fewer reports than invitations that are used"
    tallies = counts.stored(db, survey)
    if keeps_reports:
        if tallies != tally_reports((report_of(survey, each) for each in rows_of(db, reports)), survey):
            yield "its tallies are not a recount of its reports"
    elif row[1] is None:  # closing drops the ids
        (ids,) = db.conn.execute(f"SELECT count(*) FROM {reports}").fetchone()
        if ids != sum(tally.n for tally in tallies.values()):
            yield "its tallies count more or fewer reports than it has ids"
