"""Randomised predictors: the cross table of their truths, what reports say about it, and how often each cell is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_statistics.regression.factor import TINY, Array, Part, block_diagonal
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.report_likelihood import Reports
from deniable_statistics.regression.shared_response import SharedResponse, allowed_together

MOST_CELLS = 128
"""Combinations of truths: beyond, no data tell how often each one is."""
MOST_SHARES, SMALLEST_GROUP = 60, 100
"""Cells have shares of their own in each group of people with the same covariates up to so many shares, if each group
has so many people; otherwise a multinomial logit describes them."""


@dataclass(frozen=True)
class PredictorCells:
    """Every combination of the true values of the randomised predictors, and ``P(reports_i | cell)``.

    Devices randomise the answers to several questions independently, so this is a product; of questions with a shared
    response see `SharedResponse`. Unknown shares of two-group designs are the parameters: each likelihood is
    ``likelihood + s slope``.

    Attributes
    ----------
    predictors : mapping from name to Reports
        Empty without randomised predictors: then there is one cell.
    n : int
        Number of rows.
    shared : tuple of SharedResponse
        Among predictors. Those that share one with the outcome count there.
    beside : tuple of SharedResponse
        Those that predictors share with the outcome: they say here which cells somebody can be in.
    """

    predictors: Mapping[str, Reports]
    n: int
    shared: tuple[SharedResponse, ...] = ()
    beside: tuple[SharedResponse, ...] = ()

    def __post_init__(self) -> None:
        if self.size > MOST_CELLS:
            raise ParameterError(
                f"formula: must have randomised predictors with at most {MOST_CELLS} combinations of truths, "
                f"got {self.size}"
            )

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.kept)

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """The places of the cells among all combinations: where one question filters another, some cannot be."""
        counts = {name: len(each.truths) for name, each in self.predictors.items()}
        return np.flatnonzero(allowed_together((*self.shared, *self.beside), counts))

    @property
    def with_outcome(self) -> set[str]:
        """The predictors that share a response with the outcome."""
        return {name for each in self.beside for name in each.names if name in self.predictors}

    @property
    def truths(self) -> dict[str, tuple[str, ...]]:
        """The truths of each predictor."""
        return {name: each.truths for name, each in self.predictors.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Cells in the order of `itertools.product`, such as ``affair=yes, old=no``."""
        every = itertools.product(*([f"{name}={x}" for x in truths] for name, truths in self.truths.items()))
        all_names = list(map(", ".join, every))
        return tuple(all_names[place] for place in self.kept.tolist())

    @cached_property
    def digits(self) -> dict[str, NDArray[np.int64]]:
        """Which truth of each predictor every cell has, shape (cells,)."""
        every = np.array(list(itertools.product(*(range(len(x)) for x in self.truths.values()))), dtype=np.int64)
        kept = every.reshape(len(every), len(self.predictors))[self.kept]
        return dict(zip(self.truths, kept.T, strict=True))

    @property
    def _unknown(self) -> list[str]:
        return [name for name, each in self.predictors.items() if each.share is not None]

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(f"{name}: {self.predictors[name].share}" for name in self._unknown)

    @property
    def bounded(self) -> tuple[int, ...]:
        """All parameters are shares."""
        return tuple(range(len(self.terms)))

    @property
    def effects(self) -> Array:
        """1 where a cell has the truth of an effect: every truth of each predictor but its first."""
        # the first truth of each predictor is the reference of its effects
        found = [self.digits[name] == x for name, truths in self.truths.items() for x in range(1, len(truths))]
        return np.array(found, dtype=float).reshape(-1, self.size).T

    @property
    def effect_terms(self) -> tuple[str, ...]:
        """Names of `effects`."""
        return tuple(f"{name}[T.{x}]" for name, truths in self.truths.items() for x in truths[1:])

    @cached_property
    def _known(self) -> Array:
        """The part of the likelihood without unknown shares, shape (n, cells)."""
        sharing = {name for each in self.shared for name in each.names}
        # P(reports | cell) = product over questions, because devices draw chances independently
        found = np.ones((self.n, self.size))
        for name, each in self.predictors.items():
            if each.share is None and name not in sharing and name not in self.with_outcome:
                found *= each.likelihood[:, self.digits[name]]
        for response in self.shared:
            base, more = self.shared_parts(response)
            found *= base[:, None] + more
        return found

    def shared_parts(self, response: SharedResponse, outcome: Reports | None = None) -> tuple[Array, Array]:
        """``m q`` of each row, and ``p - q`` in the cells that its report is equal to, shape (n, cells)."""
        members = {name: self.predictors[name] for name in response.names if name in self.predictors}
        every = members if outcome is None else members | {"outcome": outcome}
        base, more, equal = response.parts(every)
        found = np.repeat(more[:, None], self.size, axis=1)
        for name in members:
            found *= equal[name][:, self.digits[name]]
        return base, found

    def at(self, params: Array, rows: slice) -> Part:
        """The likelihood of the reports to all predictors."""
        tables, slopes = [], []
        for name, share in zip(self._unknown, params, strict=True):
            each, places = self.predictors[name], self.digits[name]
            assert each.slope is not None
            slopes.append(each.slope[rows][:, places])
            # P(report | x) = likelihood + s slope with the unknown share s of a two-group design
            tables.append(each.likelihood[rows][:, places] + share * slopes[-1])
        known = self._known[rows]

        def moved(*changed: int) -> Array:
            """The product with the slopes of some predictors in place of their likelihoods."""
            found = known
            for j, table in enumerate(tables):
                found = found * (slopes[j] if j in changed else table)
            return found

        def gradient() -> Array:
            found = np.zeros((*known.shape, len(tables)))
            for j in range(len(tables)):
                # the product is linear in each share: its derivative has the slope in place of the likelihood
                found[:, :, j] = moved(j)
            return found

        def curvature(weights: Array) -> Array:
            found = np.zeros((len(tables),) * 2)
            for j, k in itertools.combinations(range(len(tables)), 2):
                # second derivatives by one share are 0; by two, both slopes stand in the product
                found[j, k] = found[k, j] = (weights * moved(j, k)).sum()
            return found

        return Part(moved(), gradient, curvature)

    @property
    def has_scores(self) -> bool:
        """Whether `scores` knows how."""
        return not self.shared and all(each.share is None for each in self.predictors.values())

    def likelihood(self) -> Array:
        """The likelihood of every row with unknown shares of 1/2, to start from, shape (n, cells).

        Of predictors that share a response with the outcome as if they did not.
        """
        found = self.at(np.full(len(self.terms), 0.5), slice(None)).value
        # a factor that `at` leaves to the outcome
        for name in self.with_outcome:
            found = found * self.predictors[name].likelihood[:, self.digits[name]]
        return np.asarray(found)

    def possible(self) -> Iterator[PredictorCells]:
        """Everything that these people could have reported."""
        if self.shared or self.beside:
            raise ParameterError("cov_type: must be observed, opg or sandwich for questions that share one response")
        for every in itertools.product(*(each.possible() for each in self.predictors.values())):
            yield replace(self, predictors=dict(zip(self.predictors, every, strict=True)))

    def scores(self) -> Array:
        """Unbiased indicators of the cells, shape (n, cells): products of those of the predictors."""
        if self.shared:
            raise ParameterError("shared: must be none for moments, which need a report for each predictor")
        found = np.ones((self.n, self.size))
        for name, each in self.predictors.items():
            if each.share is not None:
                raise ParameterError(
                    f"{name}: must have a design of known probabilities for corrected least squares, but this one "
                    f"finds out the share of {each.share}; take the likelihood of a normal outcome (--likelihood)"
                )
            # E[s_1 s_2 | truths] = E[s_1 | truths] E[s_2 | truths]: products of unbiased scores are unbiased
            found *= each.scores()[:, self.digits[name]]
        return found


