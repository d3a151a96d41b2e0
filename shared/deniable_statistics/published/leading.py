"""The most frequent answer to a question, if the reports identify it with confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, level_of_each, share_interval
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.published.published_rows import EstimateRow


class LeadingOption(NamedTuple):
    """The most frequent answer, and an interval of its share that allows for the selection of the largest."""

    option: int
    interval: Interval


def most_frequent(
    design: AnyDesign, rows: Sequence[EstimateRow], confidence_level: float = 0.95
) -> LeadingOption | None:
    """The most frequent answer if the reports identify it, else None.

    Parameters
    ----------
    design : Design or Mechanism
    rows : sequence of EstimateRow
        Rows of the shares of all answers, for everybody or for one cohort that was chosen beforehand.
    confidence_level : float
        Probability that the result is None, or else names a most frequent answer *and* the interval holds its share.

    Returns
    -------
    LeadingOption or None

    Notes
    -----
    The comparison (see `is_ahead`) and the interval each have half of the error probability. The interval is one of
    simultaneous intervals of all shares (Bonferroni), so that it holds the share of the named answer, although the data
    selected it.

    Examples
    --------
    >>> from deniable import KAry
    >>> from deniable_statistics.published.published_rows import share_rows
    >>> three = KAry.from_epsilon(3, 2)
    >>> rows = share_rows(three.estimate([520, 300, 180]), "q", ("a", "b", "c"), 2.0)
    >>> option, (low, high) = most_frequent(three, rows)
    >>> option, round(low, 2), round(high, 2)
    (0, 0.55, 0.67)
    >>> most_frequent(three, share_rows(three.estimate([350, 330, 320]), "q", ("a", "b", "c"), 2.0)) is None
    True
    """
    design = design_of(design)
    shares = [row.estimate for row in rows if row.estimate is not None]
    if len(shares) < max(len(rows), 2):
        return None
    # Half of the error probability goes to the comparison, half to the interval.
    best, half = int(np.argmax(shares)), (1 + confidence_level) / 2
    covariance = np.full((len(rows), len(rows)), np.nan)
    np.fill_diagonal(covariance, [(row.std_error or 0.0) ** 2 for row in rows])
    counts = [row.count or 0 for row in rows]
    is_counted = design.is_exclusive and all(row.count is not None for row in rows)
    if is_counted:
        covariance = design.covariance(counts, rows[0].n)
    if not is_ahead(best, shares, covariance, min(row.n for row in rows), half):
        return None
    level, binomials = level_of_each(half, len(rows)), design.binomials(design.expected_if_even, 1)
    if binomials is not None:
        row = rows[best]
        return LeadingOption(best, share_interval(row.count or 0, row.n, binomials[best].support.floats, level))
    if not is_counted or not design.channels:
        return None
    (interval,) = Estimate.from_counts(design, counts, rows[0].n).combination_intervals(
        np.eye(len(rows))[[best]], confidence_level=level
    )
    return LeadingOption(best, interval)


def is_ahead(
    option: int, shares: Sequence[float], covariance: NDArray[np.float64], n: float, confidence_level: float
) -> bool:
    """Whether a share is larger than every other one, by multiple comparisons with the best.

    Parameters
    ----------
    option : int
    shares : sequence of float, length k
        Unbiased estimates.
    covariance : ndarray, shape (k, k)
        Covariance of the shares. A covariance that is NaN is replaced by that of perfect negative correlation, which
        makes the variance of the difference largest.
    n : float
        Number of reports.
    confidence_level : float
        Probability that no share is called ahead of a larger or an equal one.

    Notes
    -----
    These are Hsu's multiple comparisons with the best [1]_: only the ``k - 1`` differences with the truly largest
    share can lead to a wrong name, whatever the estimates are. Each has an equal part of the error probability
    (Bonferroni), which is valid under any dependence of the shares. Quantiles are two-sided although the comparison is
    one-sided, so that of equal shares none is called ahead: which of them has the larger estimate is chance [2]_. With
    ``d`` the difference and ``V`` its variance, the statistic is ``d / sqrt(V + d^2 / n)``, the score statistic:
    ``V + d^2 / n`` is the variance under the null hypothesis of equal shares. So a small ``V`` that was estimated from
    few reports is no evidence.

    References
    ----------
    .. [1] J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the best", Annals of
       Statistics 12 (1984), 1136-1144.
    .. [2] S. Gutmann, Z. Maymin, "Is the selected population the best?", Annals of Statistics 15 (1987), 456-461.
    """
    others = [other for other in range(len(shares)) if other != option]
    # Bonferroni over the k - 1 differences with the best.
    z = normal_quantile(level_of_each(confidence_level, len(others)))
    for other in others:
        apart = shares[option] - shares[other]
        first, second = float(covariance[option, option]), float(covariance[other, other])
        both = float(covariance[option, other])
        if math.isnan(both):
            # Perfect negative correlation makes the variance of the difference largest.
            both = -math.sqrt(first * second)
        # Score statistic: the variance under equal shares, V + d^2 / n.
        error = math.sqrt(max(first + second - 2 * both, 0.0) + apart * apart / n)
        if not (apart > 0 and apart > z * error):
            return False
    return bool(others)
