"""The rows of a table as the likelihood of a model reads them: what each answer went through, and how each counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.patterns import Pattern
from deniable_research.files.coded import CodedColumn, patterns
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_research.files.report_table import ArmReports, Table
from deniable_research.regression import Grouped, SharedResponse, grouped, response_models
from deniable_statistics.classical import Channel
from deniable_statistics.designs.design import Design
from deniable_statistics.sampling import Domain


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
    shared : list of SharedResponse
        The responses that several of the questions share.
    """

    columns: Mapping[str, CodedColumn[Any]]
    data: dict[str, NDArray[Any]]
    designs: Mapping[str, Design | Grouped]
    people: Mapping[str, Any]
    shared: list[SharedResponse]


def model_rows(
    table: Table,
    domain: Domain | None,
    columns: Mapping[str, CodedColumn[Any]],
    questions: Sequence[str],
    outcome: str | None = None,
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
    outcome : str, optional
        What its left side is.
    by_likelihood : bool
        Whether people who were not asked all of them count with what they were asked.
    alike_once : bool
        Whether rows that are alike may be put together: not where a formula computes with whole columns.
    """
    arms: dict[str, Sequence[ArmReports]] = {name: table.arms(name) for name in questions}
    if by_likelihood and not (heard := _heard(arms, len(table))).all():  # whoever was asked none of it says nothing
        domain = domain and domain.where(heard)
        table, columns = table.where(heard), {name: column.where(heard) for name, column in columns.items()}
        arms = {name: [arm.where(heard) for arm in each] for name, each in arms.items()}
    found, models = dict(columns), {}
    for name, each in arms.items():
        found[name], by, models[name] = _responses(each, by_likelihood)
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
    return ModelRows(found, data, designs, people, _shared_responses(table.layout, questions, outcome))


def _heard(arms: Mapping[str, Sequence[ArmReports]], people: int) -> NDArray[np.bool_]:
    """Who was asked one of the questions at least; everybody where there are none.

    Whoever is in no arm of a question was asked all the same: which design the answer went through is missing.
    """
    asked = [each[0].asked for each in arms.values() if len(each) == 1]
    everybody = np.ones(people, dtype=bool)
    return everybody if len(asked) < len(arms) or not arms else np.asarray(np.logical_or.reduce(asked))


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


def _responses(
    arms: Sequence[ArmReports], by_likelihood: bool
) -> tuple[CodedColumn[Any], CodedColumn[Any] | None, Design | list[Any]]:
    """The reports to a question, which design each went through if that differs, and the designs."""
    one = arms[0]
    is_of_arms = len(arms) > 1
    asked = np.ones(len(one.asked), dtype=bool) if is_of_arms or not by_likelihood else one.asked
    if not is_of_arms and one.groups is None and asked.all():
        return one.reports, None, _design(one.question)
    # each row goes by one of the models: of its arm, and of its group within a two-group design
    models: list[Any] = []
    by = np.full(len(asked), -1)
    for arm in arms:
        here = arm.asked if is_of_arms else asked
        if arm.groups is None:
            by[here] = len(models)
            models += response_models(_design(arm.question), arm.question.name)
        else:
            here = here & (arm.groups >= 0)
            by[here] = len(models) + arm.groups[here]
            models += response_models(arm.question.design, arm.question.name)
    reports = _as_each_arm_gave_it(arms) if is_of_arms else one.reports
    if not asked.all():
        reports = reports.filled(~asked, 0)  # any report will do
        by[~asked] = len(models)
        models.append(None)
    return reports, CodedColumn.of([None if each < 0 else each for each in by.tolist()]), models


def _as_each_arm_gave_it(arms: Sequence[ArmReports]) -> CodedColumn[Any]:
    """One column of the reports of all arms."""
    said = np.full(len(arms[0].asked), None, dtype=object)
    for arm in arms:
        said[arm.reports.present] = arm.reports.array(object, None)[arm.reports.present]
    return CodedColumn.of(said.tolist())


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


def _shared_responses(layout: Layout, questions: Sequence[str], outcome: str | None) -> list[SharedResponse]:
    """The responses that several of these questions share."""
    return [
        SharedResponse(
            tuple("outcome" if name == outcome else name for name in members),
            group.draw,
            group.joint,
            _patterns_of(layout, members),
        )
        for group, members in layout.groups_in(questions).items()
        if group.joint is not None and len(members) > 1
    ]


def _patterns_of(layout: Layout, members: Sequence[str]) -> tuple[Pattern, ...]:
    """The answers to these questions in each possible pattern of their group; none where all combinations are."""
    arms = [layout.arms(name)[0] for name in members]
    return tuple(tuple(pattern[arm.place] for arm in arms) for pattern in arms[0].patterns or ())
