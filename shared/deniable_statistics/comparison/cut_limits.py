"""The interval of a difference between two cohorts, from the limits of each, which are cut to what is possible."""

from __future__ import annotations

import math
from typing import NamedTuple

from deniable_statistics.intervals import Interval

METHOD = "mover"
"""Name of the method of these intervals."""


class CutLimits(NamedTuple):
    """A figure of one cohort with its limits.

    Attributes
    ----------
    value, std_error : float
        The unbiased estimate, which may be impossible, and its standard error.
    limits : Interval
        Cut to what is possible.
    possible : Interval
    """

    value: float
    std_error: float
    limits: Interval
    possible: Interval

    def distances(self, quantile: float) -> tuple[float, float]:
        """How far both limits are from the value; one that is cut, at least as far as a normal one.

        A limit that is cut at the end of what is possible recovers too small a variance.
        """
        below, above, normal = self.value - self.limits.low, self.limits.high - self.value, quantile * self.std_error
        if self.limits.low <= self.possible.low:
            below = max(below, normal)
        return below, max(above, normal) if self.limits.high >= self.possible.high else above


def distances(first: CutLimits, second: CutLimits, quantile: float, correlation: float = 0.0) -> tuple[float, float]:
    """How far both limits of a difference are from it, by Zou and Donner's MOVER.

    Parameters
    ----------
    first, second : CutLimits
    quantile : float
        Of the standard error, for limits that are cut.
    correlation : float
        Of both figures.

    Examples
    --------
    >>> whole = Interval(0.0, 1.0)
    >>> one, other = CutLimits(0.5, 0.1, Interval(0.3, 0.7), whole), CutLimits(0.1, 0.1, Interval(0.0, 0.25), whole)
    >>> [round(each, 3) for each in distances(one, other, 1.96)]    # sqrt(.2^2 + .15^2), sqrt(.2^2 + .196^2)
    [0.25, 0.28]
    """
    low, high = zip(*(each.distances(quantile) for each in (first, second)), strict=True)
    # Each limit is as far from the difference as both limits that lie on its side, taken together.
    return together(low[0], high[1], correlation), together(high[0], low[1], correlation)


def together(first: float, second: float, correlation: float = 0.0) -> float:
    """The spread of a difference of two figures with these spreads."""
    # Var(X - Y) = Var X + Var Y - 2 rho sd(X) sd(Y).
    return math.sqrt(max(first**2 + second**2 - 2 * correlation * first * second, 0.0))
