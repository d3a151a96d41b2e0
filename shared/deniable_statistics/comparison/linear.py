"""The interval of a linear combination of shares, from the limits of each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals import Interval


def linear_interval(
    coefficients: Sequence[float],
    shares: Sequence[float],
    limits: Sequence[Interval],
    correlations: NDArray[np.float64] | None = None,
) -> Interval:
    """Recover the variance of every share from the limit that faces the end in question, and add them up.

    Newcombe's hybrid score interval [1]_ for coefficients 1 and -1, Zou, Huang and Zhang's [2]_ for any.

    Notes
    -----
    The lower end of ``sum c_i f_i`` is reached where every ``c_i f_i`` is low, so its variance near there is
    ``c_i^2 (f_i - l_i)^2 / z^2`` for positive ``c_i`` and ``c_i^2 (u_i - f_i)^2 / z^2`` for negative ones. Shares that
    are not independent have covariances of these spreads with the correlations of the estimates [3]_.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of
       eleven methods", Statistics in Medicine 17 (1998), 873-890, method 10.
    .. [2] G. Y. Zou, W. Huang, X. Zhang, "A note on confidence interval estimation for a linear function of binomial
       proportions", Computational Statistics and Data Analysis 53 (2009), 1080-1085.
    .. [3] G. Y. Zou, "Toward using confidence intervals to compare correlations", Psychological Methods 12 (2007),
       399-413.

    Examples
    --------
    The first example of [1]_, 56/70 - 48/80:

    >>> from deniable_statistics.intervals import wilson
    >>> both = linear_interval((1, -1), (56 / 70, 48 / 80), (wilson(56, 70, 0.95), wilson(48, 80, 0.95)))
    >>> [round(end, 4) for end in both]
    [0.0524, 0.3339]
    """
    middle = math.fsum(c * share for c, share in zip(coefficients, shares, strict=True))
    below, above = [], []
    for c, share, ends in zip(coefficients, shares, limits, strict=True):
        # A negative coefficient turns the interval over.
        one, other = sorted((c * ends.low, c * ends.high))
        below.append(c * share - one)
        above.append(other - c * share)
    if correlations is None:
        return Interval(middle - math.hypot(*below), middle + math.hypot(*above))
    signs = np.sign(coefficients)
    low, high = (math.sqrt(max(float(x @ correlations @ x), 0.0)) for x in (signs * below, signs * above))
    return Interval(middle - low, middle + high)
