"""Folding: the move of reports into tables in the order of their ids, which tell no order of arrival.

A row of PostgreSQL lies where there was room when it came, and keeps the number of the transaction that wrote it; what
is deleted stays on its page until something else is written there. So a fold leaves what is pending in new files, and a
table comes to rest by being written anew, sorted, in one transaction: then rows lie in the order of ids, all with one
transaction number, in a file that has never held anything else. ``CLUSTER`` and ``VACUUM FULL`` would keep the numbers.

Everything here runs in transactions that have the lock of the fold, so that one collector folds a survey. Reports go on
coming: they wait only while what came meanwhile is put into the new file, after the long part is done.
"""

from __future__ import annotations

from collections.abc import Callable

from psycopg import errors

from deniable import Survey
from deniable_server.store import counts
from deniable_server.store.folding import release
from deniable_server.store.postgresql import roles
from deniable_server.store.postgresql.connection import PostgresqlConnection
from deniable_server.store.postgresql.pending import INVITATIONS, REPORTS, moved
from deniable_server.store.postgresql.tables import create_table
from deniable_server.store.tables import invitations_table, is_empty, kept_columns, pending_table, reports_table

WRITTEN_ANEW = 50_000
"""Largest table, in rows, that settling always rewrites; a larger one is not rewritten under load."""

LOAD = 2_000
"""Number of reports since the last settling that counts as load: 200 a second with a timer of 10 seconds."""

WRITTEN_ANEW_AT_REST = 1_000_000
"""Largest table, in rows, that settling rewrites without load, in some seconds; a larger one, closing does."""

PATIENCE_MS = 500
"""Timeout of a fold for readers of a table, in milliseconds; reports of the survey wait as long, so it is short."""

Hold = Callable[[], None]


def fold_due(db: PostgresqlConnection, survey: Survey, closed: bool, hold: Hold) -> tuple[bool, bool]:
    """Fold the cohorts with enough reports, or all of a closed survey.

    Parameters
    ----------
    hold : callable
        Locks the survey, so that no report of it comes in before the transaction has ended.

    Returns
    -------
    tuple of bool
        Whether something was folded, and whether there is something to fold again.
    """
    pending, reports = pending_table(survey), reports_table(survey)
    due = [cohort for cohort, n in _sizes(db, survey) if closed or n >= survey.release]
    if due:
        chosen = "true" if survey.results == "live" else "coalesce(cohort, '') = ANY(?)"
        values = [] if survey.results == "live" else [[cohort or "" for cohort in due]]
        # A copy, so that the long part of the fold runs while reports still come in.
        db.execute(f"CREATE TEMP TABLE moving ON COMMIT DROP AS SELECT * FROM {pending} WHERE {chosen}", values)
        db.execute("CREATE UNIQUE INDEX ON moving (id)")
        release(db, survey, "moving")
        db.execute(f"INSERT INTO {reports} SELECT {kept_columns(survey)} FROM moving ORDER BY id")
        moved(db, survey, REPORTS)
    hold()
    # From here on no report comes in: what is pending and was not moved goes to the new file.
    stays = f"SELECT * FROM {pending} AS kept"
    if due:
        stays += " WHERE NOT EXISTS (SELECT 1 FROM moving WHERE moving.id = kept.id)"
    db.execute(f"CREATE TEMP TABLE staying ON COMMIT DROP AS {stays}")
    if due or not is_empty(db, "staying"):
        empty(db, pending)
        db.execute(f"INSERT INTO {pending} SELECT * FROM staying ORDER BY id")
    return bool(due), any(closed or n >= survey.release for _, n in _sizes(db, survey))


def sort(db: PostgresqlConnection, survey: Survey, kind: str, is_closed: bool) -> bool:
    """Rewrite the folded rows of a survey, or its invitations, in the order of their keys; return whether it could.

    It cannot be while somebody reads the table for long, such as pg_dump. Invitations change until the transaction
    ends, so they are sorted with the survey locked.
    """
    table = _table(survey, kind)
    db.execute("SAVEPOINT sort")
    create_table(db, survey, "anew", table)
    db.execute(f"INSERT INTO anew SELECT * FROM {table} ORDER BY 1")
    try:
        _with_patience(db, f"DROP TABLE {table}")
    except errors.LockNotAvailable:
        db.execute("ROLLBACK TO sort")
        return False
    db.execute(f"ALTER TABLE anew RENAME TO {table}")
    # Index and table keep their names, which `integrity` and grants expect.
    db.execute(f"ALTER INDEX anew_pkey RENAME TO {table}_pkey")
    roles.grant(db, survey, table, is_closed)
    db.execute("DELETE FROM unsorted WHERE survey = ? AND kind = ?", [survey.id, kind])
    return True


def may_sort(db: PostgresqlConnection, survey: Survey, kind: str, new: int) -> bool:
    """Whether there is time to rewrite a table, if ``new`` reports came since the last settling."""
    if kind == REPORTS:
        rows = counts.folded(db, survey)
    else:
        (rows,) = db.execute(f"SELECT count(*) FROM {invitations_table(survey)}").fetchone() or (0,)
    return rows <= (WRITTEN_ANEW_AT_REST if new < LOAD else WRITTEN_ANEW)


def unsorted(db: PostgresqlConnection, survey: Survey) -> list[str]:
    """The kinds of tables of a survey that have new rows since they were last rewritten."""
    return [kind for (kind,) in db.execute("SELECT kind FROM unsorted WHERE survey = ? ORDER BY kind", [survey.id])]


def _sizes(db: PostgresqlConnection, survey: Survey) -> list[tuple[str | None, int]]:
    """Number of waiting reports in each group that is folded together."""
    group = "NULL::text" if survey.results == "live" else "cohort"
    return db.execute(f"SELECT {group}, count(*) FROM {pending_table(survey)} GROUP BY 1").fetchall()


def empty(db: PostgresqlConnection, table: str) -> None:
    """Empty a table into a new file; while somebody reads it for long, at least its rows are deleted."""
    db.execute("SAVEPOINT emptying")
    try:
        _with_patience(db, f"TRUNCATE {table}")
    except errors.LockNotAvailable:
        db.execute("ROLLBACK TO emptying")
        db.execute(f"DELETE FROM {table}")


def _with_patience(db: PostgresqlConnection, statement: str) -> None:
    (before,) = db.execute("SELECT current_setting('lock_timeout')").fetchone() or ("0",)
    db.execute("SELECT set_config('lock_timeout', ?, true)", [f"{PATIENCE_MS}ms"])
    db.execute(statement)
    db.execute("SELECT set_config('lock_timeout', ?, true)", [before])


def _table(survey: Survey, kind: str) -> str:
    return {REPORTS: reports_table(survey), INVITATIONS: invitations_table(survey)}[kind]
