"""The differences of the means of cohorts of different people."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from deniable_statistics.comparison.cut_limits import CutLimits, distances
from deniable_statistics.estimates.batched_means import intervals_of_means
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Interval, two_sided
from deniable_statistics.intervals.interval import normal_quantile

TEST_LEVEL = 0.95
"""Confidence level of the limits from which the errors of the test are recovered."""


@dataclass(frozen=True)
class MeanDifference:
    """The mean of one cohort minus that of another.

    Attributes
    ----------
    first, second : MeanEstimate
        Of different people who were drawn one by one.
    limits : callable
        From a confidence level to the limits of both means.

    Notes
    -----
    The interval is Zou and Donner's MOVER [1]_ on the interval of each mean. A normal one with the errors of both
    means is not valid where replies are few: replies that are all alike, as one is always, have an error of 0. It
    covered nothing but one point then, and with 10 people on a scale at epsilon 4 it covered .48.

    The test has the errors that the limits of 95 % recover, so that its p-value is below .05 exactly where the interval
    of that level excludes 0.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27 (2008), 1693-1702.
    """

    first: MeanEstimate
    second: MeanEstimate
    limits: Callable[[float], tuple[CutLimits, CutLimits]] = field(repr=False)

    @property
    def estimate(self) -> float:
        """The difference of the unbiased means; NaN where a cohort is empty."""
        return self.first.mean - self.second.mean

    @property
    def std_error(self) -> float:
        """Its standard error; 0 where the replies of both cohorts are all alike."""
        # Different people: the variances add up.
        return math.hypot(self.first.std_error, self.second.std_error)

    @property
    def statistic(self) -> float:
        """Standard normal if both means are equal, as nearly as the limits are."""
        if math.isnan(self.estimate):
            return math.nan
        quantile = normal_quantile(TEST_LEVEL)
        below, above = distances(*self.limits(TEST_LEVEL), quantile)
        facing = below if self.estimate > 0 else above
        return quantile * self.estimate / facing if facing else math.nan

    @property
    def p_value(self) -> float:
        """Two-sided, that both means are equal."""
        return two_sided(self.statistic)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval, cut to what is possible."""
        reach = max(self.first.highest - self.second.lowest, self.second.highest - self.first.lowest)
        if math.isnan(self.estimate):
            return Interval(-reach, reach)
        below, above = distances(*self.limits(confidence_level), normal_quantile(confidence_level))
        return Interval(self.estimate - below, self.estimate + above).cut(-reach, reach)


def mean_differences(
    means: Sequence[MeanEstimate], pairs: Iterable[tuple[int, int]] | None = None
) -> list[MeanDifference]:
    """The differences of the means of cohorts.

    Parameters
    ----------
    means : sequence of MeanEstimate
        Of different people who were drawn one by one.
    pairs : iterable of (int, int), optional
        Places of the cohorts; by default every two, in the order of `itertools.combinations`.

    Examples
    --------
    One reply says nothing, however large the other cohort is:

    >>> from deniable import KAry
    >>> scale = KAry.from_epsilon(3, 2)
    >>> cohorts = [MeanEstimate.from_counts(scale, counts) for counts in ([330, 250, 420], [420, 250, 330], [1, 0, 0])]
    >>> first, lone, _ = mean_differences(cohorts)
    >>> round(first.estimate, 3), [round(end, 2) for end in first.confidence_interval()]
    (0.265, [0.15, 0.38])
    >>> round(lone.estimate, 2), [round(end, 2) for end in lone.confidence_interval()]
    (1.6, [-0.87, 1.68])
    """

    @cache  # the limits of each cohort, for all its differences
    def limits(level: float) -> list[CutLimits]:
        found = intervals_of_means(means, level, "default")
        return [
            CutLimits(
                each.mean,
                each.std_error,
                each.confidence_interval(level) if interval is None else interval,
                Interval(each.lowest, each.highest),
            )
            for each, interval in zip(means, found, strict=True)
        ]

    def of_pair(i: int, j: int) -> MeanDifference:
        return MeanDifference(means[i], means[j], lambda level: (limits(level)[i], limits(level)[j]))

    return list(itertools.starmap(of_pair, itertools.combinations(range(len(means)), 2) if pairs is None else pairs))
