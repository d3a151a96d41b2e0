"""Probabilities of the hypergeometric distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.special.binomial_mass import masses

Floats = NDArray[np.float64]


def hypergeometric_masses(population: int, drawn: int) -> Floats:
    """``P(X = x)``, shape (population + 1, drawn + 1): how many of those drawn have a trait that ``m`` people have.

    Row ``m`` is for that number of people with the trait; ``0 < drawn < population``.

    Notes
    -----
    Loader [1]_: ``b(x; m, p) b(n - x; N - m, p) / b(n; N, p)`` for any ``p``, where ``b`` are binomial probabilities;
    ``p = n / N`` makes none of them small where their quotient is not.

    References
    ----------
    .. [1] C. Loader, "Fast and accurate computation of binomial probabilities", Bell Laboratories (2000).

    Examples
    --------
    One of two people is drawn; with one who has the trait it is as likely as not that one is drawn:

    >>> hypergeometric_masses(2, 1).round(12).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    p = drawn / population
    people, x = np.arange(population + 1.0)[:, None], np.arange(drawn + 1.0)
    # Two independent binomials given their sum; with p near the share drawn none of them underflows.
    both = _binomial(x, people, p) * _binomial(drawn - x, population - people, p)
    return np.asarray(both / masses(*(np.array([float(each)]) for each in (drawn, population - drawn, p))))


def _binomial(successes: Floats, n: Floats, p: float) -> Floats:
    """Binomial probabilities, 0 where there are more successes than ``n``."""
    k, size = np.broadcast_arrays(successes, n)
    found = np.where(k == 0, (1 - p) ** size, np.where(k == size, p**size, 0.0))
    inner = (k > 0) & (k < size)
    found[inner] = masses(k[inner], (size - k)[inner], np.full(inner.sum(), p))
    return np.asarray(found)
