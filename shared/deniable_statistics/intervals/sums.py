"""Tail probabilities of weighted sums of reports, by Fourier inversion through the saddlepoint."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.special.normal import normal_cdf

Floats = NDArray[np.float64]


BLUR = 40
"""Standard deviation of the sum, in units of the normal error that is added to it to bound the frequencies."""

PERIOD = 12
"""Period of the Fourier series, in standard deviations of the sum."""

FREQUENCIES = math.ceil(4 * BLUR * PERIOD / (2 * math.pi))
"""Number of frequencies of the Fourier sum, ``2 pi / PERIOD`` apart."""

STRIDE = math.isqrt(FREQUENCIES)
"""Number of frequencies whose exponentials are computed; those of all others are products with that of a multiple."""

AT_ONCE = 2**16
"""Number of complex exponentials that are held at once, so that they stay in the processor's cache."""


def sum_at_least(weights: Floats, chances: Floats, sizes: Floats, seen: Floats) -> Floats:
    """An upper bound of the probability that a sum over people is at least ``seen``, up to a fifth above it.

    It is a bound for sums more than a standard deviation above their mean; nearer to it the error is some per cent.

    Parameters
    ----------
    weights : ndarray, shape (b, r)
        What each report adds to the sum, in each of ``b`` problems.
    chances : ndarray, shape (b, j, r)
        Probability of each report in each of ``j`` groups of people, who report independently.
    sizes : ndarray, shape (b, j)
        Number of people in each group; a fraction of a person is one who reports with that probability.
    seen : ndarray, shape (b,)

    Notes
    -----
    With ``K`` the cumulant function, ``P(S >= x) = 1/(2 pi) int exp(K(z) - z x) / z``, ``z = s + i omega``, for any
    ``s > 0``; near the saddlepoint ``K'(s) = x`` the integrand neither oscillates nor cancels, so tails keep their
    relative accuracy [1]_. A normal error ``E`` of standard deviation ``t`` makes it fall like
    ``exp(-t^2 omega^2 / 2)`` even if ``S`` takes few values; ``P(S >= x) P(E >= -2 t) <= P(S + E >= x - 2 t)`` is the
    bound.

    References
    ----------
    .. [1] H. E. Daniels, "Tail probability approximations", International Statistical Review 55 (1987), 37-48.

    Examples
    --------
    Six heads or more with ten coins, exactly .377:

    >>> import numpy as np
    >>> heads = sum_at_least(np.array([[0.0, 1]]), np.array([[[0.5, 0.5]]]), np.array([[10.0]]), np.array([6.0]))
    >>> bool(0.377 < heads[0] < 0.377 * 1.03)
    True
    """
    # Daniels (1987), section 3: the path of integration goes through the saddlepoint, K'(s) = x.
    s, least, mean = _saddlepoint(weights, chances, sizes, seen, 1 / BLUR)
    scaled, _, spread = _cumulants(weights, chances, sizes, s)
    width = np.sqrt(spread + (least / 200) ** 2)
    # At the highest frequency, 4 / blur, the factor exp(-t^2 omega^2 / 2) is exp(-8): the rest of the sum is nothing.
    blur = width / BLUR
    start = seen - 2 * blur
    omega = np.arange(FREQUENCIES) * (2 * math.pi / PERIOD) / width[:, None]
    tilted = chances * np.exp(s[:, None] * weights)[:, None, :]
    total = tilted.sum(axis=2, keepdims=True)
    # E[exp((s + i omega) Y)] of one report Y; with omega = 0 it is `total`, by which it is divided so that powers stay
    # small.
    turned = _turned(tilted, weights * omega[:, 1:2])
    fall, angle = _logs(turned / total, np.floor(sizes)[:, :, None])
    part = (sizes % 1)[:, :, None]
    if part.any():
        # A fraction of a person is one person who reports with that probability and otherwise adds 0.
        last = _logs((1 - part + part * turned) / (1 - part + part * total), 1.0)
        fall, angle = fall + last[0], angle + last[1]
    # The error's cumulant function t^2 z^2 / 2, without its constant t^2 s^2 / 2, which stands in `scale`.
    square, slant = blur[:, None] ** 2, s[:, None]
    fall -= square * omega**2 / 2
    angle += (square * slant - start[:, None]) * omega
    # The real part of exp(fall + i angle) / (s + i omega).
    values = np.exp(fall) * (slant * np.cos(angle) + omega * np.sin(angle)) / (slant**2 + omega**2)
    # Trapezoidal rule; the integrand at -omega is the conjugate of that at omega, so its real part counts twice.
    values[:, 0] /= 2
    integral = 2 / PERIOD / width * values.sum(axis=1)
    # exp(K(s) + t^2 s^2 / 2 - s x), then divided by P(E >= -2 t) = Phi(2).
    scale = np.exp(np.minimum(scaled + (blur * s) ** 2 / 2 - s * start, 0))  # at most 1 above the mean
    return np.asarray(np.where(start <= mean, 1.0, np.clip(integral * scale / normal_cdf(2.0), 0, 1)))


def _logs(numbers: NDArray[np.complex128], powers: Floats | float) -> tuple[Floats, Floats]:
    """Real and imaginary part of the logarithm of products of powers of complex numbers, shape (b, FREQUENCIES).

    Parameters
    ----------
    numbers : ndarray of complex, shape (b, j, FREQUENCIES)
    powers : ndarray, shape (b, j, 1), or a number
    """
    # Real functions of numpy take a fraction of the time of complex ones.
    squares = np.maximum(numbers.real**2 + numbers.imag**2, 1e-300)
    angles = np.arctan2(numbers.imag, numbers.real)
    return (powers * np.log(squares) / 2).sum(axis=1), (powers * angles).sum(axis=1)


