"""The estimates of a survey: reports are counted into tallies, tallies become published rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deniable.intervals import DEFAULT_METHOD
from deniable.report import Report
from deniable.survey import Survey


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
    """One published line: one option of one question, for everybody or for one cohort.

    The fields are the columns of the CSV, in order. Numbers are None where there is no report to estimate from.
    """

    question: str
    option: str
    cohort: str | None
    n: int
    count: int
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    method: str
    epsilon: float
    feasible: float | None


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
    rows = []
    for cohort, tally in groups:
        for question in survey.questions:
            result = question.mechanism.estimate(tally.counts[question.id], tally.n)
            intervals = result.interval(confidence_level, method)
            for option, label in enumerate(question.options):
                rows.append(
                    EstimateRow(
                        question=question.id,
                        option=label,
                        cohort=cohort,
                        n=result.n,
                        count=result.counts[option],
                        estimate=_number(result.share[option]),
                        std_error=_number(result.std_error[option]),
                        conf_low=intervals[option].low,
                        conf_high=intervals[option].high,
                        conf_level=confidence_level,
                        method=method,
                        epsilon=question.mechanism.epsilon,
                        feasible=_number(result.feasible[option]),
                    )
                )
    return rows


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
