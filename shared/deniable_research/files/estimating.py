"""Estimated shares and means of the questions of a table: the rows that a collector publishes, for any design."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.group import Group
from deniable.wire.space import Count
from deniable_research.files.among_estimates import means_among_of, shares_among_of
from deniable_research.files.correcting import corrected_rows
from deniable_research.files.domain_estimates import boxes_of, combined_of, mean_of, shares_of
from deniable_research.files.domains import sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.mixed import SIGNIFICANCE_LEVEL, agreement, mixed_rows
from deniable_research.files.report_table import Table
from deniable_research.files.result_rows import SampledEstimateRow
from deniable_statistics.classical import combined_share
from deniable_statistics.classical.derived import derived_rows
from deniable_statistics.classical.designs import NO_YES
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import level_of_each
from deniable_statistics.published.published_rows import (
    EstimateOptions,
    EstimateRow,
    Filtered,
    mean_row,
    number_or_none,
    rows_of_among,
    share_rows,
)
from deniable_statistics.sampling.shares import DesignEstimate, DesignMean


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
        Confidence level, method, target, simultaneous intervals, people who misbehave, and reports that may be fake.
        Their share is of all rows of the file, or of the sum of all weights: all fakes may be in one cohort.
    jointly : bool
        Correct by the likelihood of question and anchor together, instead of by their two rates.

    Returns
    -------
    list of EstimateRow
        In the order of cohorts, questions and options, as `deniable.estimate` gives them; `SampledEstimateRow`
        where the layout says how people were drawn. After a question that has an anchor stand its "corrected share"
        rows, and the share of people who attend; under a sampling design they are left out, and `cautions` says so.

    Examples
    --------
    98 of 729 people said yes. The design makes five in six people say yes if it is true, and one in six if it is not:
    even a share of 0 makes about 122 people say so, and the row has a flag.

    >>> from deniable_research.files import Layout, quick_question
    >>> question = quick_question("q1: forced-response truth=2/3 codes=yes:1,no:2")
    >>> table = Table.of({"q1": ("1",) * 98 + ("2",) * 631}, Layout((question,)))
    >>> yes = estimate_shares(table)[1]
    >>> round(yes.estimate, 4), round(yes.p_below, 4), yes.flag[:41]
    (-0.0484, 0.0097, 'fewer reports than a share of 0 explains ')
    """
    asked = wanted or EstimateOptions()
    if asked.misbehaving is not None and table.is_complex:
        raise ParameterError("misbehaving: must not go with a sampling design, whose robust intervals are not known")
    if jointly and table.is_complex:
        raise ParameterError("jointly: must not go with a sampling design, under which nothing is corrected")
    questions = [*names] or table.layout.names
    if asked.assume_fake is not None:
        _check_fakes_known(table, questions)
    rows: list[EstimateRow] = []
    for cohort, people in _cohorts(table, by):
        for name in questions:
            for arm in table.layout.arms(name):
                rows += _rows(table, arm, cohort, people, asked)
                # The errors of corrected shares know of no strata and clusters: see `cautions`.
                if arm.anchor is not None and not table.is_complex:
                    rows += corrected_rows(table, arm, cohort, people, asked, jointly=jointly)
            if name in table.layout.mixed:
                rows += mixed_rows(table, name, cohort, people, asked)
    return rows


def _check_fakes_known(table: Table, names: Iterable[str]) -> None:
    """Raise a ParameterError for questions and samples without intervals that allow for fake reports."""
    if table.is_complex:
        raise ParameterError(
            "assume_fake: must not go with a sampling design, whose intervals with fakes are not known"
        )
    for name in names:
        if name in table.layout.mixed or any(arm.anchor is not None for arm in table.layout.arms(name)):
            raise ParameterError(
                f"assume_fake: must not go with {name}, which has an anchor question or several arms; name the others"
            )


def cautions(table: Table, names: Iterable[str], by: str | None = None) -> list[str]:
    """Sentences to read before results are used, because something makes them doubtful.

    They are about rows that no device can have sent, anchors that correct nothing, options whose counts the design
    hardly explains, and arms that do not agree.
    """
    found = _wrong_draws(table)
    if table.is_complex:
        found += [
            f"{arm.name}: its anchor corrects nothing here, because errors of corrected shares under a sampling design "
            "are not known"
            for name in names
            for arm in table.layout.arms(name)
            if arm.anchor is not None
        ]
    for cohort, people in _cohorts(table, by):
        for name in [arm.name for each in names for arm in table.layout.arms(each)]:
            question = table.layout.question(name)
            for option, flag in zip(question.options, _flags(table, question, people), strict=True):
                if flag:
                    found.append(f"{name}: {option}{f' ({cohort})' if cohort else ''}: {flag}")
        for name in filter(table.layout.mixed.__contains__, names):
            if (test := agreement(table, name, people)) is not None and test.p_value < SIGNIFICANCE_LEVEL:
                found.append(f"{name}{f' ({cohort})' if cohort else ''}: arms do not agree, {test}")
    return found


def _flags(table: Table, question: RandomizedColumn, people: NDArray[np.bool_]) -> Sequence[str | None]:
    """A sentence for each option whose count the design of the question hardly explains; None for the others."""
    if not (table.answered(question.name) & people).any():
        return (None,) * len(question.options)
    boxes = boxes_of(table, question, people)
    return [box.flags[1] for box in boxes] or shares_of(table, question, people).flags


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
    """Pairs of a cohort and a mask of its people; without `by` one pair of None and everybody."""
    return [(None, table.answered())] if by is None else table.cohorts(by)


