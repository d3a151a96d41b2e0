"""Questions that were asked by several designs: the shares from all arms together, and whether the arms agree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from deniable.errors import ParameterError
from deniable_research.files.domains import domain_of, sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.model_rows import model_rows
from deniable_research.files.model_specification import answers_to
from deniable_research.files.report_table import Table
from deniable_research.files.result_rows import ComparisonRow, SampledEstimateRow, tested
from deniable_research.regression import ClassShares, TidyRow, class_shares
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.comparison.side_by_side import CohortTest
from deniable_statistics.intervals import Interval, level_of_each, two_sided
from deniable_statistics.published.columns import equation_of_p
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow, number_or_none

SIGNIFICANCE_LEVEL = 0.05
"""Significance level of the test that arms agree; with a p-value below it a row says that they differ."""


@dataclass(frozen=True)
class Agreement:
    """The likelihood-ratio test of one set of shares for all arms of a question against one set for each arm.

    Attributes
    ----------
    statistic : float
    df : int
    p_value : float
        From the chi-squared distribution with `df` degrees of freedom.
    """

    statistic: float
    df: int
    p_value: float

    def __str__(self) -> str:
        return f"likelihood ratio \u03c7\u00b2({self.df}) = {self.statistic:.4g}, {equation_of_p(self.p_value)}"


def shares_together(table: Table, names: Sequence[str], people: NDArray[np.bool_] | None = None) -> ClassShares:
    """The joint shares of the answers to some questions by maximum likelihood, for questions of any design.

    Parameters
    ----------
    table : Table
        Its weights and sampling design are used.
    names : sequence of str
        Questions; one that was asked by several designs stands for all of its arms.
    people : ndarray of bool, shape (people,), optional
        By default everybody.
    """
    wanted = np.ones(len(table), dtype=bool) if people is None else people
    table.layout.refuse_never_together(names, at_once=2)
    table.layout.refuse_boxes_of_one_draw(names)
    heard = wanted & np.logical_or.reduce([table.answered(name) for name in names])
    heard &= sample_of(table, np.ones(len(table), dtype=bool)).weights > 0  # the others add nothing to the likelihood
    rows = model_rows(table.where(heard), domain_of(table, heard, names), {}, names)
    data = {name: rows.data[name] for name in names}
    return class_shares(data, rows.designs, shared=rows.shared, **rows.people)


def mixed_rows(
    table: Table, name: str, cohort: str | None, people: NDArray[np.bool_], wanted: EstimateOptions
) -> Iterator[EstimateRow]:
    """The rows of a question's shares from all of its arms, then of the unknown parameters of its designs."""
    if wanted.target != "population":
        raise ParameterError(f"target: must be population for {name}, asked by several designs, got {wanted.target}")
    arms = table.layout.arms(name)
    n = table.count(table.answered(name) & people)
    if not n:
        return
    found = shares_together(table, [name], people)
    # With weights or a sampling design the likelihood is a pseudo-likelihood, whose ratio is not chi-squared.
    method = "profile" if found.fit.sample.plain else "wald"
    different = agreement(table, name, people, found)
    flag = None
    if different is not None and different.p_value < SIGNIFICANCE_LEVEL:
        flag = f"arms do not agree: {different}"
    level, options = wanted.confidence_level, answers_to(table, name)
    if wanted.simultaneous and len(options) > 2:
        level = level_of_each(level, len(options))
    if wanted.simultaneous:
        method = f"simultaneous {method}"
    rows = found.rows(level)
    for option, row in itertools.zip_longest(options, rows):
        unknown = option is None  # rows beyond the options are unknown parameters of two-group designs
        line = EstimateRow(
            question=name,
            option=option or row.term.removeprefix(f"{name}: "),
            cohort=cohort,
            n=n,
            count=None,
            estimate=number_or_none(row.estimate),
            std_error=number_or_none(row.std_error),
            conf_low=max(row.conf_low, 0.0),
            conf_high=min(row.conf_high, 1.0),
            conf_level=wanted.confidence_level,
            method=method,
            epsilon=max(arm.epsilon for arm in arms),  # each person is in one arm, and no arm has more
            feasible=number_or_none(row.estimate),
            statistic="ratio" if unknown else "share",
            target="population",
            p_below=None,
            p_above=None,
            flag=None if unknown else flag,
            fake_margin=None,
        )
        yield SampledEstimateRow(**vars(line), df=found.fit.df) if table.is_complex else line


