"""The one linear map of this project: from what was counted to unbiased shares, and its covariance.

Whatever turned answers into reports, the expected share of supporting reports is linear in the shares of the true
answers, ``E[C / n] = A f``. So ``f = W C / n + c`` with ``W A + c 1' = 1``, and everything that is estimated here is a
linear function of counts: ``Cov f = W Cov(S) W' / n`` with ``S`` the supports of one report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


Count = int | float
"""A number of reports; real where reports have weights."""


class Debiasing(NamedTuple):
    """The map of one report: ``weights @ supports + constant`` is unbiased for the indicator of the true answer."""

    weights: NDArray[np.float64]
    """What each support adds to each share, shape (truths, supports)."""
    constant: NDArray[np.float64]
    """What is added to each share, shape (truths,)."""


def left_inverse(matrix: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """``W`` with ``W matrix = 1``: the inverse, or least squares where reports outnumber truths.

    Least squares weigh each report by the inverse of its probability when all truths are equally frequent; weights
    that do not depend on the data keep the shares unbiased. `deniable_research.designs.algebra.left_inverse` is the
    same in exact arithmetic, for matrices of few options.

    Raises
    ------
    ParameterError
        If there are fewer reports than truths, or some mixture of truths gives the same reports as another.
    """
    import numpy as np

    rows, columns = matrix.shape
    if rows < columns:
        raise ParameterError(
            f"{name}: cannot tell {columns} answers apart by {rows} reports; estimate the mean instead"
        )
    try:
        if rows == columns:
            return np.asarray(np.linalg.inv(matrix))
        weighted = (matrix / matrix.sum(axis=1, keepdims=True)).T
        return np.asarray(np.linalg.solve(weighted @ matrix, weighted))
    except np.linalg.LinAlgError:
        raise ParameterError(f"{name}: some mixture of answers gives the same reports as another") from None


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
    import numpy as np

    lam = np.asarray(shares_seen)
    apart = weights - (weights @ lam)[:, None]
    return np.asarray((apart * lam) @ apart.T)
