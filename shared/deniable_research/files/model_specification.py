"""What a formula asks of a table: its questions and columns, and the rows that a likelihood reads of them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.patterns import Pattern
from deniable_research.files.coded import CodedColumn, patterns
from deniable_research.files.design_files import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_research.files.report_table import Table, read_number
from deniable_research.regression import Grouped, SharedResponse, grouped, response_models
from deniable_research.regression.formula import computes_with_columns, sides, variables
from deniable_statistics.classical import Channel
from deniable_statistics.classical.designs import NO_YES
from deniable_statistics.designs.design import Design
from deniable_statistics.sampling import Domain

MOST_LABELS = 50
"""Largest number of labels of a plain outcome: more are the values of a number or of an identifier."""


@dataclass(frozen=True)
class ModelSpecification:
    """What a formula asks of the people of a table who count.

    Attributes
    ----------
    table : Table
    domain : Domain or None
        Its people among all who were drawn.
    outcome, right : str
        The two sides of the formula.
    predictors : tuple of str
        The randomised questions on the right.
    needs_whole_columns : bool
        Whether the formula computes with whole columns, as ``scale(age)`` does: then rows that are alike stay apart.
    """

    table: Table
    domain: Domain | None
    formula: str
    outcome: str
    right: str
    predictors: tuple[str, ...]
    needs_whole_columns: bool

    @classmethod
    def of(cls, table: Table, formula: str) -> ModelSpecification:
        """Read the two sides of a formula; rows of people who count nothing are left out."""
        left, right = sides(formula)
        outcome, is_column = left.strip("`"), table.layout.has
        predictors = tuple(_questions(table, right))
        # an outcome that is computed may compute with whole columns, as scale(income) does
        computed = [right] if is_column(outcome) or outcome in table.columns else [left, right]
        needs_whole_columns = any(computes_with_columns(side, is_column) for side in computed)
        domain = None
        if table.sampling is not None:  # before people of weight 0 leave: they still tell how the sample was drawn
            domain = domain_of(table, table.sampling.weights > 0, questions_in(table, formula))
        weights = counting(table).get("weights", np.ones(len(table)))
        if not weights.all():
            table = table.where(weights > 0)  # the others count nothing
        return cls(table, domain, formula, outcome, right, predictors, needs_whole_columns)

    @cached_property
    def is_randomised(self) -> bool:
        """Whether the outcome is a randomised question."""
        return self.table.layout.has(self.outcome)

    @cached_property
    def questions(self) -> list[str]:
        """All randomised questions, the outcome first."""
        return [*([self.outcome] if self.is_randomised else []), *self.predictors]

    def check(self) -> None:
        """Raise a ParameterError unless something is randomised, on one side, by answers that exclude each other."""
        if not self.questions:
            named = ", ".join(self.table.layout.names)
            raise ParameterError(f"formula: must have a randomised question ({named}), got none")
        if self.outcome in self.predictors:
            raise ParameterError(f"formula: must not have {self.outcome} on both sides")
        for name in self.questions:
            if not all(arm.design.is_exclusive for arm in self.table.layout.arms(name) if arm.has_shares):
                box = f"{name}[{answers_to(self.table, name)[0]}]"
                where = f"{box} ~ ..." if name == self.outcome else f"... ~ {box}"
                raise ParameterError(
                    f"formula: {name} must be one box of its question, such as {where}, because a person may tick "
                    "several"
                )
        if not self.is_randomised:
            _check_outcome(self.table, self.outcome)

    def is_logistic(self, model: str | None) -> bool:
        """Whether the model is logistic or multinomial.

        Raises
        ------
        ParameterError
            If it is linear, and the outcome holds no numbers.
        """
        by_default = self.is_randomised or _is_of_labels(self.table, self.outcome)
        if model == "logistic" or (model is None and by_default):
            return True
        if self.is_randomised:
            raise ParameterError(f"model: must be logistic for {self.outcome}, whose reports are not numbers")
        if self.outcome in self.table.columns:
            self.table.numbers(self.outcome)  # says which text is not a number
        return False

    def rows(self, by_likelihood: bool) -> ModelRows:
        """The rows of the model, each different one once unless the formula computes with whole columns.

        A likelihood takes people who were asked some of the questions: two together tell how these go together.
        """
        layout, columns = self.table.layout, self.table.columns
        layout.refuse_never_together(self.questions, at_once=2 if by_likelihood else None)
        (layout.refuse_boxes_of_one_draw if by_likelihood else layout.refuse_one_draw)(self.questions)
        names = columns_in(layout, columns, self.formula)
        _check_columns(self.table, names)
        return model_rows(
            self.table,
            self.domain,
            plain_columns(self.table, names, self.right),
            self.questions,
            by_likelihood=by_likelihood,
            alike_once=not self.needs_whole_columns,
        )

    def answers(self, rows: ModelRows) -> tuple[Design | Grouped, tuple[str, ...]]:
        """What the answers of a logistic or multinomial model went through, and the options.

        Labels of a plain outcome are answers to a direct question; the data of the rows then hold them.

        Raises
        ------
        ParameterError
            If there are not two labels at least, or so many that they are values of a number or an identifier.
        """
        if self.is_randomised:
            return rows.designs[self.outcome], answers_to(self.table, self.outcome)
        options = tuple(self.table.levels(self.outcome))
        if len(options) < 2:
            raise ParameterError(f"formula: {self.outcome} must have at least 2 labels, got {len(options)}")
        # Each label but one has coefficients of its own, and a fit takes the cube of their number.
        if len(options) > MOST_LABELS:
            raise ParameterError(
                f"formula: {self.outcome} must have at most {MOST_LABELS} labels, got {len(options)}; "
                "numbers have a linear model"
            )
        rows.data[self.outcome] = rows.columns[self.outcome].array(object, None)
        return direct(options), options


def _check_outcome(table: Table, outcome: str) -> None:
    """Raise a ParameterError unless a plain outcome is computed from plain columns."""
    for name in _columns_of_outcome(table.layout, table.columns, outcome):
        if table.layout.has(name):
            raise ParameterError(f"formula: {name} must not be within {outcome}, because its reports are not answers")
    _check_columns(table, _columns_of_outcome(table.layout, table.columns, outcome))


def _check_columns(table: Table, names: Iterable[str]) -> None:
    """Raise a ParameterError unless each is a question or a column."""
    for name in names:
        if not table.layout.has(name) and name not in table.columns:
            known = ", ".join(list(table.columns)[:20])
            raise ParameterError(f"formula: {name} must be a column of the file ({known})")


def _is_of_labels(table: Table, outcome: str) -> bool:
    """Whether a plain outcome is a column of labels, none of which is a number."""
    if outcome not in table.columns:
        return False
    return not table.texts(outcome).map(read_number).present.any()


def questions_in(table: Table, formula: str) -> list[str]:
    """The randomised questions that a formula names, each arm of those that were asked by several designs."""
    left, right = sides(formula)
    outcome = left.strip("`")
    named = [*filter(table.layout.has, [outcome]), *_questions(table, right)]
    return [arm.name for name in named for arm in table.layout.arms(name)]


def _questions(table: Table, right: str) -> list[str]:
    return [name for name in variables(right, table.layout.has) if table.layout.has(name)]


def columns_in(layout: Layout, columns: Container[str], formula: str) -> list[str]:
    """The questions and columns that a formula names, with what its outcome is computed from."""
    left, right = sides(formula)
    return [*_columns_of_outcome(layout, columns, left.strip("`")), *variables(right, layout.has)]


def _columns_of_outcome(layout: Layout, columns: Container[str], outcome: str) -> list[str]:
    """The outcome, or what it is computed from, as ``log(income)`` is."""
    # what is no column is computed from columns, such as log(income)
    is_plain = layout.has(outcome) or outcome in columns
    return [outcome] if is_plain else variables(outcome, layout.has)


def plain_columns(table: Table, names: Iterable[str], formula: str = "") -> dict[str, CodedColumn[Any]]:
    """Columns as they stand in the file, and with labels where a formula says ``C(column)``."""
    found: dict[str, CodedColumn[Any]] = {}
    for name in names:
        if not table.layout.has(name) and name in table.columns:
            is_category = re.search(rf"\bC\(\s*`?{re.escape(name)}`?\s*[,)]", formula)
            found[name] = table.labels(name) if is_category else table.texts(name)
    return found


def answers_to(table: Table, name: str) -> tuple[str, ...]:
    """The answers to a question; of two-group designs no and yes."""
    question = table.layout.arms(name)[0]
    return NO_YES if question.design.groups > 1 else question.options


def shared_responses(table: Table, questions: Sequence[str], outcome: str | None = None) -> list[SharedResponse]:
    """The responses that several of these questions share."""
    return [
        SharedResponse(
            tuple("outcome" if name == outcome else name for name in members),
            group.draw,
            group.joint,
            _patterns_of(table.layout, members),
        )
        for group, members in table.layout.groups_in(questions).items()
        if group.joint is not None and len(members) > 1
    ]


def _patterns_of(layout: Layout, members: Sequence[str]) -> tuple[Pattern, ...]:
    """The answers to these questions in each possible pattern of their group; none where all combinations are."""
    arms = [layout.arms(name)[0] for name in members]
    return tuple(tuple(pattern[arm.place] for arm in arms) for pattern in arms[0].patterns or ())


@dataclass(frozen=True)
class ModelRows:
    """Columns of a table as models take them.

    Attributes
    ----------
    columns : mapping of str to CodedColumn
    data : mapping of str to ndarray
        The same as numbers, or objects with None.
    designs : mapping of str to Design or Grouped
        What the answers to each question went through, row by row where that differs.
    people : mapping
        How rows count: ``frequencies``, ``weights`` or ``domain``, as models call them.
    """

    columns: Mapping[str, CodedColumn[Any]]
    data: dict[str, NDArray[Any]]
    designs: Mapping[str, Design | Grouped]
    people: Mapping[str, Any]


def model_rows(
    table: Table,
    domain: Domain | None,
    columns: Mapping[str, CodedColumn[Any]],
    questions: Sequence[str],
    *,
    by_likelihood: bool = True,
    alike_once: bool = True,
) -> ModelRows:
    """Read the rows of a model.

    Parameters
    ----------
    table : Table
    domain : Domain or None
        The people of the table among all who were drawn.
    columns : mapping of str to CodedColumn
        The plain columns of the model, in their order; of questions what stands there is replaced.
    questions : sequence of str
        The randomised questions of the model.
    by_likelihood : bool
        Whether people who were not asked all of them count with what they were asked.
    alike_once : bool
        Whether rows that are alike may be put together: not where a formula computes with whole columns.
    """
    if by_likelihood and not (heard := _heard(table, questions)).all():  # whoever was asked none of it says nothing
        domain = domain and domain.where(heard)
        table, columns = table.where(heard), {name: column.where(heard) for name, column in columns.items()}
    found, models = dict(columns), {}
    for name in questions:
        found[name], by, models[name] = _question(table, name, by_likelihood)
        if by is not None:
            found[_design_column(name)] = by
    # a domain has weights of its own
    people: dict[str, Any] = {"domain": domain} if isinstance(domain, Domain) else counting(table)
    _refuse_counted(people, alike_once)
    if alike_once and found and people.keys() <= {"frequencies"}:
        found, counts = patterns(found, people.get("frequencies"))
        people = {"frequencies": counts}
    data = {name: _values(column, name in models) for name, column in found.items()}
    _refuse_empty(data)
    designs = {
        name: grouped(dict(enumerate(each)), data[_design_column(name)]) if isinstance(each, list) else each
        for name, each in models.items()
    }
    return ModelRows(found, data, designs, people)


def _heard(table: Table, questions: Sequence[str]) -> NDArray[np.bool_]:
    """Who was asked one of the questions at least; everybody where there are none."""
    heard: NDArray[np.bool_] = np.logical_or.reduce(
        [_asked(table, name) for name in questions] or [np.ones(len(table), dtype=bool)]
    )
    return heard


def counting(table: Table) -> dict[str, Any]:
    """How many people the rows of a table stand for, as models call it: ``weights`` and ``frequencies``, if any."""
    given = {"weights": table.weights, "frequencies": table.frequencies}
    return {role: each for role, each in given.items() if each is not None}


def _refuse_counted(people: Mapping[str, Any], alike_once: bool) -> None:
    """Raise a ParameterError if rows that were counted have weights, or their formula computes with whole columns."""
    if "frequencies" in people and "weights" in people:
        what, hint = "weights", "a model of counted rows takes no weights"
    elif "frequencies" in people and not alike_once:
        what, hint = "formula", "a formula of counted rows must not compute with whole columns"
    else:
        return
    raise ParameterError(f"{what}: must be left out of models of rows that were counted; {hint}")


def _refuse_empty(data: Mapping[str, NDArray[Any]]) -> None:
    """Raise a ParameterError that names a column in which every row is empty."""
    for name, values in data.items():
        if len(values) and pd.isna(values).all():
            raise ParameterError(f"formula: {name} must hold something, but its column is empty in every row")


def _asked(table: Table, name: str) -> NDArray[np.bool_]:
    """Who was asked a question; of several designs everybody, because who is in no arm is missing."""
    return np.ones(len(table), dtype=bool) if name in table.layout.mixed else table.asked(name)


def _question(
    table: Table, name: str, by_likelihood: bool
) -> tuple[CodedColumn[Any], CodedColumn[Any] | None, Design | list[Any]]:
    """The reports to a question, which design each went through if that differs, and the designs."""
    arms = table.layout.arms(name)
    asked = _asked(table, name) if by_likelihood else np.ones(len(table), dtype=bool)
    if len(arms) == 1 and arms[0].design.groups == 1 and asked.all():
        return table.reports_of(name), None, _design(arms[0])
    # each row goes by one of the models: of its arm, and of its group within a two-group design
    models: list[Any] = []
    by = np.full(len(table), -1)
    for arm in arms:
        here = table.asked(arm.name) if len(arms) > 1 else asked
        if arm.design.groups > 1:
            groups = table.groups_of(arm.name)
            here = here & (groups >= 0)
            by[here] = len(models) + groups[here]
            models += response_models(arm.design, arm.name)
        else:
            by[here] = len(models)
            models += response_models(_design(arm), arm.name)
    if len(arms) == 1:
        reports = table.reports_of(name)
    else:
        # one column of reports, each as its arm gave it
        said = np.full(len(table), None, dtype=object)
        for arm in arms:
            one = table.reports_of(arm.name)
            said[one.present] = one.array(object, None)[one.present]
        reports = CodedColumn.of(said.tolist())
    if not asked.all():
        reports = reports.filled(~asked, 0)  # any report will do
        by[~asked] = len(models)
        models.append(None)
    return reports, CodedColumn.of([None if each < 0 else each for each in by.tolist()]), models


def _design(question: RandomizedColumn) -> Design:
    design: Design = question.design
    if not question.has_shares:
        raise ParameterError(f"formula: must not have {question.name}, a number of which only the mean is estimated")
    # the file's own names of the answers; a design without parameters to publish keeps its names
    if design.publish() and design.reports.supports_one and question.options != design.truths:
        return Channel(design.exact_channels[0], truths=question.options, name=design.name)
    return design


def _design_column(name: str) -> str:
    """Where it stands what the answer of each person went through, if that differs."""
    return f"design of {name}"


def _values(column: CodedColumn[Any], are_reports: bool) -> NDArray[Any]:
    """A column as formulas take it: numbers with NaN, or objects with None; reports of 0 and 1 are not numbers."""
    # reports such as "0" and "1" stay texts, which their design knows
    if are_reports and any(isinstance(value, str) for value in column.values):
        return column.array(object, None)
    try:
        return column.map(float).array(float, np.nan)
    except ValueError:
        return column.array(object, None)