def _turned(tilted: Floats, angles: Floats) -> NDArray[np.complex128]:
    """``tilted @ exp(i m angles)`` of each multiple ``m`` below `FREQUENCIES`, shape (b, j, FREQUENCIES).

    Parameters
    ----------
    tilted : ndarray, shape (b, j, r)
    angles : ndarray, shape (b, r)
    """
    problems, reports = angles.shape
    some = max(AT_ONCE // (reports * FREQUENCIES), 1)
    strides = np.arange(-(-FREQUENCIES // STRIDE)) * STRIDE
    found = []
    for start in range(0, problems, some):
        # exp(i (q + p) angle) = exp(i q angle) exp(i p angle): sines and cosines cost far more than products.
        turn = 1j * angles[start : start + some, :, None]
        turns = np.exp(turn * strides)[..., None] * np.exp(turn * np.arange(STRIDE))[..., None, :]
        every = turns.reshape(*turns.shape[:2], -1)[..., :FREQUENCIES]
        found.append(tilted[start : start + some] @ every)
    return np.concatenate(found)


def mirrored(weights: Floats, chances: Floats, sizes: Floats, seen: Floats) -> Floats:
    """The sum below the mean that is as unlikely as ``seen``, shape (b,); minus infinity if there is none.

    Parameters are those of `sum_at_least`. With ``x = K'(s)``, as unlikely means the same ``s x - K(s)``, the fall of
    the log-likelihood in the exponential family of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> mirrored(np.array([[0.0, 1]]), np.array([[[0.5, 0.5]]]), np.array([[10.0]]), np.array([6.0])).round(1)
    array([4.])
    """
    s, *_ = _saddlepoint(weights, chances, sizes, seen, 0)
    log, slope, _ = _cumulants(weights, chances, sizes, s)
    # The Legendre transform of K at x = K'(s), which is the Chernoff exponent of both tails.
    depth = s * slope - log
    low, high = np.zeros(len(seen)), 200 / np.maximum(abs(weights).max(axis=1), 1e-300)
    farthest = -high
    for _ in range(40):
        middle = (low + high) / 2
        log, slope, _ = _cumulants(weights, chances, sizes, -middle)
        deeper = -middle * slope - log > depth
        low, high = np.where(deeper, low, middle), np.where(deeper, middle, high)
    log, slope, _ = _cumulants(weights, chances, sizes, farthest)
    value = _cumulants(weights, chances, sizes, -high)[1]
    return np.where(farthest * slope - log < depth, -math.inf, value)


def _saddlepoint(
    weights: Floats, chances: Floats, sizes: Floats, seen: Floats, part: float
) -> tuple[Floats, Floats, Floats]:
    """The saddlepoint of the sum plus a normal error whose standard deviation is ``part`` of the sum's.

    Returns
    -------
    tuple of three ndarray, each of shape (b,)
        The saddlepoint, the standard deviation and the mean of the sum.
    """
    far = 200 / np.maximum(abs(weights).max(axis=1), 1e-300)  # beyond, exponentials overflow
    _, mean, spread = _cumulants(weights, chances, sizes, np.zeros(len(seen)))
    least = np.sqrt(np.maximum(spread, 1e-300))
    low, high = np.zeros(len(seen)), far
    s = np.clip((seen - mean) / least**2, 0.1 / least, far)
    moving = np.ones(len(seen), dtype=bool)
    for _ in range(40):  # Newton's method between ends that come nearer
        _, slope, spread = _cumulants(weights, chances, sizes, s)
        width = np.sqrt(spread + (least / 200) ** 2)
        blur = width * part
        # K'(s) + t^2 s = x - 2 t: the saddlepoint of the blurred sum at the shifted value.
        left = seen - 2 * blur - slope - blur**2 * s
        low, high = np.where(left > 0, s, low), np.where(left > 0, high, s)
        move = left / (spread + blur**2)
        # Each stops by itself, so that its saddlepoint is the same whatever is computed beside it.
        moving &= abs(move) > 1e-3 * s
        if not moving.any():
            break
        moved = s + move
        # Where Newton's step leaves the bracket, bisect on the logarithmic scale: s may span many orders of magnitude.
        moved = np.where((low < moved) & (moved < high), moved, np.sqrt(np.maximum(low, high / 1000) * high))
        s = np.where(moving, moved, s)
    # Near the mean s would be 0, where the integrand has its pole; half a standard error away it is as good.
    return np.minimum(np.maximum(s, 0.5 / width), far), least, mean


def _cumulants(weights: Floats, chances: Floats, sizes: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
    """The cumulant function at ``s`` and its first two derivatives, shape (b,) each."""
    tilted = chances * np.exp(s[:, None] * weights)[:, None, :]
    total = tilted.sum(axis=2)
    mean = (tilted @ weights[:, :, None])[:, :, 0] / total
    apart = weights[:, None, :] - mean[:, :, None]
    spread = (tilted * apart**2).sum(axis=2) / total
    part = sizes % 1
    return (
        (np.floor(sizes) * np.log(total) + np.log(1 - part + part * total)).sum(axis=1),
        # A fraction of a person adds that fraction of a derivative: only steps and widths depend on it, no probability.
        (sizes * mean).sum(axis=1),
        (sizes * spread).sum(axis=1),
    )
