"""How reports come to rest, in the order of their ids, and how a table comes to tell no order.

A fold is a release: results know folded reports only, so they stand still until the next one. The reports of a cohort
wait until the survey's `release` of them have come, then all that wait fold together and hide each other's place in
time; a transaction that brings as many new ones is a fold by itself, and its rows never wait. Where results are live,
there is nothing to release and cohorts fold together.

The page of a b-tree tells more than its rows. A new row goes below the older ones of its page, whatever its key; and a
page that is rebuilt to make room keeps copies of the rows that moved, which `secure_delete` does not know of. A table
that is emptied and written anew, sorted, does neither: its pages are the same whatever order the rows came in. So that
is how pending rows are left, how tables are left at rest unless they are large, and how closing leaves a survey.

A batch, and a fold of a large table, puts its rows among the others. The same transaction writes the survey into the
table `unsorted`, so that nobody forgets: the next settling without load writes the rows anew, also after a crash and in
another process. Until then pages may show which rows came with which fold or batch, among 200 and more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from deniable import Survey
from deniable_server.store import agenda, checksum, counts
from deniable_server.store.folding import release
from deniable_server.store.sqlite.connection import SqliteConnection
from deniable_server.store.sqlite.tables import create_table
from deniable_server.store.tables import Row, invitations_table, kept_columns, kept_of, pending_table, reports_table

WRITTEN_ANEW = 20_000
"""Rows up to which settling always writes the whole table anew, in some 20 ms. Above, not under load."""

LOAD = 2_000
"""Reports since the last settling that are load: more than 200 a second, if the timer stands at 10 seconds."""

WRITTEN_ANEW_AT_REST = 200_000
"""Rows up to which settling without load writes the whole table anew, in less than a second. Above, closing does."""


def enough(survey: Survey, rows: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]]:
    """Rows of cohorts that have enough of them for a fold, and the others."""
    if len(rows) < survey.release:  # as nearly always, where reports come one by one
        return (), rows
    sizes = Counter(_group(survey, row) for row in rows)
    if len(sizes) == 1:
        return (rows, ()) if len(rows) >= survey.release else ((), rows)
    due = {group for group, n in sizes.items() if n >= survey.release}
    return [row for row in rows if _group(survey, row) in due], [row for row in rows if _group(survey, row) not in due]


def take(db: SqliteConnection, survey: Survey, rows: Sequence[Row]) -> bool:
    """Put new rows, enough for a fold, where they rest; whether all were new. If not, nothing happened.

    All within the caller's transaction. Nobody looks ids up first: SQLite meets those that it has when it inserts.
    """
    kept = list(kept_of(survey, sorted(rows, key=itemgetter(0))))
    db.execute("SAVEPOINT rows")
    are_new = db.insert(reports_table(survey), kept) == len(rows)
    if not are_new:
        db.execute("ROLLBACK TO rows")
    else:
        _remember_to_sort(db, survey)
        counts.add(db, survey, counts.of_rows(survey, rows))
        checksum.change(db, survey, checksum.sum_of(survey, checksum.kind_kept(survey), kept))
    db.execute("RELEASE rows")
    return are_new


def fold_due(db: SqliteConnection, survey: Survey, new: int, closed: bool) -> bool:
    """Fold the cohorts that have enough, all of them once the survey is closed; whether there were any.

    All within the caller's transaction. What goes on waiting has to be sorted then.
    """
    pending = pending_table(survey)
    live = survey.results == "live"
    sizes = db.execute(f"SELECT {'NULL' if live else 'cohort'}, count(*) FROM {pending} GROUP BY 1").fetchall()
    due = [cohort for cohort, n in sizes if closed or n >= survey.release]
    if not due:
        return False
    if len(due) == len(sizes):
        _fold(db, survey, new, pending)
        empty(db, pending)
        return True
    db.execute("CREATE TEMP TABLE due (cohort TEXT) STRICT")  # None is the empty one, which no label is
    db.insert("temp.due", [(cohort or "",) for cohort in due])
    is_due = "coalesce(cohort, '') IN (SELECT cohort FROM temp.due)"
    _fold(db, survey, new, f"(SELECT * FROM {pending} WHERE {is_due})")
    db.execute(f"DELETE FROM {pending} WHERE {is_due}")
    db.execute("DROP TABLE temp.due")
    return True


def _fold(db: SqliteConnection, survey: Survey, new: int, rows: str) -> None:
    """Copy rows to where they rest, and add them to the tallies."""
    reports = reports_table(survey)
    release(db, survey, rows)
    kept = f"SELECT {kept_columns(survey)} FROM {rows}"
    if may_sort(db, survey, new):
        _sort_reports(db, survey, f"{kept} UNION ALL SELECT * FROM {reports}")
    else:
        db.execute(f"INSERT INTO {reports} {kept} ORDER BY id")
        _remember_to_sort(db, survey)


def may_sort(db: SqliteConnection, survey: Survey, new: int) -> bool:
    """Whether there is the time to write all folded rows anew, when so many came since the last settling."""
    return counts.folded(db, survey) <= _most(new)


def sort_pending(db: SqliteConnection, survey: Survey, new: int) -> bool:
    """Leave what is pending, too little for a fold, in the order of ids; whether there was the time."""
    table = pending_table(survey)
    waiting: int
    (waiting,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    if waiting > _most(new):
        return waiting > WRITTEN_ANEW_AT_REST  # then there never will be
    if waiting:
        write_anew(db, survey, table, f"SELECT * FROM {table}", waiting)
    return True


def sort_reports(db: SqliteConnection, survey: Survey) -> None:
    """Leave the folded rows of a survey in the order of ids, whatever their number."""
    _sort_reports(db, survey, f"SELECT * FROM {reports_table(survey)}")


def is_unsorted(db: SqliteConnection, survey: Survey) -> bool:
    """Whether folded rows of a survey came since they were last written anew."""
    return db.execute("SELECT 1 FROM unsorted WHERE survey = ?", [survey.id]).fetchone() is not None


def sort_invitations(db: SqliteConnection, survey: Survey, whatever_their_number: bool = False) -> None:
    """Leave invitations in the order of their hashes, unless there are too many for somebody who waits."""
    table = invitations_table(survey)
    rows: int
    (rows,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    if whatever_their_number or rows <= WRITTEN_ANEW_AT_REST:
        write_anew(db, survey, table, f"SELECT * FROM {table}", rows)


def write_anew(db: SqliteConnection, survey: Survey, table: str, query: str, rows: int) -> None:
    """Empty a table of a survey and fill it with the rows of a query, in the order of ids, or of invitations' hashes.

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
    db.execute(f"INSERT INTO {beside}.anew {query} ORDER BY 1")
    empty(db, table)
    db.execute(f"INSERT INTO {table} SELECT * FROM {beside}.anew")
    db.execute(f"DROP TABLE {beside}.anew")


def empty(db: SqliteConnection, table: str) -> None:
    """Delete all rows: without a condition, so that every page is wiped and freed."""
    db.execute(f"DELETE FROM {table}")


def _most(new: int) -> int:
    return WRITTEN_ANEW_AT_REST if new < LOAD else WRITTEN_ANEW


def _group(survey: Survey, row: Row) -> object:
    """What rows fold together with."""
    return None if survey.results == "live" else row[1]


def _sort_reports(db: SqliteConnection, survey: Survey, query: str) -> None:
    write_anew(db, survey, reports_table(survey), query, counts.folded(db, survey))
    db.execute("DELETE FROM unsorted WHERE survey = ?", [survey.id])


def _remember_to_sort(db: SqliteConnection, survey: Survey) -> None:
    agenda.put(db, survey)
    db.execute("INSERT INTO unsorted VALUES (?) ON CONFLICT DO NOTHING", [survey.id])
