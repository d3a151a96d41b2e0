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
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_research.regression import Grouped, SharedResponse, grouped, response_models
from deniable_research.sampling import Domain
from deniable_statistics.designs.design import Design


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
        found, counts = patterns(found, people.get("frequencies", np.ones(len(table), dtype=np.int64)))
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


def plain_columns(table: Table, names: Iterable[str], formula: str = "") -> dict[str, CodedColumn[Any]]:
    """Columns as they stand in the file, and with labels where a formula says ``C(column)``."""
    found: dict[str, CodedColumn[Any]] = {}
    for name in names:
        if not table.layout.has(name) and name in table.columns:
            is_category = re.search(rf"\bC\(\s*`?{re.escape(name)}`?\s*[,)]", formula)
            found[name] = table.labels(name) if is_category else table.texts(name)
    return found


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


def patterns(
    columns: Mapping[str, CodedColumn[Any]], frequencies: NDArray[np.int64]
) -> tuple[dict[str, CodedColumn[Any]], NDArray[np.int64]]:
    """The different rows of some columns, in the order in which they were found, and how many people have each.

    >>> columns = {"q": CodedColumn.of([1, 0, 1, 1]), "arm": CodedColumn.of(["a", "a", None, "a"])}
    >>> found, people = patterns(columns, np.array([1, 1, 1, 5]))
    >>> {name: list(column) for name, column in found.items()}, people.tolist()
    ({'q': [1, 0, 1], 'arm': ['a', 'a', None]}, [6, 1, 1])
    """
    places = list(range(len(columns)))
    # groupby on integer codes: texts of a million rows are compared once, when they are coded
    every = pd.DataFrame(dict(enumerate(column.codes for column in columns.values())), columns=places)
    people = every.assign(people=frequencies).groupby(places, sort=False)["people"].sum()
    alike = people.index.to_frame()
    return {
        name: CodedColumn(alike[place].to_numpy(np.int32), column.values)
        for place, (name, column) in enumerate(columns.items())
    }, people.to_numpy(np.int64)


def _values(column: CodedColumn[Any], are_reports: bool) -> NDArray[Any]:
    """A column as formulas take it: numbers with NaN, or objects with None; reports of 0 and 1 are not numbers."""
    # reports such as "0" and "1" stay texts, which their design knows
    if are_reports and any(isinstance(value, str) for value in column.values):
        return column.array(object, None)
    try:
        return column.map(float).array(float, np.nan)
    except ValueError:
        return column.array(object, None)
