"""Codebooks: the description of every column of a file of reports, for people and for archives."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

from deniable.access.words import ONE_REPORT
from deniable.mechanisms.longitudinal import waves_of
from deniable.privacy.ceiling import weakness, weakness_of
from deniable.survey.document import Survey
from deniable.survey.group import Group
from deniable.survey.question import Question
from deniable.survey.texts import EVERY_OTHER, Text
from deniable.wire.space import ReportSpace, ReportValue
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.published.access_columns import enforced, one_report_column
from deniable_statistics.published.condition_text import condition_words
from deniable_statistics.published.license import License

MOST_CELLS = 100
"""Largest table of probabilities that is shown, in cells; larger ones follow from the published parameters."""

# The first note of every question: archives must never take a noisy report for an answer.
DIRECT = "An answer as it was given: no chance was mixed in."

NOISY = "A noisy report, not an answer: chance was mixed in before it was sent."

STRENGTHS = (
    "From what one person sent, nobody can be sure what is true for that person.",
    "What one person sent is a hint, not proof.",
    "It is little protection: what one person sent reveals a lot about that person's true answers.",
)
"""What follows on a noisy report, by degrees of `deniable.privacy.ceiling.weakness`, in the words of results pages."""

TICKED = "P(report shows the box as ticked)"


MOST_LISTED = 12
"""Largest number of texts that a column's description lists."""


@dataclass(frozen=True)
class ProbabilityTable:
    """The exact probability of each report given each true answer.

    Attributes
    ----------
    title : str
    reports, answers : tuple of str
        Names of rows and columns.
    values : tuple of tuples of Fraction, shape (reports, answers)
    """

    title: str
    reports: tuple[str, ...]
    answers: tuple[str, ...]
    values: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Entry:
    """One column of a file of reports.

    Attributes
    ----------
    column, label : str
        The name of the column, and its description: for a question the text that people read.
    holds : str
        The values that the column can have, in words.
    categories : tuple of (str, str)
        Each code with its meaning.
    missing : tuple of str
        Codes of missing values, besides an empty field.
    options : tuple of str
        The true answers to a question.
    mechanism : str or None
        The design that randomised the reports; None for a plain column, which has none of the following.
    epsilon : float
        Privacy loss of one report, in nats; infinite where there is no bound.
    ratio : Fraction or None
        The exact exponential of ``epsilon``, where it is known.
    probabilities : tuple of ProbabilityTable
    parameters : str or None
        The mechanism's parameters as the survey publishes them, in JSON.
    universe : str or None
        Who is asked, for a question with a filter.
    filtered_by : tuple of str
        The ids of the questions whose answers decide who is asked.
    notes : tuple of str
    """

    column: str
    label: str
    holds: str
    categories: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    mechanism: str | None = None
    epsilon: float = 0.0
    ratio: Fraction | None = None
    probabilities: tuple[ProbabilityTable, ...] = ()
    parameters: str | None = None
    notes: tuple[str, ...] = ()
    universe: str | None = None
    filtered_by: tuple[str, ...] = ()


class DescribedColumn(Protocol):
    """A randomised column of a file, as a codebook describes it; see `deniable_research.files.RandomizedColumn`."""

    @property
    def name(self) -> str: ...
    @property
    def column(self) -> str: ...
    @property
    def design(self) -> Design: ...
    @property
    def options(self) -> tuple[str, ...]: ...
    @property
    def codes(self) -> Mapping[str, ReportValue] | None: ...
    @property
    def missing(self) -> tuple[str, ...]: ...
    @property
    def groups(self) -> tuple[str, ...]: ...
    @property
    def has_shares(self) -> bool: ...
    @property
    def drawn(self) -> Group | None: ...
    @property
    def arm(self) -> tuple[str, str] | None: ...
    @property
    def arm_labels(self) -> tuple[str, ...]: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def allowed(self) -> str: ...


