"""Binomial probabilities of numbers of successes that need not be whole, with all their digits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.special.deviance import deviance, deviances, exact_product
from deniable_statistics.special.stirling import stirling_error, stirling_errors

Floats = NDArray[np.float64]


def mass(successes: float, failures: float, p: float) -> float:
    """``Gamma(n + 1) / (Gamma(a + 1) Gamma(b + 1)) p^a (1 - p)^b`` for ``a, b >= 0``, ``n = a + b`` and ``0 < p < 1``.

    Loader's form [1]_, whose exponent holds no large numbers that cancel. The means ``n p`` and ``n (1 - p)`` are taken
    with what rounding leaves out of them, without which tails of 1e-300 among 10^7 would have eleven digits.

    References
    ----------
    .. [1] C. Loader, "Fast and accurate computation of binomial probabilities", Bell Laboratories (2000).

    Examples
    --------
    >>> round(mass(1, 1, 0.5), 12)
    0.5
    """
    n, q = successes + failures, 1 - p
    if not successes or not failures:
        return math.exp(n * (math.log(p) if successes else math.log1p(-p)))
    mean, rest = exact_product(n, p)
    other, more = exact_product(n, q)
    more += n * ((1 - q) - p)  # what rounding took from 1 - p
    exponent = stirling_error(n) - stirling_error(successes) - stirling_error(failures)
    exponent -= deviance(successes, mean, rest) + deviance(failures, other, more)
    return math.sqrt(n / (2 * math.pi * successes * failures)) * math.exp(exponent)


def masses(successes: Floats, failures: Floats, p: Floats) -> Floats:
    """`mass` of each of arrays of one shape, of numbers above 0."""
    n, q = successes + failures, 1 - p
    # Successes and failures are one array, because small arrays cost what calls of numpy cost.
    both, chances = np.array([successes, failures]), np.array([p, q])
    means, rests = exact_product(n, chances)
    rests[1] += n * ((1 - q) - p)
    whole, *parts = stirling_errors(np.array([n, successes, failures]))
    exponent = whole - sum(parts) - deviances(both, means, rests).sum(axis=0)
    return np.asarray(np.sqrt(n / (2 * math.pi * successes * failures)) * np.exp(exponent))
