"""The one linear map of this project: from what was counted to unbiased shares, and its covariance.

In every design the expected share of supporting reports is linear in the shares of the true
answers, ``E[C / n] = A f``. So ``f = W C / n + c`` with ``W A + c 1' = 1``, and everything that is estimated here is a
linear function of counts: ``Cov f = W Cov(S) W' / n`` with ``S`` the supports of one report.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError

Solve = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


class Debiasing(NamedTuple):
    """The map of one report: ``weights @ supports + constant`` is unbiased for the indicator of the true answer."""

    weights: NDArray[np.float64]
    """Coefficients of the supports, shape (truths, supports)."""
    constant: NDArray[np.float64]
    """Constant of each share, shape (truths,)."""


def left_inverse(matrix: NDArray[Any], name: str, solve: Solve | None = None) -> NDArray[Any]:
    """``W`` with ``W matrix = 1``: the inverse, or weighted least squares where reports outnumber truths.

    Least squares weigh each report by the inverse of its probability when all truths are equally frequent; weights
    that do not depend on the data keep the shares unbiased.

    Parameters
    ----------
    matrix : ndarray, shape (reports, truths)
        The probability of every report under every truth.
    name : str
        The mechanism or design, for messages.
    solve : function, optional
        ``solve(square, right)`` in the arithmetic of the matrix, such as `deniable_statistics.classical.algebra.solve`
        for fractions; raises ``LinAlgError`` if there is no solution. By default numpy's, for floats.

    Raises
    ------
    ParameterError
        If there are fewer reports than truths, or some mixture of truths gives the same reports as another.
    """
    rows, columns = matrix.shape
    if rows < columns:
        raise ParameterError(
            f"{name}: cannot tell {columns} truths apart by {rows} reports; if answers are numbers, estimate their mean"
        )
    square, right = matrix, np.eye(rows, dtype=matrix.dtype)
    if rows > columns:
        # (A' D^-1 A)^-1 A' D^-1, D proportional to the probabilities of reports under equal shares: row sums of A.
        total = matrix.sum(axis=1)
        right = (matrix / np.where(total > 0, total, 1)[:, None]).T  # an impossible report weighs nothing
        square = right @ matrix
    try:
        # Solves (D^-1 A)' A W = (D^-1 A)', or A W = 1 where A is square; W A = 1 either way.
        return np.asarray((solve or np.linalg.solve)(square, right))
    except np.linalg.LinAlgError:
        raise ParameterError(
            f"{name}: must respond differently to different truths to estimate their shares; "
            "some mixture of truths gives the same reports as another"
        ) from None


def one_report_covariance(weights: NDArray[np.float64], shares_seen: ArrayLike) -> NDArray[np.float64]:
    """``W (diag(lam) - lam lam') W'``: covariance of the scores of one report that takes one of several values.

    Computed around the mean score, because the difference of the two terms would lose its digits near 0 and 1.

    Parameters
    ----------
    weights : ndarray, shape (truths, values)
        What each value of the report adds to each share.
    shares_seen : array_like, shape (values,)
        ``lam``, the probability of each value.
    """
    lam = np.asarray(shares_seen)
    # W diag(lam) W' - (W lam)(W lam)' = (W - m) diag(lam) (W - m)' with m = W lam, because lam adds up to 1.
    apart = weights - (weights @ lam)[:, None]
    return np.asarray((apart * lam) @ apart.T)


def ratio(part: int | float, whole: int | float) -> tuple[int, int]:
    """Two integers in the ratio of two numbers, not reduced: sums of their products need no common divisors.

    >>> ratio(3, 6), ratio(0.5, 2)
    ((3, 6), (1, 4))
    """
    # A float is an exact fraction too; multiplying crosswise leaves two integers.
    above, below = Fraction(part), Fraction(whole)
    return int(above.numerator) * int(below.denominator), int(above.denominator) * int(below.numerator)