def agreement(
    table: Table, name: str, people: NDArray[np.bool_] | None = None, together: ClassShares | None = None
) -> Agreement | None:
    """Test whether all arms of a question have the same shares; None without a likelihood, or with one arm.

    `together` are the shares of all arms, if they are known already.
    """
    wanted = np.ones(len(table), dtype=bool) if people is None else people
    arms = [arm for arm in table.layout.arms(name) if (table.answered(arm.name) & wanted).any()]
    if len(arms) < 2 or table.is_complex or table.is_weighted:
        return None
    together = together or shares_together(table, [name], wanted)
    alone = [shares_together(table, [arm.name], wanted & table.asked(arm.name)).fit for arm in arms]
    # Maximisers stop a little short, so that the difference may be below 0 by a rounding.
    statistic = max(0.0, 2 * (sum(fit.loglik for fit in alone) - together.fit.loglik))
    # Each arm alone has parameters of its own; the common fit has one set, which makes the difference.
    df = sum(len(fit.terms) for fit in alone) - len(together.fit.terms)
    return Agreement(statistic, df, float(chi2.sf(statistic, df)))


def compare_arms(
    table: Table, name: str, options: Sequence[str] = (), confidence_level: float = 0.95
) -> list[ComparisonRow]:
    """Compare the shares of a question between its arms: all pairwise differences, then the test that all are equal.

    Arms without reports are left out.

    Returns
    -------
    list of ComparisonRow
        Intervals by MOVER [1]_ from those of the arms, which stay within [0, 1].

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27 (2008), 1693-1702.
    """
    arms = table.layout.arms(name)
    every = answers_to(table, name)
    chosen = options or (every[1:] if len(every) == 2 else every)
    if strangers := [option for option in chosen if option not in every]:
        raise ParameterError(f"option: must be one of {', '.join(every)}, got {strangers[0]!r}")
    heard = [arm for arm in arms if table.answered(arm.name).any()]
    if len(heard) < 2:
        raise ParameterError(f"{name}: must have at least 2 arms with reports, got {len(heard)}")
    found = {_label(arm): _arm_rows(table, arm, confidence_level) for arm in heard}
    rows = []
    for option, (first, second) in itertools.product(chosen, itertools.combinations(found, 2)):
        one, other = (found[label][every.index(option)] for label in (first, second))
        estimate, error = one.estimate - other.estimate, math.hypot(one.std_error, other.std_error)
        statistic = estimate / error if error > 0 else math.nan
        limits = [Interval(each.conf_low, each.conf_high) for each in (one, other)]
        # Different people are in the arms, so their limits are independent (MOVER).
        ends = linear_interval((1, -1), (one.estimate, other.estimate), limits)
        row = ComparisonRow(name, option, "difference", first, second, estimate, number_or_none(error), *ends)
        p, z = number_or_none(two_sided(statistic)), number_or_none(statistic)
        rows.append(replace(row, conf_level=confidence_level, method="mover", statistic=z, p_value=p))
    if (same := agreement(table, name)) is not None:
        test = CohortTest(same.statistic, same.df, same.p_value, "likelihood-ratio")
        rows.append(tested(ComparisonRow(name, conf_level=confidence_level), "homogeneity", test))
    return rows


def _label(arm: RandomizedColumn) -> str:
    """The label of an arm in the column of arms."""
    assert arm.arm is not None
    return arm.arm[1]


def _arm_rows(table: Table, arm: RandomizedColumn, level: float) -> list[TidyRow]:
    return shares_together(table, [arm.name], table.asked(arm.name)).rows(level)
