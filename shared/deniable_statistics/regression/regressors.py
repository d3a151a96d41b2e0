"""What the outcome of a model depends on: covariates that are known, and truths that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from deniable.errors import ParameterError
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fitted_rows import Frame

SMALLEST_ANGLE, SMALLEST_ANGLE_OF_LIKELIHOOD = 1e-9, 1e-6
"""Columns of length 1 count as collinear if one is this close to what the others span. Second derivatives of a
likelihood keep ``eps / angle^2`` of their digits, so it takes more."""
EXACT_ANGLE = 1e-14
"""Largest angle that rounding alone leaves between a column and the span that holds it."""


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
    coding : callable, or None
        Codes new data alike; None for arrays.
    """

    plain: Array
    coded: Array
    terms: tuple[str, ...]
    weights: Array
    coding: Callable[[Any], Array] | None = None

    @classmethod
    def known(cls, frame: Frame, weights: Array) -> Regressors:
        """The covariates alone."""
        found = cls(frame.matrix, np.ones((1, frame.matrix.shape[1])), frame.terms, weights, frame.coding)
        return found.checked()

    def checked(self) -> Regressors:
        """These columns, if none is a combination of others."""
        if self.size:
            check_rank(self.stacked, self.terms, round(self.weights.sum()), SMALLEST_ANGLE_OF_LIKELIHOOD)
        return self

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

    def where(self, free: NDArray[np.bool_]) -> Regressors:
        """These columns for an outcome that depends on them in some of the cells alone.

        Columns that are 0 in all of these are left out: effects of answers with which the outcome does not apply.
        """
        # elsewhere the outcome depends on nothing; rows like those of a free cell change no span
        coded = np.where(free[:, None], self.coded, self.coded[free][0])
        kept = np.asarray(coded.any(axis=0))
        found = Regressors(
            self.plain[:, kept],
            coded[:, kept],
            tuple(np.array(self.terms)[kept].tolist()),
            self.weights,
            self._coding(kept),
        )
        return found.checked()

    def _coding(self, kept: NDArray[np.bool_]) -> Callable[[Any], Array] | None:
        """How new data are coded in some of the columns."""
        code = self.coding
        if code is None or kept.all():
            return code

        def coded(newdata: Any) -> Array:
            matrix = code(newdata)
            if matrix.ndim == 2 and matrix.shape[1] == len(kept) and matrix[:, ~kept].any():
                raise ParameterError("newdata: must hold answers with which the outcome applies")
            return np.asarray(matrix[:, kept])

        return coded

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
        """The columns of new data, where randomised predictors are truths, shape (rows, p).

        Raises
        ------
        ParameterError
            If something is missing or infinite, or a categorical column has a level that the fit did not see.
        """
        matrix = np.asarray(newdata, dtype=float) if self.coding is None else self.coding(newdata)
        if matrix.ndim != 2 or matrix.shape[1] != self.size:
            raise ParameterError(f"newdata: must be a matrix of {self.size} columns, got {matrix.shape}")
        if bad := named(self.terms, ~np.isfinite(matrix).all(axis=0)):
            raise ParameterError(f"newdata: must have no missing or infinite covariates, got some in {bad}")
        return matrix


def check_rank(matrix: Array, terms: Sequence[str], people: int, smallest: float = SMALLEST_ANGLE) -> None:
    """Raise a ParameterError that names the terms unless no column is a combination of others, nor all but one."""
    if not terms:
        return
    # columns of length 1, so that the angle between them does not depend on units
    lengths = np.linalg.norm(matrix, axis=0)
    empty = [term for term, length in zip(terms, lengths, strict=True) if length == 0]
    if empty:
        raise ParameterError(f"terms: must not be 0 in every row, got {', '.join(empty)}")
    unit = matrix / lengths
    # pivoted QR of unit columns: the diagonal falls, and what is below the threshold depends on those before
    _, triangle, order = qr(unit, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.sum(size > smallest))
    if rank == len(terms):
        return
    kept = order[:rank]
    involved: set[int] = set()
    for extra in order[rank:]:
        # the columns that the extra one is a combination of, for the message
        weights, *_ = np.linalg.lstsq(unit[:, kept], unit[:, extra], rcond=None)
        involved |= {int(extra), *map(int, kept[np.abs(weights) > 1e-6])}
    named = ", ".join(terms[j] for j in sorted(involved))
    # beyond rounding a column is only almost a combination, which is said in other words
    if rank < len(size) and size[rank] > EXACT_ANGLE * np.sqrt(len(matrix)):
        raise ParameterError(
            f"terms: must be linearly independent over the {people} rows, but one of these differs from a combination "
            f"of the others by less than {_rounded_up(size[rank])} of its size: {named}. If it varies little around a "
            "large number, subtract that number first"
        )
    raise ParameterError(
        f"terms: must be linearly independent over the {people} rows, but one of these is a combination of the "
        f"others: {named}"
    )


def _rounded_up(angle: float) -> str:
    """The next power of ten: 1e-08 for 3e-09."""
    return f"1e{int(np.ceil(np.log10(angle))):03d}"


def named(terms: Sequence[str], which: NDArray[np.bool_]) -> str:
    """The terms of some columns, in a row."""
    return ", ".join(term for term, one in zip(terms, which, strict=True) if one)
