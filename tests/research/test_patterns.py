"""Columns are coded, and regressions count rows that are alike: nothing that is printed depends on it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from deniable import KAry, Mechanism, Subset, TwoCoin
from deniable_research.files import Layout, RandomizedColumn, Table, regress
from deniable_research.files.coded import CodedColumn, patterns
from deniable_research.regression import Fit, likelihood_ratio_test, linear_moments, logistic, multinomial
from deniable_research.simulation import generator_of, words_of
from deniable_statistics.designs.of_mechanisms import design_of

KINDS = ("observed", "expected", "opg", "sandwich")
COINS, FOUR, PAIRS = TwoCoin("1/2", "1/2"), KAry.from_epsilon(4, 2), Subset.from_epsilon(5, 2, 1)


def drawn(mechanism: Mechanism, n: int, seed: int) -> tuple[Table, dict[str, Any]]:
    """People with covariates some of which are missing, as a table and as plain columns."""
    generator = np.random.default_rng(seed)
    age, region = generator.integers(18, 40, n), generator.choice(["north", "south", "east"], n)
    weights = np.exp(0.06 * (age - 28)[:, None] * np.arange(len(design_of(mechanism).truths)))
    truths = (weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True) < generator.random((n, 1))).sum(axis=1)
    told = mechanism.randomize_many(truths, words_of(generator_of(seed))).tolist()
    if mechanism.reports.json_type is str:
        told = ["".join(map(str, bits)) for bits in told]
    no_age, no_report = generator.random(n) < 0.1, generator.random(n) < 0.05
    columns = {
        "q": tuple("" if gap else str(value) for value, gap in zip(told, no_report, strict=True)),
        "age": tuple("" if gap else str(value) for value, gap in zip(age, no_age, strict=True)),
        "region": tuple(region.tolist()),
    }
    plain = {
        "q": np.array([None if gap else value for value, gap in zip(told, no_report, strict=True)], dtype=object),
        "age": np.where(no_age, np.nan, age),
        "region": region,
    }
    if mechanism.reports.json_type is int:
        plain["q"] = plain["q"].astype(float)
    question = RandomizedColumn("q", "q", design_of(mechanism), design_of(mechanism).truths)
    return Table.of(columns, Layout((question,))), plain


def assert_same(one: Fit, other: Fit, kinds: tuple[str, ...] = KINDS) -> None:
    whole, expected = dataclasses.asdict(one.glance()), dataclasses.asdict(other.glance())
    assert (whole.pop("penalty"), one.message) == (expected.pop("penalty"), other.message)
    assert whole == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
    for kind in kinds:
        for row, wanted in zip(one.tidy(cov_type=kind), other.tidy(cov_type=kind), strict=True):
            assert row[0] == wanted[0]
            assert row[1:] == pytest.approx(wanted[1:], rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("penalty", ["auto", "cauchy"])
def test_a_logistic_model_of_patterns_is_that_of_people(n: int, penalty: str) -> None:
    table, plain = drawn(COINS, n, 4)
    fit = regress(table, "q ~ age + C(region)", penalty=penalty)
    assert isinstance(fit, Fit)
    assert len(fit.sample.weights) < fit.n < n
    assert_same(fit, logistic("q ~ age + C(region)", plain, COINS, penalty=penalty))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_so_are_those_of_few_people_whose_likelihood_has_no_maximum_or_several(seed: int) -> None:
    table, plain = drawn(COINS, 40, seed)
    fit = regress(table, "q ~ age + C(region)")
    assert isinstance(fit, Fit)
    assert_same(fit, logistic("q ~ age + C(region)", plain, COINS), ("observed",))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [FOUR, PAIRS], ids=["numbers", "subsets"])
def test_so_are_multinomial_ones(mechanism: Mechanism) -> None:
    table, plain = drawn(mechanism, 2000, 5)
    fit = regress(table, "q ~ age")
    assert isinstance(fit, Fit)
    assert len(fit.sample.weights) < fit.n < 2000
    assert_same(
        fit, multinomial("q ~ age", plain, mechanism, truths=design_of(mechanism).truths), ("observed", "sandwich")
    )


def test_so_are_corrected_least_squares() -> None:
    table, plain = drawn(COINS, 2000, 6)
    fit, expected = regress(table, "age ~ q + C(region)"), linear_moments("age ~ q + C(region)", plain, {"q": COINS})
    assert (fit.n, fit.n_dropped) == (expected.n, expected.n_dropped)
    for row, wanted in zip(fit.tidy(), expected.tidy(), strict=True):
        assert row[1:] == pytest.approx(wanted[1:], rel=1e-9, abs=1e-9)


def test_fits_of_patterns_are_compared_by_what_was_reported_how_often() -> None:
    table, plain = drawn(COINS, 3000, 7)
    complete = table.where(table.labels("age").present)
    few, full = regress(complete, "q ~ age"), regress(complete, "q ~ age + C(region)")
    assert isinstance(few, Fit)
    assert isinstance(full, Fit)
    rows = {name: column[~np.isnan(plain["age"])] for name, column in plain.items()}
    wanted = likelihood_ratio_test(logistic("q ~ age", rows, COINS), logistic("q ~ age + C(region)", rows, COINS))
    assert likelihood_ratio_test(few, full).statistic == pytest.approx(wanted.statistic, abs=1e-9)
    other = regress(drawn(COINS, 3000, 8)[0], "q ~ age")
    assert isinstance(other, Fit)
    with pytest.raises(ValueError, match="full: must be fitted to the same"):
        likelihood_ratio_test(other, full)


def test_whoever_is_left_out_of_a_column_leaves_no_value_behind() -> None:
    column = CodedColumn.of(["a", None, "b", "a", "c"])
    some = column.where(np.array([False, True, True, False, True]))
    assert (list(some), some.values) == ([None, "b", "c"], ("b", "c"))
    assert some.equal("a").tolist() == [False, False, False]
    assert some.equal("c").tolist() == [False, False, True]
    assert list(column.map({"a": 1, "b": 1}.get)) == [1, None, 1, 1, None]
    assert column.array(object, None).tolist() == ["a", None, "b", "a", "c"]
    nobody = column.where(np.zeros(5, dtype=bool))
    assert (len(nobody), nobody.values, nobody.array(float, np.nan).tolist()) == (0, (), [])


@pytest.mark.parametrize("largest", [2**62, 1])
def test_rows_are_told_apart_whatever_the_number_of_combinations(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """Too many combinations for an integer are numbered anew, column by column; a dictionary counts the same."""
    monkeypatch.setattr("deniable_research.files.coded.LARGEST_KEY", largest)
    generator = np.random.default_rng(1)
    texts = {name: generator.choice(["a", "b", "c", ""], 300).tolist() for name in "xyz"}
    columns = {name: CodedColumn.of(each).without([""]) for name, each in texts.items()}
    counts: dict[tuple[Any, ...], int] = {}
    for place, row in enumerate(zip(*columns.values(), strict=True), start=1):
        counts[row] = counts.get(row, 0) + place
    found, people = patterns(columns, np.arange(1, 301))
    assert dict(zip(zip(*found.values(), strict=True), people.tolist(), strict=True)) == counts
    assert list(zip(*found.values(), strict=True)) == list(counts)  # in the order in which they were found


def test_no_rows_have_no_patterns() -> None:
    found, people = patterns({"x": CodedColumn.of(())})
    assert (list(found["x"]), people.tolist()) == ([], [])
