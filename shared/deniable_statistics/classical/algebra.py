"""Linear algebra over fractions: small, exact, and slow for hundreds of options."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.designs.debiasing import left_inverse

Matrix = tuple[tuple[Fraction, ...], ...]
"""A matrix of exact numbers, as a tuple of rows."""


def times(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    return [sum(map(operator.mul, row, vector), Fraction(0)) for row in matrix]


def product(left: Matrix, right: Matrix) -> Matrix:
    return _rows(_array(left) @ _array(right))


def identity(size: int) -> Matrix:
    return tuple(tuple(Fraction(x == y) for y in range(size)) for x in range(size))


def exact_left_inverse(matrix: Matrix, name: str) -> Matrix:
    """`left_inverse`, and its errors, without rounding."""
    return _rows(left_inverse(_array(matrix), name, solve))


def solve(square: NDArray[np.object_], right: NDArray[np.object_]) -> NDArray[np.object_]:
    """``X`` with ``square X = right``, by Gauss-Jordan elimination; LinAlgError if ``square`` is singular."""
    size = len(square)
    rows = np.hstack([square, right])
    for column in range(size):
        # Any pivot but 0 will do: fractions lose no digits, so that the largest one has no advantage.
        pivot = next((r for r in range(column, size) if rows[r, column]), None)
        if pivot is None:
            raise np.linalg.LinAlgError("singular matrix")
        rows[[column, pivot]] = rows[[pivot, column]]
        rows[column] /= rows[column, column]
        for r in range(size):
            # Above and below, so that the left side ends as the identity.
            if r != column and rows[r, column]:
                rows[r] -= rows[r, column] * rows[column]
    return rows[:, size:]


def _array(matrix: Matrix) -> NDArray[np.object_]:
    return np.array(matrix, dtype=object)


def _rows(matrix: NDArray[np.object_]) -> Matrix:
    return tuple(map(tuple, matrix.tolist()))
