"""How likely an outcome is under every cell of truths: a choice seen through a design, or a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deniable_research.regression.factor import TINY, Array, Part, block_diagonal
from deniable_research.regression.regressors import Regressors
from deniable_research.regression.reports import Reports

NODES = 32
"""Gauss-Hermite nodes for the expectation over a number."""


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
    share: Array
    std_error: Array


@dataclass(frozen=True)
class CategoricalOutcome:
    """``P(report | cell) = sum over y of P(report | y) g_y``, ``g = softmax(B r)`` with the first truth as reference.

    ``r`` are the regressors of row and cell. An unknown share ``s`` of the design, the last parameter, enters as
    ``P(report | y) = likelihood + s slope``.

    Notes
    -----
    With ``post_y = P(y | report, cell)`` the score of the linear predictor of truth ``y`` is ``post_y - g_y`` and its
    derivative ``(diag(post) - post post') - (diag(g) - g g')``: what is still unknown about the truth after the report
    is missing from the information of a direct answer [1]_.

    References
    ----------
    .. [1] T. A. Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the
       Royal Statistical Society B 44 (1982), 226-233.
    """

    reports: Reports
    regressors: Regressors
    shared: tuple[Array, Array] | None = None
    """Where predictors share one response with the outcome: ``P(reports | y, cell) = base + more likelihood`` with
    shapes (n,) and (n, cells), and a likelihood of 0 and 1."""

    @property
    def observed(self) -> Array:
        """What the likelihood is of, one row for each of the data's."""
        return self.reports.likelihood

    @property
    def classes(self) -> int:
        """Number of truths that have coefficients: all but the reference."""
        return len(self.reports.truths) - 1

    @property
    def terms(self) -> tuple[str, ...]:
        names, truths = self.regressors.terms, self.reports.truths[1:]
        slopes = names if len(truths) == 1 else tuple(f"{y}: {name}" for y in truths for name in names)
        return slopes if self.reports.share is None else (*slopes, self.reports.share)

    @property
    def bounded(self) -> tuple[int, ...]:
        """Positions of the parameters that are shares in [0, 1]."""
        return () if self.reports.share is None else (len(self.terms) - 1,)

    @property
    def logits(self) -> list[slice]:
        """Positions of the coefficients of each linear predictor on the logit scale."""
        p = self.regressors.size
        return [slice(c * p, (c + 1) * p) for c in range(self.classes)]

    def shares(self, params: Array, values: Array) -> Array:
        """``g`` at regressors of shape (..., p): shape (..., truths)."""
        return softmax(params, values, self.classes)

    def predict(self, params: Array, covariance: Array, matrix: Array) -> Prediction:
        """Shares at covariates of shape (rows, p), and their errors from the covariance of the parameters."""
        share = self.shares(params, matrix)
        size = self.classes * matrix.shape[1]
        known = covariance[:size, :size]
        errors = np.full_like(share, np.nan)
        if np.isfinite(known).all():
            for x in range(share.shape[1]):
                slope = -share[:, x, None] * share[:, 1:]  # d g_x / d eta_y = g_x ([x = y] - g_y)
                if x:
                    slope[:, x - 1] += share[:, x]
                each = (slope[:, :, None] * matrix[:, None, :]).reshape(len(matrix), size)
                errors[:, x] = np.sqrt(np.maximum(np.einsum("na,ab,nb->n", each, known, each, optimize=True), 0))
        return Prediction(self.reports.truths, share, errors)

    def at(self, params: Array, rows: slice) -> Part:
        """The likelihood of some rows under every cell."""
        values = self.regressors.values(rows)
        g = self.shares(params, values)
        given = self.reports.likelihood[rows, None, :]
        slope = None if self.reports.slope is None else self.reports.slope[rows]
        if slope is not None:
            given = given + params[-1] * slope[:, None, :]
        if self.shared is not None:
            base, more = self.shared
            given = base[rows, None, None] + more[rows, :, None] * given
        # sum over y of P(report | y) g_y, whose terms stand in joint
        joint = given * g
        total = joint.sum(axis=2)
        # d total / d eta_y = g_y (P(report | y) - total)
        moved = joint - g * total[:, :, None]  # of every linear predictor
        # d total / d s = sum_y slope_y g_y
        rise = np.zeros_like(joint) if slope is None else slope[:, None, :] * g

        def gradient() -> Array:
            found = [moved[:, :, y, None] * values for y in range(1, self.classes + 1)]
            if slope is not None:
                found.append(rise.sum(axis=2, keepdims=True))
            return np.concatenate(found, axis=2)

        def curvature(weights: Array) -> Array:
            found = np.zeros((len(self.terms),) * 2)
            flat = values.reshape(-1, values.shape[2])
            for a, left in enumerate(self.logits, start=1):
                for b, right in enumerate(self.logits[:a], start=1):
                    # d2 total / d eta_a d eta_b = 2 g_a g_b total - g_a joint_b - joint_a g_b + [a = b] moved_a
                    curve = 2 * g[:, :, a] * g[:, :, b] * total
                    curve -= g[:, :, a] * joint[:, :, b] + joint[:, :, a] * g[:, :, b]
                    if a == b:
                        curve += moved[:, :, a]
                    block = (flat.T * (weights * curve).ravel()) @ flat
                    found[left, right], found[right, left] = block, block.T
            if slope is not None:
                # d2 total / d s d eta_y = g_y (slope_y - sum_z slope_z g_z)
                turned = rise - g * rise.sum(axis=2, keepdims=True)
                cross = [(weights * turned[:, :, y]).ravel() @ flat for y in range(1, self.classes + 1)]
                found[-1, :-1] = found[:-1, -1] = np.concatenate(cross)
            return found

        return Part(total, gradient, curvature)

    def possible(self, params: Array) -> Iterator[tuple[CategoricalOutcome, Array]]:
        """Every response of every row's design, and its probability under each cell, shape (n, cells)."""
        for reports in self.reports.possible():
            other = replace(self, reports=reports)
            yield other, other.at(params, slice(None)).value

    def directions(self) -> Array:
        """Coordinates in which a unit step moves every linear predictor by about 1."""
        return block_diagonal(*[self.regressors.orthogonal()] * self.classes, *[np.eye(1)] * len(self.bounded))

    def null_directions(self) -> Array:
        """The coordinates of the model without covariates."""
        return block_diagonal(*[self.regressors.constant()] * self.classes, *[np.eye(1)] * len(self.bounded))

    def starts(self, likelihood: Array, weights: Array) -> list[Array]:
        """From the shares of truths and cells together, seen through reports; equal shares; few of all but the first.

        `likelihood` is that of the cells.
        """
        given = self.reports.likelihood
        if self.reports.slope is not None:
            given = given + 0.5 * self.reports.slope
        together = (likelihood[:, :, None] * given[:, None, :]).reshape(len(given), -1)
        share = starting_shares(together, weights).reshape(likelihood.shape[1], -1)
        alone = share.sum(axis=0)
        # odds of 30 to 1 for and against the first truth: starts on both sides of flat stretches
        few, many = (np.array([rest, *[1.0] * self.classes]) for rest in (30.0, 1 / 30))
        level = self.regressors.constant()
        level = level[:, 0] if level.shape[1] else np.zeros(self.regressors.size)
        effects = np.concatenate([self._effects(share, y) for y in range(1, self.classes + 1)])
        found = [
            np.concatenate([np.log(each[y] / each[0]) * level for y in range(1, len(each))])
            for each in (alone, np.ones_like(alone), few, many)
        ]
        if len(share) > 1:
            # the other maxima of models with latent predictors have effects of 0, or of the other sign
            found = [found[0] + factor * (effects - found[0]) for factor in (1.0, 0.0, 2.0, -1.0)] + found[1:]
        return [np.concatenate([each, [0.5] * len(self.bounded)]) for each in found]

    def crowded(self, params: Array) -> int:
        """In how many rows honest yes and cheaters of a two-group design add up to more than 1."""
        if self.reports.share != "cheaters":
            return 0
        least = self.shares(params, self.regressors.values(slice(None)))[:, :, 1].min(axis=1)
        return int((least + params[len(self.terms) - 1] > 1).sum())

    def _effects(self, share: Array, y: int) -> Array:
        """Coefficients for the logits of one truth in the cells, from the columns that do not depend on the row."""
        regressors = self.regressors
        # columns that are the same for everybody: intercept and effects of truths
        steady = np.flatnonzero(np.ptp(regressors.plain, axis=0) == 0)
        columns = regressors.plain[0, steady] * regressors.coded[:, steady]
        root = np.sqrt(share.sum(axis=1))
        found = np.zeros(regressors.size)
        found[steady], *_ = np.linalg.lstsq(columns * root[:, None], np.log(share[:, y] / share[:, 0]) * root)
        return found


