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


class LargestEstimate(NamedTuple):
    """The answer with the largest estimate, and how far its share may be from the largest one of the others."""

    option: int
    lead: Interval


class LeadingOption(NamedTuple):
    """The most frequent answer, and an interval of its share that allows for the selection of the largest."""

    option: int
    interval: Interval


def most_frequent(
    design: AnyDesign,
    rows: Sequence[EstimateRow],
    confidence_level: float = 0.95,
    largest: LargestEstimate | None = None,
) -> LeadingOption | None:
    """The most frequent answer if the reports identify it, else None.

    Parameters
    ----------
    design : Design or Mechanism
    rows : sequence of EstimateRow
        Rows of the shares of all answers, for everybody or for one cohort that was chosen beforehand.
    confidence_level : float
        Probability that the result is None, or else names a most frequent answer *and* the interval holds its share.
    largest : LargestEstimate, optional
        That of `largest_estimate` for the same rows and level, where it is known already.

    Returns
    -------
    LeadingOption or None

    Notes
    -----
    The comparison (see `lead_of`) and the interval each have half of the error probability. The interval is one of
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
    largest = largest_estimate(design, rows, confidence_level) if largest is None else largest
    if largest is None or not largest.lead.low > 0:
        return None
    # Half of the error probability goes to the comparison, half to the interval.
    best, half = largest.option, lead_level(confidence_level)
    counts = [row.count or 0 for row in rows]
    is_counted = design.is_exclusive and all(row.count is not None for row in rows)
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


def largest_estimate(
    design: AnyDesign, rows: Sequence[EstimateRow], confidence_level: float = 0.95
) -> LargestEstimate | None:
    """The answer with the largest estimate and its lead, whether or not that is certain; None where there is none.

    Parameters are those of `most_frequent`, which names the answer if its lead is certain. Half of the error
    probability is that of the lead. Two answers with the same largest estimate are none.

    Examples
    --------
    >>> from deniable import KAry
    >>> from deniable_statistics.published.published_rows import share_rows
    >>> three = KAry.from_epsilon(3, 2)
    >>> option, lead = largest_estimate(three, share_rows(three.estimate([350, 330, 320]), "q", ("a", "b", "c"), 2.0))
    >>> option, round(lead.low, 3), round(lead.high, 3)
    (0, -0.066, 0.125)
    """
    design = design_of(design)
    shares = [row.estimate for row in rows if row.estimate is not None]
    if len(shares) < max(len(rows), 2) or shares.count(max(shares)) > 1:
        return None
    best = int(np.argmax(shares))
    covariance = np.full((len(rows), len(rows)), np.nan)
    np.fill_diagonal(covariance, [(row.std_error or 0.0) ** 2 for row in rows])
    if design.is_exclusive and all(row.count is not None for row in rows):
        covariance = design.covariance([row.count or 0 for row in rows], rows[0].n)
    return LargestEstimate(
        best, lead_of(best, shares, covariance, min(row.n for row in rows), lead_level(confidence_level))
    )


def lead_level(confidence_level: float) -> float:
    """The level of the intervals of leads: half of the error probability, see `most_frequent`.

    >>> lead_level(0.95)
    0.975
    """
    return (1 + confidence_level) / 2


def lead_of(
    option: int, shares: Sequence[float], covariance: NDArray[np.float64], n: float, confidence_level: float
) -> Interval:
    """The interval of the lead of a share over the largest other one, by multiple comparisons with the best.

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
        Probability that the leads of all shares lie in their intervals, and so that no share is called ahead of a
        larger or an equal one.

    Returns
    -------
    Interval
        The share less the largest other one. Below 0 it may be behind by that much.

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
    # Floats of Python: one by one, numpy's take several times as long.
    variances, covariances = covariance.diagonal().tolist(), covariance[option].tolist()
    first = variances[option]
    lows, highs = [], []
    for other in others:
        apart = shares[option] - shares[other]
        second, both = variances[other], covariances[other]
        if math.isnan(both):
            # Perfect negative correlation makes the variance of the difference largest.
            both = -math.sqrt(first * second)
        # Score statistic: the variance under equal shares, V + d^2 / n.
        reach = z * math.sqrt(max(first + second - 2 * both, 0.0) + apart * apart / n)
        lows.append(apart - reach)
        highs.append(apart + reach)
    # Hsu's upper end is 0 at least: a share that cannot lead is behind by at least nothing.
    return Interval(min(lows), max(min(highs), 0.0))
