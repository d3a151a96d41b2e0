"""The lines of comparisons."""

from __future__ import annotations

from dataclasses import dataclass


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
        Of the interval, or of the test.
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