@dataclass(frozen=True)
class NormalOutcome:
    """``y = r b + N(0, sigma^2)`` with regressors ``r`` of row and cell; parameters ``b``, then ``log sigma``."""

    outcome: Array
    regressors: Regressors
    first_guess: Array
    """Estimates of ``b``, and of sigma: where searches start, and the scale of the coordinates."""
    bounded = ()
    logits = ()

    @property
    def observed(self) -> Array:
        """What the likelihood is of, one row for each of the data's."""
        return self.outcome[:, None]

    @property
    def terms(self) -> tuple[str, ...]:
        return (*self.regressors.terms, "log(sigma)")

    def at(self, params: Array, rows: slice) -> Part:
        """The density of some rows under every cell; relative to that of the likeliest cell, which is the offset."""
        values, log_sigma = self.regressors.values(rows), params[-1]
        precision = np.exp(-log_sigma)
        # (y - r b) / sigma, and log density = -residual^2 / 2 - log sigma - log(2 pi) / 2
        residual = (self.outcome[rows, None] - values @ params[:-1]) * precision
        exponent = -0.5 * residual**2
        # relative to the likeliest cell, so that densities of outliers do not underflow
        top = exponent.max(axis=1)
        density = np.exp(exponent - top[:, None])

        def scores() -> Array:
            # d log f / d b = r residual / sigma, d log f / d log sigma = residual^2 - 1
            return np.concatenate([values * (residual * precision)[:, :, None], (residual**2 - 1)[:, :, None]], axis=2)

        def curvature(weights: Array) -> Array:
            weight = (weights * density).ravel()
            flat, x = scores().reshape(len(weight), -1), values.reshape(len(weight), -1)
            # d2 f = f (s s' + d s), with d s / d b = -r r' / sigma^2 and so on below
            found = (flat.T * weight) @ flat
            found[:-1, :-1] -= (x.T * weight) @ x * precision**2
            cross = 2 * precision * (x.T @ (weight * residual.ravel()))
            found[:-1, -1] -= cross
            found[-1, :-1] -= cross
            found[-1, -1] -= 2 * weight @ residual.ravel() ** 2
            return np.asarray(found)

        offset = top - log_sigma - 0.5 * np.log(2 * np.pi)
        return Part(density, lambda: density[:, :, None] * scores(), curvature, offset)

    def crowded(self, _params: Array) -> int:
        """A number has no shares that could be too large together."""
        return 0

    def possible(self, params: Array) -> Iterator[tuple[NormalOutcome, Array]]:
        """Gauss-Hermite nodes around the mean of each cell, and their weights under each cell, shape (n, cells)."""
        # E[h(y)] = sum_k w_k h(mu + sigma t_k) for y ~ N(mu, sigma^2)
        nodes, share = np.polynomial.hermite_e.hermegauss(NODES)
        means = (self.regressors.plain * params[:-1]) @ self.regressors.coded.T
        for cell in range(means.shape[1]):
            for node, part in zip(nodes, share / share.sum(), strict=True):
                weights = np.zeros_like(means)
                weights[:, cell] = part
                yield replace(self, outcome=means[:, cell] + np.exp(params[-1]) * node), weights

    def directions(self) -> Array:
        """Coordinates in which a unit step moves the outcome by about its sigma."""
        return block_diagonal(self.first_guess[-1] * self.regressors.orthogonal(), np.eye(1))

    def null_directions(self) -> Array:
        """The coordinates of the model without effects on the outcome."""
        return block_diagonal(self.first_guess[-1] * self.regressors.constant(), np.eye(1))

    def starts(self, likelihood: Array, weights: Array) -> list[Array]:
        """The first guess; no, half, double and opposite effects of what is randomised."""
        b, sigma = self.first_guess[:-1], self.first_guess[-1]
        share = starting_shares(likelihood, weights)
        regressors = self.regressors
        varies = np.ptp(regressors.coded, axis=0) > 0
        level = regressors.constant()
        level = level[:, 0] if level.shape[1] else np.zeros_like(b)
        # the intercept takes what the mean of the effects gives, so that the mean outcome stays where it is
        average = float((regressors.centre * (share @ regressors.coded))[varies] @ b[varies])
        return [
            np.append(np.where(varies, factor * b, b) + (1 - factor) * average * level, np.log(sigma))
            for factor in (1.0, 0.0, 0.5, 2.0, -1.0)
        ]


