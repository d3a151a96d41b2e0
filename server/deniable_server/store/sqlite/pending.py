"""The storing of reports: known ids are recognised, and new reports wait for the fold or are folded at once."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import Report, Survey
from deniable_server.store import agenda, checksum
from deniable_server.store.errors import StoreDamaged
from deniable_server.store.invitations import Rights
from deniable_server.store.sqlite import fold
from deniable_server.store.sqlite.connection import SqliteConnection
from deniable_server.store.tables import Row, is_empty, pending_table, reports_table, rows_from
from deniable_server.store.taking import sort_out
from deniable_server.store.verdict import Verdict


def take(db: SqliteConnection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
    """Store new reports, which wait unless they are enough for a fold; return the verdicts and how many wait."""
    rows = rows_from(survey, reports)
    pending, rest = pending_table(survey), reports_table(survey)
    enough, few = fold.enough(survey, rows)
    # The fast path of a whole batch: no known ids, no invitations, one INSERT.
    may_be_first = bool(enough) and not few and survey.access == "open"
    if may_be_first and (is_empty(db, pending) or not _has_some(db, rows, pending)) and fold.take(db, survey, rows):
        return [Verdict.STORED] * len(rows), 0  # a batch that comes for the first time
    known = _known(db, rows, pending) | _known(db, rows, rest) if _has_some(db, rows, pending, rest) else {}
    rights = Rights(db, survey, reports)
    new, outcomes = sort_out(reports, rows, known, rights)  # neighbours on a page together, and no trace of their order
    # Before the rows are stored: a fault in between leaves neither, because all of it is one transaction.
    rights.spend()
    enough, few = fold.enough(survey, new)
    if (enough and not fold.take(db, survey, enough)) or (few and not _let_wait(db, survey, few)):
        raise StoreDamaged("the database has ids that it did not find")  # nothing of the transaction stays
    return outcomes, len(few)


def _let_wait(db: SqliteConnection, survey: Survey, rows: Sequence[Row]) -> bool:
    agenda.put(db, survey)
    checksum.change(db, survey, checksum.sum_of(survey, "report", rows))
    return db.insert(pending_table(survey), rows) == len(rows)


def _has_some(db: SqliteConnection, rows: Sequence[Row], *tables: str) -> bool:
    """Whether a table has one of the ids of these rows; in the usual case, that none has, one statement suffices."""
    return db.has_some("id", [str(row[0]) for row in rows], *tables)


def _known(db: SqliteConnection, rows: Sequence[Row], table: str) -> dict[object, Row]:
    """The rows of a table with the ids of these rows, by id."""
    return {row[0]: row for row in db.rows_with("kept.*", table, "id", [str(row[0]) for row in rows])}
