"""Confidence intervals for a binomial probability, on its own scale: they know nothing of the range of a share.

``count`` and ``n`` may be real: weighted data with Kish's effective ``n``. The limits may leave [0, 1] (`wald`,
`agresti_coull`) or the range that a design allows. `share_interval` cuts them at the end, because other statistics
start from limits that are not cut. Functions of several counts leave these checks to their callers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from deniable_statistics.intervals.interval import Interval, check_binomial, check_confidence_level, normal_quantile
from deniable_statistics.intervals.tails import Floats, Indices, newton_crossings
from deniable_statistics.special.incomplete_beta import beta_quantiles, beta_tails_and_density

LEAST = 1e-260
"""Least limit of a fractional count that is looked for: the least of `beta_quantile`."""


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
    check_binomial(count, n, confidence_level)
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
    check_binomial(count, n, confidence_level)
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
    check_binomial(count, n, confidence_level)
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

    At each limit, one tail has half of 1 minus the confidence level.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
       the binomial", Biometrika 26 (1934), 404-413.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(98, 729, 0.95)]
    [0.1105, 0.1614]
    """
    check_binomial(count, n, confidence_level)
    return clopper_pearson_of_each([count], [n], confidence_level)[0]


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
    check_binomial(count, n, confidence_level)
    return jeffreys_of_each([count], [n], confidence_level)[0]


def clopper_pearson_of_each(counts: Sequence[float], sizes: Sequence[float], confidence_level: float) -> list[Interval]:
    """`clopper_pearson` of each of several counts.

    >>> [[round(end, 4) for end in each] for each in clopper_pearson_of_each([98, 0], [729, 2], 0.95)]
    [[0.1105, 0.1614], [0.0, 0.8419]]
    """
    return _quantiles(counts, sizes, confidence_level, 0.0)


def jeffreys_of_each(counts: Sequence[float], sizes: Sequence[float], confidence_level: float) -> list[Interval]:
    """`jeffreys` of each of several counts.

    >>> [[round(end, 4) for end in each] for each in jeffreys_of_each([98, 0], [729, 2], 0.95)]
    [[0.1111, 0.1606], [0.0002, 0.6668]]
    """
    # Brown, Cai and DasGupta (2001), section 3.1.3: the posterior is Beta(k + 1/2, n - k + 1/2).
    return _quantiles(counts, sizes, confidence_level, 0.5)


def _quantiles(counts: Sequence[float], sizes: Sequence[float], level: float, prior: float) -> list[Interval]:
    """Lower quantiles of Beta(k + prior, n - k + 1 - prior) for successes, and for failures one minus them."""

    def lowers(k: Floats, n: Floats) -> Floats:
        a = k + prior
        # Without a count or a prior nothing is below the limit.
        return np.where(a > LEAST, beta_quantiles(np.where(a > LEAST, a, 1.0), n - k + 1 - prior, (1 - level) / 2), 0.0)

    return both_ends(lowers, counts, sizes)


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
    check_binomial(count, n, confidence_level)
    return midp_of_each([count], [n], confidence_level)[0]


def midp_of_each(counts: Sequence[float], sizes: Sequence[float], confidence_level: float) -> list[Interval]:
    """`midp` of each of several counts.

    >>> [[round(end, 4) for end in each] for each in midp_of_each([2, 0], [2, 2], 0.95)]
    [[0.2236, 1.0], [0.0, 0.7764]]
    """
    tail = (1 - confidence_level) / 2

    def lowers(k: Floats, n: Floats) -> Floats:
        has_limit = k > LEAST
        a, b = k[has_limit], (n - k)[has_limit]

        def excess(lam: Floats, left: Indices) -> tuple[Floats, Floats]:
            more, _, density = beta_tails_and_density(a[left], b[left] + 1, lam)
            # P(C = k) is k - n lam times itself over lam (1 - lam) steep, and lam / k times the density.
            here = density * lam / a[left]
            steep = here * (a[left] - (a[left] + b[left]) * lam) / (lam * (1 - lam))
            # P(C > k) = P(C >= k) - P(C = k)
            return more - here / 2 - tail, density - steep / 2

        # Between the limits of the two tails whose mean is taken.
        guess = beta_quantiles(a + 0.5, b + 0.5, tail)
        found = np.zeros(k.shape)
        found[has_limit] = newton_crossings(excess, np.full(a.shape, LEAST), np.ones(a.shape), guess)
        return found

    return both_ends(lowers, counts, sizes)


def whole(count: float, n: float) -> tuple[float, int]:
    """The nearest whole ``n``, at least 1, and ``count`` in proportion, whole where only floating point differs.

    >>> whole(20.5, 41), whole(1.9, 4.75), whole(3, 10)
    ((20.5, 41), (2, 5), (3, 10))
    """
    size = max(1, round(float(n)))
    scaled = min(count * (size / n), size)
    nearest = round(scaled)
    return (nearest if abs(scaled - nearest) < 1e-9 * size else scaled), size


def both_ends(
    lowers: Callable[[Floats, Floats], Floats], counts: Sequence[float], sizes: Sequence[float]
) -> list[Interval]:
    """Limits of each count: the upper one for successes is one minus the lower one for failures."""
    count, n = np.array(counts, dtype=float), np.array(sizes, dtype=float)
    low, other = lowers(np.concatenate([count, n - count]), np.concatenate([n, n])).reshape(2, len(count))
    return [Interval(*ends) for ends in zip(low.tolist(), (1 - other).tolist(), strict=True)]
