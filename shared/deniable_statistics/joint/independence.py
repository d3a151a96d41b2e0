"""Do two questions have to do with each other? A test on noisy reports that holds its level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError, describe
from deniable.exact import as_integer
from deniable_statistics.designs.debiasing import one_report_covariance
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.joint.products import products
from deniable_statistics.joint.reports import JointReports
from deniable_statistics.sampling import FTest, Sample, rao_scott
from deniable_statistics.sampling.items import Item
from deniable_statistics.special.chi_squared import chi_squared_quantile, chi_squared_sf, noncentral_chi_squared_sf
from deniable_statistics.whitening import whitening


@dataclass(frozen=True)
class Independence:
    """A test that the true answers to two questions are independent.

    Attributes
    ----------
    statistic : float
        Chi-squared with `df` degrees of freedom if they are. NaN without reports.
    df : float
        A whole number, except under a sampling design.
    p_value : float
        From the chi-squared or F distribution, or from permutations.
    p_error : float
        Standard error of a p-value from permutations; 0 otherwise.
    smallest_expected : float or None
        Smallest expected number of people with a combination of reports. Below 5 permutations are safer. None where
        reports are no single values.
    df_error : float or None
        Under a sampling design the statistic is F, and these are its other degrees of freedom; see `rao_scott`.
    """

    statistic: float
    df: float
    p_value: float
    p_error: float
    smallest_expected: float | None
    df_error: float | None = None


def independence(
    first: Item,
    second: Item,
    *,
    sample: Sample | None = None,
    permutations: int = 0,
    seed: int | None = None,
) -> Independence:
    """Test whether the true answers to two questions are independent.

    Parameters
    ----------
    first, second : Item
        Questions asked of the same people.
    sample : Sample, optional
        The people, by default all alike. With weights the statistic is that of Kish's effective number of people; in a
        complex sample the test is Rao and Scott's of second order.
    permutations : int
        If above 0, the p-value is that among this many random reassignments of the second question's reports to
        people, exact at any number of people. Not for weighted reports, or under a sampling design.
    seed : int, optional
        Of the permutations.

    Returns
    -------
    Independence

    Raises
    ------
    ParameterError
        If the items are not of the same people.

    Notes
    -----
    The chances of the two mechanisms are independent and their channels invertible, so reports are independent
    exactly if the truths are. With ``S`` and ``T`` the covariances of the scores of a report to either question and
    ``C`` the covariance between them, ``X^2 = n tr(S^+ C T^+ C')``, with ``rank(S) rank(T)`` degrees of freedom: under
    independence the elements of ``C`` have the covariance ``S (x) T / n``, and the statistic is the square of their
    distance from 0 in the coordinates in which that is 1.

    For one-value designs with as many reports as truths this is Pearson's chi-squared, which `homogeneity` of cohorts
    is too and for which it names the source, on the table of *reports*:
    ``C = A^-1 (P - p q') B^-T`` and ``S = A^-1 (diag(p) - p p') A^-T``, so ``A`` and ``B`` cancel, and ``diag(1/p)`` is
    a generalised inverse of ``diag(p) - p p'``. Tested are truths, and yet no term is debiased: noise costs power,
    never the level.

    Examples
    --------
    30, 20, 20, 30 reports where 25 are expected: 4 x 5^2 / 25 = 4:

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> one = Item.from_reports("affair", coins, [0] * 50 + [1] * 50)
    >>> other = Item.from_reports("divorce", coins, [0] * 30 + [1] * 20 + [0] * 20 + [1] * 30)
    >>> result = independence(one, other)
    >>> round(result.statistic, 6), result.df, round(result.p_value, 4), result.smallest_expected
    (4.0, 1, 0.0455, 25.0)
    """
    reports = JointReports.from_items((first, second), sample)
    if permutations and reports.sample.is_weighted:
        raise ParameterError("permutations: must be 0 for weighted reports, which cannot be exchanged")
    return independence_of(reports, permutations, seed)


def independence_of(reports: JointReports, permutations: int = 0, seed: int | None = None) -> Independence:
    """The test from reports that were put together; this is what `independence` calls."""
    if as_integer(permutations) is None or permutations < 0:
        raise ParameterError(f"permutations: must be an integer of at least 0, got {describe(permutations)}")
    if seed is not None and (as_integer(seed) is None or seed < 0):
        raise ParameterError(f"seed: must be an integer of at least 0 or None, got {describe(seed)}")
    if len(reports.items) != 2:
        raise ParameterError(f"items: must be 2 questions for a test of independence, got {len(reports.items)}")
    if not reports.n:
        return Independence(math.nan, 0, math.nan, 0.0, None)
    chances = reports.frequencies / reports.frequencies.sum()
    first, second = (_standardised(scores, chances) for scores in reports.scores)
    # n times the squared covariances of coordinates with variance 1: n tr(S^+ C T^+ C').
    statistic = reports.n_effective * float((((first.T * chances) @ second) ** 2).sum())
    df = first.shape[1] * second.shape[1]
    if reports.sample.is_complex and df:
        if permutations:
            raise ParameterError("permutations: must be 0 under a sampling design, whose people cannot be exchanged")
        return _under_design(reports, chances)
    expected = _smallest_expected(reports)
    if not df:  # all reports to one question are the same: nothing can go with them
        return Independence(0.0, 0, 1.0, 0.0, expected)
    if not permutations:
        return Independence(statistic, df, chi_squared_sf(df, statistic), 0.0, expected)
    if reports.n_effective != reports.n or not (reports.frequencies % 1 == 0).all():
        raise ParameterError("permutations: must be 0 for weighted reports, which cannot be exchanged")
    people = np.repeat(np.arange(len(chances)), reports.frequencies.astype(int))
    p, error = _permuted(statistic, first[people], second[people], permutations, seed)
    return Independence(statistic, df, p, error, expected)


def _under_design(reports: JointReports, chances: NDArray[np.float64]) -> Independence:
    """Rao and Scott's test of the same distances.

    Their covariance under the design is taken relative to that of as many people drawn one by one, from the same
    reports: for simple random samples what is left is the test above, but for its `(n - 1) / n`.
    """
    middles = [chances @ scores for scores in reports.scores]
    # The same coordinates as of people drawn one by one, so that the design changes the reference alone.
    axes = [whitening(one_report_covariance(scores.T, chances)) for scores in reports.scores]

    def columns(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return products([(each - middle) @ axis for each, middle, axis in zip(scores, middles, axes, strict=True)])

    distances, covariance = reports.moments(columns)
    one = one_report_covariance(columns(reports.scores).T, chances)
    test = under_design(float(distances @ distances), one, covariance, reports.sample.df)
    return Independence(test.statistic, test.df, test.p_value, 0.0, None, test.df_error)


def under_design(squares: float, one: NDArray[np.float64], covariance: NDArray[np.float64], df: float) -> FTest:
    """Rao and Scott's test of distances, by what the design makes of their covariance.

    `squares` is their squared length in coordinates in which one person drawn alone would have variance 1 under
    independence, `one` the covariance that such a person has by the same reports, and `covariance` that of the design.
    """
    relative = whitening(one)
    # Without full rank no effect can be told from another, so the plain coordinates are taken.
    if relative.shape[1] < len(one):  # such as answers that always go together
        relative = np.eye(len(one))
    return rao_scott(squares, relative.T @ covariance @ relative, df)


def _standardised(scores: NDArray[np.float64], chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores around their mean, uncorrelated with variance 1, shape (combinations, rank)."""
    return np.asarray((scores - chances @ scores) @ whitening(one_report_covariance(scores.T, chances)))


def _permuted(
    statistic: float, first: NDArray[np.float64], second: NDArray[np.float64], permutations: int, seed: int | None
) -> tuple[float, float]:

    chance = np.random.default_rng(seed)
    n = len(first)
    reached = 0
    for _ in range(permutations):
        together = first.T @ second[chance.permutation(n)]
        reached += float((together**2).sum()) / n >= statistic * (1 - 1e-9)  # ties are as extreme
    # The arrangement that was seen is one of those that could be: without it p could be 0.
    p = (reached + 1) / (permutations + 1)
    return p, math.sqrt(p * (1 - p) / permutations)


def _smallest_expected(reports: JointReports) -> float | None:
    if not all(item.design.reports.supports_one for item in reports.items):
        return None
    first, second = (reports.frequencies @ item.supports for item in reports.items)
    # The smallest margin of each question, multiplied as if independent: what the rule of five looks at.
    return float(first[first > 0].min() * second[second > 0].min() / reports.frequencies.sum())


def independence_power(designs: Sequence[AnyDesign], shares: ArrayLike, n: int, level: float = 0.05) -> float:
    """The probability that `independence` rejects, if these are the true joint shares.

    Parameters
    ----------
    designs : two of Design or Mechanism
    shares : array_like, shape (truths of the first question, of the second)
        They add up to 1.
    n : int
        Number of people.
    level : float
        Of the test.

    Raises
    ------
    ParameterError
        If the shares do not add up to 1, or a design's tally does not tell the covariance of its scores (tick boxes).

    Notes
    -----
    The statistic is noncentral chi-squared with ``n tr(S^+ C T^+ C')`` [1]_; the covariance of scores is that of the
    truths, ``C = F - f g'`` with ``f`` and ``g`` the margins of ``F``; ``S`` is the covariance of one report's scores.

    References
    ----------
    .. [1] P. B. Patnaik, "The non-central chi-squared and F-distributions and their applications", Biometrika 36
       (1949), 202-232.

    Examples
    --------
    Shares of yes .3 and .4, so that .24 and .2475 are the variances of a report, and C = .5 - .7 x .6 = .08, which two
    fair coins make .02: 1000 x .02^2 / (.24 x .2475) = 6.73 = 2.595^2.

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> round(independence_power([coins, coins], [[0.5, 0.2], [0.1, 0.2]], 1000), 3)
    0.737
    """
    truth = np.asarray(shares, dtype=float)
    known = [design_of(each) for each in designs]
    sizes = tuple(len(design.truths) for design in known)
    if len(sizes) != 2 or truth.shape != sizes:
        raise ParameterError(f"shares: must be a table of two questions of shape {sizes}, got {truth.shape}")
    if not truth.min() >= 0 or not math.isclose(float(truth.sum()), 1):
        raise ParameterError(f"shares: must be at least 0 and add up to 1, got a sum of {float(truth.sum()):g}")
    # Here and not above: a collector shows crossed questions and loads nothing that plans a study.
    from deniable_statistics.planning.testing import check_level

    check_level(level)
    margins = (truth.sum(axis=1), truth.sum(axis=0))
    first, second = (_axes(design, margin.tolist()) for design, margin in zip(known, margins, strict=True))
    # n times the squared length of this is the noncentrality of the statistic.
    apart = first.T @ (truth - np.outer(*margins)) @ second
    df = first.shape[1] * second.shape[1]
    return noncentral_chi_squared_sf(df, n * float((apart**2).sum()), chi_squared_quantile(df, level))


def _axes(design: Design, shares: list[float]) -> NDArray[np.float64]:

    covariance = design.covariance(design.expected(shares), 1)
    if np.isnan(covariance).any():
        raise ParameterError("designs: must tell the covariance of their scores, which tallies of tick boxes do not")
    return whitening(covariance)
