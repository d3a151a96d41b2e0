"""Corrected least squares: linear regression on randomised predictors without distributional assumptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable_statistics.regression.cells import PredictorCells, starting_shares
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fitted_rows import TOO_FEW_UNITS, ModelSample, left_out
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.tidy import CoefficientEstimates, Glance
from deniable_statistics.sampling import Truths


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

    params: Array
    units: Array
    equations: Array
    bread: Array
    sigma: float
    truths: Callable[[], Truths] | None = None


@dataclass(frozen=True)
class MomentFit(CoefficientEstimates):
    """Corrected least squares: estimates without a likelihood.

    Attributes
    ----------
    params : ndarray
        Estimates, in the order of `terms`; NaN where the corrected equations have no solution.
    terms : tuple of str
    converged : bool
        Whether the corrected equations have a solution.
    message : str
        What to know before using the estimates; empty if nothing.
    sample : ModelSample
        How the rows stand for people.
    moments : Moments
        The equations.
    truths : mapping of str to sequence of str
        The answers to each randomised predictor, of which the first is the reference.
    """

    moments: Moments = field(repr=False)
    truths: Mapping[str, Sequence[str]] = field(repr=False)
    _solve: Callable[[Array], Array] | None = field(repr=False)

    @classmethod
    def of(cls, outcome: Array, cells: PredictorCells, sample: ModelSample) -> MomentFit:
        """The solution for an outcome of shape (n,) and randomised predictors."""
        frame = sample.frame

        def solve(weights: Array) -> Array:
            return corrected_least_squares(outcome, frame.matrix, cells, weights).params

        moments = corrected_least_squares(outcome, frame.matrix, cells, sample.weights)
        terms = (*frame.terms, *cells.effect_terms)
        solved = bool(np.isfinite(moments.params).all())
        remarks = [] if solved else ["The corrected equations have no solution: too much noise for so few people."]
        if not sample.df(len(terms)) > 0:
            remarks.append(TOO_FEW_UNITS)
        if frame.n_dropped:
            remarks.append(left_out(frame.n_dropped))
        return cls(moments.params, terms, solved, " ".join(remarks), sample, moments, cells.truths, solve)

    @property
    def sigma(self) -> float:
        """Standard deviation of the residuals, NaN if the correction leaves none."""
        return self.moments.sigma

    def cov_params(self) -> Array:
        """The sandwich, over clusters or by the design if the fit has them, shape (terms, terms).

        With replicate weights: of the estimates under each of them.
        """
        if not self.converged:
            return np.full((len(self.terms),) * 2, np.nan)
        if self._solve and (replicated := self.sample.replicated(self.params, self._solve)) is not None:
            return replicated
        bread, units = np.linalg.inv(self.moments.bread), self.moments.units
        known = self.moments.truths() if self.moments.truths is not None and self.sample.is_finite else None
        meat = self.sample.meat(self.moments.equations, known)
        # A^-1 B A^-1 of the standardised equations, put back into the units of the columns.
        return np.asarray(units @ bread @ meat @ bread @ units.T)

    def glance(self) -> Glance:
        """One row about the whole fit; what needs a likelihood is NaN."""
        return Glance(
            n=self.n,
            n_effective=self.n_effective,
            n_dropped=self.n_dropped,
            df=len(self.terms),
            optima=int(self.converged),
            converged=self.converged,
            separated=not self.converged,
        )


def corrected_least_squares(outcome: Array, matrix: Array, cells: PredictorCells, weights: Array) -> Moments:
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
    bread = (known * weights[:, None]).T @ known  # sum w (z, s)(z, s)', whose last block becomes sum w diag(s)
    bread[p:, p:] = (effects.T * (weights @ scores)) @ effects
    sums = (weights * outcome) @ known
    # a corrected cross product may have a negative eigenvalue: then noise is more than signal
    root = np.sqrt(np.abs(np.diag(bread)))  # correlations, so that units do not decide what is singular
    if np.linalg.eigvalsh(bread / np.outer(root, root))[0] <= 1e-9:
        nothing = np.full(size, np.nan)
        return Moments(nothing, units, np.full((len(outcome), size), np.nan), bread, np.nan)
    params = np.linalg.solve(bread, sums)
    # sum w (y - x'b)^2 with unbiased x y and x x'
    variance = (weights @ outcome**2 - 2 * params @ sums + params @ bread @ params) / weights.sum()
    sigma = float(np.sqrt(variance)) * units[-1, -1] if variance > 0 else np.nan
    # v_i - M_i b with M_i = (z, s)(z, s)' first, corrected in the lines below
    equations = known * (outcome - known @ params)[:, None]
    # Of the effects among themselves it is diag(s) that counts, not s s'.
    of_effects, slopes = known[:, p:], params[p:]
    # + s s' b - diag(s) b for the block of effects
    equations[:, p:] += of_effects * (of_effects @ slopes)[:, None] - (scores * (effects @ slopes)) @ effects

    def truths() -> Truths:
        # with the truth known its indicator stands in place of the score
        certain = [np.concatenate([matrix, np.tile(effect, (len(matrix), 1))], axis=1) for effect in effects]
        return Truths(scores, np.stack([x * (outcome - x @ params)[:, None] for x in certain], axis=1))

    return Moments(origin + units @ params, units, equations, bread, sigma, truths)


def _standardised(outcome: Array, matrix: Array, effects: int) -> tuple[Array, Array, Array, Array]:
    """Outcome and covariates with mean 0 and size 1, and ``origin`` and ``units`` of the way back.

    Coefficients ``b`` of these are ``origin + units @ b`` of those that came. Without an intercept nothing is centred.
    """
    p = matrix.shape[1]
    # only where some column is constant may centring be undone by the intercept
    steady = np.flatnonzero(np.ptp(matrix, axis=0) == 0)
    centre, level = np.zeros(p), 0.0
    if steady.size:
        centre, level = matrix.mean(axis=0), float(outcome.mean())
        centre[steady] = 0
    moved, residual = matrix - centre, outcome - level
    # Every column has 1 as its largest size, so one tolerance of singularity serves all.
    size, spread = np.abs(moved).max(axis=0, initial=0.0), float(np.abs(residual).max())
    # b_original = origin + units b_standardised
    units = np.diag(np.concatenate([1 / size, np.ones(effects)]))
    origin = np.zeros(p + effects)
    if steady.size:
        one = float(matrix[0, steady[0]])
        # intercept = level - sum_k b_k centre_k / size_k
        units[steady[0], :p] -= centre / size / one
        origin[steady[0]] = level / one
    return residual / spread, moved / size, origin, units * spread


def calibrated(outcome: Array, regressors: Regressors, cells: PredictorCells, weights: Array) -> Array:
    """Coefficients and sigma to start from: least squares on regressors as they are expected given the reports.

    Also known as regression calibration. With more noise than people it is far from the truth, so it is never shown.
    """
    likelihood = cells.likelihood()
    # E[regressors | reports] = sum_x P(x | reports) r(z, x)
    posterior = likelihood * starting_shares(likelihood, weights)
    posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    root = np.sqrt(weights)
    expected = regressors.plain * (posterior @ regressors.coded)
    found, *_ = np.linalg.lstsq(expected * root[:, None], outcome * root)
    left = float(np.sqrt(weights @ (outcome - expected @ found) ** 2 / weights.sum()))
    return np.append(found, left or 1.0)
