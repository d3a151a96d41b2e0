"""The table of a study: noisy reports beside plain columns, each person a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError, check_kind
from deniable.exact import number_hint
from deniable.survey.document import Survey
from deniable.wire.space import ReportValue, Texts
from deniable_research.files.coded import CodedColumn, alike
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_research.files.reading import read_columns
from deniable_research.files.samples import sampling_of
from deniable_statistics.data.names import safe_names
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.spaces import support_matrix
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.published.access_columns import ONE_REPORT_HEADING, one_report_column
from deniable_statistics.sampling import Sampling, SimpleSample
from deniable_statistics.sampling.items import Item
from deniable_statistics.sampling.sample import of_rows, ones

MOST_WEIGHT = 1e100
"""Largest weight, and 1 over the smallest: sums and squares of such weights neither overflow nor vanish in floats."""


@dataclass(frozen=True, eq=False)
class Table:
    """Reports of many people, with the plain columns of the same file.

    Attributes
    ----------
    layout : Layout
        Which columns are randomised, and how.
    columns : mapping of str to CodedColumn
        The columns of the file, as texts.
    reports : mapping of str to CodedColumn
        Question to the report of each person; None where a person gave none.
    frequencies : ndarray of int64, shape (rows,), or None
        Number of people that each row stands for, if equal rows were counted; None if each row is one person. Analyses
        give the results of a table in which each row is repeated that often; a weight is that of each of these people.
    tallies : mapping of str to SupportTally
        Questions whose reports were added up; see `SupportTally`.
    partial : mapping of str to str
        Questions of which only a part was counted, such as single boxes, with that part in words. They cannot be
        analysed as a whole.

    Examples
    --------
    >>> from deniable_research.files import quick_question
    >>> columns = {"q1": ("1", "1", "", "2"), "wave": ("a", "a", "b", "b")}
    >>> table = Table.of({**columns}, Layout((quick_question("q1: forced-response truth=1/2 codes=yes:1,no:2"),)))
    >>> len(table), table.dropped("q1")
    (4, 1)
    >>> [round(share, 4) for share in table.item("q1").estimate().share]         # 2 (2/3 - 1/4) = 5/6
    [0.1667, 0.8333]
    """

    layout: Layout
    columns: Mapping[str, CodedColumn[str]] = field(repr=False)
    reports: Mapping[str, CodedColumn[ReportValue]] = field(repr=False)
    frequencies: NDArray[np.int64] | None = field(default=None, repr=False)
    tallies: Mapping[str, SupportTally] = field(default_factory=dict, repr=False)
    partial: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.is_counted:
            if self.tallies:
                raise ParameterError("tallies: must come with frequencies, got none")
            return
        counts = self.people_of_rows
        if counts.shape != (len(self),) or counts.dtype.kind != "i" or (counts.size and counts.min() < 1):
            raise ParameterError(f"frequencies: must be {len(self)} whole numbers above 0, one for each row")
        if self.layout.sampling.is_design:
            raise ParameterError("frequencies: must not go with a sampling design, which needs each person's row")

    @classmethod
    def read(
        cls,
        path: str | Path,
        layout: Layout | Survey | RandomizedColumn,
        *,
        delimiter: str | None = None,
        skip: int = 0,
    ) -> Table:
        """Read a file: CSV, Parquet, Stata, SPSS or Excel.

        Parameters
        ----------
        path : str or Path
        layout : Layout, Survey or RandomizedColumn
            The description of the columns; a survey describes its own ``reports.csv``.
        delimiter, skip
            As for `deniable_research.files.reading.read_columns`.

        Raises
        ------
        ReportError
            If the file cannot be read, lacks a column, or holds codes that its layout does not know.
        """
        return cls.of(read_columns(path, delimiter, skip), layout)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Iterable[str] | CodedColumn[str]],
        layout: Layout | Survey | RandomizedColumn,
        frequencies: NDArray[np.int64] | None = None,
        tallies: Mapping[str, SupportTally] | None = None,
        partial: Mapping[str, str] | None = None,
    ) -> Table:
        """The table of columns that were read already, as texts or coded, all of the same length.

        Examples
        --------
        Three people in two rows:

        >>> from deniable_research.files import quick_question
        >>> layout = Layout((quick_question("q1: forced-response truth=1/2"),))
        >>> table = Table.of({"q1": ("yes", "no")}, layout, np.array([2, 1]))
        >>> table.people, [round(share, 4) for share in table.estimate("q1").share]
        (3, [0.1667, 0.8333])
        """
        if isinstance(layout, Survey):
            layout = Layout.of_survey(layout)
        elif isinstance(layout, RandomizedColumn):
            layout = Layout((layout,))
        coded = {name: CodedColumn.of(each) for name, each in columns.items()}
        layout = layout.among({*coded, *(tallies or ())})
        reports = {}
        added = tallies or {}
        for question in layout.questions:
            if question.name in added:
                continue
            for column in filter(None, (question.column, question.group, question.arm and question.arm[0])):
                _require(coded, column, layout)
            said = coded[question.column]
            # Arms may share a column, in which each design gives the same codes another meaning.
            if question.arm is not None:
                said = said.only(coded[question.arm[0]].equal_label(*question.arm_labels))
            reports[question.name] = question.read(said, frequencies)
        found = cls(layout, coded, reports, frequencies, added, partial or {})
        _check_arms(layout, coded, found.people_of_rows)
        for role in filter(None, (layout.weights, *layout.sampling.columns)):
            _require(coded, role, layout)
        return found

    def __len__(self) -> int:
        # Where an engine has added up all reports, there are frequencies and no columns.
        return len(next(iter(self.columns.values()), () if self.frequencies is None else self.frequencies))

    @cached_property
    def people_of_rows(self) -> NDArray[np.int64]:
        """Number of people that each row stands for, shape (rows,)."""
        return ones(len(self)) if self.frequencies is None else self.frequencies

    @property
    def people(self) -> int:
        """Number of people that all rows together stand for."""
        return int(self.people_of_rows.sum())

    def count(self, rows: NDArray[np.bool_]) -> int:
        """Number of people that the rows of a mask, shape (rows,), stand for."""
        return int(of_rows(self.people_of_rows, rows).sum())

    def has_report(self, name: str) -> NDArray[np.bool_]:
        """Whether each person gave a report to a question of one design, shape (people,)."""
        return self.tallies[name].present if name in self.tallies else self._reports(name).present

    @property
    def access(self) -> str | None:
        """`deniable.Survey.access` of a collector's own file, which says whether each report is a person; or None."""
        # A collector's CSV has this column, its exports have it under a name that Stata and SPSS take.
        name = one_report_column(self.layout.names)
        says = {name, *safe_names([name]), ONE_REPORT_HEADING} & self.columns.keys()
        return self.layout.access if says else None

    def answered(self, *names: str) -> NDArray[np.bool_]:
        """Whether each person gave a report to all of these questions, or to any arm of them, shape (people,)."""
        found = np.ones(len(self), dtype=bool)
        for name in names:
            arms = self.layout.mixed.get(name, (name,))
            # Everybody is in one arm, so a report in any of them answers the question.
            found &= np.logical_or.reduce([self.has_report(arm) for arm in arms])
        return found

    def asked(self, name: str) -> NDArray[np.bool_]:
        """Whether each person was asked a question, shape (people,).

        The question of an arm was asked of the people in that arm, a question that devices draw of the people whose
        device drew it. A device reports all that it draws: a row with fewer reports lacks one, nobody knows which, and
        counts as asked.
        """
        whole, box = self.layout.whole(name)
        if box is not None:
            # Whoever answered the whole without a mark for this box was not asked it: the device drew others.
            return self.answered(name) | (self.asked(whole.name) & ~self.answered(whole.name))
        if whole.arm is not None:
            return self.columns[whole.arm[0]].equal_label(*whole.arm_labels)
        group = whole.drawn
        if group is None or not group.is_drawn:
            return np.ones(len(self), dtype=bool)
        members = [question.name for question in self.layout.questions if question.drawn == group]
        # Whoever answered as many of the group as a device draws was asked no other question of it.
        heard = np.sum([self.answered(member) for member in members], axis=0)
        # Questions of the group that the layout leaves out may be among those that the device drew.
        is_complete = heard >= group.draw - (group.size - len(members))
        return np.asarray(self.answered(name) | ~is_complete)

    def reports_of(self, name: str) -> CodedColumn[ReportValue]:
        """The report of each person to one question; 0 or 1 for one box of tick boxes."""
        self._refuse_partial(name)
        return self._reports(name)

    def _refuse_partial(self, name: str) -> None:
        if name in self.partial:
            raise ParameterError(f"{name}: must be counted as a whole for this, got {self.partial[name]} only")

    def _reports(self, name: str) -> CodedColumn[ReportValue]:
        self.layout.question(name)  # raises the error for an unknown name
        if (added := self.layout.whole(name)[0].name) in self.tallies:
            raise ParameterError(
                f"{name}: must be counted report by report for this, but those to {added} were added up"
            )
        if name in self.reports:
            return self.reports[name]
        # The name of a box: its mark is read from the report to the whole question.
        whole, option = self.layout.whole(name)
        space = whole.design.reports
        assert isinstance(space, Texts)
        assert option is not None
        place = whole.options.index(option)
        return self.reports[whole.name].map(lambda report: space.of_box(str(report), place))

    def dropped(self, *names: str) -> int:
        """Number of people without a report to at least one of these questions."""
        return self.people - self.count(self.answered(*names))

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each person, shape (people,); None if the layout names no column of weights.

        Raises
        ------
        ReportError
            If weights are missing, negative, too large or too small to be squared, or not numbers.
        """
        if self.layout.weights is None:
            return None
        weights = self.numbers(self.layout.weights)
        column = f"column {self.layout.weights!r}"
        if bad := int((~np.isfinite(weights) | (weights < 0)).sum()):
            raise ReportError(f"{column}: weights must be numbers of at least 0, {bad} are not")
        if not weights.any():
            raise ReportError(f"{column}: weights must not all be 0")
        if weights.max() > MOST_WEIGHT or weights[weights > 0].min() < 1 / MOST_WEIGHT:  # their squares must be numbers
            raise ReportError(f"{column}: weights must be 0 or from {1 / MOST_WEIGHT:g} to {MOST_WEIGHT:g}")
        return weights

    @cached_property
    def everybody(self) -> SimpleSample:
        """The people of all rows with their weights, as if they had been drawn one by one."""
        if self.weights is None:
            return SimpleSample.alike(self.people_of_rows)
        return replace(SimpleSample.of(self.weights, self.people_of_rows), is_counted=self.is_counted)

    @property
    def is_counted(self) -> bool:
        """Whether rows may stand for several people, because equal rows were counted."""
        return self.frequencies is not None

    @property
    def is_weighted(self) -> bool:
        """Whether people have weights, from a column or from calibration to known margins."""
        return self.layout.weights is not None or self.layout.sampling.margins is not None

    @property
    def is_complex(self) -> bool:
        """Whether standard errors follow from a sampling design."""
        return self.layout.sampling.is_design

    @cached_property
    def sampling(self) -> Sampling | None:
        """The sampling design; None without one. Ask the table of the whole file, since a part lacks clusters."""
        return sampling_of(self.layout.sampling, self) if self.is_complex else None

    def where(self, people: NDArray[np.bool_]) -> Table:
        """The rows of some of the people."""
        columns = {name: texts.where(people) for name, texts in self.columns.items()}
        reports = {name: reports.where(people) for name, reports in self.reports.items()}
        frequencies = None if self.frequencies is None else self.frequencies[people]
        tallies = {name: tally.where(people) for name, tally in self.tallies.items()}
        return replace(self, columns=columns, reports=reports, frequencies=frequencies, tallies=tallies)

    def complete(self, *names: str) -> Table:
        """The rows of the people who gave a report to each of these questions."""
        return self if not self.dropped(*names) else self.where(self.answered(*names))

    def item(self, name: str) -> Item:
        """One question as a column of reports, of the people who gave one.

        Items of one table are about the same people, row by row, only if no report is missing. For an analysis of
        several questions take their items from `complete`, with the names of all of them.
        """
        self._refuse_partial(name)
        return self._item(self.layout.question(name), self.answered(name))

    def boxes_of(self, name: str) -> Item:
        """A question of tick boxes for an analysis of single boxes, some of which may not have been counted."""
        return self._item(self.layout.question(name), self.answered(name))

    def items(self, *names: str) -> tuple[Item, ...]:
        """Several questions, of the people who gave a report to each of them."""
        complete = self.complete(*names)
        return tuple(complete.item(name) for name in names)

    def estimate(self, name: str, people: NDArray[np.bool_] | None = None) -> Estimate:
        """The shares of one question among everybody or some of the people, weighted if the layout has weights.

        People without a report are left out, and for a design of two groups people without a group.
        """
        self._refuse_partial(name)
        question = self.layout.question(name)
        asked = self.answered(name) if people is None else self.answered(name) & people
        whom = self.everybody.where(asked)
        if name in self.tallies:
            return self.tallies[name].where(asked).estimate(question.design, whom)
        if question.design.groups == 1:
            return self._item(question, asked).estimate(whom)
        return self._estimate_groups(question, asked)

    def groups_of(self, name: str) -> NDArray[np.int64]:
        """The group of each person in the design of a question, counted from 0, shape (people,); -1 if it is missing.

        For the question of an arm, only people in that arm must have a group: other codes, such as a 0, are ignored.

        Raises
        ------
        ReportError
            If the column holds other codes than those of the groups.
        """
        question = self.layout.question(name)
        assert question.group is not None
        places: dict[object, int] = {alike(code): place for place, code in enumerate(question.groups)}
        # Such people are known to be in no group; any other code is an error.
        places |= dict.fromkeys(map(alike, question.group_missing), -1)
        texts = self.columns[question.group]
        # As for reports, labels are read only if all of them are names of the groups.
        labelled = texts.labelled()
        if labelled is not None and set(map(alike, labelled.values)) <= places.keys():
            texts = labelled
        groups = texts.map(lambda text: places.get(alike(text)))
        strange = texts.present & ~groups.present & self.asked(name)
        if unknown := self.count(strange):
            raise ReportError(
                f"column {question.group!r}: must hold the groups {', '.join(map(repr, question.groups))} or a text of "
                f"group_missing, got something else in {unknown} row{'s' if unknown > 1 else ''}, first "
                f"{texts[int(strange.argmax())]!r:.40}; people who were asked directly (0 in RRreg) are an arm of the "
                f'question, arm = "{question.group}", with design = "direct"'
            )
        return groups.array(np.int64, -1)

    def arms(self, name: str) -> tuple[ArmReports, ...]:
        """The rows of each arm of a question; a question with one design has one arm."""
        return tuple(
            ArmReports(
                question,
                self.asked(question.name),
                self.groups_of(question.name) if question.design.groups > 1 else None,
                self.reports_of(question.name),
            )
            for question in self.layout.arms(name)
        )

    def labels(self, column: str) -> CodedColumn[str]:
        """A plain column as the labels of its values if every value has one, else as texts; None for missing values."""
        texts = self.texts(column)
        return texts.labelled() or texts

    def texts(self, column: str) -> CodedColumn[str]:
        """A plain column as the texts of the file; None for missing values.

        Raises
        ------
        ReportError
            If there is no such column, or it holds the reports to a question, which are not answers.
        """
        _require(self.columns, column, self.layout)
        if (question := self.layout.reports_in(column)) is not None:
            raise ReportError(
                f"column {column!r}: must be a plain column, got the randomised reports to {question}, "
                "which are not answers"
            )
        known = self.layout.cohorts if column == self.layout.cohort else ()
        if not known:
            return self.columns[column].without(self.layout.missing)
        # A survey may call a cohort "NA", or begin its label with a space: such a label is not a missing value.
        named = {label.strip(): label for label in known}
        texts = self.columns[column].without([each for each in self.layout.missing if each not in named])
        return texts if texts.labels else texts.map(lambda text: named.get(text.strip(), text))

    def levels(self, column: str) -> list[str]:
        """The different labels of a plain column: in the order of the layout, of their numbers, or of the alphabet."""
        texts, labels = self.texts(column), self.labels(column)
        found = set(labels.values)
        # Cohorts that the survey does not name stand behind those whose order it gives.
        if column == self.layout.cohort and self.layout.cohorts:
            return [*self.layout.cohorts, *sorted(found - set(self.layout.cohorts))]
        numbers = dict(zip(labels.values, texts.values, strict=True))  # labels are sorted by their values
        try:
            # Labels stand in the order of their codes: never, sometimes, often.
            return sorted(found, key=lambda label: float(numbers[label]))
        except ValueError:
            return sorted(found)

    def cohorts(self, by: str) -> list[tuple[str | None, NDArray[np.bool_]]]:
        """Pairs of each label of a plain column and a mask, shape (people,), of the people who have it.

        The last pair, with None for the label, has the people without a label, if there are any.
        """
        labels = self.labels(by)
        found: list[tuple[str | None, NDArray[np.bool_]]] = [(level, labels.equal(level)) for level in self.levels(by)]
        return found if labels.present.all() else [*found, (None, ~labels.present)]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A plain column as numbers, NaN where it is missing.

        Raises
        ------
        ReportError
            If some values are not numbers; the message has their number and the first of them.
        """
        labels = self.texts(column)
        numbers = labels.map(read_number)
        bad = labels.present & ~numbers.present
        if bad.any():
            first = str(labels[int(bad.argmax())])
            rows = f"{self.count(bad)} row{'s do' if self.count(bad) > 1 else ' does'} not, first {first!r:.40}"
            raise ReportError(f"column {column!r}: must hold numbers, {rows}{number_hint(first)}")
        return numbers.array(float, np.nan)

    def _item(self, question: RandomizedColumn, asked: NDArray[np.bool_]) -> Item:
        if question.design.groups > 1:
            raise ParameterError(
                f"{question.name}: its design has two groups, which give shares, comparisons and regressions only"
            )
        reports = self._reports(question.name)
        # A row of the matrix for each different report, then one for each person by their codes.
        supports = support_matrix(question.design.reports, reports.values)[reports.codes[asked]]
        about = (question.name, question.design, supports, question.options, question.values, question.drawn)
        return Item(*about, of_rows(self.people_of_rows, asked))

    def _estimate_groups(self, question: RandomizedColumn, asked: NDArray[np.bool_]) -> Estimate:
        groups, design = self.groups_of(question.name), question.design
        kept = np.flatnonzero(asked & (groups >= 0))
        whom, responses = self.everybody.where(kept), self.reports[question.name].array(np.int64, -1)[kept]
        counts = np.zeros((design.groups, design.reports.size))
        np.add.at(counts, (groups[kept], responses), whom.counted)  # += would add once where places are repeated
        if not counts.sum(axis=1).all():
            raise ParameterError(f"{question.name}: must have reports of both groups, got none of one")
        if whom.is_weighted:
            return Estimate.from_counts(design, counts.ravel().tolist(), n_effective=whom.n_effective)
        return Estimate.from_counts(design, counts.astype(int).ravel().tolist())


