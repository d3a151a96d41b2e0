"""The estimates of a survey: reports are counted into tallies, tallies become published rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deniable.intervals import DEFAULT_METHOD
from deniable.report import Report
from deniable.survey import Question, Survey


@dataclass(frozen=True)
class Tally:
    """How many reports there are, and how many of them support each option of each question.

    Attributes
    ----------
    n : int
        Number of reports.
    counts : mapping of str to tuple of int
        Question id to the number of supporting reports by option.
    """

    n: int
    counts: Mapping[str, tuple[int, ...]]

    @classmethod
    def empty(cls, survey: Survey) -> Tally:
        """The tally of no reports."""
        return cls(0, {question.id: (0,) * question.mechanism.k for question in survey.questions})

    def __add__(self, other: Tally) -> Tally:
        def both(question: str) -> tuple[int, ...]:
            return tuple(map(operator.add, self.counts[question], other.counts[question]))

        return Tally(self.n + other.n, {question: both(question) for question in self.counts})


def tally_reports(reports: Iterable[Report], survey: Survey) -> dict[str | None, Tally]:
    """Count reports by cohort."""
    sizes: dict[str | None, int] = {}
    supports: dict[str | None, dict[str, list[int]]] = {}
    for report in reports:
        sizes[report.cohort] = sizes.get(report.cohort, 0) + 1
        counts = supports.setdefault(
            report.cohort, {question.id: [0] * question.mechanism.k for question in survey.questions}
        )
        for question in survey.questions:
            for option in question.mechanism.supports(report.values[question.id]):
                counts[question.id][option] += 1
    return {
        cohort: Tally(n, {question: tuple(counts) for question, counts in supports[cohort].items()})
        for cohort, n in sizes.items()
    }


@dataclass(frozen=True)
class EstimateRow:
    """One published line: one option of one question, or its mean, for everybody or for one cohort.

    The fields are the columns of the CSV, in order. `statistic` is "share" or "mean"; the mean has no option and no
    count. Numbers are None where there is no report to estimate from.
    """

    question: str
    option: str
    cohort: str | None
    n: int
    count: int | None
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    method: str
    epsilon: float
    feasible: float | None
    statistic: str


def estimate(
    tallies: Mapping[str | None, Tally],
    survey: Survey,
    *,
    by_cohort: bool = False,
    confidence_level: float = 0.95,
    method: str = DEFAULT_METHOD,
) -> list[EstimateRow]:
    """Estimate every share that a survey asks for.

    Parameters
    ----------
    tallies : mapping of cohort to Tally
        What was counted; the key None holds reports without a cohort.
    survey : Survey
        The published survey, whose mechanisms are inverted.
    by_cohort : bool
        One group of rows for each cohort instead of one for everybody.
    confidence_level, method
        As for `Estimate.interval`.

    Returns
    -------
    list of EstimateRow
        In the order of cohorts, questions and options.
    """
    if by_cohort:
        known = [cohort for cohort in (*survey.cohorts, None) if cohort in tallies or cohort is not None]
        groups = [(cohort, tallies.get(cohort, Tally.empty(survey))) for cohort in known]
    else:
        groups = [(None, sum(tallies.values(), Tally.empty(survey)))]
    rows: list[EstimateRow] = []
    for cohort, tally in groups:
        for question in survey.questions:
            counts = tally.counts[question.id]
            if question.has_shares:
                rows += _share_rows(question, cohort, counts, tally.n, confidence_level, method)
            if question.mean_values is not None:
                rows.append(_mean_row(question, cohort, counts, tally.n, confidence_level))
    return rows


def _share_rows(
    question: Question, cohort: str | None, counts: Sequence[int], n: int, confidence_level: float, method: str
) -> list[EstimateRow]:
    result = question.mechanism.estimate(counts, n)
    intervals = result.interval(confidence_level, method)
    return [
        EstimateRow(
            question=question.id,
            option=label,
            cohort=cohort,
            n=n,
            count=counts[option],
            estimate=_number(result.share[option]),
            std_error=_number(result.std_error[option]),
            conf_low=intervals[option].low,
            conf_high=intervals[option].high,
            conf_level=confidence_level,
            method=result.interval_method(method),
            epsilon=question.epsilon,
            feasible=_number(result.feasible[option]),
            statistic="share",
        )
        for option, label in enumerate(question.options)
    ]


def _mean_row(
    question: Question, cohort: str | None, counts: Sequence[int], n: int, confidence_level: float
) -> EstimateRow:
    result = question.mechanism.estimate_mean(counts, n, question.mean_values)
    interval = result.interval(confidence_level)
    return EstimateRow(
        question=question.id,
        option="",
        cohort=cohort,
        n=n,
        count=None,
        estimate=_number(result.mean),
        std_error=_number(result.std_error),
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=confidence_level,
        method="wald",
        epsilon=question.epsilon,
        feasible=_number(min(max(result.mean, result.lowest), result.highest)),
        statistic="mean",
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
