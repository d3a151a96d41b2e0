"""How far a count is from its mean, as its probability sees it."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

NEAR = 0.2
"""Up to this relative distance the series is taken, whose terms do not cancel."""

TERMS = tuple(1 / power for power in range(25, 1, -2))
"""``1 / 25, ..., 1 / 5, 1 / 3``: of ``artanh(v) / v - 1`` in powers of ``v^2``, the highest first."""


def deviance(x: float, mean: float, rest: float = 0.0) -> float:
    """``x log(x / m) + m - x``, at least 0, for ``x > 0`` and ``m = mean + rest > 0``, where ``rest`` is rounding.

    Loader's ``D_0`` [1]_. The error is some units in the last place of the value, also where ``x`` is near ``m``.

    References
    ----------
    .. [1] C. Loader, "Fast and accurate computation of binomial probabilities", Bell Laboratories (2000).

    Examples
    --------
    ``4 log(4 / 2) + 2 - 4``:

    >>> round(deviance(4, 2), 4)
    0.7726
    """
    apart = x - mean
    v = apart / (x + mean)
    value = _near(x, apart, v) if abs(v) < NEAR else x * math.log(x / mean) - apart
    return value - rest * apart / mean  # the derivative by m is 1 - x / m


def deviances(x: Floats, mean: Floats, rest: Floats) -> Floats:
    """`deviance` of each of arrays."""
    apart = x - mean
    v = apart / (x + mean)
    return np.asarray(
        np.where(np.abs(v) < NEAR, _near(x, apart, v), x * np.log(x / mean) - apart) - rest * apart / mean
    )


def _near(x: Number, apart: Number, v: Number) -> Number:
    """By ``log(x / m) = 2 artanh(v)`` with ``v = (x - m) / (x + m)``: ``(x - m) v + 2 x (artanh(v) - v)``."""
    square = v * v
    value = square * TERMS[0]
    for term in TERMS[1:]:
        value = (value + term) * square
    return apart * v + 2 * x * v * value


def exact_product(n: Number, p: Number) -> tuple[Number, Number]:
    """``n p`` as a float, and what rounding took from it: Dekker's product [1]_.

    References
    ----------
    .. [1] T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18
       (1971), 224-242.

    Examples
    --------
    >>> product, rest = exact_product(3.0, 0.1)
    >>> from fractions import Fraction
    >>> Fraction(product) + Fraction(rest) == 3 * Fraction(0.1)
    True
    """
    product = n * p
    high, upper = _upper_half(n), _upper_half(p)
    low, lower = n - high, p - upper
    # Exact, because the halves have 26 bits and their products at most 53.
    return product, low * lower - (((product - high * upper) - low * upper) - high * lower)


def _upper_half(x: Number) -> Number:
    """The upper 26 of the 53 bits of each number, by Veltkamp's splitting."""
    moved = x * 134217729.0  # 2^27 + 1
    return moved - (moved - x)
