"""Tails of the binomial distribution and where they cross a level."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable

from deniable_statistics.special.binomial_mass import mass
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


def rise(count: float, n: float, lam: float) -> float:
    """The derivative of `at_least` by ``lam``, for ``0 < count <= n`` and ``0 < lam < 1``.

    >>> round(rise(1, 2, 0.5), 12)      # of 1 - (1 - lam)^2
    1.0
    """
    return count / lam * mass(count, n - count, lam)


def fall(count: float, n: float, lam: float) -> float:
    """How fast `at_most` falls with ``lam``, for ``0 < lam < 1``.

    >>> round(fall(1, 2, 0.5), 12)      # of 1 - lam^2
    1.0
    """
    return (n - count) / (1 - lam) * mass(count, n - count, lam) if 0 <= count < n else 0.0


def at_least_is(probability: float, count: float, n: float) -> float:
    """The ``lam`` with ``P(C >= count) = probability``; 0 for no count, which is always reached.

    >>> round(at_least_is(0.75, 1, 2), 12)
    0.5
    """
    return beta_quantile(count, n - count + 1, probability) if count > 0 else 0.0


def as_far_below(count: float, n: float, lam: float) -> float:
    """The number below the mean ``n lam`` that is about as unlikely as the count above it.

    >>> as_far_below(60, 100, 0.5)
    40.0
    """
    apart, variance = count - n * lam, n * lam * (1 - lam)
    # As large a fall of the log-likelihood to the third order: the last part is what the skewness adds.
    return n * lam - apart + (1 - 2 * lam) * apart * apart / (3 * variance) if variance else 0.0


def bisect_near(guess: float, value: float, key: Callable[[int], float], lo: int, hi: int) -> int:
    """The number ``c`` of ``lo <= c <= hi`` from which on ``key``, which never falls, is above ``value``.

    As `bisect.bisect_right`, between ends that are looked for around the guess first.

    >>> bisect_near(3, 20, lambda c: c * c, 0, 100), bisect_near(3, 20, lambda c: c * c, 0, 2)
    (5, 2)
    """
    nearest = round(min(max(guess, lo), hi))
    left, right, width = nearest - 1, nearest + 1, 2
    while left > lo and key(left) > value:
        left, right, width = left - width, left, 2 * width
    while right < hi and key(right) <= value:
        left, right, width = right, right + width, 2 * width
    return bisect_right(range(min(right, hi)), value, lo=max(left, lo), key=key)


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


def newton_crossing(
    function: Callable[[float], tuple[float, float]], low: float, high: float, start: float | None = None
) -> float:
    """`crossing` of a function that returns its derivative too; it is not asked at the ends.

    Newton's method from ``start``, or else from the middle; a step that leaves the ends, which come nearer, is one of
    bisection.

    >>> round(newton_crossing(lambda x: (x * x - 2, 2 * x), 0, 2), 12)
    1.414213562373
    """
    at = (low + high) / 2 if start is None else start
    while low < at < high:
        value, slope = function(at)
        low, high = (at, high) if value <= 0 else (low, at)
        move = -value / slope if slope > 0 else math.inf
        # The error is quadratic, so nothing is left of a small one after this step.
        if abs(move) <= 1e-9 * min(at, 1 - at):
            return at + move
        at = at + move if low < at + move < high else (low + high) / 2
    return min(max(at, low), high)
