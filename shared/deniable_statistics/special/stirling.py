"""What Stirling's formula leaves out of a factorial."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])

SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of ``1 / z, 1 / z^3, ...``: Bernoulli numbers over ``2 k (2 k - 1)``, DLMF 5.11.1."""

FROM = 12.0
"""From here on eight terms of the series are enough: the next one is below 1e-19."""


@lru_cache(maxsize=4096)
def stirling_error(z: float) -> float:
    """``log z! - log(sqrt(2 pi z) (z / e)^z)`` for a real ``z > 0``; absolute error below 1e-15.

    Loader [1]_ writes probabilities by this small number, because their logarithms of factorials are large and cancel.

    References
    ----------
    .. [1] C. Loader, "Fast and accurate computation of binomial probabilities", Bell Laboratories (2000).

    Examples
    --------
    ``1! = sqrt(2 pi) / e * exp(0.0811)``:

    >>> round(stirling_error(1), 4)
    0.0811
    """
    # log z! = log (z + 1)! - log(z + 1), so the errors of z and z + 1 differ by 1 - (z + 1/2) log(1 + 1 / z).
    shifted = 0.0
    while z < FROM:
        shifted += _step(z)
        z += 1
    return shifted + _series(z)


def stirling_errors(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """`stirling_error` of each of an array."""
    found = _series(np.maximum(z, FROM))
    small = z < FROM
    if small.any():
        found[small] = [stirling_error(each) for each in z[small].tolist()]
    return found


def _series(z: Number) -> Number:
    square = 1 / (z * z)
    value = square * SERIES[-1]
    for coefficient in SERIES[-2:0:-1]:
        value = (value + coefficient) * square
    return (value + SERIES[0]) / z


def _step(z: float) -> float:
    """``(z + 1/2) log(1 + 1 / z) - 1``, by the series of the inverse hyperbolic tangent where that is small."""
    half = 1 / (2 * z + 1)  # log(1 + 1 / z) = 2 artanh(half)
    if half > 0.1:
        return (z + 0.5) * math.log1p(1 / z) - 1
    square, value = half * half, 0.0
    for power in range(17, 1, -2):
        value = value * square + 1 / power
    return value * square
