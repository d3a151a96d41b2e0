"""From coefficients to shares: averages, marginal effects and contrasts, by their definitions and by simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from deniable import KAry, ParameterError
from deniable_research.files import Layout, Table, quick_question, regress
from deniable_research.files.predicting import predict, read_setting
from deniable_research.regression import Averages, Setting, linear, logistic, multinomial
from tests.research.test_regression_both_sides import COINS, SPIN, expit, people
from tests.support.analyzing import STUDY, as_rows, ok, refused
from tools.tables.regression import through

LOUD = KAry.from_epsilon(2, 3)
DESIGNS = {"said_old": COINS, "said_faith": SPIN}


@pytest.fixture(scope="module")
def averages() -> Averages:
    fit = logistic("said_affair ~ said_old * region + said_faith + height", people(3000), COINS, randomised=DESIGNS)
    return Averages(fit)


def by_hand(averages: Averages, height: Any, region: Any, old: int | None = None) -> float:
    """The average share of yes, person by person, from the coefficients and from what each cell's logits say."""
    fit = averages.fit
    found = dict(zip(fit.terms, fit.params, strict=True))
    table = fit.sample.frame.table
    total = 0.0
    cells = [(o, f) for o in ("no", "yes") for f in ("0", "1", "2")]
    for z, h, west in zip(
        table.itertuples(),
        np.broadcast_to(height, len(table)),
        np.broadcast_to(region, len(table)) == "west",
        strict=True,
    ):
        logits = [0.0]
        for o, f in cells[1:]:
            name = f"P(said_old={o}, said_faith={f})"
            eta = found[f"{name}: Intercept"] + found[f"{name}: height"] * z.height
            logits.append(eta + found[f"{name}: region[T.west]"] * (z.region == "west"))
        often = np.exp(logits) / np.exp(logits).sum()
        for share, (o, f) in zip(often, cells, strict=True):
            is_old = (o == "yes") if old is None else bool(old)
            eta = found["Intercept"] + found["said_old[T.yes]"] * is_old + found["region[T.west]"] * west
            eta += found["said_old[T.yes]:region[T.west]"] * is_old * west + found["height"] * h
            eta += sum(found[f"said_faith[T.{each}]"] for each in ("1", "2") if each == f)
            total += share * expit(eta)
    return total / len(table)


@pytest.mark.slow
def test_averages_are_their_definition(averages: Averages) -> None:
    table = averages.fit.sample.frame.table
    height, region = table.height.to_numpy(), table.region.to_numpy()
    assert averages.shares().value[1] == pytest.approx(by_hand(averages, height, region), rel=1e-9)
    tall = averages.shares(averages.checked(Setting({"height": "180"})))
    assert tall.value[1] == pytest.approx(by_hand(averages, 180.0, region), rel=1e-9)
    west = averages.shares(Setting({"region": "west", "said_old": "yes"}))
    assert west.value[1] == pytest.approx(by_hand(averages, height, "west", 1), rel=1e-9)
    change = averages.change("said_old", "yes", "no")
    expected = by_hand(averages, height, region, 1) - by_hand(averages, height, region, 0)
    assert change.value[1] == pytest.approx(expected, rel=1e-8)
    slope = averages.slope("height").value[1]
    step = by_hand(averages, height + 0.01, region) - by_hand(averages, height - 0.01, region)
    assert slope == pytest.approx(step / 0.02, rel=1e-5)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_by_the_parameters(averages: Averages) -> None:
    fit = averages.fit
    for setting in (Setting(), Setting({"said_old": "yes", "region": "east"}), Setting({}, {"height": 0.5})):
        found = averages.shares(setting).slope
        for j in range(len(fit.terms)):
            ends = []
            for sign in (1, -1):
                params = fit.params.copy()
                params[j] += sign * 1e-6
                ends.append(Averages(replace(fit, params=params)).shares(setting).value)
            assert found[:, j] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)


def test_of_one_share_and_nothing_else_it_is_the_estimate() -> None:
    design = quick_question("q: forced-response truth=1/2")
    table = Table.of({"q": ("yes",) * 430 + ("no",) * 570}, Layout((design,)))
    (row,) = predict(regress(table, "q ~ 1"))
    expected = table.estimate("q")
    assert row.estimate == pytest.approx(expected.share[1], abs=1e-9)
    assert row.std_error == pytest.approx(expected.std_error[1], rel=1e-6)


