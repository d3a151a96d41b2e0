"""Confidence intervals for a binomial share, by name.

`Estimate.interval` applies them to the share of reports that support an option and maps the ends through the
debiasing line, which keeps the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from deniable.errors import ParameterError


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(count: int, n: int, confidence_level: float) -> Interval:
    """Wilson's score interval [1]_: short, and its coverage is near the level on average.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
       Journal of the American Statistical Association 22 (1927), 209-212.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(98, 729, 0.95)]
    [0.1116, 0.1611]
    """
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    share = count / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if count == 0 else middle - half  # these ends are exact; floating point leaves 1e-17 beside them
    high = 1.0 if count == n else middle + half
    return Interval(low, high)


def clopper_pearson(count: int, n: int, confidence_level: float) -> Interval:
    """Clopper and Pearson's exact interval [1]_: never covers less than the level, and is wider for it.

    Needs scipy.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
       the binomial", Biometrika 26 (1934), 404-413.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(98, 729, 0.95)]
    [0.1105, 0.1614]
    """
    from scipy.special import betaincinv

    tail = (1 - confidence_level) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - tail))
    return Interval(low, high)


def normal_intervals(estimates: Sequence[float], errors: Sequence[float], confidence_level: float) -> list[Interval]:
    """Estimates plus and minus normal quantiles times their standard errors (Wald): fine in the middle of a range.

    Raises
    ------
    ParameterError
        If the level is not between 0 and 1.
    """
    z = NormalDist().inv_cdf((1 + _checked(confidence_level)) / 2)
    return [Interval(each - z * error, each + z * error) for each, error in zip(estimates, errors, strict=True)]


METHODS: dict[str, Callable[[int, int, float], Interval]] = {"wilson": wilson, "clopper-pearson": clopper_pearson}

DEFAULT_METHOD = "wilson"


def binomial_interval(count: int, n: int, confidence_level: float, method: str) -> Interval:
    """An interval for the success probability behind ``count`` of ``n``, by the name of its method.

    Raises
    ------
    ParameterError
        If the method is unknown or the level is not between 0 and 1.
    """
    if method not in METHODS:
        raise ParameterError(f"method: must be one of {', '.join(METHODS)}, got {method!r}")
    if n == 0:
        return Interval(0.0, 1.0)
    return METHODS[method](count, n, _checked(confidence_level))


def _checked(confidence_level: float) -> float:
    if not 0 < confidence_level < 1:
        raise ParameterError(f"confidence_level: must be above 0 and below 1, got {confidence_level!r}")
    return confidence_level
