"""Reports are counted into tallies: all that an estimate needs."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deniable.report.report import Report
from deniable.survey.document import Survey


@dataclass(frozen=True)
class Tally:
    """The number of reports, and of those that support each option of each question.

    Attributes
    ----------
    n : int
        Number of reports.
    counts : mapping of str to tuple of int
        Question id to the number of supporting reports by option; `Question.counted` reads them. For a question
        that only some devices ask, one more number counts the devices that did.
    """

    n: int
    counts: Mapping[str, tuple[int, ...]]

    @classmethod
    def empty(cls, survey: Survey) -> Tally:
        """The tally of no reports."""
        return cls(0, {question.id: (0,) * question.reports.size for question in survey.questions})

    def __add__(self, other: Tally) -> Tally:
        def both(question: str) -> tuple[int, ...]:
            return tuple(map(operator.add, self.counts[question], other.counts[question]))

        # Every tally of a survey has all its questions, so keys agree.
        return Tally(self.n + other.n, {question: both(question) for question in self.counts})


def tally_reports(reports: Iterable[Report], survey: Survey) -> dict[str | None, Tally]:
    """Count reports by cohort."""
    sizes: dict[str | None, int] = {}
    supports: dict[str | None, dict[str, list[int]]] = {}
    for report in reports:
        sizes[report.cohort] = sizes.get(report.cohort, 0) + 1
        counts = supports.setdefault(
            report.cohort, {question.id: [0] * question.reports.size for question in survey.questions}
        )
        for question in survey.questions:
            # A report supports one option, several, or none: only the mechanism's report space knows.
            for option in question.reports.supports(report.values[question.id]):
                counts[question.id][option] += 1
    return {
        cohort: Tally(n, {question: tuple(counts) for question, counts in supports[cohort].items()})
        for cohort, n in sizes.items()
    }
