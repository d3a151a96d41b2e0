"""Copy everything from one store into another of any kind: row by row in the order of keys, then compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.store import counts, token_keys
from deniable_server.store.connection import Connection
from deniable_server.store.errors import StoreDamaged
from deniable_server.store.integrity import UNFINISHED, differences_of_rows
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import columns_of, pending_table, reports_table, tables_of

ROWS = 5000
"""Number of rows that are copied in one transaction."""

_OF_SURVEY = {
    "owners": "survey, token",
    "public_urls": "survey, url",
    "releases": "survey, number, record, signature",
    "signing_keys": "key_id, private, survey, reissue",
    "agenda": "survey, day",
    "totals": "survey, cohort, n",
    "tallies": "survey, cohort, question, option, n",
}
"""Columns of the tables with a few rows of a survey. ``unsorted`` is not copied: everything arrives sorted."""


class CopySummary(NamedTuple):
    """The numbers of surveys and reports in a finished copy.

    Attributes
    ----------
    surveys, reports : int
        Number of surveys in the target, and of reports that their results show.
    """

    surveys: int
    reports: int


def copy(source: SqlStore, target: SqlStore, tell: Callable[[Survey], None] = lambda survey: None) -> CopySummary:
    """Copy surveys, reports, tallies, invitations, keys and tokens, and compare what arrived with its checksums.

    Nobody may use either store meanwhile. A copy that was interrupted is run again and continues where it ended. Until
    it is complete, the target is `SqlStore.is_unfinished`.

    Parameters
    ----------
    target : SqlStore
        Empty, or a copy of this source that is not complete.
    tell : callable
        Called with each survey that has arrived.

    Raises
    ------
    DeniableError
        If the target holds something that the source does not.
    StoreDamaged
        If what arrived is not what was stored in the source.
    """
    surveys = [state.survey for state in source.states()]
    _refuse_others(source, target, {survey.id for survey in surveys})
    for survey in surveys:
        _begin(source, target, survey)
        for table in tables_of(survey):
            _rows(source, target, survey, table)
        _compare(target, survey)
        tell(survey)
    for row in source.tokens():
        target.add_token(row)
    with source._snapshot() as db:
        free = db.execute("SELECT key_id, private, survey, reissue FROM signing_keys WHERE survey IS NULL").fetchall()
        days = db.execute("SELECT believed, doubted_since, latest FROM calendar").fetchall()
        of_releases = db.execute("SELECT name, private FROM release_keys").fetchall()
    with target._alone() as db:
        for row in free:
            db.execute("INSERT INTO signing_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        for row in of_releases:
            db.execute("INSERT INTO release_keys VALUES (?, ?) ON CONFLICT DO NOTHING", row)
        db.execute("DELETE FROM calendar")
        for row in days:
            db.execute("INSERT INTO calendar VALUES (?, ?, ?)", row)
        damaged = list(token_keys.differences(db))
    _refuse_changed(source, target)
    if damaged or source.tokens() != target.tokens():
        raise StoreDamaged(f"copy {target.name}: its tokens or keys are not those of {source.name}")
    with target._alone() as db:
        # Last: until here every collector refuses the target.
        db.execute(f"DROP TABLE IF EXISTS {UNFINISHED}")
    with target._snapshot() as db:
        return CopySummary(len(surveys), sum(counts.shown_and_waiting(db, survey)[0] for survey in surveys))


def _refuse_others(source: SqlStore, target: SqlStore, surveys: set[str]) -> None:
    others = {state.survey.id for state in target.states()} - surveys
    names = {row.name for row in set(target.tokens()) - set(source.tokens())}
    if others or names:
        what = f"survey {min(others)}" if others else f"the token {min(names)!r}"
        raise DeniableError(
            f"copy {target.name}: must be empty or an unfinished copy of {source.name}, got one with {what}, "
            "which that does not have"
        )


def _refuse_changed(source: SqlStore, target: SqlStore) -> None:
    """Refuse if the source changed: if somebody used it meanwhile, a part of it may be missing in the copy."""
    now, copied = _checksums(source), _checksums(target)
    if changed := sorted(survey for survey in now.keys() | copied.keys() if now.get(survey) != copied.get(survey)):
        raise DeniableError(
            f"survey {changed[0]}: changed in {source.name} since its copy was begun; stop all collectors and begin "
            "anew, with an empty database"
        )


def _checksums(store: SqlStore) -> dict[str, int | None]:
    surveys = [state.survey.id for state in store.states()]
    with store._snapshot() as db:
        return {survey: db.checksum(survey) for survey in surveys}


def _begin(source: SqlStore, target: SqlStore, survey: Survey) -> None:
    """Copy everything of a survey but its many rows, in one transaction; nothing if an earlier run has done it."""
    with source._snapshot() as db:
        # The checksum is copied too, so that the copy is compared with what the source once wrote.
        total = db.checksum(survey.id)
        days = db.execute("SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        beside = {table: _of_survey(db, table, columns, survey) for table, columns in _OF_SURVEY.items()}
    if total is None:
        raise StoreDamaged(f"survey {survey.id}: has no checksum in {source.name}; 'deniable check' tells all")
    with target._alone() as db:
        if db.execute("SELECT 1 FROM surveys WHERE id = ?", [survey.id]).fetchone():
            if db.checksum(survey.id) != total:
                raise DeniableError(
                    f"survey {survey.id}: changed in {source.name} since its copy was begun; begin anew, with an "
                    "empty database"
                )
            return
        db.execute(f"CREATE TABLE IF NOT EXISTS {UNFINISHED} (mark INTEGER)")
        db.execute("INSERT INTO surveys VALUES (?, ?, ?, ?)", [survey.id, survey.document, *days])
        target._create_tables(db, survey)
        for key_id, *_ in beside["signing_keys"]:  # which may have come before, when it was bound to no survey
            db.execute("DELETE FROM signing_keys WHERE key_id = ? AND survey IS NULL", [key_id])
        for table, rows in beside.items():
            for row in rows:
                values = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table} VALUES ({values})", row)
        db.start_checksum(survey.id, total)


def _of_survey(db: Connection, table: str, columns: str, survey: Survey) -> list[tuple[object, ...]]:
    return [tuple(row) for row in db.execute(f"SELECT {columns} FROM {table} WHERE survey = ?", [survey.id]).fetchall()]


def _rows(source: SqlStore, target: SqlStore, survey: Survey, table: str) -> None:
    """Copy the rows that the target lacks: rows are copied in the order of keys, so these are beyond its last key."""
    (key, *_), *_ = columns_of(survey, table)
    with target._snapshot(survey) as db:
        (last,) = db.execute(f"SELECT max({key}) FROM {table}").fetchone()
    for rows in _pages(source, survey, table, key, last or ""):
        with target._transaction() as db:
            db.insert(table, rows)


def _pages(source: SqlStore, survey: Survey, table: str, key: str, last: str) -> Iterator[list[tuple[object, ...]]]:
    query = f"SELECT * FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT ?"
    while True:
        with source._snapshot(survey) as db:
            rows = [tuple(row) for row in db.execute(query, [last, ROWS]).fetchall()]
        if rows:
            yield rows
            last = str(rows[-1][0])
        # A short page is the last one.
        if len(rows) < ROWS:
            return


def _compare(target: SqlStore, survey: Survey) -> None:
    """Compare the rows that arrived with the checksum that came with them, and tallies with a recount."""
    with target._snapshot(survey) as db:
        found = next(differences_of_rows(db, survey), None)
    if found:
        where = f"{pending_table(survey)}, {reports_table(survey)}"
        raise StoreDamaged(
            f"survey {survey.id}: what arrived in {target.name} ({where}) is not what was stored: {found}; "
            "'deniable check' tells whether the source is whole"
        )
