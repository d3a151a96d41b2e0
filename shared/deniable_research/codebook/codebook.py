"""Codebooks: the description of every column of a file of reports."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from deniable.access.words import ONE_REPORT, enforced, one_report_column
from deniable.mechanisms.longitudinal import waves_of
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_research.files.report_table import read_number
from deniable_statistics.authoring.condition_text import condition_words
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of

MOST_CELLS = 100
"""Largest table of probabilities that is shown, in cells; larger ones follow from the published parameters."""

# The first note of every question: archives must never take a noisy report for an answer.
DIRECT = "An answer as it was given: no chance was mixed in."

NOISY = "A noisy report, not an answer: chance was mixed in before it was sent, so it says little about one person."

TICKED = "P(report shows the box as ticked)"


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


@dataclass(frozen=True)
class Codebook:
    """The description of a file of reports.

    Attributes
    ----------
    title : str
    address : str or None
        The survey's address, which is its hash.
    about : tuple of str
        Sentences about the survey as a whole.
    entries : tuple of Entry

    Examples
    --------
    >>> from deniable_research.files import quick_question
    >>> layout = Layout((quick_question("affair=q1: forced-response truth=1/2 codes=yes:1,no:2 missing=9"),))
    >>> (entry,) = Codebook.of_layout(layout, "Study").entries
    >>> entry.categories, entry.missing, entry.ratio
    ((('1', 'yes'), ('2', 'no')), ('NA', 'NaN', '9'), Fraction(3, 1))
    >>> entry.probabilities[0].values[1]
    (Fraction(1, 4), Fraction(3, 4))
    """

    title: str
    address: str | None
    about: tuple[str, ...]
    entries: tuple[Entry, ...]

    @classmethod
    def of_survey(cls, survey: Survey) -> Codebook:
        """The codebook of a collector's reports."""
        layout = Layout.of_survey(survey)
        cohorts = tuple((cohort, cohort) for cohort in survey.cohorts)
        organiser = survey.organiser and f"Asked by {survey.organiser}."
        contact = survey.contact and f"Contact: {survey.contact}"
        about = [text for text in (organiser, survey.about, contact) if text]
        asks = f", {survey.asks} of {len(survey.questions)} questions a person" if survey.is_drawn else ""
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
                    replace(_of_column(column, question), universe=_universe(question, survey))
                    for column, question in zip(layout.questions, survey.questions, strict=True)
                ),
                Entry(
                    one_report_column([each.id for each in survey.questions]),
                    "Whether a report is a person",
                    repr(enforced(survey.access)),
                ),
            ),
        )

    @classmethod
    def of_layout(cls, layout: Layout, title: str, columns: Mapping[str, CodedColumn[str]] | None = None) -> Codebook:
        """The codebook of a file that a design file describes.

        Parameters
        ----------
        layout : Layout
        title : str
        columns : mapping of str to CodedColumn, optional
            The columns of the file. Their labels are added, and plain columns among them have entries, too.
        """
        # The arms of a question share a column, and each went through a design of its own.
        entries = {(column.column, column.arm): _of_column(column, None) for column in layout.questions}
        missing = tuple(filter(None, layout.missing))
        for entry in (*_groups_of(layout), *_designs_of(layout, missing), *_sampling_of(layout, missing)):
            # A column may have two roles, such as stratum and cohort: the first entry is kept.
            entries.setdefault((entry.column, None), entry)
        if columns is None:
            return cls(title, None, (), tuple(entries.values()))
        found = (
            _labelled(entry, column)
            for name, column in columns.items()
            for entry in [each for (place, _), each in entries.items() if place == name]
            or [_plain(name, column.without(layout.missing), missing)]
        )
        return cls(title, None, (), tuple(found))


def _groups_of(layout: Layout) -> Iterator[Entry]:
    """Entries for the columns with a respondent's group of a design."""
    for column in layout.questions:
        if column.group is not None:
            groups = tuple((text, f"group {number}") for number, text in enumerate(column.groups, start=1))
            none = tuple(filter(None, column.group_missing))
            yield Entry(column.group, f"Group of the design of {column.name}", "one of the groups", groups, none)


