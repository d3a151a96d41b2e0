"""What a table of estimates says where its reports are so few that its figures mislead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from deniable.survey.document import Survey
from deniable_statistics.published.charts import SHARES, Axis
from deniable_statistics.published.columns import Column
from deniable_statistics.published.printed_numbers import is_unknown
from deniable_statistics.views.shown import axis_of, is_weak, widest

TOO_FEW = "too few reports to say"
"""In place of an estimate whose interval is too wide; the pages of results say the same."""

AxisOf = Callable[[Any], Axis | None]
"""The axis of a row; None for a mean whose possible numbers are not known."""


def axis_of_shares(row: Any) -> Axis | None:
    """The axis of a row of which no survey is known: that of shares, and none for a mean."""
    return None if row.statistic == "mean" else SHARES


def axes_in(survey: Survey) -> AxisOf:
    """The axis of each row of a survey, also of its means."""
    return lambda row: axis_of(survey.question(row.question), row.statistic)


def says_nothing(row: Any, axis: AxisOf = axis_of_shares) -> bool:
    """Whether reports came, and are too few for an estimate by the rule of `deniable_statistics.views.shown`."""
    found = axis(row)
    return bool(row.n > 0 and found is not None and is_weak(row, found))


def without_weak(column: Column, rows: Sequence[Any], axis: AxisOf) -> Column:
    """A column of estimates with words in place of those that say nothing.

    Of a question that has such a row, an impossible estimate says nothing either, however short its interval is.
    """
    weak = {(row.question, row.cohort) for row in rows if says_nothing(row, axis)}

    def cell(row: Any) -> str:
        is_weak_question = (row.question, row.cohort) in weak
        return (
            TOO_FEW if says_nothing(row, axis) or (is_weak_question and _is_impossible(row, axis)) else column.cell(row)
        )

    return replace(column, cell=cell)


def _is_impossible(row: Any, axis: AxisOf) -> bool:
    found = axis(row)
    return row.estimate is not None and found is not None and not found.low <= row.estimate <= found.high


def few_reports(rows: Sequence[Any], axis: AxisOf = axis_of_shares) -> Iterator[str]:
    """Sentences on shares that reports are too few for, and on standard errors that are not known.

    Parameters
    ----------
    rows : sequence of EstimateRow
        Or any rows with `question`, `statistic`, `n`, `estimate`, `std_error`, `conf_low` and `conf_high`.
    axis : function of a row

    Examples
    --------
    >>> import textwrap
    >>> from types import SimpleNamespace
    >>> row = {"question": "q", "statistic": "share", "n": 3, "estimate": 1.8, "std_error": 0.0, "conf_low": 0.0}
    >>> for sentence in few_reports([SimpleNamespace(**row, conf_high=0.97)]):
    ...     print(textwrap.fill(sentence, 116))
    Too few reports to say: q (3 reports). The interval is wider than 30 % of the possible range. Quote the interval,
    not the estimate.
    A dash: no standard error can be computed, because all reports agree. You can still use the interval.
    """
    weak = {row.question: row.n for row in rows if says_nothing(row, axis)}
    if weak:
        named = ", ".join(f"{question} ({n} report{'' if n == 1 else 's'})" for question, n in weak.items())
        yield (
            f"Too few reports to say: {named}. The interval is wider than {100 * widest(SHARES):.0f} % of the "
            "possible range. Quote the interval, not the estimate."
        )
    if any(is_unknown(row.std_error) for row in rows):
        yield "A dash: no standard error can be computed, because all reports agree. You can still use the interval."
