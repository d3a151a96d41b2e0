"""Coordinates in which an uncertain vector is uncorrelated with variance 1, for chi-squared statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def whitening(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """``W`` with ``W' covariance W = 1`` and ``W W'`` the pseudo-inverse, shape (k, rank).

    Shares add up to 1 and responses that nobody gave do not vary: such directions are left out, and the number of
    columns is the degrees of freedom.

    >>> import numpy as np
    >>> whitening(np.array([[1.0, -1.0], [-1.0, 1.0]])).round(3).tolist()
    [[-0.5], [0.5]]
    """
    variances, directions = np.linalg.eigh(covariance)
    # Rounding leaves about 1e-16 of the largest variance in a direction that has none.
    kept = variances > 1e-10 * max(float(variances[-1]), 0.0)
    return np.asarray(directions[:, kept] / np.sqrt(variances[kept]))
