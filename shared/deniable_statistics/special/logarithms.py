"""Logarithms of factorials, and products with logarithms in which ``0 log 0 = 0``."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def x_log_y(x: ArrayLike, y: ArrayLike) -> Floats:
    """``x log(y)``, and 0 wherever ``x`` is 0.

    >>> x_log_y([0, 2], [0, 1]).tolist()
    [0.0, 0.0]
    """
    x = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(x * np.log(np.where(x == 0, 1.0, y)))


def x_log1p_y(x: ArrayLike, y: ArrayLike) -> Floats:
    """``x log(1 + y)``, and 0 wherever ``x`` is 0.

    >>> x_log1p_y([0, 2], [-1, 0]).tolist()
    [0.0, 0.0]
    """
    x = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(x * np.log1p(np.where(x == 0, 0.0, y)))


def log_factorial(n: ArrayLike) -> Floats:
    """``log n!`` of each of an array of numbers, which need not be whole: ``log Gamma(n + 1)``.

    >>> log_factorial([0, 1, 4]).round(4).tolist()      # log 24 = 3.1781
    [0.0, 0.0, 3.1781]
    """
    every = np.asarray(n, dtype=float)
    return np.array([math.lgamma(each + 1) for each in every.ravel().tolist()]).reshape(every.shape)
