"""Feasible shares: within [0, 1] and adding up to 1, by maximum likelihood or by projection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.mechanisms.support import Support
from deniable_statistics.special.least_squares import non_negative_least_squares


def most_likely_shares(counts: Sequence[int | float], n: int | float, support: Sequence[Support]) -> tuple[float, ...]:
    """The maximum-likelihood shares of mechanisms whose reports support one option, in exact arithmetic.

    The likelihood of ``lam_v = b_v + (a - b) f_v`` is largest at ``lam_v = max(b_v, c counts_v)`` with the one ``c``
    for which they add up to 1: options drop to share 0 in ascending order of ``counts_v / b_v``, the others keep
    their proportions. An option that only its own truth supports has ``b_v = 0`` and never drops. O(k log k); equal to
    expectation-maximisation.
    """
    slope = support[0].if_true - support[0].if_other
    if slope < 0:  # two options that mostly say the opposite: the same channel with the reports exchanged
        exchanged = [Support(1 - a, 1 - b) for a, b in support]
        return most_likely_shares([n - count for count in counts], n, exchanged)
    # Over common denominators everything is an integer: as exact as fractions, and several times as fast.
    seen, _ = _over_one_denominator([Fraction(count) for count in counts])
    chance, whole = _over_one_denominator([each.if_other for each in support])
    order = sorted(
        range(len(counts)), key=lambda option: Fraction(seen[option], chance[option]) if chance[option] else math.inf
    )
    left, dropped = whole, 0
    remaining = sum(seen)
    # c = left / remaining; an option with b_v > c counts_v would have a share below 0, so it drops to 0.
    while remaining * chance[order[dropped]] > left * seen[order[dropped]]:
        left -= chance[order[dropped]]
        remaining -= seen[order[dropped]]
        dropped += 1
    shares = [0.0] * len(counts)
    scale = remaining * whole * slope.numerator
    for option in order[dropped:]:
        # lam_v = c counts_v, so f_v = (c counts_v - b_v) / (a - b); a quotient of two integers is rounded once.
        shares[option] = (left * seen[option] - remaining * chance[option]) * slope.denominator / scale
    return tuple(shares)


def _over_one_denominator(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """The numerators of numbers over their common denominator, and that denominator."""
    common = math.lcm(*(each.denominator for each in numbers))
    return [each.numerator * (common // each.denominator) for each in numbers], common


def nearest_on_simplex(point: Sequence[float]) -> tuple[float, ...]:
    """The point of the probability simplex nearest to a point.

    >>> nearest_on_simplex([0.5, 0.75, -0.25])
    (0.375, 0.625, 0.0)
    """
    excess, total = 0.0, 0.0
    for above, value in enumerate(sorted(point, reverse=True), start=1):
        total += value
        if value * above <= total - 1:
            break
        # The projection subtracts one number from the coordinates that stay above 0, so that these add up to 1.
        excess = (total - 1) / above
    return tuple(max(value - excess, 0.0) for value in point)


def most_likely_mixture(
    matrices: Sequence[ArrayLike], counts: Sequence[Sequence[int | float]], tolerance: float = 1e-8
) -> tuple[float, ...]:
    """Shares of the answers that make these counts of reports most likely, for any channel.

    Parameters
    ----------
    matrices : sequence of array_like, each of shape (reports, answers)
        Probability of every report under every answer, one matrix for each group of people.
    counts : sequence of sequences of int
        Number of each report in each group.
    tolerance : float
        Largest duality gap of the mean log-likelihood of a report at which to stop, in nats; it stops earlier where
        floats can tell no better point apart.

    Notes
    -----
    With ``o`` the observed shares of reports, ``sum o log(A f)`` is concave and its maximum over ``f >= 0`` with
    ``sum f = 1`` is that of ``sum o log(A f) - sum f`` over ``f >= 0`` alone. Each step solves the quadratic
    approximation exactly, by non-negative least squares, and halves what leads too far [1]_. With ``g`` the
    gradient of the first sum, no point is better than ``f`` by more than ``max(g) - 1``: that gap is closed.

    The logarithms add up to about 1, so their sum cannot show a rise of less than 1e-16, to which a gap of 1e-8 can
    belong. The slope along a step has no such floor, and along a line a concave function rises as long as its slope is
    above 0. So a step is good if the sum is higher where it arrives, or the slope is still positive there. What is
    added to the diagonal, so that the quadratic approximation has one maximum, pulls towards the point where the step
    starts and so does not move the maximum.

    References
    ----------
    .. [1] Y. Kim, P. Carbonetto, M. Stephens, M. Anitescu, "A fast algorithm for maximum likelihood estimation of
       mixture proportions using sequential quadratic programming", Journal of Computational and Graphical
       Statistics 29 (2020), 261-273.
    """
    matrix = np.vstack([np.asarray(each, dtype=float) for each in matrices])
    observed = np.concatenate([np.asarray(each) for each in counts])
    matrix, observed = matrix[observed > 0], observed[observed > 0] / observed.sum()
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    best, smallest, since = shares, np.inf, 0
    while since < PATIENCE:
        lam = matrix @ shares
        # At the maximum the gradient is 1 for positive shares and at most 1 for the others.
        gradient = matrix.T @ (observed / lam)
        gap = float(gradient.max()) - 1
        since = 0 if gap < 0.9 * smallest else since + 1
        if gap < smallest:
            best, smallest = shares, gap
        if gap <= tolerance:
            break
        moved = _newton_step(matrix, observed, shares, gradient)
        # Expectation-maximisation never falls; it moves where floats leave nothing of a Newton step.
        shares = shares * gradient if moved is None else moved
        shares = shares / shares.sum()
    if smallest > tolerance and len(best) == 2:
        best = _most_likely_pair(matrix, observed)
    return tuple(best.tolist())


PATIENCE = 20
"""Iteration limit without a fall of the duality gap by a tenth: then floats have no digits left."""


def _most_likely_pair(matrix: NDArray[np.float64], observed: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most likely shares of two answers, by bisection: the log-likelihood is concave in the one free share.

    Where a report is nearly impossible under one of two answers, Newton steps end far from the maximum.
    """
    first, second = matrix.T
    low, high = 0.0, 1.0  # the share of the second answer
    while low < (middle := (low + high) / 2) < high:
        rises = observed @ ((second - first) / (first + middle * (second - first))) > 0
        low, high = (middle, high) if rises else (low, middle)
    share = low if low + high < 1 else high  # neighbours, of which one may be 0 or 1
    return np.array([1 - share, share])