@dataclass(frozen=True)
class CellShares:
    """The share of every cell in each group of people with the same covariates: supposes nothing.

    The parameters are the shares of all cells but one, group after group: shares and not their logits, because cells
    that nobody is in are common, and a share of 0 is a number.

    Attributes
    ----------
    groups : ndarray of int, shape (n,)
        Which group each row is in.
    names : tuple of str
        Of the cells.
    group_names : tuple of str
        Empty texts where there is one group.
    first : ndarray, shape (groups, cells)
        Shares to start from.
    reference : ndarray of int, shape (groups,)
        The cell of each group that has what the others leave: far from 0, so the largest of the first shares.
    """

    groups: NDArray[np.int64]
    names: tuple[str, ...]
    group_names: tuple[str, ...]
    first: Array
    reference: NDArray[np.int64]
    logits = ()

    @property
    def _free(self) -> list[tuple[int, int]]:
        """Group and cell of each parameter."""
        return [(g, x) for g, one in enumerate(self.reference) for x in range(len(self.names)) if x != one]

    @property
    def terms(self) -> tuple[str, ...]:
        given = [f" | {name}" if name else "" for name in self.group_names]
        return tuple(f"P({self.names[x]}{given[g]})" for g, x in self._free)

    @property
    def bounded(self) -> tuple[int, ...]:
        return tuple(range(len(self._free)))

    @cached_property
    def slopes(self) -> Array:
        """What each parameter adds to each share, shape (groups, cells, parameters)."""
        found = np.zeros((*self.first.shape, len(self._free)))
        for j, (g, x) in enumerate(self._free):
            # what one cell gains its group's reference loses
            found[g, x, j], found[g, self.reference[g], j] = 1, -1
        return found

    @cached_property
    def _base(self) -> Array:
        return np.asarray(np.eye(len(self.names))[self.reference])

    def allows(self, params: Array) -> bool:
        """Whether no share is below 0: that of the reference of a group may be what is wrong."""
        return bool((self._base + self.slopes @ params).min(initial=0.0) >= 0)

    def inside(self, params: Array) -> Array:
        """The nearest parameters, about, with which every share is above 0."""
        # At a share of 0 its logarithm has no slope, so searches start a little inside.
        found = np.clip(params, 0.001, 1.0)
        for g in range(len(self.first)):
            # shrink the free shares of a group so that the reference keeps 1 % at least
            here = [j for j, (group, _) in enumerate(self._free) if group == g]
            found[here] *= min(1.0, 0.99 / max(found[here].sum(), 0.01))
        return found

    def at(self, params: Array, rows: slice) -> Part:
        """The shares of the cells."""
        share = self._base + self.slopes @ params
        groups = self.groups[rows]
        return Part(share[groups], lambda: self.slopes[groups], lambda _weights: np.zeros((len(self._free),) * 2))

    def directions(self) -> Array:
        return np.eye(len(self._free))

    null_directions = directions

    def start(self) -> Array:
        """The first shares."""
        return np.array([self.first[g, x] for g, x in self._free])


