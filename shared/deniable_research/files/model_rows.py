"""The rows that a likelihood reads: what people reported and through what, each different row once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.designs import Channel
from deniable_research.designs.designs import NO_YES
from deniable_research.files.coded import Coded
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.table import Table
from deniable_research.regression import Grouped, SharedResponse, grouped, response_models
from deniable_research.sampling import Domain
from deniable_statistics.designs.design import Design


@dataclass(frozen=True)
class ModelRows:
    """Columns of a table as models take them.

    Attributes
    ----------
    columns : mapping of str to Coded
    data : mapping of str to ndarray
        The same as numbers, or objects with None.
    designs : mapping of str to Design or Grouped
        What the answers to each question went through, row by row where that differs.
    people : mapping
        How rows count: ``frequencies``, ``weights`` or ``domain``, as models call them.
    """

    columns: Mapping[str, Coded[Any]]
    data: dict[str, NDArray[Any]]
    designs: Mapping[str, Design | Grouped]
    people: Mapping[str, Any]


def model_rows(
    table: Table,
    domain: Domain | None,
    columns: Mapping[str, Coded[Any]],
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
    columns : mapping of str to Coded
        The plain columns of the model, in their order; of questions what stands there is replaced.
    questions : sequence of str
        The randomised questions of the model.
    by_likelihood : bool
        Whether people who were not asked all of them count with what they were asked.
    alike_once : bool
        Whether rows that are alike may be put together: not where a formula computes with whole columns.
    """
    if by_likelihood and questions:
        heard = np.logical_or.reduce([_asked(table, name) for name in questions])
        if not heard.all():  # whoever was asked none of it says nothing
            left = None if domain is None else domain.where(heard)
            kept = {name: column.where(heard) for name, column in columns.items()}
            return model_rows(table.where(heard), left, kept, questions, alike_once=alike_once)
    found, models = dict(columns), {}
    for name in questions:
        found[name], by, models[name] = _question(table, name, by_likelihood)
        if by is not None:
            found[_design_column(name)] = by
    if table.frequencies is not None and (table.weights is not None or not alike_once):
        what = "weights" if table.weights is not None else "formula"
        hint = "a model of counted rows takes no weights"
        if table.weights is None:
            hint = "a formula of counted rows must not compute with whole columns"
        raise ParameterError(f"{what}: must be left out of models of rows that were counted; {hint}")
    if domain is not None:
        counted: dict[str, Any] = {"domain": domain}
    elif table.weights is not None:
        counted = {"weights": table.weights}
    elif alike_once and found:
        found, people = patterns(found, table.frequencies)
        counted = {"frequencies": people}
    else:
        counted = {}
    data = {name: _values(column, name in models) for name, column in found.items()}
    for name, values in data.items():
        if len(table) and pd.isna(values).all():
            raise ParameterError(f"formula: {name} must hold something, but its column is empty in every row")
    designs = {
        name: grouped(dict(enumerate(each)), data[_design_column(name)]) if isinstance(each, list) else each
        for name, each in models.items()
    }
    return ModelRows(found, data, designs, counted)


def shared_responses(table: Table, questions: Sequence[str], outcome: str | None = None) -> list[SharedResponse]:
    """The responses that several of these questions share."""
    return [
        SharedResponse(tuple("outcome" if name == outcome else name for name in members), group.draw, group.joint)
        for group, members in table.layout.groups_in(questions).items()
        if group.joint is not None and len(members) > 1
    ]


def answers_to(table: Table, name: str) -> tuple[str, ...]:
    """The answers to a question; of two-group designs no and yes."""
    question = table.layout.arms(name)[0]
    return NO_YES if question.design.groups > 1 else question.options


def plain_columns(table: Table, names: Iterable[str], formula: str = "") -> dict[str, Coded[Any]]:
    """Columns as they stand in the file, and with labels where a formula says ``C(column)``."""
    found: dict[str, Coded[Any]] = {}
    for name in names:
        if not table.layout.has(name) and name in table.columns:
            is_category = re.search(rf"\bC\(\s*`?{re.escape(name)}`?\s*[,)]", formula)
            found[name] = table.labels(name) if is_category else table.texts(name)
    return found


def _asked(table: Table, name: str) -> NDArray[np.bool_]:
    """Who was asked a question; of several designs everybody, because who is in no arm is missing."""
    return np.ones(len(table), dtype=bool) if name in table.layout.mixed else table.asked(name)


def _question(table: Table, name: str, by_likelihood: bool) -> tuple[Coded[Any], Coded[Any] | None, Design | list[Any]]:
    """The reports to a question, which design each went through if that differs, and the designs."""
    arms = table.layout.arms(name)
    asked = _asked(table, name) if by_likelihood else np.ones(len(table), dtype=bool)
    if len(arms) == 1 and arms[0].design.groups == 1 and asked.all():
        return table.reports_of(name), None, _design(arms[0])
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
        said = np.full(len(table), None, dtype=object)
        for arm in arms:
            one = table.reports_of(arm.name)
            said[one.present] = one.array(object, None)[one.present]
        reports = Coded.of(said.tolist())
    if not asked.all():
        reports = reports.filled(~asked, 0)  # any report will do
        by[~asked] = len(models)
        models.append(None)
    return reports, Coded.of([None if each < 0 else each for each in by.tolist()]), models


def _design(question: RandomizedColumn) -> Design:
    design: Design = question.design
    if not question.has_shares:
        raise ParameterError(f"formula: must not have {question.name}, a number of which only the mean is estimated")
    if design.publish() and design.reports.supports_one and question.options != design.truths:
        return Channel(design.exact_channels[0], truths=question.options, name=design.name)
    return design


def _design_column(name: str) -> str:
    """Where it stands what the answer of each person went through, if that differs."""
    return f"design of {name}"


def patterns(
    columns: Mapping[str, Coded[Any]], frequencies: NDArray[np.int64] | None = None
) -> tuple[dict[str, Coded[Any]], NDArray[np.int64]]:
    """The different rows of some columns, in the order in which they were found, and how many people have each.

    With frequencies each row is so many people already.

    >>> columns, people = patterns({"q": Coded.of([1, 0, 1, 1]), "arm": Coded.of(["a", "a", None, "a"])})
    >>> {name: list(column) for name, column in columns.items()}, people.tolist()
    ({'q': [1, 0, 1], 'arm': ['a', 'a', None]}, [2, 1, 1])
    """
    places = list(range(len(columns)))
    every = pd.DataFrame(dict(enumerate(column.codes for column in columns.values())), columns=places)
    if frequencies is not None:
        every[len(places)] = frequencies
    alike = every.groupby(places, sort=False)
    people = alike.size() if frequencies is None else alike[len(places)].sum()
    found = people.index.to_frame()
    return {
        name: Coded(found[place].to_numpy(np.int32), column.values)
        for place, (name, column) in enumerate(columns.items())
    }, people.to_numpy(np.int64)


def _values(column: Coded[Any], are_reports: bool) -> NDArray[Any]:
    """A column as formulas take it: numbers with NaN, or objects with None; reports of 0 and 1 are not numbers."""
    if are_reports and any(isinstance(value, str) for value in column.values):
        return column.array(object, None)
    try:
        return column.map(float).array(float, np.nan)
    except ValueError:
        return column.array(object, None)
