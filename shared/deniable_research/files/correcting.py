"""Shares that an anchor question corrects, as rows beside the plain ones."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deniable_research.attention import AnchoredShare, anchored
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_statistics.intervals import Interval, resolve_method
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow, number_or_none

CORRECTED = "corrected share"
"""Statistic of the rows with a corrected share."""

ATTENTIVE = "attentive"
"""Option of the row with the share of people who attend to the question."""


def corrected_share(table: Table, name: str, people: NDArray[np.bool_] | None = None) -> AnchoredShare:
    """The share of yes to a question with an anchor, corrected for people who answer at random.

    It is estimated from the people who gave a report to both questions, with the weights of the table.

    Raises
    ------
    ParameterError
        If the question has no anchor that can correct it.
    """
    question = table.layout.question(name)
    anchor = table.layout.anchor_of(question)
    other = table.layout.question(str(question.anchor))
    asked = table.answered(name, other.name)
    if people is not None:
        asked &= people
    both = table.where(asked)
    # Column 1 of the supports: whether a report supports yes.
    yes, known = (both.item(each.name).supports[:, 1] for each in (question, other))
    whom = table.everybody.where(asked)
    return anchored(question.design, yes, anchor, known, whom.weights, whom.frequencies)


def corrected_rows(
    table: Table,
    question: RandomizedColumn,
    cohort: str | None,
    people: NDArray[np.bool_],
    wanted: EstimateOptions,
    *,
    jointly: bool,
) -> Iterator[EstimateRow]:
    """The rows of both options of a question, and of the share of people who attend.

    The share of people who attend is estimated from the anchor alone, or by the likelihood of both questions if
    `jointly`; its interval comes from the anchor alone in both cases. The joint likelihood gives no standard errors.
    """
    found = corrected_share(table, question.name, people)
    level = wanted.confidence_level
    if jointly:
        share, attentive, method = found.joint.share, found.joint.attentive, "profile likelihood"
        yes, error = found.joint.confidence_interval(level), math.nan
    else:
        share, attentive, method = found.share, found.attentive, "fieller"
        yes, error = found.confidence_interval(level), found.std_error
    rate = found.attentive_interval(level, wanted.method)
    # The share of no is 1 minus that of yes: the error is the same, and the ends of the interval change places.
    figures = (
        (question.options[0], CORRECTED, 1 - share, error, Interval(1 - yes.high, 1 - yes.low), method),
        (question.options[1], CORRECTED, share, error, yes, method),
        (ATTENTIVE, "share", attentive, math.nan, rate, resolve_method(wanted.method, found.n_effective)),
    )
    for option, statistic, estimate, std_error, interval, name in figures:
        yield EstimateRow(
            question=question.name,
            option=option,
            cohort=cohort,
            n=found.n,
            count=None,
            estimate=number_or_none(estimate),
            std_error=number_or_none(std_error),
            conf_low=interval.low,
            conf_high=interval.high,
            conf_level=level,
            method=name,
            epsilon=question.epsilon,
            # The estimate is unbiased and may leave [0, 1]; this is the possible share nearest to it.
            feasible=None if math.isnan(estimate) else min(max(estimate, 0.0), 1.0),
            statistic=statistic,
            target="population",
            p_below=None,
            p_above=None,
            flag=None,
            fake_margin=number_or_none(found.fake_margin) if statistic == CORRECTED else None,
        )
