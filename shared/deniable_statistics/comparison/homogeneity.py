"""Several cohorts at once: do they have the same shares?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_statistics.classical.derived import place_of
from deniable_statistics.comparison.cohorts import check_cohorts, is_binomial, of_option
from deniable_statistics.comparison.null import common_share, is_one_design, pooled
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.special.chi_squared import chi_squared_sf
from deniable_statistics.whitening import whitening


@dataclass(frozen=True)
class Homogeneity:
    """A test that several cohorts have the same shares.

    Attributes
    ----------
    statistic : float
        Chi-squared with `df` degrees of freedom if they have. NaN with fewer than two cohorts that are not empty.
    df : int
    p_value : float
    test : str
        ``score`` if the errors are those of equal shares, ``wald`` if each cohort's own.
    cohorts : int
        Number of cohorts that have reports; the others tell nothing and are left out.
    """

    statistic: float
    df: int
    p_value: float
    test: str
    cohorts: int


def homogeneity(estimates: Sequence[Estimate], option: int | str | None = None) -> Homogeneity:
    """Test whether the shares of all options, or of one, are the same in all cohorts.

    Parameters
    ----------
    estimates : sequence of Estimate
        One for each cohort; their designs may differ.
    option : int or str, optional
        Test the share of this option alone. Tick boxes need it: their tallies do not tell what goes together.

    Returns
    -------
    Homogeneity

    Raises
    ------
    ParameterError
        If there is only one cohort, or the cohorts cannot be compared.

    Notes
    -----
    With one design for all, ``X^2 = sum over cohorts of n_i (f_i - f)' S^+ (f_i - f)``, ``f`` the shares of all reports
    together and ``S`` the covariance that one report has then, with ``rank(S) (cohorts - 1)`` degrees of freedom.
    Where each truth has one response, ``f_i = A^-1 C_i / n_i`` and ``S = A^-1 (diag(lam) - lam lam') A^-T``: ``A``
    cancels, and what is left is Pearson's chi-squared [1]_ on the table of *reports* by cohorts. Noise costs power,
    not the level.

    With different designs a single share is compared by its score test (see `comparison.null`), and all
    together by ``sum (f_i - f)' V_i^-1 (f_i - f)`` around the mean ``f`` with the inverse covariances as weights.

    References
    ----------
    .. [1] K. Pearson, "On the criterion that a given system of deviations from the probable in the case of a
       correlated system of variables is such that it can be reasonably supposed to have arisen from random sampling",
       Philosophical Magazine 50 (1900), 157-175.

    Examples
    --------
    (50^2 + 50^2) / 1000 + (50^2 + 50^2) / 1000, whatever the coins were:

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> result = homogeneity([coins.estimate([450, 550]), coins.estimate([550, 450])])
    >>> round(result.statistic, 6), result.df, round(result.p_value, 6)
    (20.0, 1, 8e-06)
    """
    cohorts = check_cohorts(estimates)
    position = None if option is None else place_of(option, cohorts[0])
    if position is None and not all(cohort.design.is_exclusive for cohort in cohorts):
        raise ParameterError("option: must be given for tick boxes, whose tallies do not tell what goes together")
    if position is not None:
        cohorts, position = of_option(cohorts, position)
    cohorts = tuple(cohort for cohort in cohorts if cohort.n)
    if len(cohorts) < 2:
        return Homogeneity(math.nan, 0, math.nan, "score", len(cohorts))
    if position is None and len(cohorts[0].share) == 2 and all(map(is_binomial, cohorts)):
        position = 1  # two shares that add up to 1 are one
    if position is not None:
        null = common_share(cohorts, position)
        statistic, df, test = null.statistic, len(cohorts) - 1, null.test
    elif is_one_design(cohorts):
        statistic, rank, test = *_around_all(cohorts), "score"
        df = rank * (len(cohorts) - 1)
    else:
        statistic, rank, test = *_around_mean(cohorts), "wald"
        df = rank * (len(cohorts) - 1)
    return Homogeneity(statistic, df, chi_squared_sf(df, statistic) if df else 1.0, test, len(cohorts))


def _around_all(cohorts: Sequence[Estimate]) -> tuple[float, int]:

    everybody = pooled(cohorts)
    # n Cov is the covariance of one report, the same in all cohorts if they are alike.
    axes = whitening(everybody.covariance * everybody.n_effective)
    # In coordinates in which one report has variance 1, (f_i - f)' S^+ (f_i - f) is a squared length.
    apart = (np.array([cohort.share for cohort in cohorts]) - everybody.share) @ axes
    sizes = np.array([cohort.n_effective for cohort in cohorts])
    return float(sizes @ (apart**2).sum(axis=1)), axes.shape[1]


def _around_mean(cohorts: Sequence[Estimate]) -> tuple[float, int]:

    # Coordinates in which some cohort varies: shares add up to 1, so one direction has no variance.
    axes = whitening(np.sum([cohort.covariance for cohort in cohorts], axis=0))
    shares = [np.array(cohort.share) @ axes for cohort in cohorts]
    precisions = [_precision(axes.T @ cohort.covariance @ axes, i) for i, cohort in enumerate(cohorts)]
    # f = (sum V_i^-1)^-1 sum V_i^-1 f_i, around which the sum of squared distances is smallest.
    weighted = np.sum([each @ share for each, share in zip(precisions, shares, strict=True)], axis=0)
    mean = np.linalg.solve(np.sum(precisions, axis=0), weighted)
    distances = [share - mean for share in shares]
    return math.fsum(float(d @ each @ d) for d, each in zip(distances, precisions, strict=True)), axes.shape[1]


def _precision(covariance: NDArray[np.float64], cohort: int) -> NDArray[np.float64]:

    axes = whitening(covariance)
    if axes.shape[1] < len(covariance):
        raise ParameterError(f"estimates[{cohort}]: has too few different reports to compare all options at once")
    return np.asarray(axes @ axes.T)