@dataclass(frozen=True)
class SurveyColumn:
    """The column of a survey's question in a collector's own file, which is a `DescribedColumn`."""

    question: Question

    codes: Mapping[str, ReportValue] | None = None
    missing: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    arm: tuple[str, str] | None = None
    arm_labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The question's id."""
        return self.question.id

    @property
    def column(self) -> str:
        """The name of the column, which is the question's id."""
        return self.question.id

    @property
    def design(self) -> Design:
        """The design of the question's mechanism."""
        return design_of(self.question.mechanism)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the true answers."""
        return true_answers(self.question, self.design)

    @property
    def has_shares(self) -> bool:
        """Whether shares of the options are estimated."""
        return self.question.has_shares

    @property
    def drawn(self) -> Group | None:
        """The group of questions of which each device asks some."""
        return self.question.group

    @property
    def epsilon(self) -> float:
        """Privacy loss of one report, in nats."""
        return self.drawn.joint.epsilon if self.drawn and self.drawn.joint else self.design.epsilon

    @property
    def allowed(self) -> str:
        """What the column may hold, in words."""
        return allowed_reports(self.design.reports)


def true_answers(question: Question, design: Design) -> tuple[str, ...]:
    """Names of the true answers to a question.

    The truths of a design for numbers may be fewer than the numbers: the knots between which its channel is linear.
    """
    return question.options if len(question.options) == len(design.truths) else design.truths


def allowed_reports(reports: ReportSpace) -> str:
    """The texts that a column of reports may hold, in words; a name that is a number says nothing."""
    names = [each for each in reports.labels if not is_whole(each)]
    return f"{listed(names)} or {reports.described}" if names else reports.described


def is_whole(text: str) -> bool:
    """Whether a text is a whole number, as files have it; pandas writes 1.0 where a column of integers has gaps."""
    return re.fullmatch(r"-?[0-9]{1,15}(\.0+)?", text) is not None


def listed(texts: Iterable[str]) -> str:
    """Texts in quotes, up to `MOST_LISTED` of them.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    every = list(texts)
    more = f" or {len(every) - MOST_LISTED} more" if len(every) > MOST_LISTED else ""
    return ", ".join(map(repr, every[:MOST_LISTED])) + more


@dataclass(frozen=True)
class SurveyCodebook:
    """The description of a file of reports.

    Attributes
    ----------
    title : str
    address : str or None
        The survey's address, which is its hash.
    about : tuple of str
        Sentences about the survey as a whole.
    entries : tuple of Entry
    sample : str or None
        Who was asked, in the author's words.
    license : License or None
        That of the data, as the author states it.
    """

    title: str
    address: str | None
    about: tuple[str, ...]
    entries: tuple[Entry, ...]
    sample: str | None = None
    license: License | None = None

    @classmethod
    def of_survey(cls, survey: Survey) -> Self:
        """The codebook of a collector's reports."""
        cohorts = tuple((cohort, cohort) for cohort in survey.cohorts)
        organiser = survey.organiser and f"Asked by {survey.organiser}."
        contact = survey.contact and f"Contact: {survey.contact}"
        sample = survey.sample and f"Who was asked, in the author's words: {survey.sample}"
        license_ = License.of(survey)
        licensed = license_ and f"Licence, as the survey's author states it: {license_.cited}"
        about = [text for text in (organiser, survey.about, contact, sample, licensed) if text]
        asks = f", {survey.asks} of {len(survey.questions)} questions a person" if survey.is_drawn else ""
        if survey.revises:
            about.append(f"Revises survey {survey.revises}; questions that are the same can be pooled with it.")
        about.append(f"Each row is a report; {ONE_REPORT[survey.access]}.")
        # Over the whole survey: less than the sum over its questions if each device draws some of them.
        about.append(f"Privacy loss of all reports of one person: epsilon {survey.epsilon:.6g}{asks}.")
        return cls(
            survey.title,
            survey.id,
            tuple(about),
            (
                Entry("id", "Random id of the report", "32 characters 0 to 9 and a to f, made with the noise"),
                Entry("cohort", "Cohort", "the label of the link, or nothing", cohorts),
                *(
                    _in_survey(entry_of(SurveyColumn(question), question, weakness(survey)), question, survey)
                    for question in survey.questions
                ),
                Entry(
                    one_report_column([each.id for each in survey.questions]),
                    "Whether a report is a person",
                    repr(enforced(survey.access)),
                ),
            ),
            survey.sample,
            license_,
        )


def _options_notes(question: Question) -> Iterator[str]:
    """What the levels mean, which options stand apart, and whether options were shown in a random order."""
    if any(isinstance(each, Text) for each in question.choices) and question.kind.has_numbers:
        spoken = [each.in_language(EVERY_OTHER) if isinstance(each, Text) else each for each in question.choices]
        yield f"Levels: {'; '.join(spoken)}."
    if question.apart:
        names = ", ".join(repr(str(each)) for each in question.apart)
        yield f"{names}: went through the noise like every option, and shares are of everybody."
    if question.order:
        yield "Each device showed the options in a random order of its own, which is not recorded."


def _in_survey(entry: Entry, question: Question, survey: Survey) -> Entry:
    """The entry of a question with what its survey says of it: who is asked, and under which heading."""
    named = (
        ()
        if question.ask_if is None
        else tuple(each.id for each in survey.questions if each.id in question.ask_if.named)
    )
    notes = (*entry.notes, *_section_notes(question, survey))
    return replace(entry, universe=_universe(question, survey), filtered_by=named, notes=notes)


def _section_notes(question: Question, survey: Survey) -> Iterator[str]:
    for each in survey.sections_of(question.id):
        yield f"In the section {str(each.heading)!r}."


