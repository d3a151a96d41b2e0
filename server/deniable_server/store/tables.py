"""The tables of a survey: `pending_<id>` of waiting reports, `reports_<id>` of folded ones, and `invitations_<id>`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from deniable import Report, Survey
from deniable_server.store.connection import Connection

Row = tuple[str | int | None, ...]
"""A report as its tables hold it: id, cohort, then one value a question."""


def pending_table(survey: Survey) -> str:
    """The table of reports that wait for a fold. An address is letters and digits, so the name needs no quotes."""
    return f"pending_{survey.id}"


def reports_table(survey: Survey) -> str:
    """The table of folded reports, or of their ids."""
    return f"reports_{survey.id}"


def invitations_table(survey: Survey) -> str:
    """The table of invitations, of a survey that is not open to everybody."""
    return f"invitations_{survey.id}"


def kept_columns(survey: Survey) -> str:
    """The columns of a pending row that a fold keeps: all of them, or the id alone."""
    return "*" if survey.retention == "reports" else "id"


def kept_of(survey: Survey, rows: Iterable[Row]) -> Iterable[Row]:
    """The rows as a fold keeps them: whole, or their ids alone."""
    return rows if survey.retention == "reports" else (row[:1] for row in rows)


def columns_of(survey: Survey, table: str) -> list[tuple[str, type, bool]]:
    """The columns of a table of a survey: name, type, and whether it may be null."""
    if table == invitations_table(survey):
        return [("hash", str, False), ("state", str, False)]
    if survey.retention == "tallies" and table == reports_table(survey):
        return [("id", str, False)]
    # A field that may be None belongs to a question that devices draw.
    questions = [(each.id, each.reports.json_type, None in each.reports) for each in survey.questions]
    return [("id", str, False), ("cohort", str, True), *questions]


def tables_of(survey: Survey) -> list[str]:
    """The tables of a survey."""
    invited = [] if survey.access == "open" else [invitations_table(survey)]
    return [pending_table(survey), reports_table(survey), *invited]


def rows_from(survey: Survey, reports: Sequence[Report]) -> list[Row]:
    """Reports as their tables hold them."""
    names = [question.id for question in survey.questions]
    return [(report.id, report.cohort, *[report.values[name] for name in names]) for report in reports]


def report_of(survey: Survey, row: Row) -> Report:
    """The report that a row holds."""
    report_id, cohort, *values = row
    names = [question.id for question in survey.questions]
    return Report(str(report_id), cohort, dict(zip(names, values, strict=True)))  # type: ignore[arg-type]  # columns have types


def rows_of(db: Connection, table: str) -> Iterator[Row]:
    """Every row of a table, or of a query in brackets, in the order of ids."""
    return db.stream(f"SELECT * FROM {table} AS kept ORDER BY id")


def is_empty(db: Connection, table: str) -> bool:
    """Whether a table has no row."""
    return db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None
