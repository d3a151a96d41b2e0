"""A formula over the columns of a table: which model it takes, and with what designs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.estimation.design import Design
from deniable.mechanisms import OneOfK
from deniable_research.designs import Groups, from_mechanism
from deniable_research.files.coded import Coded
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.table import Table
from deniable_research.regression import Fit, Grouped, MomentFit, grouped, linear, linear_moments, logistic, multinomial
from deniable_research.regression.data import sides, variables

PENALTIES = {"auto": "auto", "cauchy": "cauchy", "none": None}


def regress(
    table: Table,
    formula: str,
    *,
    likelihood: bool = False,
    penalty: str | None = "auto",
) -> Fit | MomentFit:
    """Fit the model that a formula means: a randomised outcome, or a number that depends on randomised answers.

    Parameters
    ----------
    table : Table
        Its weights and clusters, if it has some, are used. Without them rows that are alike are fitted once, with their
        number as frequency: `Fit.n` counts people, `Fit.predict` without new data has a row for each kind. Of columns
        with labels for all values ``C(region)`` takes the labels, ``region`` the values.
    formula : str
        ``"affair ~ age + C(region)"``. With a randomised question on the left: logistic for two truths, multinomial for
        more. With randomised questions on the right and a number on the left: linear. ``drugs[cocaine]`` on the left
        is one box of tick boxes.
    likelihood : bool
        For a linear model: maximum likelihood of a normal outcome instead of corrected least squares, which assume
        nothing about its shape.
    penalty : {"auto", "cauchy", None}
        As for `deniable_research.regression.logistic`.

    Raises
    ------
    ParameterError
        If nothing in the formula is randomised, or both sides are; or from the fit.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q: forced-response truth=1/2"),))
    >>> table = Table.of({"q": ("yes",) * 430 + ("no",) * 570}, layout)
    >>> fit = regress(table, "q ~ 1")                                      # ln(0.36 / 0.64)
    >>> fit.terms, round(float(fit.params[0]), 4)
    (('Intercept',), -0.5754)
    """
    if table.weights is not None and not table.weights.all():
        table = table.where(table.weights > 0)  # the others count nothing
    left, right = sides(formula)
    outcome = left.strip("`")
    predictors = _questions(table, right)
    table.layout.refuse_never_together([outcome, *predictors])
    table.layout.refuse_one_draw([outcome, *predictors])
    if outcome in predictors:
        raise ParameterError(f"formula: must not have {outcome} on both sides")
    columns = _columns(table, [*_columns_of_outcome(table, outcome), *variables(right, table.layout.has)], right)
    settings: dict[str, Any] = {}
    if table.weights is not None:
        settings["weights"] = table.weights
    if table.layout.cluster is not None:
        settings["clusters"] = table.labels(table.layout.cluster).array(object, None)
    has_groups = any(table.layout.question(name).design.groups > 1 for name in filter(table.layout.has, columns))
    if columns and not settings and not has_groups and not likelihood:
        columns, settings["frequencies"] = patterns(columns)
    data = {name: _values(column, table.layout.has(name)) for name, column in columns.items()}
    for name, values in data.items():
        if len(table) and pd.isna(values).all():
            raise ParameterError(f"formula: {name} must hold something, but its column is empty in every row")
    if table.layout.has(outcome):
        if predictors:
            raise ParameterError(
                f"formula: must have randomised answers on one side only, got {outcome} and {', '.join(predictors)}"
            )
        if likelihood:
            raise ParameterError("likelihood: must go with a number as outcome; randomised outcomes have no other way")
        question = table.layout.question(outcome)
        if not question.design.is_exclusive:
            raise ParameterError(
                f"formula: {outcome} must be one box of its question, such as {outcome}[{question.options[0]}] ~ ..., "
                "because a person may tick several"
            )
        design = _design(table, question)
        text = f"`{outcome}` ~ {right}"
        if len(question.options) == 2 or question.design.groups > 1:
            return logistic(text, data, design, penalty=penalty, **settings)
        return multinomial(text, data, design, truths=question.options, penalty=penalty, **settings)
    if not predictors:
        named = ", ".join(question.name for question in table.layout.questions)
        raise ParameterError(f"formula: must have a randomised question ({named}), got none")
    for name in _columns_of_outcome(table, outcome):
        if table.layout.has(name):
            raise ParameterError(f"formula: {name} must not be within {outcome}, because its reports are no answers")
        if name not in data:
            known = ", ".join(list(table.columns)[:20])
            raise ParameterError(f"formula: {name} must be a column of the file ({known})")
        if data[name].dtype == object:
            table.numbers(name)  # says which text is no number
    designs = {name: _design(table, table.layout.question(name)) for name in predictors}
    if likelihood:
        return linear(formula, data, designs, penalty=penalty, **settings)
    return linear_moments(formula, data, designs, **settings)


def questions_in(table: Table, formula: str) -> list[str]:
    """The randomised questions that a formula names."""
    left, right = sides(formula)
    outcome = left.strip("`")
    return [*filter(table.layout.has, [outcome]), *_questions(table, right)]


def _questions(table: Table, right: str) -> list[str]:
    return [name for name in variables(right, table.layout.has) if table.layout.has(name)]


def _columns_of_outcome(table: Table, outcome: str) -> list[str]:
    """The outcome, or what it is computed from, as ``log(income)`` is."""
    is_plain = table.layout.has(outcome) or outcome in table.columns
    return [outcome] if is_plain else variables(outcome, table.layout.has)


def _columns(table: Table, names: Iterable[str], right: str) -> dict[str, Coded[Any]]:
    """The columns that a formula names: reports; labels where it says ``C(column)``; else what stands in the file."""
    found: dict[str, Coded[Any]] = {}
    for name in names:
        if table.layout.has(name):
            found[name] = table.reports_of(name)
        elif name in table.columns:
            is_category = re.search(rf"\bC\(\s*`?{re.escape(name)}`?\s*[,)]", right)
            found[name] = table.labels(name) if is_category else table.texts(name)
    return found


def patterns(columns: Mapping[str, Coded[Any]]) -> tuple[dict[str, Coded[Any]], NDArray[np.int64]]:
    """The different rows of some columns, in the order in which they were found, and how many people have each.

    >>> columns, people = patterns({"q": Coded.of([1, 0, 1, 1]), "arm": Coded.of(["a", "a", None, "a"])})
    >>> {name: list(column) for name, column in columns.items()}, people.tolist()
    ({'q': [1, 0, 1], 'arm': ['a', 'a', None]}, [2, 1, 1])
    """
    places = list(range(len(columns)))
    every = pd.DataFrame(dict(enumerate(column.codes for column in columns.values())), columns=places)
    people = every.groupby(places, sort=False).size()
    found = people.index.to_frame()
    return {
        name: Coded(found[place].to_numpy(np.int32), column.values)
        for place, (name, column) in enumerate(columns.items())
    }, people.to_numpy(np.int64)


def _values(column: Coded[Any], are_reports: bool) -> NDArray[Any]:
    """A column as formulas take it: numbers with NaN, or objects with None; reports of 0 and 1 are no numbers."""
    if are_reports and any(isinstance(value, str) for value in column.values):
        return column.array(object, None)
    try:
        return column.map(float).array(float, np.nan)
    except ValueError:
        return column.array(object, None)


def _design(table: Table, question: RandomizedColumn) -> Design | Grouped:
    if isinstance(question.design, Groups):
        groups = table.groups_of(question.name).astype(object)
        groups[groups < 0] = None
        return grouped(question.design, groups)
    if not question.has_shares:
        raise ParameterError(f"formula: must not have {question.name}, a number of which only the mean is estimated")
    if isinstance(question.design, OneOfK) and question.options != question.design.truths:
        return replace(from_mechanism(question.design), truths=question.options, responses=())
    return question.design
