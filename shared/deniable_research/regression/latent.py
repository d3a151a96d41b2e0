"""One likelihood for every model: an outcome given truths, each of them seen through its reports or known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deniable_research.regression.cells import CellLogits, CellShares, PredictorCells
from deniable_research.regression.factor import TINY, Array, Factor, Part, Value, block_diagonal
from deniable_research.regression.outcomes import CategoricalOutcome, NoOutcome, NormalOutcome
from deniable_research.regression.regressors import Regressors
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

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(term for factor in self.factors for term in factor.terms)

    @property
    def observed(self) -> Array:
        """What the likelihood is of, to tell whether two fits are to the same rows."""
        seen = [each.likelihood for each in self.cells.predictors.values()]
        return np.concatenate([self.outcome.observed, *seen], axis=1)

    @property
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
            found[rows] = self._scores(parts, [part.gradient() for part in parts], total)
        return found

    def _scores(self, parts: list[Part], gradients: list[Array], total: Array) -> Array:
        found = []
        for j, gradient in enumerate(gradients):
            # d log P / d theta_j = sum_x f_j'(x) prod_{k != j} f_k(x) / P
            others = _product(parts, j) / total[:, None]
            found.append((others[:, None, :] @ gradient)[:, 0])
        return np.concatenate(found, axis=1)

    def evaluate(self, params: Array) -> Value:
        """Weighted log-likelihood, its gradient and its second derivatives; minus infinity if a row is impossible."""
        size, value = len(self.terms), 0.0
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
            gradients = [part.gradient() for part in parts]
            scores = self._scores(parts, gradients, total)
            gradient += w @ scores
            # d2 log P = d2 P / P - s s', and d2 P / P is added below, factor by factor
            hessian -= (scores.T * w) @ scores
            share = (w / total)[:, None]
            for j, here in enumerate(self.places):
                if here.start == here.stop:
                    continue
                # within a factor: sum_x f_j''(x) prod_{k != j} f_k(x) / P
                hessian[here, here] += parts[j].curvature(share * _product(parts, j))
                for k, there in enumerate(self.places[:j]):
                    if there.start == there.stop:
                        continue
                    # across two factors: sum_x f_j'(x) f_k'(x)' prod of the others / P
                    weights = (share * _product(parts, j, k)).ravel()
                    left = gradients[j].reshape(len(weights), -1)
                    block = (left.T * weights) @ gradients[k].reshape(len(weights), -1)
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
        if self.cells.shared or self.cells.with_outcome or not all(each.tells_all for each in seen):
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
