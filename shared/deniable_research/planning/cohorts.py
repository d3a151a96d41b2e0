"""Two cohorts: power to tell their shares apart, the people that it takes, and the smallest difference found."""

from __future__ import annotations

import math

from deniable.errors import ParameterError
from deniable_research.planning.checks import check_people, check_share, crossing, smallest
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.precision import Precision
from deniable_research.planning.testing import check_direction, check_test, normal_power, unreachable

Sizes = tuple[int, int]
Shares = tuple[float, float]


def cohort_power(
    noise: NoiseModel, sizes: Sizes, shares: Shares, level: float = 0.05, alternative: str = "two-sided"
) -> float:
    """The probability that two cohorts of these sizes reject that their shares are the same.

    Parameters
    ----------
    noise : NoiseModel
        The question, the same for both.
    sizes : two ints
        Reports from each cohort.
    shares : two floats
        Their true shares.
    level, alternative
        As for `power`; ``"greater"`` is a greater share in the second cohort.

    Notes
    -----
    Under the null hypothesis both shares are the pooled one, ``(n1 f1 + n2 f2) / (n1 + n2)``; then the power is that
    of a normal difference with variance ``V(pooled) (1/n1 + 1/n2)`` under the null hypothesis and
    ``V(f1) / n1 + V(f2) / n2`` under the alternative [1]_.

    References
    ----------
    .. [1] J. L. Fleiss, B. Levin, M. C. Paik, "Statistical Methods for Rates and Proportions", 3rd edition, Wiley
       2003, chapter 4.

    Examples
    --------
    >>> round(cohort_power(NoiseModel.directly(), (686, 686), (0.10, 0.15)), 3)
    0.8
    """
    check_test(None, level, alternative)
    n1, n2 = _sizes(sizes)
    f1, f2 = (check_share(share) for share in shares)
    pooled = noise.variance((n1 * f1 + n2 * f2) / (n1 + n2))
    null_error = math.sqrt(pooled * (1 / n1 + 1 / n2))
    error = math.sqrt(noise.variance(f1) / n1 + noise.variance(f2) / n2)
    return normal_power(f2 - f1, null_error, error, level, alternative)


def cohort_sizes(
    noise: NoiseModel,
    shares: Shares,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
    allocation: Sizes = (1, 1),
) -> Sizes:
    """The smallest cohorts whose power to tell these shares apart reaches the target.

    Parameters
    ----------
    noise, shares, level, alternative
        As for `cohort_power`.
    target : float
        Power that is wanted.
    allocation : two ints
        Proportion of the sizes: both are the same multiple of it, so that ``(1, 2)`` is a second cohort of exactly
        twice the first.

    Raises
    ------
    ParameterError
        If ``target`` is not between ``level`` and 1, or no number of people reaches it.

    Examples
    --------
    >>> from deniable import Warner
    >>> cohort_sizes(NoiseModel.directly(), (0.10, 0.15))
    (686, 686)
    >>> cohort_sizes(NoiseModel.through(Warner.from_epsilon(1)), (0.10, 0.15))
    (6467, 6467)
    """
    check_test(target, level, alternative)
    first, second = (check_people(each, "allocation") for each in allocation)
    f1, f2 = (check_share(share) for share in shares)
    check_direction(f2, f1, alternative)
    times = smallest(
        lambda m: cohort_power(noise, (m * first, m * second), shares, level, alternative) >= target,
        f"shares: {f1} and {f2} are too near to each other for any number of people; take more epsilon",
    )
    return times * first, times * second


def detectable_difference(
    noise: NoiseModel,
    sizes: Sizes,
    share: float,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """The smallest difference from ``share`` in the second cohort that is found with the target power.

    Above ``share``, or below it (a negative difference) if the alternative is ``"less"``.

    Notes
    -----
    Solves `cohort_power` for the second share. Errors are concave in it, so that one-sided power, from a target of one
    half upwards, reaches the target once and stays there.

    Raises
    ------
    ParameterError
        If even a share of 1 (or 0) in the second cohort has less power.

    Examples
    --------
    >>> round(detectable_difference(NoiseModel.directly(), (686, 686), 0.10), 4)
    0.05
    """
    check_test(target, level, alternative)
    f1 = check_share(share)
    farthest = 0.0 if alternative == "less" else 1.0
    reached = cohort_power(noise, sizes, (f1, farthest), level, alternative)
    if reached < target or f1 == farthest:
        raise unreachable(f"a share of {farthest:g}", reached, target)
    found = crossing(lambda f2: cohort_power(noise, sizes, (f1, f2), level, alternative) >= target, f1, farthest)
    return found - f1


def detectable_mean_difference(
    precision: Precision,
    sizes: Sizes,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """The smallest difference of two means that is found with the target power, if both have this variance.

    Raises
    ------
    ParameterError
        If even the whole range has less power.

    Examples
    --------
    (1.96 + .8416) sqrt(2 / 100) = .396:

    >>> round(detectable_mean_difference(Precision(variance=1.0, direct=1.0, span=10.0), (100, 100)), 3)
    0.396
    """
    check_test(target, level, alternative)
    n1, n2 = _sizes(sizes)
    error = math.sqrt(precision.variance * (1 / n1 + 1 / n2))
    sign = -1.0 if alternative == "less" else 1.0

    def found(size: float) -> float:
        return normal_power(sign * size, error, error, level, alternative)

    if (reached := found(precision.span)) < target:
        raise unreachable("a difference over the whole range", reached, target)
    return sign * crossing(lambda size: found(size) >= target, 0.0, precision.span)


def halves(n: int) -> Sizes:
    """Two cohorts of the same size, or one person apart.

    >>> halves(1001)
    (500, 501)
    """
    if n < 2:
        raise ParameterError(f"respondents: must be at least 2, one for each cohort, got {n}")
    return n // 2, n - n // 2


def _sizes(sizes: Sizes) -> Sizes:
    n1, n2 = (check_people(n, "sizes") for n in sizes)
    return n1, n2
