"""Estimated shares and means of the questions of a table: the rows that a collector publishes, for any design."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.group import Group
from deniable_research.designs.derived import derived_rows
from deniable_research.files.correcting import corrected_rows
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.mixed import UNLIKELY, agreement, mixed_rows
from deniable_research.files.sampled import sampled_doubts, sampled_rows
from deniable_research.files.table import Table
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow, mean_row, share_rows


def estimate_shares(
    table: Table,
    names: Iterable[str] = (),
    *,
    by: str | None = None,
    wanted: EstimateOptions | None = None,
    jointly: bool = False,
) -> list[EstimateRow]:
    """Estimate the shares, and where there are numbers the means, of the questions of a table.

    Parameters
    ----------
    table : Table
    names : iterable of str
        Questions; by default all.
    by : str, optional
        A plain column whose labels are the cohorts; people without a label come last.
    wanted : EstimateOptions, optional
        Confidence level, method, target, simultaneous intervals, people who misbehave, reports that may be fake: a
        share of all rows of the file (with weights of their sum), in whatever cohort they are.
    jointly : bool
        Correct by the likelihood of question and anchor together, instead of by their two rates.

    Returns
    -------
    list of EstimateRow
        In the order of cohorts, questions and options, as `deniable.estimate` gives them; `SampledEstimateRow`
        where the layout says how people were drawn. After a question that has an anchor stand its "corrected share"
        rows, and the share of people who attend.

    Examples
    --------
    98 of 729 people said yes where five of six of all yes and one of six of all no were to say so: fewer than no
    yes at all explains, and the row says so.

    >>> from deniable_research.files import Layout, quick_question
    >>> question = quick_question("q1: forced-response truth=2/3 codes=yes:1,no:2")
    >>> table = Table.of({"q1": ("1",) * 98 + ("2",) * 631}, Layout((question,)))
    >>> yes = estimate_shares(table)[1]
    >>> round(yes.estimate, 4), round(yes.p_below, 4), yes.flag[:41]
    (-0.0484, 0.0097, 'fewer reports than a share of 0 explains ')
    """
    asked = wanted or EstimateOptions()
    if asked.misbehaving is not None and table.sampling is not None:
        raise ParameterError("misbehaving: must not go with a sampling design, whose robust intervals are not known")
    questions = [*names] or table.layout.names
    if asked.assume_fake is not None:
        _check_fakes_known(table, questions)
    rows: list[EstimateRow] = []
    for cohort, people in _cohorts(table, by):
        for name in questions:
            for arm in table.layout.arms(name):
                found = _rows if table.sampling is None else sampled_rows
                rows += found(table, arm, cohort, people, asked)
                if arm.anchor is not None:
                    rows += corrected_rows(table, arm, cohort, people, asked, jointly=jointly)
            if name in table.layout.mixed:
                rows += mixed_rows(table, name, cohort, people, asked)
    return rows


def _check_fakes_known(table: Table, names: Iterable[str]) -> None:
    """Raise a ParameterError where intervals that hold whatever fakes say are not known."""
    if table.sampling is not None:
        raise ParameterError(
            "assume_fake: must not go with a sampling design, whose intervals with fakes are not known"
        )
    for name in names:
        if name in table.layout.mixed or any(arm.anchor is not None for arm in table.layout.arms(name)):
            raise ParameterError(
                f"assume_fake: must not go with {name}, which has an anchor question or several arms; name the others"
            )


def cautions(table: Table, names: Iterable[str], by: str | None = None) -> list[str]:
    """A sentence for every option whose reports the design hardly explains: whatever is made of them is doubtful."""
    found = _wrong_draws(table)
    for cohort, people in _cohorts(table, by):
        for name in [arm.name for each in names for arm in table.layout.arms(each)]:
            flags = (
                table.estimate(name, people).flags if table.sampling is None else sampled_doubts(table, name, people)
            )
            for option, flag in zip(table.layout.question(name).options, flags, strict=True):
                if flag:
                    found.append(f"{name}: {option}{f' ({cohort})' if cohort else ''}: {flag}")
        for name in filter(table.layout.mixed.__contains__, names):
            if (test := agreement(table, name, people)) is not None and test.p_value < UNLIKELY:
                found.append(f"{name}{f' ({cohort})' if cohort else ''}: arms do not agree, {test}")
    return found


def _wrong_draws(table: Table) -> list[str]:
    """A sentence for every group of which some rows hold more or fewer questions than any device asks."""
    members: dict[Group, list[str]] = {}
    for question in table.layout.questions:
        if question.drawn:
            members.setdefault(question.drawn, []).append(question.name)
    found = []
    for group, names in members.items():
        if len(names) == group.size:  # some columns may be left out
            asked = np.sum([table.has_report(name) for name in names], axis=0)
            wrong = table.count(asked != group.draw)
            if wrong:
                found.append(
                    f"{group}: {wrong} of {table.people} rows hold more or fewer of its questions than {group.draw}"
                )
    return found


def _cohorts(table: Table, by: str | None) -> list[tuple[str | None, NDArray[np.bool_]]]:
    return [(None, table.answered())] if by is None else table.cohorts(by)


def _rows(
    table: Table, question: RandomizedColumn, cohort: str | None, people: NDArray[np.bool_], wanted: EstimateOptions
) -> Iterator[EstimateRow]:
    result = table.estimate(question.name, people)
    n = table.count(table.answered(question.name) & people)
    part = question.share_asked
    everybody = math.ceil(_size(table, people)) if part < 1 else None
    reports = _size(table, table.answered())
    if question.has_shares:
        about = (question.name, question.options, question.epsilon, cohort, wanted)
        yield from share_rows(result, *about, n, part, everybody, reports)
        yield from derived_rows(
            result, question.design.derived, question.name, question.epsilon, cohort, wanted, n, reports
        )
    if question.mean_values is not None:
        mean = MeanEstimate.from_counts(
            question.design, result.counts, result.n, question.mean_values, result.n_effective
        )
        yield mean_row(mean, question.name, question.epsilon, cohort, wanted, n, part, reports)


def _size(table: Table, people: NDArray[np.bool_]) -> float:
    """How many people some of the rows stand for, or the sum of their weights."""
    if table.weights is None:
        return table.count(people)
    each = table.weights[people]
    return float(each.sum() if table.frequencies is None else each @ table.frequencies[people])
