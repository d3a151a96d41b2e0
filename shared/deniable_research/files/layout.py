"""Layouts: which column of a file of reports holds what, such as randomised questions, weights, clusters, cohorts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError, check_kind
from deniable.survey.document import Survey
from deniable.survey.group import Group
from deniable.survey.patterns import Pattern
from deniable.survey.question import Question
from deniable.wire.space import ReportValue
from deniable_research.attention import Anchor
from deniable_research.attention.anchor import yes_no_support
from deniable_research.files.coded import CodedColumn, alike
from deniable_research.files.samples import SamplingColumns
from deniable_statistics.archive.codebook import allowed_reports, listed, true_answers
from deniable_statistics.classical import of_one_truth
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of, level_values, mean_values

MISSING = ("", "NA", "NaN")
"""Texts that mean a missing value, unless a layout names others."""

_WHOLE = re.compile(r"(-?[0-9]{1,15})(\.0+)?")  # pandas writes 1.0 where a column of integers has gaps


@dataclass(frozen=True)
class RandomizedColumn:
    """One randomised question of a file, and how to read its column.

    Attributes
    ----------
    name : str
        The name of the question in analyses.
    column : str
        Its column in the file.
    design : Design
        The design that randomised the answers.
    options : tuple of str
        Names of the true answers.
    values : tuple of float or None
        The numbers that the true answers stand for; None if they stand for no numbers.
    codes : mapping of str to int or str, or None
        Report value of each text in the column; None for report values as they are, or names of responses.
    missing : tuple of str
        Texts that mean no report.
    group : str or None
        For designs of two groups, the column that says in which group a person is.
    groups : tuple of str
        The labels of that column, in the order of the design's groups.
    group_missing : tuple of str
        Texts of that column that mean no group. They are not those of reports: a 2 may be no answer and a group.
    mean_values : tuple of float or None
        The numbers that answers stand for, as `MeanEstimate.from_counts` takes them; None if there is no mean.
    levels : tuple of float or None
        The numbers of the levels of a scale with a filter, all of whose answers but the last they are.
    patterns : tuple of tuple of int, or None
        The patterns of answers to the questions of its group, if these have one response to the possible ones.
    place : int
        Its place in these patterns.
    is_filtered : bool
        Whether the last answer is that the question does not apply.
    has_shares : bool
        Whether shares of the options are estimated; a numeric question may have a mean only.
    drawn : Group or None
        The group of questions that this one belongs to, of which each device asks some; None for no group.
    arm : tuple of two str, or None
        A column, and its label for the people who were asked by this design; nobody else was.
    anchor : str or None
        The name of the question from which the share of people who attend to this one is estimated; see
        `deniable_research.attention`.
    known_share : Fraction or None
        The known true share of yes, for an anchor question.
    """

    name: str
    column: str
    design: Design
    options: tuple[str, ...]
    values: tuple[float, ...] | None = None
    codes: Mapping[str, ReportValue] | None = None
    missing: tuple[str, ...] = MISSING
    group: str | None = None
    groups: tuple[str, ...] = ("1", "2")
    mean_values: tuple[float, ...] | None = None
    has_shares: bool = True
    group_missing: tuple[str, ...] = MISSING
    drawn: Group | None = None
    arm: tuple[str, str] | None = None
    anchor: str | None = None
    known_share: Fraction | None = None
    levels: tuple[float, ...] | None = None
    is_filtered: bool = False
    patterns: tuple[Pattern, ...] | None = None
    place: int = 0

    def __post_init__(self) -> None:
        if len(self.options) != len(self.design.truths):
            raise ParameterError(f"{self.name}: options must be {len(self.design.truths)}, got {len(self.options)}")
        if self.values is not None and len(self.values) != len(self.options):
            raise ParameterError(f"{self.name}: values must be {len(self.options)} numbers, got {len(self.values)}")
        if self.design.groups > 1:
            if self.group is None:
                raise ParameterError(f"{self.name}: must name the column group, because the design has two groups")
            # Equal codes would put the people of two groups into one.
            if len(set(self.groups)) != self.design.groups:
                raise ParameterError(
                    f"{self.name}: groups must be {self.design.groups} different codes, got {len(self.groups)}"
                )
            for text in self.groups:
                if alike(text) in map(alike, self.group_missing):
                    raise ParameterError(f"{self.name}: group_missing must hold no code of a group, got {text!r}")
        elif self.group is not None:
            raise ParameterError(f"{self.name}: has a group, but its design asks everybody alike")
        for text, value in (self.codes or {}).items():
            if value not in self.design.reports:
                raise ParameterError(f"{self.name}: codes must stand for reports of the design, {text!r} does not")

    @property
    def epsilon(self) -> float:
        """Privacy loss of one report, in nats; infinite for designs of two groups, see `Groups`."""
        # A joint response to the questions of a group is one report, which has one privacy loss.
        return self.drawn.joint.epsilon if self.drawn and self.drawn.joint else self.design.epsilon

    @property
    def arm_labels(self) -> tuple[str, ...]:
        """The texts of the column of arms that mean this arm: its label, or its groups if that column names them too.

        Empty for a question that is no arm.
        """
        if self.arm is None:
            return ()
        column, label = self.arm
        return self.groups if self.group == column else (label,)

    @property
    def is_direct(self) -> bool:
        """Whether reports are the true answers: the channel is the identity matrix."""
        if self.design.groups > 1 or math.isfinite(self.epsilon):
            return False
        # An infinite epsilon alone is not enough: a report may rule out one answer and leave others in doubt.
        channels = self.design.channels
        return channels is not None and np.array_equal(channels[0], np.eye(len(self.options)))

    @property
    def share_asked(self) -> float:
        """The expected share of the people who are asked the question."""
        return self.drawn.share if self.drawn else 1.0

    def box(self, option: str) -> RandomizedColumn:
        """One box of tick boxes as a yes-no question of its own, to the people whose report is about that box."""
        # An option of an exclusive question is no question of its own: whoever has it has no other one.
        boxes = () if self.design.is_exclusive else self.options
        each = self.design.binomials(self.design.expected_if_even, 1)
        if option not in boxes or each is None:
            possible = ", ".join(boxes) or "it has none"
            raise ParameterError(f"{self.name}: must name one of its boxes ({possible}), got {option!r:.40}")
        name = f"{self.name}[{option}]"
        # A box by itself is a yes-no question: ticked or not.
        coin = of_one_truth(each[self.options.index(option)].support, name)
        return replace(
            self, name=name, design=coin, options=coin.truths, values=(0.0, 1.0), codes=None, is_filtered=False
        )

    def decode(self, text: str) -> ReportValue | None:
        """The report that a text of the column stands for; None if it stands for no report."""
        if self.codes is not None:
            # pandas writes the code 1 as 1.0 if a column of integers has gaps.
            whole = _WHOLE.fullmatch(text)
            return self.codes.get(text, self.codes.get(whole[1]) if whole else None)
        reports = self.design.reports
        if reports.json_type is int and (whole := _WHOLE.fullmatch(text)):
            number = int(whole[1])  # also where names are numbers: they are taken by their places
            return number if number in reports else None
        return reports.from_text(text)

    def decode_label(self, label: str) -> ReportValue | None:
        """The report that the label of a value names, ignoring case; None unless exactly one name fits."""
        names = self.codes if self.codes is not None else self.design.reports.labels
        # Programs change the case of labels; where two names differ in nothing else, only an exact one is taken.
        same = [name for name in names if name.casefold() == label.casefold()]
        return self.decode(label if label in names else same[0]) if label in names or len(same) == 1 else None

    def read(
        self, column: CodedColumn[str] | Iterable[str], frequencies: NDArray[np.int64] | None = None
    ) -> CodedColumn[ReportValue]:
        """The reports of a column; None for a missing value.

        If every value has a label, and every label is one of the names that the column may hold, labels are read,
        ignoring case; otherwise the values themselves, whose labels must not name another response. With
        `frequencies`, the numbers of people of the rows, messages count people.

        Raises
        ------
        ReportError
            If rows hold something that is not a report. The message names the column, what it may hold, the number of
            such rows and the first such text, which is noise, a title or a code of the analyst, never an answer. Or if
            a value and its label contradict each other.
        """
        texts = CodedColumn.of(column)
        said = texts.without(self.missing)
        reports: CodedColumn[ReportValue] = said.map(self.decode)
        labelled = said.labelled()
        if labelled is not None:
            by_label: CodedColumn[ReportValue] = labelled.map(self.decode_label)
            if np.array_equal(by_label.present, said.present):
                return by_label  # labels are safer than numbers: a program may have coded no as 1
        unknown = said.present & ~reports.present
        if unknown.any():
            places = np.flatnonzero(unknown).tolist()
            strange = len(places) if frequencies is None else int(frequencies[unknown].sum())
            hint = ""
            # Qualtrics exports two rows of titles below the header, one with the texts and one with ImportIds.
            if frequencies is None and (
                places in ([0], [0, 1]) or any("ImportId" in str(texts[row]) for row in range(len(texts))[:2])
            ):
                hint = "; rows of titles below the header, two in an export of Qualtrics, are left out by --skip 2"
            raise self.refusal(strange, str(texts[places[0]]), hint)
        self._refuse_contradiction(said)
        return reports

    def _refuse_contradiction(self, said: CodedColumn[str]) -> None:
        """Raise a ReportError if a value stands for one response, and its label in the file is the name of another."""
        space = self.design.reports
        # A name that is a number says nothing against another number.
        names = {name.casefold(): name for name in space.labels if not _WHOLE.fullmatch(name)}
        for value in said.values:
            report, name = self.decode(value), names.get(said.labels.get(value, "").casefold())
            if report is not None and name is not None and space.from_text(name) != report:
                by = "codes take" if self.codes is not None else "the design takes"
                taken = next((each for each in names.values() if space.from_text(each) == report), str(report))
                raise ReportError(
                    f"column {self.column!r}: {value!r} must stand for what its label in the file says, "
                    f"{said.labels[value]!r:.60}, but {by} it for {taken!r:.60}; correct one of them"
                )

    def refusal(self, rows: int, first: str, hint: str = "") -> ReportError:
        """The error for a column in which this number of rows holds something that is not a report."""
        return ReportError(
            f"column {self.column!r}: must hold {self.allowed} or nothing ({', '.join(map(repr, self.missing))}), "
            f"got something else in {rows} row{'s' if rows > 1 else ''}, first {first!r:.60}{hint}"
        )

    @property
    def allowed(self) -> str:
        """The texts that the column may hold, in words."""
        return allowed_reports(self.design.reports) if self.codes is None else listed(self.codes)


@dataclass(frozen=True)
class Layout:
    """The columns of a file of reports.

    Attributes
    ----------
    questions : tuple of RandomizedColumn
    weights : str or None
        The column of sampling weights.
    sampling : SamplingColumns
        The columns of the sampling design.
    cohort : str or None
        The column that analyses compare by default.
    cohorts : tuple of str
        Its labels in the order that their author gave; empty if there is no such order.
    missing : tuple of str
        Texts that mean a missing value in the other columns.
    mixed : mapping of str to tuple of str
        Questions that were asked by several designs, and the names of their arms among `questions`.
    access : str or None
        For a collector's own file, `deniable.Survey.access`, which says whether each report is a person.
    if_present : frozenset of str
        Questions that a file may lack: those that nobody named, in another tool's export of a survey.
    """

    questions: tuple[RandomizedColumn, ...]
    weights: str | None = None
    sampling: SamplingColumns = field(default_factory=SamplingColumns)
    cohort: str | None = None
    cohorts: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    access: str | None = None
    if_present: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = [*(question.name for question in self.questions), *self.mixed]
        if not names:
            raise ParameterError("layout: must have at least one randomised question")
        for place, name in enumerate(names):
            if name in names[:place]:
                raise ParameterError(f"layout: questions must have different names, got {name!r} twice")
        for question in self.questions:
            if question.anchor is not None:
                self.anchor_of(question)  # raises the error if it is no anchor

    def anchor_of(self, question: RandomizedColumn) -> Anchor:
        """The anchor of a question that has one.

        Raises
        ------
        ParameterError
            If there is no such question, its share is not known, or either does not have exactly two responses.
        """
        found = next((each for each in self.questions if each.name == question.anchor), None)
        if found is None or found is question:
            others = ", ".join(each.name for each in self.questions if each is not question) or "there is none"
            raise ParameterError(
                f"{question.name}: anchor must be another question ({others}), got {question.anchor!r}"
            )
        if found.known_share is None:
            raise ParameterError(f"{found.name}: must say known_share, such as 0, to be the anchor of {question.name}")
        try:
            yes_no_support(question.design, "question")
            return Anchor(found.design, found.known_share)
        except ParameterError as error:
            raise ParameterError(f"{question.name}, {found.name}: {error}") from None

    def question(self, name: str) -> RandomizedColumn:
        """The randomised question of that name; ``name[option]`` is one box of tick boxes."""
        whole, option = self.whole(name)
        return whole if option is None else whole.box(option)

    def whole(self, name: str) -> tuple[RandomizedColumn, str | None]:
        """The question that a name belongs to, and the option if it names one box, such as ``drugs[cocaine]``.

        Raises
        ------
        ParameterError
            If there is no such question.
        """
        for question in self.questions:
            if question.name == name:
                return question, None
            # A box is written like drugs[cannabis].
            if name.startswith(f"{question.name}[") and name.endswith("]"):
                return question, name[len(question.name) + 1 : -1]
        if name in self.mixed:
            raise ParameterError(
                f"{name}: must be one of its arms for this analysis, {', '.join(self.mixed[name])}; of all arms "
                "together only shares, crosstabs of two and regressions are known"
            )
        raise ParameterError(f"question: must be one of {', '.join(self.names)}, got {name!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions in analyses; a question of several arms has one name."""
        of_arms = {arm: name for name, arms in self.mixed.items() for arm in arms}
        # A question with arms stands once, at the place of its first arm.
        return tuple(dict.fromkeys(of_arms.get(question.name, question.name) for question in self.questions))

    def reports_in(self, column: str) -> str | None:
        """The question whose reports a column holds, if chance went into them; None for a plain column.

        >>> from deniable_research.files import quick_question
        >>> layout = Layout((quick_question("q7: warner p=3/4"), quick_question("q8: direct")))
        >>> layout.reports_in("q7"), layout.reports_in("q8"), layout.reports_in("age")
        ('q7', None, None)
        """
        noisy = [each for each in self.questions if each.column == column and not each.is_direct]
        of_arms = {arm: name for name, arms in self.mixed.items() for arm in arms}
        return of_arms.get(noisy[0].name, noisy[0].name) if noisy else None

    def arm_column(self, name: str) -> str | None:
        """The column that says by which design a person was asked; None if everybody was asked by the same one."""
        arm = self.arms(name)[0].arm
        return None if arm is None else arm[0]

    def arms(self, name: str) -> tuple[RandomizedColumn, ...]:
        """The questions of a name: several if it was asked by several designs."""
        return tuple(map(self.question, self.mixed.get(name, (name,))))

    def is_one_draw(self, first: str, second: str) -> bool:
        """Whether one joint response randomises both: two boxes of a question, or two questions of a group."""
        # Different people answer in different arms, and share no chance.
        if not (self.has(first) and self.has(second)) or {first, second} & self.mixed.keys():
            return False
        (one, _), (other, _) = self.whole(first), self.whole(second)
        if one is other:
            return one.design.is_one_draw
        return one.drawn is not None and one.drawn.joint is not None and one.drawn == other.drawn

    def refuse_one_draw(self, names: Iterable[str]) -> None:
        """Raise a ParameterError if two of these names are of one joint response.

        Their reports are not independent given the answers, so that only crosstabs and likelihoods of them are known.
        """
        names = list(names)
        for first, second in itertools.combinations(filter(self._is_single, names), 2):
            whole, _ = self.whole(first)
            if self.is_one_draw(first, second) and whole is not self.whole(second)[0]:
                raise ParameterError(
                    f"{first}, {second}: must not share one response to be analysed like this, got questions of "
                    f"{whole.drawn}; of these only a crosstab of two and regressions by maximum likelihood are known"
                )
        self.refuse_boxes_of_one_draw(names)

    def refuse_boxes_of_one_draw(self, names: Iterable[str]) -> None:
        """Raise a ParameterError if two names are boxes of a question of which devices draw some."""
        for first, second in itertools.combinations(filter(self._is_single, names), 2):
            whole, _ = self.whole(first)
            if self.is_one_draw(first, second) and whole is self.whole(second)[0]:
                raise ParameterError(
                    f'{whole.name}: must be asked with goal = "together" to analyse {first} and {second} '
                    "like this, because devices draw its boxes and mix one chance into those drawn"
                )

    def refuse_never_together(self, names: Iterable[str], at_once: int | None = None) -> None:
        """Raise a ParameterError if these are more questions of a group than any device asks.

        With `at_once`, for an analysis that takes that many of them at a time, a device has to ask only that many.
        """
        for group, members in self.groups_in(names).items():
            # No device asks more of the group than it draws, so nobody has reports to all of these.
            if min(len(members), at_once or len(members)) > group.draw:
                raise ParameterError(
                    f"{', '.join(members)}: must be asked of the same people to be analysed together, "
                    f"got questions of {group}, of which each device asks {group.draw}"
                )

    def groups_in(self, names: Iterable[str]) -> dict[Group, list[str]]:
        """The groups that some of these questions belong to, each with the names of these questions."""
        found: dict[Group, list[str]] = {}
        for name in dict.fromkeys(self.whole(each)[0].name for each in names if self._is_single(each)):
            if group := self.question(name).drawn:
                found.setdefault(group, []).append(name)
        return found

    def _is_single(self, name: str) -> bool:
        """Whether a name is that of a question of one design, or of a box of it."""
        return self.has(name) and name not in self.mixed

    def has(self, name: str) -> bool:
        """Whether a name is that of a randomised question, or of one of its boxes."""
        return name in self.mixed or any(
            name == each.name or name.startswith(f"{each.name}[") for each in self.questions
        )

    @classmethod
    def of_survey(cls, survey: Survey, columns: Mapping[str, str] | None = None) -> Layout:
        """The layout of a collector's ``reports.csv``, or of another tool's export of the same questions.

        Parameters
        ----------
        survey : Survey
        columns : mapping of str to str, optional
            Question id to column, for exports that give columns other names. With it, a file may lack the other
            questions; without, it has all.
        """
        columns = columns or {}
        check_kind(columns, Mapping, "columns")
        named = {survey.question(question_id).id for question_id in columns}
        # A column that was named for one question holds no other, even if it has the id of that one.
        asked = [each for each in survey.questions if each.id in named or each.id not in columns.values()]
        units = {each.id: unit for unit in survey.units for each in unit.questions}
        found = tuple(
            replace(
                _of_question(each),
                column=columns.get(each.id, each.id),
                patterns=units[each.id].patterns,
                place=units[each.id].questions.index(each),
            )
            for each in asked
        )
        # An export of another tool has a name of its own for cohorts, and nothing that says who was counted.
        if columns:
            return cls(found, cohorts=survey.cohorts, if_present=frozenset(each.id for each in asked) - named)
        return cls(found, cohort="cohort", cohorts=survey.cohorts, access=survey.access)

    def among(self, columns: Container[str]) -> Layout:
        """This layout without the questions that a file may lack and, having these columns, does."""
        kept = tuple(each for each in self.questions if each.name not in self.if_present or each.column in columns)
        return replace(self, questions=kept, if_present=frozenset())

    def with_missing(self, texts: Iterable[str]) -> Layout:
        """This layout, with more texts that mean a missing value."""
        more = tuple(texts)
        # A 9 may be missing in all columns but a group: codes of groups are never missing there.
        questions = tuple(
            replace(
                each,
                missing=(*each.missing, *more),
                group_missing=(
                    *each.group_missing,
                    *(text for text in more if alike(text) not in map(alike, each.groups)),
                ),
            )
            for each in self.questions
        )
        return replace(self, questions=questions, missing=(*self.missing, *more))


def _of_question(question: Question) -> RandomizedColumn:
    """The column of a survey's question in a collector's file."""
    design, numbers = design_of(question.mechanism), mean_values(question)
    values: tuple[float, ...] | None = None
    # Yes is 1 and no is 0, so the mean is the share of yes.
    if question.noise_kind.headline is not None:
        values = (0.0, 1.0)
    elif design.has_shares:
        values = numbers
    return RandomizedColumn(
        question.id,
        question.id,
        design,
        true_answers(question, design),
        values,
        mean_values=numbers,
        has_shares=question.has_shares,
        drawn=question.group,
        levels=level_values(question),
        is_filtered=question.ask_if is not None,
    )
