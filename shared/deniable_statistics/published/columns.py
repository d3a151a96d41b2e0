"""Tables as text: each kind of row defines its columns once, and one function formats them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from deniable.table import format_table
from deniable_statistics.published.printed_numbers import number, percent, shown, standard_error

Form = Callable[[float | None], str]
"""Formats a number as text."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    heading : str
    cell : function of a row
        The text of the column's cell.
    is_text : bool
        Whether cells are aligned to the left, as texts are; numbers are aligned to the right.
    is_shown : function of all rows
        Whether the table has the column; one without content is left out.
    has_level : bool
        Whether the confidence level of the rows stands before the heading, as in *95 % CI*.
    """

    heading: str
    cell: Callable[[Any], str]
    is_text: bool = False
    is_shown: Callable[[Sequence[Any]], bool] = lambda _rows: True
    has_level: bool = False


def text_table(columns: Iterable[Column], rows: Sequence[Any]) -> str:
    """The table of these rows, without the columns that are not shown.

    >>> print(text_table([Column("n", str), Column("even", lambda n: "" if n % 2 else "yes", is_text=True)], [8, 11]))
     n  even
     8  yes
    11
    """
    used, lines = cells_of(columns, rows)
    # `format_table` aligns by heading: columns with the same heading are aligned alike.
    return format_table(
        [column.heading for column in used], lines, right={each.heading for each in used if not each.is_text}
    )


def cells_of(columns: Iterable[Column], rows: Sequence[Any]) -> tuple[list[Column], list[list[str]]]:
    """The columns that are shown for these rows, and the texts of their cells, row by row."""
    used = [_headed(column, rows) for column in columns if column.is_shown(rows)]
    return used, [[column.cell(row) for column in used] for row in rows]


def _headed(column: Column, rows: Sequence[Any]) -> Column:
    """The column with the confidence level of the rows in its heading, if it has one."""
    return at_level(column, rows[0].conf_level) if column.has_level and rows else column


def at_level(column: Column, confidence_level: float) -> Column:
    """A column of intervals with their level in its heading.

    >>> at_level(figures()[2], 0.9).heading
    '90 % CI'
    """
    return replace(column, heading=f"{100 * confidence_level:g} % {column.heading}", has_level=False)


def p_value(value: float | None) -> str:
    """A p-value with four digits, or ``< 0.0001``.

    >>> p_value(0.0312), p_value(1e-9)
    ('0.0312', '< 0.0001')
    """
    return shown(value, lambda p: "< 0.0001" if p < 1e-4 else f"{p:.4f}")


def equation_of_p(value: float | None) -> str:
    """A p-value within a sentence.

    >>> equation_of_p(0.0312), equation_of_p(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    said = p_value(value)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def interval(low: float | None, high: float | None, form: Any = percent) -> str:
    """An interval in words, with both ends in the same form; an infinite end is no limit.

    >>> interval(0.1, 0.25), interval(-math.inf, 1.343, number), interval(0.2, math.inf, number)
    ('10.0 % to 25.0 %', 'at most 1.343', 'at least 0.2')
    """
    if low == -math.inf:
        return "no limits" if high == math.inf else f"at most {form(high)}"
    return f"at least {form(low)}" if high == math.inf else f"{form(low)} to {form(high)}"


OPEN = "At most, at least: the data set no limit at the other side of the interval."
"""The note below a table with an interval that `is_open`."""


def is_open(row: Any) -> bool:
    """Whether an end of the interval of a row is infinite."""
    return bool(row.conf_low == -math.inf or row.conf_high == math.inf)


def form_of(row: Any) -> Form:
    """The format of a row's figures: percent for shares, a number for means."""
    # Ratios are shares of a part of the people, and so in percent.
    return number if row.statistic == "mean" else percent


def figure(name: str, form: Callable[[Any], Form] = form_of) -> Callable[[Any], str]:
    """A cell function that formats the number in a field of a row."""
    return lambda row: form(row)(getattr(row, name))


def ends(name: str, form: Callable[[Any], Form] = form_of) -> Callable[[Any], str]:
    """A cell function that formats both ends of an interval, or gives an empty text if there is none."""
    low, high = attrgetter(f"{name}_low"), attrgetter(f"{name}_high")

    def cell(row: Any) -> str:
        return "" if low(row) is None else interval(low(row), high(row), form(row))

    return cell


def has(name: str) -> Callable[[Sequence[Any]], bool]:
    """A function of all rows: whether the field is not None in at least one of them."""
    return lambda rows: any(getattr(row, name) is not None for row in rows)


def figures(form: Callable[[Any], Form] = form_of) -> tuple[Column, Column, Column]:
    """The columns of an estimate, its standard error and its interval."""
    return (
        Column("Estimate", figure("estimate", form)),
        Column("SE", lambda row: standard_error(row.std_error, form(row))),
        Column("CI", ends("conf", form), has_level=True),
    )


QUESTION = Column("Question", attrgetter("question"), is_text=True)
WHERE_IT_APPLIES = "where it applies"
"""Behind the name of an option, for its share among those to whom a question with a filter applies."""


def name_of_option(row: Any) -> str:
    """The option of a row with its statistic, where that is not a share of all."""
    if row.statistic == "among":
        return f"{row.option}, {WHERE_IT_APPLIES}"
    return str(row.option or row.statistic)


OPTION = Column("Option", name_of_option, is_text=True)
COHORT = Column("Cohort", lambda row: row.cohort or "none", is_text=True, is_shown=has("cohort"))
N = Column("n", lambda row: str(row.n))
BOUNDS = Column("Bounds", ends("bound"), is_shown=has("bound_low"))
ROBUST = Column("robust CI", ends("robust"), is_shown=has("robust_low"), has_level=True)
