"""Power of a test that a share differs from a known one, and the people and the difference that it takes."""

from __future__ import annotations

from deniable_research.planning.checks import check_people, check_share, crossing, smallest
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.testing import check_direction, check_test, normal_power, unreachable


def power(
    noise: NoiseModel,
    n: int,
    share: float,
    null: float = 0.0,
    level: float = 0.05,
    alternative: str = "two-sided",
    exact: bool = False,
) -> float:
    """The probability that ``n`` reports reject ``share == null``.

    Parameters
    ----------
    noise : NoiseModel
    n : int
    share, null : float
        The true share, and the one that the test takes for granted.
    level : float
        Largest probability of rejecting what is true.
    alternative : {"two-sided", "greater", "less"}
        Whether the share is tested to differ from ``null``, or to be above or below it.
    exact : bool
        Count with binomial probabilities, for the test which rejects where the count itself has a probability of at
        most ``level`` (half of it on either side if two-sided); see `planning.exact_power`.

    Notes
    -----
    The estimate is normal with variance ``V(null) / n`` under the null hypothesis and ``V(share) / n`` under the
    alternative: with ``d = share - null``, power = ``Phi((d - z s_null) / s)`` plus, if two-sided, the other tail,
    ``Phi((-d - z s_null) / s)``. This is the normal approximation of the R package rr [1]_. Where chance has no part
    under the null hypothesis (nobody has the trait and everybody says so) there is nothing normal: the test is exact.

    References
    ----------
    .. [1] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
       American Statistical Association 110 (2015), 1304-1319.

    Examples
    --------
    A die says: 1 to 4 tell the truth, 5 say yes, 6 say no. 200 people, one of five has the trait:

    >>> die = NoiseModel.with_support(("5/6", "1/6"))
    >>> round(power(die, n=200, share=0.2, level=0.01, alternative="greater"), 6)
    0.986887
    """
    check_test(None, level, alternative)
    n, share, null = check_people(n), check_share(share), check_share(null, "null")
    if exact:
        from deniable_research.planning.exact_power import exact_power

        return exact_power(noise, n, share, null, level, alternative)
    errors = noise.at(null).std_error(n), noise.at(share).std_error(n)
    if errors[0] == 0:  # asked directly, with a null of 0 or 1: one report of the other kind decides
        return power(noise, n, share, null, level, alternative, exact=True)
    return normal_power(share - null, *errors, level, alternative)


def sample_size_for_power(
    noise: NoiseModel,
    share: float,
    null: float = 0.0,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
    exact: bool = False,
) -> int:
    """The smallest number of people whose power to reject ``share == null`` reaches the target.

    The parameters are those of `power`. With ``exact`` the number from which on power *stays* at or above the target:
    exact power is saw-toothed, so that a few smaller numbers may reach it too, and the next one lose it.

    Raises
    ------
    ParameterError
        If ``target`` is not between ``level`` and 1, or no number of people reaches it.

    Examples
    --------
    >>> sample_size_for_power(NoiseModel.with_support(("5/6", "1/6")), share=0.2, level=0.01, alternative="greater")
    89
    """
    check_test(target, level, alternative)
    check_direction(check_share(share), check_share(null, "null"), alternative)
    if exact:
        from deniable_research.planning.exact_power import exact_sample_size

        return exact_sample_size(noise, share, null, target, level, alternative)
    return smallest(
        lambda n: power(noise, n, share, null, level, alternative) >= target,
        f"share: {share} is too near to {null} for any number of people; take more epsilon",
    )


def detectable_share(
    noise: NoiseModel,
    n: int,
    null: float = 0.0,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
    exact: bool = False,
) -> float:
    """The share nearest to ``null`` that ``n`` people tell from it with the target power.

    Above ``null``, or below it if the alternative is ``"less"``. The parameters are those of `power`.

    Raises
    ------
    ParameterError
        If even a share of 1 (or 0) has less power.

    Examples
    --------
    >>> die = NoiseModel.with_support(("5/6", "1/6"))
    >>> share = detectable_share(die, n=89, level=0.01, alternative="greater")
    >>> round(share, 4), round(power(die, 89, share, level=0.01, alternative="greater"), 6)
    (0.1991, 0.8)
    """
    check_test(target, level, alternative)
    check_people(n)
    farthest = 0.0 if alternative == "less" else 1.0
    reached = power(noise, n, farthest, null, level, alternative, exact)
    if reached < target:
        raise unreachable(f"a share of {farthest:g}", reached, target)
    return crossing(lambda share: power(noise, n, share, null, level, alternative, exact) >= target, null, farthest)
