"""Confidence intervals that know the range of a binomial probability, by the restricted likelihood ratio.

A share within [0, 1] leaves ``lam = b + (a - b) share`` between the design's two probabilities ``low < high``.
The statistic is the fall of the log-likelihood ``l`` from its maximum within that range,
``T(c, lam) = l(c, lam_c) - l(c, lam)`` with ``lam_c = c / n`` cut to ``[low, high]``. Limits are those of ``lam``. They
hold the most likely ``lam``, even where the count contradicts the design and intervals that are cut come out empty.

The lower limit is computed here and the upper one is that of failures: ``count -> n - count``, ``lam -> 1 - lam``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.binomial import whole
from deniable_statistics.intervals.interval import Interval, check_binomial, check_range, normal_quantile
from deniable_statistics.intervals.tails import as_far_below, at_least, at_most, bisect_near, crossing
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
    check_binomial(count, n, confidence_level)
    check_range(low, high)
    return feldman_cousins_of_each([count], [n], confidence_level, [(low, high)])[0]


def feldman_cousins_of_each(
    counts: Sequence[float], sizes: Sequence[float], confidence_level: float, ranges: Sequence[tuple[float, float]]
) -> list[Interval]:
    """`feldman_cousins` of each of several counts, of as many numbers of reports and ranges of ``lam``.

    What is looked at for all of them is computed in one call, because small arrays cost what calls of numpy cost.

    >>> [round(low, 4) for low, high in feldman_cousins_of_each([0, 9], [20, 20], 0.95, [(0.25, 0.75)] * 2)]
    [0.25, 0.2587]
    """
    alpha = 1 - confidence_level
    seen = [_Seen(*whole(count, n), *limits) for count, n, limits in zip(counts, sizes, ranges, strict=True)]
    limits = _exact_lowers(alpha, [*seen, *(each.mirrored for each in seen)])
    return [
        Interval(lower, 1 - upper).cut(each.low, each.high)
        for each, lower, upper in zip(seen, limits, limits[len(seen) :], strict=False)
    ]


class _Seen(NamedTuple):
    """A count of ``n`` reports, and the range of ``lam``."""

    k: float
    n: int
    low: float
    high: float

    @property
    def mirrored(self) -> _Seen:
        """The count of failures."""
        return _Seen(self.n - self.k, self.n, 1 - self.high, 1 - self.low)

    @property
    def most_likely(self) -> float:
        return min(max(self.k / self.n, self.low), self.high)

    @property
    def top(self) -> float:
        """The largest log-likelihood, ``M(k)``."""
        return _largest(self.k, self.n, self.low, self.high)

    @property
    def up(self) -> int:
        return math.ceil(self.k)

    def step(self) -> Callable[[int], float]:
        """The function that gives the step at which a count joins the tail, by note 2."""
        k, n, low, high = self
        top, most_likely = self.top, self.most_likely

        def step(c: int) -> float:
            if c >= k:  # the count itself, where all others are excluded
                return most_likely
            lam = min(max(c / n, low), high)
            inside = 0 < lam < 1  # `_largest` inlined: this runs thousands of times
            largest = c * math.log(lam) + (n - c) * math.log1p(-lam) if inside else _largest(c, n, low, high)
            # Note 2: logit(lam) = (M(k) - M(c)) / (k - c), the slope of a chord.
            odds = math.exp((top - largest) / (k - c))
            return min(odds / (1 + odds), most_likely)

        return step


_LIMITS: dict[tuple[float, _Seen], float] = {}
"""Limits that were computed: options of other questions often have the same counts, and the limits of the other one of
two options are the same two numbers, exchanged."""

MOST_LIMITS = 4096
"""Number of limits from which on those that were computed are forgotten."""


def _exact_lowers(alpha: float, seen: Sequence[_Seen]) -> list[float]:
    """The lower limit of `feldman_cousins` for each count; the notes there number the steps."""
    known = {each: _LIMITS.get((alpha, each)) for each in seen}
    missing = [each for each, limit in known.items() if limit is None and each.most_likely > each.low]
    searches = [_Search.of(alpha, each) for each in missing]
    for search, (c, reached) in zip(searches, _first_accepted(alpha, searches), strict=True):
        known[search.seen] = _limit(alpha, search, c, reached)
    # Where the most likely lam is the end of the range, the limit is this end.
    found = {each: each.low if limit is None else limit for each, limit in known.items()}
    if len(_LIMITS) > MOST_LIMITS:
        _LIMITS.clear()
    _LIMITS.update({(alpha, each): limit for each, limit in found.items()})
    return [found[each] for each in seen]


def _limit(alpha: float, search: _Search, c: int, reached: float) -> float:
    """The lower limit, from the first accepted step and the ``p`` there."""
    n, up, step = search.seen.n, search.seen.up, search.seen.step()
    outside, first = search.beyond, search.looked_at[0]
    if c == first:
        return outside

    def p(lam: float, c: int) -> float:
        return at_least(up, n, lam) + at_most(c, n, lam)

    # Note 4: the stretch before the first accepted step, with the one crossing of note 3.
    start, end = (outside if c - 1 == first else max(step(c - 1), outside)), step(c)
    if reached - mass(c, n - c, end) <= alpha:  # p just before the step, at which c joins the tail
        return end
    # Newton's last step starts from a rounded number, so that fractional counts which share the crossing share it to
    # the last digit. Note 3 has the derivative.
    near = float(f"{crossing(lambda lam: p(lam, c - 1) - alpha, start, end, 1e-10 * end):.10e}")
    slope = n * (mass(up - 1, n - up, near) - (mass(c - 1, n - c, near) if c else 0.0))
    return min(max(near - (p(near, c - 1) - alpha) / slope, start), end) if slope > 0 else near


class _Search(NamedTuple):
    """Steps among which the first accepted one is: the first is rejected up to ``beyond``, the last is accepted."""

    seen: _Seen
    beyond: float
    looked_at: list[int]

    @classmethod
    def of(cls, alpha: float, seen: _Seen) -> _Search:
        """Where to look first: close to where the first accepted step is likely to be, and in leaps over the others."""
        k, n, low, high = seen
        up, step = seen.up, seen.step()
        # Note 5: all below `outside` is rejected.
        outside = fallen_by(math.log(2 / alpha), k, n, low, high)
        # Steps come in the order of c (note 2), so those before `outside` can be counted by bisection.
        first = bisect_near(as_far_below(k, n, outside), outside, step, 0, up) - 1
        # The first step at the most likely lam, where p = 1: where that is the end of the range, M is linear beyond.
        last = max(min(math.ceil(n * high), up - 1), first + 1)
        # Where the interval is not cut each tail has half of alpha.
        likely = 1 / (1 + math.exp(-guessed_logit(up, n - up + 1, alpha / 2)))
        near = bisect_near(as_far_below(k, n, likely), likely, step, first + 1, last)
        leaps = _leaps(near - first, last - near)
        return cls(seen, outside, [first, *sorted({min(max(near + leap, first + 1), last) for leap in leaps})])


def _first_accepted(alpha: float, searches: Sequence[_Search]) -> list[tuple[int, float]]:
    """The first step with ``p > alpha`` of each search, and that ``p``; the first that is looked at for ``beyond``.

    Leaps over steps by the bound of note 5, and then takes what is left.
    """
    found: dict[int, tuple[int, float]] = {}
    waiting = dict(enumerate(searches))
    while waiting:
        tails = _tails(list(waiting.values()))
        left: dict[int, _Search] = {}
        for (place, search), each in zip(waiting.items(), tails, strict=True):
            hit, missed = _hit(alpha, search.looked_at, each)
            if missed is None:
                found[place] = search.looked_at[hit], each.upper[hit] + each.lower[hit]
            else:
                start, stop = search.looked_at[missed], search.looked_at[hit]
                steps = [*range(start, stop, max((stop - start) // 16, 1)), stop]
                left[place] = _Search(search.seen, each.lam[missed], steps)
        waiting = left
    return [found[place] for place in range(len(searches))]


class _Tails(NamedTuple):
    """What is known at the steps of a search.

    ``P(C >= up)`` and ``P(C <= c)`` at the step ``lam`` of each ``c``, and for all but the first ``P(C <= c)`` at the
    ``lam`` before.
    """

    lam: list[float]
    upper: list[float]
    lower: list[float]
    bound: list[float]


def _hit(alpha: float, c: Sequence[int], tails: _Tails) -> tuple[int, int | None]:
    """The place of the first accepted step, and that of the first leap in which there may be an accepted one before."""
    last = len(c) - 1  # which is known to be accepted
    accepted = (place for place in range(last) if tails.upper[place] + tails.lower[place] > alpha)
    hit = next(accepted, last)
    # The bound of note 5 on each leap from x to y: p <= P(C >= k; y) + P(C <= c(y); x).
    possible = (
        place
        for place in range(hit)
        if c[place + 1] - c[place] > 1 and (place + 1 == hit or tails.upper[place + 1] + tails.bound[place] > alpha)
    )
    return hit, next(possible, None)


def _leaps(before: int, after: int) -> list[int]:
    """Distances from a guess at which to look: close ones to both sides, and wider leaps the farther they are."""
    leaps, leap = [-before + 1, -1, 0, 1, 3, 9, after], 2
    while leap < before:
        leaps.append(-leap)
        leap += max(leap // 3, 1)
    return leaps


def _tails(searches: Sequence[_Search]) -> list[_Tails]:
    """The tails at the steps of all searches, in one call."""
    numbers = np.array([len(each.looked_at) for each in searches])
    ends = np.cumsum(numbers)
    starts = ends - numbers
    c = np.concatenate([each.looked_at for each in searches])
    n = np.repeat([each.seen.n for each in searches], numbers)
    up = np.repeat([each.seen.up for each in searches], numbers)
    lam = _steps(c, searches, numbers)
    lam[starts] = [each.beyond for each in searches]
    inner = np.ones(len(c), dtype=bool)  # all but the first step of each search, which no other precedes
    inner[starts] = False
    after = np.flatnonzero(inner)
    x = np.maximum(lam, 1e-15)  # so that 1 - x is below 1
    failures = n - np.maximum(c, 0)
    a = np.concatenate([up, failures, failures[after]])
    people = np.concatenate([n, n, n[after]])
    logs = _log_factorials(int(n.max()))
    log_scale = logs[people] - logs[a - 1] - logs[people - a]  # -log B(a, n + 1 - a)
    found = small_beta_cdfs(a, people + 1 - a, np.concatenate([x, 1 - x, 1 - x[after - 1]]), log_scale)
    upper, lower, bound = np.split(found, [len(c), 2 * len(c)])
    lower[c < 0] = 0.0  # no count is below 0
    lams, uppers, lowers, bounds = (each.tolist() for each in (lam, upper, lower, bound))
    return [
        # Each search has one bound fewer than steps.
        _Tails(lams[start:end], uppers[start:end], lowers[start:end], bounds[start - place : end - place - 1])
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    ]


def _steps(c: NDArray[np.int64], searches: Sequence[_Search], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The steps of all counts that are looked at, by note 2."""
    columns = [(*each.seen, each.seen.top, each.seen.most_likely) for each in searches]
    k, n, low, high, top, most_likely = np.repeat(np.array(columns).T, numbers, axis=1)
    lam = np.clip(c / n, np.maximum(low, 1e-300), np.minimum(high, 1 - 1e-16))
    # The count itself is looked at where all others are excluded: its step is the most likely lam.
    fewer = np.where(c < k, k - c, 1)
    odds = np.exp((top - c * np.log(lam) - (n - c) * np.log1p(-lam)) / fewer)
    return np.asarray(np.where(c < k, np.minimum(odds / (1 + odds), most_likely), most_likely))


@lru_cache(maxsize=64)
def _log_factorials(n: int) -> NDArray[np.float64]:
    """``log c!`` for ``c`` from 0 to ``n``."""
    return log_factorial(np.arange(n + 1))


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
