"""A view of two questions: the shares of one among people with each answer to the other, and which of these differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.question import Question
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval
from deniable_statistics.joint.conditional import Conditional
from deniable_statistics.joint.conditional_difference import ConditionalDifference, certain_differences
from deniable_statistics.joint.crosstab import MOST_LIKELY_CELLS, Crosstab, crosstab
from deniable_statistics.joint.reports import has_joint_channel
from deniable_statistics.published.charts import SHARES
from deniable_statistics.published.method_names import simultaneous
from deniable_statistics.published.published_rows import number_or_none, share_rows
from deniable_statistics.sampling.items import Item
from deniable_statistics.views.shown import is_wide
from deniable_statistics.views.view_row import (
    POSSIBLE_DIFFERENCES,
    JointCounts,
    ViewOptions,
    ViewRow,
    refusal_to_cross,
    share_view,
    shown_values,
    support_of,
)

NOTHING_ELSE = ViewRow(
    question="",
    statistic="",
    option="",
    cohort=None,
    minus=None,
    wave=None,
    given=None,
    given_option=None,
    n=None,
    count=None,
    a=None,
    b=None,
    value=None,
    low=None,
    high=None,
    weak=False,
    estimate=None,
    std_error=None,
    conf_low=0.0,
    conf_high=1.0,
    conf_level=0.95,
    method="",
)
"""A row without content, from which the rows of a view are made."""


def crossed_rows(first: Question, second: Question, joint: JointCounts, options: ViewOptions) -> list[ViewRow]:
    """The rows of a view of two questions.

    Parameters
    ----------
    first, second : Question
        The shares of the answers to the first one are among people with each answer to the second one.
    joint : sequence of (value, value, number)
    options : ViewOptions

    Returns
    -------
    list of ViewRow
        First the row shares, then the differences of row shares that are certain, then the shares of both questions
        among the people who were asked both: those of the second one are the sizes of the groups.

    Raises
    ------
    ParameterError
        If the questions cannot be crossed.
    """
    if refusal := refusal_to_cross(first, second):
        raise ParameterError(f"with: {refusal}")
    table = table_of(first, second, joint)
    within = table.conditional(second.id)
    rows = list(_row_shares(first, second, table, within, options))
    possible = np.array([math.nan if row.value is None else row.value for row in rows])
    rows += difference_rows(first, second, within, possible.reshape(within.share.shape[::-1]).T, options)
    for place, question in enumerate((first, second)):
        rows += _margin(question, table, place, options)
    return rows


def difference_rows(
    first: Question, second: Question, within: Conditional, possible: NDArray[np.float64], options: ViewOptions
) -> list[ViewRow]:
    """The rows of the differences between groups that are certain; ``possible`` is as `certain_differences` has it."""
    found = certain_differences(within, possible, compared_options(first), options.confidence_level)
    return [_difference(first, second, each, options) for each in found]


def compared_options(first: Question) -> range:
    """The options whose shares are compared between groups: of yes and no only yes, which the other one mirrors."""
    return range(first.kind.headline or 0, len(first.options))


def pairs_compared(first: Question, second: Question) -> int:
    """How many pairs of shares are compared with each other: each option between every two groups."""
    return len(compared_options(first)) * math.comb(len(second.options), 2)


def has_likelihood(first: Question, second: Question) -> bool:
    """Whether the intervals of shares within groups are by the likelihood of all replies; otherwise Fieller's."""
    return has_joint_channel([first.mechanism, second.mechanism])


def table_of(first: Question, second: Question, joint: JointCounts) -> Crosstab:
    """The crosstab of the people who were asked both questions."""
    # Who was not asked both has a null in one field, and tells nothing about both.
    pairs = [each for each in joint if each[0] is not None and each[1] is not None]
    return crosstab(*(_item(question, pairs, place) for place, question in enumerate((first, second))))


