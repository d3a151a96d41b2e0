"""How pending reports become rows in the order of their ids, and how a table comes to tell no order.

The page of a b-tree tells more than its rows. A new row goes below the older ones of its page, whatever its key; and a
page that is rebuilt to make room keeps copies of the rows that moved, which `secure_delete` does not know of. A table
that is emptied and written anew, sorted, does neither: its pages are the same whatever order the rows came in. So that
is how pending rows are left, how small tables are folded, and how a survey is left when it closes.
"""

from __future__ import annotations

from sqlite_utils import Database

from deniable import Survey
from deniable_server.store import checksum, counts
from deniable_server.store.tables import (
    create_table,
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
"""Rows up to which every fold writes the whole table anew, in some 20 ms. Above, a fold under load inserts its rows."""

LOAD = 2_000
"""Pending reports that are load: more than 200 a second, if the timer stands at 10 seconds."""

WRITTEN_ANEW_AT_REST = 200_000
"""Rows up to which a fold without load writes the whole table anew, in less than a second. Above, only closing does."""


def fold(db: Database, survey: Survey) -> None:
    """Move what is pending to where it rests, and add it to the tallies; all within the caller's transaction."""
    pending, reports = pending_table(survey), reports_table(survey)
    counted = counts.count(db, survey, pending)
    waiting = sum(tally.n for tally in counted.values())
    rows = counts.folded(db, survey) + waiting
    counts.add(db, survey, counted)
    if survey.retention == "tallies":
        went = checksum.sum_of(survey, "report", rows_of(db, pending))
        came = checksum.sum_of(survey, "id", (kept_of(survey, row) for row in rows_of(db, pending)))
        checksum.change(db, survey, went ^ came)
    kept = f"SELECT {kept_columns(survey)} FROM {pending}"
    if rows <= WRITTEN_ANEW or (waiting < LOAD and rows <= WRITTEN_ANEW_AT_REST):
        write_anew(db, survey, reports, f"{kept} UNION ALL SELECT * FROM {reports}", rows)
    else:
        db.execute(f"INSERT INTO {reports} {kept} ORDER BY id")
    db.execute(f"DELETE FROM {pending}")


def sort_pending(db: Database, survey: Survey) -> None:
    """Leave what is pending, too little for a fold, in the order of ids."""
    table = pending_table(survey)
    write_anew(db, survey, table, f"SELECT * FROM {table}", FOLD_AT)


def sort_reports(db: Database, survey: Survey) -> None:
    """Leave the table of a closed survey in the order of ids, whatever its size."""
    table = reports_table(survey)
    write_anew(db, survey, table, f"SELECT * FROM {table}", counts.folded(db, survey))


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
