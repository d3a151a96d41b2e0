"""An estimate from a complex sample, and the intervals that follow from its degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals import t_quantile, t_two_sided

__all__ = ["SampleEstimate", "effective_number", "t_quantile", "t_two_sided"]


@dataclass(frozen=True, eq=False)
class SampleEstimate:
    """Totals or means with their covariance under the sampling design.

    Attributes
    ----------
    estimate : ndarray, shape (m,)
        NaN where nobody is in a domain.
    covariance : ndarray, shape (m, m)
    df : float
        Degrees of freedom of the errors: primary sampling units minus strata, or those of the replicates.
    """

    estimate: NDArray[np.float64]
    covariance: NDArray[np.float64]
    df: float

    @property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors, shape (m,)."""
        return np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Student's intervals, not cut: an array of lower and one of upper ends."""
        reach = t_quantile(confidence_level, self.df) * self.std_error
        return self.estimate - reach, self.estimate + reach


def effective_number(n: float, plain_error: float, error: float, people: int, df: float, level: float) -> float:
    """How many people drawn one by one are worth this sample, for intervals that are made for these.

    Parameters
    ----------
    n : float
        The number to which `plain_error` belongs. Where there is no error to compare, or less than two people, it
        stays, but for the degrees of freedom.
    plain_error : float
        The standard error of a simple random sample of that number.
    error : float
        The standard error under the design.
    people : int
        How many there are in the sample.
    df : float
        Degrees of freedom of `error`.
    level : float
        Confidence level of the interval.

    Notes
    -----
    Korn and Graubard [1]_ put ``n* = p (1 - p) / v`` for the number of people into exact intervals of binomial shares,
    times ``(t_(n - 1) / t_df)^2`` because ``v`` is known from few clusters only. So near 0 and 1 a share keeps the
    level of these intervals. Their ``p (1 - p)`` is here the variance of one report in the unit of the share,
    ``lam (1 - lam) / (a - b)^2``, which is the same if the question was asked directly.

    References
    ----------
    .. [1] E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
       counts estimated from survey data", Survey Methodology 24 (1998), 193-201.

    Examples
    --------
    A design effect of 2 halves the number, 10 degrees of freedom take some more:

    >>> round(effective_number(200, 0.03, 0.03 * 2**0.5, 200, 199, 0.95), 6)
    100.0
    >>> round(effective_number(200, 0.03, 0.03 * 2**0.5, 200, 10, 0.95), 1)
    78.3
    """
    # Few clusters know their variance less well than as many people would.
    known = t_quantile(level, people - 1) / t_quantile(level, df) if people > 1 else 0.0
    # One person who weighs nearly everything is near the mean, whatever is true: the error says nothing.
    if n < 2 or not (math.isfinite(error) and error > 0 and plain_error > 0):
        return n * min(known, 1.0) ** 2
    return n * (plain_error / error * known) ** 2
