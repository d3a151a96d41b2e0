"""Which shares differ between people with different answers to another question, by a simultaneous comparison."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.intervals import Interval, level_of_each
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.joint.conditional import Conditional
from deniable_statistics.joint.products import products

MOST_NAMED = 3
"""Largest number of differences that are named, the clearest ones: intervals of their shares take up to 20 ms each."""


class ConditionalDifference(NamedTuple):
    """The share of an option in one group minus that in another one; a group are the people with one answer.

    Attributes
    ----------
    option : int
    groups : tuple of two int
        Numbers of the answers that make the groups.
    difference, std_error : float
        Nearly unbiased where both groups are well above 0.
    interval : Interval
        Holds simultaneously with those of all options and all pairs of groups.
    """

    option: int
    groups: tuple[int, int]
    difference: float
    std_error: float
    interval: Interval


def certain_differences(
    within: Conditional, possible: NDArray[np.float64], options: Sequence[int], confidence_level: float = 0.95
) -> list[ConditionalDifference]:
    """The clearest differences of shares between groups whose simultaneous intervals exclude 0.

    Parameters
    ----------
    within : Conditional
        The shares of the first question among people with each answer to the second one.
    possible : ndarray, shape (options, groups)
        The values that are shown, NaN where there is none.
    options : sequence of int
        The options that are compared; every two groups are.
    confidence_level : float
        Probability with which no difference is named that is not there, and all intervals of named ones hold.

    Returns
    -------
    list of ConditionalDifference
        At most `MOST_NAMED`, those with the largest test statistic first.

    Notes
    -----
    All ``m`` options of all pairs of groups have an equal part of the error probability (Bonferroni), named or not, so
    that choosing the clearest costs nothing. A difference is named where both its test statistic ``d / sqrt(V)`` and
    its interval exclude 0. ``V`` is the variance by the delta method, and at least that of the score test of two groups
    which are known, ``p (1 - p) (1 / n_1 + 1 / n_2)`` with the pooled share ``p``: of a group so small that nobody in
    it has the answer, the delta method believes that nobody ever has. The interval is MOVER's from the limits of both
    shares, with the correlation of their estimates [1]_: a person whose group is not known speaks for several.

    References
    ----------
    .. [1] G. Y. Zou, "Toward using confidence intervals to compare correlations", Psychological Methods 12 (2007),
       399-413.
    """
    pairs = list(itertools.combinations(range(within.share.shape[1]), 2))
    m = len(pairs) * len(options)
    if not m or not within.reports.n:
        return []
    level = level_of_each(confidence_level, m)
    z = normal_quantile(level)
    covariance = covariance_of(within)
    groups = within.share.shape[1]
    tested = []
    for option, pair in itertools.product(options, pairs):
        places = [option * groups + group for group in pair]
        apart, error = difference_of(within, covariance, places)
        if error and abs(apart) > z * error:  # not where it is NaN, because a group may be empty
            tested.append((abs(apart) / error, option, pair, apart, error))
    tested.sort(key=lambda each: -each[0])
    named = tested[:MOST_NAMED]
    cells = sorted({option * groups + group for _, option, pair, _, _ in named for group in pair})
    ends = dict(zip(cells, within.intervals_of(cells, level), strict=True))
    found = []
    for _, option, pair, apart, error in named:
        places = [option * groups + group for group in pair]
        limits = [ends[place] for place in places]
        shares = [_inside(float(possible[option, group]), each) for group, each in zip(pair, limits, strict=True)]
        interval = linear_interval((1, -1), shares, limits, _correlations(covariance, places)).cut(-1, 1)
        if interval.low > 0 or interval.high < 0:
            found.append(ConditionalDifference(option, pair, apart, error, interval))
    return found


def difference_of(within: Conditional, covariance: NDArray[np.float64], places: Sequence[int]) -> tuple[float, float]:
    """The difference of two shares and its standard error under equal shares; NaN where a group may be empty.

    ``places`` are those in ``within.share.ravel()``, and ``covariance`` is that of `covariance_of`.
    """
    (top, other_top), (size, other_size) = within.parts[0, places].tolist(), within.parts[1, places].tolist()
    if not (size > 0 and other_size > 0):
        return math.nan, math.nan
    pooled = min(max((top + other_top) / (size + other_size), 0.0), 1.0)
    known = pooled * (1 - pooled) * (1 / size + 1 / other_size) / within.reports.n_effective
    one, other = places
    spread = float(covariance[one, one] + covariance[other, other] - 2 * covariance[one, other])
    apart = top / size - other_top / other_size
    return apart, math.sqrt(max(spread, known) + apart * apart / within.reports.n_effective)


def covariance_of(within: Conditional) -> NDArray[np.float64]:
    """Covariance of all shares within groups by the delta method, in the order of ``within.share.ravel()``."""
    axis = within.reports.index(within.given)
    group = np.indices(within.share.shape)[axis].ravel()
    share, size = within.share.ravel(), within.parts[1]

    def linearised(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        # The influence of a person on t / g: (t_i - (t / g) g_i) / g.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((products(scores) - share * scores[axis][:, group]) / size)

    return within.reports.moments(linearised)[1]


def _inside(value: float, interval: Interval) -> float:
    # Without a value that is possible, from the middle: both limits are then equally far.
    middle = (interval.low + interval.high) / 2
    return middle if math.isnan(value) else min(max(value, interval.low), interval.high)


def _correlations(covariance: NDArray[np.float64], places: Sequence[int]) -> NDArray[np.float64]:
    part = covariance[np.ix_(places, places)]
    errors = np.sqrt(part.diagonal())
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN, which names nothing, where reports are all alike
        return np.asarray(np.clip(part / np.outer(errors, errors), -1, 1))
