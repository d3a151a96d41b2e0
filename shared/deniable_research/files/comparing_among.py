"""Cohorts side by side among the people to whom a question with a filter applies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_research.files.domain_estimates import shares_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_statistics.comparison.among import METHOD, AmongDifference
from deniable_statistics.comparison.side_by_side import Figure
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.mean_among import AmongMean


def among_differences(
    table: Table, question: RandomizedColumn, people: Sequence[NDArray[np.bool_]], places: Sequence[int]
) -> Iterator[tuple[int | None, list[Figure]]]:
    """For each of some options, and for the mean (None), the differences of each two cohorts.

    *Does not apply* is none of them: it has its share among everybody. Under a sampling design there are none.
    """
    if not question.is_filtered or table.is_complex:
        return
    found = [shares_of(table, question, each) for each in people]
    if question.has_shares:
        shares = [AmongEstimate.from_counts(question.design, each.counts, each.n, _effective(each)) for each in found]
        for option in places:
            if option < len(question.options) - 1:
                yield option, _differences(shares, option)
    if question.levels is not None:
        means = [
            AmongMean.from_counts(question.design, each.counts, question.levels, each.n, _effective(each))
            for each in found
        ]
        yield None, _differences(means, None)


def _effective(found: Estimate) -> float | None:
    return found.n_effective if found.n_effective != found.n else None


def _differences(cohorts: Sequence[AmongEstimate] | Sequence[AmongMean], option: int | None) -> list[Figure]:
    every: list[AmongEstimate | AmongMean] = [*cohorts]
    pairs = (AmongDifference(first, second, option) for first, second in itertools.combinations(every, 2))
    return [
        Figure(each.difference, each.std_error, each.statistic, each.p_value, METHOD, each.confidence_interval)
        for each in pairs
    ]
