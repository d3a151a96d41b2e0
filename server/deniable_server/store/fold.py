"""How reports come to rest, in the order of their ids, and how a table comes to tell no order.

`FOLD_AT` reports that come together hide each other's place in time. Pending ones wait until there are as many; a
transaction that brings one survey as many new ones is a fold by itself, and its rows never wait.

The page of a b-tree tells more than its rows. A new row goes below the older ones of its page, whatever its key; and a
page that is rebuilt to make room keeps copies of the rows that moved, which `secure_delete` does not know of. A table
that is emptied and written anew, sorted, does neither: its pages are the same whatever order the rows came in. So that
is how pending rows are left, how tables are left at rest unless they are large, and how closing leaves a survey.

A batch, and a fold of a large table, puts its rows among the others. The same transaction writes the survey into the
table `unsorted`, so that nobody forgets: the next settling without load writes the rows anew, also after a crash and in
another process. Until then pages may show which rows came with which fold or batch, among 200 and more.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from sqlite_utils import Database

from deniable import Survey
from deniable_server.store import checksum, counts
from deniable_server.store.tables import (
    Row,
    create_table,
    insert,
    is_empty,
    kept_columns,
    kept_of,
    pending_table,
    reports_table,
    rows_of,
)

FOLD_AT = 200
"""Pending reports that make a fold: as many hide each other's place in time."""

WRITTEN_ANEW = 20_000
"""Rows up to which settling always writes the whole table anew, in some 20 ms. Above, not under load."""

LOAD = 2_000
"""Reports since the last settling that are load: more than 200 a second, if the timer stands at 10 seconds."""

WRITTEN_ANEW_AT_REST = 200_000
"""Rows up to which settling without load writes the whole table anew, in less than a second. Above, closing does."""


def take(db: Database, survey: Survey, rows: Sequence[Row]) -> bool:
    """Put new rows, enough for a fold, where they rest; whether all were new. If not, nothing happened.

    All within the caller's transaction. Nobody looks ids up first: SQLite meets those that it has when it inserts.
    """
    kept = list(kept_of(survey, sorted(rows, key=itemgetter(0))))
    db.conn.execute("SAVEPOINT rows")
    are_new = insert(db, reports_table(survey), kept) == len(rows)
    if not are_new:
        db.conn.execute("ROLLBACK TO rows")
    else:
        _remember_to_sort(db, survey)
        counts.add(db, survey, counts.of_rows(survey, rows))
        checksum.change(db, survey, checksum.sum_of(survey, checksum.kind_kept(survey), kept))
    db.conn.execute("RELEASE rows")
    return are_new


def fold(db: Database, survey: Survey, new: int) -> None:
    """Move what is pending to where it rests, and add it to the tallies; all within the caller's transaction."""
    pending, reports = pending_table(survey), reports_table(survey)
    counts.add(db, survey, counts.count(db, survey, pending))
    if survey.retention == "tallies":
        went = checksum.sum_of(survey, "report", rows_of(db, pending))
        came = checksum.sum_of(survey, "id", kept_of(survey, rows_of(db, pending)))
        checksum.change(db, survey, went ^ came)
    kept = f"SELECT {kept_columns(survey)} FROM {pending}"
    if may_sort(db, survey, new):
        _sort_reports(db, survey, f"{kept} UNION ALL SELECT * FROM {reports}")
    else:
        db.execute(f"INSERT INTO {reports} {kept} ORDER BY id")
        _remember_to_sort(db, survey)
    db.execute(f"DELETE FROM {pending}")


def may_sort(db: Database, survey: Survey, new: int) -> bool:
    """Whether there is the time to write all folded rows anew, when so many came since the last settling."""
    return counts.folded(db, survey) <= (WRITTEN_ANEW_AT_REST if new < LOAD else WRITTEN_ANEW)


def sort_pending(db: Database, survey: Survey) -> None:
    """Leave what is pending, too little for a fold, in the order of ids."""
    table = pending_table(survey)
    write_anew(db, survey, table, f"SELECT * FROM {table}", FOLD_AT)


def sort_reports(db: Database, survey: Survey) -> None:
    """Leave the folded rows of a survey in the order of ids, whatever their number."""
    _sort_reports(db, survey, f"SELECT * FROM {reports_table(survey)}")


def is_unsorted(db: Database, survey: Survey) -> bool:
    """Whether folded rows of a survey came since they were last written anew."""
    return db.conn.execute("SELECT 1 FROM unsorted WHERE survey = ?", [survey.id]).fetchone() is not None


def forget_ids(db: Database, survey: Survey) -> None:
    """Drop the ids of a closed survey that keeps tallies: no report can come that they would have to be known for."""
    table = reports_table(survey)
    if not is_empty(db, table):
        checksum.change(db, survey, checksum.sum_of(survey, "id", rows_of(db, table)))
        db.execute(f"DELETE FROM {table}")


def write_anew(db: Database, survey: Survey, table: str, query: str, rows: int) -> None:
    """Empty a table of a survey and fill it with the rows of a query, in the order of ids.

    From an equal table, and without a word about order, SQLite fills page after page. Sorting while it inserts, it
    would move rows between neighbouring pages and leave copies behind. A test reads the bytes.

    Parameters
    ----------
    table : str
        The table.
    query : str
        Its rows; it may read the table.
    rows : int
        About how many there are. Meanwhile they wait in memory, or on the disk where they are many.
    """
    beside = "temp" if rows <= WRITTEN_ANEW else "main"
    create_table(db, f"{beside}.anew", survey, like=table)
    db.execute(f"INSERT INTO {beside}.anew {query} ORDER BY id")
    db.execute(f"DELETE FROM {table}")  # without a condition: every page is wiped and freed
    db.execute(f"INSERT INTO {table} SELECT * FROM {beside}.anew")
    db.execute(f"DROP TABLE {beside}.anew")


def _sort_reports(db: Database, survey: Survey, query: str) -> None:
    write_anew(db, survey, reports_table(survey), query, counts.folded(db, survey))
    db.execute("DELETE FROM unsorted WHERE survey = ?", [survey.id])


def _remember_to_sort(db: Database, survey: Survey) -> None:
    db.execute("INSERT INTO unsorted VALUES (?) ON CONFLICT DO NOTHING", [survey.id])
