"""Confidence intervals that know the range of a binomial probability, by the restricted likelihood ratio.

A share within [0, 1] leaves ``lam = b + (a - b) share`` between the design's two probabilities ``low < high``.
The statistic is the fall of the log-likelihood ``l`` from its maximum within that range,
``T(c, lam) = l(c, lam_c) - l(c, lam)`` with ``lam_c = c / n`` cut to ``[low, high]``. Limits are those of ``lam``. They
hold the most likely ``lam``, even where the count contradicts the design and intervals that are cut come out empty.

The lower limit is computed here and the upper one is that of failures: ``count -> n - count``, ``lam -> 1 - lam``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.binomial import whole
from deniable_statistics.intervals.interval import Interval, normal_quantile
from deniable_statistics.intervals.tails import at_least, at_most, crossing
from deniable_statistics.special.binomial_mass import mass
from deniable_statistics.special.incomplete_beta import guessed_logit, small_beta_cdfs
from deniable_statistics.special.logarithms import log_factorial


def likelihood_ratio_interval(count: float, n: float, confidence_level: float, low: float, high: float) -> Interval:
    """All ``lam`` in the range with ``2 T(count, lam)`` at most the quantile of chi-squared with one degree of freedom.

    Close to the level for many reports [1]_. ``count`` and ``n`` may be real. Needs no numpy.

    References
    ----------
    .. [1] S. S. Wilks, "The large-sample distribution of the likelihood ratio for testing composite hypotheses",
       Annals of Mathematical Statistics 9 (1938), 60-62.

    Examples
    --------
    0 of 20 where 1/4 is the least: the likelihood falls from ``.75^20`` by the factor ``exp(-1.96^2 / 2)``, which
    ``(1 - lam)^20`` does at ``1 - .75 exp(-1.92 / 20)``.

    >>> [round(end, 4) for end in likelihood_ratio_interval(0, 20, 0.95, 0.25, 0.75)]
    [0.25, 0.3187]
    """
    # Wilks: 2 T is chi-squared with one degree of freedom, the square of a standard normal variable.
    drop = normal_quantile(confidence_level) ** 2 / 2
    return Interval(
        fallen_by(drop, count, n, low, high),
        1 - fallen_by(drop, n - count, n, 1 - high, 1 - low),
    ).cut(low, high)


def feldman_cousins(count: float, n: float, confidence_level: float, low: float, high: float) -> Interval:
    """The exact interval of Feldman and Cousins [1]_: never covers less than the level, and knows the range.

    Needs numpy.

    Parameters
    ----------
    count, n : float
        A fractional ``n`` is rounded, ``count`` in proportion: binomial probabilities are those of whole ``n``.
    confidence_level : float
        Above 0 and below 1. From 0.75 the interval is longer than a point, see step 6.
    low, high : float
        The range of ``lam``, ``0 <= low < high <= 1``.

    Returns
    -------
    Interval
        Hull of all ``lam`` with ``p(lam) = P(T(C, lam) >= T(count, lam)) > alpha``, to floating-point accuracy.

    Notes
    -----
    The set has small holes, so a scan for its ends goes wrong unless its steps are tiny. No scan is needed. For the
    lower limit let ``k = count`` and ``M(c) = l(c, lam_c)``. If ``k <= n low``, ``p(low) = 1`` and the limit is
    ``low``. Otherwise consider ``lam`` below ``lam_k``, so that ``k > n lam``.

    1. ``T(., lam)`` is convex with its minimum 0 at ``n lam``: by the envelope theorem its derivative is
       ``logit(lam_c) - logit(lam)``, which never falls. So counts at least as extreme as ``k`` make two tails,
       ``C >= k`` and ``C <= c`` for some ``c(lam) < n lam``.
    2. ``l(c, lam) = c logit(lam) + n log(1 - lam)``, so ``T(c, lam) >= T(k, lam)`` means
       ``logit(lam) >= (M(k) - M(c)) / (k - c)``. That is the slope of a chord of the convex ``M``, so these steps, at
       which one more count joins the tail, come in the order of ``c``. At the step itself ``c`` is in the tail.
    3. From one step to the next ``p = P(C >= k) + P(C <= c)``, with the derivative
       ``n [P(C' = k' - 1) - P(C' = c)]``, where ``C' ~ Bin(n - 1, lam)`` and ``k'`` is ``k`` rounded up. The ratio of
       the two grows with ``lam``, so the sign changes at most once, from minus to plus: ``p`` is largest at the ends.
    4. So nothing is accepted before the first step with ``p > alpha``, except, if ``p > alpha`` just before it,
       the last part of the stretch that ends there: from the only crossing in this stretch.
    5. Where to look: ``P(C >= k) <= exp(-T(k, lam))`` by tilting to ``lam_k`` (Chernoff). The other tail has the same
       bound, as ``T(c, lam) >= T(k, lam)``. So ``p <= 2 exp(-T(k, lam))``, and all ``lam`` with
       ``T(k, lam) > log(2 / alpha)`` are rejected. Those with ``P(C >= k) > alpha`` are accepted. About one standard
       error is left. Between ``x < y`` in it ``p <= P(C >= k; y) + P(C <= c(y); x)``, which rejects many steps at once.
    6. Beside a most likely ``lam`` within the range ``p = 1``. If it is the end ``low``, ``p`` just above is at least
       ``P(C > n low)``, or 1 if ``n low < 1``. A binomial count exceeds its mean with probability at least 1/4 from
       a mean of 0.29 [2]_, and ``P(C <= k)`` comes on top. So the interval is not a single point at levels from 0.75.
       Below it can be one: then all other ``lam`` are rejected.

    References
    ----------
    .. [1] G. J. Feldman, R. D. Cousins, "Unified approach to the classical statistical analysis of small signals",
       Physical Review D 57 (1998), 3873-3889.
    .. [2] B. Doerr, "An elementary analysis of the probability that a binomial random variable exceeds its
       expectation", Statistics & Probability Letters 139 (2018), 67-74.

    Examples
    --------
    0 of 20 where 1/4 is the least. By step 2, mirrored, 10 is as extreme as 0 up to the ``lam`` with
    ``10 logit(lam) = M(10) - M(0) = 20 log(1/2) - 20 log(3/4)``: odds of (2/3)^2, 4/13. There
    ``p = P(C = 0) + P(C >= 10) = 0.057``, and 0.021 beyond, where 10 is less extreme.

    >>> [round(end, 4) for end in feldman_cousins(0, 20, 0.95, 0.25, 0.75)]
    [0.25, 0.3077]
    """
    alpha = 1 - confidence_level
    k, size = whole(count, n)
    return Interval(
        _exact_lower(alpha, k, size, low, high),
        1 - _exact_lower(alpha, size - k, size, 1 - high, 1 - low),
    ).cut(low, high)


@lru_cache(maxsize=1024)
def _exact_lower(alpha: float, k: float, n: int, low: float, high: float) -> float:
    """The lower limit of `feldman_cousins`, whose notes number the steps.

    Cached, because the limits of the other one of two options are the same two numbers, exchanged.
    """
    most_likely = min(max(k / n, low), high)
    if most_likely == low:
        return low
    top, up = _largest(k, n, low, high), math.ceil(k)

    def step(c: int) -> float:
        lam = min(max(c / n, low), high)
        inside = 0 < lam < 1  # `_largest` inlined: this runs thousands of times
        largest = c * math.log(lam) + (n - c) * math.log1p(-lam) if inside else _largest(c, n, low, high)
        # Note 2: logit(lam) = (M(k) - M(c)) / (k - c), the slope of a chord.
        odds = math.exp((top - largest) / (k - c))
        return min(odds / (1 + odds), most_likely)

    def p(lam: float, c: int) -> float:
        return at_least(up, n, lam) + at_most(c, n, lam)

    # Note 5: all below `outside` is rejected.
    outside = fallen_by(math.log(2 / alpha), k, n, low, high)
    # Steps come in the order of c (note 2), so those before `outside` are found by bisection.
    first = bisect_right(range(up), outside, key=step) - 1
    c, reached = _first_accepted(step, (k, n, low, high), alpha, outside, first)
    if c == first:
        return outside
    # Note 4: the stretch before the first accepted step, with the one crossing of note 3.
    start, end = (outside if c - 1 == first else max(step(c - 1), outside)), step(c)
    if reached - mass(c, n - c, end) <= alpha:  # p just before the step, at which c joins the tail
        return end
    # Newton's last step starts from a rounded number, so that fractional counts which share the crossing share it to
    # the last digit. Note 3 has the derivative.
    near = float(f"{crossing(lambda lam: p(lam, c - 1) - alpha, start, end, 1e-10 * end):.10e}")
    slope = n * (mass(up - 1, n - up, near) - (mass(c - 1, n - c, near) if c else 0.0))
    return min(max(near - (p(near, c - 1) - alpha) / slope, start), end) if slope > 0 else near


def _first_accepted(
    step: Callable[[int], float], seen: tuple[float, int, float, float], alpha: float, outside: float, first: int
) -> tuple[int, float]:
    """The first ``c`` above ``first`` with ``p > alpha`` at its step, and that ``p``; ``first`` for ``outside``.

    Looks where it is likely to be, leaps over the other steps by the bound of note 5, and then takes what is left.
    """
    k, n, low, high = seen
    up = math.ceil(k)
    # The first step at the most likely lam, where p = 1: where that is the end of the range, M is linear from there on.
    last = max(min(math.ceil(n * high), up - 1), first + 1)
    # Where the interval is not cut each tail has half of alpha.
    likely = 1 / (1 + math.exp(-guessed_logit(up, n - up + 1, alpha / 2)))
    near = bisect_right(range(last), likely, lo=first + 1, key=step)
    leaps = _leaps(near - first, last - near)
    looked_at = [first, *sorted({min(max(near + leap, first + 1), last) for leap in leaps})]
    beyond = outside
    while True:
        c = np.array(looked_at)
        lam = np.concatenate([[beyond], _steps(c[1:], k, n, low, high)])
        upper, lower, bound = _tails(c, lam, up, n)
        accepted = upper + lower > alpha
        accepted[-1] = True  # the last one is known to be
        hit = int(np.argmax(accepted))
        # The bound of note 5 on each leap from x to y: p <= P(C >= k; y) + P(C <= c(y); x).
        possible = (np.diff(c) > 1) & ((upper[1:] + bound > alpha) | (np.arange(1, len(c)) == hit))
        left = np.flatnonzero(possible[:hit])
        if not left.size:
            return int(c[hit]), float(upper[hit] + lower[hit])
        start, stop = int(left[0]), int(c[hit])
        first, beyond = int(c[start]), float(lam[start])
        looked_at = [*range(first, stop, max((stop - first) // 16, 1)), stop]


def _steps(c: NDArray[np.int64], k: float, n: int, low: float, high: float) -> NDArray[np.float64]:
    """The steps of many counts, by note 2."""
    lam = np.clip(c / n, max(low, 1e-300), min(high, 1 - 1e-16))
    odds = np.exp((_largest(k, n, low, high) - c * np.log(lam) - (n - c) * np.log1p(-lam)) / (k - c))
    return np.asarray(np.minimum(odds / (1 + odds), min(max(k / n, low), high)))


def _leaps(before: int, after: int) -> list[int]:
    """Distances from a guess at which to look: close ones to both sides, and wider leaps the farther they are."""
    leaps, leap = [-before + 1, -1, 0, 1, 3, 9, after], 2
    while leap < before:
        leaps.append(-leap)
        leap += max(leap // 3, 1)
    return leaps


def _tails(
    c: NDArray[np.int64], lam: NDArray[np.float64], up: int, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """``P(C >= up)`` and ``P(C <= c)`` at each ``lam``, and ``P(C <= c)`` at the ``lam`` before, for all but the first.

    In one call: for a few dozen numbers the calls of numpy are what takes time.
    """
    lam = np.maximum(lam, 1e-15)  # so that 1 - lam is below 1
    size, failures = len(c), n - np.maximum(c, 0)
    a = np.concatenate([np.full(size, up), failures, failures[1:]])
    x = np.concatenate([lam, 1 - lam, 1 - lam[:-1]])
    found = small_beta_cdfs(a, n + 1 - a, x, _log_scales(n)[a])
    upper, lower, bound = found[:size], found[size : 2 * size], found[2 * size :]
    lower[c < 0] = 0.0  # no count is below 0
    return upper, lower, bound


@lru_cache(maxsize=64)
def _log_scales(n: int) -> NDArray[np.float64]:
    """``-log B(a, n + 1 - a)`` for ``a`` from 1 to ``n``; the first number is not used."""
    logs = log_factorial(np.arange(n + 1))
    return np.concatenate([[0.0], logs[n] - logs[:-1] - logs[-2::-1]])


def _largest(c: float, n: float, low: float, high: float) -> float:
    return _log_likelihood(c, n, min(max(c / n, low), high))


def _log_likelihood(count: float, n: float, lam: float) -> float:
    """Without the binomial coefficient, which no comparison needs; ``0 log 0 = 0``."""
    successes = count * math.log(lam) if lam > 0 else (-math.inf if count > 0 else 0.0)
    failures = (n - count) * math.log1p(-lam) if lam < 1 else (-math.inf if n > count else 0.0)
    return successes + failures


def fallen_by(drop: float, count: float, n: float, low: float, high: float) -> float:
    """The ``lam`` below the most likely one where ``T(count, lam) = drop``; ``low`` if it does not get there.

    Newton's method on the scale of ``logit(lam)``, on which ``T`` is convex: from a point that is too low it rises
    to the root and never jumps beyond.
    """
    if count <= n * low:
        return low
    top = _largest(count, n, low, high)
    if top - _log_likelihood(count, n, low) <= drop:
        return low
    # Failures only lower the likelihood, so where successes alone lower it enough is too low.
    start = max(low, math.exp((top - drop) / count))
    if start < 1e-300:
        return low
    logit = math.log(start) - math.log1p(-start)
    for _ in range(100):
        lam = 1 / (1 + math.exp(-logit))
        # dT / dlogit(lam) = n lam - count, so Newton's step is (T - drop) / (count - n lam).
        rise = (top - _log_likelihood(count, n, lam) - drop) / (count - n * lam)
        logit += rise
        if rise <= 1e-13 * (1 + abs(logit)):
            break
    return 1 / (1 + math.exp(-logit))
