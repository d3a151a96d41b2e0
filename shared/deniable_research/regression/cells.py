"""Randomised predictors: the cross table of their truths, what reports say about it, and how often each cell is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.regression.coordinates import block_diagonal
from deniable_research.regression.factor import Array, Part
from deniable_research.regression.outcomes import softmax
from deniable_research.regression.regressors import Regressors
from deniable_research.regression.reports import Reports

MOST_CELLS = 128
"""Combinations of truths: beyond, no data tell how often each one is."""
MOST_SHARES, SMALLEST_GROUP = 60, 100
"""Cells have shares of their own in each group of people with the same covariates up to so many shares, if each group
has so many people; otherwise a multinomial logit describes them."""


@dataclass(frozen=True)
class Cells:
    """Every combination of the true values of the randomised predictors, and ``P(reports_i | cell)``.

    Devices randomise the answers to several questions independently, so this is a product. Unknown shares of
    two-group designs are the parameters: each likelihood is ``likelihood + s slope``.

    Attributes
    ----------
    predictors : mapping from name to Reports
        Empty without randomised predictors: then there is one cell.
    n : int
        Number of rows.
    """

    predictors: Mapping[str, Reports]
    n: int
    size: int = field(init=False)

    def __post_init__(self) -> None:
        size = int(np.prod([len(each.truths) for each in self.predictors.values()], initial=1))
        if size > MOST_CELLS:
            raise ParameterError(
                f"formula: must have randomised predictors with at most {MOST_CELLS} combinations of truths, got {size}"
            )
        object.__setattr__(self, "size", size)

    @property
    def truths(self) -> dict[str, tuple[str, ...]]:
        """The truths of each predictor."""
        return {name: each.truths for name, each in self.predictors.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Cells in the order of `itertools.product`, such as ``affair=yes, old=no``."""
        every = itertools.product(*([f"{name}={x}" for x in truths] for name, truths in self.truths.items()))
        return tuple(map(", ".join, every))

    @property
    def _unknown(self) -> list[int]:
        return [j for j, each in enumerate(self.predictors.values()) if each.share is not None]

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(f"{name}: {each.share}" for name, each in self.predictors.items() if each.share is not None)

    @property
    def bounded(self) -> tuple[int, ...]:
        """All parameters are shares."""
        return tuple(range(len(self.terms)))

    @cached_property
    def effects(self) -> Array:
        """1 where a cell has the truth of an effect: every truth of each predictor but its first."""
        chosen = list(itertools.product(*(range(len(x)) for x in self.truths.values())))
        coded = [(j, x) for j, truths in enumerate(self.truths.values()) for x in range(1, len(truths))]
        return np.array([[float(cell[j] == x) for j, x in coded] for cell in chosen]).reshape(self.size, len(coded))

    @property
    def effect_terms(self) -> tuple[str, ...]:
        """Names of `effects`."""
        return tuple(f"{name}[T.{x}]" for name, truths in self.truths.items() for x in truths[1:])

    def at(self, params: Array, rows: slice) -> Part:
        """The likelihood of the reports to all predictors."""
        tables, slopes = [], []
        unknown = self._unknown
        for j, each in enumerate(self.predictors.values()):
            table = each.likelihood[rows]
            if each.slope is not None:
                table = table + params[unknown.index(j)] * each.slope[rows]
            tables.append(table)
            slopes.append(None if each.slope is None else each.slope[rows])
        value = crossed(tables) if tables else np.ones((len(range(*rows.indices(self.n))), 1))

        def moved(*places: int) -> Array:
            """The product with the slopes of some predictors in place of their likelihoods."""
            each = [slopes[j] if j in places else table for j, table in enumerate(tables)]
            return crossed([table for table in each if table is not None])

        def gradient() -> Array:
            found = np.zeros((*value.shape, len(unknown)))
            for place, j in enumerate(unknown):
                found[:, :, place] = moved(j)
            return found

        def curvature(weights: Array) -> Array:
            found = np.zeros((len(unknown),) * 2)
            for (a, j), (b, k) in itertools.combinations(enumerate(unknown), 2):
                found[a, b] = found[b, a] = (weights * moved(j, k)).sum()
            return found

        return Part(value, gradient, curvature)

    def likelihood(self) -> Array:
        """The likelihood of every row with unknown shares of 1/2, shape (n, cells)."""
        return self.at(np.full(len(self.terms), 0.5), slice(None)).value

    def possible(self) -> Iterator[Cells]:
        """Everything that these people could have reported."""
        for every in itertools.product(*(each.responses() for each in self.predictors.values())):
            found = {
                name: replace(each, likelihood=table, slope=slope)
                for (name, each), (table, slope) in zip(self.predictors.items(), every, strict=True)
            }
            yield replace(self, predictors=found)

    def scores(self) -> Array:
        """Unbiased indicators of the cells, shape (n, cells): products of those of the predictors."""
        for name, each in self.predictors.items():
            if each.share is not None:
                raise ParameterError(
                    f"{name}: design of a predictor must have known probabilities for moments, got unknown {each.share}"
                )
        return crossed([each.scores() for each in self.predictors.values()])


