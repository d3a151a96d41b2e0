"""Exact power of a binomial test, which is saw-toothed in the number of people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_statistics.planning.checks import smallest
from deniable_statistics.planning.noise_model import NoiseModel
from deniable_statistics.special.binomial import at_least_of_each

MOST_PEOPLE = 1_000_000
"""Largest sample size for exact power; beyond it the test is nearly continuous, and the normal approximation good."""

BLOCK = 4096
"""Number of sample sizes that are computed at a time, as one vector."""

ROUNDING = 1e-12
"""Relative error of a tail: one that exceeds the level by less meets it, as a half does for one coin."""

Tail = tuple[float, float, float]
"""Probabilities of a report for the alternative, under the null hypothesis and in truth; and the level of the tail."""


def exact_power(tails: Sequence[Tail], n: int) -> float:
    """The exact probability that the test rejects with ``n`` reports.

    Notes
    -----
    The test rejects if the count ``C`` of supporting reports has ``P(C' >= C | null) <= level``; if two-sided, half
    the level on either side, as Clopper and Pearson's interval does. Its size never exceeds the level, and lies
    below it because counts are whole: power jumps down wherever the critical count moves up by one.

    Examples
    --------
    One coin shown as it is, tossed six times, to tell p = .9 from .5: reject at 6 of 6, (1/2)^6 = .016; .9^6 = .53.

    >>> tails = tails_of(NoiseModel.directly(), share=0.9, null=0.5, level=0.05, alternative="greater")
    >>> round(exact_power(tails, 6), 4)
    0.5314
    """
    return float(sum(_tail_power([n], *tail)[0] for tail in tails))


def exact_sample_size(tails: Sequence[Tail], target: float, impossible: str) -> int:
    """The smallest number of people from which on the exact power stays at or above the target.

    Notes
    -----
    The last number with too little power is searched downwards from a number above which power is proved to be
    enough. By Chernoff's bound the critical count is at most ``ceil(n x)`` with ``n KL(x, lam_null) = ln(1 / level)``,
    and the probability of fewer reports is at most ``exp(-n KL(x, lam))``, where ``KL`` is the Kullback-Leibler
    divergence of two Bernoulli distributions. As ``n`` grows ``x`` falls, so that this bound falls, too: once it is
    below ``1 - target``, it stays below.

    Raises
    ------
    ParameterError
        With the sentence ``impossible`` if no number of people is enough; or if more than `MOST_PEOPLE` may be needed.
    """
    lam_null, lam, level = max(tails, key=lambda tail: tail[1] - tail[0])  # the side on which the share is
    high = smallest(lambda n: _missed_at_most(n, lam_null, lam, level) <= 1 - target, impossible)
    if high > MOST_PEOPLE:
        raise ParameterError(
            f"exact: is limited to {MOST_PEOPLE:,} people, these shares may need {high:,}; "
            "the normal approximation has no such limit"
        )
    while high > 0:
        # Downwards: the first block with too little power has the last such number.
        numbers = np.arange(max(1, high - BLOCK), high + 1)
        too_few = numbers[sum(_tail_power(numbers, *tail) for tail in tails) < target]
        if too_few.size:
            return int(too_few[-1]) + 1
        high -= BLOCK + 1
    return 1


def critical_counts(n: ArrayLike, lam: float, level: float) -> NDArray[np.int64]:
    """The smallest ``c`` with ``P(C >= c) <= level`` for a binomial count ``C`` of ``n`` and ``lam``; at most n + 1."""
    people = np.asarray(n, dtype=np.int64)
    level = level * (1 + ROUNDING)
    counts = _first_guess(people, lam, level)
    while (more := (counts <= people) & (at_least_of_each(counts, people, lam) > level)).any():
        counts += more
    while (less := (counts > 0) & (at_least_of_each(counts - 1, people, lam) <= level)).any():
        counts -= less
    return counts


def _first_guess(people: NDArray[np.int64], lam: float, level: float) -> NDArray[np.int64]:
    """The counts that Cornish and Fisher's expansion says, Abramowitz and Stegun 26.2.49: seldom off by two."""
    z = -NormalDist().inv_cdf(level)
    sd = np.sqrt(people * lam * (1 - lam))
    # The half is the correction for continuity, and a count that is met exactly rejects.
    guess = people * lam + z * sd + (1 - 2 * lam) * (z * z - 1) / 6 + 0.5
    return np.asarray(np.clip(np.ceil(guess), 0, people + 1), dtype=np.int64)


def tails_of(noise: NoiseModel, share: float, null: float, level: float, alternative: str) -> list[Tail]:
    """The upper tails whose probabilities add up to the power.

    A lower tail is written as the upper tail of the reports that do not support the option.

    Raises
    ------
    ParameterError
        If the mechanism's counts are not binomials.
    """
    if noise.drawn < 1:
        raise ParameterError("exact: needs reports that all speak of the option; of boxes devices draw some")
    if noise.support is None:
        raise ParameterError("exact: needs a mechanism whose reports support an option or do not")
    a, b = noise.support
    # A report supports the option with probability b + (a - b) f.
    lam_null, lam = (b + (a - b) * f for f in (null, share))
    greater, less = (lam_null, lam), (1 - lam_null, 1 - lam)
    # With a < b a report supports the option less often if it is true, so that few supports mean a greater share.
    if a < b:
        greater, less = less, greater
    if alternative == "two-sided":
        # As Clopper and Pearson's interval: half the level on either side.
        return [(*greater, level / 2), (*less, level / 2)]
    return [(*(greater if alternative == "greater" else less), level)]


def _tail_power(n: ArrayLike, lam_null: float, lam: float, level: float) -> NDArray[np.float64]:
    people = np.asarray(n, dtype=np.int64)
    return at_least_of_each(critical_counts(people, lam_null, level), people, lam)


def _missed_at_most(n: int, lam_null: float, lam: float, level: float) -> float:
    """An upper bound of 1 - power that falls with ``n``; 1 where Chernoff's bound proves nothing."""
    # Chernoff: P(C >= n x | null) <= exp(-n KL(x, lam_null)), which is the level where KL is ln(1 / level) / n.
    needed = math.log(1 / level) / n
    if _divergence(1.0, lam_null) <= needed:
        return 1.0
    low, high = lam_null, 1.0
    while low < (middle := (low + high) / 2) < high:  # to the last float: `crossing` stops a few of them before
        low, high = (middle, high) if _divergence(middle, lam_null) < needed else (low, middle)
    # The same bound from the other side: fewer than n x reports although lam is true.
    return math.exp(-n * _divergence(high, lam)) if high < lam else 1.0


def _divergence(x: float, lam: float) -> float:
    """Kullback-Leibler divergence of Bernoulli distributions: ``x ln(x / lam) + (1 - x) ln((1 - x) / (1 - lam))``."""
    # The bound that messages name depends on how this is rounded.
    total = 0.0
    for p, q in ((x, lam), (1 - x, 1 - lam)):
        if p > 0:
            total += p * math.log(p / q) if q > 0 else math.inf
    return total
