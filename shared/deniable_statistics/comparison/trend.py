"""A trend of one share over cohorts in an order, such as waves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from deniable.errors import ParameterError
from deniable_statistics.classical.derived import place_of
from deniable_statistics.comparison.cohorts import check_cohorts, is_binomial, limits, of_option
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.comparison.null import common_share
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, check_confidence_level, two_sided
from deniable_statistics.special.chi_squared import chi_squared_sf


@dataclass(frozen=True)
class Trend:
    """The straight line through the shares of cohorts that stand at different places, such as years.

    Attributes
    ----------
    slope : float
        Change of the share for each unit of `scores`. NaN if fewer than two places have reports.
    std_error : float
    statistic : float
        Standard normal if the share is the same everywhere; has the sign of the slope.
    p_value : float
        Two-sided, that there is no trend.
    departure : float
        What is left of the chi-squared statistic of homogeneity: how far the shares are from a straight line.
    departure_df : int
        Degrees of freedom of that: cohorts with reports minus 2.
    departure_p_value : float
    test : str
        ``score`` or ``wald``.
    cohorts : tuple of Estimate
        Those with reports.
    option : int
    coefficients : tuple of float
        What each cohort's share is multiplied with in the slope.
    """

    slope: float
    std_error: float
    statistic: float
    p_value: float
    departure: float
    departure_df: int
    departure_p_value: float
    test: str
    cohorts: tuple[Estimate, ...] = field(repr=False)
    option: int
    coefficients: tuple[float, ...] = field(repr=False)

    @property
    def method(self) -> str:
        """How `confidence_interval` is made: ``mover``, or ``wald`` where a count is not binomial."""
        return "mover" if all(map(is_binomial, self.cohorts)) else "wald"

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval of the slope; infinite where there is none."""
        check_confidence_level(confidence_level)
        if math.isnan(self.slope):
            return Interval(-math.inf, math.inf)
        shares = [cohort.share[self.option] for cohort in self.cohorts]
        ends = [limits(cohort, self.option, confidence_level) for cohort in self.cohorts]
        return linear_interval(self.coefficients, shares, ends)


def trend(estimates: Sequence[Estimate], option: int | str = 1, scores: Sequence[float] | None = None) -> Trend:
    """Test for a trend over cohorts, and estimate it.

    Parameters
    ----------
    estimates : sequence of Estimate
        One for each cohort; their designs may differ. Empty ones are left out.
    option : int or str
        As for `deniable_statistics.comparison.difference`.
    scores : sequence of float, optional
        The position of each cohort, such as its year; by default 0, 1, 2, ...

    Returns
    -------
    Trend

    Raises
    ------
    ParameterError
        If there are fewer than two cohorts, or the scores do not fit or are all the same.

    Notes
    -----
    The slope is that of weighted least squares on the unbiased shares, ``sum w_i (x_i - x) f_i / sum w_i (x_i - x)^2``
    with ``1 / w_i`` the variance of ``f_i`` if all shares are the same. With one design for all cohorts ``w_i`` is
    proportional to ``n_i``: it does not depend on the answers, so the slope is unbiased. Divided by its error under
    that hypothesis it is the test of Cochran [1]_ and Armitage [2]_ on the *reports*, because debiasing multiplies
    slope and error by the same number. Its square is one part of the chi-squared statistic of homogeneity, and the
    rest tells how far the shares are from a straight line. The interval is that of a linear combination of shares,
    from Clopper-Pearson's limits.

    References
    ----------
    .. [1] W. G. Cochran, "Some methods for strengthening the common chi-squared tests", Biometrics 10 (1954), 417-451.
    .. [2] P. Armitage, "Tests for linear trends in proportions and frequencies", Biometrics 11 (1955), 375-386.

    Examples
    --------
    Three waves of equal size: the slope is half of the last share minus the first.

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> waves = [coins.estimate([1000 - yes, yes]) for yes in (350, 380, 420)]
    >>> result = trend(waves, scores=[2024, 2025, 2026])
    >>> round(result.slope, 4), round(result.statistic, 3), round(result.p_value, 4)
    (0.07, 3.219, 0.0013)
    >>> [round(end, 4) for end in result.confidence_interval()]
    [0.0267, 0.1131]
    """
    cohorts = check_cohorts(estimates)
    cohorts, position = of_option(cohorts, place_of(option, cohorts[0]))
    places = _check_scores(scores, len(cohorts))
    places = [x for x, cohort in zip(places, cohorts, strict=True) if cohort.n]
    cohorts = tuple(cohort for cohort in cohorts if cohort.n)
    if len(set(places)) < 2:
        nothing = (math.nan,) * len(cohorts)
        nan = math.nan
        return Trend(nan, nan, nan, nan, nan, 0, nan, "score", cohorts, position, nothing)
    null = common_share(cohorts, position)
    # Without any variance all reports of all cohorts are the same, and weights do not matter.
    known = all(variance > 0 for variance in null.variances)
    # Inverse variances under equal shares, as in Cochran and Armitage's test.
    weights = [1 / each for each in null.variances] if known else [cohort.n_effective for cohort in cohorts]
    middle = math.fsum(w * x for w, x in zip(weights, places, strict=True)) / math.fsum(weights)
    # Slope of weighted least squares: sum of c_i f_i with c_i = w_i (x_i - x) / sum w (x - x)^2.
    square = math.fsum(w * (x - middle) ** 2 for w, x in zip(weights, places, strict=True))
    coefficients = tuple(w * (x - middle) / square for w, x in zip(weights, places, strict=True))
    slope = math.fsum(c * share for c, share in zip(coefficients, null.shares, strict=True))
    # Two errors: with each cohort's own variance for the interval, with that of equal shares for the test.
    error = math.hypot(*(c * cohort.std_error[position] for c, cohort in zip(coefficients, cohorts, strict=True)))
    null_error = math.hypot(*(c * math.sqrt(v) for c, v in zip(coefficients, null.variances, strict=True)))
    statistic = slope / null_error if null_error > 0 else 0.0
    # Chi-squared of homogeneity is that of the slope plus that of the distances from the line.
    departure, df = max(null.statistic - statistic**2, 0.0), len(cohorts) - 2
    departure_p = chi_squared_sf(df, departure) if df else math.nan
    return Trend(
        slope,
        error,
        statistic,
        two_sided(statistic),
        departure,
        df,
        departure_p,
        null.test,
        cohorts,
        position,
        coefficients,
    )


def _check_scores(scores: Sequence[float] | None, cohorts: int) -> list[float]:
    places = [float(x) for x in (range(cohorts) if scores is None else scores)]
    if len(places) != cohorts or not all(map(math.isfinite, places)):
        raise ParameterError(f"scores: must be {cohorts} finite numbers, one for each cohort, got {len(places)}")
    if len(set(places)) < 2:
        raise ParameterError(f"scores: must not all be the same, got {places[0]:g} only")
    return places
