"""The likelihood of a randomised categorical outcome: a multinomial logit seen through a design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable_research.regression.coordinates import block_diagonal, constant, orthogonal
from deniable_research.regression.reports import Reports

if TYPE_CHECKING:
    from deniable_research.regression.maximum import Value

TINY = 1e-300
"""Below any probability that a row can have; keeps logarithms finite where a start is absurd."""


@dataclass(frozen=True)
class Categorical:
    """``P(report_i) = sum over x of P(report_i | x) g_x(z_i)``, ``g = softmax(B z)`` with the first truth as reference.

    Notes
    -----
    With ``post_x = P(x | report_i)`` the score of the linear predictor of truth ``x`` is ``post_x - g_x`` and its
    derivative ``(diag(post) - post post') - (diag(g) - g g')``: what is still unknown about the truth after the report
    is missing from the information of a direct answer [1]_. An unknown share ``s`` of the design enters as
    ``P(report_i | x) = likelihood + s slope``.

    References
    ----------
    .. [1] T. A. Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the
       Royal Statistical Society B 44 (1982), 226-233.
    """

    matrix: NDArray[np.float64]
    reports: Reports
    weights: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def observed(self) -> NDArray[np.float64]:
        """What the likelihood is of, to tell whether two fits are to the same rows."""
        return self.reports.likelihood

    @property
    def classes(self) -> int:
        """Number of truths that have coefficients: all but the reference."""
        return len(self.reports.truths) - 1

    @property
    def terms(self) -> tuple[str, ...]:
        truths = self.reports.truths[1:]
        slopes = self.names if len(truths) == 1 else tuple(f"{x}: {name}" for x in truths for name in self.names)
        return slopes if self.reports.share is None else (*slopes, self.reports.share)

    @property
    def bounded(self) -> tuple[int, ...]:
        """Positions of the parameters that are shares in [0, 1]."""
        return () if self.reports.share is None else (len(self.terms) - 1,)

    @property
    def logits(self) -> list[slice]:
        """Positions of the coefficients of each linear predictor on the logit scale."""
        p = self.matrix.shape[1]
        return [slice(c * p, (c + 1) * p) for c in range(self.classes)]

    def shares(self, params: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """``g``, shape (rows, truths)."""
        return softmax(params, matrix, self.classes)

    def _joint(self, params: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:

        g = self.shares(params, self.matrix)
        given = self.reports.likelihood
        if self.reports.slope is not None:
            given = given + params[-1] * self.reports.slope
        joint = given * g
        total = np.maximum(joint.sum(axis=1), TINY)
        return g, joint / total[:, None], total

    def rows(self, params: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-likelihood of each report."""

        return np.asarray(np.log(self._joint(params)[2]))

    def scores(self, params: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of `rows`, shape (n, parameters)."""

        g, post, total = self._joint(params)
        found = [(post - g)[:, x, None] * self.matrix for x in range(1, self.classes + 1)]
        if self.reports.slope is not None:
            found.append(((self.reports.slope * g).sum(axis=1) / total)[:, None])
        return np.concatenate(found, axis=1)

    def evaluate(self, params: NDArray[np.float64]) -> Value:
        """Weighted log-likelihood, its gradient and its second derivatives."""

        g, post, total = self._joint(params)
        w, z = self.weights, self.matrix
        p, size = z.shape[1], len(self.terms)
        gradient, hessian = np.empty(size), np.empty((size, size))
        gradient[: self.classes * p] = ((w[:, None] * (post - g)[:, 1:]).T @ z).ravel()
        for a, left in enumerate(self.logits, start=1):
            for b, right in enumerate(self.logits[:a], start=1):
                curve = g[:, a] * g[:, b] - post[:, a] * post[:, b]
                if a == b:
                    curve += post[:, a] - g[:, a]
                block = (z * (w * curve)[:, None]).T @ z
                hessian[left, right], hessian[right, left] = block, block.T
        if self.reports.slope is not None:
            rise = self.reports.slope * g / total[:, None]
            t = rise.sum(axis=1)
            cross = ((w[:, None] * (rise - post * t[:, None])[:, 1:]).T @ z).ravel()
            gradient[-1] = w @ t
            hessian[-1, -1] = -(w @ t**2)
            hessian[-1, :-1] = hessian[:-1, -1] = cross
        return float(w @ np.log(total)), gradient, hessian

    def possible(self, params: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Probability (n,) and score (n, parameters) of everything that each person could have reported."""

        for likelihood, slope in self.reports.responses():
            other = replace(self, reports=replace(self.reports, likelihood=likelihood, slope=slope))
            probability = np.exp(other.rows(params))
            yield probability, np.where(probability[:, None] > TINY, other.scores(params), 0.0)

    def directions(self) -> NDArray[np.float64]:
        """Coordinates in which a unit step moves every linear predictor by about 1."""

        return block_diagonal(*[orthogonal(self.matrix, self.weights)] * self.classes, *[np.eye(1)] * len(self.bounded))

    def null_directions(self) -> NDArray[np.float64]:
        """The coordinates of the model without covariates."""

        return block_diagonal(*[constant(self.matrix)] * self.classes, *[np.eye(1)] * len(self.bounded))

    def starts(self) -> list[NDArray[np.float64]]:
        """Equal shares; the shares of all people without covariates; and everybody, or nobody, like the reference."""

        likelihood = self.reports.likelihood
        if self.reports.slope is not None:
            likelihood = likelihood + 0.5 * self.reports.slope
        share = most_likely_shares(likelihood, self.weights)
        few, many = (np.array([rest, *[1.0] * self.classes]) for rest in (30.0, 1 / 30))
        shares = [share, np.ones_like(share), few, many]
        level = constant(self.matrix)
        middle = level[:, 0] if level.shape[1] else np.zeros(self.matrix.shape[1])
        return [
            np.concatenate(
                [*(np.log(each[x] / each[0]) * middle for x in range(1, len(each))), [0.5] * len(self.bounded)]
            )
            for each in shares
        ]


def most_likely_shares(likelihood: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the truths in a few steps of expectation maximisation: to start from, never to publish.

    At least 1 %, so that their logits are finite.
    """

    share = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(8):
        joint = likelihood * share
        share = weights @ (joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY))
        share = np.maximum(share / share.sum(), 0.01)
    return share


def softmax(coefficients: NDArray[np.float64], matrix: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Shares of the truths, shape (rows, classes + 1); the first ``classes * p`` parameters are the coefficients."""

    p = matrix.shape[1]
    # truth after truth in memory: sums over a few truths are then four times as fast as over rows of 2
    eta = np.zeros((len(matrix), classes + 1), order="F")
    eta[:, 1:] = matrix @ coefficients[: classes * p].reshape(classes, p).T
    eta -= eta.max(axis=1, keepdims=True)
    np.exp(eta, out=eta)
    eta /= eta.sum(axis=1, keepdims=True)
    return eta