def _designs_of(layout: Layout, missing: tuple[str, ...]) -> Iterator[Entry]:
    """Entries for the columns that name which of several designs a respondent answered by."""
    for mixed in layout.mixed:
        arms = [arm.arm for arm in layout.arms(mixed) if arm.arm is not None]
        designs = tuple((label, label) for _, label in arms)
        yield Entry(arms[0][0], f"Design of {mixed}", "one of the designs", designs, missing)


def _sampling_of(layout: Layout, missing: tuple[str, ...]) -> Iterator[Entry]:
    """Entries for the columns of the sampling design, and for the cohorts."""
    sampling = layout.sampling
    # The population may be one number for all strata instead of a column.
    population = None if read_number(sampling.population or "0") is not None else sampling.population
    for name, label, holds, labels in (
        (layout.weights, "Sampling weight", "numbers of at least 0", ()),
        (sampling.strata, "Stratum", "labels", ()),
        (sampling.cluster, "Primary sampling unit", "labels", ()),
        (population, "Units in the population of the stratum", "numbers", ()),
        *((name, "Replicate weight", "numbers of at least 0", ()) for name in sampling.replicates),
        (layout.cohort, "Cohort", "labels", layout.cohorts),
    ):
        if name is not None:
            yield Entry(name, label, holds, tuple((text, text) for text in labels), missing)


def _plain(name: str, column: CodedColumn[str], missing: tuple[str, ...]) -> Entry:
    """An entry for a column that no layout describes; its cells tell what it holds."""
    try:
        # All or none: a column with one word in it holds texts.
        numbers = list(map(float, column.values))
    except ValueError:
        numbers = []
    different = f"{len(column.values)} different texts"
    holds = f"numbers from {min(numbers):.6g} to {max(numbers):.6g}" if numbers else different
    return Entry(name, name, holds, missing=missing)


def _labelled(entry: Entry, column: CodedColumn[str]) -> Entry:
    """The entry with the labels of the file."""
    # The label of a missing value names no answer.
    categories = tuple(
        (value, label) for value, label in column.labels.items() if not {value, label} & {*entry.missing}
    )
    return replace(entry, label=column.label or entry.label, categories=categories or entry.categories)


def _universe(question: Question, survey: Survey) -> str | None:
    """Who is asked, in a sentence; None where everybody is."""
    if question.ask_if is None:
        return None
    condition = condition_words(question.ask_if, {each.id: each for each in survey.questions})
    none = str(question.not_applicable_name)
    return f"People for whom {condition}, by their true answers. All others send {none!r}, through the same noise."


def _of_column(column: RandomizedColumn, question: Question | None) -> Entry:
    design = column.design
    ratio = design.likelihood_ratio
    notes = [DIRECT if design.name == "direct" else NOISY]
    if column.arm is not None:
        notes.append(f"In rows where {column.arm[0]} is {' or '.join(column.arm_labels)}.")
    if column.drawn is not None:
        group = column.drawn
        notes.append(
            f"Of {group}: each device asks {group.draw} of {group.size} questions, and reports nothing of the others."
        )
        if group.joint is not None:
            notes.append("One chance goes into all questions of the group that a device asks.")
            ratio = group.joint.likelihood_ratio
    if question is not None and waves_of(question.mechanism):
        notes.append("A device keeps a permanent value, and each wave sends a draw from it.")
    if not math.isfinite(column.epsilon):
        notes.append("The design sets no bound to what a report tells.")
    if question is not None and design == design_of(question.mechanism):
        notes += question.mechanism.odds
    tables = _tables(column)
    published = design.publish()
    return Entry(
        column.column,
        column.name if question is None else str(question.text),
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


def _categories(column: RandomizedColumn) -> tuple[tuple[str, str], ...]:
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


def _responses(column: RandomizedColumn) -> tuple[str, ...]:
    values = _values(column.design)
    names = column.design.reports.labels
    if not names and column.has_shares and len(column.options) == len(values):  # reports are numbers of options
        names = tuple(map(str, column.options))
    return names or tuple(map(str, values))


def _tables(column: RandomizedColumn) -> tuple[ProbabilityTable, ...]:
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
