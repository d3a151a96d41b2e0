"""A formula over the columns of a table: which model it takes, and with what designs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.estimation.design import Design
from deniable.mechanisms import OneOfK
from deniable_research.designs import Groups, from_mechanism
from deniable_research.designs.designs import NO_YES
from deniable_research.files.coded import Coded
from deniable_research.files.designs import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.table import Table, read_number
from deniable_research.regression import (
    Fit,
    Grouped,
    MomentFit,
    SharedResponse,
    grouped,
    linear,
    linear_moments,
    logistic,
    multinomial,
)
from deniable_research.regression.data import sides, variables
from deniable_research.sampling import Domain

PENALTIES = {"auto": "auto", "cauchy": "cauchy", "none": None}
MODELS = ("linear", "logistic")


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
        As for `deniable_research.regression.logistic`.

    Raises
    ------
    ParameterError
        If nothing in the formula is randomised; or from the fit.

    Notes
    -----
    Of questions that devices draw, each person was asked some. Who was not asked is no gap: by design nothing about
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
    left, right = sides(formula)
    domain = None
    if table.sampling is not None:
        domain = domain_of(table, table.sampling.weights > 0, questions_in(table, formula))
    if table.weights is not None and not table.weights.all():
        table = table.where(table.weights > 0)  # the others count nothing
    outcome = left.strip("`")
    predictors = _questions(table, right)
    is_randomised = table.layout.has(outcome)
    if not is_randomised and not predictors:
        named = ", ".join(question.name for question in table.layout.questions)
        raise ParameterError(f"formula: must have a randomised question ({named}), got none")
    if outcome in predictors:
        raise ParameterError(f"formula: must not have {outcome} on both sides")
    questions = [*([outcome] if is_randomised else []), *predictors]
    if not is_randomised:
        _check_outcome(table, outcome)
    is_logistic = model == "logistic" or (model is None and (is_randomised or _is_of_labels(table, outcome)))
    if not is_logistic and not is_randomised and outcome in table.columns:
        table.numbers(outcome)  # says which text is no number
    if not is_logistic and is_randomised:
        raise ParameterError(f"model: must be logistic for {outcome}, whose reports are no numbers")
    if is_logistic and likelihood:
        raise ParameterError("likelihood: must go with a linear model; others have no other way")
    by_likelihood = is_logistic or likelihood
    settings: dict[str, Any] = {}
    if by_likelihood:
        table.layout.refuse_never_together(questions, at_once=2)
        table.layout.refuse_boxes_of_one_draw(questions)
        settings = {"shared": _shared(table, questions, outcome), "penalty": penalty}
    else:
        table.layout.refuse_never_together(questions)
        table.layout.refuse_one_draw(questions)
    columns, people = _rows(table, domain, outcome, right, questions if by_likelihood else [])
    settings |= people
    data = {name: _values(column, table.layout.has(name)) for name, column in columns.items()}
    for name, values in data.items():
        if len(table) and pd.isna(values).all():
            raise ParameterError(f"formula: {name} must hold something, but its column is empty in every row")
    designs = {name: _design(table, name, data) for name in questions}
    randomised = {name: designs[name] for name in predictors}
    if not by_likelihood:
        return linear_moments(formula, data, randomised, **settings)
    if not is_logistic:
        return linear(formula, data, randomised, **settings)
    text = f"`{outcome}` ~ {right}"
    if is_randomised:
        question = table.layout.question(outcome)
        design, options = designs[outcome], question.options
        if not question.design.is_exclusive:
            raise ParameterError(
                f"formula: {outcome} must be one box of its question, such as {outcome}[{options[0]}] ~ ..., "
                "because a person may tick several"
            )
        if question.design.groups > 1:
            options = NO_YES
    else:
        options = tuple(table.levels(outcome))
        if len(options) < 2:
            raise ParameterError(f"formula: {outcome} must have at least 2 labels, got {len(options)}")
        design = direct(options)
        data[outcome] = columns[outcome].array(object, None)
    if len(options) == 2:
        return logistic(text, data, design, randomised=randomised, **settings)
    return multinomial(text, data, design, truths=options, randomised=randomised, **settings)


def _shared(table: Table, questions: Sequence[str], outcome: str) -> list[SharedResponse]:
    """The responses that several of these questions share."""
    return [
        SharedResponse(tuple("outcome" if name == outcome else name for name in members), group.draw, group.joint)
        for group, members in table.layout.groups_in(questions).items()
        if group.joint is not None and len(members) > 1
    ]


def _check_outcome(table: Table, outcome: str) -> None:
    """Raise a ParameterError unless a plain outcome is computed from plain columns."""
    for name in _columns_of_outcome(table, outcome):
        if table.layout.has(name):
            raise ParameterError(f"formula: {name} must not be within {outcome}, because its reports are no answers")
        if name not in table.columns:
            known = ", ".join(list(table.columns)[:20])
            raise ParameterError(f"formula: {name} must be a column of the file ({known})")


def _is_of_labels(table: Table, outcome: str) -> bool:
    """Whether a plain outcome is a column of labels, none of which is a number."""
    if outcome not in table.columns:
        return False
    return not table.texts(outcome).map(read_number).present.any()


def _rows(
    table: Table, domain: Domain | None, outcome: str, right: str, questions: Sequence[str]
) -> tuple[dict[str, Coded[Any]], dict[str, Any]]:
    """The columns of a model, and how its rows count; `questions` may be such as some people were not asked."""
    names = [*_columns_of_outcome(table, outcome), *variables(right, table.layout.has)]
    columns = _columns(table, names, right)
    unasked = {name: ~table.asked(name) for name in questions}
    if unasked:
        heard = ~np.logical_and.reduce(list(unasked.values()))
        if not heard.all():  # whoever was asked none of it says nothing
            people = None if domain is None else domain.where(heard)
            return _rows(table.where(heard), people, outcome, right, questions)
    for name, gone in unasked.items():
        if gone.any():
            columns[name] = columns[name].filled(gone, 0)  # any report will do
            columns[_design_column(name)] = Coded.of(gone.tolist())
    for name in filter(table.layout.has, names):
        if table.layout.question(name).design.groups > 1:
            columns[_design_column(name)] = Coded.of([None if g < 0 else g for g in table.groups_of(name).tolist()])
    if domain is not None:
        return columns, {"domain": domain}
    if table.weights is not None:
        return columns, {"weights": table.weights}
    columns, frequencies = patterns(columns)
    return columns, {"frequencies": frequencies}


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


def _design_column(name: str) -> str:
    """Where it stands what the answer of each person went through, if that differs."""
    return f"design of {name}"


def _design(table: Table, name: str, data: Mapping[str, NDArray[Any]]) -> Design | Grouped:
    """What the answers went through, row by row where it differs."""
    question = table.layout.question(name)
    column = _design_column(name)
    if isinstance(question.design, Groups):
        return grouped(question.design, data[column])
    if not question.has_shares:
        raise ParameterError(f"formula: must not have {question.name}, a number of which only the mean is estimated")
    design: Design = question.design
    if isinstance(design, OneOfK) and question.options != design.truths:
        design = replace(from_mechanism(design), truths=question.options, responses=())
    return grouped({False: design, True: None}, data[column]) if column in data else design