@dataclass(frozen=True, eq=False)
class ArmReports:
    """The reports to one arm of a question, row by row.

    Attributes
    ----------
    question : RandomizedColumn
    asked : ndarray of bool, shape (rows,)
        Whether each person was asked, as `Table.asked` says.
    groups : ndarray of int64, shape (rows,), or None
        The group of each person, as `Table.groups_of` says; None for designs of one group.
    reports : CodedColumn
        None where a person gave no report.
    """

    question: RandomizedColumn
    asked: NDArray[np.bool_]
    groups: NDArray[np.int64] | None
    reports: CodedColumn[ReportValue]

    def where(self, people: NDArray[np.bool_]) -> ArmReports:
        """The rows of some of the people."""
        groups = None if self.groups is None else self.groups[people]
        return replace(self, asked=self.asked[people], groups=groups, reports=self.reports.where(people))


@dataclass(frozen=True, eq=False)
class SupportTally:
    """The reports to one question, added up for the people of each row: enough for shares, means and comparisons.

    Nearly all reports of tick boxes and subsets of many options are different, so counting equal rows would hardly
    make a table shorter.

    Attributes
    ----------
    supports : ndarray of int64, shape (rows, supports)
        How many of the row's people sent a report that supports each option.
    present : ndarray of bool, shape (rows,)
        Whether all of the row's people sent a report; otherwise none did.
    """

    supports: NDArray[np.int64]
    present: NDArray[np.bool_]

    def where(self, rows: NDArray[np.bool_]) -> SupportTally:
        """The tally of some of the rows."""
        return SupportTally(self.supports[rows], self.present[rows])

    def estimate(self, design: Design, people: SimpleSample) -> Estimate:
        """The shares, from rows of people; see `deniable.Estimate`.

        >>> from deniable import Subset
        >>> subsets = Subset.from_epsilon(3, 1, 1)
        >>> tally = SupportTally(np.array([[3, 1, 0], [2, 2, 2]]), np.array([True, True]))
        >>> tally.estimate(subsets, SimpleSample.alike(np.array([4, 6]))).counts
        (5, 3, 2)
        """
        if not people.is_weighted:
            return Estimate.from_counts(design, self.supports.sum(axis=0).tolist(), people.n)
        total = float(people.weights @ people.frequencies)
        if not total:
            return Estimate.from_counts(design, [0] * self.supports.shape[1], 0)
        # A support that everybody gives may exceed the total by a rounding error.
        weighted = (people.weights @ self.supports).clip(max=total).tolist()
        return Estimate.from_counts(design, weighted, total, people.n_effective)


