"""What regression with randomised answers reads: designs of all kinds, formulas, tables, and what it refuses."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable import KAry, ParameterError, Subset, TickBoxes, TwoCoin, Warner
from deniable_research.regression import grouped, linear, linear_moments, logistic, multinomial
from deniable_statistics.classical import (
    cheater_detection,
    from_matrix,
    kuk,
    stochastic_lie_detector,
    unrelated_question_unknown,
)
from tools.tables import regression as tables

Array = NDArray[np.float64]
COINS = tables.COINS
REFERENCE = {
    row["id"]: row for row in json.loads((Path(__file__).parents[1] / "reference/prevalence.json").read_text())
}


@pytest.mark.parametrize("design", ["sld", "cdm", "uqtunknown"])
def test_two_group_designs_equal_their_closed_forms(design: str) -> None:
    row = REFERENCE[design]
    groups = {
        "sld": stochastic_lie_detector("0.2", "0.8"),
        "cdm": cheater_detection(["1/4", "3/4"]),
        "uqtunknown": unrelated_question_unknown("0.7", "0.3"),
    }[design]
    counts = [tuple(map(int, each.split("/"))) for each in row["counts"].values()]
    frequencies = [each for yes, n in counts for each in (n - yes, yes)]
    found = logistic([0, 1, 0, 1], [[1]] * 4, grouped(groups, [0, 0, 1, 1]), frequencies=frequencies)
    share = found.predict([[1]])
    other = {"sld": ("t", "tSE"), "cdm": ("gamma", "gammaSE"), "uqtunknown": ("piUQ", "piUQSE")}[design]
    errors = np.sqrt(np.diag(found.cov_params()))
    assert share.share[0, 1] == pytest.approx(row["pi"], abs=1e-6)
    assert found.params[1] == pytest.approx(row[other[0]], abs=1e-6)
    # RRreg divides by n - 1 in each group of 500
    assert share.std_error[0, 1] * math.sqrt(500 / 499) == pytest.approx(row["piSE"], abs=2e-5)
    assert errors[1] * math.sqrt(500 / 499) == pytest.approx(row[other[1]], abs=2e-5)


@pytest.mark.slow
def test_subsets_are_read_as_whole_reports() -> None:
    rng = np.random.default_rng(4)
    mechanism = Subset.from_epsilon(4, 2, 2)
    x = tables.covariates(3000, rng)
    coefficients = np.array([[0.3, 0.5, -0.4], [-0.4, -0.6, 0.5], [0.2, 0.0, 0.1]])
    texts = ["1100", "1010", "1001", "0110", "0101", "0011"]
    ratio = mechanism.inside / 2**32
    chances = np.array([[ratio if text[truth] == "1" else 1.0 for text in texts] for truth in range(4)])
    chances /= chances.sum(axis=1, keepdims=True)
    truth = tables.logits(x, coefficients, rng)
    reports = np.array(texts)[(rng.random(3000)[:, None] > np.cumsum(chances, axis=1)[truth]).sum(axis=1)]

    def objective(params: Array) -> float:
        weights = np.exp(np.column_stack([np.zeros(3000), x @ params.reshape(3, 3).T]))
        shares = weights / weights.sum(axis=1, keepdims=True)
        place = [texts.index(each) for each in reports]
        return -float(np.log((shares * chances[:, place].T).sum(axis=1)).sum())

    found = multinomial(reports, x, mechanism, truths=["a", "b", "c", "d"])
    independent = minimize(objective, np.zeros(9), method="BFGS", options={"gtol": 1e-6})
    assert found.params == pytest.approx(independent.x, abs=1e-5)
    assert found.terms[3] == "c: x0"
    assert np.sqrt(np.diag(found.cov_params("expected"))) == pytest.approx(
        np.sqrt(np.diag(found.cov_params())), rel=0.1
    )
    distances = (found.params - coefficients.ravel()) / np.sqrt(np.diag(found.cov_params()))
    assert np.abs(distances).max() < 4


def test_designs_of_more_responses_and_of_groups() -> None:
    rng = np.random.default_rng(8)
    x = tables.covariates(4000, rng)
    truth = tables.logits(x, tables.YES, rng)
    cards = rng.binomial(3, np.where(truth == 1, 0.8, 0.2))
    found = logistic(cards, x, kuk("0.8", "0.2", 3))
    assert np.abs((found.params - tables.YES[0]) / np.sqrt(np.diag(found.cov_params()))).max() < 4
    arm = rng.integers(0, 2, 4000)
    coins, mirror = TwoCoin("1/2", "1/2"), Warner("0.9")
    both = np.where(arm == 0, tables.through(coins, truth, rng), tables.through(mirror, truth, rng))
    by_name = logistic(both, x, grouped({"coins": coins, "mirror": mirror}, np.where(arm == 0, "coins", "mirror")))
    a, b = np.where(arm == 0, 0.75, 0.9), np.where(arm == 0, 0.25, 0.1)
    assert by_name.params == pytest.approx(logistic(both, x, (a, b)).params, abs=1e-6)
    one = logistic(both, x, coins.support[1])  # the support probabilities of a mechanism are a pair (a, b)
    assert one.params == pytest.approx(logistic(both, x, coins).params, abs=1e-9)


def people(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(12)
    table = pd.DataFrame({"age": rng.normal(40, 10, n), "region": rng.choice(["north", "south", "west"], n)})
    matrix = np.column_stack([np.ones(n), (table["age"] - 40) / 10, table["region"] == "south"]).astype(float)
    truth = tables.logits(matrix, tables.YES, rng)
    table["report"] = np.where(tables.through(COINS, truth, rng) == 1, "yes", "no")
    table["hours"] = 10 + 2 * truth + rng.normal(size=n)
    return table


def test_formulas_code_covariates_and_count_what_is_missing() -> None:
    table = people()
    x = np.column_stack([np.ones(400), table["age"], table["region"] == "south", table["region"] == "west"])
    fit = logistic("report ~ age + C(region)", table, COINS)
    assert fit.terms == ("Intercept", "age", "C(region)[T.south]", "C(region)[T.west]")
    arrays = logistic((table["report"] == "yes").astype(int), x.astype(float), COINS)
    assert fit.params == pytest.approx(arrays.params, abs=1e-8)
    table.loc[0, "age"] = np.nan
    table.loc[1, "report"] = None
    table["weight"] = 1.0
    table.loc[2, "weight"] = np.nan
    short = logistic("report ~ age + C(region)", table, COINS, weights="weight")
    assert (short.n, short.n_dropped) == (397, 3)
    assert "3 rows were left out" in short.message
    assert short.glance().n_dropped == 3
    frame = pd.DataFrame(fit.tidy())
    assert list(frame.columns) == ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]


def test_predictions_code_new_data_alike_and_refuse_new_levels() -> None:
    table = people()
    fit = logistic("report ~ age + C(region)", table, COINS)
    new = pd.DataFrame({"age": [30.0, 50.0], "region": ["west", "north"]})
    prediction = fit.predict(new)
    eta = fit.params[0] + fit.params[1] * new["age"] + fit.params[3] * np.array([1, 0])
    assert prediction.share[:, 1] == pytest.approx(1 / (1 + np.exp(-eta)))
    assert prediction.share.sum(axis=1) == pytest.approx(1)
    slope = np.array([1, 50, 0, 0]) * prediction.share[1, 0] * prediction.share[1, 1]
    assert prediction.std_error[1] == pytest.approx(np.sqrt(slope @ fit.cov_params() @ slope))
    for bad in ({"age": [30.0], "region": ["east"]}, {"age": [np.nan], "region": ["west"]}, {"age": [30.0]}):
        with pytest.raises(ParameterError, match="newdata"):
            fit.predict(pd.DataFrame(bad))


def test_randomised_predictors_are_terms_of_the_formula() -> None:
    table = people(3000)
    fit = linear("hours ~ age + report", table, {"report": COINS})
    assert fit.terms[:4] == ("Intercept", "age", "report[T.yes]", "log(sigma)")
    assert fit.params[2] == pytest.approx(2, abs=0.4)
    moments = linear_moments("hours ~ age + report", table, {"report": COINS})
    assert moments.params[2] == pytest.approx(2, abs=0.6)
    for right in ("age * report", "age", "age + C(report)", "report + C(report)"):
        with pytest.raises(ParameterError, match="as a plain term without interactions"):
            linear_moments(f"hours ~ {right}", table, {"report": COINS})
    for right, message in (("age", "got no report"), ("I(age * report)", "must not compute")):
        with pytest.raises(ParameterError, match=message):
            linear(f"hours ~ {right}", table, {"report": COINS})


@pytest.mark.simulation
def test_two_randomised_predictors_are_told_apart() -> None:
    rng = np.random.default_rng(21)
    n, spin = 4_000, KAry.from_epsilon(3, 3)
    x = tables.covariates(n, rng)
    one, many = tables.logits(x, tables.YES, rng), tables.logits(x, tables.CHOICE, rng)
    y = x @ [1, 0.5, -0.3] + 1.0 * one + np.array([0, 0.5, -1.0])[many] + rng.normal(size=n)
    reports = {"affair": tables.through(COINS, one, rng), "town": tables.through(spin, many, rng)}
    truth = [1, 0.5, -0.3, 1.0, 0.5, -1.0]
    for fit in (f(y, x, {"affair": COINS, "town": spin}, reports=reports) for f in (linear, linear_moments)):
        distances = [(row.estimate - value) / row.std_error for row, value in zip(_wald(fit), truth, strict=False)]
        assert max(map(abs, distances)) < 4


def _wald(fit: Any) -> Any:
    return fit.tidy(interval="wald") if hasattr(fit, "loglik") else fit.tidy()


BAD: list[tuple[str, Any]] = [
    (
        "one of these is a combination of the others: Intercept, age, twice",
        lambda t: ("report ~ age + twice", t, COINS),
    ),
    ("combination of the others: Intercept, seven", lambda t: ("report ~ age + seven", t, COINS)),
    ("outcome: must be reports of the design", lambda t: ("report ~ age", t.assign(report="secret"), COINS)),
    ("outcome: must be reports of the design", lambda t: ("report ~ age", t.assign(report=0.5), COINS)),
    ("weights: must be a column", lambda t: ("report ~ age", t, COINS, "nothing")),
    ("formula: must be like", lambda t: ("report", t, COINS)),
    ("formula: ", lambda t: ("report ~ agee", t, COINS)),
    ("formula: must have one right side", lambda t: ("report ~ age | seven", t, COINS)),
    ("data: must be a table", lambda t: ("report ~ age", [1, 2], COINS)),
    ("probabilities in", lambda t: ("report ~ age", t, (1.2, 0))),
    ("a must differ from b", lambda t: ("report ~ age", t, (0.5, 0.5))),
    ("must respond differently", lambda t: ("report ~ age", t, from_matrix([["0.5", "0.5"], ["0.5", "0.5"]]))),
    ("design must be one whose reports tell the shares", lambda t: ("report ~ age", t, TickBoxes.from_epsilon(2, 1))),
    ("2 truths", lambda t: ("report ~ age", t.assign(report=1), KAry.from_epsilon(3, 1))),
    ("by: must be one of the groups", lambda t: ("report ~ age", t, grouped({"north": COINS}, "region"))),
    ("rows of both groups", lambda t: ("report ~ age", t, grouped(cheater_detection(["1/4", "3/4"]), "zero"))),
]


@pytest.mark.parametrize(("message", "arguments"), BAD, ids=[message for message, _ in BAD])
def test_bad_input_is_refused_and_not_repeated(message: str, arguments: Any) -> None:
    table = people(50).assign(seven=7, zero=0)
    table["twice"] = 2 * table["age"] + 1
    formula, data, design, *weights = arguments(table)
    with pytest.raises(ParameterError, match=message) as caught:
        logistic(formula, data, design, weights=weights[0] if weights else None)
    assert "secret" not in str(caught.value)


def test_models_without_an_intercept_have_a_null_model_too() -> None:
    table = people()
    one, two = (logistic(f"report ~ {right}", table, COINS) for right in ("C(region)", "0 + C(region)"))
    assert one.glance().lr_statistic == pytest.approx(two.glance().lr_statistic, abs=1e-6)
    assert two.glance().lr_df == 2
    through_zero = logistic("report ~ 0 + age", table, COINS).glance()
    assert through_zero.lr_df == 1
    assert through_zero.null_loglik == pytest.approx(400 * math.log(0.5))  # everybody yes with probability 1/2


def test_bad_options_are_refused() -> None:
    x, y = np.ones((4, 1)), [0, 1, 0, 1]
    for message, options in [
        ("penalty: must be", {"penalty": "ridge"}),
        ("start: must be 1 finite", {"start": [1, 2]}),
        ("names: must be 1", {"names": ["a", "b"]}),
        ("weights: must be finite numbers above 0", {"weights": [1, 0, 1, 1]}),
        ("frequencies: must be whole", {"frequencies": [1, 0.5, 1, 1]}),
        ("must not both be given", {"weights": [1] * 4, "frequencies": [1] * 4}),
        ("clusters: must be one value for each of 4 rows", {"clusters": [1]}),
    ]:
        with pytest.raises(ParameterError, match=message):
            logistic(y, x, COINS, **options)  # type: ignore[arg-type]  # one dictionary for options of several types
    fit = logistic(y, x, COINS)
    for call in (lambda: fit.cov_params("bootstrap"), lambda: fit.tidy(95), lambda: fit.tidy(interval="exact")):
        with pytest.raises(ParameterError):
            call()
    with pytest.raises(ParameterError, match="truths: must be 3 different names"):
        multinomial([0, 1, 2, 1], x, KAry.from_epsilon(3, 1), truths=["a", "b"])
    with pytest.raises(ParameterError, match="terms: must be linearly independent"):
        logistic(y, np.ones((4, 2)), COINS)
    with pytest.raises(ParameterError, match="terms: must not be 0"):
        logistic(y, np.zeros((4, 1)), COINS)


def test_formulas_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(
        ParameterError, match=r"formula: needs formulaic; in a clone of the project: pip install '.\[research\]'"
    ):
        logistic("report ~ age", people(20), COINS)
