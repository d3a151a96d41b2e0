"""Cohorts of a table side by side: differences, ratios, tests of equality, trends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deniable.errors import ParameterError
from deniable_research.comparison import holm, homogeneity, pairwise, ratio, trend
from deniable_research.designs.designs import NO_YES
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.mixed import compare_arms
from deniable_research.files.rows import ComparisonRow, compared, compared_by, places_of, tested
from deniable_research.files.sampled import compare_sampled
from deniable_research.files.table import Table
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import level_of_each, normal_quantile, two_sided


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
        The plain column of cohorts. People without one are left out, and cohorts without reports. Of a question that
        was asked by several designs it is that of its arms.
    line : bool
        Test for a trend over the cohorts, which stand at their numbers if their labels are numbers, else at
        0, 1, 2, ...
    options : sequence of str
        Compare these options only; by default all, of a yes-no question *yes*.
    confidence_level : float

    Returns
    -------
    list of ComparisonRow
        For each option: differences and ratios (two cohorts), or homogeneity and all differences (more), or the trend.
        Then homogeneity of all options together, and differences of means where there are means.

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
    if name in table.layout.mixed and by == table.layout.arm_column(name) and not line:
        return compare_arms(table, name, options, confidence_level)
    question = table.layout.question(name)
    if table.sampling is not None:
        wanted = _options(question, options) if question.has_shares else []
        every = not line and not options
        return [
            *compare_sampled(
                table, name, by, line=line, options=wanted, all_options=every, confidence_level=confidence_level
            )
        ]
    cohorts = [(label, table.estimate(name, people)) for label, people in table.cohorts(by) if label is not None]
    cohorts = [(label, estimate) for label, estimate in cohorts if estimate.n]
    labels, estimates = [label for label, _ in cohorts], [estimate for _, estimate in cohorts]
    if len(cohorts) < 2:
        raise ParameterError(f"{by}: must have at least 2 cohorts with reports to {name}, got {len(cohorts)}")
    blank = ComparisonRow(
        name, "", "", None, None, None, None, None, None, confidence_level, None, None, None, None, ""
    )
    rows: list[ComparisonRow] = []
    if question.has_shares:
        for option in _options(question, options):
            about = replace(blank, option=question.options[option])
            rows += _trend(about, labels, estimates, option) if line else _shares(about, labels, estimates, option)
        if not line and not options and len(question.options) > 2 and question.design.is_exclusive:
            rows.append(_homogeneity(blank, estimates, None))
    if question.mean_values is not None and not line:
        rows += _means(blank, labels, question, estimates)
    if not rows:
        raise ParameterError(f"{name}: has no shares to test for a trend, only a mean")
    return rows


def _options(question: RandomizedColumn, wanted: Sequence[str]) -> list[int]:
    for option in wanted:
        if option not in question.options:
            raise ParameterError(f"option: must be one of {', '.join(question.options)}, got {option!r}")
    if wanted:
        return [question.options.index(option) for option in wanted]
    # What is said of yes is said of no with the other sign.
    return [1] if question.options == NO_YES else list(range(len(question.options)))


def _shares(
    about: ComparisonRow, labels: Sequence[str], estimates: Sequence[Estimate], option: int
) -> Iterator[ComparisonRow]:
    if len(estimates) > 2:
        yield _homogeneity(about, estimates, option)
    every = pairwise(estimates, option)
    intervals = every.interval(about.conf_level)
    for (i, j), each, adjusted, ends in zip(every.pairs, every.differences, every.p_values, intervals, strict=True):
        more = {"p_adjusted": adjusted if len(estimates) > 2 else None}
        yield compared_by(about, each, "difference", (labels[i], labels[j]), each.difference, ends, each.method, **more)
    if len(estimates) == 2:
        yield _ratio(about, labels, estimates, option)


def _ratio(about: ComparisonRow, labels: Sequence[str], estimates: Sequence[Estimate], option: int) -> ComparisonRow:
    result = ratio(estimates[0], estimates[1], option)
    ends = result.interval(about.conf_level)
    return compared_by(about, result, "ratio", (labels[0], labels[1]), result.ratio, ends, result.method)


def _homogeneity(about: ComparisonRow, estimates: Sequence[Estimate], option: int | None) -> ComparisonRow:
    result = homogeneity(estimates, option)
    return tested(about, "homogeneity", result.statistic, result.df, result.p_value, result.test)


def _trend(
    about: ComparisonRow, labels: Sequence[str], estimates: Sequence[Estimate], option: int
) -> Iterator[ComparisonRow]:
    result = trend(estimates, option, places_of(labels))
    ends = result.interval(about.conf_level)
    yield compared_by(about, result, "trend", (labels[0], labels[-1]), result.slope, ends, result.method)
    if result.departure_df:
        yield tested(about, "departure", result.departure, result.departure_df, result.departure_p_value, result.test)


def _means(
    blank: ComparisonRow, labels: Sequence[str], question: RandomizedColumn, estimates: Sequence[Estimate]
) -> Iterator[ComparisonRow]:
    """Differences of means, with normal tests and intervals from the errors of the means."""
    means = [_mean(question, estimate) for estimate in estimates]
    pairs = list(itertools.combinations(range(len(means)), 2))
    z = normal_quantile(level_of_each(blank.conf_level, len(pairs)))
    found = []
    for i, j in pairs:
        apart, error = means[i].mean - means[j].mean, math.hypot(means[i].std_error, means[j].std_error)
        statistic = apart / error if error else math.nan
        ends = (apart - z * error, apart + z * error)
        cohorts = (labels[i], labels[j])
        found.append(
            compared(blank, "mean difference", cohorts, apart, error, ends, statistic, two_sided(statistic), "wald")
        )
    adjusted = holm([row.p_value if row.p_value is not None else math.nan for row in found])
    for row, p in zip(found, adjusted, strict=True):
        yield replace(row, p_adjusted=p if len(pairs) > 1 else None)


def _mean(question: RandomizedColumn, estimate: Estimate) -> MeanEstimate:
    return MeanEstimate.from_counts(
        question.design, estimate.counts, estimate.n, question.mean_values or (), estimate.n_effective
    )
