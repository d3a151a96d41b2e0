"""Tests of a share against another one: power, sample size, and the smallest difference that is detected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from deniable.errors import ParameterError
from deniable_statistics.planning.checks import check_people, check_share, crossing, smallest
from deniable_statistics.planning.exact_power import exact_power, exact_sample_size, tails_of
from deniable_statistics.planning.noise_model import NoiseModel
from deniable_statistics.planning.precision import Precision

ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class ShareTest:
    """A test of whether a share differs from a known one, or from the share of another cohort.

    Parameters
    ----------
    noise : NoiseModel
        Noise of the share, equal in both cohorts.
    against : float
        The known share of the null hypothesis, or the true share of the first of two cohorts.
    level : float
        Significance level: probability of rejecting a true null hypothesis.
    alternative : {"two-sided", "greater", "less"}
        Whether the share is tested to differ from ``against``, or to be above or below it.
    exact : bool
        Whether the test of a known share is the exact binomial one, which rejects if the upper tail of the count has a
        probability of at most ``level`` (half of it on either side if two-sided); see `planning.exact_power`.

    Notes
    -----
    *A known share*: the estimate is normal with variance ``V(against) / n`` under the null hypothesis and
    ``V(share) / n`` under the alternative. With ``d = share - against`` the power is ``Phi((d - z s_null) / s)`` plus,
    if two-sided, the other tail, ``Phi((-d - z s_null) / s)``: the normal approximation of the R package rr [1]_.

    *Two cohorts*: under the null hypothesis both shares are the pooled one, ``(n1 f1 + n2 f2) / (n1 + n2)``, and the
    difference has the variance ``V(pooled) (1/n1 + 1/n2)``; under the alternative ``V(f1) / n1 + V(f2) / n2`` [2]_.

    References
    ----------
    .. [1] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
       American Statistical Association 110 (2015), 1304-1319.
    .. [2] J. L. Fleiss, B. Levin, M. C. Paik, "Statistical Methods for Rates and Proportions", 3rd edition, Wiley
       2003, chapter 4.

    Examples
    --------
    A die says: 1 to 4 tell the truth, 5 say yes, 6 say no. 200 people, one of five has the trait:

    >>> die = NoiseModel.with_support(("5/6", "1/6"))
    >>> test = ShareTest(die, against=0, level=0.01, alternative="greater")
    >>> round(test.power(0.2, 200), 6), test.sizes(0.2), round(test.detectable(89), 4)
    (0.986887, (89,), 0.1991)

    Two cohorts, of whom 10 % and 15 % have it, asked directly:

    >>> direct = ShareTest(NoiseModel.directly(), against=0.10)
    >>> round(direct.power(0.15, 686, 686), 3), direct.sizes(0.15, allocation=(1, 1))
    (0.8, (686, 686))
    """

    noise: NoiseModel
    against: float = 0.0
    level: float = 0.05
    alternative: str = "two-sided"
    exact: bool = False

    def __post_init__(self) -> None:
        check_test(None, self.level, self.alternative)

    def power(self, share: float, *sizes: int) -> float:
        """The probability that the test rejects if this is the true share.

        Parameters
        ----------
        share : float
            The true share; with two cohorts, of the second one.
        sizes : one or two ints
            Number of reports: one number for a test against a known share, else one for each of two cohorts.
        """
        f1, f2 = self._checked(share, len(sizes))
        if len(sizes) == 1:
            n = check_people(sizes[0])
            null_error, error = self.noise.at(f1).std_error(n), self.noise.at(f2).std_error(n)
            # Without noise and with a null of 0 or 1 the null error is 0: one report of the other kind decides.
            if self.exact or null_error == 0:
                return exact_power(self._tails(share), n)
        else:
            n1, n2 = (check_people(n, "sizes") for n in sizes)
            # Under the null hypothesis both cohorts have the pooled share.
            pooled = self.noise.variance((n1 * f1 + n2 * f2) / (n1 + n2))
            null_error = math.sqrt(pooled * (1 / n1 + 1 / n2))
            # Under the alternative each has its own.
            error = math.sqrt(self.noise.variance(f1) / n1 + self.noise.variance(f2) / n2)
        return normal_power(f2 - f1, null_error, error, self.level, self.alternative)

    def sizes(self, share: float, target: float = 0.8, allocation: tuple[int, ...] = (1,)) -> tuple[int, ...]:
        """The smallest numbers of reports whose power reaches the target.

        Parameters
        ----------
        share, target : float
            The true share, and the power that is wanted.
        allocation : tuple of one or two ints
            ``(1,)`` for a known share; for two cohorts the proportion of their sizes: ``(1, 2)`` makes the second one
            exactly twice as large as the first.

        Returns
        -------
        tuple of int, of the length of ``allocation``
            For an exact test it is the number from which on power *stays* at or above the target. Exact power is
            saw-toothed in the number of people, so that some smaller numbers may reach the target, too.

        Raises
        ------
        ParameterError
            If ``target`` is not between ``level`` and 1, or no number of people reaches it.
        """
        check_test(target, self.level, self.alternative)
        parts = [check_people(each, "allocation") for each in allocation]
        f1, f2 = self._checked(share, len(parts))
        check_direction(f2, f1, self.alternative)
        if len(parts) == 1:
            impossible = f"share: {f2} is too near to {f1} for any number of people; take more epsilon"
        else:
            impossible = f"shares: {f1} and {f2} are too near to each other for any number of people; take more epsilon"
        if self.exact:
            # The exact power is saw-toothed, so the first size that reaches the target is not enough to stop at.
            return (exact_sample_size(self._tails(share), target, impossible),)
        # The allocation is kept exactly: 2 to 1 stays 2 to 1, by whole multiples.
        times = smallest(lambda m: self.power(share, *(m * each for each in parts)) >= target, impossible)
        return tuple(times * each for each in parts)

    def detectable(self, *sizes: int, target: float = 0.8) -> float:
        """The share nearest to ``against`` that is detected with the target power; the sizes are those of `power`.

        It lies above ``against``, or below if the alternative is ``"less"``.

        Notes
        -----
        Standard errors are concave in the share, so that one-sided power crosses a target of at least one half only
        once.

        Raises
        ------
        ParameterError
            If even a share of 1 (or 0) has less power.
        """
        check_test(target, self.level, self.alternative)
        # A two-sided test, too, is planned for an increase.
        farthest = 0.0 if self.alternative == "less" else 1.0
        return _reaching(
            lambda share: self.power(share, *sizes), self.against, farthest, target, f"a share of {farthest:g}"
        )

    def _checked(self, share: float, samples: int) -> tuple[float, float]:
        f2 = check_share(share)
        return check_share(self.against, "null" if samples == 1 else "share"), f2

    def _tails(self, share: float) -> list[tuple[float, float, float]]:
        return tails_of(self.noise, share, self.against, self.level, self.alternative)


def detectable_mean_difference(
    precision: Precision,
    sizes: tuple[int, int],
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """The smallest difference between two means that is detected with the target power, if both have this variance.

    Raises
    ------
    ParameterError
        If even the whole range has less power.

    Examples
    --------
    (1.96 + .8416) sqrt(2 / 100) = .396, by the standard normal quantiles of .975 and .8:

    >>> round(detectable_mean_difference(Precision(variance=1.0, direct=1.0, span=10.0), (100, 100)), 3)
    0.396
    """
    check_test(target, level, alternative)
    n1, n2 = (check_people(n, "sizes") for n in sizes)
    error = math.sqrt(precision.variance * (1 / n1 + 1 / n2))
    # With the same variance in both cohorts, the error does not depend on the difference.
    sign = -1.0 if alternative == "less" else 1.0
    return sign * _reaching(
        lambda size: normal_power(sign * size, error, error, level, alternative),
        *(0.0, precision.span, target, "a difference over the whole range"),
    )


def check_level(level: float) -> float:
    """Return the level of a test if it is above 0 and below 1; raise a ParameterError otherwise."""
    if not 0 < level < 1:
        raise ParameterError(f"level: must be above 0 and below 1, got {level}")
    return level


def check_test(power: float | None, level: float, alternative: str) -> None:
    """Raise a ParameterError unless a test can have this power, level and alternative."""
    check_level(level)
    if alternative not in ALTERNATIVES:
        raise ParameterError(f"alternative: must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}")
    if power is not None and not level < power < 1:
        raise ParameterError(
            f"power: must be below 1 and above the level {level:g}, which a test has without any people, got {power}"
        )


def normal_power(effect: float, null_error: float, error: float, level: float, alternative: str) -> float:
    """The probability that a normal estimate with mean ``effect`` falls into a tail beyond ``z null_error``.

    >>> round(normal_power(0.0, 1.0, 1.0, 0.05, "two-sided"), 12)       # nothing to be found
    0.05
    """
    # The limits come from the error under the null hypothesis; the estimate has the error of the alternative.
    z = -NormalDist().inv_cdf(level / 2 if alternative == "two-sided" else level)
    # Both tails count for a two-sided test, though the far one is hardly ever reached.
    above, below = (_tail(sign * effect - z * null_error, error) for sign in (1, -1))
    return {"two-sided": above + below, "greater": above, "less": below}[alternative]


def check_direction(share: float, other: float, alternative: str) -> None:
    """Raise a ParameterError if the shares do not differ, or not in the direction of the alternative."""
    if share == other:
        raise ParameterError(f"shares: must differ from each other, got {other:g} for both")
    if alternative != "two-sided" and (share > other) != (alternative == "greater"):
        raise ParameterError(f"alternative: must be the side on which {share:g} is of {other:g}, got {alternative!r}")


def _reaching(power: Callable[[float], float], start: float, farthest: float, target: float, named: str) -> float:
    """The value nearest to ``start`` whose power reaches the target; a ParameterError if even ``farthest`` does not."""
    reached = power(farthest)
    if reached < target or start == farthest:
        raise ParameterError(
            f"power: even {named} is found with power {reached:.2g} only, not {target:g}; "
            "ask more people or take more epsilon"
        )
    return crossing(lambda each: power(each) >= target, start, farthest)


def _tail(distance: float, error: float) -> float:
    if error == 0:  # no noise, and a true share of 0 or 1
        return float(distance > 0)
    return NormalDist().cdf(distance / error)