def test_groups_are_their_estimates_and_contrasts_their_differences() -> None:
    counts = {"a": (430, 570), "b": (380, 620), "c": (500, 500)}
    q = tuple(each for yes, no in counts.values() for each in ("yes",) * yes + ("no",) * no)
    wave = tuple(each for each in counts for _ in range(1000))
    table = Table.of({"q": q, "wave": wave}, Layout((quick_question("q: forced-response truth=1/2"),)))
    fit = regress(table, "q ~ wave")
    rows = predict(fit, contrast="wave")
    estimates = {each: table.estimate("q", np.array(wave) == each) for each in counts}
    for row in rows:
        assert row.first is not None
        assert row.second is not None
        one, other = estimates[row.first], estimates[row.second]
        assert row.estimate == pytest.approx(one.share[1] - other.share[1], abs=1e-7)
        assert row.std_error == pytest.approx(np.hypot(one.std_error[1], other.std_error[1]), rel=1e-5)
    assert [row.p_adjusted for row in rows] == pytest.approx(
        [rows[0].p_value or 0, 2 * (rows[1].p_value or 0), 3 * (rows[2].p_value or 0)]
    )
    share = predict(fit)[0]
    assert share.std_error == pytest.approx(table.estimate("q").std_error[1], rel=1e-3)


def test_replicate_weights_and_clusters_have_errors_of_their_kind() -> None:
    rng = np.random.default_rng(3)
    n = 400
    x = rng.normal(0, 1, n).round(2)
    q = through(COINS, (rng.random(n) < expit(x)).astype(int), rng)
    columns = {"q": tuple(map(str, q)), "x": tuple(map(str, x))}
    for r in range(20):  # delete-a-group jackknife
        columns[f"w{r}"] = tuple(str(20 / 19 * (row % 20 != r)) for row in range(n))
    columns["w"], columns["psu"] = ("1",) * n, tuple(str(row % 20) for row in range(n))
    design = quick_question("q: two-coin truth=1/2 yes=1/2")
    layout = Layout((design,))
    sampling = layout.sampling
    clustered = replace(layout, weights="w", sampling=replace(sampling, cluster="psu"))
    replicated = replace(
        layout,
        weights="w",
        sampling=replace(sampling, replicates=tuple(f"w{r}" for r in range(20)), replicate_method="jackknife"),
    )
    rows = [predict(regress(Table.of(columns, each), "q ~ x"), effects=True)[0] for each in (clustered, replicated)]
    plain = predict(regress(Table.of(columns, layout), "q ~ x"), effects=True)[0]
    assert [row.estimate for row in rows] == pytest.approx([plain.estimate] * 2, rel=1e-5)
    assert rows[1].std_error == pytest.approx(rows[0].std_error, rel=0.1)
    assert rows[0].df is not None
    assert rows[0].df < 20
    assert plain.df is None


@pytest.mark.simulation
@pytest.mark.long
def test_intervals_hold_the_truth_of_a_population() -> None:
    """The average share, a marginal effect and a contrast of 300 studies; 0.95 within chances of 1e-6 each."""
    rng = np.random.default_rng(11)
    wide = 1_000_000
    age, old = rng.normal(0, 1, wide), rng.integers(0, 2, wide)
    share = expit(-0.5 + 0.8 * age + old)
    truth = (
        share.mean(),
        (0.8 * share * (1 - share)).mean(),
        (expit(0.5 + 0.8 * age) - expit(-0.5 + 0.8 * age)).mean(),
    )
    hits = np.zeros(3)
    for _ in range(300):
        n = 1200
        age, old = rng.normal(0, 1, n), rng.integers(0, 2, n)
        affair = (rng.random(n) < expit(-0.5 + 0.8 * age + old)).astype(int)
        data = {"q": through(COINS, affair, rng), "age": age, "old": through(LOUD, old, rng)}
        fit = logistic("q ~ age + old", data, COINS, randomised={"old": LOUD})
        rows = [predict(fit)[0], *predict(fit, effects=True)]
        hits += [row.conf_low <= value <= row.conf_high for row, value in zip(rows, truth, strict=True)]
    low, high = binom.ppf([5e-7, 1 - 5e-7], 300, 0.95)
    assert (hits >= low).all()
    assert (hits <= high).all()


