"""Tails of the binomial distribution and where they cross a level."""

from __future__ import annotations

from collections.abc import Callable

from deniable_statistics.special.incomplete_beta import beta_cdf, beta_quantile, beta_sf


def at_least(count: float, n: float, lam: float) -> float:
    """``P(C >= count)`` for ``C ~ Bin(n, lam)``, as the incomplete beta function ``I_lam(count, n - count + 1)``.

    The beta function is continuous in ``count`` and ``n``, so weighted data need no rounding.

    >>> at_least(1, 2, 0.5), at_least(0, 2, 0.5), at_least(3, 2, 0.5)
    (0.75, 1.0, 0.0)
    """
    if count <= 0:  # a parameter of 0 is a limit
        return 1.0
    return beta_cdf(count, n - count + 1, lam) if count < n + 1 else 0.0


def at_most(count: float, n: float, lam: float) -> float:
    """``P(C <= count)`` for ``C ~ Bin(n, lam)``: that of less than ``count + 1``, ``1 - I_lam(count + 1, n - count)``.

    >>> at_most(1, 2, 0.5), at_most(-1, 2, 0.5)
    (0.75, 0.0)
    """
    if count >= n:
        return 1.0
    return beta_sf(count + 1, n - count, lam) if count > -1 else 0.0


def at_least_is(probability: float, count: float, n: float) -> float:
    """The ``lam`` with ``P(C >= count) = probability``; 0 for no count, which is always reached.

    >>> round(at_least_is(0.75, 1, 2), 12)
    0.5
    """
    return beta_quantile(count, n - count + 1, probability) if count > 0 else 0.0


def crossing(function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-15) -> float:
    """The root of a continuous function that is at most 0 at ``low`` and at least 0 at ``high``.

    The Illinois variant of false position, which takes a dozen evaluations.

    >>> round(crossing(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    below, above, kept = function(low), function(high), 0
    while high - low > tolerance and below < 0 < above:
        # Where the chord of the two values crosses 0.
        middle = low - below * (high - low) / (above - below)
        if not low < middle < high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
        value = function(middle)
        if value <= 0:
            # An end that stays twice has its value halved, or false position creeps towards the root from one side.
            low, below = middle, value
            above, kept = (above / 2 if kept < 0 else above), -1
        else:
            high, above = middle, value
            below, kept = (below / 2 if kept > 0 else below), 1
    return low if below >= 0 else high
