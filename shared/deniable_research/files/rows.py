"""The lines of estimates, comparisons and crosstabs, and what sampling designs add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from deniable_research.output import OPTIONAL
from deniable_statistics.comparison.side_by_side import CohortTest, Figure
from deniable_statistics.intervals import Interval
from deniable_statistics.published.published_rows import EstimateRow


class Measure(NamedTuple):
    """A figure about cohorts, as tables and charts say it.

    Attributes
    ----------
    title : str
        Heading of its panel in a chart.
    words : str
        Its line in a table, with ``{first}`` and ``{second}`` for the cohorts.
    sign : str
        What stands between two cohorts in a chart.
    equal : float
        Its value where cohorts are alike.
    is_share : bool
        Whether it is a share, or a difference of shares, which people read in percent.
    """

    title: str
    words: str
    sign: str = "\u2212"
    equal: float = 0.0
    is_share: bool = False


MEASURES = {
    "difference": Measure("difference of shares", "{first} \u2212 {second}", is_share=True),
    "trend": Measure("slope of the share", "slope for each unit, {first} to {second}", is_share=True),
    "mean difference": Measure("difference of means", "mean, {first} \u2212 {second}"),
    "ratio": Measure("ratio of shares", "{first} / {second}", sign="/", equal=1.0),
}
"""The measures of a comparison that have an estimate, in the order of their panels; the others are tests."""


@dataclass(frozen=True)
class ComparisonRow:
    """One line of a comparison; the fields are the columns of the CSV, in order.

    Attributes
    ----------
    question, option : str
        What is compared; the option is empty where all of them are tested together, and for means.
    measure : {"difference", "ratio", "homogeneity", "trend", "departure", "mean difference"}
        `first` minus `second`, or over it; all cohorts at once; the slope of the share for each unit; what a straight
        line leaves.
    first, second : str or None
        The cohorts; None where all are meant.
    estimate, std_error, conf_low, conf_high : float or None
        None where a line is a test only. With three cohorts or more the intervals of differences hold together.
    conf_level : float
    statistic, df, p_value : float or None
        Chi-squared where there are degrees of freedom, else standard normal.
    p_adjusted : float or None
        By Holm's method for the differences of three cohorts or more.
    method : str
        The method of the interval, or of the test.
    df_error : float or None
        Under a sampling design: degrees of freedom of Student's statistic, or the second ones of F where `df` holds the
        first.
    """

    question: str
    option: str = ""
    measure: str = ""
    first: str | None = None
    second: str | None = None
    estimate: float | None = None
    std_error: float | None = None
    conf_low: float | None = None
    conf_high: float | None = None
    conf_level: float = 0.95
    statistic: float | None = None
    df: int | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    method: str = ""
    df_error: float | None = field(default=None, metadata=OPTIONAL)


def compared(
    about: ComparisonRow, measure: str, cohorts: Sequence[str], figure: Figure, ends: Interval | None = None
) -> ComparisonRow:
    """A line about two cohorts, or about all from the first to the last; by default with the interval at its level."""
    low, high = ends or figure.confidence_interval(about.conf_level)
    return replace(
        about,
        measure=measure,
        first=cohorts[0],
        second=cohorts[1],
        estimate=figure.estimate,
        std_error=figure.std_error,
        conf_low=low,
        conf_high=high,
        statistic=figure.statistic,
        p_value=figure.p_value,
        method=figure.method,
        df_error=figure.df_error,
    )


def tested(about: ComparisonRow, measure: str, test: CohortTest) -> ComparisonRow:
    """A line that is a test only."""
    return replace(
        about,
        measure=measure,
        statistic=test.statistic,
        df=test.df,
        p_value=test.p_value,
        method=test.method,
        df_error=test.df_error,
    )


def places_of(labels: Sequence[str]) -> list[float]:
    """Where cohorts stand on a line: at their numbers if their labels are numbers, else at 0, 1, 2, ...

    >>> places_of(["2020", "2022"]), places_of(["young", "old"])
    ([2020.0, 2022.0], [0.0, 1.0])
    """
    try:
        return [float(label) for label in labels]
    except ValueError:
        return [float(place) for place in range(len(labels))]


@dataclass(frozen=True)
class CrosstabRow:
    """One line of a crosstab; the fields are the columns of the CSV, in order.

    Attributes
    ----------
    measure : {"joint", "conditional", "independence", "correlation", "odds ratio"}
        Share of people with all these answers, or among those with the answer to `given`; a test; how strongly two
        columns go together.
    first, first_option, second, second_option, third, third_option : str or None
        The columns and answers; a line about columns as a whole has no options.
    given : str or None
    n : float
        People with a report to each question, or the sum of their weights: see `weighted`.
    estimate, std_error, conf_low, conf_high : float or None
    conf_level : float
    feasible : float or None
        Most likely joint shares that add up to 1; none where answers do not exclude each other.
    statistic, df, p_value : float or None
        Chi-squared where there are degrees of freedom, else standard normal.
    note : str or None
        What to know about this line.
    weighted : bool
        Whether people have weights, so that `n` is the sum of theirs.
    df_error : float or None
        Under a sampling design: degrees of freedom of errors; of Rao and Scott's test of independence the second ones
        of F, where `df` holds the first.
    """

    measure: str
    first: str
    first_option: str | None = None
    second: str = ""
    second_option: str | None = None
    third: str | None = None
    third_option: str | None = None
    given: str | None = None
    n: float = 0
    estimate: float | None = None
    std_error: float | None = None
    conf_low: float | None = None
    conf_high: float | None = None
    conf_level: float = 0.95
    feasible: float | None = None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None
    note: str | None = None
    weighted: bool = False
    df_error: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, kw_only=True)
class SampledEstimateRow(EstimateRow):
    """A line of estimates under a sampling design.

    Attributes
    ----------
    df : float or None
        Degrees of freedom of the error: sampling units minus strata that hold somebody who answered, or those of the
        replicates. None of corrected shares, whose errors are those of people drawn one by one.
    design_effect : float or None
        Variance of a share over that of as many people drawn one by one; what the devices added is in both.
    """

    df: float | None = None
    design_effect: float | None = None