def _newton_step(
    matrix: NDArray[np.float64],
    observed: NDArray[np.float64],
    shares: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """A step to the maximum of the quadratic approximation, halved until the likelihood rises; None if it does not."""
    scaled = matrix * (np.sqrt(observed) / (matrix @ shares))[:, None]
    # Minus the Hessian of sum o log(A f): A' diag(o / lam^2) A.
    curvature = scaled.T @ scaled
    curvature[np.diag_indices_from(curvature)] += 1e-10 * curvature.trace()
    try:
        # With H = R'R, |R x - R'^-1 (H f + g - 1)|^2 is the quadratic approximation times -2, up to a constant.
        lower = np.asarray(np.linalg.cholesky(curvature), dtype=float)
        wanted = np.linalg.solve(lower, curvature @ shares + gradient - 1)
        target = non_negative_least_squares(lower.T, wanted, shares)
    except np.linalg.LinAlgError:  # curvature that overflows
        return None
    # None where there is no end of the active set's changes.
    if target is None or not np.isfinite(target).all() or not target.sum() > 0:
        return None
    direction = target / target.sum() - shares
    value, step = observed @ np.log(matrix @ shares), 1.0
    while step > 1e-12:
        moved = np.maximum(shares + step * direction, 0)
        seen = matrix @ moved
        rises = seen.min() > 0 and (observed @ np.log(seen) > value or observed @ (matrix @ direction / seen) >= 0)
        if rises:
            return np.asarray(moved)
        step /= 2
    return None
