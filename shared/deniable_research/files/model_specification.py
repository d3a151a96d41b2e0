"""What a formula asks of a table: its questions and its plain columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.errors import ParameterError
from deniable_research.files.coded import CodedColumn
from deniable_research.files.design_files import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.model_rows import ModelRows, counting, model_rows
from deniable_research.files.report_table import Table, read_number
from deniable_research.regression import Grouped
from deniable_research.regression.formula import columns_in, columns_of_outcome, computes_with_columns, sides, variables
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
    outcome_columns : tuple of str
        The outcome, or the columns from which it is computed, as ``log(income)`` is.
    columns : tuple of str
        All questions and columns that the formula names, with these.
    needs_whole_columns : bool
        Whether the formula computes with whole columns, as ``scale(age)`` does: then rows that are alike stay apart.
    """

    table: Table
    domain: Domain | None
    formula: str
    outcome: str
    right: str
    predictors: tuple[str, ...]
    outcome_columns: tuple[str, ...]
    columns: tuple[str, ...]
    needs_whole_columns: bool

    @classmethod
    def of(cls, table: Table, formula: str) -> ModelSpecification:
        """Read the two sides of a formula; rows of people who count nothing are left out."""
        left, right = sides(formula)
        outcome, is_question, is_column = left.strip("`"), table.layout.has, table.columns.__contains__
        predictors = tuple(_questions(table, right))
        outcome_columns = tuple(columns_of_outcome(outcome, is_question, is_column))
        columns = tuple(columns_in(formula, is_question, is_column))
        # an outcome that is computed may compute with whole columns, as scale(income) does
        computed = [right] if outcome_columns == (outcome,) else [left, right]
        needs_whole_columns = any(computes_with_columns(side, is_question) for side in computed)
        domain = None
        if table.sampling is not None:  # before people of weight 0 leave: they still tell how the sample was drawn
            domain = domain_of(table, table.sampling.weights > 0, questions_in(table, formula))
        weights = counting(table).get("weights", np.ones(len(table)))
        if not weights.all():
            table = table.where(weights > 0)  # the others count nothing
        return cls(table, domain, formula, outcome, right, predictors, outcome_columns, columns, needs_whole_columns)

    @cached_property
    def is_randomised(self) -> bool:
        """Whether the outcome is a randomised question."""
        return self.table.layout.has(self.outcome)

    @cached_property
    def questions(self) -> list[str]:
        """All randomised questions, the outcome first."""
        return [*([self.outcome] if self.is_randomised else []), *self.predictors]

    def refuse_what_no_model_takes(self) -> None:
        """Raise a ParameterError unless something is randomised, on one side, by answers that exclude each other."""
        if not self.is_randomised:
            self._refuse_reports_in_outcome()
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
            self._refuse_unknown(self.outcome_columns)

    def _refuse_reports_in_outcome(self) -> None:
        """Raise a ParameterError if a plain outcome is computed from reports."""
        for name in self.outcome_columns:
            if self.table.layout.has(name):
                written, first = name if name.isidentifier() else f"`{name}`", answers_to(self.table, name)[0]
                raise ParameterError(
                    f"formula: {name} must not be within {self.outcome}, because its reports are not answers; write "
                    f"{written} ~ ..., which compares its other answers with the first one, {first}"
                )

    def _refuse_unknown(self, names: Iterable[str]) -> None:
        """Raise a ParameterError unless each is a question or a column."""
        for name in names:
            if not self.table.layout.has(name) and name not in self.table.columns:
                known = ", ".join(list(self.table.columns)[:20])
                raise ParameterError(f"formula: {name} must be a column of the file ({known})")

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
        layout = self.table.layout
        layout.refuse_never_together(self.questions, at_once=2 if by_likelihood else None)
        (layout.refuse_boxes_of_one_draw if by_likelihood else layout.refuse_one_draw)(self.questions)
        self._refuse_unknown(self.columns)
        plain = plain_columns(self.table, self.columns, self.right)
        return model_rows(
            self.table,
            self.domain,
            plain,
            self.questions,
            self.outcome,
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


def plain_columns(table: Table, names: Iterable[str], formula: str = "") -> dict[str, CodedColumn[Any]]:
    """Columns as they stand in the file, and with labels where a formula says ``C(column)``."""
    found: dict[str, CodedColumn[Any]] = {}
    for name in names:
        if not table.layout.has(name) and name in table.columns:
            category = re.search(rf"\bC\(\s*`?{re.escape(name)}`?\s*[,)]", formula)
            found[name] = table.texts(name) if category is None else table.labels(name)
    return found


def answers_to(table: Table, name: str) -> tuple[str, ...]:
    """The answers to a question; of two-group designs no and yes."""
    question = table.layout.arms(name)[0]
    return NO_YES if question.design.groups > 1 else question.options
