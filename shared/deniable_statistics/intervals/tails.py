"""Tails of the binomial distribution and where they cross a level."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.special.incomplete_beta import beta_cdf, beta_quantile, beta_sf

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Number = TypeVar("Number", float, Floats)


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


def as_far_below(count: Number, n: Number, lam: Number) -> Number:
    """The number below the mean ``n lam`` that is about as unlikely as the count above it.

    >>> as_far_below(60.0, 100.0, 0.5)
    40.0
    """
    apart, variance = count - n * lam, n * lam * (1 - lam)
    # As large a fall of the log-likelihood to the third order: the last part is what the skewness adds.
    return n * lam - apart + (1 - 2 * lam) * apart * apart / (3 * variance + 1e-9)


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


def first_true(is_reached: Callable[[Floats], NDArray[np.bool_]], guess: Floats, lo: Floats, hi: Floats) -> Floats:
    """The number from ``lo`` to ``hi`` from which on a condition holds, of each of arrays; ``hi`` where there is none.

    The condition is asked below ``hi`` alone. Ends are looked for around the guess first, as in `bisect_near`.

    >>> first_true(lambda c: c * c > 20, np.array([3.0, 3.0]), np.zeros(2), np.array([100.0, 2.0])).tolist()
    [5.0, 2.0]
    """

    def reached(c: Floats) -> NDArray[np.bool_]:
        return np.asarray((c >= lo) & ((c >= hi) | is_reached(np.clip(c, lo, hi - 1))))

    nearest = np.rint(np.clip(guess, lo, hi))
    left, right, width = nearest - 1, nearest + 1, 2.0
    while (above := reached(left)).any():
        left, right, width = np.where(above, left - width, left), np.where(above, left, right), 2 * width
    while not (above := reached(right)).all():
        left, right, width = np.where(above, left, right), np.where(above, right, right + width), 2 * width
    left, right = np.maximum(left, lo - 1), np.minimum(right, hi)
    while (right - left > 1).any():
        middle = np.floor((left + right) / 2)
        above = reached(middle) | (middle <= left)
        left, right = np.where(above, left, middle), np.where(above & (middle > left), middle, right)
    return np.asarray(right)


def newton_crossings(
    function: Callable[[Floats, Indices], tuple[Floats, Floats]], low: Floats, high: Floats, start: Floats | None = None
) -> Floats:
    """The roots of functions that are at most 0 at ``low`` and at least 0 at ``high``, of each of arrays.

    ``function`` has the values and the derivatives of those whose indices it gets; it is not asked at the ends.
    Newton's method from ``start``, or else from the middle; a step that leaves the ends, which come nearer, is one of
    bisection.

    >>> newton_crossings(lambda x, _: (x * x - 2, 2 * x), np.zeros(1), np.full(1, 2.0)).round(12).tolist()
    [1.414213562373]
    """
    low, high = low.copy(), high.copy()
    at = (low + high) / 2 if start is None else np.clip(start, low, high)
    left = np.flatnonzero((low < at) & (at < high))
    while len(left):
        here = at[left]
        value, slope = function(here, left)
        low[left], high[left] = np.where(value <= 0, here, low[left]), np.where(value <= 0, high[left], here)
        move = np.where(slope > 0, -value / np.where(slope > 0, slope, 1.0), math.inf)
        moved = here + move
        # The error is quadratic, so nothing is left of a small one after this step.
        is_done = np.abs(move) <= 1e-9 * np.minimum(here, 1 - here)
        is_inside = (low[left] < moved) & (moved < high[left])
        at[left] = np.where(is_done | is_inside, moved, (low[left] + high[left]) / 2)
        left = left[~is_done & (low[left] < at[left]) & (at[left] < high[left])]
    return at
