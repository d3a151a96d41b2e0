"""The inspection of a SQLite file: rows, tallies, schema and pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.store.errors import StoreDamaged, StoreUnavailable, older_version
from deniable_server.store.integrity import Inspection, look
from deniable_server.store.sqlite.connection import WAIT_MS, SqliteConnection, transaction
from deniable_server.store.sqlite.database_files import read_only
from deniable_server.store.sqlite.errors import in_use, is_in_use
from deniable_server.store.sqlite.lock import last_server
from deniable_server.store.sqlite.migrations import apply, refuse_newer, refuse_unreadable, schema
from deniable_server.store.sqlite.tables import create_tables


def inspect(path: Path, most_rows: int | None = None, may_be_older: bool = False) -> Inspection:
    """Inspect a database without changing it, also while a collector uses it.

    Parameters
    ----------
    path : Path
        The SQLite file.
    most_rows : int, optional
        Largest number of reports and invitations to inspect, in the surveys with the fewest reports and in at most
        `SURVEYS_AT_START` of them; then SQLite's own check of every page is left out too. By default everything.
    may_be_older : bool
        Whether a database of an older version is looked at by SQLite alone, and not refused.

    Raises
    ------
    DeniableError
        If there is no database of this version to look at.
    """
    try:
        connection = sqlite3.connect(read_only(path), uri=True, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        with closing(connection), transaction(SqliteConnection(connection), path, "BEGIN") as db:
            refuse_newer(db, path)
            if schema.pending(db):
                refuse_unreadable(db, path)
                if may_be_older:
                    return _inspect_older(db)
                raise older_version(path, last_server(path))
            return _inspect(db, most_rows)
    except (sqlite3.OperationalError, StoreUnavailable) as error:
        if is_in_use(error.__cause__ or error):
            raise in_use(path) from None
        raise DeniableError(f"database {path}: cannot be read: {error.__cause__ or error}") from None
    except StoreDamaged as error:
        return Inspection(0, 0, (str(error.__cause__),))


def _inspect_older(db: SqliteConnection) -> Inspection:
    (surveys,), (reports,) = (
        db.execute(f"SELECT {what}").fetchone() for what in ("count(*) FROM surveys", "coalesce(sum(n), 0) FROM totals")
    )
    return Inspection(surveys, reports, tuple(_damaged_pages(db)), is_older=True)


def _damaged_pages(db: SqliteConnection) -> list[str]:
    return [f"SQLite: {line}" for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]


def _inspect(db: SqliteConnection, most_rows: int | None) -> Inspection:
    found: list[str] = []
    # SQLite's own check reads every page, which a start has no time for.
    if most_rows is None:
        found += _damaged_pages(db)
    found += [f"{table}: a row names no survey" for table, *_ in db.execute("PRAGMA foreign_key_check")]
    found += _beside_surveys(db)
    return look(
        db,
        most_rows,
        found,
        _invitations_of_surveys(db),
        partial(_differences_of_schema, db),
        lambda _: nullcontext(db),
    )


def _invitations_of_surveys(db: SqliteConnection) -> dict[str, int]:
    """Number of invitations by survey."""
    tables = db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'invitations_*'").fetchall()
    return {name.partition("_")[2]: db.execute(f"SELECT count(*) FROM [{name}]").fetchone()[0] for (name,) in tables}


def _beside_surveys(db: SqliteConnection) -> Iterator[str]:
    """The differences of rows that belong to no survey: tokens, and the list of migrations."""
    # Tokens belong to no survey, so no checksum covers them; triggers keep a second copy instead.
    columns = "sha256, name, scope, expires_on, surveys"
    for one, other in (("tokens", "tokens_copy"), ("tokens_copy", "tokens")):
        if db.execute(f"SELECT {columns} FROM {one} EXCEPT SELECT {columns} FROM {other}").fetchone():
            yield f"{one}: a row differs from its copy in {other}"
    if any(each.applied_at for each in schema.applied(db)):
        yield "_sqlite_migrations: a row is not as it was written"


def _differences_of_schema(db: SqliteConnection, surveys: list[Survey]) -> Iterator[str]:
    query = "SELECT name, type, tbl_name, sql FROM sqlite_master"
    # sqlite_master holds each definition as it was written, so a changed word shows.
    found = {name: rest for name, *rest in db.execute(query)}
    # The schema of a fresh database of this version, word by word.
    with closing(SqliteConnection(memory=True)) as fresh:
        apply(fresh)
        for survey in surveys:
            create_tables(fresh, survey)
        for name, *rest in fresh.execute(query):
            if found.get(name) != rest:
                yield f"{name}: is not defined as it was"
