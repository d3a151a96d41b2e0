"""Possible shares: within [0, 1], adding up to 1, as near to the data as the mechanism's tallies let them be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.mechanisms.support import Support

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def most_likely_shares(counts: Sequence[int], n: int, support: Sequence[Support]) -> tuple[float, ...]:
    """The maximum-likelihood shares of one-value mechanisms, exactly.

    The likelihood of ``lam_v = b_v + (a - b) f_v`` is largest at ``lam_v = max(b_v, c counts_v)`` with the one ``c``
    for which they add up to 1: options drop to share 0 in ascending order of ``counts_v / b_v``, the others keep
    their proportions. O(k log k); equal to expectation-maximisation.
    """
    slope = support[0].if_true - support[0].if_other
    if slope < 0:  # two options that mostly say the opposite: the same channel with the reports exchanged
        exchanged = [Support(1 - a, 1 - b) for a, b in support]
        return most_likely_shares([n - count for count in counts], n, exchanged)
    order = sorted(range(len(counts)), key=lambda option: counts[option] / support[option].if_other)
    left, dropped = Fraction(1), 0
    remaining = n
    while remaining * support[order[dropped]].if_other > left * counts[order[dropped]]:
        left -= support[order[dropped]].if_other
        remaining -= counts[order[dropped]]
        dropped += 1
    shares = [0.0] * len(counts)
    for option in order[dropped:]:
        shares[option] = float((left * counts[option] / remaining - support[option].if_other) / slope)
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


def expectation_maximisation(
    matrix: NDArray[np.float64], counts: Sequence[int], tolerance: float = 1e-8, most: int = 20_000
) -> tuple[float, ...]:
    """Shares of the answers that make these counts of reports most likely; the likelihood is concave.

    Stops when no share of a positive option can gain: the largest gradient is within ``tolerance`` of its mean.
    """
    import numpy as np

    observed = np.asarray(counts, dtype=float) / sum(counts)
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    for _ in range(most):
        gradient = matrix.T @ (observed / (matrix @ shares))
        shares = shares * gradient
        if gradient.max() - 1 < tolerance:
            break
    return tuple((shares / shares.sum()).tolist())