@dataclass(frozen=True)
class CellLogits:
    """``P(cell | z)`` as a multinomial logit on all covariates, with the first cell as reference."""

    covariates: Regressors
    names: tuple[str, ...]
    first: Array
    """Shares of the cells to start from, shape (cells,)."""
    bounded = ()

    @property
    def classes(self) -> int:
        """Number of cells that have coefficients."""
        return len(self.names) - 1

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(f"P({cell}): {name}" for cell in self.names[1:] for name in self.covariates.terms)

    @property
    def logits(self) -> list[slice]:
        """Positions of the coefficients of each linear predictor."""
        p = self.covariates.size
        return [slice(c * p, (c + 1) * p) for c in range(self.classes)]

    def at(self, params: Array, rows: slice) -> Part:
        """The shares of the cells."""
        z = self.covariates.plain[rows]
        g = softmax(params, z, self.classes)
        # d log g_x / d eta_c = [x = c] - g_c
        off = np.eye(len(self.names))[:, 1:] - g[:, None, 1:]  # derivative of the logarithm of each share

        def gradient() -> Array:
            # d g_x / d beta_c = g_x ([x = c] - g_c) z
            every = (g[:, :, None] * off)[:, :, :, None] * z[:, None, None, :]
            return np.asarray(every.reshape(*g.shape, -1))

        def curvature(weights: Array) -> Array:
            weighted = weights * g
            total = weighted.sum(axis=1)
            found = np.empty((len(self.terms),) * 2)
            for a, left in enumerate(self.logits):
                for b, right in enumerate(self.logits[: a + 1]):
                    # d2 g_x = g_x (off_a off_b - (g_a [a = b] - g_a g_b)) z z'
                    curve = (weighted * off[:, :, a] * off[:, :, b]).sum(axis=1)
                    curve -= total * ((a == b) * g[:, a + 1] - g[:, a + 1] * g[:, b + 1])
                    block = (z.T * curve) @ z
                    found[left, right], found[right, left] = block, block.T
            return found

        return Part(g, gradient, curvature)

    def allows(self, _params: Array) -> bool:
        """Logits may be anything."""
        return True

    def inside(self, params: Array) -> Array:
        """The parameters as they are: logits have no bounds."""
        return params

    def directions(self) -> Array:
        return block_diagonal(*[self.covariates.orthogonal()] * self.classes)

    null_directions = directions

    def start(self) -> Array:
        """The first shares, whatever the covariates."""
        level = self.covariates.constant()[:, 0]
        # logits of the first shares, times the coefficients that make a predictor 1 for everybody
        return np.concatenate([np.log(each / self.first[0]) * level for each in self.first[1:]])


