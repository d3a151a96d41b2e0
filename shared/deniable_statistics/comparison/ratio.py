"""The ratio of one share between two cohorts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable_statistics.comparison.difference import Difference, difference, share_limits
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, check_confidence_level
from deniable_statistics.intervals.ratio_limits import Spread, ratio_limits


@dataclass(frozen=True)
class Ratio:
    """The share of an option in the first cohort over that in the second.

    Attributes
    ----------
    difference : Difference
        Of the same shares: they are equal if the ratio is 1, so the p-value is the same.
    ratio : float
        Of the unbiased shares; NaN where the second is not above 0, and where a cohort is empty.
    std_error : float
        By the delta method; no interval is made from it.
    """

    difference: Difference
    ratio: float
    std_error: float

    @property
    def statistic(self) -> float:
        """Standard normal if the ratio is 1."""
        return self.difference.statistic

    @property
    def p_value(self) -> float:
        """Two-sided, that the ratio is 1."""
        return self.difference.p_value

    @property
    def method(self) -> str:
        """Name of the interval: ``donner-zou`` from the limits of each share, or ``fieller`` from standard errors."""
        return "fieller" if self.difference.method == "wald" else "donner-zou"

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval in [0, inf]; the upper end is infinite where the second share may be 0."""
        check_confidence_level(confidence_level)
        if math.isnan(self.difference.difference):
            return Interval(0.0, math.inf)
        (top, bottom), option = self.difference.shares, self.difference.option
        over, under = (share_limits(cohort, option, confidence_level) for cohort in self.difference.cohorts)
        return ratio_limits(
            top,
            bottom,
            Spread((top - over.low) ** 2, (under.high - bottom) ** 2),
            Spread((over.high - top) ** 2, (bottom - under.low) ** 2),
        )


def ratio(first: Estimate, second: Estimate, option: int | str = 1) -> Ratio:
    """How many times as frequent an option is in the first cohort as in the second.

    Parameters, errors and test are those of `deniable_statistics.comparison.difference`.

    Notes
    -----
    The interval is Donner and Zou's [1]_ on Clopper-Pearson's limits, mapped by the debiasing line and not cut:
    Fieller's theorem with the variance that each end recovers from its limits. It tells the truth about a share that
    may be 0: then the ratio has no upper limit. By enumeration it covers at least 95 % at 95 % from 3 and 3 people on
    and epsilon .5 to 4; on Wilson's limits it was 88 %. Shares that no single count tells have the limits of their
    difference.

    References
    ----------
    .. [1] A. Donner, G. Y. Zou, "Closed-form confidence intervals for functions of the normal mean and standard
       deviation", Statistical Methods in Medical Research 21 (2012), 347-359.

    Examples
    --------
    Two fair coins, shares 0.36 and 0.26:

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> result = ratio(coins.estimate([570, 430]), coins.estimate([620, 380]))
    >>> round(result.ratio, 4), round(result.std_error, 4), [round(end, 3) for end in result.confidence_interval()]
    (1.3846, 0.2031, [1.041, 1.884])

    27 of 100 reports say yes where nobody's yes makes 25:

    >>> ratio(coins.estimate([57, 43]), coins.estimate([73, 27])).confidence_interval().high
    inf
    """
    apart = difference(first, second, option)
    top, bottom = apart.shares
    if not bottom > 0:
        return Ratio(apart, math.nan, math.nan)
    # Delta method for independent shares: Var(t / b) = (Var t + R^2 Var b) / b^2.
    errors = [cohort.std_error[apart.option] for cohort in apart.cohorts]
    return Ratio(apart, top / bottom, math.hypot(errors[0], errors[1] * top / bottom) / bottom)
