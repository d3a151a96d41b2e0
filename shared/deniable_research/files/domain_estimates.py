"""Shares and means of a domain, some people of a table, with the errors that follow from how people were drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_research.files.domains import sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_statistics.classical import combined_share
from deniable_statistics.classical.derived import CombinedShare
from deniable_statistics.comparison.cut_limits import METHOD
from deniable_statistics.comparison.means import mean_differences as independent_mean_differences
from deniable_statistics.comparison.sampled import SampledCohorts
from deniable_statistics.comparison.side_by_side import Cohorts, Figure, IndependentCohorts, mean_difference
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Interval
from deniable_statistics.sampling import Domain
from deniable_statistics.sampling.shares import DesignEstimate, sampled_groups, sampled_means, sampled_shares

People = NDArray[np.bool_]


def shares_of(table: Table, question: RandomizedColumn, people: People) -> Estimate:
    """The shares of a question among some of the people; for boxes that devices draw, `boxes_of` has the errors."""
    if not table.is_complex:
        return table.estimate(question.name, people)
    if question.design.is_one_draw:
        asked = table.answered(question.name) & people
        return table.where(asked).item(question.name).estimate(sample_of(table, asked, [question.name]))
    return sampled_cohorts(table, question, [people]).cohorts[0]


def boxes_of(table: Table, question: RandomizedColumn, people: People) -> list[DesignEstimate]:
    """Each box that devices draw, as a yes-no question to the people whose device drew it.

    The list is empty for other questions, and for simple samples, whose estimate has the errors of drawn boxes.
    """
    if not (table.is_complex and question.design.is_one_draw):
        return []
    return [sampled_cohorts(table, question.box(option), [people]).cohorts[0] for option in question.options]


def mean_of(table: Table, question: RandomizedColumn, people: People) -> MeanEstimate:
    """The mean of a question whose answers stand for numbers, among some of the people."""
    values = question.mean_values or ()
    if table.is_complex:
        asked = table.answered(question.name) & people
        (found,), _ = sampled_means(table.where(asked).item(question.name), values, _domain(table, question, asked))
        return found
    plain = table.estimate(question.name, people)
    return MeanEstimate.from_counts(question.design, plain.counts, plain.n, values, plain.n_effective)


def sampled_cohorts(table: Table, question: RandomizedColumn, people: Sequence[People]) -> SampledCohorts:
    """The shares of a question in cohorts of a complex sample, which do not overlap."""
    answered = table.answered(question.name) & np.any(people, axis=0)
    if question.design.groups == 1:
        domain, among = _domain(table, question, answered), [each[answered] for each in people]
        shares = sampled_shares(table.where(answered).item(question.name), domain, among)
        return SampledCohorts.known(shares, domain, among)
    numbers = table.groups_of(question.name)
    # Nobody knows through which channel the report of a person without a group went.
    kept = answered & (numbers >= 0)
    domain, among = _domain(table, question, kept), [each[kept] for each in people]
    responses = table.where(kept).reports_of(question.name).array(np.int64, -1)
    shares = sampled_groups(question.design, responses, numbers[kept], domain, among)
    return SampledCohorts.known(shares, domain, among)


def cohorts_by_option(
    table: Table, question: RandomizedColumn, people: Sequence[People], options: Sequence[int]
) -> list[tuple[Cohorts, int]]:
    """For each option the cohorts in which its share is compared, and its place among their shares.

    In complex samples boxes that devices draw are compared one by one, each among the people whose device drew it.
    """
    if table.is_complex and question.design.is_one_draw:
        return [(sampled_cohorts(table, question.box(question.options[each]), people), 1) for each in options]
    if table.is_complex:
        whole: Cohorts = sampled_cohorts(table, question, people)
    else:
        whole = IndependentCohorts(tuple(table.estimate(question.name, each) for each in people))
    return [(whole, option) for option in options]


def mean_differences(table: Table, question: RandomizedColumn, people: Sequence[People]) -> list[Figure]:
    """The differences of the means of every two of several cohorts, in the order of `itertools.combinations`."""
    if not table.is_complex:  # different people, drawn one by one: errors are independent
        found = independent_mean_differences([mean_of(table, question, each) for each in people])
        return [
            Figure(each.estimate, each.std_error, each.statistic, each.p_value, METHOD, each.confidence_interval)
            for each in found
        ]
    asked = table.answered(question.name) & np.any(people, axis=0)
    domain, among = _domain(table, question, asked), [each[asked] for each in people]
    means, v = sampled_means(table.where(asked).item(question.name), question.mean_values or (), domain, among)
    # Var(x - y) = Var(x) - 2 Cov(x, y) + Var(y): cohorts that share clusters are correlated.
    return [
        mean_difference(
            means[i].mean - means[j].mean,
            math.sqrt(max(float(v[i, i] - 2 * v[i, j] + v[j, j]), 0.0)),
            domain.df,
        )
        for i, j in itertools.combinations(range(len(people)), 2)
    ]


def combined_of(
    found: Estimate,
    part: Sequence[str | int],
    whole: Sequence[str | int] | None,
    level: float,
    method: str = DEFAULT_METHOD,
) -> tuple[CombinedShare, Interval]:
    """The sum of the shares in ``part``, among everybody or among the truths in ``whole``, with its interval."""
    figure = combined_share(found, part, whole)
    if not isinstance(found, DesignEstimate):
        return figure, figure.confidence_interval(level, method)
    # Korn and Graubard: the interval of as many people drawn one by one as would have this error.
    near = found.worth(combined_share(found.plain, part, whole).std_error, figure.std_error, level)
    if near.n_effective < 1:  # less than one person: the clusters tell nothing
        return figure, Interval(0.0, 1.0)
    return figure, combined_share(near, part, whole).confidence_interval(level, method)


def _domain(table: Table, question: RandomizedColumn, people: People) -> Domain:
    """The domain of the people who answered a question; only for a table with a sampling design."""
    found = sample_of(table, people, [question.name])
    assert isinstance(found, Domain)
    return found
