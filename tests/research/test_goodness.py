"""Whether models fit: levels by simulation, and the statistics by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from deniable import KAry, ParameterError
from deniable_research.regression import (
    Fit,
    goodness_of_fit,
    grouped,
    is_within,
    likelihood_ratio_test,
    linear,
    logistic,
    multinomial,
    refitted,
)
from tests.research.test_regression_both_sides import COINS, SPIN, expit, people
from tools.tables.regression import through

LOUD = KAry.from_epsilon(2, 3)


def study(rng: np.random.Generator, n: int, bend: float = 0.0) -> dict[str, Any]:
    """Affairs behind coins, with an old group behind a spinner; `bend` is an interaction that models leave out."""
    old, region = rng.integers(0, 2, n), rng.integers(0, 3, n)
    affair = (rng.random(n) < expit(-1 + old + 0.4 * region + bend * old * (region == 1))).astype(int)
    age = rng.normal(40, 10, n)
    return {
        "q": through(COINS, affair, rng),
        "old": through(LOUD, old, rng),
        "region": region.astype(str).astype(object),
        "age": age,
    }


def fitted(data: dict[str, Any], formula: str = "q ~ old + region") -> Fit:
    return logistic(formula, data, COINS, randomised={"old": LOUD})


@pytest.mark.simulation
@pytest.mark.long
def test_chi_square_keeps_its_level_and_finds_what_a_model_leaves_out() -> None:
    """Of 200 studies a test of level 5 % rejects 2 to 24 with a chance of 1 - 1e-5; the seed is fixed."""
    rng = np.random.default_rng(5)
    found = [goodness_of_fit(fitted(study(rng, 1500))) for _ in range(200)]
    assert not any(each.draws for each in found)
    low, high = binom.ppf([5e-6, 1 - 5e-6], 200, 0.05)
    assert low <= sum(each.pearson_p < 0.05 for each in found) <= high
    assert low <= sum(each.deviance_p < 0.05 for each in found) <= high
    wrong = [goodness_of_fit(fitted(study(rng, 3000, bend=-4))) for _ in range(20)]
    assert sum(each.pearson_p < 0.05 for each in wrong) >= 15


@pytest.mark.simulation
@pytest.mark.long
def test_the_bootstrap_keeps_its_level_and_finds_a_bend() -> None:
    rng = np.random.default_rng(6)
    p_values: list[float] = []
    bent: list[float] = []
    for _ in range(60):
        x = rng.normal(0, 1, 300)
        for bend, into in ((0, p_values), (6, bent)):
            y = (rng.random(300) < expit(x + bend * (x**2 - 1))).astype(int)
            fit = logistic("q ~ x", {"q": through(LOUD, y, rng), "x": x}, LOUD)
            found = goodness_of_fit(fit, draws=39)
            assert found.by_share
            assert found.draws == 39
            into.append(found.pearson_p)
    low, high = binom.ppf([5e-6, 1 - 5e-6], 60, 0.1)
    assert low <= sum(p <= 0.1 for p in p_values) <= high
    assert sum(p <= 0.1 for p in bent) >= 50


def test_a_saturated_model_is_the_reports_and_has_no_test() -> None:
    table = {"q": [0, 1, 0, 1], "old": ["a", "a", "b", "b"], "n": [60, 40, 50, 50]}
    found = goodness_of_fit(logistic("q ~ old", table, COINS, frequencies="n"))
    assert found.df == 0
    assert found.pearson == pytest.approx(0, abs=1e-9)
    assert np.isnan(found.pearson_p)


def test_rows_one_by_one_and_with_frequencies_say_the_same() -> None:
    data = study(np.random.default_rng(1), 1000)
    table = {name: data[name] for name in ("q", "old", "region")}
    one = goodness_of_fit(fitted(table))
    every: dict[tuple[Any, ...], int] = {}
    for row in zip(*table.values(), strict=True):
        every[row] = every.get(row, 0) + 1
    columns = dict(zip(table, map(list, zip(*every, strict=True)), strict=True)) | {"n": list(every.values())}
    fit = logistic("q ~ old + region", columns, COINS, randomised={"old": LOUD}, frequencies="n")
    assert goodness_of_fit(fit).pearson == pytest.approx(one.pearson, rel=1e-5)
    assert goodness_of_fit(fit).df == one.df == 3 * (4 - 1) - 4 - 3


def test_designs_are_groups_of_their_own_and_who_was_not_asked_says_nothing() -> None:
    rng = np.random.default_rng(7)
    asked, x = rng.integers(0, 3, 1500), rng.integers(0, 3, 1500)
    y = (rng.random(1500) < expit(0.5 * x - 0.3)).astype(int)
    q = np.where(asked == 0, through(LOUD, y, rng), np.where(asked == 1, through(COINS, y, rng), 0))
    data = {"q": q, "x": x.astype(float), "how": asked}
    found = goodness_of_fit(logistic("q ~ x", data, grouped({0: LOUD, 1: COINS, 2: None}, "how")))
    assert (found.groups, found.patterns, found.df, found.draws) == (9, 6 * 2 + 3, 6 - 2, 0)


def test_what_has_no_reports_to_count_is_refused() -> None:
    data = study(np.random.default_rng(2), 200)
    with pytest.raises(ParameterError, match="weights"):
        goodness_of_fit(logistic("q ~ 1", data | {"w": data["age"]}, COINS, weights="w"))
    with pytest.raises(ParameterError, match="reports can be counted"):
        goodness_of_fit(linear("age ~ old", data, {"old": LOUD}))


@pytest.mark.slow
def test_other_formulas_are_fitted_to_the_same_reports() -> None:
    data = people(2000)
    designs = {"said_old": COINS, "said_faith": SPIN}
    full = logistic("said_affair ~ said_old + said_faith + region", data, COINS, randomised=designs)
    for formula, tested in (
        ("said_affair ~ said_old + region", 2),
        ("said_affair ~ said_faith", 2),
        ("said_affair ~ 1", 4),
    ):
        other = refitted(full, formula)
        assert is_within(other, full)
        assert likelihood_ratio_test(other, full).df == tested
        assert other.terms[-(len(full.terms) - 5) :] == full.terms[5:]  # the same shares of truths
    same = refitted(full, "said_affair ~ said_faith + region + said_old")
    assert same.loglik == pytest.approx(full.loglik, abs=1e-6)
    assert not is_within(refitted(full, "said_affair ~ said_old * said_faith"), full)
    with pytest.raises(ParameterError, match="height"):
        refitted(full, "said_affair ~ height")


def test_without_an_effect_the_outcome_and_a_predictor_have_likelihoods_of_their_own() -> None:
    """``P(q, old) = P(q) P(old)``, each of which has its maximum in closed form here."""
    data = study(np.random.default_rng(3), 3000)
    full = logistic("q ~ old", data, COINS, randomised={"old": LOUD})
    alone = refitted(full, "q ~ 1")
    expected = 0.0
    for name in ("q", "old"):
        counts = np.bincount(data[name], minlength=2)
        expected += float(counts @ np.log(counts / counts.sum()))
    assert alone.loglik == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
def test_the_likelihood_ratio_of_a_randomised_predictor_keeps_its_level() -> None:
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(200):
        data = {"q": through(LOUD, rng.integers(0, 2, 500), rng), "old": through(LOUD, rng.integers(0, 2, 500), rng)}
        full = logistic("q ~ old", data, LOUD, randomised={"old": LOUD})
        rejected += likelihood_ratio_test(refitted(full, "q ~ 1"), full).p_value < 0.05
    low, high = binom.ppf([5e-6, 1 - 5e-6], 200, 0.05)
    assert low <= rejected <= high


def test_choices_of_groups_are_compared_with_those_of_all() -> None:
    """Reports of three groups with the same model for all: what a table of reports would give, in closed form."""
    rng = np.random.default_rng(9)
    said, third = through(SPIN, rng.integers(0, 3, 900), rng), np.repeat([0.0, 1.0, 2.0], 300)
    found = goodness_of_fit(multinomial("c ~ x", {"c": said, "x": third}, SPIN))
    assert (found.df, found.patterns, found.groups) == (9 - 3 - 4, 9, 3)
    assert found.deviance == pytest.approx(found.pearson, rel=0.1)