def _rows(
    table: Table, question: RandomizedColumn, cohort: str | None, people: NDArray[np.bool_], wanted: EstimateOptions
) -> Iterator[EstimateRow]:
    """The rows of one question, of one design, among some of the people."""
    if table.is_complex and wanted.target != "population":
        raise ParameterError(f"target: must be population under a sampling design, got {wanted.target}")
    found = shares_of(table, question, people)
    n = found.people if isinstance(found, DesignEstimate) else table.count(table.answered(question.name) & people)
    part = question.share_asked
    # A person whose device did not ask the question is a respondent too, whose answer is unknown.
    everybody = math.ceil(sample_of(table, people).size) if part < 1 else None
    reports = sample_of(table, table.answered()).size
    if question.has_shares:
        rows = share_rows(
            found, question.name, question.options, question.epsilon, cohort, wanted, n, part, everybody, reports
        )
        boxes = boxes_of(table, question, people)
        for option, row in enumerate(rows):
            yield _of_box(row, boxes[option], wanted, len(rows)) if boxes else _of_share(row, found, option)
        yield from _derived_rows(question, found, cohort, wanted, n, reports)
    if question.is_filtered:
        yield from _among_rows(table, question, found, cohort, people, wanted, n, reports)
    if question.mean_values is not None:
        mean = mean_of(table, question, people)
        row = mean_row(mean, question.name, question.epsilon, cohort, wanted, n, part, reports)
        yield _under_design(row, mean.df, mean.design_effect) if isinstance(mean, DesignMean) else row


def _among_rows(
    table: Table,
    question: RandomizedColumn,
    found: Estimate,
    cohort: str | None,
    people: NDArray[np.bool_],
    wanted: EstimateOptions,
    n: int,
    reports: Count,
) -> Iterator[EstimateRow]:
    """The rows of shares and of the mean among those to whom a question applies."""
    about = Filtered(question.name, question.options[:-1], question.levels, question.epsilon)
    shares = shares_among_of(table, question, [people]) if question.has_shares else None
    mean = None if question.levels is None else means_among_of(table, question, [people])
    rows = rows_of_among(
        shares.groups[0] if shares else None,
        mean.groups[0] if mean else None,
        *(found.n, about, cohort, wanted, question.share_asked, reports, n),
    )
    if not table.is_complex:
        yield from rows
        return
    for place, row in enumerate(rows):
        if row.statistic == "mean" and mean:
            yield _under_design(row, mean.df, mean.design_effect(0, 0))
        elif shares:
            yield _under_design(row, shares.df, shares.design_effect(place, 0))


def _derived_rows(
    question: RandomizedColumn, found: Estimate, cohort: str | None, wanted: EstimateOptions, n: int, reports: Count
) -> Iterator[EstimateRow]:
    """The rows of figures that a design defines from its shares, such as a prevalence over two truths."""
    figures, about = question.design.derived, (question.name, question.epsilon, cohort, wanted, n, reports)
    if not isinstance(found, DesignEstimate):
        yield from derived_rows(found, figures, *about)
        return
    for each, row in zip(figures, derived_rows(found.plain, figures, *about), strict=True):
        figure, (low, high) = combined_of(found, each.part, each.whole, wanted.confidence_level, wanted.method)
        error = number_or_none(figure.std_error)
        row = replace(row, conf_low=low, conf_high=high, std_error=error, method=found.interval_method(wanted.method))
        # The variance of n people drawn one by one: that of the n_effective people of `plain`, times n_effective / n.
        alone = combined_share(found.plain, each.part, each.whole).std_error ** 2 * found.n_effective / max(n, 1)
        yield _under_design(row, found.df, figure.std_error**2 / alone if alone > 0 else math.nan)


def _of_share(row: EstimateRow, found: Estimate, option: int) -> EstimateRow:
    """The row of an option with what a sampling design adds to it."""
    if not isinstance(found, DesignEstimate):
        return row
    return _under_design(row, found.df, float(found.design_effect[option]))


def _of_box(row: EstimateRow, box: DesignEstimate, wanted: EstimateOptions, boxes: int) -> EstimateRow:
    """The row of a box that devices draw with the figures of those who drew it."""
    if not box.n:  # nobody drew it
        return _under_design(replace(row, n=0), box.df, math.nan)
    level = level_of_each(wanted.confidence_level, boxes) if wanted.simultaneous and boxes > 2 else None
    # The box alone has two options, so the correction for all boxes has to be in its level already.
    alone = replace(wanted, confidence_level=level or wanted.confidence_level, simultaneous=False)
    _, yes = share_rows(box, row.question, NO_YES, row.epsilon, wanted=alone)
    figures = {name: getattr(yes, name) for name in ("estimate", "std_error", "conf_low", "conf_high")}
    figures |= {name: getattr(yes, name) for name in ("p_below", "p_above", "flag")}
    method = f"simultaneous {yes.method}" if wanted.simultaneous else yes.method
    return _under_design(replace(row, n=box.people, method=method, **figures), box.df, float(box.design_effect[1]))


def _under_design(row: EstimateRow, df: float, design_effect: float) -> EstimateRow:
    """The row with the degrees of freedom of its error and the design effect; unknown figures are None, not NaN."""
    # NaN alone differs from itself.
    known: dict[str, Any] = {name: None if value != value else value for name, value in vars(row).items()}
    return SampledEstimateRow(**known, df=df, design_effect=number_or_none(design_effect))
