"""Rows as CSV that spreadsheets and statistical programs read as it was meant."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from deniable_statistics.published.access_columns import enforced

if TYPE_CHECKING:
    from deniable.report.report import Report
    from deniable.survey.document import Survey

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Start of a cell that spreadsheets would evaluate, full-width signs included, or that was escaped before."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII)


def report_cell(value: int | str | None) -> int | str | None:
    """A report value as a field of CSV: a text of 0 and 1 begins with a b; empty where the question was not asked.

    pandas, R and spreadsheets read a column of 0101 as numbers, quoted or not, and lose the zeros in front. On the wire
    and in the database the text is as the mechanism makes it.

    >>> report_cell("0101"), report_cell(3)
    ('b0101', 3)
    """
    # Only reports of tick boxes and subsets are texts, so that the type decides.
    return f"b{value}" if isinstance(value, str) else value


def report_cells(survey: Survey, report: Report) -> Iterator[Any]:
    """The cells of a report after id and cohort: its values, and how one report a person is enforced."""
    yield from map(report_cell, report.values.values())
    yield enforced(survey.access)


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Rows as lines of CSV (RFC 4180), with `safe_cell`; None is an empty field."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\r\n").writerow(map(safe_cell, row))
        yield line.getvalue()


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet evaluates: texts that start like a formula get an apostrophe in front.

    Options and cohorts are texts of a survey's author, whom readers of results need not trust (CSV injection). Numbers
    stay as they are, also those that are written as texts. `plain_cell` undoes it.

    >>> [safe_cell(each) for each in ("=1+1", "-5", "'=x", "don't", -5)]
    ["'=1+1", '-5', "''=x", "don't", -5]
    """
    # A number written as text stays one: -5 starts like a formula and is none.
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def plain_cell(text: str) -> str:
    """The text that `safe_cell` was given.

    >>> [plain_cell(each) for each in ("'=1+1", "-5", "''=x", "'quoted'")]
    ['=1+1', '-5', "'=x", "'quoted'"]
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