def read_number(text: str) -> float | None:
    """The number that a text is, which may be NaN; None for another text."""
    try:
        return float(text)
    except ValueError:
        return None


def _check_arms(layout: Layout, columns: Mapping[str, CodedColumn[str]], frequencies: NDArray[np.int64]) -> None:
    """Raise a ReportError if a column of arms holds something that is neither a label of theirs nor missing."""
    for name in layout.mixed:
        column = layout.arm_column(name)
        assert column is not None
        labels = [label for arm in layout.arms(name) for label in arm.arm_labels]
        texts = columns[column].without(layout.missing)
        strange = texts.present & ~texts.equal_label(*labels)
        if rows := int(frequencies[strange].sum()):
            raise ReportError(
                f"column {column!r}: must hold the arms of {name}, {', '.join(labels)}, or nothing; got something else "
                f"in {rows} row{'s' if rows > 1 else ''}, first {texts[int(strange.argmax())]!r:.40}"
            )


def _require(columns: Mapping[str, CodedColumn[str]], column: str, layout: Layout) -> None:
    check_kind(column, str, "column")
    if column in columns:
        return
    shown = ", ".join(list(columns)[:20]) + (", ..." if len(columns) > 20 else "")
    raise ReportError(
        f"column {column!r}: must be one of the file's columns: {shown}{_way_out(columns, column, layout)}"
    )


def _way_out(columns: Iterable[str], lacking: str, layout: Layout) -> str:
    """The end of a message about a column that a file lacks: what to do, where that is known."""
    there = set(columns)
    if there and all(read_number(each) is not None for each in there):
        return "; the first line holds numbers, but must hold the names of the columns"
    asked = [each.column for each in layout.questions]
    # Only the file of a survey as its collector writes it, whose access is known, has to have all questions.
    if layout.access is None or lacking not in asked:
        return ""
    found = next(filter(there.__contains__, asked), None)
    if found is None:
        return f"; if it has another name, say so: --column {lacking}=NAME (in Python columns={{{lacking!r}: NAME}})"
    in_python = f"columns={{{found!r}: {found!r}}}"
    return f"; to read only some questions, name one: --column {found}={found} (in Python {in_python})"
