"""Cohorts of a table side by side: differences, ratios, tests of equality, trends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.files.comparing_among import among_differences
from deniable_research.files.domain_estimates import cohorts_by_option, mean_differences
from deniable_research.files.domains import sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.mixed import compare_arms
from deniable_research.files.report_table import Table
from deniable_research.files.result_rows import ComparisonRow, compared, places_of, tested
from deniable_statistics.classical.designs import NO_YES
from deniable_statistics.comparison import holm
from deniable_statistics.comparison.side_by_side import Cohorts, Figure
from deniable_statistics.intervals import level_of_each
from deniable_statistics.published.method_names import simultaneous
from deniable_statistics.sampling.sample import of_rows


def compare(
    table: Table,
    name: str,
    by: str,
    *,
    line: bool = False,
    options: Sequence[str] = (),
    confidence_level: float = 0.95,
) -> list[ComparisonRow]:
    """Compare the answers to one question between the cohorts of a table.

    Parameters
    ----------
    table : Table
    name : str
        The question.
    by : str
        The plain column of cohorts; people without a cohort and cohorts without reports are left out. For a question
        that was asked by several designs, the column of its arms compares the arms.
    line : bool
        Test for a linear trend over the cohorts, at the numbers that their labels are, or else at 0, 1, 2, ...
    options : sequence of str
        The options to compare; by default all, or *yes* alone for a yes-no question.
    confidence_level : float

    Returns
    -------
    list of ComparisonRow
        For each option the difference and ratio of two cohorts, the test of homogeneity and all pairwise differences of
        more than two, or the trend. Then the test of homogeneity of all options together, and differences of means
        where there are means.

    Raises
    ------
    ParameterError
        If there is no such question or option, or there are fewer than two cohorts with reports.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q: forced-response truth=1/2"),))
    >>> reports = ("yes",) * 430 + ("no",) * 570 + ("yes",) * 380 + ("no",) * 620
    >>> table = Table.of({"q": reports, "wave": ("1",) * 1000 + ("2",) * 1000}, layout)
    >>> row = compare(table, "q", "wave")[0]
    >>> row.measure, row.first, row.second, round(row.estimate, 4), round(row.p_value, 4)
    ('difference', '1', '2', 0.1, 0.0228)
    """
    # Cohorts share one design. Arms have several, so each arm is estimated by its own before shares are compared.
    if name in table.layout.mixed and by == table.layout.arm_column(name) and not line:
        return compare_arms(table, name, options, confidence_level)
    question = table.layout.question(name)
    labels, people = _cohorts(table, name, by)
    if len(labels) < 2:
        raise ParameterError(f"{by}: must have at least 2 cohorts with reports to {name}, got {len(labels)}")
    blank = ComparisonRow(name, conf_level=confidence_level)
    rows: list[ComparisonRow] = []
    if question.has_shares:
        places = _options(question, options)
        shares = cohorts_by_option(table, question, people, places)
        for option, (cohorts, place) in zip(places, shares, strict=True):
            about = replace(blank, option=question.options[option])
            rows += (_trend if line else _shares)(about, labels, cohorts, place)
        # With two options the test of one is that of both; boxes do not exclude each other and have no common test.
        if not line and not options and len(question.options) > 2 and question.design.is_exclusive:
            rows.append(tested(blank, "homogeneity", shares[0][0].homogeneity()))
    if question.mean_values is not None and not line:
        rows += _pairs(blank, "mean difference", labels, mean_differences(table, question, people))
    if not line:
        places = _options(question, options) if question.has_shares else []
        for at, figures in among_differences(table, question, people, places):
            about = blank if at is None else replace(blank, option=question.options[at])
            rows += _pairs(about, "mean difference" if at is None else "among difference", labels, figures)
    if not rows:
        raise ParameterError(f"{name}: has no shares to test for a trend, only a mean")
    return rows


def _cohorts(table: Table, name: str, by: str) -> tuple[list[str], list[NDArray[np.bool_]]]:
    """The labels of the cohorts in which somebody with a positive weight answered a question, and masks of them."""
    every, asked = table.cohorts(by), table.answered(name)
    # Calibration gives weights of its own, so that those of the whole sample count, not the file's column.
    weights = sample_of(table, np.ones(len(table), dtype=bool)).weights
    heard = {
        label: people & asked for label, people in every if label is not None and of_rows(weights, people & asked).any()
    }
    return [*heard], [*heard.values()]


def _options(question: RandomizedColumn, wanted: Sequence[str]) -> list[int]:
    for option in wanted:
        if option not in question.options:
            raise ParameterError(f"option: must be one of {', '.join(question.options)}, got {option!r}")
    if wanted:
        return [question.options.index(option) for option in wanted]
    # The share of no is 1 minus that of yes: its differences and their tests are the same with the other sign.
    return [1] if question.options == NO_YES else list(range(len(question.options)))


def _shares(about: ComparisonRow, labels: Sequence[str], cohorts: Cohorts, option: int) -> Iterator[ComparisonRow]:
    """The rows of one option: a test of several cohorts, their differences, and the ratio of two."""
    if len(labels) > 2:
        yield tested(about, "homogeneity", cohorts.homogeneity(option))
    pairs = itertools.combinations(range(len(labels)), 2)
    # Differences of shares lie in [-1, 1], but the ends of their intervals may not.
    yield from _pairs(about, "difference", labels, [cohorts.difference(i, j, option) for i, j in pairs], (-1, 1))
    if len(labels) == 2:
        yield compared(about, "ratio", labels, cohorts.ratio(0, 1, option))


def _pairs(
    about: ComparisonRow,
    measure: str,
    labels: Sequence[str],
    figures: Sequence[Figure],
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Iterator[ComparisonRow]:
    """A row for each pair of cohorts: simultaneous intervals by Bonferroni's inequality, and Holm's p-values."""
    level = level_of_each(about.conf_level, len(figures))
    pairs, adjusted = itertools.combinations(labels, 2), holm([figure.p_value for figure in figures])
    for cohorts, figure, p in zip(pairs, figures, adjusted, strict=True):
        row = compared(about, measure, cohorts, figure, figure.confidence_interval(level).cut(*within))
        if len(figures) > 1:
            row = replace(row, p_adjusted=p, method=simultaneous(row.method))
        yield row


def _trend(about: ComparisonRow, labels: Sequence[str], cohorts: Cohorts, option: int) -> Iterator[ComparisonRow]:
    """The slope of a share over all cohorts, and the test of a departure from the straight line."""
    slope, departure = cohorts.trend(places_of(labels), option)
    yield compared(about, "trend", (labels[0], labels[-1]), slope)
    if departure:
        yield tested(about, "departure", departure)
