"""Corrected least squares: linear regression on randomised predictors without distributional assumptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable_research.regression.outcomes import starting_shares
from deniable_research.regression.regressors import Regressors
from deniable_research.sampling import Truths

if TYPE_CHECKING:
    from deniable_research.regression.cells import Cells


@dataclass(frozen=True)
class Moments:
    """The solution of the corrected normal equations, row by row.

    Attributes
    ----------
    params : ndarray, shape (p + q,)
        Coefficients of the covariates, then effects of the predictors' truths. NaN if the equations have no solution.
    units : ndarray, shape (p + q, p + q)
        What `params` gain for each unit of the coefficients of covariates and outcome as `equations` have them:
        centred, if there is an intercept, and scaled.
    equations : ndarray, shape (n, p + q)
        ``v_i - M_i b``: what each row adds to the estimating equations.
    bread : ndarray, shape (p + q, p + q)
        ``sum w_i M_i``.
    sigma : float
        Corrected standard deviation of the residuals; NaN if the correction leaves less than nothing.
    truths : callable, or None
        What the equations would be without the chance of the devices.
    """

    params: NDArray[np.float64]
    units: NDArray[np.float64]
    equations: NDArray[np.float64]
    bread: NDArray[np.float64]
    sigma: float
    truths: Callable[[], Truths] | None = None


def corrected_least_squares(
    outcome: NDArray[np.float64], matrix: NDArray[np.float64], cells: Cells, weights: NDArray[np.float64]
) -> Moments:
    """Solve ``sum w_i (v_i - M_i b) = 0`` with unbiased ``M_i`` and ``v_i``.

    Notes
    -----
    With ``e`` the indicators of the cells' truths, least squares needs ``e y``, ``z e'`` and ``e e'``. Reports are
    drawn given the truth alone, so unbiased scores ``s`` with ``E[s | truth] = e`` serve for the first two; and since
    ``e e' = diag(e)``, ``diag(s)`` is unbiased for the third: ``s s'`` less the variance that the design is known
    to add [1]_.

    Covariates and outcome are centred and scaled, and the solution is transformed back: ``1e9 + z`` is fitted as ``z``
    is, whose cross products differ in the first digits.

    References
    ----------
    .. [1] W. A. Fuller, "Measurement Error Models", Wiley 1987, chapter 3.
    """
    effects = cells.effects
    scores = cells.scores()
    outcome, matrix, origin, units = _standardised(outcome, matrix, effects.shape[1])
    known = np.concatenate([matrix, scores @ effects], axis=1)  # unbiased for the rows of least squares
    p, size = matrix.shape[1], known.shape[1]
    bread = (known * weights[:, None]).T @ known
    bread[p:, p:] = (effects.T * (weights @ scores)) @ effects
    sums = (weights * outcome) @ known
    root = np.sqrt(np.abs(np.diag(bread)))  # correlations, so that units do not decide what is singular
    if np.linalg.eigvalsh(bread / np.outer(root, root))[0] <= 1e-9:
        nothing = np.full(size, np.nan)
        return Moments(nothing, units, np.full((len(outcome), size), np.nan), bread, np.nan)
    params = np.linalg.solve(bread, sums)
    variance = (weights @ outcome**2 - 2 * params @ sums + params @ bread @ params) / weights.sum()
    sigma = float(np.sqrt(variance)) * units[-1, -1] if variance > 0 else np.nan
    equations = known * (outcome - known @ params)[:, None]
    # Of the effects among themselves it is diag(s) that counts, not s s'.
    of_effects, slopes = known[:, p:], params[p:]
    equations[:, p:] += of_effects * (of_effects @ slopes)[:, None] - (scores * (effects @ slopes)) @ effects

    def truths() -> Truths:
        certain = [np.concatenate([matrix, np.tile(effect, (len(matrix), 1))], axis=1) for effect in effects]
        return Truths(scores, np.stack([x * (outcome - x @ params)[:, None] for x in certain], axis=1))

    return Moments(origin + units @ params, units, equations, bread, sigma, truths)


def _standardised(
    outcome: NDArray[np.float64], matrix: NDArray[np.float64], effects: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Outcome and covariates with mean 0 and size 1, and ``origin`` and ``units`` of the way back.

    Coefficients ``b`` of these are ``origin + units @ b`` of those that came. Without an intercept nothing is centred.
    """
    p = matrix.shape[1]
    steady = np.flatnonzero(np.ptp(matrix, axis=0) == 0)
    centre, level = np.zeros(p), 0.0
    if steady.size:
        centre, level = matrix.mean(axis=0), float(outcome.mean())
        centre[steady] = 0
    moved, residual = matrix - centre, outcome - level
    size, spread = np.abs(moved).max(axis=0, initial=0.0), float(np.abs(residual).max())
    units = np.diag(np.concatenate([1 / size, np.ones(effects)]))
    origin = np.zeros(p + effects)
    if steady.size:
        one = float(matrix[0, steady[0]])
        units[steady[0], :p] -= centre / size / one
        origin[steady[0]] = level / one
    return residual / spread, moved / size, origin, units * spread


def calibrated(
    outcome: NDArray[np.float64], regressors: Regressors, cells: Cells, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Coefficients and sigma to start from: least squares on regressors as they are expected given the reports.

    Also known as regression calibration. With more noise than people it is far from the truth, so it is never shown.
    """
    likelihood = cells.likelihood()
    posterior = likelihood * starting_shares(likelihood, weights)
    posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    root = np.sqrt(weights)
    expected = regressors.plain * (posterior @ regressors.coded)
    found, *_ = np.linalg.lstsq(expected * root[:, None], outcome * root)
    left = float(np.sqrt(weights @ (outcome - expected @ found) ** 2 / weights.sum()))
    return np.append(found, left or 1.0)
