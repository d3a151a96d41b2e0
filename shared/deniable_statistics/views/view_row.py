"""A row of a view, what a view shows, and what both kinds of views share: those of one question and of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from deniable.errors import ParameterError
from deniable.mechanisms.support import Support
from deniable.survey.question import Question
from deniable.wire.space import Value
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals import Interval
from deniable_statistics.published.charts import Axis
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow
from deniable_statistics.views.shown import axis_of, is_weak, shown_point

MOST_CROSSED_CELLS = 200
"""Largest number of cells of two crossed questions, whose intervals take up to 20 ms each."""


POSSIBLE_DIFFERENCES = Axis(-1.0, 1.0, is_percent=True, is_of_differences=True)
"""The axis of differences of shares."""


JointCounts: TypeAlias = Sequence[tuple[Value, Value, int]]
"""How many reports hold each pair of values of two questions."""


@dataclass(frozen=True)
class ViewRow:
    """One figure of a view. The fields are the columns of its CSV, in order.

    Attributes
    ----------
    question : str
    statistic : str
        ``share``, ``mean``, ``among`` (a share among those to whom a question with a filter applies), ``difference``
        (of shares), ``mean difference``, ``row share``: among the people whose answer to the question `given` is
        `given_option`, or ``row difference``: of two row shares.
    option : str
        Empty for a mean.
    cohort, minus : str or None
        The cohort; of a difference the one from which that of `minus` is taken. Of a difference of row shares `minus`
        is the answer to `given` whose share is taken from that of `given_option`.
    wave : str or None
        The address of the survey, where several that ask the question are shown; or the number of the release.
    given, given_option : str or None
    n, count : int or None
        Reports with information on the figure, and those that support it, where one count tells it. Of a row share they
        are all that hold both questions, and those that support both answers.
    a, b : float or None
        Probability that a report supports the option if it is the truth, and if another one is.
    value, low, high : float or None
        What pages show: a possible value, and its interval as far as that is possible.
    weak : bool
        Whether the interval is too wide for `value` to be quoted.
    estimate, std_error : float or None
        The unbiased estimate, which may be impossible, and its standard error.
    conf_low, conf_high, conf_level, method
        The interval as it was computed, its level and its method; those of differences hold simultaneously, and
        ``conditional`` is `deniable_statistics.joint.conditional.Conditional.confidence_interval`.
    assumed_fake : float or None
        The share of all reports that may be fake, for any of which the interval is valid; None where none is assumed.
    """

    question: str
    statistic: str
    option: str
    cohort: str | None
    minus: str | None
    wave: str | None
    given: str | None
    given_option: str | None
    n: int | None
    count: int | None
    a: float | None
    b: float | None
    value: float | None
    low: float | None
    high: float | None
    weak: bool
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    method: str
    assumed_fake: float | None = None


@dataclass(frozen=True)
class ViewOptions:
    """What a view shows.

    Parameters
    ----------
    by_cohort : bool
        Whether each cohort has its rows.
    compare : bool
        Whether the differences of cohorts are shown.
    against : str, optional
        The cohort from which the others differ; by default every two cohorts are compared.
    crossed_with : str, optional
        The id of another question, among whose answers the shares are shown.
    over_time : bool
        Whether the shares of all surveys that ask the question are shown, or those of all releases.
    wanted : EstimateOptions
        How shares are estimated; of differences and crossed shares the confidence level alone can be chosen.
    """

    by_cohort: bool = False
    compare: bool = False
    against: str | None = None
    crossed_with: str | None = None
    over_time: bool = False
    wanted: EstimateOptions = field(default_factory=EstimateOptions)

    def __post_init__(self) -> None:
        if self.crossed_with is not None and (self.compare or self.by_cohort):
            raise ParameterError("with: must not go with cohorts; choose one of the two")
        if self.over_time and (self.compare or self.by_cohort or self.crossed_with is not None):
            raise ParameterError("over: must not go with cohorts, nor with another question; choose one of them")
        if self.against is not None and not self.compare:
            raise ParameterError("against: must go with compare")
        if not self.is_of_shares and self.wanted != EstimateOptions(self.confidence_level):
            raise ParameterError("compare, with: must go with no other option of estimates than the confidence level")

    @property
    def is_of_shares(self) -> bool:
        """Whether shares and means are shown as they are, neither compared nor crossed."""
        return not self.compare and self.crossed_with is None

    @property
    def confidence_level(self) -> float:
        """The confidence level of all intervals."""
        return self.wanted.confidence_level


def share_view(question: Question, row: EstimateRow) -> ViewRow:
    """An estimate as views show it."""
    axis = axis_of(question, row.statistic)
    shown = shown_values(shown_point(row, axis), Interval(row.conf_low, row.conf_high), axis)
    return ViewRow(
        question=row.question,
        statistic=row.statistic,
        option=row.option,
        cohort=row.cohort,
        minus=None,
        wave=None,
        given=None,
        given_option=None,
        n=row.n,
        count=None if row.count is None else int(row.count),
        a=row.a,
        b=row.b,
        **shown,
        weak=is_weak(row, axis),
        estimate=row.estimate,
        std_error=row.std_error,
        conf_low=row.conf_low,
        conf_high=row.conf_high,
        conf_level=row.conf_level,
        method=row.method,
        assumed_fake=row.assumed_fake,
    )


def shown_values(point: float | None, interval: Interval, axis: Axis) -> dict[str, float | None]:
    """The fields `value`, `low` and `high`: None where nothing of the interval is possible."""
    if point is None:
        return {"value": None, "low": None, "high": None}
    low, high = max(interval.low, axis.low), min(interval.high, axis.high)
    # A point outside of the interval, such as a cut one, is shown at its nearer end.
    return {"value": min(max(point, low), high), "low": low, "high": high}


def support_of(question: Question, option: int) -> Support | None:
    """The two probabilities of an option's support, where its count is one binomial; else None."""
    supports = supports_of(question)
    return None if supports is None else supports[option]


def supports_of(question: Question) -> Sequence[Support] | None:
    """The two probabilities of each option's support, where its count is one binomial; else None."""
    return design_of(question.mechanism).binomial_supports if question.has_shares else None


def is_asked_of_others(first: Question, second: Question) -> bool:
    """Whether no device asks both questions, because it draws one of their group."""
    return first.group is not None and first.group == second.group and first.group.draw == 1


def shares_a_response(first: Question, second: Question) -> bool:
    """Whether the answers to both questions go into one joint response."""
    return first.group is not None and first.group.joint is not None and first.group == second.group


def refusal_to_cross(first: Question, second: Question) -> str | None:
    """Why two questions cannot be crossed; None if they can."""
    if first.id == second.id:
        return "must be two different questions"
    for each in (first, second):
        if not each.has_shares:
            return f"must have shares, and {each.id!r} has a mean alone"
    if is_asked_of_others(first, second):
        return "must be asked of the same people, and each device asks one question of this group"
    if shares_a_response(first, second):
        return (
            "must not be a question of the same response, whose chance is the same; "
            "'deniable analyze crosstab' crosses these from reports.csv"
        )
    if len(first.options) * len(second.options) > MOST_CROSSED_CELLS:
        return f"must have at most {MOST_CROSSED_CELLS} pairs of answers"
    return None
