"""Codebooks of files that a design file describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import Layout
from deniable_research.files.report_table import read_number
from deniable_statistics.archive.codebook import Entry, SurveyCodebook, entry_of


@dataclass(frozen=True)
class Codebook(SurveyCodebook):
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
        entries = {(column.column, column.arm): entry_of(column, None) for column in layout.questions}
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
