"""Reports on an engine, from which it counts the tables that analyses take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deniable.errors import ParameterError
from deniable.wire.space import Texts
from deniable_research.engine.counting import Supports, count_supports
from deniable_research.engine.sources import Source
from deniable_research.engine.text_columns import TextColumn, as_text, means_nothing
from deniable_research.files.labels import Names
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_research.files.report_table import SupportTally, Table
from deniable_research.regression.formula import columns_in
from deniable_statistics.designs.spaces import number_of_reports, uniform_reports

FEW = 1000
"""Largest number of possible reports to a question for which equal rows are counted; with more, supports are summed."""


@dataclass(frozen=True, eq=False)
class EngineReports:
    """Reports on an engine with their layout, from which it counts the tables that analyses take.

    Raises
    ------
    ParameterError
        If the layout has a sampling design, whose errors need each person's row.

    Examples
    --------
    >>> import tempfile
    >>> from deniable_research.engine import open_source
    >>> from deniable_research.files import Layout, cross, quick_question
    >>> layout = Layout((quick_question("a: warner p=3/4"), quick_question("b: warner p=3/4")))
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("a,b\\n" + "no,no\\n" * 30 + "no,yes\\n" * 20 + "yes,no\\n" * 20 + "yes,yes\\n" * 30)
    ...     file.flush()
    ...     table = EngineReports(open_source(file.name), layout).together(["a", "b"])
    >>> len(table), table.people, round(cross(table, ["a", "b"])[0].estimate, 4)
    (4, 100, 0.45)
    """

    source: Source
    layout: Layout

    def __post_init__(self) -> None:
        if self.layout.sampling.is_design:
            raise ParameterError("engine: must count people who were drawn one by one, got a sampling design")

    @property
    def names(self) -> Names:
        """The questions and columns of the source."""
        return Names(self.layout, tuple(self.source.columns))

    def together(self, names: Sequence[str]) -> Table:
        """The table of some questions, boxes and plain columns for analyses that put them together.

        Raises
        ------
        ParameterError
            If they have too many different rows together.
        ReportError
            If there is no such column, or it holds something that is not a report.
        """
        return self._counted(names, added=False)

    def apart(self, names: Iterable[str], by: str | None = None) -> list[tuple[tuple[str, ...], Table]]:
        """A table for each question, for analyses that take one at a time: shares, means, comparisons.

        Reports that are texts of many options are added up on the engine. `by` is the plain column of cohorts.
        """
        return [((name,), self._counted([name, *filter(None, [by])], added=True)) for name in names]

    def of_formula(self, formula: str) -> Table:
        """The table of all columns that a formula of `deniable_research.files.regress` names."""
        return self.together(columns_in(formula, self.layout.has, self.source.columns.__contains__))

    def _counted(self, names: Sequence[str], *, added: bool) -> Table:
        wanted = _Wanted.of(self.layout, names, added=added)
        source, columns = wanted.columns(self.source)
        return wanted.table(count_supports(source, columns, wanted.added))


def _asked(layout: Layout, names: Iterable[str]) -> tuple[dict[str, RandomizedColumn], dict[str, list[str]]]:
    """The questions that names mean, with their arms and anchors, and the boxes of each; "" stands for all boxes."""
    asked: dict[str, RandomizedColumn] = {}
    boxes: dict[str, list[str]] = {}
    for arm in (arm for name in names for arm in layout.mixed.get(name, (name,))):
        layout.question(arm)  # raises the error for an unknown name
        question, option = layout.whole(arm)
        boxes.setdefault(question.name, []).append(option or "")
        asked[question.name] = question
        if question.anchor is not None:
            anchor = layout.whole(question.anchor)[0]
            boxes.setdefault(anchor.name, []).append("")
            asked[anchor.name] = anchor
    return asked, boxes


def _mates(layout: Layout, asked: Mapping[str, RandomizedColumn]) -> tuple[RandomizedColumn, ...]:
    """The other questions of groups of which devices draw some, whose reports tell who was asked what."""
    groups = {question.drawn for question in asked.values() if question.drawn is not None and question.drawn.is_drawn}
    return tuple(each for each in layout.questions if each.drawn in groups and each.name not in asked)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """The columns that have to be counted for some names.

    Attributes
    ----------
    layout : Layout
        The part of the layout that is counted.
    added : tuple of RandomizedColumn
        Questions whose supports are added up.
    boxes : mapping of str to tuple of str
        Questions of which single boxes are counted, with these boxes.
    mates : tuple of RandomizedColumn
        Questions of which it is counted only whether they were asked.
    plain : tuple of str
        Plain columns.
    """

    layout: Layout
    added: tuple[RandomizedColumn, ...]
    boxes: Mapping[str, tuple[str, ...]]
    mates: tuple[RandomizedColumn, ...]
    plain: tuple[str, ...]

    @classmethod
    def of(cls, layout: Layout, names: Sequence[str], *, added: bool) -> _Wanted:
        """Sort the names into questions to add up, questions to count by boxes, their mates, and plain columns."""
        asked, boxes = _asked(layout, [name for name in names if layout.has(name)])
        plain = dict.fromkeys(name for name in names if not layout.has(name))
        used = Counter(each.column for each in layout.questions)

        def is_text(question: RandomizedColumn) -> bool:
            return used[question.column] == 1 and _is_text(question)

        mates = _mates(layout, asked)
        single = {name: tuple(options) for name, options in boxes.items() if all(options) and is_text(asked[name])}
        summed = tuple(
            question
            for name, question in asked.items()
            if added and name not in single and is_text(question) and number_of_reports(question.design.reports) > FEW
        )
        kept = {*asked, *(each.name for each in mates)}
        mixed = {name: arms for name, arms in layout.mixed.items() if kept.issuperset(arms)}
        part = replace(layout, questions=tuple(each for each in layout.questions if each.name in kept), mixed=mixed)
        return cls(part, summed, single, mates, tuple(plain))

    @cached_property
    def partial(self) -> dict[str, str]:
        """By question, the part of it that was counted, in words; only questions that are not counted as a whole."""
        asked = dict.fromkeys((each.name for each in self.mates), "who was asked it")
        return {**asked, **{name: f"its boxes {', '.join(each)}" for name, each in self.boxes.items()}}

    def columns(self, source: Source) -> tuple[Source, dict[str, str]]:
        """The source with its computed columns, and the columns to group by, by their names in the table."""
        found = {}
        for question in self.layout.questions:
            name = question.column
            if question.name in self.boxes:
                texts = TextColumn(source, name, question.design.reports, question.missing)
                places = {question.options.index(option) for option in self.boxes[question.name]}
                source, found[name] = texts.source.with_column(texts.of_boxes(sorted(places)), f"{name} boxes")
            elif question.name in self.partial:
                source, found[name] = source.with_column(_is_asked(source, question), f"{name} asked")
            elif question.name not in {each.name for each in self.added}:
                found[name] = name
            for column in filter(None, (question.group, question.arm and question.arm[0])):
                found[column] = column
        for column in filter(None, (*self.plain, self.layout.weights)):
            # A column that holds reports too stays as it is: `Table` raises the error that these are not answers.
            found.setdefault(column, column)
        return source, found

    def table(self, counts: Supports) -> Table:
        """The table of what was counted."""
        tallies = {name: SupportTally(counts.supports[name], counts.present[name]) for name in counts.supports}
        return Table.of(counts.columns, self.layout, counts.frequencies, tallies, self.partial)


def _is_text(question: RandomizedColumn) -> bool:
    """Whether the column holds texts of 0 and 1, which the engine can read itself."""
    alone = question.codes is None and question.arm is None and question.group is None
    return alone and isinstance(question.design.reports, Texts)


def _is_asked(source: Source, question: RandomizedColumn) -> Any:
    """One and the same report where there is any, null elsewhere: only whether a question was asked is counted."""
    import ibis

    # Different reports to a question that nobody analyses would only multiply the rows.
    said = as_text(source.column(question.column))
    return ibis.ifelse(means_nothing(said, question.missing), ibis.null("string"), _some_report(question))


def _some_report(question: RandomizedColumn) -> str:
    """A text of the column that stands for a report."""
    if question.codes is not None:
        return next(iter(question.codes))
    space = question.design.reports
    if not isinstance(space, Texts):
        return str(space.first)
    return "b" + "".join(map(str, uniform_reports(space, 1, np.random.default_rng(0))[0].tolist()))
