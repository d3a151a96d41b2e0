"""Limits of a ratio of two uncertain numbers, which may be infinite: Fieller's theorem, a variance for each end."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.interval import Interval

Numbers = TypeVar("Numbers", float, NDArray[np.float64])


class Spread(NamedTuple):
    """Squared distances that an interval reaches: variances and covariance times the squared normal quantile."""

    top: float
    bottom: float
    both: float = 0.0


def ratio_limits(top: float, bottom: float, below: Spread, above: Spread) -> Interval:
    """All ratios ``R >= 0`` for which ``top - R bottom`` may be 0, from the smallest to the largest.

    Parameters
    ----------
    top, bottom : float
        Estimates of numerator and denominator, neither of them cut.
    below, above : Spread
        For the lower and the upper limit.

    Returns
    -------
    Interval
        The upper end is infinite where ``bottom`` may be 0 or is certainly below, which no share is; then the lower
        end may be infinite too.

    Notes
    -----
    ``R`` is kept if ``top - R bottom`` is within ``sqrt(V_top - 2 R C + R^2 V_bottom)`` of 0: for the same spread on
    both sides Fieller's set [1]_, for spreads recovered from limits Donner and Zou's interval [2]_. As functions of
    ``R``, ``top - R bottom - sqrt(...)`` is concave and ``top - R bottom + sqrt(...)`` convex, so that each crosses 0
    once where it is looked for, or nowhere. Both are roots of ``A R^2 - 2 B R + C = 0``: the smaller one for ``below``,
    the larger one for ``above``.

    References
    ----------
    .. [1] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954),
       175-185.
    .. [2] A. Donner, G. Y. Zou, "Closed-form confidence intervals for functions of the normal mean and standard
       deviation", Statistical Methods in Medical Research 21 (2012), 347-359, equation 9.

    Examples
    --------
    4 and 2, each known to within 1: R fits if (4 - 2 R)^2 = 1 + R^2, so 3 R^2 - 16 R + 15 = 0:

    >>> [round(end, 4) for end in ratio_limits(4, 2, Spread(1, 1), Spread(1, 1))]
    [1.2137, 4.1196]
    >>> ratio_limits(4, 1, Spread(1, 1), Spread(1, 1)).high
    inf
    """
    return Interval(_lower(top, bottom, below), _upper(top, bottom, above))


def gap_variance(ratio: Numbers, top: Numbers, bottom: Numbers, both: Numbers) -> Numbers:
    """The variance of ``top - ratio bottom``, which is 0 on average where the ratio is the true one.

    Its square divided by this is Fieller's statistic; this divided by ``bottom**2``, at the estimated ratio, is the
    variance of the ratio by the delta method.

    Parameters
    ----------
    ratio : float or ndarray
    top, bottom : float or ndarray
        Variances of numerator and denominator.
    both : float or ndarray
        Their covariance.

    Examples
    --------
    >>> gap_variance(0.5, 4.0, 8.0, 1.0)                  # 4 - 2 / 2 + 8 / 4
    5.0
    """
    return top - 2 * ratio * both + ratio**2 * bottom


def is_surely_positive(estimate: float, variance: float, reach: float) -> bool:
    """Whether the score test refuses that a number is 0: one that it does not refuse cannot be divided by.

    Parameters
    ----------
    estimate : float
        Unbiased.
    variance : float
        Of the estimate where the number is 0.
    reach : float
        How many standard errors an interval reaches, such as `t_quantile` of its level; infinite refuses nothing.
    """
    return estimate > reach * math.sqrt(variance)


def _lower(top: float, bottom: float, spread: Spread) -> float:
    c = top * top - spread.top
    if top <= 0 or c <= 0:
        return 0.0
    a, b = bottom * bottom - spread.bottom, top * bottom - spread.both
    inside = b * b - a * c
    divisor = b + math.sqrt(inside) if inside >= 0 else 0.0
    return c / divisor if divisor > 0 else math.inf


def _upper(top: float, bottom: float, spread: Spread) -> float:
    a = bottom * bottom - spread.bottom
    if bottom <= 0 or a <= 0:
        return math.inf
    c = top * top - spread.top
    if top < 0 < c:
        return 0.0
    b = top * bottom - spread.both
    return max((b + math.sqrt(max(b * b - a * c, 0.0))) / a, 0.0)
