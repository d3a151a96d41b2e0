"""One likelihood for every model: an outcome given truths, each of them seen through its reports or known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from deniable_statistics.regression.cells import CellLogits, CellShares, PredictorCells, softmax, starting_shares
from deniable_statistics.regression.factor import TINY, Array, Factor, Part, Value, block_diagonal
from deniable_statistics.regression.outcomes import NoOutcome, NormalOutcome
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.report_likelihood import Reports
from deniable_statistics.sampling import Truths

MOST_NUMBERS = 2_000_000
"""Derivatives that are held at once: rows are taken in blocks."""


@dataclass(frozen=True)
class LatentClasses:
    """``P(row) = sum over cells x of P(outcome | x, z) P(x | z) P(reports | x)``.

    A *cell* is a combination of the truths of the randomised predictors; without some there is one. The factors have
    parameters of their own: coefficients of the outcome (and its unknown share, or sigma), shares of the cells or
    their logits, and unknown shares of the predictors' designs, in this order.

    Notes
    -----
    With ``J_x`` the part of cell ``x`` in the sum, the gradient of the logarithm is that of each factor averaged over
    ``J_x``, and its second derivatives are those of the sum less the square of the gradient [1]_. Nothing is divided
    by a factor, so shares of 0 have derivatives.

    References
    ----------
    .. [1] T. A. Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the
       Royal Statistical Society B 44 (1982), 226-233.
    """

    outcome: CategoricalOutcome | NoOutcome | NormalOutcome
    shares: CellShares | CellLogits
    cells: PredictorCells
    weights: Array

    @property
    def factors(self) -> tuple[Factor, ...]:
        """What is multiplied, in the order of the parameters."""
        return (self.outcome, self.shares, self.cells)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of all parameters."""
        return tuple(term for factor in self.factors for term in factor.terms)

    @property
    def observed(self) -> Array:
        """What the likelihood is of, to tell whether two fits are to the same rows."""
        seen = [each.likelihood for each in self.cells.predictors.values()]
        return np.concatenate([self.outcome.observed, *seen], axis=1)

    @cached_property
    def places(self) -> list[slice]:
        """Where the parameters of each factor are."""
        ends = [0, *itertools.accumulate(len(factor.terms) for factor in self.factors)]
        return list(itertools.starmap(slice, itertools.pairwise(ends)))

    @property
    def bounded(self) -> tuple[int, ...]:
        """Positions of the parameters that are shares in [0, 1]."""
        pairs = zip(self.factors, self.places, strict=True)
        return tuple(place.start + j for factor, place in pairs for j in factor.bounded)

    @property
    def logits(self) -> list[tuple[slice, Regressors]]:
        """Linear predictors on the logit scale: first those of the cells, then those of the outcome."""
        found = []
        if isinstance(self.shares, CellLogits):
            found += [(each, self.shares.covariates, self.places[1].start) for each in self.shares.logits]
        found += [(each, self.outcome.regressors, 0) for each in self.outcome.logits]
        return [(slice(each.start + begin, each.stop + begin), regressors) for each, regressors, begin in found]

    @property
    def nuisance(self) -> int:
        """How many of `logits` are not of the outcome."""
        return len(self.shares.logits)

    @property
    def cells_at(self) -> slice:
        """Where the parameters are that say how often each cell is."""
        return self.places[1]

    def blocks(self) -> Iterator[slice]:
        """Rows that are taken at once, so that `MOST_NUMBERS` suffice."""
        # a gradient holds rows x cells x parameters numbers
        n, most = len(self.weights), max(1, MOST_NUMBERS // (self.cells.size * max(len(self.terms), 1)))
        for start in range(0, n, most):
            yield slice(start, min(start + most, n))

    def _parts(self, params: Array, rows: slice) -> tuple[list[Part], Array]:
        """The factors, and the sum over cells of their product."""
        parts = [factor.at(params[place], rows) for factor, place in zip(self.factors, self.places, strict=True)]
        # P(row) = sum over x of the product; TINY keeps its logarithm a number where a start is absurd
        return parts, np.maximum(_product(parts).sum(axis=1), TINY)

    def rows(self, params: Array) -> Array:
        """Log-likelihood of each row."""
        found = np.empty(len(self.weights))
        for rows in self.blocks():
            parts, total = self._parts(params, rows)
            found[rows] = np.log(total) + sum(part.offset for part in parts)
        return found

    def scores(self, params: Array) -> Array:
        """Derivatives of `rows`, shape (n, parameters)."""
        found = np.empty((len(self.weights), len(self.terms)))
        for rows in self.blocks():
            parts, total = self._parts(params, rows)
            found[rows] = self._scores(parts, self._gradients(parts), total)
        return found

    def _gradients(self, parts: list[Part]) -> list[Array | None]:
        """The gradients of the factors that have parameters."""
        return [part.gradient() if factor.terms else None for factor, part in zip(self.factors, parts, strict=True)]

    def _scores(self, parts: list[Part], gradients: list[Array | None], total: Array) -> Array:
        found = []
        for j, gradient in enumerate(gradients):
            if gradient is None:
                continue
            # d log P / d theta_j = sum_x f_j'(x) prod_{k != j} f_k(x) / P
            others = _product(parts, j) / total[:, None]
            found.append((others[:, None, :] @ gradient)[:, 0])
        return np.concatenate(found, axis=1)

    def evaluate(self, params: Array) -> Value:
        """Weighted log-likelihood, its gradient and its second derivatives; minus infinity if a row is impossible."""
        size, value = len(params), 0.0
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        if not self.shares.allows(params[self.places[1]]):
            return -np.inf, gradient, hessian
        for rows in self.blocks():
            w = self.weights[rows]
            parts, total = self._parts(params, rows)
            # a row that cannot be under these parameters: the search turns back
            if total.min() <= TINY:
                return -np.inf, np.zeros(size), np.zeros((size, size))
            value += float(w @ (np.log(total) + sum(part.offset for part in parts)))
            gradients = self._gradients(parts)
            scores = self._scores(parts, gradients, total)
            gradient += w @ scores
            # d2 log P = d2 P / P - s s', and d2 P / P is added below, factor by factor
            hessian -= (scores.T * w) @ scores
            share = (w / total)[:, None]
            for j, (here, steep) in enumerate(zip(self.places, gradients, strict=True)):
                if steep is None:
                    continue
                # within a factor: sum_x f_j''(x) prod_{k != j} f_k(x) / P
                hessian[here, here] += parts[j].curvature(share * _product(parts, j))
                for there, k, other in zip(self.places, range(j), gradients, strict=False):
                    if other is None:
                        continue
                    # across two factors: sum_x f_j'(x) f_k'(x)' prod of the others / P
                    weights = (share * _product(parts, j, k)).ravel()
                    left = steep.reshape(len(weights), -1)
                    block = (left.T * weights) @ other.reshape(len(weights), -1)
                    hessian[here, there] += block
                    hessian[there, here] += block.T
        return value, gradient, hessian

    def possible(self, params: Array) -> Iterator[tuple[Array, Array]]:
        """Probability (n,) and score (n, parameters) of what each person could have reported and been seen to be."""
        place = self.places
        every = slice(None)
        share = self.shares.at(params[place[1]], every).value
        for cells in self.cells.possible():
            given = cells.at(params[place[2]], every).value * share
            for outcome, probability in self.outcome.possible(params[place[0]]):
                other = replace(self, outcome=outcome, cells=cells)
                found = (given * probability).sum(axis=1)
                # what cannot be has no score, and none is needed
                yield found, np.where(found[:, None] > TINY, other.scores(params), 0.0)

    def truths(self, params: Array) -> Truths | None:
        """What the scores would be without the chance of the devices.

        None where it is not known: with unknown shares, shared responses, and people who were not asked.

        A person's score depends on the reports, so its expectation given the truths is the mean over all of these.
        """
        reports = self.outcome.reports if isinstance(self.outcome, CategoricalOutcome) else None
        seen = [*self.cells.predictors.values(), *filter(None, [reports])]
        # without known scores nobody knows what the truth alone would give
        if self.cells.shared or self.cells.beside or not all(each.tells_all for each in seen):
            return None
        n, size = len(self.weights), len(self.terms)
        whole = np.ones((n, 1))
        scores = self.cells.scores() if self.cells.predictors else whole
        answers = [(self.outcome, whole)]
        if reports is not None and isinstance(self.outcome, CategoricalOutcome):
            scores = _crossed(scores, reports.scores())
            answers = [(replace(self.outcome, reports=each), each.likelihood) for each in reports.possible()]
        found = np.zeros((n, scores.shape[1], size))
        for cells in self.cells.possible():
            for outcome, given in answers:
                # E[score | truths] = sum over reports r of P(r | truths) score(r)
                chance = _crossed(cells.likelihood(), given)
                each = replace(self, outcome=outcome, cells=cells).scores(params)
                found += chance[:, :, None] * np.where(chance.any(axis=1, keepdims=True), each, 0.0)[:, None, :]
        return Truths(scores, found)

    def reweighted(self, weights: Array) -> Self:
        """This model with other weights of the people."""
        return replace(self, weights=weights)

    def directions(self) -> Array:
        """Coordinates in which a unit step moves every linear predictor by about 1, and the outcome by its sigma."""
        return block_diagonal(self.outcome.directions(), self.shares.directions(), np.eye(len(self.cells.terms)))

    def null_directions(self) -> Array:
        """The coordinates of the model in which the outcome depends on nothing."""
        return block_diagonal(
            self.outcome.null_directions(), self.shares.null_directions(), np.eye(len(self.cells.terms))
        )

    def inside(self, params: Array) -> Array:
        """The nearest parameters, about, whose shares are all above 0 and possible together."""
        found = params.copy()
        bounded = list(self.bounded)
        found[bounded] = np.clip(found[bounded], 0.01, 0.99)
        found[self.places[1]] = self.shares.inside(params[self.places[1]])
        return found

    def starts(self) -> list[Array]:
        """Starting values: those of the outcome, with the shares of cells estimated from their reports alone."""
        rest = np.concatenate([self.shares.start(), np.full(len(self.cells.terms), 0.5)])
        return [np.append(each, rest) for each in self.outcome.starts(self.cells.likelihood(), self.weights)]


def _crossed(one: Array, other: Array) -> Array:
    """Products of the columns of two tables, those of the second within those of the first."""
    return np.asarray((one[:, :, None] * other[:, None, :]).reshape(len(one), -1))


def _product(parts: list[Part], *without: int) -> Array:
    """The product of the values of some factors, shape (rows, cells)."""
    found: Array | float = 1.0
    for j, part in enumerate(parts):
        if j not in without:
            found = found * part.value
    return np.asarray(found)


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
    certain: Array | None = None
    """Where a filter leaves one answer in some cells, which is none of these truths: ``P(reports | cell)`` there, shape
    (n, cells), and NaN in the cells where the outcome is free."""

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
        certain = np.zeros(g.shape[:2])
        if self.certain is not None:
            # where a filter leaves one answer, nothing depends on coefficients
            certain = np.nan_to_num(self.certain[rows])
            g = g * np.isnan(self.certain[rows])[:, :, None]
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

        return Part(total + certain, gradient, curvature)

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
