"""Confidence intervals for a binomial probability, on its own scale: they know nothing of the range of a share.

``count`` and ``n`` may be real: weighted data with Kish's effective ``n``. The limits may leave [0, 1] (`wald`,
`agresti_coull`) or the range that a design allows. `share_interval` cuts them at the end, because other statistics
start from limits that are not cut. Callers check the level, ``n > 0`` and ``0 <= count <= n``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from deniable_statistics.intervals.interval import Interval, check_confidence_level, normal_quantile
from deniable_statistics.intervals.tails import (
    as_far_below,
    at_least,
    at_least_is,
    at_most,
    bisect_near,
    fall,
    newton_crossing,
    rise,
)
from deniable_statistics.special.binomial_mass import mass
from deniable_statistics.special.incomplete_beta import beta_quantile, guessed_logit


def wilson(count: float, n: float, confidence_level: float) -> Interval:
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
    z = normal_quantile(confidence_level)
    share = count / n
    # Wilson (1927): the roots of (share - lam)^2 = z^2 lam (1 - lam) / n.
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if count == 0 else middle - half  # these ends are exact; floating point leaves 1e-17 beside them
    high = 1.0 if count == n else middle + half
    return Interval(low, high)


def agresti_coull(count: float, n: float, confidence_level: float) -> Interval:
    """Agresti and Coull's interval [1]_: Wald around Wilson's middle, with as many more reports as Wilson adds.

    References
    ----------
    .. [1] A. Agresti, B. A. Coull, "Approximate is better than 'exact' for interval estimation of binomial
       proportions", The American Statistician 52 (1998), 119-126.

    Examples
    --------
    At 95 % about two successes and two failures are added:

    >>> [round(end, 4) for end in agresti_coull(98, 729, 0.95)]
    [0.1115, 0.1612]
    """
    z = normal_quantile(confidence_level)
    # Wilson's middle is (count + z^2 / 2) / (n + z^2): the share of these numbers.
    return wald(count + z * z / 2, n + z * z, confidence_level)


def wald(count: float, n: float, confidence_level: float) -> Interval:
    """Wald's interval, the share plus and minus its standard errors: for comparison only, it covers far too little.

    Examples
    --------
    0.5 plus and minus 1.96 times 0.05:

    >>> [round(end, 3) for end in wald(50, 100, 0.95)]
    [0.402, 0.598]
    """
    share = count / n
    return normal_intervals([share], [math.sqrt(share * (1 - share) / n)], confidence_level)[0]


def normal_intervals(estimates: Sequence[float], errors: Sequence[float], confidence_level: float) -> list[Interval]:
    """Estimates plus and minus normal quantiles times their standard errors (Wald): fine in the middle of a range.

    Raises
    ------
    ParameterError
        If the level is not between 0 and 1.
    """
    z = normal_quantile(check_confidence_level(confidence_level))
    return [Interval(each - z * error, each + z * error) for each, error in zip(estimates, errors, strict=True)]


def clopper_pearson(count: float, n: float, confidence_level: float) -> Interval:
    """Clopper and Pearson's exact interval [1]_: never covers less than the level, and is wider for it.

    Each limit is where one tail is half of what the level leaves.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
       the binomial", Biometrika 26 (1934), 404-413.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(98, 729, 0.95)]
    [0.1105, 0.1614]
    """
    return _both_ends(lambda k: at_least_is((1 - confidence_level) / 2, k, n), count, n)


def jeffreys(count: float, n: float, confidence_level: float) -> Interval:
    """Equal-tailed quantiles of the posterior under Jeffreys' prior, Beta(1/2, 1/2) [1]_.

    The limits are the plain quantiles for every count, as in statsmodels; [1]_ would put 0 and 1 at no and all
    successes.

    References
    ----------
    .. [1] L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Statistical
       Science 16 (2001), 101-133.

    Examples
    --------
    >>> [round(end, 4) for end in jeffreys(98, 729, 0.95)]
    [0.1111, 0.1606]
    """
    # Brown, Cai and DasGupta (2001), section 3.1.3: the posterior is Beta(k + 1/2, n - k + 1/2).
    return _both_ends(lambda k: beta_quantile(k + 0.5, n - k + 0.5, (1 - confidence_level) / 2), count, n)


def midp(count: float, n: float, confidence_level: float) -> Interval:
    """Clopper and Pearson's limits with half the weight on the count itself [1]_: shorter, no longer exact.

    The lower limit solves ``P(C > count) + P(C = count) / 2 = alpha / 2``.

    References
    ----------
    .. [1] H. O. Lancaster, "Significance tests in discrete distributions", Journal of the American Statistical
       Association 56 (1961), 223-234.

    Examples
    --------
    For 2 of 2 half of ``lam^2`` is 2.5 %:

    >>> [round(end, 4) for end in midp(2, 2, 0.95)]
    [0.2236, 1.0]
    """
    tail = (1 - confidence_level) / 2

    def lower(k: float) -> float:
        if k == 0:
            return 0.0

        def excess(lam: float) -> tuple[float, float]:
            # P(C > k) = P(C >= k) - P(C = k)
            here = mass(k, n - k, lam)
            slope = rise(k, n, lam) - here * (k - n * lam) / (2 * lam * (1 - lam))
            return at_least(k, n, lam) - here / 2 - tail, slope

        # Between the limits of the two tails whose mean is taken.
        guess = 1 / (1 + math.exp(-guessed_logit(k + 0.5, n - k + 0.5, tail)))
        return newton_crossing(excess, 0.0, 1.0, guess)

    return _both_ends(lower, count, n)


def blaker(count: float, n: float, confidence_level: float) -> Interval:
    """Blaker's exact interval [1]_: never covers less than the level, never wider than Clopper and Pearson's.

    The method adds up atoms, so a fractional ``n`` is rounded, ``count`` in proportion, and limits of a
    fractional count are interpolated between those of the whole ones beside it.

    Notes
    -----
    A probability ``lam`` is accepted if the smaller tail at the count plus the largest opposite tail that is no
    larger, ``P(C <= c)``, exceeds ``alpha``. What is accepted may have holes; the limits are those of its hull,
    found without a march of small steps. For the lower one let ``u(lam) = P(C >= count)``, increasing.

    1. Where ``u <= alpha / 2`` the sum is at most ``2 u <= alpha``: nothing is accepted below Clopper and Pearson's
       limit ``L``. There ``c`` is the largest with ``P(C <= c) <= alpha / 2``.
    2. It stays ``c`` up to the ``lam`` where ``P(C <= c + 1) = u``. There the sum is ``2 u > alpha``: accepted.
    3. In between ``u + P(C <= c)`` falls at most once and then rises, because its derivative over ``n``,
       ``P(C' = count - 1) - P(C' = c)`` with ``C' ~ Bin(n - 1, lam)``, goes from minus to plus: the ratio of the two
       grows with the odds of ``lam``. It starts at ``alpha`` or below, so it crosses ``alpha`` once or never.

    The limit is that crossing, or else the point of step 2.

    References
    ----------
    .. [1] H. Blaker, "Confidence curves and improved exact confidence intervals for discrete distributions",
       Canadian Journal of Statistics 28 (2000), 783-798.

    Examples
    --------
    >>> [round(end, 4) for end in blaker(98, 729, 0.95)]
    [0.1106, 0.1608]
    """
    alpha = 1 - confidence_level
    count, size = whole(count, n)

    def lower(k: float) -> float:
        if k == 0:
            return 0.0
        # Steps 1 to 3 of the notes: L and c, the end of the stretch, the crossing in it.
        limit = at_least_is(alpha / 2, k, size)
        guess = as_far_below(k, size, limit)
        c = bisect_near(guess, alpha / 2, lambda below: at_most(below, size, limit), 0, int(k)) - 1

        def apart(lam: float) -> tuple[float, float]:
            return at_least(k, size, lam) - at_most(c + 1, size, lam), rise(k, size, lam) + fall(c + 1, size, lam)

        def excess(lam: float) -> tuple[float, float]:
            slope = rise(k, size, lam) - fall(c, size, lam)
            return at_least(k, size, lam) + at_most(c, size, lam) - alpha, slope

        step = newton_crossing(apart, limit, at_least_is(alpha, k, size))
        if excess(limit)[0] >= 0:
            return limit
        return newton_crossing(excess, limit, step) if excess(step)[0] > 0 else step

    few = math.floor(count)
    below = _both_ends(lower, few, size)
    if count == few:
        return below
    above = _both_ends(lower, few + 1, size)
    # Linear between the limits of whole counts: the method itself adds up atoms of a binomial distribution.
    part = count - few
    return Interval(*((1 - part) * one + part * other for one, other in zip(below, above, strict=True)))


def whole(count: float, n: float) -> tuple[float, int]:
    """The nearest whole ``n``, at least 1, and ``count`` in proportion, whole where only floating point differs.

    >>> whole(20.5, 41), whole(1.9, 4.75), whole(3, 10)
    ((20.5, 41), (2, 5), (3, 10))
    """
    size = max(1, round(float(n)))
    scaled = min(count * (size / n), size)
    nearest = round(scaled)
    return (nearest if abs(scaled - nearest) < 1e-9 * size else scaled), size


def _both_ends(lower: Callable[[float], float], count: float, n: float) -> Interval:
    """The upper limit for successes is one minus the lower limit for failures."""
    return Interval(lower(count), 1 - lower(n - count))
