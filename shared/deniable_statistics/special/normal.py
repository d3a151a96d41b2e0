"""The standard normal distribution function."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def normal_cdf(z: ArrayLike) -> NDArray[np.float64]:
    """``P(Z <= z)`` of a standard normal variable, for each of an array; tails keep their digits.

    By the error function of the C library, DLMF 7.2.2: ``Phi(z) = erfc(-z / sqrt 2) / 2``.

    >>> normal_cdf([-1.96, 0]).round(4).tolist()
    [0.025, 0.5]
    """
    every = np.asarray(z, dtype=float)
    return np.array([math.erfc(-each / math.sqrt(2)) / 2 for each in every.ravel().tolist()]).reshape(every.shape)
