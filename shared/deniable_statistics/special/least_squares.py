"""Non-negative least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def non_negative_least_squares(matrix: Floats, target: Floats, start: Floats | None = None) -> Floats | None:
    """The ``x >= 0`` with the least ``|matrix x - target|``, shape (n,); None if it is not found.

    Parameters
    ----------
    matrix : ndarray, shape (m, n)
    target : ndarray, shape (m,)
    start : ndarray, shape (n,), optional
        A guess, nowhere below 0. The sooner it is right about which unknowns are 0, the fewer steps there are.

    Notes
    -----
    Lawson and Hanson's active-set method [1]_. The unknowns that are above 0 solve a plain least-squares problem; one
    more is let in while the gradient says that it would help, and those that fall below 0 on the way leave.

    References
    ----------
    .. [1] C. L. Lawson, R. J. Hanson, "Solving least squares problems", Prentice-Hall (1974), chapter 23.

    Examples
    --------
    >>> import numpy as np
    >>> non_negative_least_squares(np.eye(2), np.array([2.0, -1.0])).tolist()
    [2.0, 0.0]
    """
    n = matrix.shape[1]
    x = np.zeros(n) if start is None else start
    free = x > 0
    if free.any():
        x = _settled(matrix, target, x, free)
    gradient = matrix.T @ (target - matrix @ x)
    # What rounding leaves of a gradient that is 0: scaled as the entries of the normal equations are.
    tolerance = 10 * max(matrix.shape) * np.finfo(float).eps * float(np.abs(matrix).sum(axis=0).max())
    for _ in range(3 * n):
        if free.all() or not (gradient[~free] > tolerance).any():
            return x
        free[np.argmax(np.where(free, -np.inf, gradient))] = True
        x = _settled(matrix, target, x, free)
        gradient = matrix.T @ (target - matrix @ x)
    return None


def _settled(matrix: Floats, target: Floats, x: Floats, free: NDArray[np.bool_]) -> Floats:
    """The least-squares solution of the free unknowns; those that it would make negative are freed no longer."""
    while True:
        wanted = np.zeros(x.shape)
        wanted[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
        below = free & (wanted <= 0)
        if not below.any():
            return wanted
        # As far as the first of them reaches 0.
        step = float((x[below] / (x[below] - wanted[below])).min())
        x = x + step * (wanted - x)
        free &= x > 1e-300
        x[~free] = 0.0
