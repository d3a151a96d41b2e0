"""Randomised predictors: the cross table of their truths, and what their reports say about it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.regression.categorical import most_likely_shares
from deniable_research.regression.reports import Reports


@dataclass(frozen=True)
class Cells:
    """Every combination of the true values of the randomised predictors.

    Attributes
    ----------
    names : tuple of str, length cells
    terms : tuple of str, length q
        The effects: each truth of each predictor but its first.
    effects : ndarray, shape (cells, q)
        1 where a cell has that truth.
    likelihood : ndarray, shape (n, cells)
        ``P(reports_i | cell)``: devices randomise the answers to several questions independently.
    responses : callable
        The likelihoods of everything that could have been reported.
    scores : callable
        Unbiased indicators of the cells, shape (n, cells): products of those of the predictors.
    """

    names: tuple[str, ...]
    terms: tuple[str, ...]
    effects: NDArray[np.float64]
    likelihood: NDArray[np.float64]
    responses: Callable[[], list[NDArray[np.float64]]]
    scores: Callable[[], NDArray[np.float64]]

    @classmethod
    def of(cls, predictors: Mapping[str, Reports]) -> Cells:
        """The cross table of predictors by name."""

        for name, reports in predictors.items():
            if reports.share is not None:
                raise ParameterError(
                    f"{name}: design of a predictor must have known probabilities, got unknown {reports.share}"
                )
        truths = [[(name, x) for x in reports.truths] for name, reports in predictors.items()]
        cells = list(itertools.product(*truths))
        coded = [each for one in truths for each in one[1:]]
        effects = np.array([[float(each in cell) for each in coded] for cell in cells])
        every = list(predictors.values())
        return cls(
            tuple(", ".join(f"{name}={x}" for name, x in cell) for cell in cells),
            tuple(f"{name}[T.{x}]" for name, x in coded),
            effects,
            _crossed([reports.likelihood for reports in every]),
            lambda: [
                _crossed([likelihood for likelihood, _ in each])
                for each in itertools.product(*(reports.responses() for reports in every))
            ],
            lambda: _crossed([reports.scores() for reports in every]),
        )

    def shares(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The cells' shares from the reports alone."""
        return most_likely_shares(self.likelihood, weights)


def _crossed(tables: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Products of rows in the order of `itertools.product`, shape (n, cells)."""

    crossed = tables[0]
    for table in tables[1:]:
        crossed = (crossed[:, :, None] * table[:, None, :]).reshape(len(table), -1)
    return np.asarray(crossed)
