"""How strongly two yes-no questions go together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_statistics.intervals import Interval
from deniable_statistics.sampling import t_quantile


@dataclass(frozen=True)
class OddsRatio:
    """The odds ratio of a crosstab of two by two.

    Attributes
    ----------
    odds_ratio : float
        ``f00 f11 / (f01 f10)`` of the unbiased shares; NaN unless all four are above 0.
    log_std_error : float
        Standard error of its logarithm, by the delta method.
    share, std_error : tuple of four floats
        Of the cells: 00, 01, 10, 11.
    df : float
        Degrees of freedom of the errors.
    """

    odds_ratio: float
    log_std_error: float
    share: tuple[float, ...]
    std_error: tuple[float, ...]
    df: float = math.inf

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval: normal on the scale of logarithms, without a bound where a cell may be 0.

        The delta method takes a cell for well above 0. Where its own interval reaches 0, the ratio may be 0 or
        infinite, and no finite limit would be true: such limits cover .7 if the truth is infinite.
        """
        t = t_quantile(confidence_level, self.df)
        if math.isnan(self.odds_ratio) or not self.df > 0:
            return Interval(0.0, math.inf)
        ends = [share - t * error for share, error in zip(self.share, self.std_error, strict=True)]
        reach = t * self.log_std_error
        # The ratio falls to 0 where a cell above its line may be 0, and rises without bound where one below it may.
        low = self.odds_ratio * math.exp(-reach) if min(ends[0], ends[3]) > 0 else 0.0
        high = self.odds_ratio * math.exp(reach) if min(ends[1], ends[2]) > 0 else math.inf
        return Interval(low, high)


def odds_ratio(
    share: NDArray[np.float64],
    std_error: NDArray[np.float64],
    covariance: NDArray[np.float64],
    df: float = math.inf,
) -> OddsRatio:
    """The odds ratio from joint shares and their covariance; this is what `Crosstab.odds_ratio` calls."""
    if share.shape != (2, 2):
        raise ParameterError(f"crosstab: must be 2 by 2 for an odds ratio, got {' by '.join(map(str, share.shape))}")
    cells, errors = share.ravel(), tuple(std_error.ravel().tolist())
    # Unbiased shares may be negative, and a logarithm of them would say nothing.
    if not (cells > 0).all():
        return OddsRatio(math.nan, math.nan, tuple(cells.tolist()), errors, df)
    # log OR = log f00 - log f01 - log f10 + log f11, so its derivatives are +-1 / cell.
    slope = np.array([1, -1, -1, 1]) / cells
    variance = float(slope @ covariance @ slope)
    ratio = float(cells[0] * cells[3] / (cells[1] * cells[2]))
    return OddsRatio(ratio, math.sqrt(max(variance, 0.0)), tuple(cells.tolist()), errors, df)