def cell_model(cells: PredictorCells, covariates: Regressors, weights: Array, first: Array) -> CellShares | CellLogits:
    """How often each cell is among people with the same covariates.

    Parameters
    ----------
    cells : PredictorCells
    covariates : Regressors
        All of the formula that is not randomised, with an intercept.
    weights : ndarray, shape (n,)
    first : ndarray, shape (cells,)
        Shares to start from.
    """
    # a share for every cell in every group of equal covariates, if each of them has enough people
    different, groups = np.unique(covariates.plain, axis=0, return_inverse=True)
    groups = groups.reshape(-1)
    few = len(different) * (cells.size - 1) <= MOST_SHARES
    if cells.size == 1 or len(different) == 1 or (few and np.bincount(groups, weights).min() >= SMALLEST_GROUP):
        names = tuple(_described(covariates.terms, row) for row in different) if len(different) > 1 else ("",)
        if cells.size == 1:
            groups, names = np.zeros(cells.n, dtype=np.int64), ("",)
        every = np.tile(first, (len(names), 1))
        return CellShares(groups, cells.names, names, every, every.argmax(axis=1))
    return CellLogits(covariates, cells.names, first)


def _described(terms: Sequence[str], row: Array) -> str:
    """A group of people by their covariates: indicators by name, other numbers with their value."""
    found = [
        term if value == 1 else f"{term}={value:g}"
        for term, value in zip(terms, row, strict=True)
        if value and term != "Intercept"
    ]
    return ", ".join(found) or "reference"


def starting_shares(likelihood: Array, weights: Array) -> Array:
    """Shares of the columns in a few steps of expectation maximisation: to start from, never to publish.

    At least .1 % of the average, so that their logits are finite; of 20,000 rows at most.
    """
    # A start needs no more people than that.
    every = max(1, len(likelihood) // 20_000)
    likelihood, weights = likelihood[::every], weights[::every]
    share = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(30):
        # EM for mixture shares: P(x | row) at the old shares, then their mean over the rows
        joint = likelihood * share
        share = weights @ (joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY))
        # No share starts at 0, from which neither EM nor Newton steps come back.
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
