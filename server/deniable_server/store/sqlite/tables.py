"""The making of a survey's tables in SQLite."""

from __future__ import annotations

from deniable import Survey
from deniable_server.store.connection import Connection
from deniable_server.store.tables import columns_of, tables_of

_TYPES = {int: "INTEGER", str: "TEXT"}


def create_tables(db: Connection, survey: Survey) -> None:
    """Make the tables of a survey."""
    for table in tables_of(survey):
        create_table(db, table, survey)


def create_table(db: Connection, table: str, survey: Survey, like: str | None = None) -> None:
    """Make a table of a survey, or another one like it."""
    (key, *_), *others = columns_of(survey, like or table)
    plain = ("state",) if key == "hash" else ("cohort",)  # as ever: `integrity` compares every word of a definition
    columns = "".join(
        f", {name if name in plain else f'[{name}]'} {_TYPES[kind]}{'' if may_be_null else ' NOT NULL'}"
        for name, kind, may_be_null in others
    )
    # WITHOUT ROWID: rows lie in the order of their keys, and no hidden number counts arrivals.
    db.execute(f"CREATE TABLE {table} ({key} TEXT PRIMARY KEY{columns}) STRICT, WITHOUT ROWID")
