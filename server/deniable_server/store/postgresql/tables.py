"""The making of a survey's tables in PostgreSQL."""

from __future__ import annotations

from deniable import Survey
from deniable.errors import SurveyError
from deniable_server.store.postgresql import roles
from deniable_server.store.postgresql.connection import PostgresqlConnection
from deniable_server.store.tables import columns_of, tables_of

TYPES = {int: "bigint", str: "text"}
"""SQL types of columns, by their types in Python."""

OF_POSTGRESQL = frozenset({"cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"})
"""Names of system columns, which every table has and no question may have."""


def create_tables(db: PostgresqlConnection, survey: Survey) -> None:
    """Make the tables of a survey.

    Raises
    ------
    SurveyError
        If a question has the id of a column that PostgreSQL has for itself.
    """
    for question in survey.questions:
        if question.id in OF_POSTGRESQL:
            raise SurveyError(
                f"question {question.id!r}: must have another id in PostgreSQL, which has a column of that name"
            )
    for table in tables_of(survey):
        create_table(db, survey, table, table)
        roles.grant(db, survey, table)


def create_table(db: PostgresqlConnection, survey: Survey, table: str, like: str) -> None:
    """Make a table of a survey, or another one like it."""
    (key, *_), *others = columns_of(survey, like)
    columns = "".join(
        f', "{name}" {TYPES[kind]}{"" if may_be_null else " NOT NULL"}' for name, kind, may_be_null in others
    )
    # Bytewise order: that of a locale may change with the C library, and leaves an index that is sorted by the old one.
    db.execute(f'CREATE TABLE {table} ({key} text COLLATE "C" PRIMARY KEY{columns})')


def types_of(survey: Survey, table: str) -> list[str]:
    """The types of the columns of a table of a survey."""
    return [TYPES[kind] for _, kind, _ in columns_of(survey, table)]
