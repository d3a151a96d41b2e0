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

    effects = cells.effects
    scores = cells.scores()
    known = np.concatenate([matrix, scores @ effects], axis=1)  # unbiased for the rows of least squares
    p, size = matrix.shape[1], known.shape[1]
    bread = (known * weights[:, None]).T @ known
    bread[p:, p:] = (effects.T * (weights @ scores)) @ effects
    sums = (weights * outcome) @ known
    root = np.sqrt(np.abs(np.diag(bread)))  # correlations, so that units do not decide what is singular
    if np.linalg.eigvalsh(bread / np.outer(root, root))[0] <= 1e-9:
        nothing = np.full(size, np.nan)
        return Moments(nothing, np.full((len(outcome), size), np.nan), bread, np.nan)
    params = np.linalg.solve(bread, sums)
    variance = (weights @ outcome**2 - 2 * params @ sums + params @ bread @ params) / weights.sum()
    sigma = float(np.sqrt(variance)) if variance > 0 else np.nan
    equations = known * (outcome - known @ params)[:, None]
    # Of the effects among themselves it is diag(s) that counts, not s s'.
    of_effects, slopes = known[:, p:], params[p:]
    equations[:, p:] += of_effects * (of_effects @ slopes)[:, None] - (scores * (effects @ slopes)) @ effects
    return Moments(params, equations, bread, sigma)
