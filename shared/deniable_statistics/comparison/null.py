"""The hypothesis that cohorts have one and the same share: that share, and how uncertain the cohorts are under it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable_statistics.comparison.cohorts import is_binomial
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval
from deniable_statistics.intervals.tails import crossing


@dataclass(frozen=True)
class CommonShare:
    """The share that independent cohorts have if they have the same, and a test that they do.

    Attributes
    ----------
    share : float
        The common share; unbiased estimates may leave [0, 1] and so may this.
    shares, variances : tuple of float
        What was estimated for each cohort, and the variance of that estimate if the common share is true.
    test : str
        ``score`` if the variances are those of the hypothesis, ``wald`` if each cohort's own.

    Notes
    -----
    ``X^2 = sum (f_i - f)^2 / V_i(f)``. For binomial counts, with ``f`` the most likely common share and
    ``V_i(f) = lam_i (1 - lam_i) / (n_i (a_i - b_i)^2)``, this is Pearson's ``sum (observed - expected)^2 / expected``
    [1]_ over supporting and other reports: debiasing moves observed and expected counts by the same line. If all
    cohorts have the same ``a`` and ``b``, equal shares are the same as equal probabilities of a supporting report,
    whatever the shares are, so the test on the noisy counts is a test on the truth and keeps its level.

    References
    ----------
    .. [1] K. Pearson, "On the criterion that a given system of deviations from the probable in the case of a
       correlated system of variables is such that it can be reasonably supposed to have arisen from random sampling",
       Philosophical Magazine 50 (1900), 157-175.
    """

    share: float
    shares: tuple[float, ...]
    variances: tuple[float, ...]
    test: str

    @property
    def statistic(self) -> float:
        """``X^2``; chi-squared with one degree of freedom less than cohorts."""
        # A variance of 0 means that all reports of all cohorts are the same: no deviation either.
        pairs = zip(self.shares, self.variances, strict=True)
        return math.fsum((share - self.share) ** 2 / variance for share, variance in pairs if variance > 0)


def common_share(cohorts: Sequence[Estimate], option: int) -> CommonShare:
    """The common share of cohorts, none of them empty.

    Binomial counts of any designs give the most likely one; one design without supports the share of all reports
    together, with their covariance; all others the mean with the inverse variances as weights.

    Raises
    ------
    ParameterError
        If a cohort has no variance of its own and must have one.
    """
    shares = tuple(cohort.share[option] for cohort in cohorts)
    if all(map(is_binomial, cohorts)):
        share = _most_likely(cohorts, option)
        return CommonShare(share, shares, tuple(_variance(cohort, option, share) for cohort in cohorts), "score")
    if is_one_design(cohorts):
        all_together = pooled(cohorts)
        variance = float(all_together.covariance[option, option]) * all_together.n_effective
        # All cohorts have the variance of one report of everybody, each divided by its own number.
        variances = tuple(variance / cohort.n_effective for cohort in cohorts)
        return CommonShare(all_together.share[option], shares, variances, "score")
    variances = tuple(cohort.std_error[option] ** 2 for cohort in cohorts)
    for i, variance in enumerate(variances):
        if not variance > 0:
            raise ParameterError(f"estimates[{i}]: must have a standard error above 0 to be weighed, got {variance:g}")
    # The mean with inverse variances as weights makes sum (f_i - f)^2 / V_i smallest.
    weights = [1 / variance for variance in variances]
    share = math.fsum(weight * each for weight, each in zip(weights, shares, strict=True)) / math.fsum(weights)
    return CommonShare(share, shares, variances, "wald")


def is_one_design(cohorts: Sequence[Estimate]) -> bool:
    """Whether all reports can be taken together: one design, one kind of response, people drawn without end."""
    first = cohorts[0].design
    return first.groups == 1 and all(cohort.design == first and cohort.population is None for cohort in cohorts)


def pooled(cohorts: Sequence[Estimate]) -> Estimate:
    """The estimate from all reports together, each cohort with its effective number of reports."""
    counts = [
        math.fsum(cohort.effective_counts[position] for cohort in cohorts) for position in range(len(cohorts[0].counts))
    ]
    n = math.fsum(cohort.n_effective for cohort in cohorts)
    return Estimate.from_counts(cohorts[0].design, counts, n, n)


def _support(cohort: Estimate, option: int) -> tuple[float, float]:
    assert cohort.design.support is not None
    a, b = cohort.design.support[option]
    return float(a), float(b)


def _variance(cohort: Estimate, option: int, share: float) -> float:
    a, b = _support(cohort, option)
    # lam (1 - lam) / (n (a - b)^2), at the probability of a supporting report under the hypothesis.
    lam = min(max(b + (a - b) * share, 0.0), 1.0)  # floating point leaves 1e-17 beside the ends
    return lam * (1 - lam) / (cohort.n_effective * (a - b) ** 2)


def _most_likely(cohorts: Sequence[Estimate], option: int) -> float:
    """Maximise ``sum C_i log lam_i + (n_i - C_i) log(1 - lam_i)`` over all shares for which lam_i are probabilities."""
    supports = [_support(cohort, option) for cohort in cohorts]
    counts = [cohort.effective_counts[option] for cohort in cohorts]
    sizes = [cohort.n_effective for cohort in cohorts]
    if len(set(supports)) == 1:
        a, b = supports[0]
        # With the same probabilities of support in all, the maximum is that of all reports together.
        return (math.fsum(counts) / math.fsum(sizes) - b) / (a - b)

    # The score, the derivative of the log-likelihood, with the other sign: it rises through 0 at the maximum.
    def fall(share: float) -> float:
        total = 0.0
        for (a, b), count, n in zip(supports, counts, sizes, strict=True):
            lam = b + (a - b) * share
            total -= (a - b) * (_quotient(count, lam) - _quotient(n - count, 1 - lam))
        return total

    # The shares at which lam_i is 0 or 1; between the innermost of them all logarithms are finite.
    ends = [Interval(0.0, 1.0).debiased(a, b) for a, b in supports]
    return crossing(fall, max(low for low, _ in ends), min(high for _, high in ends))


def _quotient(count: float, chance: float) -> float:
    if count <= 0:
        return 0.0
    return count / chance if chance > 0 else math.inf
