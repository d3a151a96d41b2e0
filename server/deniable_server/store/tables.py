"""The tables of a survey: `pending_<id>`, where reports wait, `reports_<id>`, where they rest; `invitations_<id>`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from sqlite_utils import Database

from deniable import Report, Survey

Row = tuple[str | int | None, ...]
"""A report as its tables hold it: id, cohort, then one value a question."""


ROWS_AT_ONCE = 64
"""In one statement. With 100 questions that is 6,528 values of the 32,766 that SQLite takes."""


def pending_table(survey: Survey) -> str:
    """Where reports wait for the fold. An address is letters and digits, so the name needs no quotes."""
    return f"pending_{survey.id}"


def reports_table(survey: Survey) -> str:
    """Where what is kept of folded reports rests."""
    return f"reports_{survey.id}"


def invitations_table(survey: Survey) -> str:
    """Who was invited; only of a survey that is not open to everybody."""
    return f"invitations_{survey.id}"


def kept_columns(survey: Survey) -> str:
    """What the fold keeps of a pending row: all of it, or the id alone."""
    return "*" if survey.retention == "reports" else "id"


def kept_of(survey: Survey, rows: Iterable[Row]) -> Iterable[Row]:
    """What the fold keeps of rows."""
    return rows if survey.retention == "reports" else (row[:1] for row in rows)


def create_tables(db: Database, survey: Survey) -> None:
    """Make the tables of a survey."""
    invited = [] if survey.access == "open" else [invitations_table(survey)]
    for table in (pending_table(survey), reports_table(survey), *invited):
        create_table(db, table, survey)


def create_table(db: Database, table: str, survey: Survey, like: str | None = None) -> None:
    """Make a table of a survey, or another one like it."""
    if (like or table) == invitations_table(survey):
        db.execute(f"CREATE TABLE {table} (hash TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID")
        return
    only_ids = survey.retention == "tallies" and (like or table) == reports_table(survey)
    types = {int: "INTEGER", str: "TEXT"}
    columns = ", cohort TEXT" + "".join(
        f", [{question.id}] {types[question.reports.json_type]}{'' if None in question.reports else ' NOT NULL'}"
        for question in survey.questions
    )
    db.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY{'' if only_ids else columns}) STRICT, WITHOUT ROWID")


def rows_from(survey: Survey, reports: Sequence[Report]) -> list[Row]:
    """Reports as their tables hold them."""
    names = [question.id for question in survey.questions]
    return [(report.id, report.cohort, *[report.values[name] for name in names]) for report in reports]


def report_of(survey: Survey, row: Row) -> Report:
    """The report that a row holds."""
    report_id, cohort, *values = row
    names = [question.id for question in survey.questions]
    return Report(str(report_id), cohort, dict(zip(names, values, strict=True)))  # type: ignore[arg-type]  # STRICT


def insert(db: Database, table: str, rows: Sequence[Row]) -> int:
    """Insert the rows whose ids a table does not have; how many these are."""
    row = f"({', '.join('?' * len(rows[0]))})"
    stored = 0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        # sqlite3 gives up the interpreter's lock for every row of executemany, and under load waits to get it back
        stored += db.conn.execute(
            f"INSERT INTO {table} VALUES {', '.join([row] * len(some))} ON CONFLICT DO NOTHING",
            list(itertools.chain.from_iterable(some)),
        ).rowcount
    return stored


def rows_of(db: Database, table: str) -> Iterator[Row]:
    """Every row of a table, or of a query in brackets, in the order of ids."""
    yield from db.conn.execute(f"SELECT * FROM {table} ORDER BY id")


def is_empty(db: Database, table: str) -> bool:
    """Whether a table has no row."""
    return db.conn.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None
