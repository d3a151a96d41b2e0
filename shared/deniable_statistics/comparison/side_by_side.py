"""What a comparison asks of its cohorts, whether their people were drawn one by one or by a sampling design."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from deniable_statistics.comparison.difference import Difference, difference
from deniable_statistics.comparison.homogeneity import homogeneity
from deniable_statistics.comparison.ratio import Ratio, ratio
from deniable_statistics.comparison.trend import Trend, trend
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval
from deniable_statistics.sampling.estimates import t_quantile, t_two_sided


@dataclass(frozen=True)
class Figure:
    """A figure about cohorts, with a test that they are alike.

    Attributes
    ----------
    estimate, std_error : float
    statistic : float
        Student's where there is `df_error`, else standard normal; NaN without an error.
    p_value : float
        Two-sided, that cohorts are alike.
    method : str
        How `confidence_interval` is made.
    confidence_interval : callable
        From a confidence level to the interval.
    df_error : float or None
        Degrees of freedom of the error under a sampling design.
    """

    estimate: float
    std_error: float
    statistic: float
    p_value: float
    method: str
    confidence_interval: Callable[[float], Interval] = field(repr=False)
    df_error: float | None = None


class CohortTest(NamedTuple):
    """A test that cohorts are alike: chi-squared, or F where there are `df_error` too."""

    statistic: float
    df: int
    p_value: float
    method: str
    df_error: float | None = None


class Cohorts(ABC):
    """The shares of one question in several cohorts."""

    @abstractmethod
    def difference(self, first: int, second: int, option: int) -> Figure:
        """The share of an option in one cohort minus that in another."""

    @abstractmethod
    def ratio(self, first: int, second: int, option: int) -> Figure:
        """The share of an option in one cohort over that in another."""

    @abstractmethod
    def homogeneity(self, option: int | None = None) -> CohortTest:
        """The test that the shares of an option, or of all of them, are the same in all cohorts."""

    @abstractmethod
    def trend(self, places: Sequence[float], option: int) -> tuple[Figure, CohortTest | None]:
        """The slope of a share over cohorts that stand at different places, and the test of what a line leaves."""


@dataclass(frozen=True)
class IndependentCohorts(Cohorts):
    """Cohorts of different people who were drawn one by one, so that their estimates are independent."""

    estimates: tuple[Estimate, ...]

    def difference(self, first: int, second: int, option: int) -> Figure:
        """Exact or by score, see `deniable_statistics.comparison.difference`."""
        found = difference(self.estimates[first], self.estimates[second], option)
        return _figure(found, found.difference)

    def ratio(self, first: int, second: int, option: int) -> Figure:
        """By the limits of both shares, see `deniable_statistics.comparison.ratio`."""
        found = ratio(self.estimates[first], self.estimates[second], option)
        return _figure(found, found.ratio)

    def homogeneity(self, option: int | None = None) -> CohortTest:
        """By score where the design is one, see `deniable_statistics.comparison.homogeneity`."""
        found = homogeneity(self.estimates, option)
        return CohortTest(found.statistic, found.df, found.p_value, found.test)

    def trend(self, places: Sequence[float], option: int) -> tuple[Figure, CohortTest | None]:
        """By Cochran and Armitage's test, see `deniable_statistics.comparison.trend`."""
        found = trend(self.estimates, option, places)
        departure = (found.departure, found.departure_df, found.departure_p_value, found.test)
        return _figure(found, found.slope), CohortTest(*departure) if found.departure_df else None


def _figure(found: Difference | Ratio | Trend, estimate: float) -> Figure:
    return Figure(estimate, found.std_error, found.statistic, found.p_value, found.method, found.confidence_interval)


def mean_difference(apart: float, error: float, df_error: float) -> Figure:
    """The mean of one cohort minus that of another under a sampling design, by Student's test."""
    statistic = apart / error if error else math.nan

    def interval(confidence_level: float) -> Interval:
        reach = t_quantile(confidence_level, df_error) * error
        return Interval(apart - reach, apart + reach)

    return Figure(apart, error, statistic, t_two_sided(statistic, df_error), "t", interval, df_error)
