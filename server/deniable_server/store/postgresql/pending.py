"""The storing of reports: known ids are recognised, and new reports wait for the fold.

All of it happens within a transaction that has entered the survey. Meanwhile the survey is neither folded nor closed,
and only other collectors, in the same way, add pending rows. So a folded row stays where it is, and two collectors that
insert the same id collide at its primary key.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable import Report, Survey
from deniable_server.store import agenda, checksum
from deniable_server.store.invitations import Rights
from deniable_server.store.postgresql.connection import PostgresqlConnection
from deniable_server.store.postgresql.errors import Collision
from deniable_server.store.postgresql.tables import types_of
from deniable_server.store.tables import Row, pending_table, reports_table, rows_from
from deniable_server.store.taking import sort_out
from deniable_server.store.verdict import Verdict

REPORTS, INVITATIONS = "reports", "invitations"
"""Kinds of tables that come to rest: names in the table ``unsorted``."""


def take(db: PostgresqlConnection, survey: Survey, reports: Sequence[Report]) -> list[Verdict]:
    """Store new reports, which wait for a fold; return the verdict on each.

    Raises
    ------
    Collision
        If another collector stored one of them since it was looked for.
    """
    rows = rows_from(survey, reports)
    rights = Rights(db, survey, reports)  # first: invitations are locked before ids, by everybody
    ids = [str(row[0]) for row in rows]
    known: dict[object, Row] = {}
    for table in (pending_table(survey), reports_table(survey)):
        known |= {row[0]: row for row in db.rows_with("kept.*", table, "id", ids)}
    new, outcomes = sort_out(reports, rows, known, rights)  # no trace of their order, and nobody waits in a circle
    if new:
        pending = pending_table(survey)
        # Fewer rows than were sent: another collector stored one of these ids after it was looked up.
        if db.insert_typed(pending, types_of(survey, pending), new).rowcount < len(new):
            raise Collision
        # Spent in the transaction that stores the report: neither can happen without the other.
        rights.spend()
        checksum.change(db, survey, checksum.sum_of(survey, "report", new))
        to_do(db, survey)
        if survey.access == "invited":
            moved(db, survey, INVITATIONS)
    return outcomes


def to_do(db: PostgresqlConnection, survey: Survey) -> None:
    """Put a survey on the agenda, unless it is there already: writing its row would make other collectors wait."""
    if not db.execute("SELECT 1 FROM agenda WHERE survey = ? AND day = ?", [survey.id, agenda.NOW]).fetchone():
        agenda.put(db, survey)


def moved(db: PostgresqlConnection, survey: Survey, kind: str) -> None:
    """Note that a table has to be sorted, because its rows lie in the order in which they changed."""
    # Looked for before it is written: even an INSERT that does nothing may wait for the row of another transaction.
    if not db.execute("SELECT 1 FROM unsorted WHERE survey = ? AND kind = ?", [survey.id, kind]).fetchone():
        db.execute("INSERT INTO unsorted VALUES (?, ?) ON CONFLICT DO NOTHING", [survey.id, kind])
