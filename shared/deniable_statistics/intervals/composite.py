"""Exact confidence limits of a share that determines the probability of a count only up to a range.

If some people do not follow the instructions and the share is ``f``, the probability ``lam`` of a support is anywhere
in ``[low(f), high(f)]``, where neither end falls with ``f``. A share is then a composite hypothesis about a binomial
count.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.binomial import whole
from deniable_statistics.intervals.interval import Interval
from deniable_statistics.intervals.tails import at_least, at_least_is, at_most, crossing
from deniable_statistics.special.incomplete_beta import beta_cdfs
from deniable_statistics.special.logarithms import x_log1p_y, x_log_y

Ends = Callable[[NDArray[np.float64]], NDArray[np.float64]]


SECTIONS, ROUNDS = 8, 20
"""Each round cuts to an eighth: after 20, 8**-20 is below the spacing of floats near any limit.

Small arrays cost what calls of numpy cost, so seven places at once cost hardly more than the one of a bisection.
"""


def composite_interval(count: float, n: float, confidence_level: float, low: Ends, high: Ends) -> Interval:
    """The exact interval by restricted likelihood ratios where a share allows a range of probabilities.

    Parameters
    ----------
    count, n : float
        A fractional ``n`` is rounded, ``count`` in proportion.
    confidence_level : float
    low, high : callable
        The least and the largest ``lam`` for each of an array of shares in [0, 1], of any shape; continuous, never
        falling, ``low <= high``.

    Returns
    -------
    Interval
        The hull of all shares ``f`` with ``p(f) > alpha``, so it holds the share with at least the level at every
        ``lam`` that the share allows. Where ``low`` and ``high`` are equal it is
        `deniable_statistics.intervals.feldman_cousins`.

    Notes
    -----
    ``T(c, f)`` is the fall of the log-likelihood ``l(c, lam)`` from its maximum ``M(c)`` over all ``lam`` that some
    share allows to that over ``[low(f), high(f)]``; ``p(f)`` is the supremum of ``P(T(C, f) >= T(count, f))`` over
    these ``lam``. The notes of `feldman_cousins` carry over, for the lower limit with ``k = count`` and ``f`` so small
    that ``high(f) < k / n``:

    1. ``T(k, f)`` falls with ``f``. For a count ``c < n low(f)``, ``T(c, f) = M(c) - l(c, low(f))`` rises with ``f``
       and falls with ``c``. So the other tail is ``C <= c(f)`` where ``c(f)`` never falls, and each ``c`` joins it at
       one share, found by cutting [0, 1] again and again.
    2. ``P(C >= k) + P(C <= c)`` as a function of ``lam`` falls and then rises. So its supremum over
       ``[low(f), high(f)]`` is at one of the ends, and between two steps ``p`` falls and then rises too: it is largest
       at the ends of each stretch.
    3. So nothing is accepted before the first step with ``p > alpha``, except the last part of the stretch before it.
    4. ``p <= 2 exp(-T(k, f))`` by Chernoff's bound, and ``f`` with ``P(C >= k) > alpha`` at ``high(f)`` is accepted:
       only the steps between are looked at.

    If the range of probabilities is wide, one tail has all of ``alpha``; if it is a point, the two tails share
    ``alpha``. Imbens and Manski [1]_ derive the same for normal estimates.

    References
    ----------
    .. [1] G. W. Imbens, C. F. Manski, "Confidence intervals for partially identified parameters", Econometrica 72
       (2004), 1845-1857.

    Examples
    --------
    Two fair coins, 600 of 2000 say yes, and one in twenty people sends any report: ``lam`` is at most
    ``.95 / 4 + .95 f / 2 + .05``.

    >>> ends = composite_interval(600, 2000, 0.95, lambda f: 0.2375 + 0.475 * f, lambda f: 0.2875 + 0.475 * f)
    >>> [round(end, 3) for end in ends]
    [0.0, 0.168]
    """
    k, size = whole(count, n)
    alpha = 1 - confidence_level
    return Interval(
        _lower(alpha, k, size, low, high),
        1 - _lower(alpha, size - k, size, lambda f: 1 - high(1 - f), lambda f: 1 - low(1 - f)),
    ).cut()


def _lower(alpha: float, k: float, n: int, low: Ends, high: Ends) -> float:
    """The lower confidence limit; the upper one is one minus that of failures for the opposite share."""
    zero, one = np.zeros(1), np.ones(1)
    least, most = float(low(zero)[0]), float(high(one)[0])
    best = min(max(k / n, least), most)
    # A share of 0 allows the most likely probability, so no lower limit above 0 is possible.
    if high(zero)[0] >= best:
        return 0.0

    def first_with(reached: Callable[[NDArray[np.float64]], NDArray[np.bool_]], size: int = 1) -> NDArray[np.float64]:
        """The least share at which each of several monotone conditions holds; 1 where it never does."""
        below, above, each = np.zeros(size), np.ones(size), np.arange(size)
        parts = np.arange(1, SECTIONS)[:, None] / SECTIONS
        for _ in range(ROUNDS):
            middle = below + parts * (above - below)
            # Conditions are monotone, so the places where one does not hold are the first ones.
            missed = SECTIONS - 1 - reached(middle).sum(axis=0)
            places = np.concatenate([below[None], middle, above[None]])
            below, above = places[missed, each], places[missed + 1, each]
        return np.where(reached(np.zeros(size)), 0.0, above)

    def fall_of(c: NDArray[np.float64]) -> Ends:
        """``M(c) - l(c, lam)`` as a function of ``lam``."""
        maximum = _log_likelihood(c, n, np.clip(c / n, least, most))
        return lambda lam: maximum - _log_likelihood(c, n, lam)

    fall = fall_of(np.array([float(k)]))
    # P(C >= up) = I_lam(up, n - up + 1), the regularised incomplete beta function; P(C <= c) = I_(1 - lam)(n - c, c +
    # 1).
    up = math.ceil(k)

    def upper(f: NDArray[np.float64], ends: Ends) -> NDArray[np.float64]:
        return beta_cdfs(up, n - up + 1, ends(f))

    def p(f: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
        """P-values of shares whose lower tail holds the counts up to ``c``; for ``c = -1`` it is empty."""
        tails = []
        # Note 2: the supremum over [low(f), high(f)] is at one of its ends.
        for ends in (low, high):
            other = np.where(c < 0, 0.0, beta_cdfs(n - np.maximum(c, 0), np.maximum(c, 0) + 1, 1 - ends(f)))
            tails.append(upper(f, ends) + other)
        return np.maximum(*tails)

    def p_of(f: float, c: float) -> float:
        """`p` of one share."""
        ends = [float(each(np.array([f]))[0]) for each in (low, high)]
        return max(at_least(up, n, lam) + at_most(c, n, lam) for lam in ends)

    # Note 4: T > log(2 / alpha) is rejected by Chernoff's bound, P(C >= k) > alpha at high(f) is accepted.
    limit = math.log(2 / alpha)
    possible = at_least_is(alpha, up, n)

    def places(f: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether f reaches the maximum-likelihood share, is not rejected by the bound, is accepted by one tail."""
        lam = high(f)
        near = fall(np.minimum(lam[..., 1:2], best)) <= limit
        return np.concatenate([lam[..., :1] >= best, near, lam[..., 2:] > possible], axis=-1)

    # Three searches at once, because `low` and `high` may be costly: all limits lie between `outside` and `accepted`.
    ml, outside, accepted = map(float, first_with(places, 3))
    outside, accepted = min(outside, ml), min(accepted, ml)
    if accepted <= outside:
        return outside

    def joined(c: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.bool_]]:
        fall_c, lam_c = fall_of(c), np.clip(c / n, least, most)
        # Note 1: c joins the tail where M(c) - l(c, low(f)) >= T(k, f); cut so that neither fall leaves its branch.
        return lambda f: fall_c(np.maximum(low(f), lam_c)) >= fall(np.minimum(high(f), best))

    # The counts that join the tail after `outside`, where the last one that has joined already is `before`.
    every = np.arange(up, dtype=float)
    there = np.flatnonzero(joined(every)(np.full(up, outside)))
    before = float(there[-1]) if there.size else -1.0
    if p_of(outside, before) > alpha:
        return outside
    late = every[(every > before) & joined(every)(np.full(up, accepted))]
    steps = np.minimum(first_with(joined(late), late.size), accepted)
    # Note 3: the first step that is accepted, or the last part of the stretch before it.
    hits = np.flatnonzero(p(steps, late) > alpha)
    place = int(hits[0]) if hits.size else late.size
    end = float(steps[place]) if place < late.size else accepted
    start = float(steps[place - 1]) if place else outside
    tail = float(late[place - 1]) if place else before

    if p_of(end, tail) <= alpha:
        return end
    return crossing(lambda f: p_of(f, tail) - alpha, start, end)


def _log_likelihood(c: NDArray[np.float64], n: int, lam: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without the binomial coefficient; ``0 log 0 = 0``."""
    return x_log_y(c, lam) + x_log1p_y(n - c, -lam)
