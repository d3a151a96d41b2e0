"""The likelihood of a number whose predictors were randomised: a mixture over their true values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable_research.regression.categorical import TINY, softmax
from deniable_research.regression.coordinates import block_diagonal, constant, orthogonal
from deniable_research.regression.predictors import Cells

if TYPE_CHECKING:
    from deniable_research.regression.maximum import Value

NODES = 32
"""Gauss-Hermite nodes for the expectation over the outcome."""


@dataclass(frozen=True)
class LatentPredictor:
    """``y = z b + e_x d + N(0, sigma^2)``, ``P(x | z)`` a multinomial logit, and ``x`` seen only through its reports.

    The truths of several randomised predictors are the *cells* of their cross table; ``e_x`` is the row of a cell in
    the coding of effects. Parameters: ``b``, ``d``, ``log sigma``, then the logit coefficients cell after cell.

    Notes
    -----
    The density of a row is ``sum over x of P(reports | x) P(x | z) N(y; z b + e_x d, sigma^2)``. Score and second
    derivatives are those of the complete data averaged over ``P(x | y, reports, z)``, plus the variance of the
    complete score [1]_.

    References
    ----------
    .. [1] T. A. Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the
       Royal Statistical Society B 44 (1982), 226-233.
    """

    outcome: NDArray[np.float64]
    matrix: NDArray[np.float64]
    cells: Cells
    weights: NDArray[np.float64]
    names: tuple[str, ...]
    first_guess: NDArray[np.float64]
    """Moment estimates of ``b`` and ``d``, and of sigma."""
    bounded = ()

    @property
    def observed(self) -> NDArray[np.float64]:
        """What the likelihood is of, to tell whether two fits are to the same rows."""
        return self.outcome

    @property
    def classes(self) -> int:
        return len(self.cells.names) - 1

    @property
    def terms(self) -> tuple[str, ...]:
        latent = [f"P({cell}): {name}" for cell in self.cells.names[1:] for name in self.names]
        return (*self.names, *self.cells.terms, "log(sigma)", *latent)

    @property
    def _ends(self) -> tuple[int, int]:
        """Where the coefficients of the outcome and those of the predictors' truths begin to differ in kind."""
        regression = len(self.names) + len(self.cells.terms)
        return regression, regression + 1

    @property
    def logits(self) -> list[slice]:
        """Positions of the coefficients of each linear predictor on the logit scale."""
        p, begin = self.matrix.shape[1], self._ends[1]
        return [slice(begin + c * p, begin + (c + 1) * p) for c in range(self.classes)]

    def _joint(self, params: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Shares of the cells, their posterior, log-likelihood of each row, and residuals in sigmas."""

        regression, begin = self._ends
        middle = (self.matrix @ params[: len(self.names)])[:, None]
        effects = self.cells.effects @ params[len(self.names) : regression]
        log_sigma = params[regression]
        residual = (self.outcome[:, None] - middle - effects) * np.exp(-log_sigma)
        g = softmax(params[begin:], self.matrix, self.classes)
        exponent = -0.5 * residual**2
        top = exponent.max(axis=1, keepdims=True)
        joint = self.cells.likelihood * g * np.exp(exponent - top)
        total = np.maximum(joint.sum(axis=1), TINY)
        rows = np.log(total) + top[:, 0] - log_sigma - 0.5 * np.log(2 * np.pi)
        return g, joint / total[:, None], rows, residual

    def rows(self, params: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-density of each outcome and its reports."""
        return self._joint(params)[2]

    def _complete_scores(
        self, params: NDArray[np.float64], g: NDArray[np.float64], residual: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores if the truth were each cell, shape (n, cells, parameters), and the regressors of the outcome."""

        regression, _ = self._ends
        n, size = len(self.outcome), self.classes + 1
        regressors = np.empty((n, size, regression))
        regressors[:, :, : len(self.names)] = self.matrix[:, None]
        regressors[:, :, len(self.names) :] = self.cells.effects
        scores = np.empty((n, size, len(self.terms)))
        scores[:, :, :regression] = regressors * (residual * np.exp(-params[regression]))[:, :, None]
        scores[:, :, regression] = residual**2 - 1
        for c, where in enumerate(self.logits, start=1):
            off = -g[:, c, None].repeat(size, axis=1)
            off[:, c] += 1
            scores[:, :, where] = off[:, :, None] * self.matrix[:, None]
        return scores, regressors

    def scores(self, params: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of `rows`, shape (n, parameters)."""

        g, post, _, residual = self._joint(params)
        return np.asarray(np.einsum("nc,ncp->np", post, self._complete_scores(params, g, residual)[0]))

    def evaluate(self, params: NDArray[np.float64]) -> Value:
        """Weighted log-likelihood, its gradient and its second derivatives."""

        regression, _ = self._ends
        g, post, rows, residual = self._joint(params)
        complete, regressors = self._complete_scores(params, g, residual)
        scores = np.einsum("nc,ncp->np", post, complete)
        weight = (self.weights[:, None] * post).ravel()
        flat, x = complete.reshape(len(weight), -1), regressors.reshape(len(weight), -1)
        hessian = (flat.T * weight) @ flat - (scores.T * self.weights) @ scores
        precision = np.exp(-params[regression])
        hessian[:regression, :regression] -= (x.T * weight) @ x * precision**2
        cross = 2 * precision * (x.T @ (weight * residual.ravel()))
        hessian[:regression, regression] -= cross
        hessian[regression, :regression] -= cross
        hessian[regression, regression] -= 2 * weight @ residual.ravel() ** 2
        z = self.matrix
        for a, left in enumerate(self.logits, start=1):
            for b, right in enumerate(self.logits, start=1):
                curve = self.weights * ((a == b) * g[:, a] - g[:, a] * g[:, b])
                hessian[left, right] -= (z.T * curve) @ z
        return float(self.weights @ rows), self.weights @ scores, hessian

    def possible(self, params: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Probability (n,) and score (n, parameters) of what could have been observed, at Gauss-Hermite nodes."""

        nodes, share = np.polynomial.hermite_e.hermegauss(NODES)
        share = share / share.sum()
        regression, begin = self._ends
        g = softmax(params[begin:], self.matrix, self.classes)
        middle = self.matrix @ params[: len(self.names)]
        effects = self.cells.effects @ params[len(self.names) : regression]
        for likelihood in self.cells.responses():
            for cell in range(self.classes + 1):
                for node, part in zip(nodes, share, strict=True):
                    outcome = middle + effects[cell] + np.exp(params[regression]) * node
                    other = replace(self, outcome=outcome, cells=replace(self.cells, likelihood=likelihood))
                    yield g[:, cell] * likelihood[:, cell] * part, other.scores(params)

    def directions(self) -> NDArray[np.float64]:
        """Coordinates in which a unit step moves the outcome by about its sigma, and every logit by about 1."""

        unit, sigma = orthogonal(self.matrix), self.first_guess[-1]
        effects = sigma * np.eye(len(self.cells.terms))
        return block_diagonal(sigma * unit, effects, np.eye(1), *[unit] * self.classes)

    def null_directions(self) -> NDArray[np.float64]:
        """The coordinates of the model without effects on the outcome."""

        level, effects = constant(self.matrix), np.zeros((len(self.cells.terms), 0))
        return block_diagonal(
            level * self.first_guess[-1], effects, np.eye(1), *[orthogonal(self.matrix)] * self.classes
        )

    def starts(self) -> list[NDArray[np.float64]]:
        """The moment estimates with the cells' shares; no, half, double and opposite effects."""

        level = constant(self.matrix)
        middle = level[:, 0] if level.shape[1] else np.zeros(self.matrix.shape[1])
        share = self.cells.shares(self.weights)
        logits = np.concatenate([np.log(share[c] / share[0]) * middle for c in range(1, len(share))])
        b, d = np.split(self.first_guess[:-1], [len(self.names)])
        average = share @ self.cells.effects @ d
        return [
            np.concatenate([b + (1 - factor) * average * middle, factor * d, [np.log(self.first_guess[-1])], logits])
            for factor in (1.0, 0.0, 0.5, 2.0, -1.0)
        ]
