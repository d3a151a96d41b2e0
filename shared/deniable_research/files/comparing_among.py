"""Cohorts side by side among the people to whom a question with a filter applies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_research.files.among_estimates import means_among_of, shares_among_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_statistics.comparison.among import AmongDifference
from deniable_statistics.comparison.cut_limits import METHOD
from deniable_statistics.comparison.side_by_side import Figure
from deniable_statistics.sampling.among import AmongGroups, F


def among_differences(
    table: Table, question: RandomizedColumn, people: Sequence[NDArray[np.bool_]], places: Sequence[int]
) -> Iterator[tuple[int | None, list[Figure]]]:
    """For each of some options, and for the mean (None), the differences of each two cohorts.

    *Does not apply* is none of them: it has its share among everybody.
    """
    if not question.is_filtered:
        return
    if question.has_shares:
        shares = shares_among_of(table, question, people)
        for option in places:
            if option < len(question.options) - 1:
                yield option, _differences(shares, option)
    if question.levels is not None:
        yield None, _differences(means_among_of(table, question, people), None)


def _differences(cohorts: AmongGroups[F], option: int | None) -> list[Figure]:
    figures = []
    df_error = None if math.isinf(cohorts.df) else cohorts.df
    for i, j in itertools.combinations(range(len(cohorts.groups)), 2):
        together = cohorts.correlation(option or 0, i, j)
        each = AmongDifference(cohorts.groups[i], cohorts.groups[j], option, together, cohorts.df)
        test = (each.difference, each.std_error, each.statistic, each.p_value)
        figures.append(Figure(*test, METHOD, each.confidence_interval, df_error))
    return figures
