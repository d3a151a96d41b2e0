"""All pairs of several cohorts, with intervals that hold together and p-values that know how many they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deniable.errors import check_kind
from deniable_statistics.comparison.cohorts import check_cohorts
from deniable_statistics.comparison.difference import Difference, difference
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, level_of_each


@dataclass(frozen=True)
class Pairwise:
    """The differences between every two of several cohorts.

    Attributes
    ----------
    pairs : tuple of pairs of int
        Numbers of the cohorts: (0, 1), (0, 2), ...
    differences : tuple of Difference
        First minus second of each pair.
    p_values : tuple of float
        Adjusted by Holm's method: the probability of calling any equal pair different is at most the level.
    """

    pairs: tuple[tuple[int, int], ...]
    differences: tuple[Difference, ...]
    p_values: tuple[float, ...]

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[Interval, ...]:
        """Intervals that hold *all* differences at once with the confidence level, by Bonferroni's inequality."""
        alone = level_of_each(confidence_level, len(self.pairs))
        return tuple(each.confidence_interval(alone) for each in self.differences)


def pairwise(estimates: Sequence[Estimate], option: int | str = 1) -> Pairwise:
    """Compare the share of an option between every two cohorts; see `deniable_statistics.comparison.difference`.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> result = pairwise([coins.estimate([1000 - yes, yes]) for yes in (430, 380, 500)])
    >>> ends = result.confidence_interval()
    >>> for pair, each, p, (low, high) in zip(result.pairs, result.differences, result.p_values, ends):
    ...     print(pair, round(each.difference, 2), round(p, 4), round(low, 3), round(high, 3))
    (0, 1) 0.1 0.0228 -0.007 0.206
    (0, 2) -0.14 0.0034 -0.247 -0.032
    (1, 2) -0.24 0.0 -0.346 -0.133
    """
    cohorts = check_cohorts(estimates)
    pairs = tuple(itertools.combinations(range(len(cohorts)), 2))
    differences = tuple(difference(cohorts[i], cohorts[j], option) for i, j in pairs)
    return Pairwise(pairs, differences, holm([each.p_value for each in differences]))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values of several hypotheses: compared with a level, no true one is rejected but with that probability.

    The smallest is multiplied by the number of hypotheses, the next by one less, and none comes below a smaller one
    [1]_. NaN stays NaN and is not a hypothesis. (Statsmodels has it too; nothing else here would need statsmodels.)

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
       (1979), 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.5])
    (0.04, 0.09, 0.09, 0.5)
    """
    check_kind(p_values, Collection, "p_values")
    order = sorted((i for i, p in enumerate(p_values) if not math.isnan(p)), key=lambda i: p_values[i])
    adjusted, largest = [math.nan] * len(p_values), 0.0
    for rank, i in enumerate(order):
        # The smallest of m is multiplied by m, the next by m - 1; a larger p-value never gets a smaller adjusted one.
        largest = max(largest, min((len(order) - rank) * p_values[i], 1.0))
        adjusted[i] = largest
    return tuple(adjusted)