@dataclass(frozen=True)
class NoOutcome:
    """Nothing is explained: what is left of the model is how often each cell is."""

    regressors: Regressors
    cells: int
    terms: tuple[str, ...] = ()
    bounded = ()
    logits = ()

    @property
    def observed(self) -> Array:
        """Nothing, for every row."""
        return np.zeros((len(self.regressors.plain), 0))

    def at(self, _params: Array, rows: slice) -> Part:
        """1."""
        n = len(self.regressors.plain[rows])
        return Part(np.ones((n, self.cells)), lambda: np.zeros((n, self.cells, 0)), lambda _weights: np.zeros((0, 0)))

    def crowded(self, _params: Array) -> int:
        """As of `NormalOutcome`."""
        return 0

    def possible(self, _params: Array) -> Iterator[tuple[NoOutcome, Array]]:
        """The one outcome."""
        yield self, np.ones((len(self.regressors.plain), self.cells))

    def directions(self) -> Array:
        """None."""
        return np.zeros((0, 0))

    null_directions = directions

    def starts(self, _likelihood: Array, _weights: Array) -> list[Array]:
        """The one that there is."""
        return [np.zeros(0)]


def starting_shares(likelihood: Array, weights: Array) -> Array:
    """Shares of the columns in a few steps of expectation maximisation: to start from, never to publish.

    At least .1 % of the average, so that their logits are finite; of 20,000 rows at most.
    """
    every = max(1, len(likelihood) // 20_000)
    likelihood, weights = likelihood[::every], weights[::every]
    share = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(30):
        # EM for mixture shares: P(x | row) at the old shares, then their mean over the rows
        joint = likelihood * share
        share = weights @ (joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY))
        share = np.maximum(share / share.sum(), 0.02 / len(share))
    return np.asarray(share / share.sum())


def softmax(coefficients: Array, values: Array, classes: int) -> Array:
    """Shares of the truths at regressors of shape (..., p); the first ``classes * p`` numbers are the coefficients."""
    p = values.shape[-1]
    eta = np.zeros((*values.shape[:-1], classes + 1))
    eta[..., 1:] = values @ coefficients[: classes * p].reshape(classes, p).T
    # exp of numbers up to 0 does not overflow
    eta -= eta.max(axis=-1, keepdims=True)
    np.exp(eta, out=eta)
    eta /= eta.sum(axis=-1, keepdims=True)
    return eta
