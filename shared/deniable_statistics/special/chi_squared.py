"""Tails of the chi-squared distribution, central and not, with a whole number of degrees of freedom."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_statistics.special.deviance import deviance
from deniable_statistics.special.normal import normal_cdf
from deniable_statistics.special.stirling import stirling_error

Floats = NDArray[np.float64]


def chi_squared_sf(df: int, x: float) -> float:
    """``P(X >= x)`` for ``X`` chi-squared with ``df >= 1`` degrees of freedom.

    Notes
    -----
    Abramowitz and Stegun 26.4.4 and 26.4.5: with ``h = x / 2`` the sum of the Poisson terms ``exp(-h) h^j / j!`` over
    ``j = df / 2 - 1, df / 2 - 2, ...`` down to 0, or down to 1/2 with ``2 Phi(-sqrt x)`` beside. All are positive,
    so the sum keeps the digits of its first, which Loader's form gives (`stirling_error`).

    Examples
    --------
    >>> round(chi_squared_sf(1, 3.841459), 6), round(chi_squared_sf(2, 5.991465), 6)
    (0.05, 0.05)
    """
    if not x > 0:
        return math.nan if math.isnan(x) else 1.0
    h = x / 2
    # One degree of freedom is the square of a normal variable; each two more add a Poisson term.
    total = float(2 * normal_cdf(-math.sqrt(x))) if df % 2 else 0.0
    j = df / 2 - 1
    # Far above their mean the terms are nothing beside the sum, which is nearly 1, and may underflow.
    j -= max(math.floor(j - h - 40 * math.sqrt(h) - 60), 0)
    term = poisson(j, h) if j >= 0 else 0.0
    while j >= 0 and term > 0:
        total += term
        term *= j / h
        j -= 1
    return min(total, 1.0)


def poisson(j: float, mean: float) -> float:
    """``exp(-mean) mean^j / Gamma(j + 1)`` for a real ``j >= 0``.

    >>> round(poisson(1, 1) * math.e, 12)
    1.0
    """
    if j == 0:
        return math.exp(-mean)
    return math.exp(-stirling_error(j) - deviance(j, mean)) / math.sqrt(2 * math.pi * j)


def chi_squared_tails(df: ArrayLike, x: ArrayLike) -> Floats:
    """`chi_squared_sf` of each of arrays.

    >>> chi_squared_tails([1, 2], [3.841459, 5.991465]).round(6).tolist()
    [0.05, 0.05]
    """
    freedom, values = np.broadcast_arrays(np.asarray(df), np.asarray(x, dtype=float))
    pairs = zip(freedom.ravel().tolist(), values.ravel().tolist(), strict=True)
    return np.array([chi_squared_sf(int(one), value) for one, value in pairs]).reshape(values.shape)


def chi_squared_quantile(df: int, tail: float) -> float:
    """The ``x`` with ``P(X >= x) = tail``, for ``0 < tail < 1``.

    Newton's method on the logarithm of the tail, which is concave from two degrees of freedom on, so that after one
    step ``x`` comes down to the root; from Wilson and Hilferty's guess, Abramowitz and Stegun 26.4.17.

    >>> round(chi_squared_quantile(1, 0.05), 6), round(chi_squared_quantile(10, 0.5), 4)
    (3.841459, 9.3418)
    """
    if df == 1:
        return NormalDist().inv_cdf(tail / 2) ** 2
    part = 2 / (9 * df)
    # Wilson and Hilferty: the cube root of X / df is nearly normal with variance 2 / (9 df).
    x = df * max(1 - part - NormalDist().inv_cdf(tail) * math.sqrt(part), 0.05) ** 3
    for _ in range(MOST_STEPS):
        above = chi_squared_sf(df, x)
        if not above:  # it underflows, so the root is below
            x /= 1.1
            continue
        # Newton's step for the logarithm of the tail, whose derivative is less the density over the tail.
        step = math.log(above / tail) * above / (poisson(df / 2 - 1, x / 2) / 2)
        x += step
        if abs(step) <= 1e-15 * x:
            break
    return x


MOST_STEPS = 100
"""Iteration limit of Newton's method."""


def noncentral_chi_squared_sf(df: int, noncentrality: float, x: float) -> float:
    """``P(X >= x)`` for ``X`` non-central chi-squared: Poisson mixture of central ones, Abramowitz and Stegun 26.4.25.

    >>> round(noncentral_chi_squared_sf(1, 6.73, 3.841459), 3)      # a normal variable of mean 2.594
    0.737
    """
    h, half = x / 2, noncentrality / 2
    # From the likeliest number of the mixture to both sides, until nothing is added any more.
    middle = math.floor(half)
    spread = math.ceil(12 * math.sqrt(half + 1)) + 30
    first = max(middle - spread, 0)
    tail = chi_squared_sf(df + 2 * first, x)
    total = 0.0
    for j in range(first, middle + spread + 1):
        total += poisson(j, half) * tail if half > 0 or j == 0 else 0.0
        # Q(df + 2 (j + 1)) = Q(df + 2 j) and one Poisson term more.
        tail = min(tail + poisson(df / 2 + j, h), 1.0)
    return total
