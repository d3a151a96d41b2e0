"""Tails of Student's t and Fisher's F distributions, by the incomplete beta function."""

from __future__ import annotations

import math

from deniable_statistics.special.chi_squared import chi_squared_sf
from deniable_statistics.special.incomplete_beta import beta_cdf, beta_sf, logit_of_tail


def t_sf(t: float, df: float) -> float:
    """``P(T >= t)`` for ``t >= 0`` and ``df > 0`` degrees of freedom: half of ``I_x(df / 2, 1 / 2)``.

    Abramowitz and Stegun 26.7.1, with ``x = df / (df + t^2)``.

    >>> round(t_sf(2.228139, 10), 6)
    0.025
    """
    return _upper(t * t, 1.0, df) / 2


def t_upper_quantile(tail: float, df: float) -> float:
    """The ``t`` with ``P(T >= t) = tail``, for a tail above 0 and at most a half.

    >>> round(t_upper_quantile(0.025, 10), 6)
    2.228139
    """
    if tail <= 0.25:
        return math.sqrt(df * math.exp(-logit_of_tail(df / 2, 0.5, 2 * tail)))
    return math.sqrt(df * math.exp(logit_of_tail(0.5, df / 2, 1 - 2 * tail))) if tail < 0.5 else 0.0


def f_sf(statistic: float, df: float, df_error: float) -> float:
    """``P(F >= statistic)`` with ``df`` and ``df_error`` degrees of freedom, Abramowitz and Stegun 26.6.2.

    >>> round(f_sf(4.9646, 1, 10), 4)       # the square of Student's t at 5 %
    0.05
    """
    if math.isinf(df_error):  # the denominator is 1, so df times F is chi-squared
        return chi_squared_sf(int(df), df * statistic) if df == int(df) else math.nan
    return _upper(statistic, df, df_error)


def _upper(statistic: float, df: float, df_error: float) -> float:
    """The upper tail of F. Of two arguments that add up to 1 the smaller one has all its digits, so it is taken."""
    if not statistic > 0:
        return math.nan if math.isnan(statistic) else 1.0
    if math.isinf(statistic):
        return 0.0
    above = df * statistic
    if above < df_error:
        return beta_sf(df / 2, df_error / 2, above / (df_error + above))
    return beta_cdf(df_error / 2, df / 2, df_error / (df_error + above))
