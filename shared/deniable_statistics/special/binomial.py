"""Tails and quantiles of the binomial distribution."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_statistics.special.binomial_mass import masses
from deniable_statistics.special.incomplete_beta import beta_cdfs, beta_sf

Floats = NDArray[np.float64]


def binomial_masses(counts: ArrayLike, n: int, p: float) -> Floats:
    """``P(C = count)`` for each of an array of counts from 0 to ``n``, with ``C ~ Bin(n, p)``.

    >>> binomial_masses([0, 1, 2], 2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    c = np.asarray(counts, dtype=float)
    if not 0 < p < 1:
        return np.asarray(c == (n if p >= 1 else 0), dtype=float)
    inner = (c > 0) & (c < n)
    within = np.where(inner, c, 0.5 * n) if n > 1 else np.ones(c.shape)
    found = masses(within, (n - within) if n > 1 else np.ones(c.shape), np.full(c.shape, p))
    # Loader's form needs a success and a failure; without either the probability is a power.
    ends = np.where(c == 0, np.exp(n * np.log1p(-p)), p**n)
    return np.asarray(np.where(inner, found, ends))


def at_least_of_each(counts: ArrayLike, n: ArrayLike, p: float) -> Floats:
    """``P(C >= count)`` with ``C ~ Bin(n, p)`` for each of arrays: 1 for no count, 0 for more than ``n``.

    >>> at_least_of_each([0, 1, 3], 2, 0.5).round(12).tolist()
    [1.0, 0.75, 0.0]
    """
    c, people = np.broadcast_arrays(np.asarray(counts, dtype=float), np.asarray(n, dtype=float))
    possible = (c > 0) & (c <= people)
    a = np.where(possible, c, 1.0)
    tails = beta_cdfs(a, np.where(possible, people - c + 1, 1.0), p)
    return np.asarray(np.where(possible, tails, np.where(c <= 0, 1.0, 0.0)))


def binomial_quantile(probability: float, n: int, p: float) -> int:
    """The smallest ``c`` with ``P(C <= c) >= probability``, for ``C ~ Bin(n, p)``.

    >>> binomial_quantile(0.5, 2, 0.5), binomial_quantile(1e-9, 2, 0.5)
    (1, 0)
    """
    # P(C <= c) = 1 - I_p(c + 1, n - c)
    return bisect_left(range(n), probability, key=lambda c: beta_sf(c + 1, n - c, p))