def crossed(tables: Sequence[Array]) -> Array:
    """Products of rows in the order of `itertools.product`, shape (n, cells)."""
    found = tables[0]
    for table in tables[1:]:
        found = (found[:, :, None] * table[:, None, :]).reshape(len(table), -1)
    return np.asarray(found)


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
        Shares to start from. The largest of each group is its reference, what the others leave.
    """

    groups: NDArray[np.int64]
    names: tuple[str, ...]
    group_names: tuple[str, ...]
    first: Array
    logits = ()

    @property
    def _free(self) -> list[tuple[int, int]]:
        """Group and cell of each parameter."""
        reference = self.first.argmax(axis=1)
        return [(g, x) for g, one in enumerate(reference) for x in range(len(self.names)) if x != one]

    @property
    def terms(self) -> tuple[str, ...]:
        given = [f" | {name}" if name else "" for name in self.group_names]
        return tuple(f"P({self.names[x]}{given[g]})" for g, x in self._free)

    @property
    def bounded(self) -> tuple[int, ...]:
        return tuple(range(len(self._free)))

    @cached_property
    def _slopes(self) -> Array:
        """What each parameter adds to each share, shape (groups, cells, parameters)."""
        found = np.zeros((*self.first.shape, len(self._free)))
        reference = self.first.argmax(axis=1)
        for j, (g, x) in enumerate(self._free):
            found[g, x, j], found[g, reference[g], j] = 1, -1
        return found

    @cached_property
    def _base(self) -> Array:
        return np.asarray(np.eye(len(self.names))[self.first.argmax(axis=1)])

    def allows(self, params: Array) -> bool:
        """Whether no share is below 0: that of the reference of a group may be what is wrong."""
        return bool((self._base + self._slopes @ params).min(initial=0.0) >= 0)

    def inside(self, params: Array) -> Array:
        """The nearest parameters, about, with which every share is above 0."""
        found = np.clip(params, 0.001, 1.0)
        for g in range(len(self.first)):
            here = [j for j, (group, _) in enumerate(self._free) if group == g]
            found[here] *= min(1.0, 0.99 / max(found[here].sum(), 0.01))
        return found

    def at(self, params: Array, rows: slice) -> Part:
        """The shares of the cells."""
        share = self._base + self._slopes @ params
        groups = self.groups[rows]
        return Part(share[groups], lambda: self._slopes[groups], lambda _weights: np.zeros((len(self._free),) * 2))

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
        off = np.eye(len(self.names))[:, 1:] - g[:, None, 1:]  # derivative of the logarithm of each share

        def gradient() -> Array:
            every = (g[:, :, None] * off)[:, :, :, None] * z[:, None, None, :]
            return np.asarray(every.reshape(*g.shape, -1))

        def curvature(weights: Array) -> Array:
            weighted = weights * g
            total = weighted.sum(axis=1)
            found = np.empty((len(self.terms),) * 2)
            for a, left in enumerate(self.logits):
                for b, right in enumerate(self.logits[: a + 1]):
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
        """The same parameters."""
        return params

    def directions(self) -> Array:
        return block_diagonal(*[self.covariates.orthogonal()] * self.classes)

    null_directions = directions

    def start(self) -> Array:
        """The first shares, whatever the covariates."""
        level = self.covariates.constant()[:, 0]
        return np.concatenate([np.log(each / self.first[0]) * level for each in self.first[1:]])


def cell_model(cells: Cells, covariates: Regressors, weights: Array, first: Array) -> CellShares | CellLogits:
    """How often each cell is among people with the same covariates.

    Parameters
    ----------
    cells : Cells
    covariates : Regressors
        All of the formula that is not randomised, with an intercept.
    weights : ndarray, shape (n,)
    first : ndarray, shape (cells,)
        Shares to start from.
    """
    different, groups = np.unique(covariates.plain, axis=0, return_inverse=True)
    groups = groups.reshape(-1)
    few = len(different) * (cells.size - 1) <= MOST_SHARES
    if cells.size == 1 or len(different) == 1 or (few and np.bincount(groups, weights).min() >= SMALLEST_GROUP):
        names = tuple(_described(covariates.terms, row) for row in different) if len(different) > 1 else ("",)
        if cells.size == 1:
            groups, names = np.zeros(cells.n, dtype=np.int64), ("",)
        return CellShares(groups, cells.names, names, np.tile(first, (len(names), 1)))
    return CellLogits(covariates, cells.names, first)


def _described(terms: Sequence[str], row: Array) -> str:
    """A group of people by their covariates: indicators by name, other numbers with their value."""
    found = [
        term if value == 1 else f"{term}={value:g}"
        for term, value in zip(terms, row, strict=True)
        if value and term != "Intercept"
    ]
    return ", ".join(found) or "reference"
