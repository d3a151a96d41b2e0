"""What the outcome of a model depends on: covariates that are known, and truths that are not."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deniable.errors import ParameterError
from deniable_research.regression.data import (
    SMALLEST_ANGLE_OF_LIKELIHOOD,
    Frame,
    check_rank,
    code,
    model_matrix,
    with_truths,
)
from deniable_research.regression.factor import Array

MIXED = 1e-9
"""Relative tolerance at which a column counts as a covariate times a coding of the truths."""


@dataclass(frozen=True)
class Regressors:
    """The columns of a linear predictor, for every row under every combination of truths, a *cell*.

    Column ``k`` is ``plain[i, k] * coded[x, k]``: what row ``i`` is known to be times how cell ``x`` is coded. Without
    randomised predictors there is one cell, coded 1.

    Attributes
    ----------
    plain : ndarray, shape (n, p)
    coded : ndarray, shape (cells, p)
    terms : tuple of str, length p
    weights : ndarray, shape (n,)
        How rows count, so that rows that are alike may stand here once.
    spec : object
        How formulaic coded them, to code new data alike; None for arrays.
    """

    plain: Array
    coded: Array
    terms: tuple[str, ...]
    weights: Array
    spec: Any = None

    @classmethod
    def known(cls, frame: Frame, weights: Array) -> Regressors:
        """The covariates alone."""
        found = cls(frame.matrix, np.ones((1, frame.matrix.shape[1])), frame.terms, weights, frame.spec)
        found._check_rank()
        return found

    @classmethod
    def crossed(cls, frame: Frame, truths: Mapping[str, Sequence[str]], weights: Array) -> Regressors:
        """The covariates of a frame and the truths of randomised predictors, whose names map to them.

        Of a formula every term counts, interactions too; of arrays each truth but the first is an effect. Cells are
        in the order of `itertools.product`.
        """
        cells = [dict(zip(truths, cell, strict=True)) for cell in itertools.product(*truths.values())]
        plain, coded, terms, spec = (_of_formula if frame.formula else _of_arrays)(frame, truths, cells)
        found = cls(plain, coded, terms, weights, spec)
        found._check_rank()
        return found

    def _check_rank(self) -> None:
        if self.size:
            check_rank(self.stacked, self.terms, round(self.weights.sum()), SMALLEST_ANGLE_OF_LIKELIHOOD)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.terms)

    @property
    def _share(self) -> Array:
        return np.asarray(self.weights / self.weights.sum())

    @property
    def centre(self) -> Array:
        """Means of `plain`."""
        return np.asarray(self._share @ self.plain)

    @property
    def stacked(self) -> Array:
        """A matrix with the cross products of all rows under all cells, shape (at most cells p, p)."""
        # R of a QR decomposition has the cross products of all rows, in p rows
        short = np.asarray(np.linalg.qr(self.plain * np.sqrt(self._share)[:, None], mode="r"))
        every = short[:, None, :] * (self.coded / np.sqrt(len(self.coded)))
        return np.asarray(every.reshape(-1, self.size))

    def values(self, rows: slice) -> Array:
        """The columns of some rows, shape (rows, cells, p)."""
        return np.asarray(self.plain[rows, None, :] * self.coded)

    def orthogonal(self) -> Array:
        """``T`` such that the columns times ``T`` are orthogonal with mean square 1: fits do not depend on units."""
        if not self.size:
            return np.zeros((0, 0))
        # X = Q R gives X R^-1 = Q, whose columns are orthogonal
        triangle = np.linalg.qr(self.stacked, mode="r")
        return np.linalg.inv(triangle * np.sign(np.diag(triangle))[:, None])  # positive diagonal: there is only one

    def constant(self) -> Array:
        """The coefficients that make a linear predictor 1 everywhere, shape (p, 1); (p, 0) if none do."""
        unit = self.orthogonal()
        # the least-squares coefficients of a column of ones; constant if the residual is 0
        found = unit @ (unit.T @ (self.centre * self.coded.mean(axis=0)))
        apart = np.abs((self.plain * found) @ self.coded.T - 1).max(initial=0.0 if self.size else 1.0)
        return np.asarray(found[:, None]) if apart <= 1e-6 else np.zeros((self.size, 0))

    def with_intercept(self) -> Regressors:
        """These columns, after a column of ones unless they span one."""
        if self.constant().shape[1]:
            return self
        ones = np.ones((len(self.plain), 1))
        plain = np.concatenate([ones, self.plain], axis=1)
        return Regressors(plain, np.ones((1, plain.shape[1])), ("Intercept", *self.terms), self.weights)

    def code(self, newdata: Any) -> Array:
        """The columns of new data, where randomised predictors are truths, shape (rows, p)."""
        return code(newdata, self.spec, self.terms)


Coded = tuple[Array, Array, tuple[str, ...], Any]


def _of_arrays(frame: Frame, truths: Mapping[str, Sequence[str]], cells: list[dict[str, str]]) -> Coded:
    effects = [(name, x) for name, every in truths.items() for x in every[1:]]
    p = frame.matrix.shape[1]
    plain = np.concatenate([frame.matrix, np.ones((len(frame.matrix), len(effects)))], axis=1)
    coded = np.array([[*[1.0] * p, *(float(cell[name] == x) for name, x in effects)] for cell in cells])
    return plain, coded, (*frame.terms, *(f"{name}[T.{x}]" for name, x in effects)), None


def _of_formula(frame: Frame, truths: Mapping[str, Sequence[str]], cells: list[dict[str, str]]) -> Coded:
    """Code the formula once for each cell, and take the columns apart."""
    spec: Any = with_truths(frame.formula, tuple(truths))
    plain = np.zeros((0, 0))
    coded = np.zeros((0, 0))
    terms: tuple[str, ...] = ()
    for x, cell in enumerate(cells):
        columns = {name: pd.Categorical([cell[name]], every).repeat(len(frame.table)) for name, every in truths.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of levels that a column has not, which is the point
            matrix = model_matrix(spec, frame.table.assign(**columns))
        values = np.asarray(matrix, dtype=float)
        if not x:
            spec, terms = matrix.model_spec, tuple(map(str, matrix.columns))
            plain, coded = values.copy(), np.zeros((len(cells), len(terms)))
        for k, column in enumerate(values.T):
            if not np.isfinite(column).all():
                raise ParameterError(f"formula: must give finite numbers, but {terms[k]} does not in some rows")
            if not coded[:x, k].any():  # so far it was 0 under every cell
                plain[:, k], coded[x, k] = column, float(column.any())
                continue
            # least squares of this cell's column on that of the first cell in which it is not 0
            square = plain[:, k] @ plain[:, k]
            coded[x, k] = (plain[:, k] @ column) / square
            if np.abs(column - coded[x, k] * plain[:, k]).max() > MIXED * np.abs(plain[:, k]).max():
                raise ParameterError(
                    f"formula: must not compute {terms[k]} from a randomised predictor and a covariate together; "
                    "an interaction is written with a colon"
                )
    return plain, coded, terms, spec