def test_choices_have_a_row_for_each_truth_and_changes_add_up_to_nothing() -> None:
    rng = np.random.default_rng(4)
    data = {"c": through(SPIN, rng.integers(0, 3, 600), rng), "x": np.repeat(["a", "b"], 300).astype(object)}
    fit = multinomial("c ~ x", data, SPIN)
    shares, changes = predict(fit), predict(fit, effects=True)
    assert sum(row.estimate for row in shares) == pytest.approx(1)
    assert sum(row.estimate for row in changes) == pytest.approx(0, abs=1e-12)
    assert [row.option for row in changes] == list(fit.model.outcome.reports.truths)  # type: ignore[union-attr]
    assert all(0 <= row.conf_low <= row.estimate <= row.conf_high <= 1 for row in shares)


def test_what_the_data_do_not_bound_has_no_error_and_every_share_is_possible() -> None:
    table = {"q": [1] * 20 + [0] * 20, "x": [1.0] * 20 + [0.0] * 20}
    fit = logistic("q ~ x", table, (1, 0), penalty=None)
    assert fit.separated
    (row,) = predict(fit, at=[{"x": 1}])
    assert np.isnan(row.std_error)
    assert (row.conf_low, row.conf_high) == (0, 1)


def test_numbers_that_a_formula_takes_as_categories_are_categories() -> None:
    data = pd.DataFrame({"q": [0, 1] * 300, "wave": np.repeat([1.0, 2.0, 3.0], 200), "x": range(600)})
    averages = Averages(logistic("q ~ C(wave) + np.log(x + 1)", data, COINS))
    assert not averages.is_number("wave")
    assert averages.levels("wave") == [1, 2, 3]
    assert averages.is_number("x")
    assert averages.checked(Setting({"wave": "2"})).values == {"wave": 2.0}


def test_what_cannot_be_set_is_named(averages: Averages) -> None:
    for setting, words in (
        ({"hight": 1}, "said_old, region, said_faith, height"),
        ({"height": "tall"}, "height must be a number"),
        ({"height": "nan"}, "finite"),
        ({"region": "West"}, "one of east, west"),
        ({"said_old": "maybe"}, "one of no, yes"),
    ):
        with pytest.raises(ParameterError, match=words):
            averages.checked(Setting(setting))
    for text in ("", "age", "age=", "=3", "age=1,age=2"):
        with pytest.raises(ParameterError, match="at: must"):
            read_setting(text)
    with pytest.raises(ParameterError, match="linear"):
        Averages(linear("y ~ q", {"y": [1.0, 2, 3, 4], "q": [0, 1, 1, 0]}, {"q": LOUD}))
    with pytest.raises(ParameterError, match="arrays"):
        Averages(logistic([0, 1], [[1], [1]], COINS, frequencies=[60, 40]))


def test_the_command_prints_what_python_gives() -> None:
    formula = "affair ~ age + drugs"
    rows = as_rows("predict", *STUDY, formula, "--effects")
    assert [row["measure"] for row in rows] == ["slope", "change"]
    document = json.loads(
        ok("predict", *STUDY, formula, "--at", "age=30,drugs=yes", "--at", "age=60", "--format", "json")
    )
    assert [row["setting"] for row in document["predictions"]] == ["age=30, drugs=yes", "age=60"]
    assert "each unit" in ok("predict", *STUDY, formula, "--effects")
    assert "as they are" in ok("predict", *STUDY, formula)
    assert "--effects and --contrast" in refused("predict", *STUDY, formula, "--effects", "--contrast", "age")
    assert "variable of the formula (age, drugs)" in refused("predict", *STUDY, formula, "--contrast", "wave")
    assert "linear" in refused("predict", *STUDY, "income ~ drugs") or "least squares" in refused(
        "predict", *STUDY, "income ~ drugs"
    )
