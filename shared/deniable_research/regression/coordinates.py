"""Coordinates in which every covariate counts alike, so that no fit depends on units or on the order of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag


def orthogonal(matrix: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """``T`` such that the columns of ``matrix T`` are orthogonal with mean square 1: fits do not depend on units.

    Nor do they on whether rows that are alike stand there once, with their number as weight: means are weighted, and
    the triangle has a positive diagonal, so that there is only one.
    """

    if not matrix.shape[1]:
        return np.zeros((0, 0))
    share = np.full(len(matrix), 1 / len(matrix)) if weights is None else weights / weights.sum()
    triangle = np.linalg.qr(matrix * np.sqrt(share)[:, None], mode="r")
    return np.linalg.inv(triangle * np.sign(np.diag(triangle))[:, None])


def constant(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coefficients that make a linear predictor 1 in every row, shape (p, 1); (p, 0) if none do."""

    ones = np.ones(len(matrix))
    unit = orthogonal(matrix)
    coordinates = (matrix @ unit).T @ ones / len(matrix)
    if np.abs(matrix @ (unit @ coordinates) - ones).max(initial=1.0 if not matrix.shape[1] else 0.0) > 1e-6:
        return np.zeros((matrix.shape[1], 0))
    return np.asarray((unit @ coordinates)[:, None])


def block_diagonal(*blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """One block after the other; a block without columns adds rows of 0."""

    return np.asarray(block_diag(*blocks))
