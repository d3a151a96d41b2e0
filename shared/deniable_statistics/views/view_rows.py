"""Views of one question: its shares, by cohort, the differences of cohorts, or its shares among answers to another one.

Pages, files, figures and `deniable verify` show the same rows, which are computed here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from deniable.errors import ParameterError, describe
from deniable.mechanisms.support import Support
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable_statistics.designs.of_mechanisms import mean_values
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.intervals import Interval, level_of_each
from deniable_statistics.published.charts import Axis
from deniable_statistics.published.method_names import simultaneous
from deniable_statistics.published.published_rows import estimate, number_or_none
from deniable_statistics.views.shown import axis_of, is_wide
from deniable_statistics.views.view_row import (
    POSSIBLE_DIFFERENCES,
    JointCounts,
    ViewOptions,
    ViewRow,
    share_view,
    shown_values,
    support_of,
)

MOST_DIFFERENCES = 300
"""Largest number of differences of a view; with more, each interval is so wide that it tells nothing."""


def view_of(
    survey: Survey,
    tallies: Mapping[str | None, Tally],
    question: str,
    options: ViewOptions = ViewOptions(),  # noqa: B008  # a frozen value
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


def _differences(
    survey: Survey, question: Question, tallies: Mapping[str | None, Tally], options: ViewOptions
) -> list[ViewRow]:
    """Differences of every two cohorts, or of each from one, by intervals that hold all of them at once."""
    from deniable_statistics.comparison.cut_limits import METHOD
    from deniable_statistics.comparison.difference import difference
    from deniable_statistics.comparison.means import mean_differences

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
        means = [_mean(question, tallies[cohort], mean) for cohort in known]
        places = [(known.index(first), known.index(second)) for first, second in pairs]
        for pair, between in zip(pairs, mean_differences(means, places), strict=True):
            figures = (between.estimate, between.std_error, between.confidence_interval(level), METHOD)
            rows.append(_difference_row(question, pair, "", figures, None, options))
    # One difference has its interval by itself.
    return [replace(row, method=simultaneous(row.method)) for row in rows] if m > 1 else rows


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
        weak=math.isnan(apart) or (holds_none and is_wide(*interval, axis, is_difference=True)),
        estimate=number_or_none(apart),
        std_error=number_or_none(error),
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=options.confidence_level,
        method=method,
    )


def difference_axis(question: Question, statistic: str) -> Axis:
    """The axis of differences: -100 to 100 points for shares, plus and minus the range of possible means."""
    if statistic == "difference":
        return POSSIBLE_DIFFERENCES
    whole = axis_of(question, "mean")
    # The least difference is the lowest mean less the highest one.
    return Axis(whole.low - whole.high, whole.high - whole.low, is_of_differences=True)


def refusal_to_compare(question: Question) -> str | None:
    """Why cohorts cannot be compared by a question; None if they can."""
    if not question.has_shares and mean_values(question) is None:
        return (
            f"must be asked of shares or of a mean of everybody, and {question.id!r} has a mean where it applies alone"
        )
    return None
