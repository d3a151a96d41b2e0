"""Corrected least squares: linear regression on randomised predictors without distributional assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from deniable_research.regression.predictors import Cells


@dataclass(frozen=True)
class Moments:
    """The solution of the corrected normal equations, row by row.

    Attributes
    ----------
    params : ndarray, shape (p + q,)
        Coefficients of the covariates, then effects of the predictors' truths. NaN if the equations have no solution.
    equations : ndarray, shape (n, p + q)
        ``v_i - M_i params``: what each row adds to the estimating equations.
    bread : ndarray, shape (p + q, p + q)
        ``sum w_i M_i``.
    sigma : float
        Corrected standard deviation of the residuals; NaN if the correction leaves less than nothing.
    """

    params: NDArray[np.float64]
    equations: NDArray[np.float64]
    bread: NDArray[np.float64]
    sigma: float

    def guess(self, outcome: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients and a positive sigma for maximum likelihood to start from, whatever the moments gave."""

        spread = float(outcome.std()) or 1.0
        if np.isfinite(self.params).all():
            return np.append(self.params, max(self.sigma, spread / 10) if self.sigma > 0 else spread)
        level, *_ = np.linalg.lstsq(matrix, outcome)
        return np.concatenate([level, np.zeros(len(self.params) - len(level)), [spread]])


def corrected_least_squares(
    outcome: NDArray[np.float64], matrix: NDArray[np.float64], cells: Cells, weights: NDArray[np.float64]
) -> Moments:
    """Solve ``sum w_i (v_i - M_i params) = 0`` with unbiased ``M_i`` and ``v_i``.

    Notes
    -----
    With ``e`` the indicators of the cells' truths, least squares needs ``e y``, ``z e'`` and ``e e'``. Reports are
    drawn given the truth alone, so unbiased scores ``s`` with ``E[s | truth] = e`` serve for the first two; and since
    ``e e' = diag(e)``, ``diag(s)`` is unbiased for the third: ``s s'`` less the variance that the design is known
    to add [1]_.

    References
    ----------
    .. [1] W. A. Fuller, "Measurement Error Models", Wiley 1987, chapter 3.
    """

    n, p, effects = len(outcome), matrix.shape[1], cells.effects
    scores = cells.scores()
    of_effects = scores @ effects
    size = p + effects.shape[1]
    each = np.empty((n, size, size))
    each[:, :p, :p] = matrix[:, :, None] * matrix[:, None, :]
    each[:, :p, p:] = matrix[:, :, None] * of_effects[:, None, :]
    each[:, p:, :p] = each[:, :p, p:].transpose(0, 2, 1)
    each[:, p:, p:] = np.einsum("nc,ca,cb->nab", scores, effects, effects, optimize=True)
    right = np.concatenate([matrix, of_effects], axis=1) * outcome[:, None]
    bread, sums = np.einsum("n,nab->ab", weights, each), weights @ right
    root = np.sqrt(np.abs(np.diag(bread)))  # correlations, so that units do not decide what is singular
    if np.linalg.eigvalsh(bread / np.outer(root, root))[0] <= 1e-9:
        nothing = np.full(size, np.nan)
        return Moments(nothing, np.full((n, size), np.nan), bread, np.nan)
    params = np.linalg.solve(bread, sums)
    variance = (weights @ outcome**2 - 2 * params @ sums + params @ bread @ params) / weights.sum()
    sigma = float(np.sqrt(variance)) if variance > 0 else np.nan
    return Moments(params, right - each @ params, bread, sigma)
