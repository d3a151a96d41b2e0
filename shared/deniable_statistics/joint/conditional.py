"""Shares among people with a certain answer to another question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals import Interval, check_confidence_level
from deniable_statistics.intervals.ratio_limits import Spread, gap_variance, ratio_limits
from deniable_statistics.joint.products import products
from deniable_statistics.joint.reports import JointReports
from deniable_statistics.sampling import t_quantile


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
    parts : ndarray, shape (5, cells)
        Numerator and denominator of each share, both unbiased, their variances and their covariance.
    reports : JointReports
        What it was made from.
    """

    given: str
    share: NDArray[np.float64]
    std_error: NDArray[np.float64]
    parts: NDArray[np.float64] = field(repr=False)
    reports: JointReports = field(repr=False)

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Confidence intervals, cut to [0, 1]: an array of lower and one of upper ends.

        By the likelihood of all reports where those of the crosstab are, otherwise `fieller_interval`.
        """
        check_confidence_level(confidence_level)
        low, high = self._ends(range(self.share.size), confidence_level).T
        return low.reshape(self.share.shape), high.reshape(self.share.shape)

    def intervals_of(self, cells: Sequence[int], confidence_level: float = 0.95) -> list[Interval]:
        """The intervals of some shares, by their places in ``share.ravel()``; each costs time of its own."""
        if not cells:
            return []
        return [Interval(low, high) for low, high in self._ends(cells, confidence_level).tolist()]

    def _ends(self, cells: Sequence[int], confidence_level: float) -> NDArray[np.float64]:
        """Intervals of some cells, shape (cells, 2)."""
        given = np.indices(self.share.shape)[self.reports.index(self.given)].ravel()
        wholes = np.asarray(given[:, None] == given, dtype=float)[cells]
        ends = self.reports.likelihood_intervals(np.eye(self.share.size)[cells], wholes, confidence_level)
        if ends is not None:
            return ends
        low, high = self.fieller_interval(confidence_level)
        return np.stack([low.ravel(), high.ravel()], axis=1)[cells]

    def fieller_interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fieller's intervals, cut to [0, 1]: an array of lower and one of upper ends.

        A share is a ratio whose denominator may be near 0: where it is not clearly above 0, no ratio is excluded and
        the interval reaches the end of the range. A delta interval around the ratio does not notice.

        The test behind it is a score test: of ``n`` reports, ``t - p b`` with mean ``d`` and variance ``V`` has the
        mean square ``V + d^2 / n`` if ``p`` is the share. So three reports exclude nothing, however alike they are.
        """
        square = t_quantile(confidence_level, self.reports.sample.df) ** 2
        # From d^2 <= square (V + d^2 / n).
        square = square / (1 - square / n) if (n := self.reports.n_effective) > square else np.inf
        ends = np.empty((self.share.size, 2))
        for place, (cell, margin, cell_variance, margin_variance, both) in enumerate(self.parts.T.tolist()):
            if margin > 0 and np.isfinite(square) and not np.isnan(cell):
                spread = Spread(square * cell_variance, square * margin_variance, square * both)
                ends[place] = ratio_limits(cell, margin, spread, spread).cut()
            else:
                ends[place] = 0.0, 1.0
        low, high = ends.T.reshape(2, *self.share.shape)
        return low, high


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
        # Delta method: Var(t / b) = Var(t - p b) / b^2 with p = t / b.
        share = np.where(bottom > 0, top / bottom, np.nan)
        error = np.sqrt(np.maximum(gap_variance(share, var_top, var_bottom, both), 0.0)) / bottom
    parts = np.stack([top, bottom, var_top, var_bottom, both])
    return Conditional(reports.items[axis].name, share.reshape(shape), error.reshape(shape), parts, reports)