def _row_shares(
    first: Question,
    second: Question,
    table: Crosstab,
    within: Conditional,
    options: ViewOptions,
) -> Iterator[ViewRow]:
    low, high = within.confidence_interval(options.confidence_level)
    possible = possible_within(table)
    both = _support_both(first, second, table)
    for y, given_option in enumerate(second.options):
        for x, option in enumerate(first.options):
            interval = Interval(float(low[x, y]), float(high[x, y]))
            point = number_or_none(float(possible[x, y] if possible is not None else within.share[x, y]))
            shown = shown_values(point, interval, SHARES)
            yield replace(
                NOTHING_ELSE,
                question=first.id,
                statistic="row share",
                option=option,
                given=second.id,
                given_option=given_option,
                n=int(table.n),
                count=None if both is None else round(both[x, y]),
                value=shown["value"],
                low=shown["low"],
                high=shown["high"],
                weak=point is None or is_wide(*interval, SHARES),
                estimate=number_or_none(float(within.share[x, y])),
                std_error=number_or_none(float(within.std_error[x, y])),
                conf_low=interval.low,
                conf_high=interval.high,
                conf_level=options.confidence_level,
                method="conditional",
            )


def _difference(first: Question, second: Question, found: ConditionalDifference, options: ViewOptions) -> ViewRow:
    shown = shown_values(found.difference, found.interval, POSSIBLE_DIFFERENCES)
    return replace(
        NOTHING_ELSE,
        question=first.id,
        statistic="row difference",
        option=first.options[found.option],
        minus=second.options[found.groups[1]],
        given=second.id,
        given_option=second.options[found.groups[0]],
        value=shown["value"],
        low=shown["low"],
        high=shown["high"],
        estimate=found.difference,
        std_error=found.std_error,
        conf_low=found.interval.low,
        conf_high=found.interval.high,
        conf_level=options.confidence_level,
        method=simultaneous("conditional") if pairs_compared(first, second) > 1 else "conditional",
    )


def _margin(question: Question, table: Crosstab, place: int, options: ViewOptions) -> list[ViewRow]:
    """The shares of one question, as its own view has them, among the people who were asked both."""
    reports = table.reports
    counts = [round(each) for each in (reports.frequencies @ reports.items[place].supports).tolist()]
    n = round(reports.n)
    found = Estimate.from_counts(question.mechanism, counts, n)
    rows = share_rows(found, question.id, question.options, question.epsilon, wanted=options.wanted)
    return [share_view(question, row) for row in rows]


def _support_both(first: Question, second: Question, table: Crosstab) -> NDArray[np.float64] | None:
    """How many reports support each pair of answers, shape (first, second); None where no one count tells an answer."""
    for question in (first, second):
        if question.mechanism.reports.is_drawn or support_of(question, 0) is None:
            return None
    one, other = (each.supports.astype(float) for each in table.reports.items)
    return np.asarray(one.T @ (table.reports.frequencies[:, None] * other))


def _item(question: Question, pairs: JointCounts, place: int) -> Item:
    """A question with one row for each pair of values, which stands for as many people as sent it."""
    item = Item.from_reports(
        question.id,
        question.mechanism,
        [pair[place] for pair in pairs],  # type: ignore[misc]  # no value of them is None
        question.options,
        drawn=question.group,
    )
    return replace(item, frequencies=np.array([pair[2] for pair in pairs], dtype=np.int64))


def possible_within(table: Crosstab) -> NDArray[np.float64] | None:
    """The most likely possible shares within each column; None where these cannot be computed."""
    if not all(item.design.is_exclusive for item in table.reports.items) or table.share.size > MOST_LIKELY_CELLS:
        return None
    cells = table.feasible
    # Shares within a column are its cells over their sum; an empty column has none.
    whole = cells.sum(axis=0)
    return np.asarray(np.divide(cells, whole, out=np.full(cells.shape, math.nan), where=whole > 0))
