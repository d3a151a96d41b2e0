"""The difference between two cohorts of a share, or a mean, among those to whom a question with a filter applies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable_statistics.comparison.cut_limits import CutLimits, distances, together
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.intervals import Interval, t_quantile, t_two_sided


@dataclass(frozen=True)
class AmongDifference:
    """A share, or the mean, among those to whom a question applies in one cohort, minus that in another.

    Attributes
    ----------
    first, second : AmongEstimate or AmongMean
        Of different people.
    option : int or None
        The option whose share is compared; None for means.
    correlation : float
        Of both figures: cohorts of one sample covary where clusters hold people of both.
    df : float
        Degrees of freedom of both together, under a sampling design.

    Notes
    -----
    The interval is Zou and Donner's MOVER [1]_ on the score intervals of both cohorts. A limit that is cut to the
    possible range is taken as far away as a normal one, because a ratio of estimates may lie beyond the range. Where in
    a cohort the question may apply to nobody, nothing can be said, and the interval is all that is possible.
    The test is Wald's, by the errors of both ratios. Figures that covary have covariances of the limits with the same
    correlation [2]_.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27 (2008), 1693-1702.
    .. [2] G. Y. Zou, "Toward using confidence intervals to compare correlations", Psychological Methods 12 (2007),
       399-413.

    Examples
    --------
    >>> from deniable import KAry
    >>> mechanism = KAry.from_epsilon(3, 2)
    >>> cohorts = [AmongEstimate.from_counts(mechanism, counts) for counts in ([330, 250, 420], [250, 330, 420])]
    >>> found = AmongDifference(*cohorts, 0)
    >>> round(found.difference, 3), [round(end, 3) for end in found.confidence_interval()]
    (0.218, [0.127, 0.307])
    """

    first: AmongEstimate | AmongMean
    second: AmongEstimate | AmongMean
    option: int | None
    correlation: float = 0.0
    df: float = math.inf

    @property
    def difference(self) -> float:
        """The difference of the two estimates; NaN where the question may apply to nobody in a cohort."""
        return _value(self.first, self.option) - _value(self.second, self.option)

    @property
    def std_error(self) -> float:
        """Its standard error."""
        return together(_error(self.first, self.option), _error(self.second, self.option), self.correlation)

    @property
    def statistic(self) -> float:
        """Standard normal if both are equal."""
        return self.difference / self.std_error if self.std_error else math.nan

    @property
    def p_value(self) -> float:
        """Two-sided, that both are equal."""
        return t_two_sided(self.statistic, self.df)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval, cut to what is possible."""
        reach = 1.0 if self.option is not None else _range(self.first)[1] - _range(self.first)[0]
        if math.isnan(self.difference):
            return Interval(-reach, reach)
        first, second = (self._limits(each, confidence_level) for each in (self.first, self.second))
        below, above = distances(first, second, t_quantile(confidence_level, self.df), self.correlation)
        return Interval(self.difference - below, self.difference + above).cut(-reach, reach)

    def _limits(self, cohort: AmongEstimate | AmongMean, level: float) -> CutLimits:
        possible = Interval(0.0, 1.0) if self.option is not None else Interval(*_range(cohort))
        limits = _interval(cohort, self.option, level)
        return CutLimits(_value(cohort, self.option), _error(cohort, self.option), limits, possible)


def _value(cohort: AmongEstimate | AmongMean, option: int | None) -> float:
    if isinstance(cohort, AmongMean):
        return cohort.mean
    assert option is not None
    return cohort.share[option]


def _error(cohort: AmongEstimate | AmongMean, option: int | None) -> float:
    if isinstance(cohort, AmongMean):
        return cohort.std_error
    assert option is not None
    return cohort.std_error[option]


def _interval(cohort: AmongEstimate | AmongMean, option: int | None, level: float) -> Interval:
    if isinstance(cohort, AmongMean):
        return cohort.confidence_interval(level)
    assert option is not None
    return cohort.option_interval(option, level)


def _range(cohort: AmongEstimate | AmongMean) -> tuple[float, float]:
    return (cohort.lowest, cohort.lowest + cohort.width) if isinstance(cohort, AmongMean) else (0.0, 1.0)
