"""How a report comes in: whether its id is known, and if not, into the table where it waits for the fold."""

from __future__ import annotations

import enum
import itertools
import json
from collections.abc import Sequence
from operator import itemgetter

from sqlite_utils import Database

from deniable import Report, Survey
from deniable_server.store import checksum
from deniable_server.store.tables import Row, pending_table, reports_table, rows_from

_id = itemgetter(0)

ROWS_AT_ONCE = 64
"""In one statement. With 100 questions that is 6,528 values of the 32,766 that SQLite takes."""


class Outcome(enum.Enum):
    """What became of a report."""

    STORED = "stored"
    KNOWN = "known"
    """The same report was stored before; it counts once."""
    CONFLICT = "conflict"
    """Another report was stored under this id before."""
    CLOSED = "closed"


def take(db: Database, survey: Survey, reports: Sequence[Report]) -> list[Outcome]:
    """Let new reports wait; what became of each."""
    rows = rows_from(survey, reports)
    known = _known(db, survey, [report.id for report in reports])
    new: list[Row] = []
    outcomes: list[Outcome] = []
    for report, row in zip(reports, rows, strict=True):
        before = known.setdefault(report.id, row)
        if before is row:
            new.append(row)
            outcomes.append(Outcome.STORED)
        else:  # where no more than the id was kept, nothing can conflict with it
            outcomes.append(Outcome.KNOWN if row[: len(before)] == before else Outcome.CONFLICT)
    if new:
        new.sort(key=_id)  # neighbours on a page together, and no trace of the order within the batch
        _insert(db, survey, new)
        checksum.change(db, survey, checksum.sum_of(survey, "report", new))
    return outcomes


def _insert(db: Database, survey: Survey, rows: Sequence[Row]) -> None:
    marks = f"({', '.join('?' * len(rows[0]))})"
    into = f"INSERT INTO {pending_table(survey)} VALUES"
    if len(rows) <= ROWS_AT_ONCE:
        # sqlite3 gives up the interpreter's lock for every row of executemany, and under load waits to get it back
        db.conn.execute(f"{into} {', '.join([marks] * len(rows))}", list(itertools.chain.from_iterable(rows)))
    else:
        db.conn.executemany(f"{into} {marks}", rows)


def _known(db: Database, survey: Survey, ids: list[str]) -> dict[str, Row]:
    """What is stored under these ids."""
    asked = json.dumps(sorted(ids))  # sorted, neighbours are found on one page
    found: dict[str, Row] = {}
    for table in (pending_table(survey), reports_table(survey)):
        rows = f"SELECT kept.* FROM json_each(?) AS asked CROSS JOIN {table} AS kept ON kept.id = asked.value"
        found |= {row[0]: row for row in db.conn.execute(rows, [asked])}
    return found
