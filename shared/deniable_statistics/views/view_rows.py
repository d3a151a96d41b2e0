"""Views of one question: its shares, by cohort, the differences of cohorts, or its shares among answers to another one.

Pages, files, figures and `deniable verify` show the same rows, which are computed here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from deniable.errors import ParameterError, describe
from deniable.mechanisms.support import Support
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire.space import Value
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.intervals import Interval, level_of_each
from deniable_statistics.published.charts import Axis
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow, estimate, number_or_none
from deniable_statistics.views.shown import TOO_WIDE, axis_of, is_wide, shown_point

MOST_DIFFERENCES = 300
"""Largest number of differences of a view; with more, each interval is so wide that it tells nothing."""

MOST_CROSSED_CELLS = 200
"""Largest number of cells of two crossed questions, whose intervals take up to 20 ms each."""

POSSIBLE_DIFFERENCES = Axis(-1.0, 1.0, is_percent=True)
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


def view_of(
    survey: Survey,
    tallies: Mapping[str | None, Tally],
    question: str,
    options: ViewOptions = ViewOptions(),  # a frozen value
    joint: JointCounts = (),
) -> list[ViewRow]:
    """The rows of a view.

    Parameters
    ----------
    survey : Survey
    tallies : mapping of cohort to Tally
    question : str
        Id of the question.
    options : ViewOptions
    joint : sequence of (value, value, number)
        Pairs of values of the question and of ``options.crossed_with``, where that is given.

    Raises
    ------
    ParameterError
        If the survey cannot be seen so: without cohorts, with too many of them, or with questions whose answers
        cannot be crossed.
    """
    asked = survey.question(question)
    if options.crossed_with is not None:
        from deniable_statistics.views.crossed import crossed_rows  # where it is used: a collector starts without it

        return crossed_rows(asked, survey.question(options.crossed_with), joint, options)
    if options.compare:
        return _differences(survey, asked, tallies, options)
    rows = estimate(tallies, survey, by_cohort=options.by_cohort, only=question, **vars(options.wanted))
    return [share_view(asked, row) for row in rows]


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
        weak=row.estimate is None or is_wide(row.conf_low, row.conf_high, axis),
        estimate=row.estimate,
        std_error=row.std_error,
        conf_low=row.conf_low,
        conf_high=row.conf_high,
        conf_level=row.conf_level,
        method=row.method,
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
    design = design_of(question.mechanism)
    found = design.binomials(design.expected_if_even, 1) if question.has_shares else None
    return None if found is None else found[option].support


def _differences(
    survey: Survey, question: Question, tallies: Mapping[str | None, Tally], options: ViewOptions
) -> list[ViewRow]:
    """Differences of every two cohorts, or of each from one, by intervals that hold all of them at once."""
    from deniable_statistics.comparison.difference import difference
    from deniable_statistics.comparison.side_by_side import mean_difference

    if refusal := refusal_to_compare(question):
        raise ParameterError(f"compare: {refusal}")
    # Cohorts without reports would make every interval wider and have none themselves.
    known = [cohort for cohort in survey.cohorts if cohort in tallies and tallies[cohort].n]
    pairs = _pairs(known, options.against)
    chosen = _compared_options(question)
    mean = mean_values(question)
    m = len(pairs) * (len(chosen) + (mean is not None))
    if m > MOST_DIFFERENCES:
        raise ParameterError(
            f"compare: must be at most {MOST_DIFFERENCES} differences at once, got {m}; "
            "name one cohort with which the others are compared"
        )
    if not m:
        return []
    # Bonferroni over all pairs and options: all intervals of the view hold at once.
    level = level_of_each(options.confidence_level, m)
    rows: list[ViewRow] = []
    if chosen:
        estimates = {cohort: _estimate(question, tallies[cohort]) for cohort in known}
        for (first, second), option in itertools.product(pairs, chosen):
            found = difference(estimates[first], estimates[second], option)
            rows.append(
                _difference_row(
                    question,
                    (first, second),
                    question.options[option],
                    (found.difference, found.std_error, found.confidence_interval(level), found.method),
                    support_of(question, option),
                    options,
                )
            )
    if mean is not None:
        means = {cohort: _mean(question, tallies[cohort], mean) for cohort in known}
        for first, second in pairs:
            one, other = means[first], means[second]
            # Different people: the variances add up.
            between = mean_difference(one.mean - other.mean, math.hypot(one.std_error, other.std_error))
            figures = (between.estimate, between.std_error, between.confidence_interval(level), between.method)
            rows.append(_difference_row(question, (first, second), "", figures, None, options))
    return rows


def _pairs(cohorts: Sequence[str], against: str | None) -> list[tuple[str, str]]:
    if against is None:
        return list(itertools.combinations(cohorts, 2))
    if against not in cohorts:
        raise ParameterError(f"against: must be a cohort with reports, got {describe(against)}")
    return [(cohort, against) for cohort in cohorts if cohort != against]


def _compared_options(question: Question) -> Sequence[int]:
    """The options whose shares are compared: all but *no*, whose share follows from the others."""
    return range(question.kind.headline or 0, len(question.options)) if question.has_shares else ()


def _estimate(question: Question, tally: Tally) -> Estimate:
    return Estimate.from_counts(question.mechanism, *question.counted(tally.counts[question.id], tally.n))


def _mean(question: Question, tally: Tally, values: Sequence[float]) -> MeanEstimate:
    return MeanEstimate.from_counts(question.mechanism, *question.counted(tally.counts[question.id], tally.n), values)


def _difference_row(
    question: Question,
    cohorts: tuple[str, str],
    option: str,
    figures: tuple[float, float, Interval, str],
    support: Support | None,
    options: ViewOptions,
) -> ViewRow:
    apart, error, interval, method = figures
    axis = difference_axis(question, "difference" if option else "mean difference")
    holds_none = interval.low <= 0 <= interval.high
    a, b = support.floats if support is not None else (None, None)
    return ViewRow(
        question=question.id,
        statistic="difference" if option else "mean difference",
        option=option,
        cohort=cohorts[0],
        minus=cohorts[1],
        wave=None,
        given=None,
        given_option=None,
        n=None,
        count=None,
        a=a,
        b=b,
        **shown_values(number_or_none(apart), interval, axis),
        weak=math.isnan(apart) or (holds_none and interval.high - interval.low > TOO_WIDE * (axis.high - axis.low)),
        estimate=number_or_none(apart),
        std_error=number_or_none(error),
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=options.confidence_level,
        method=f"simultaneous {method}",
    )


def difference_axis(question: Question, statistic: str) -> Axis:
    """The axis of differences: -100 to 100 points for shares, plus and minus the range of possible means."""
    if statistic == "difference":
        return POSSIBLE_DIFFERENCES
    whole = axis_of(question, "mean")
    # The least difference is the lowest mean less the highest one.
    return Axis(whole.low - whole.high, whole.high - whole.low)


def refusal_to_compare(question: Question) -> str | None:
    """Why cohorts cannot be compared by a question; None if they can."""
    if not question.has_shares and mean_values(question) is None:
        return (
            f"must be asked of shares or of a mean of everybody, and {question.id!r} has a mean where it applies alone"
        )
    return None


def refusal_to_cross(first: Question, second: Question) -> str | None:
    """Why two questions cannot be crossed; None if they can."""
    if first.id == second.id:
        return "must be two different questions"
    for each in (first, second):
        if not each.has_shares:
            return f"must have shares, and {each.id!r} has a mean alone"
    if first.group is not None and first.group.joint is not None and first.group == second.group:
        return "must not be questions of one response, whose chance is the same"
    if len(first.options) * len(second.options) > MOST_CROSSED_CELLS:
        return f"must have at most {MOST_CROSSED_CELLS} pairs of answers"
    return None
