"""A formula over the columns of a table: which model it takes, and with what designs."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.errors import ParameterError
from deniable_research.files.design_files import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.layout import Layout
from deniable_research.files.model_rows import (
    ModelRows,
    answers_to,
    counting,
    model_rows,
    plain_columns,
    shared_responses,
)
from deniable_research.files.report_table import Table, read_number
from deniable_research.regression import Fit, MomentFit, linear, linear_moments, logistic, multinomial
from deniable_research.regression.data import computes_with_columns, sides, variables
from deniable_research.sampling import Domain

PENALTIES = {"auto": "auto", "cauchy": "cauchy", "none": None}
MODELS = ("linear", "logistic")


MOST_LABELS = 50
"""Largest number of labels of a plain outcome: more are the values of a number or of an identifier."""


def regress(
    table: Table,
    formula: str,
    *,
    model: str | None = None,
    likelihood: bool = False,
    penalty: str | None = "auto",
) -> Fit | MomentFit:
    """Fit the model that a formula means, whatever of it is randomised.

    Parameters
    ----------
    table : Table
        Its weights and sampling design, if it has some, are used. Without them rows that are alike are fitted once,
        with their number as frequency: `Fit.n` counts people, `Fit.predict` without new data has a row for each kind.
        Of columns with labels for all values ``C(region)`` takes the labels, ``region`` the values.
    formula : str
        ``"affair ~ age + religious + C(region)"``. Any of its variables may be a randomised question, or one box of
        tick boxes, ``drugs[cocaine]``, on the left or on the right.
    model : {"linear", "logistic"}, optional
        By default linear where the left side is numbers, and logistic where it is a randomised question or labels:
        multinomial if there are more than two. A column of numbers such as 0 and 1 may be taken as labels.
    likelihood : bool
        For a linear model: maximum likelihood of a normal outcome instead of corrected least squares, which assume
        nothing about its shape and take no interactions with what is randomised.
    penalty : {"auto", "cauchy", None}
        As for `deniable_research.regression.logistic`; not cauchy for corrected least squares.

    Raises
    ------
    ParameterError
        If nothing in the formula is randomised; or from the fit.

    Notes
    -----
    Of questions that devices draw, each person was asked some. Who was not asked is not a gap: by design nothing about
    the answer had to do with it, so the likelihood takes what else the person reported. Corrected least squares need
    reports to all questions, and take the people who were asked all of them.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q: forced-response truth=1/2"),))
    >>> table = Table.of({"q": ("yes",) * 430 + ("no",) * 570}, layout)
    >>> fit = regress(table, "q ~ 1")                                      # ln(0.36 / 0.64)
    >>> fit.terms, round(float(fit.params[0]), 4)
    (('Intercept',), -0.5754)
    """
    if model not in (None, *MODELS):
        raise ParameterError(f"model: must be one of {', '.join(MODELS)}, got {model!r}")
    problem = _Problem.of(table, formula)
    problem.check()
    is_logistic = problem.is_logistic(model)
    # kinds of models are refused before columns are looked at: what was asked for is wrong whatever the data
    if is_logistic and likelihood:
        raise ParameterError("likelihood: must go with a linear model; others have no other way")
    by_likelihood = is_logistic or likelihood
    if penalty == "cauchy" and not by_likelihood:
        raise ParameterError("penalty: must be auto or none for corrected least squares, got cauchy; take likelihood")
    rows = problem.rows(by_likelihood)
    randomised = {name: rows.designs[name] for name in problem.predictors}
    if not by_likelihood:
        return linear_moments(formula, rows.data, randomised, **rows.people)
    shared = shared_responses(table, problem.questions, problem.outcome)
    settings: dict[str, Any] = {"randomised": randomised, "shared": shared, "penalty": penalty, **rows.people}
    return _categorical(problem, rows, settings) if is_logistic else linear(formula, rows.data, **settings)


def _categorical(problem: _Problem, rows: ModelRows, settings: dict[str, Any]) -> Fit:
    """The logistic or multinomial model; labels of a plain outcome are answers to a direct question."""
    # backticks, because a question may be named like Python of another meaning, as drugs[cocaine]
    data, text = rows.data, f"`{problem.outcome}` ~ {problem.right}"
    if problem.is_randomised:
        design, options = rows.designs[problem.outcome], answers_to(problem.table, problem.outcome)
    else:
        options = tuple(problem.table.levels(problem.outcome))
        if len(options) < 2:
            raise ParameterError(f"formula: {problem.outcome} must have at least 2 labels, got {len(options)}")
        # Each label but one has coefficients of its own, and a fit takes the cube of their number.
        if len(options) > MOST_LABELS:
            raise ParameterError(
                f"formula: {problem.outcome} must have at most {MOST_LABELS} labels, got {len(options)}; "
                "numbers have a linear model"
            )
        design = direct(options)
        data[problem.outcome] = rows.columns[problem.outcome].array(object, None)
    if len(options) == 2:
        return logistic(text, data, design, **settings)
    return multinomial(text, data, design, truths=options, **settings)


@dataclass(frozen=True)
class _Problem:
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
    """

    table: Table
    domain: Domain | None
    formula: str
    outcome: str
    right: str
    predictors: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, formula: str) -> _Problem:
        left, right = sides(formula)
        domain = None
        if table.sampling is not None:  # before people of weight 0 leave: they still tell how the sample was drawn
            domain = domain_of(table, table.sampling.weights > 0, questions_in(table, formula))
        weights = counting(table).get("weights", np.ones(len(table)))
        if not weights.all():
            table = table.where(weights > 0)  # the others count nothing
        return cls(table, domain, formula, left.strip("`"), right, tuple(_questions(table, right)))

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
        # an outcome that is computed may compute with whole columns, as scale(income) does
        computed = [self.right] if self.is_randomised or self.outcome in columns else [*sides(self.formula)]
        return model_rows(
            self.table,
            self.domain,
            plain_columns(self.table, names, self.right),
            self.questions,
            by_likelihood=by_likelihood,
            alike_once=not any(computes_with_columns(side, layout.has) for side in computed),
        )


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
