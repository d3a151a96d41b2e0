"""Exact confidence intervals for a share in a finite population, some or all of which reported."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.interval import Interval
from deniable_statistics.special.hypergeometric import hypergeometric_masses

Floats = NDArray[np.float64]


def finite_interval(
    count: int, n: int, population: int, support: tuple[float, float], confidence_level: float
) -> Interval:
    """Feldman and Cousins' interval for how many people of a population have a trait, as a share.

    Parameters
    ----------
    count : int
        Reports that support the trait.
    n : int
        Reports; of people drawn without replacement.
    population : int
        People; ``n`` if all of them reported.
    support : tuple of two floats
        Probability of a supporting report of a person with the trait, and of one without.
    confidence_level : float

    Notes
    -----
    If ``m`` people of ``N`` have it, ``X`` of those drawn do, hypergeometric, and the count is the sum of ``Bin(X, a)``
    and ``Bin(n - X, b)``. All its probabilities are added up, for every ``m``: never covers less than the level. As
    Feldman and Cousins do, whom `enumerated_interval` cites, ``m`` is in the interval unless counts whose likelihood
    ratio ``P(c | m) / max P(c | .)`` is no larger than that of the observed count have a probability of at most
    ``alpha``. A single ``m`` is shown as ``m - 1/2`` to ``m + 1/2``.

    Examples
    --------
    Two respondents and two fair coins, no yes. If one of them is a yes that has the probability 3/16, if both are 1/16:

    >>> finite_interval(0, 2, 2, (0.75, 0.25), 0.95)
    Interval(low=0.0, high=1.0)
    >>> finite_interval(0, 2, 2, (0.75, 0.25), 0.9)
    Interval(low=0.0, high=0.5)
    """
    chances = _chances(n, population, *support)
    logs = np.log(np.maximum(chances, 1e-300))
    ratio = logs - logs.max(axis=0)
    seen = ratio[:, count, None]
    as_far = ratio <= seen + 1e-9 * (1 + abs(seen))  # what is equal but for rounding is equal
    held = np.flatnonzero(np.where(as_far, chances, 0).sum(axis=1) > 1 - confidence_level)
    low, high = int(held[0]), int(held[-1])
    # One whole number of people is no interval; half a person to each side is what rounding to it means.
    single = 0.5 if low == high else 0.0
    return Interval((low - single) / population, (high + single) / population).cut()


def is_small(n: float, population: int) -> bool:
    """Whether the probabilities of all counts can be added up: at most 400 reports, and work of at most `LARGEST_WORK`.

    >>> is_small(400, 400), is_small(401, 401), is_small(50, 5000), is_small(50, 50_000)
    (True, False, True, False)
    """
    return n <= LARGEST and (population + 1) * (n + 1) ** 2 <= LARGEST_WORK


LARGEST = 400
"""Largest number of reports for which exact intervals are computed."""

LARGEST_WORK = 10**8
"""Largest number of products ``(population + 1) (n + 1)^2`` that are added up."""


@lru_cache(maxsize=8)  # options of a question have the same support
def _chances(n: int, population: int, a: float, b: float) -> Floats:
    """``P(count | m)``, shape (population + 1, n + 1)."""
    counts = np.arange(n + 1)
    with_trait, without = _binomials(n, a), _binomials(n, b)
    # Row x: P(count) if x of the n people drawn have the trait, the sum of Bin(x, a) and Bin(n - x, b).
    of_drawn = np.stack([np.convolve(with_trait[x], without[n - x]) for x in counts.tolist()])
    if n == population:
        return of_drawn
    # P(count | m) = sum over x of P(X = x) P(count | x), X hypergeometric.
    return np.asarray(hypergeometric_masses(population, n) @ of_drawn)


def _binomials(n: int, p: float) -> list[Floats]:
    """The probabilities of all counts of 0 to n people, by adding one after the other."""
    rows = [np.ones(1)]
    for _ in range(n):
        rows.append(np.append(rows[-1], 0.0) * (1 - p) + np.append(0.0, rows[-1]) * p)
    return rows
