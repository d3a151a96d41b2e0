"""Possible shares: within [0, 1], adding up to 1, as near to the data as the mechanism's tallies let them be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.mechanisms.support import Support

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def most_likely_shares(counts: Sequence[int | float], n: int | float, support: Sequence[Support]) -> tuple[float, ...]:
    """The maximum-likelihood shares of one-value mechanisms, exactly.

    The likelihood of ``lam_v = b_v + (a - b) f_v`` is largest at ``lam_v = max(b_v, c counts_v)`` with the one ``c``
    for which they add up to 1: options drop to share 0 in ascending order of ``counts_v / b_v``, the others keep
    their proportions. O(k log k); equal to expectation-maximisation.
    """
    slope = support[0].if_true - support[0].if_other
    if slope < 0:  # two options that mostly say the opposite: the same channel with the reports exchanged
        exchanged = [Support(1 - a, 1 - b) for a, b in support]
        return most_likely_shares([n - count for count in counts], n, exchanged)
    seen = [Fraction(count) for count in counts]
    order = sorted(range(len(counts)), key=lambda option: seen[option] / support[option].if_other)
    left, dropped = Fraction(1), 0
    remaining = sum(seen)
    while remaining * support[order[dropped]].if_other > left * seen[order[dropped]]:
        left -= support[order[dropped]].if_other
        remaining -= seen[order[dropped]]
        dropped += 1
    shares = [0.0] * len(counts)
    for option in order[dropped:]:
        shares[option] = float((left * seen[option] / remaining - support[option].if_other) / slope)
    return tuple(shares)


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
        The mean log-likelihood of a report is within this of the largest possible one.

    Notes
    -----
    With ``o`` the observed shares of reports, ``sum o log(A f)`` is concave and its maximum over ``f >= 0`` with
    ``sum f = 1`` is that of ``sum o log(A f) - sum f`` over ``f >= 0`` alone. Each step solves the quadratic
    approximation exactly, by non-negative least squares, and halves what rises too little [1]_. With ``g`` the
    gradient of the first sum, no point is better than ``f`` by more than ``max(g) - 1``: that is checked.

    Raises
    ------
    ArithmeticError
        If it is not reached in 200 steps.

    References
    ----------
    .. [1] Y. Kim, P. Carbonetto, M. Stephens, M. Anitescu, "A fast algorithm for maximum likelihood estimation of
       mixture proportions using sequential quadratic programming", Journal of Computational and Graphical
       Statistics 29 (2020), 261-273.
    """
    import numpy as np
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    matrix = np.vstack([np.asarray(each, dtype=float) for each in matrices])
    observed = np.concatenate([np.asarray(each, dtype=float) for each in counts])
    matrix, observed = matrix[observed > 0], observed[observed > 0] / observed.sum()
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    value = float(observed @ np.log(matrix @ shares))
    for _ in range(200):
        lam = matrix @ shares
        gradient = matrix.T @ (observed / lam)
        if gradient.max() - 1 <= tolerance:
            return tuple((shares / shares.sum()).tolist())
        curvature = (matrix.T * (observed / lam**2)) @ matrix
        curvature[np.diag_indices_from(curvature)] += 1e-10 * curvature.trace()
        root = cholesky(curvature)
        target, _ = nnls(root, solve_triangular(root, 2 * gradient - 1, trans="T"))
        step = 1.0
        while step > 1e-12:
            moved = shares + step * (target - shares)
            moved /= moved.sum()
            seen = matrix @ moved
            if seen.min() > 0 and (better := float(observed @ np.log(seen))) > value:
                shares, value = moved, better
                break
            step /= 2
        else:
            shares = shares * gradient  # expectation-maximisation never falls, where floating point stops Newton
    raise ArithmeticError("most likely shares: no maximum found in 200 steps")
