"""The rows of estimates, comparisons and crosstabs, and the fields that sampling designs add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from deniable_research.output import OPTIONAL
from deniable_statistics.comparison.side_by_side import CohortTest, Figure
from deniable_statistics.intervals import Interval
from deniable_statistics.published.published_rows import EstimateRow


class Measure(NamedTuple):
    """The words for a figure about cohorts, in tables and charts.

    Attributes
    ----------
    title : str
        Heading of its panel in a chart.
    words : str
        Its line in a table, with ``{first}`` and ``{second}`` for the cohorts.
    sign : str
        What stands between two cohorts in a chart.
    equal : float
        Its value if the cohorts do not differ.
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
    "among difference": Measure(
        "difference among those to whom it applies", "{first} \u2212 {second}, of whom it applies to", is_share=True
    ),
    "trend": Measure("slope of the share", "slope for each unit, {first} to {second}", is_share=True),
    "mean difference": Measure("difference of means", "mean, {first} \u2212 {second}"),
    "ratio": Measure("ratio of shares", "{first} / {second}", sign="/", equal=1.0),
}
"""The measures of a comparison that have an estimate, in the order of their panels; the others are tests."""


@dataclass(frozen=True)
class ComparisonRow:
    """One row of a comparison; the fields are the columns of the CSV, in order.

    Attributes
    ----------
    question, option : str
        The question and the option that is compared; no option for means, and for tests of all options together.
    measure : {"difference", "among difference", "ratio", "homogeneity", "trend", "departure", "mean difference"}
        The share of `first` minus that of `second`, or divided by it; the test that all cohorts are equal; the slope of
        the share for each unit; the test of a departure from a straight line; the difference of means.
    first, second : str or None
        The two cohorts, or the first and last of a trend; None for tests of all cohorts.
    estimate, std_error, conf_low, conf_high : float or None
        None for tests. The intervals of the differences between three cohorts or more are simultaneous.
    conf_level : float
    statistic, df, p_value : float or None
        Of a test, chi-squared with `df` degrees of freedom, or F under a sampling design; of an estimate, which has no
        `df`, standard normal, or Student's t under a sampling design.
    p_adjusted : float or None
        Adjusted by Holm's method, for the differences between three cohorts or more.
    method : str
        The method of the interval, or of the test; it begins with ``simultaneous`` where the intervals of all pairs
        hold at once.
    df_error : float or None
        Under a sampling design the degrees of freedom of Student's t, or the denominator degrees of freedom of F.
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
    """The row of a figure about two cohorts, or about all from the first to the last; `ends` replaces its interval."""
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
    """The row of a test, which has no estimate."""
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
    """The scores of cohorts in a test of trend: the numbers that their labels are, or else 0, 1, 2, ...

    >>> places_of(["2020", "2022"]), places_of(["young", "old"])
    ([2020.0, 2022.0], [0.0, 1.0])
    """
    try:
        # Spacing matters: waves of 2014, 2016 and 2022 are not at equal distances.
        return [float(label) for label in labels]
    except ValueError:
        return [float(place) for place in range(len(labels))]


@dataclass(frozen=True)
class CrosstabRow:
    """One row of a crosstab; the fields are the columns of the CSV, in order.

    Attributes
    ----------
    measure : {"joint", "conditional", "independence", "correlation", "odds ratio"}
        The share of people with all these answers, or among the people with the answer to `given`; the test of
        independence; two measures of association.
    first, first_option, second, second_option, third, third_option : str or None
        The columns and answers; a row about columns as a whole has no answers.
    given : str or None
    n : float
        Number of people without a missing value in these columns, or the sum of their weights: see `weighted`.
    estimate, std_error, conf_low, conf_high : float or None
    conf_level : float
    feasible : float or None
        Most likely joint share in [0, 1], all of which add up to 1; None if answers do not exclude each other.
    statistic, df, p_value : float or None
        Of independence, chi-squared with `df` degrees of freedom, or F under a sampling design; of a correlation, which
        has no `df`, standard normal, or Student's t under a sampling design.
    note : str or None
        A remark on this row, such as that expected numbers are small.
    weighted : bool
        Whether people have weights, so that `n` is a sum of weights.
    df_error : float or None
        Under a sampling design the degrees of freedom of the standard error; for the test of independence, which is
        that of Rao and Scott, the denominator degrees of freedom of F.
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
    """One row of estimates under a sampling design; the fields follow those of `EstimateRow` in the CSV.

    Attributes
    ----------
    df : float or None
        Degrees of freedom of the standard error: the sampling units minus the strata that hold somebody who answered,
        or the degrees of freedom of the replicate weights.
    design_effect : float or None
        Variance of the estimate divided by that under simple random sampling of as many people; both variances include
        the noise of the devices. None where it is not known.
    """

    df: float | None = None
    design_effect: float | None = None
