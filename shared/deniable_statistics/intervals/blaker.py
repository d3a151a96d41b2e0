"""Blaker's exact interval for a binomial probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.binomial import both_ends, whole
from deniable_statistics.intervals.interval import Interval, check_binomial
from deniable_statistics.intervals.tails import Floats, Indices, as_far_below, first_true, newton_crossings
from deniable_statistics.special.incomplete_beta import beta_quantiles, beta_tails, beta_tails_and_density


def blaker(count: float, n: float, confidence_level: float) -> Interval:
    """Blaker's exact interval [1]_: never covers less than the level, never wider than Clopper and Pearson's.

    The method adds up atoms, so a fractional ``n`` is rounded, ``count`` in proportion, and limits of a
    fractional count are interpolated between those of the whole ones beside it.

    Notes
    -----
    A probability ``lam`` is accepted if the smaller tail at the count plus the largest opposite tail that is no
    larger, ``P(C <= c)``, exceeds ``alpha``. What is accepted may have holes; the limits are those of its hull,
    found without a march of small steps. For the lower one let ``u(lam) = P(C >= count)``, increasing.

    1. Where ``u <= alpha / 2`` the sum is at most ``2 u <= alpha``: nothing is accepted below Clopper and Pearson's
       limit ``L``. There ``c`` is the largest with ``P(C <= c) <= alpha / 2``.
    2. It stays ``c`` up to the ``lam`` where ``P(C <= c + 1) = u``. There the sum is ``2 u > alpha``: accepted.
    3. In between ``u + P(C <= c)`` falls at most once and then rises, because its derivative over ``n``,
       ``P(C' = count - 1) - P(C' = c)`` with ``C' ~ Bin(n - 1, lam)``, goes from minus to plus: the ratio of the two
       grows with the odds of ``lam``. It starts at ``alpha`` or below, so it crosses ``alpha`` once or never.

    The limit is that crossing, or else the point of step 2.

    References
    ----------
    .. [1] H. Blaker, "Confidence curves and improved exact confidence intervals for discrete distributions",
       Canadian Journal of Statistics 28 (2000), 783-798.

    Examples
    --------
    >>> [round(end, 4) for end in blaker(98, 729, 0.95)]
    [0.1106, 0.1608]
    """
    check_binomial(count, n, confidence_level)
    return blaker_of_each([count], [n], confidence_level)[0]


def blaker_of_each(counts: Sequence[float], sizes: Sequence[float], confidence_level: float) -> list[Interval]:
    """`blaker` of each of several counts.

    >>> [[round(end, 4) for end in each] for each in blaker_of_each([98, 0], [729, 2], 0.95)]
    [[0.1106, 0.1608], [0.0, 0.7764]]
    """
    alpha = 1 - confidence_level
    seen = [whole(count, n) for count, n in zip(counts, sizes, strict=True)]
    few = [math.floor(count) for count, _ in seen]
    people = [n for _, n in seen]

    def lowers(k: Floats, n: Floats) -> Floats:
        found, has_limit = np.zeros(k.shape), k > 0
        found[has_limit] = _lowers(alpha, k[has_limit], n[has_limit])
        return found

    below = both_ends(lowers, few, people)
    parts = [count - least for (count, _), least in zip(seen, few, strict=True)]
    if not any(parts):
        return below
    above = both_ends(lowers, [least + (part > 0) for least, part in zip(few, parts, strict=True)], people)
    # Linear between the limits of whole counts: the method itself adds up atoms of a binomial distribution.
    return [
        Interval(*((1 - part) * one + part * other for one, other in zip(low, high, strict=True)))
        for part, low, high in zip(parts, below, above, strict=True)
    ]


def _lowers(alpha: float, k: Floats, n: Floats) -> Floats:
    """The lower limits of whole counts of at least 1: steps 1 to 3 of the notes."""
    limit = beta_quantiles(k, n - k + 1, alpha / 2)

    def is_beyond(below: Floats) -> NDArray[np.bool_]:
        # P(C <= below) > alpha / 2 at L, for 0 <= below < k <= n
        return np.asarray(beta_tails(below + 1, n - below, limit)[1] > alpha / 2)

    c = first_true(is_beyond, as_far_below(k, n, limit), np.zeros(k.shape), k) - 1

    def apart(lam: Floats, left: Indices) -> tuple[Floats, Floats]:
        return _sum(k[left], c[left] + 1, n[left], lam, -1.0)

    def excess(lam: Floats, left: Indices) -> tuple[Floats, Floats]:
        value, slope = _sum(k[left], c[left], n[left], lam, 1.0)
        return value - alpha, slope

    found, every = beta_quantiles(k, n - k + 1, alpha), np.arange(len(k))
    # Step 2 is not reached before u alone is alpha, which is accepted too, where the tails are still apart there.
    met = np.flatnonzero(apart(found, every)[0] > 0)
    found[met] = newton_crossings(lambda lam, left: apart(lam, met[left]), limit[met], found[met])
    at_once = excess(limit, every)[0] >= 0
    # Without another tail the sum is u, which is not above alpha there but for rounding.
    inner = np.flatnonzero(~at_once & (c >= 0) & (excess(found, every)[0] > 0))
    found[at_once] = limit[at_once]
    found[inner] = newton_crossings(lambda lam, left: excess(lam, inner[left]), limit[inner], found[inner])
    return found


def _sum(k: Floats, c: Floats, n: Floats, lam: Floats, sign: float) -> tuple[Floats, Floats]:
    """``P(C >= k)`` and ``sign`` times ``P(C <= c)`` together, and the derivative, for ``c`` from -1 to ``k``."""
    is_some = (c >= 0) & (c < n)
    inner = np.where(is_some, c, 0.0)
    # P(C <= c) is the upper tail of a beta variable, whose density is how fast it falls.
    a, b = np.concatenate([k, inner + 1]), np.concatenate([n - k + 1, n - inner])
    lower, upper, density = beta_tails_and_density(a, b, np.concatenate([lam, lam]))
    size = len(k)
    other = np.where(is_some, upper[size:], np.where(c >= n, 1.0, 0.0))
    falls = np.where(is_some, density[size:], 0.0)
    return lower[:size] + sign * other, density[:size] - sign * falls
