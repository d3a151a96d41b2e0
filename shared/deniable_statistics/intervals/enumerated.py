"""The exact interval of a share of two answers where so few tallies are possible that all are enumerated."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.special.logarithms import log_factorial

Floats = NDArray[np.float64]


MOST_TALLIES = 2000
"""Largest number of possible tallies that are enumerated, which takes a tenth of a second."""

STEPS = 512
"""Number of intervals of the grid on [0, 1]; a limit is found by bisection within one of them."""


def is_enumerable(reports: int, n: float) -> bool:
    """Whether there are few enough tallies of ``n`` reports, which have no weights.

    >>> is_enumerable(3, 60), is_enumerable(3, 100), is_enumerable(2, 7.5)
    (True, False, False)
    """
    return n == int(n) and math.comb(int(n) + reports - 1, reports - 1) <= MOST_TALLIES


def enumerated_interval(channel: Floats, counts: Floats, confidence_level: float) -> tuple[float, float]:
    """Feldman and Cousins' interval [1]_ for the share of the second of two answers.

    Parameters
    ----------
    channel : ndarray, shape (reports, 2)
    counts : ndarray, shape (reports,)
        Whole numbers; see `is_enumerable`.
    confidence_level : float

    Notes
    -----
    A share is in the interval unless tallies whose likelihood ratio ``P(C | share) / max P(C | .)`` is no larger than
    that of the observed tally have a probability of at most ``alpha``. The ends are searched on a grid of 513 shares
    and refined by bisection.

    References
    ----------
    .. [1] G. J. Feldman, R. D. Cousins, "Unified approach to the classical statistical analysis of small signals",
       Physical Review D 57 (1998), 3873-3889.

    Examples
    --------
    With two fair coins 2 of 2 no have a probability of 1/16 even if everybody's answer is yes:

    >>> import numpy as np
    >>> coins = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> enumerated_interval(coins, np.array([2.0, 0.0]), 0.95)
    (0.0, 1.0)
    """
    tallies, ways, ratio, chances, largest = _all_tallies(int(counts.sum()), tuple(map(tuple, channel.tolist())))
    seen = int(np.flatnonzero((tallies == counts).all(axis=1))[0])
    grid, alpha = np.linspace(0, 1, STEPS + 1), 1 - confidence_level

    def holds(share: float) -> bool:
        # A share between two grid points may be likelier than both, so it can raise the maximum.
        here = _logs(channel, tallies, ways, np.array([share]))[:, 0]
        falls = here - np.maximum(largest, here)
        return bool(np.exp(here[falls <= falls[seen] + 1e-9]).sum() > alpha)

    # Likelihood ratios that are equal but for rounding count as equal, here and in `holds`.
    held = np.flatnonzero(np.where(ratio <= ratio[seen] + 1e-9, chances, 0).sum(axis=0) > alpha)
    ends = []
    for place, beyond in ((int(held[0]), -1), (int(held[-1]), 1)):
        if not 0 <= place + beyond <= STEPS:
            ends.append(float(grid[place]))
            continue
        inner, outer = float(grid[place]), float(grid[place + beyond])
        # 1/512 halved twelve times is 5e-7, below what is printed.
        for _ in range(12):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if holds(middle) else (inner, middle)
        ends.append(outer)
    return ends[0], ends[1]


@lru_cache(maxsize=4)
def _all_tallies(n: int, channel: tuple[tuple[float, ...], ...]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """All tallies of ``n`` reports with what a grid of shares makes of them.

    Returns
    -------
    tuple of ndarray
        The tallies, shape (t, reports); the logarithm of their multinomial coefficients, shape (t,); the log-likelihood
        ratio and the probability of each tally at each share, shape (t, shares); and the largest log-likelihood of each
        tally, shape (t,).
    """
    tallies = compositions(n, len(channel))
    ways = np.asarray(log_factorial(n) - log_factorial(tallies).sum(axis=1))
    logs = _logs(np.array(channel), tallies, ways, np.linspace(0, 1, STEPS + 1))
    largest = logs.max(axis=1)
    return tallies, ways, logs - largest[:, None], np.exp(logs), largest


def compositions(n: int, parts: int) -> Floats:
    """All tallies of ``n`` reports, shape (tallies, parts).

    >>> compositions(2, 2).tolist()
    [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]
    """
    # Stars and bars: a tally is the gaps between parts - 1 bars among n + parts - 1 places.
    bars = np.array(list(itertools.combinations(range(n + parts - 1), parts - 1))).reshape(-1, parts - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + parts - 1)))
    return np.asarray(np.diff(edges, axis=1) - 1.0)


def _logs(channel: Floats, tallies: Floats, ways: Floats, shares: Floats) -> Floats:
    """``log P(tally | share)``, shape (t, shares)."""
    lam = channel @ np.stack([1 - shares, shares])
    # log P = log n! / prod C! + sum C log lam; 1e-300 stands for 0, whose logarithm times a count of 0 must be 0.
    return np.asarray(ways[:, None] + tallies @ np.log(np.maximum(lam, 1e-300)))
