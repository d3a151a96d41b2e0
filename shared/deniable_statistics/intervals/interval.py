"""The interval that every method returns, and checks of confidence levels."""

from __future__ import annotations

import math
from numbers import Real
from statistics import NormalDist
from typing import NamedTuple

from deniable.errors import ParameterError, check_kind


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float

    def debiased(self, a: float, b: float) -> Interval:
        """The interval of the share, not cut to [0, 1], if this is an interval of ``lam = b + (a - b) share``.

        >>> Interval(0.25, 0.5).debiased(0.75, 0.25), Interval(0.25, 0.5).debiased(0.25, 0.75)
        (Interval(low=0.0, high=0.5), Interval(low=0.5, high=1.0))
        """
        return Interval(*sorted((end - b) / (a - b) for end in self))

    def cut(self, low: float = 0.0, high: float = 1.0) -> Interval:
        """The part within a range or, if there is none, the nearest end of the range.

        >>> Interval(-0.2, 0.3).cut(), Interval(-0.2, -0.1).cut()
        (Interval(low=0.0, high=0.3), Interval(low=0.0, high=0.0))
        """
        return Interval(min(max(self.low, low), high), min(max(self.high, low), high))


LOWEST_LEVEL, HIGHEST_LEVEL = 0.001, 1 - 1e-12
"""Range of confidence levels. Outside of it floats lose the digits of ``1 - level``, or those of the interval."""


def check_confidence_level(confidence_level: float) -> float:
    """Return the level if it is from 0.001 to 0.999999999999; otherwise raise a ParameterError.

    >>> check_confidence_level(0.95)
    0.95
    """
    check_kind(confidence_level, Real, "confidence_level")
    if not LOWEST_LEVEL <= confidence_level <= HIGHEST_LEVEL:
        hint = f"; write {confidence_level / 100:g} for {confidence_level:g} %" if 1 < confidence_level < 100 else ""
        raise ParameterError(
            f"confidence_level: must be from {LOWEST_LEVEL:g} to {HIGHEST_LEVEL:.12f}, got {confidence_level!r}{hint}"
        )
    return confidence_level


def check_binomial(count: float, n: float, confidence_level: float) -> None:
    """Raise a ParameterError unless a count is one of a binomial distribution, and the level is possible."""
    check_kind(count, Real, "count")
    check_kind(n, Real, "n")
    check_confidence_level(confidence_level)
    if not 0 < n < math.inf:
        raise ParameterError(f"n: must be above 0 and finite, got {n:g}")
    if not 0 <= count <= n * (1 + 1e-9):  # weights add up to n in floating point only
        raise ParameterError(f"count: must be in [0, n = {n:g}], got {count:g}")


def check_range(low: float, high: float) -> None:
    """Raise a ParameterError unless these are two probabilities of which the second is larger."""
    check_kind(low, Real, "low")
    check_kind(high, Real, "high")
    if not 0 <= low < high <= 1:
        raise ParameterError(f"low, high: must be two probabilities, the smaller one first, got {low:g} and {high:g}")


def two_sided(statistic: float) -> float:
    """The p-value of a standard normal statistic: the probability that chance brings one at least as far from 0."""
    # 2 (1 - Phi(|z|)) = erfc(|z| / sqrt 2), which keeps its digits where 1 - Phi has none.
    return math.erfc(abs(statistic) / math.sqrt(2))


def level_of_each(confidence_level: float, intervals: int) -> float:
    """The level of each of several simultaneous intervals, by Bonferroni's inequality; at most `HIGHEST_LEVEL`.

    >>> round(level_of_each(0.95, 5), 12)
    0.99
    """
    return min(1 - (1 - check_confidence_level(confidence_level)) / max(intervals, 1), HIGHEST_LEVEL)


def normal_quantile(confidence_level: float) -> float:
    """The normal quantile of a two-sided interval, in standard errors: 1.96 at 0.95."""
    return NormalDist().inv_cdf((1 + confidence_level) / 2)
