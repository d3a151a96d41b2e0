"""Student's distribution: what intervals and tests take where errors have few degrees of freedom."""

from __future__ import annotations

import math

from deniable_statistics.intervals.interval import check_confidence_level, normal_quantile, two_sided
from deniable_statistics.special.student import t_sf, t_upper_quantile


def t_quantile(confidence_level: float, df: float) -> float:
    """How many standard errors a two-sided interval reaches on each side; infinite without degrees of freedom.

    >>> round(t_quantile(0.95, 10), 3), round(t_quantile(0.95, math.inf), 3), t_quantile(0.95, 0)
    (2.228, 1.96, inf)
    """
    if df == math.inf:
        return normal_quantile(check_confidence_level(confidence_level))
    check_confidence_level(confidence_level)
    return t_upper_quantile((1 - confidence_level) / 2, df) if df > 0 else math.inf


def t_two_sided(statistic: float, df: float) -> float:
    """The two-sided p-value of Student's statistic; NaN without degrees of freedom.

    >>> round(t_two_sided(2.228, 10), 3)
    0.05
    """
    if df == math.inf:
        return two_sided(statistic)
    return 2 * t_sf(abs(statistic), df) if df > 0 else math.nan