def _universe(question: Question, survey: Survey) -> str | None:
    """Who is asked, in a sentence; None where everybody is."""
    if question.ask_if is None:
        return None
    condition = condition_words(question.ask_if, {each.id: each for each in survey.questions})
    none = str(question.not_applicable_name)
    return f"People for whom {condition}, by their true answers. All others send {none!r}, through the same noise."


def entry_of(column: DescribedColumn, question: Question | None, weak: int | None = None) -> Entry:
    """The entry of a randomised column.

    Parameters
    ----------
    column : DescribedColumn
    question : Question or None
        The question of a survey, if the column is one's.
    weak : {0, 1, 2}, optional
        Weakness of the protection of its survey; by default that of a question with the column's epsilon.
    """
    design = column.design
    ratio = design.likelihood_ratio
    strength = STRENGTHS[weakness_of(column.epsilon) if weak is None else weak]
    notes = [DIRECT if design.name == "direct" else f"{NOISY} {strength}"]
    if column.arm is not None:
        notes.append(f"In rows where {column.arm[0]} is {' or '.join(column.arm_labels)}.")
    if column.drawn is not None:
        group = column.drawn
        notes.append(
            f"Of {group}: each device asks {group.draw} of {group.size} questions, and reports nothing of the others."
        )
        if group.joint is not None:
            notes.append("One chance goes into all questions of the group that a device asks.")
            # The bound is that of the whole response, of which this question is a part.
            ratio = group.joint.likelihood_ratio
    if question is not None and waves_of(question.mechanism):
        notes.append("A device keeps a permanent value, and each wave sends a draw from it.")
    if not math.isfinite(column.epsilon):
        notes.append("The design sets no bound to what a report tells.")
    if question is not None:
        notes += _options_notes(question)
    if question is not None and design == design_of(question.mechanism):
        notes += question.mechanism.odds
    tables = _tables(column)
    published = design.publish()
    return Entry(
        column.column,
        column.name if question is None else question.label,
        column.allowed,
        _categories(column),
        tuple(filter(None, column.missing)) if question is None else (),
        tuple(map(str, column.options)),
        design.name,
        column.epsilon,
        ratio if isinstance(ratio, Fraction) else None,
        tables,
        None if published is None else json.dumps(published),
        tuple(notes),
    )


def _categories(column: DescribedColumn) -> tuple[tuple[str, str], ...]:
    """Each code of a column of numbers, with the response that it stands for."""
    names = dict(zip(_values(column.design), _responses(column), strict=True))
    if column.codes is not None:
        return tuple((text, names[value] if isinstance(value, int) else value) for text, value in column.codes.items())
    found = tuple((str(value), name) for value, name in names.items())
    return found if any(value != name for value, name in found) else ()  # numbers that stand for themselves


def _values(design: Design) -> Sequence[int]:
    """The reports that are numbers of one response; empty if a report may support several options."""
    reports = design.reports
    return range(reports.first, reports.first + reports.size) if reports.supports_one else ()


def _responses(column: DescribedColumn) -> tuple[str, ...]:
    values = _values(column.design)
    names = column.design.reports.labels
    if not names and column.has_shares and len(column.options) == len(values):  # reports are numbers of options
        names = tuple(map(str, column.options))
    return names or tuple(map(str, values))


def _tables(column: DescribedColumn) -> tuple[ProbabilityTable, ...]:
    """The probability tables of a design; none if they would fill pages."""
    design = column.design
    options = tuple(map(str, column.options))
    if design.groups > 1:
        # Groups differ in their matrices, so each has its own table.
        return tuple(
            ProbabilityTable(f"P(report | answer), group {text}", design.reports.labels, options, matrix)
            for text, matrix in zip(column.groups, design.exact_channels, strict=True)
        )
    if not design.is_exclusive:
        boxes = design.binomials(design.expected_if_even, 1) or ()
        title = "P(report shows the box as ticked), of boxes that a device draws" if design.is_one_draw else TICKED
        # Other first: the columns stand in the order of the answers *not ticked* and *ticked*.
        each = tuple((box.support.if_other, box.support.if_true) for box in boxes)
        return (ProbabilityTable(title, options, ("not ticked", "ticked"), each),) if boxes else ()
    if design.support is not None and len(options) == len(design.support) > 2:
        each = tuple((support.if_other, support.if_true) for support in design.support)
        return (ProbabilityTable("P(report speaks for the option)", options, ("another one", "this one"), each),)
    # The published parameters determine the matrix, so leaving it out loses nothing.
    if len(design.answer_range) * design.reports.size > MOST_CELLS:
        return ()
    tables = []
    for matrix in design.exact_channels:
        answers = options if len(options) == len(matrix[0]) else tuple(map(str, design.answer_range))
        tables.append(ProbabilityTable("P(report | answer)", _responses(column) or options, answers, matrix))
    return tuple(tables)
