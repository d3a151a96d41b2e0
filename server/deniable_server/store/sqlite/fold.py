"""Folding: the move of reports into tables in the order of their ids, which tell no order of arrival.

A fold is a release: results know folded reports only, so they stand still until the next one. The reports of a cohort
wait until the survey's `release` of them have come, then all that wait fold together and hide each other's place in
time; a transaction that brings as many new ones is a fold by itself, and its rows never wait. Where results are live,
there is nothing to release and cohorts fold together.

The page of a b-tree tells more than its rows. A new row goes below the older ones of its page, for any key; and a
page that is rebuilt to make room keeps copies of the rows that moved, which `secure_delete` does not know of. A table
that is emptied and written anew, sorted, does neither: its pages are the same for every order of arrival. So that
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
"""Largest table, in rows, that settling always rewrites, in some 20 ms; a larger one is not rewritten under load."""

LOAD = 2_000
"""Number of reports since the last settling that counts as load: 200 a second with a timer of 10 seconds."""

WRITTEN_ANEW_AT_REST = 200_000
"""Largest table, in rows, that settling rewrites without load, in less than a second; a larger one, closing does."""


def enough(survey: Survey, rows: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]]:
    """Split rows into those of cohorts with enough of them for a fold, and the others."""
    if len(rows) < survey.release:  # as nearly always, where reports come one by one
        return (), rows
    sizes = Counter(_group(survey, row) for row in rows)
    if len(sizes) == 1:
        return (rows, ()) if len(rows) >= survey.release else ((), rows)
    # A cohort that has not enough goes on waiting: its reports could be told apart from those of others.
    due = {group for group, n in sizes.items() if n >= survey.release}
    return [row for row in rows if _group(survey, row) in due], [row for row in rows if _group(survey, row) not in due]


def take(db: SqliteConnection, survey: Survey, rows: Sequence[Row]) -> bool:
    """Store new rows, enough for a fold, as folded ones; return whether all were new. If not, nothing is stored.

    It runs within the caller's transaction. Ids are not looked up first: SQLite finds known ones when it inserts.
    """
    kept = list(kept_of(survey, sorted(rows, key=itemgetter(0))))
    # If one id is known after all, nothing of the batch stays and the caller sorts reports one by one.
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
    """Fold the cohorts with enough reports, or all of a closed survey; return whether there were any.

    It runs within the caller's transaction. Rows that go on waiting have to be sorted after it.
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
    # A table and not a list of values: a survey may have a thousand cohorts.
    db.insert("temp.due", [(cohort or "",) for cohort in due])
    is_due = "coalesce(cohort, '') IN (SELECT cohort FROM temp.due)"
    _fold(db, survey, new, f"(SELECT * FROM {pending} WHERE {is_due})")
    db.execute(f"DELETE FROM {pending} WHERE {is_due}")
    db.execute("DROP TABLE temp.due")
    return True


def _fold(db: SqliteConnection, survey: Survey, new: int, rows: str) -> None:
    """Copy rows to the folded ones, and add them to the tallies."""
    reports = reports_table(survey)
    release(db, survey, rows)
    kept = f"SELECT {kept_columns(survey)} FROM {rows}"
    # Sorted together with what rests there already, so that no page shows which rows came with this fold.
    if may_sort(db, survey, new):
        _sort_reports(db, survey, f"{kept} UNION ALL SELECT * FROM {reports}")
    else:
        db.execute(f"INSERT INTO {reports} {kept} ORDER BY id")
        _remember_to_sort(db, survey)


def may_sort(db: SqliteConnection, survey: Survey, new: int) -> bool:
    """Whether there is time to rewrite all folded rows, if ``new`` reports came since the last settling."""
    return counts.folded(db, survey) <= _most(new)


def sort_pending(db: SqliteConnection, survey: Survey, new: int) -> bool:
    """Rewrite the pending rows in the order of ids; return whether there was time for it."""
    table = pending_table(survey)
    waiting: int
    (waiting,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    if waiting > _most(new):
        return waiting > WRITTEN_ANEW_AT_REST  # then there never will be
    if waiting:
        write_anew(db, survey, table, f"SELECT * FROM {table}", waiting)
    return True


def sort_reports(db: SqliteConnection, survey: Survey) -> None:
    """Rewrite the folded rows of a survey in the order of ids, however many there are."""
    _sort_reports(db, survey, f"SELECT * FROM {reports_table(survey)}")


def is_unsorted(db: SqliteConnection, survey: Survey) -> bool:
    """Whether folded rows of a survey came since they were last written anew."""
    return db.execute("SELECT 1 FROM unsorted WHERE survey = ?", [survey.id]).fetchone() is not None


def sort_invitations(db: SqliteConnection, survey: Survey, whatever_their_number: bool = False) -> None:
    """Rewrite invitations in the order of their hashes, unless there are too many for a caller who waits."""
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
        About how many there are; many of them are copied to the disk meanwhile, few to memory.
    """
    # In memory if it is small; a large copy in the database itself, whose pages are wiped and freed.
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
    """The group with which a row is folded: its cohort, or all rows if results are live."""
    return None if survey.results == "live" else row[1]


def _sort_reports(db: SqliteConnection, survey: Survey, query: str) -> None:
    write_anew(db, survey, reports_table(survey), query, counts.folded(db, survey))
    db.execute("DELETE FROM unsorted WHERE survey = ?", [survey.id])


def _remember_to_sort(db: SqliteConnection, survey: Survey) -> None:
    agenda.put(db, survey)
    db.execute("INSERT INTO unsorted VALUES (?) ON CONFLICT DO NOTHING", [survey.id])
