"""What a comparison asks of its cohorts, whether their people were drawn one by one or by a sampling design."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from deniable_research.comparison.difference import difference
from deniable_research.comparison.homogeneity import homogeneity
from deniable_research.comparison.ratio import ratio
from deniable_research.comparison.trend import trend
from deniable_research.sampling.estimates import t_quantile, t_two_sided
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval


class Figure(Protocol):
    """A figure about cohorts, with a test that they are alike: Student's where there is `df_error`, else normal."""

    @property
    def estimate(self) -> float: ...
    @property
    def std_error(self) -> float: ...
    @property
    def statistic(self) -> float: ...
    @property
    def p_value(self) -> float: ...
    @property
    def df_error(self) -> float | None: ...
    @property
    def method(self) -> str: ...
    def interval(self, confidence_level: float = 0.95) -> Interval: ...


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
        """Exact or by score, see `deniable_research.comparison.difference`."""
        return difference(self.estimates[first], self.estimates[second], option)

    def ratio(self, first: int, second: int, option: int) -> Figure:
        """See `deniable_research.comparison.ratio`."""
        return ratio(self.estimates[first], self.estimates[second], option)

    def homogeneity(self, option: int | None = None) -> CohortTest:
        """See `deniable_research.comparison.homogeneity`."""
        found = homogeneity(self.estimates, option)
        return CohortTest(found.statistic, found.df, found.p_value, found.test)

    def trend(self, places: Sequence[float], option: int) -> tuple[Figure, CohortTest | None]:
        """See `deniable_research.comparison.trend`."""
        found = trend(self.estimates, option, places)
        departure = (found.departure, found.departure_df, found.departure_p_value, found.test)
        return found, CohortTest(*departure) if found.departure_df else None


@dataclass(frozen=True)
class MeanDifference:
    """The mean of one cohort minus that of another, with Wald's normal or Student's test and interval.

    Attributes
    ----------
    estimate, std_error : float
    df_error : float or None
        Degrees of freedom of Student's test; None for a normal one.
    """

    estimate: float
    std_error: float
    df_error: float | None = None

    @property
    def method(self) -> str:
        """How `interval` is made."""
        return "wald" if self.df_error is None else "t"

    @property
    def statistic(self) -> float:
        """The difference in standard errors; NaN without an error."""
        return self.estimate / self.std_error if self.std_error else math.nan

    @property
    def p_value(self) -> float:
        """Two-sided, that the means are equal."""
        return t_two_sided(self.statistic, self._df)

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval, not cut."""
        reach = t_quantile(confidence_level, self._df) * self.std_error
        return Interval(self.estimate - reach, self.estimate + reach)

    @property
    def _df(self) -> float:
        return math.inf if self.df_error is None else self.df_error
