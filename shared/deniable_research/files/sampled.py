"""Shares, means and comparisons of a table whose people were drawn by a sampling design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.comparison import holm
from deniable_research.comparison.sampled import SampledGroups, mean_differences
from deniable_research.designs import combined_share
from deniable_research.designs.derived import derived_rows
from deniable_research.files.domains import domain_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.rows import (
    SampledComparisonRow,
    SampledEstimateRow,
    compared,
    compared_by,
    places_of,
    tested,
)
from deniable_research.files.table import Table
from deniable_research.sampling import Domain
from deniable_research.sampling.estimates import t_two_sided
from deniable_research.sampling.rao_scott import FTest
from deniable_research.sampling.shares import SampledShares, sampled_groups, sampled_means, sampled_shares
from deniable_statistics.intervals import Interval
from deniable_statistics.published.published_rows import (
    EstimateOptions,
    EstimateRow,
    mean_row,
    number_or_none,
    share_rows,
)


def sampled_rows(
    table: Table,
    question: RandomizedColumn,
    cohort: str | None,
    people: NDArray[np.bool_],
    wanted: EstimateOptions,
) -> Iterator[SampledEstimateRow]:
    """The rows of one question, of some of the people of a sample."""
    if wanted.target != "population":
        raise ParameterError(f"target: must be population under a sampling design, got {wanted.target}")
    about = (question.name, question.epsilon, cohort)
    asked = table.answered(question.name) & people
    if question.design.groups > 1:
        yield from _group_rows(table, question, cohort, asked, wanted)
        return
    domain = _domain(table, asked, [question.name])
    item = table.where(asked).item(question.name)
    plain = item.estimate(domain.weights)
    n, chance = len(domain), question.share_asked
    if question.has_shares:
        rows = share_rows(
            plain, question.name, question.options, question.epsilon, cohort, wanted, n, chance, int(people.sum())
        )
        if question.design.is_one_draw:
            found = [_of_box(table, f"{question.name}[{option}]", people) for option in question.options]
            for row, (shares, drew) in zip(rows, found, strict=True):
                yield _share_row(replace(row, n=drew), shares, 1, wanted, len(rows))
        else:
            (shares,), _ = sampled_shares(item, domain)
            for option, row in enumerate(rows):
                yield _share_row(row, shares, option, wanted, len(rows))
            yield from _derived(question, shares, cohort, wanted, n)
    if question.mean_values is not None:
        (mean,), _ = sampled_means(item, question.mean_values, domain)
        interval = mean.confidence_interval(wanted.confidence_level, wanted.method)
        row = mean_row(mean.plain, *about[:2], cohort, wanted, n, chance)
        effect = _effect(mean.std_error, mean.plain.std_error, mean.plain.n_effective, n)
        yield _sampled(
            row, interval, mean.std_error, f"korn-graubard {mean.plain.interval_method(wanted.method)}", mean.df, effect
        )


def _group_rows(
    table: Table, question: RandomizedColumn, cohort: str | None, asked: NDArray[np.bool_], wanted: EstimateOptions
) -> Iterator[SampledEstimateRow]:
    shares = _of_groups(table, question, asked)
    rows = share_rows(shares.plain, question.name, question.options, question.epsilon, cohort, wanted, shares.people)
    for option, row in enumerate(rows):
        yield _share_row(row, shares, option, wanted, len(rows))
    yield from _derived(question, shares, cohort, wanted, shares.people)


def _of_groups(table: Table, question: RandomizedColumn, asked: NDArray[np.bool_]) -> SampledShares:
    (shares,), _ = _of_cohorts(table, question, [asked])[0]
    return shares


def _of_cohorts(
    table: Table, question: RandomizedColumn, cohorts: Sequence[NDArray[np.bool_]]
) -> tuple[tuple[list[SampledShares], NDArray[np.float64]], Domain, list[NDArray[np.bool_]]]:
    """The shares of a design of several groups among cohorts, their domain, and the cohorts among its people."""
    numbers = table.groups_of(question.name)
    kept = np.any(cohorts, axis=0) & (numbers >= 0)
    responses = np.array(list(table.where(kept).reports_of(question.name)), dtype=np.int64)
    domain, people = _domain(table, kept, [question.name]), [each[kept] for each in cohorts]
    return sampled_groups(question.design, responses, numbers[kept], domain, people), domain, people


def _of_box(table: Table, name: str, people: NDArray[np.bool_]) -> tuple[SampledShares, int]:
    """One box that devices draw, of those who drew it."""
    drew = table.answered(name) & people
    domain = _domain(table, drew, [name])
    (shares,), _ = sampled_shares(table.where(drew).item(name), domain)
    return shares, len(domain)


def _derived(
    question: RandomizedColumn, shares: SampledShares, cohort: str | None, wanted: EstimateOptions, n: int
) -> Iterator[SampledEstimateRow]:
    figures = question.design.derived
    rows = derived_rows(shares.plain, figures, question.name, question.epsilon, cohort, wanted, n)
    for figure, row in zip(figures, rows, strict=True):
        combined = combined_share(shares.plain, figure.part, figure.whole)
        error = combined.error_from(shares.covariance)
        near = shares.worth(combined.std_error, error, wanted.confidence_level)
        interval = Interval(0.0, 1.0)
        if near.n_effective >= 1:
            interval = combined_share(near, figure.part, figure.whole).confidence_interval(
                wanted.confidence_level, wanted.method
            )
        effect = _effect(error, combined.std_error, shares.plain.n_effective, n)
        yield _sampled(row, interval, error, shares.interval_method(wanted.method), shares.df, effect)


def _share_row(
    row: EstimateRow, shares: SampledShares, option: int, wanted: EstimateOptions, options: int
) -> SampledEstimateRow:
    level = wanted.confidence_level
    if not shares.plain.n:
        return _sampled(row, Interval(0.0, 1.0), float("nan"), row.method, shares.df, None)
    if wanted.simultaneous and options > 2:
        level = 1 - (1 - level) / options
    near = shares.of_option(option)
    fits = near.consistency if near.n_effective >= 1 else None
    method = shares.interval_method(wanted.method)
    return replace(
        _sampled(
            row,
            shares.confidence_interval(level, wanted.method)[option],
            float(shares.std_error[option]),
            f"simultaneous {method}" if wanted.simultaneous else method,
            shares.df,
            float(shares.design_effect[option]),
        ),
        estimate=number_or_none(shares.share[option]),
        p_below=fits[option].p_below if fits else None,
        p_above=fits[option].p_above if fits else None,
        flag=near.flags[option] if fits else None,
    )


def _sampled(
    row: EstimateRow, interval: Interval, error: float, method: str, df: float, effect: float | None
) -> SampledEstimateRow:
    known: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(EstimateRow)}
    known |= {"std_error": number_or_none(error), "conf_low": interval.low, "conf_high": interval.high}
    effect = None if effect is None else number_or_none(effect)
    return SampledEstimateRow(**known | {"method": method}, df=df, design_effect=effect)


def _effect(error: float, plain_error: float, n_effective: float, n: int) -> float | None:
    """Variance over that of as many people drawn one by one."""
    return error**2 / (plain_error**2 * n_effective / n) if plain_error > 0 and n_effective else None


def _domain(table: Table, people: NDArray[np.bool_], names: Sequence[str]) -> Domain:
    domain = domain_of(table, people, names)
    assert domain is not None  # which who calls has asked
    return domain


def sampled_doubts(table: Table, name: str, people: NDArray[np.bool_]) -> Sequence[str | None]:
    """A sentence for each option whose count the design of the question hardly explains; None for the others."""
    question = table.layout.question(name)
    asked = table.answered(name) & people
    if not asked.any():
        return (None,) * len(question.options)
    if question.design.groups > 1:
        shares = _of_groups(table, question, asked)
    elif question.design.is_one_draw:
        boxes = [_of_box(table, f"{name}[{option}]", people)[0] for option in question.options]
        return [_flags(box)[1] for box in boxes]
    else:
        (shares,), _ = sampled_shares(table.where(asked).item(name), _domain(table, asked, [name]))
    return _flags(shares)


def _flags(shares: SampledShares) -> Sequence[str | None]:
    near = [shares.of_option(option) if shares.plain.n else shares.plain for option in range(len(shares.share))]
    return [each.flags[option] if each.n_effective >= 1 else None for option, each in enumerate(near)]


def compare_sampled(
    table: Table,
    name: str,
    by: str,
    *,
    line: bool,
    options: Sequence[int],
    all_options: bool,
    confidence_level: float,
) -> list[SampledComparisonRow]:
    """Compare the answers to a question between the cohorts of a sample; see `compare`.

    Cohorts are domains of one sample: their shares covary where clusters hold people of several, and units that hold
    nobody of a cohort were drawn all the same.
    """
    question = table.layout.question(name)
    asked = table.answered(name)
    weights = _domain(table, asked, [name]).design.weights
    cohorts = [(label, people & asked) for label, people in table.cohorts(by) if label is not None]
    cohorts = [(label, people) for label, people in cohorts if (weights * people).any()]
    if len(cohorts) < 2:
        raise ParameterError(f"{by}: must have at least 2 cohorts with reports to {name}, got {len(cohorts)}")
    labels = [label for label, _ in cohorts]
    people = [each for _, each in cohorts]
    blank = SampledComparisonRow(name, conf_level=confidence_level)
    rows: list[SampledComparisonRow] = []
    if question.has_shares:
        for option in options:
            about = replace(blank, option=question.options[option])
            if question.design.is_one_draw:
                groups, place = _groups(table, f"{name}[{question.options[option]}]", people), 1
            else:
                groups, place = _groups(table, name, people), option
            rows += _trend(about, labels, groups, place) if line else _shares(about, labels, groups, place)
        if all_options and len(question.options) > 2 and question.design.is_exclusive:
            rows.append(_test(blank, "homogeneity", _groups(table, name, people).homogeneity()))
    if question.mean_values is not None and not line:
        rows += _means(blank, labels, table, question, people)
    if not rows:
        raise ParameterError(f"{name}: has no shares to test for a trend, only a mean")
    return rows


def _groups(table: Table, name: str, people: Sequence[NDArray[np.bool_]]) -> SampledGroups:
    question = table.layout.question(name)
    if question.design.groups > 1:
        return SampledGroups.known(*_of_cohorts(table, question, people))
    asked = table.answered(name) & np.any(people, axis=0)
    domain = _domain(table, asked, [name])
    return SampledGroups.of(table.where(asked).item(name), domain, [each[asked] for each in people])


def _shares(
    about: SampledComparisonRow, labels: Sequence[str], groups: SampledGroups, option: int
) -> Iterator[SampledComparisonRow]:
    pairs = groups.pairs()
    if len(labels) > 2:
        yield _test(about, "homogeneity", groups.homogeneity(option))
    found = [groups.difference(i, j, option) for i, j in pairs]
    adjusted = holm([each.p_value for each in found])
    for (i, j), each, p in zip(pairs, found, adjusted, strict=True):
        ends = each.interval(about.conf_level, len(pairs)).cut(-1, 1)
        more = {"p_adjusted": p if len(pairs) > 1 else None, "df_error": groups.df}
        yield compared_by(about, each, "difference", (labels[i], labels[j]), each.estimate, ends, "newcombe", **more)
    if len(labels) == 2:
        ratio, error, ends = groups.ratio(0, 1, option, about.conf_level)
        yield compared(
            about,
            "ratio",
            (labels[0], labels[1]),
            ratio,
            error,
            ends,
            found[0].statistic,
            found[0].p_value,
            "donner-zou",
            df_error=groups.df,
        )


def _trend(
    about: SampledComparisonRow, labels: Sequence[str], groups: SampledGroups, option: int
) -> Iterator[SampledComparisonRow]:
    slope, departure = groups.trend(places_of(labels), option)
    ends, cohorts = slope.interval(about.conf_level), (labels[0], labels[-1])
    yield compared_by(about, slope, "trend", cohorts, slope.estimate, ends, "newcombe", df_error=groups.df)
    if departure is not None:
        yield _test(about, "departure", departure)


def _means(
    blank: SampledComparisonRow,
    labels: Sequence[str],
    table: Table,
    question: RandomizedColumn,
    people: Sequence[NDArray[np.bool_]],
) -> Iterator[SampledComparisonRow]:
    asked = np.any(people, axis=0)
    domain = _domain(table, asked, [question.name])
    item, groups = table.where(asked).item(question.name), [each[asked] for each in people]
    means, covariance = sampled_means(item, question.mean_values or (), domain, groups)
    found = mean_differences([each.mean for each in means], covariance, domain.df, blank.conf_level)
    statistics = [apart / error if error else float("nan") for _, _, apart, error, _ in found]
    p_values = [t_two_sided(each, domain.df) for each in statistics]
    adjusted = holm(p_values)
    for place, (i, j, apart, error, ends) in enumerate(found):
        yield compared(
            blank,
            "mean difference",
            (labels[i], labels[j]),
            apart,
            error,
            ends,
            statistics[place],
            p_values[place],
            "t",
            p_adjusted=adjusted[place] if len(found) > 1 else None,
            df_error=domain.df,
        )


def _test(about: SampledComparisonRow, measure: str, test: FTest) -> SampledComparisonRow:
    return tested(about, measure, test.statistic, int(test.df), test.p_value, "wald", df_error=test.df_error)
