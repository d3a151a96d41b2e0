"""One table of the reports of several versions of a survey, with the questions that are the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from deniable.errors import ReportError
from deniable.wire.space import ReportValue
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import Layout
from deniable_research.files.report_table import Table
from deniable_statistics.published.access_columns import enforced, one_report_column
from deniable_statistics.published.revision import Pool

VERSION = "version"
"""The column that says to which version a report is: its id."""


def pooled_table(pool: Pool, tables: Sequence[Table], layout: Layout | None = None) -> Table:
    """Put the reports of all versions into one table.

    Parameters
    ----------
    pool : Pool
    tables : sequence of Table
        The reports of each version, as its own survey describes them.
    layout : Layout, optional
        That of ``pool.survey``, with more in it, such as weights.

    Returns
    -------
    Table
        With the ids of the newest version, the plain columns that all tables have, and the column `VERSION`.

    Raises
    ------
    ReportError
        If a report is in two of the tables: one of them is not of the version that it is said to be.
    """
    _refuse_repeated(pool, tables)
    layout = Layout.of_survey(pool.survey) if layout is None else layout
    ids = [pool.ids_in(place) for place in range(len(tables))]
    reports: dict[str, CodedColumn[ReportValue]] = {
        question.name: CodedColumn.of(
            list(chain(*(table.reports[names[question.name]] for names, table in zip(ids, tables, strict=True))))
        )
        for question in layout.questions
    }
    return Table(layout, _plain_columns(pool, tables, layout), reports)


def _plain_columns(pool: Pool, tables: Sequence[Table], layout: Layout) -> dict[str, CodedColumn[str]]:
    asked = {column.column for table in tables for column in table.layout.questions}
    common = [
        name for name in tables[-1].columns if name not in asked and all(name in table.columns for table in tables)
    ]
    columns = {name: CodedColumn.of(list(chain(*(table.columns[name] for table in tables)))) for name in common}
    said = chain(*([each.id] * len(table) for each, table in zip(pool.versions, tables, strict=True)))
    columns[VERSION] = CodedColumn.of(list(said))
    if all(table.access for table in tables):
        # As weak as in the weakest version.
        names = [one_report_column(layout.names), *(one_report_column(table.layout.names) for table in tables)]
        columns = {name: column for name, column in columns.items() if name not in names[1:]}
        n = sum(map(len, tables))
        columns[names[0]] = CodedColumn.of([enforced(pool.survey.access)] * n)
    return columns


def _refuse_repeated(pool: Pool, tables: Sequence[Table]) -> None:
    seen: dict[str, str] = {}
    for survey, table in zip(pool.versions, tables, strict=True):
        for each in table.columns.get("id", ()):
            if each is not None and seen.setdefault(each, survey.id) != survey.id:
                raise ReportError(
                    f"id: must be in the reports of one version alone, got one in those of {seen[each]} and {survey.id}"
                )
