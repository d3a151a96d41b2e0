"""Predicted shares of the truths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from deniable_research.regression.outcomes import CategoricalOutcome


@dataclass(frozen=True)
class Prediction:
    """Shares of the truths, one row for each row of covariates.

    Attributes
    ----------
    truths : tuple of str
    share : ndarray, shape (rows, truths)
    std_error : ndarray, shape (rows, truths)
        By the delta method. NaN if a coefficient has no finite standard error.
    """

    truths: tuple[str, ...]
    share: NDArray[np.float64]
    std_error: NDArray[np.float64]


def predict(
    outcome: CategoricalOutcome,
    params: NDArray[np.float64],
    covariance: NDArray[np.float64],
    matrix: NDArray[np.float64],
) -> Prediction:
    """Shares at given covariates, and their standard errors from the covariance of the parameters."""
    share = outcome.shares(params, matrix)
    size = outcome.classes * matrix.shape[1]
    known = covariance[:size, :size]
    errors = np.full_like(share, np.nan)
    if np.isfinite(known).all():
        for x in range(share.shape[1]):
            slope = -share[:, x, None] * share[:, 1:]
            if x:
                slope[:, x - 1] += share[:, x]
            each = (slope[:, :, None] * matrix[:, None, :]).reshape(len(matrix), size)
            errors[:, x] = np.sqrt(np.maximum(np.einsum("na,ab,nb->n", each, known, each, optimize=True), 0))
    return Prediction(outcome.reports.truths, share, errors)
