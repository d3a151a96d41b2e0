"""The difference between two cohorts of a share, or a mean, among those to whom a question with a filter applies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.intervals import Interval, two_sided

METHOD = "mover"
"""Name of the method of these intervals."""


@dataclass(frozen=True)
class AmongDifference:
    """A share, or the mean, among those to whom a question applies in one cohort, minus that in another.

    Attributes
    ----------
    first, second : AmongEstimate or AmongMean
        Of different people.
    option : int or None
        The option whose share is compared; None for means.

    Notes
    -----
    The interval is Zou and Donner's MOVER [1]_ on the score intervals of both cohorts. Where in one of them the
    question may apply to nobody, nothing can be said, and the interval is all that is possible. The test is Wald's, by
    the errors of both ratios.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27 (2008), 1693-1702.

    Examples
    --------
    >>> from deniable import KAry
    >>> mechanism = KAry.from_epsilon(3, 2)
    >>> cohorts = [AmongEstimate.from_counts(mechanism, counts) for counts in ([330, 250, 420], [250, 330, 420])]
    >>> found = AmongDifference(*cohorts, 0)
    >>> round(found.difference, 3), [round(end, 3) for end in found.confidence_interval()]
    (0.219, [0.129, 0.305])
    """

    first: AmongEstimate | AmongMean
    second: AmongEstimate | AmongMean
    option: int | None

    @property
    def difference(self) -> float:
        """The difference of the two estimates; NaN where the question may apply to nobody in a cohort."""
        return _value(self.first, self.option) - _value(self.second, self.option)

    @property
    def std_error(self) -> float:
        """Its standard error."""
        return math.hypot(_error(self.first, self.option), _error(self.second, self.option))

    @property
    def statistic(self) -> float:
        """Standard normal if both are equal."""
        return self.difference / self.std_error if self.std_error else math.nan

    @property
    def p_value(self) -> float:
        """Two-sided, that both are equal."""
        return two_sided(self.statistic)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval, cut to what is possible."""
        reach = 1.0 if self.option is not None else _width(self.first)
        if math.isnan(self.difference):
            return Interval(-reach, reach)
        ends = [_interval(each, self.option, confidence_level) for each in (self.first, self.second)]
        # The estimate of a ratio may be impossible, but not what its interval is about.
        near = [
            min(max(_value(each, self.option), low), high) for each, (low, high) in zip(self._both, ends, strict=True)
        ]
        return linear_interval((1, -1), near, ends).cut(-reach, reach)

    @property
    def _both(self) -> tuple[AmongEstimate | AmongMean, AmongEstimate | AmongMean]:
        return self.first, self.second


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


def _width(cohort: AmongEstimate | AmongMean) -> float:
    return cohort.width if isinstance(cohort, AmongMean) else 1.0
