"""Outcomes that are no answers: a number, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deniable_statistics.regression.cells import starting_shares
from deniable_statistics.regression.factor import Array, Part, block_diagonal
from deniable_statistics.regression.regressors import Regressors

NODES = 32
"""Gauss-Hermite nodes for the expectation over a number."""


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
            # The likelihood of a mixture may have several maxima, the opposite of an effect among them.
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
