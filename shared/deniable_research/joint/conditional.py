"""Shares among people with a certain answer to another question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable_research.comparison.ratio_limits import Spread, ratio_limits
from deniable_research.joint.products import products
from deniable_research.joint.reports import JointReports
from deniable_research.sampling import t_quantile
from deniable_statistics.intervals import Interval, check_confidence_level


@dataclass(frozen=True, eq=False)
class Conditional:
    """Shares of answers among people with each answer to one question.

    Attributes
    ----------
    given : str
        Name of the question whose answer is given.
    share : ndarray, of the crosstab's shape
        Cells divided by the share of people with the given answer; NaN where that is not above 0. Nearly unbiased if
        it is well above 0.
    std_error : ndarray, of the same shape
        By the delta method.
    cells, margins : ndarray, of the same shape
        Numerator and denominator, unbiased.
    cell_variance, margin_variance, both : ndarray, of the same shape
        Their variances and covariance.
    df : float
        Degrees of freedom of these.
    reports : JointReports
        What it was made from.
    """

    given: str
    share: NDArray[np.float64]
    std_error: NDArray[np.float64]
    cells: NDArray[np.float64] = field(repr=False)
    margins: NDArray[np.float64] = field(repr=False)
    cell_variance: NDArray[np.float64] = field(repr=False)
    margin_variance: NDArray[np.float64] = field(repr=False)
    both: NDArray[np.float64] = field(repr=False)
    df: float
    reports: JointReports = field(repr=False)

    def interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Confidence intervals, cut to [0, 1]: an array of lower and one of upper ends.

        By the likelihood of all reports where those of the crosstab are, otherwise `fieller_interval`.
        """
        check_confidence_level(confidence_level)
        given = np.indices(self.share.shape)[self.reports.index(self.given)].ravel()
        wholes = np.asarray(given[:, None] == given, dtype=float)
        ends = self.reports.likelihood_intervals(np.eye(self.share.size), wholes, confidence_level)
        if ends is None:
            return self.fieller_interval(confidence_level)
        low, high = ends.T
        return low.reshape(self.share.shape), high.reshape(self.share.shape)

    def fieller_interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fieller's intervals, cut to [0, 1]: an array of lower and one of upper ends.

        A share is a ratio whose denominator may be near 0: where it is not clearly above 0, no ratio is excluded and
        the interval reaches the end of the range. A delta interval around the ratio does not notice.
        """
        square = t_quantile(confidence_level, self.df) ** 2

        def ends(
            cell: float, margin: float, cell_variance: float, margin_variance: float, both: float
        ) -> tuple[float, float]:
            if not margin > 0 or np.isnan(cell) or not np.isfinite(square):
                return Interval(0.0, 1.0)
            spread = Spread(square * cell_variance, square * margin_variance, square * both)
            return ratio_limits(cell, margin, spread, spread).cut()

        found = [
            ends(*map(float, each))
            for each in zip(
                self.cells.ravel(),
                self.margins.ravel(),
                self.cell_variance.ravel(),
                self.margin_variance.ravel(),
                self.both.ravel(),
                strict=True,
            )
        ]
        both_ends = np.array(found).reshape(*self.share.shape, 2)
        return both_ends[..., 0], both_ends[..., 1]


def conditional(reports: JointReports, given: int | str) -> Conditional:
    """Divide cells by the margin of one question; this is what `Crosstab.conditional` calls."""
    axis = reports.index(given)
    shape = tuple(len(item.options) for item in reports.items)
    cells = int(np.prod(shape))

    def columns(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.hstack([products(scores), scores[axis]])

    mean, covariance = reports.moments(columns)
    # Where each cell's margin stands behind the cells.
    margin = cells + np.indices(shape)[axis].ravel()
    places = np.arange(cells)
    top, bottom = mean[:cells], mean[margin]
    var_top, var_bottom = covariance[places, places], covariance[margin, margin]
    both = covariance[places, margin]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(bottom > 0, top / bottom, np.nan)
        error = np.sqrt(np.maximum(var_top - 2 * share * both + share**2 * var_bottom, 0.0)) / bottom
    name, df = reports.items[axis].name, reports.sample.df
    share, error, top, bottom, var_top, var_bottom, both = (
        array.reshape(shape) for array in (share, error, top, bottom, var_top, var_bottom, both)
    )
    return Conditional(name, share, error, top, bottom, var_top, var_bottom, both, df, reports)
