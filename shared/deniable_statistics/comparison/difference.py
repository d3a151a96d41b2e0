"""The difference of one share between two cohorts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

from deniable_statistics.classical.derived import place_of
from deniable_statistics.comparison.cohorts import arm, check_cohorts, is_binomial, limits, of_option
from deniable_statistics.comparison.cut_limits import METHOD, CutLimits
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.comparison.null import common_share
from deniable_statistics.comparison.unconditional import Arm, exact_interval, exact_p_value, is_enumerable
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, check_confidence_level, two_sided
from deniable_statistics.intervals.interval import normal_quantile


@dataclass(frozen=True)
class Difference:
    """The share of an option in the first cohort minus that in the second.

    Attributes
    ----------
    cohorts : tuple of two Estimates
    option : int
    difference : float
        Unbiased; may leave [-1, 1]. NaN where a cohort is empty, as everything else.
    std_error : float
    statistic : float
        Standard normal if the shares are equal; has the sign of the difference.
    p_value : float
        Two-sided, that the shares are equal.
    test : str
        ``exact``, ``score`` or ``wald``; see Notes of `difference`.
    """

    cohorts: tuple[Estimate, Estimate] = field(repr=False)
    option: int
    difference: float
    std_error: float
    statistic: float
    p_value: float
    test: str

    @property
    def shares(self) -> tuple[float, float]:
        """The unbiased shares of the two cohorts."""
        first, second = self.cohorts
        return first.share[self.option], second.share[self.option]

    @property
    def method(self) -> str:
        """Name of the interval: ``exact-unconditional`` up to 2,500 pairs of counts, ``mover`` above, or ``wald``."""
        if not all(map(is_binomial, self.cohorts)):
            return METHOD if all(map(_has_limits, self.cohorts)) else "wald"
        return "exact-unconditional" if is_enumerable(*self._arms) else METHOD

    @property
    def _arms(self) -> tuple[Arm, Arm]:
        first, second = self.cohorts
        return arm(first, self.option), arm(second, self.option)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval within [-1, 1]; all of it where a cohort is empty."""
        check_confidence_level(confidence_level)
        if math.isnan(self.difference):
            return Interval(-1.0, 1.0)
        if self.method == "exact-unconditional":
            return exact_interval(*self._arms, confidence_level)
        if not all(map(is_binomial, self.cohorts)):
            of_share = limits if self.method == "wald" else share_limits
            ends = [of_share(cohort, self.option, confidence_level) for cohort in self.cohorts]
            return linear_interval((1, -1), self.shares, ends).cut(-1, 1)
        # Counts outside what the design can make are brought to its edge; their limits stay as they are, see Notes.
        possible = [each.possible for each in self._arms]
        ends = [each.limits(confidence_level) for each in possible]
        return linear_interval((1, -1), [each.share for each in possible], ends).cut(-1, 1)


def _has_limits(cohort: Estimate) -> bool:
    """Whether each share has an interval that is valid for few reports: not in groups, nor in a finite population."""
    return cohort.population is None and cohort.design.groups == 1


@lru_cache(maxsize=1024)  # a view compares each cohort with all others, and for every option
def _intervals(cohort: Estimate, level: float) -> tuple[Interval, ...]:
    return cohort.confidence_interval(level)


def share_limits(cohort: Estimate, option: int, level: float) -> Interval:
    """Limits of one share that are valid for few reports, as far away as they count where they were cut to [0, 1]."""
    if is_binomial(cohort) or not _has_limits(cohort):
        return limits(cohort, option, level)
    share, cut = cohort.share[option], _intervals(cohort, level)[option]
    here = CutLimits(share, cohort.std_error[option], cut, Interval(0.0, 1.0))
    below, above = here.distances(normal_quantile(level))
    return Interval(share - below, share + above)


def difference(first: Estimate, second: Estimate, option: int | str = 1) -> Difference:
    """Compare the share of an option in two cohorts.

    Parameters
    ----------
    first, second : Estimate
        Of different people. Their designs may differ; weighted estimates count with Kish's effective number.
    option : int or str
        Number of the option, or the name that the first design has for it; by default 1, *yes* of a yes-no.

    Returns
    -------
    Difference

    Raises
    ------
    ParameterError
        If the cohorts have not the same number of options, or there is no such option.

    Notes
    -----
    **Up to 2,500 pairs of counts**, such as 49 and 49 people, interval and test are exact: they go through all pairs
    of counts and take the worst pair of true shares, see `unconditional`. So the interval covers the level (the
    search costs less than .001), and it holds 0 wherever the p-value is above what the level leaves. (Where it is not,
    a hole of the accepted set can still be in the interval.)

    **Above**, the interval is that of Zou and Donner's MOVER [1]_, which Newcombe's [2]_ is for Wilson's limits, on
    those of Clopper and Pearson, mapped by the debiasing line. The counts are brought into the range that the design
    can make, the limits are not: cut ones would make it too short. It covers at least 95.0 % at 95 % from epsilon .5 to
    4, by enumeration; without noise, or at epsilon 5 and more, it can be 93 % where one share is within a point of 0
    and the other one within a point of 1. On Wilson's limits it covered .87 with 7 and 7 people, .93 with 100 and 100
    at epsilon 4, and .943 with 300 and 300. The test is the score test, on the counts of reports: if both cohorts have
    the same support probabilities, equal shares are equal binomial probabilities whatever the shares are, so the noise
    does not touch its level. It is less careful than the interval, which can hold 0 where the p-value is a little below
    what the level leaves.

    Where a count is not binomial (tallies of a matrix mechanism), the interval is MOVER on that of each share. A normal
    one is not valid where replies are few: one alone has an error of 0. In groups and finite populations it is normal
    with the errors of the estimates (Wald). So is the test unless the design is the same.

    `statistic` is that of the score or Wald test, whatever the test.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27 (2008), 1693-1702.
    .. [2] R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of
       eleven methods", Statistics in Medicine 17 (1998), 873-890, method 10.

    Examples
    --------
    Two fair coins double the difference of reports: 2 (430/1000 - 380/1000) = 0.1, and the pooled test is that of
    430 and 380 out of 1000: .05 / sqrt(.405 x .595 x 2 / 1000) = 2.278.

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> web, paper = coins.estimate([570, 430]), coins.estimate([620, 380])
    >>> result = difference(web, paper)
    >>> round(result.difference, 4), round(result.std_error, 4), round(result.statistic, 3), round(result.p_value, 4)
    (0.1, 0.0438, 2.278, 0.0228)
    >>> [round(end, 4) for end in result.confidence_interval()]
    [0.0125, 0.1871]
    """
    cohorts = check_cohorts((first, second))
    cohorts, option = of_option(cohorts, place_of(option, cohorts[0]))
    first, second = cohorts
    apart = first.share[option] - second.share[option]
    if math.isnan(apart):
        return Difference((first, second), option, math.nan, math.nan, math.nan, math.nan, "score")
    # Different people: the variances add up.
    error = math.hypot(first.std_error[option], second.std_error[option])
    null = common_share(cohorts, option)
    # The test is chi-squared with one degree of freedom, so its signed root is standard normal.
    statistic = math.copysign(math.sqrt(null.statistic), apart)
    found = Difference((first, second), option, apart, error, statistic, two_sided(statistic), null.test)
    if found.method != "exact-unconditional":
        return found
    return replace(found, p_value=exact_p_value(arm(first, option), arm(second, option)), test="exact")
