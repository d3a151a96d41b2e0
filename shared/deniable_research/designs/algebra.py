"""Linear algebra over fractions: small, exact, and slow for hundreds of options."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import ParameterError

Matrix = tuple[tuple[Fraction, ...], ...]
"""Exact numbers, row by row."""


def times(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    return [sum(map(operator.mul, row, vector), Fraction(0)) for row in matrix]


def product(left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Matrix:
    columns = list(zip(*right, strict=True))
    return tuple(tuple(sum(map(operator.mul, row, column), Fraction(0)) for column in columns) for row in left)


def identity(size: int) -> Matrix:
    return tuple(tuple(Fraction(x == y) for y in range(size)) for x in range(size))


def left_inverse(matrix: Matrix, name: str) -> Matrix:
    """``L`` with ``L matrix = 1``: the inverse, or weighted least squares if there are more rows than columns."""
    rows, columns = len(matrix), len(matrix[0])
    if rows < columns:
        raise ParameterError(
            f"{name}: must have at least as many responses as truths to estimate shares, got {rows} for {columns}"
        )
    if rows == columns:
        return solve(matrix, identity(rows), name)
    weighted = tuple(  # A' W; an impossible response weighs nothing
        tuple(row[x] / sum(row) if any(row) else Fraction(0) for row in matrix) for x in range(columns)
    )
    return solve(product(weighted, matrix), weighted, name)


def solve(matrix: Matrix, right: Matrix, name: str) -> Matrix:
    """Gauss-Jordan elimination in exact arithmetic."""
    size = len(matrix)
    rows = [[*left, *other] for left, other in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            raise ParameterError(
                f"{name}: must respond differently to different truths to estimate their shares; "
                "some mixture of truths gives the same responses as another"
            )
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [each / head for each in rows[column]]
        for r in range(size):
            factor = rows[r][column]
            if r != column and factor:
                rows[r] = [each - factor * top for each, top in zip(rows[r], rows[column], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)
