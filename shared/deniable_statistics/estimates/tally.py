"""Reports are counted into tallies: all that an estimate needs."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from deniable.errors import check_kind
from deniable.exact import is_truth_value, plain
from deniable.mechanisms.base import Mechanism
from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable.wire.space import ReportSpace


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
    """Count reports by cohort.

    Raises
    ------
    ParameterError
        If the arguments are no reports and no survey, in this order.
    """
    check_kind(reports, Iterable, "reports")
    check_kind(survey, Survey, "survey")
    sizes: dict[str | None, int] = {}
    supports: dict[str | None, dict[str, list[int]]] = {}
    for report in reports:
        check_kind(report, Report, "each of the reports")
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


def count_reports(reports: Iterable[Any], mechanism: Mechanism) -> tuple[int, ...]:
    """Count how many reports support each option of one question; `Mechanism.estimate` takes the result.

    Parameters
    ----------
    reports : iterable, or array of numpy
        What `randomize` or `randomize_many` gives: numbers, texts of 0 and 1, or rows of them; also sets of the
        options that a report supports, and texts with the b of exports. Whole numbers may be floats, and missing
        cells (NaN, NA) are left out, because a column of pandas with gaps holds floats.
    mechanism : Mechanism
        What made them.

    Returns
    -------
    tuple of int, length k
        In option order.

    Raises
    ------
    ReportError
        If one is not a report of the mechanism, with its place.
    ParameterError
        If the arguments are no reports and no mechanism, in this order.

    Examples
    --------
    >>> from deniable.mechanisms import KAry, Subset
    >>> count_reports([0, 2, 2, 1], KAry(3, "1/2"))
    (1, 1, 2)
    >>> count_reports(["110", "011"], Subset.from_epsilon(3, 2, 1))
    (1, 2, 1)
    >>> count_reports([0.0, 2.0, math.nan], KAry(3, "1/2"))
    (1, 0, 1)
    """
    check_kind(reports, Iterable, "reports")
    check_kind(mechanism, Mechanism, "mechanism")
    space = mechanism.reports
    values: list[Any] = reports.tolist() if hasattr(reports, "tolist") else list(reports)
    plain = [_as_report(value, space) for value in values]
    counts = [0] * space.size
    for report, n in Counter(plain).items():  # reports that are alike are checked once
        if report is _MISSING:
            continue
        if report not in space:
            space.check(report, f"reports[{plain.index(report)}]")
        for option in space.supports(report):
            counts[option] += n
    return tuple(counts)


def report_text(report: Any, size: int) -> Any:
    """The text of a report that is written as a row of 0 and 1, or as the set of the options that it supports.

    >>> report_text((0, 1, 1), 3), report_text(frozenset({1, 2}), 3), report_text("b011", 3)
    ('011', '011', '011')
    """
    if isinstance(report, str):
        return report.removeprefix("b")  # which exports write, so that no program reads a number
    if isinstance(report, Set):
        fits = report <= set(range(size))
        return "".join("1" if option in report else "0" for option in range(size)) if fits else frozenset(report)
    if isinstance(report, (list, tuple)) or getattr(report, "ndim", False):
        return "".join(str(int(bit)) for bit in report)
    return report


_MISSING = object()
"""A cell of a column that holds no report."""


def _as_report(value: Any, space: ReportSpace) -> Any:
    """A report as the mechanism sends it: a row of 0 and 1 as their text, a whole number as Python's int."""
    # By its name, because pandas need not be installed, and NA has no truth value.
    if type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return _MISSING
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if space.json_type is str or isinstance(value, (list, tuple, Set)) or getattr(value, "ndim", False):
        return report_text(value, space.size)
    if space.size == 2 and (isinstance(value, bool) or is_truth_value(value)):  # `tolist` makes Python's of numpy's
        return int(value)
    return plain(value)
