"""The one linear map of this project: from what was counted to unbiased shares, and its covariance.

Whatever turned answers into reports, the expected share of supporting reports is linear in the shares of the true
answers, ``E[C / n] = A f``. So ``f = W C / n + c`` with ``W A + c 1' = 1``, and everything that is estimated here is a
linear function of counts: ``Cov f = W Cov(S) W' / n`` with ``S`` the supports of one report.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from deniable.errors import ParameterError
from deniable.exact import Number, rational

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from deniable.mechanisms.support import Support

Count = int | float
"""A number of reports; real where reports have weights."""


class Debiasing(NamedTuple):
    """The map of one report: ``weights @ supports + constant`` is unbiased for the indicator of the true answer."""

    weights: NDArray[np.float64]
    """What each support adds to each share, shape (truths, supports)."""
    constant: NDArray[np.float64]
    """What is added to each share, shape (truths,)."""


class Design(Protocol):
    """What turned answers into what was counted: a mechanism, a classical channel, or groups of channels."""

    @property
    def truths(self) -> tuple[str, ...]:
        """Names of the unknown shares, in order."""

    @property
    def support(self) -> tuple[Support, ...] | None:
        """Support probabilities of every truth, where its count is one binomial; else None."""

    def shares(self, counts: Sequence[Count], n: Count) -> Sequence[Fraction | float]:
        """Unbiased shares."""

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares of ``n`` people drawn from a population, shape (truths, truths)."""

    def expected(self, shares: Sequence[float]) -> Sequence[float]:
        """``A f``: the counts to expect of one report (one of each group) when these are the shares."""

    @property
    def expected_if_even(self) -> Sequence[float]:
        """The same when all truths are equally frequent."""

    def sizes(self, counts: Sequence[Count], n: Count) -> Sequence[Count]:
        """For each count the number of reports that could have been counted there: all, or those of its group."""

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        """The most likely shares within [0, 1] that add up to 1."""

    @property
    def debiasing(self) -> Debiasing:
        """The map from the supports of a report to unbiased shares."""

    def reach(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far apart two reports can be in ``weights @ supports``, shape (m,); in each group, added up."""


def fake_margins(design: Design, fraction: float = 0.01) -> tuple[float, ...]:
    """How far people who send made-up reports can move each share: `fake_margin` for any design.

    Parameters
    ----------
    design : Design
    fraction : float
        Share of the reports that are fake; where a design has groups, in each of them.

    Returns
    -------
    tuple of float, length truths
        Largest change of each estimated share, in share points.

    Notes
    -----
    The estimate is the mean of scores, so a fake that replaces a report moves it by the difference of two scores over
    ``n``. Where a report supports an option or does not, that is ``1 / |p - q|``; elsewhere the largest weight of the
    debiasing map minus the smallest one.

    Examples
    --------
    Two fair coins as in `fake_margin`; noise over a range of eleven numbers at epsilon 1 leaves a
    share of one number to whoever sends 1 % of the reports:

    >>> from deniable import Geometric, TwoCoin
    >>> fake_margins(TwoCoin("1/2", "1/2"))
    (0.02, 0.02)
    >>> round(max(fake_margins(Geometric.from_epsilon(0, 10, 1))), 1)
    3.0
    """
    if design.support is not None:
        return tuple(_margin(support, fraction) for support in design.support)
    return tuple(fraction * float(each) for each in design.reach(design.debiasing.weights))


def fake_margin(support_if_true: Number, support_if_other: Number, fraction: float = 0.01) -> float:
    """How far people who send made-up reports can move a share: ``fraction / |p - q|``.

    Parameters
    ----------
    support_if_true, support_if_other : number
        ``p`` and ``q``: how likely a report supports the option if it is the truth, and if another one is.
    fraction : float
        Share of the reports that are fake.

    Returns
    -------
    float
        Largest change of the estimated share, in share points (0.02 is two percentage points).

    Notes
    -----
    Fakes that all support the option, or none, instead of reports that do the opposite, move ``C / n`` by
    ``fraction``, and debiasing divides by ``p - q``: a local mechanism multiplies what a fake can do, the more
    the smaller its epsilon [1]_. Publish the margin beside the interval.

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy", IEEE Symposium on
       Security and Privacy 2021, 883-900.

    Examples
    --------
    Two fair coins, 1 % of fakes: 0.01 / (3/4 - 1/4):

    >>> fake_margin("3/4", "1/4")
    0.02
    """
    p, q = rational(support_if_true, "support_if_true"), rational(support_if_other, "support_if_other")
    fakes = rational(fraction, "fraction")
    for value, subject in ((p, "support_if_true"), (q, "support_if_other"), (fakes, "fraction")):
        if not 0 <= value <= 1:
            raise ParameterError(f"{subject}: must be a probability in [0, 1], got {float(value):g}")
    if p == q:
        raise ParameterError(f"support_if_other: must differ from support_if_true, got {float(q):g} for both")
    return float(fakes / abs(p - q))


@lru_cache(maxsize=256)
def _margin(support: Support, fraction: float) -> float:
    return fake_margin(*support, fraction)


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

    lam = np.asarray(shares_seen, dtype=float)
    apart = weights - (weights @ lam)[:, None]
    return np.asarray((apart * lam) @ apart.T)
