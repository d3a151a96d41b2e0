"""Regression with randomised answers against independent likelihoods, derivatives by differences, and known figures."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable import KAry, ParameterError
from deniable_research.regression import (
    Fit,
    FitOptions,
    Grouped,
    RowOptions,
    grouped,
    likelihood_ratio_test,
    linear,
    linear_moments,
    logistic,
    multinomial,
)
from deniable_research.regression.models import FitRequest
from deniable_statistics.classical import cheater_detection
from deniable_statistics.regression.penalty import CauchyPrior
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.tidy import LIKELIHOOD_RATIO_Z
from tests.support.marks import long
from tools.tables import regression as tables

Array = NDArray[np.float64]

# The first space shuttle disaster: O-ring distress by temperature in Fahrenheit at 23 launches, and the coefficients
# 15.0429 and -0.2322 of its logistic regression: S. R. Dalal, E. B. Fowlkes, B. Hoadley, Journal of the American
# Statistical Association 84 (1989), 945-957, as tabulated with them in textbooks.
TEMPERATURE = [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58]
DISTRESS = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def sample(kind: str, n: int = 800, seed: int = 7) -> dict[str, Any]:
    """Arguments of a fit to invented people."""
    rng = np.random.default_rng(seed)
    x = tables.covariates(n, rng)
    truth = tables.logits(x, tables.YES, rng)
    if kind == "mixed":
        a = np.where(rng.random(n) < 0.3, 1.0, rng.uniform(0.6, 0.9, n))
        b = np.where(a == 1, 0.0, 1 - a)
        return {"x": x, "reports": (rng.random(n) < np.where(truth == 1, a, b)).astype(int), "design": (a, b)}
    if kind == "cheaters":
        by = np.arange(n) % 2
        honest = rng.random(n) < 0.9
        told = rng.random(n) < np.array([0.25, 0.75])[by]
        reports = (honest & ((truth == 1) | told)).astype(int)
        return {"x": x, "reports": reports, "design": grouped(cheater_detection(["1/4", "3/4"]), by)}
    choice = tables.logits(x, tables.CHOICE, rng)
    if kind == "choice":
        design = KAry.from_epsilon(3, 2)
        return {"x": x, "reports": tables.through(design, choice, rng), "design": design}
    if kind.startswith("both"):
        levels = (np.arange(n) % 3)[:, None] if kind == "both, groups" else rng.normal(size=(n, 1))
        old, drugs = rng.random(n) < 0.5, rng.random(n) < 0.4
        affair = rng.random(n) < 1 / (1 + np.exp(1 - 2 * old + drugs - 0.3 * levels[:, 0]))
        by, honest = np.arange(n) % 2, rng.random(n) < 0.9
        told = rng.random(n) < np.array([0.25, 0.75])[by]
        return {
            "x": np.column_stack([np.ones(n), levels, np.arange(n) % 2]),
            "reports": tables.through(tables.COINS, affair.astype(int), rng),
            "design": tables.COINS,
            "predictors": {
                "old": tables.through(tables.COINS, old.astype(int), rng),
                "drugs": (honest & (drugs | told)).astype(int),
            },
            "randomised": {"old": tables.COINS, "drugs": grouped(cheater_detection(["1/4", "3/4"]), by)},
        }
    assert kind == "number"
    y, x, reports = tables.number(n, rng)
    return {"x": x, "y": y, "reports": reports, "design": {"affair": tables.COINS}}


def fit(kind: str, arguments: dict[str, Any], **options: Any) -> Fit:
    if kind == "number":
        return linear(arguments["y"], arguments["x"], arguments["design"], reports=arguments["reports"], **options)
    if kind.startswith("both"):
        options |= {"randomised": arguments["randomised"], "reports": arguments["predictors"]}
    model = multinomial if kind == "choice" else logistic
    return model(arguments["reports"], arguments["x"], arguments["design"], **options)


KINDS = ["mixed", "cheaters", "choice", "number", "both", "both, groups"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_equal_differences(kind: str) -> None:
    model = fit(kind, sample(kind, 60)).model
    params = np.random.default_rng(3).normal(0, 0.5, len(model.terms))
    params[list(model.bounded)] = 0.2
    _, gradient, hessian = model.evaluate(params)
    step = 1e-5
    for j in range(len(params)):
        move = np.eye(len(params))[j] * step
        above, below = model.evaluate(params + move), model.evaluate(params - move)
        assert gradient[j] == pytest.approx((above[0] - below[0]) / (2 * step), rel=1e-5, abs=1e-5)
        assert hessian[j] == pytest.approx((above[1] - below[1]) / (2 * step), rel=1e-5, abs=1e-5)
    assert model.weights @ model.scores(params) == pytest.approx(gradient, abs=1e-9)


def test_derivatives_of_the_prior_equal_differences() -> None:
    x = tables.covariates(50, np.random.default_rng(1))
    prior = CauchyPrior.of([(slice(0, 3), Regressors(x, np.ones((1, 3)), ("a", "b", "c"), np.ones(50)))], 3)
    params = np.array([3.0, -4.0, 2.0])
    _, gradient, hessian = prior.evaluate(params)
    for j in range(3):
        move = np.eye(3)[j] * 1e-5
        above, below = prior.evaluate(params + move), prior.evaluate(params - move)
        assert gradient[j] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-7)
        assert hessian[j] == pytest.approx((above[1] - below[1]) / 2e-5, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_could_be_reported_adds_up(kind: str) -> None:
    found = fit(kind, sample(kind, 60))
    total, score = np.zeros(60), np.zeros((60, len(found.terms)))
    for probability, scores in found.model.possible(found.params):
        total += probability
        score += probability[:, None] * scores
    assert total == pytest.approx(1, abs=1e-12)
    # a score has mean 0; the one of a number is integrated by quadrature
    assert score == pytest.approx(np.zeros_like(score), abs=1e-3 if kind == "number" else 1e-12)


def written_here(kind: str, arguments: dict[str, Any]) -> Callable[[Array], float]:
    """The negative log-likelihood of a sample, written once more from the definition of the model."""
    x = arguments["x"]

    def of_choice(params: Array) -> float:
        weights = np.exp(np.column_stack([np.zeros(len(x)), x @ params[:3], x @ params[3:]]))
        shares = weights / weights.sum(axis=1, keepdims=True)
        p, q = math.exp(2) / (math.exp(2) + 2), 1 / (math.exp(2) + 2)
        own = shares[np.arange(len(x)), arguments["reports"]]
        return -float(np.log(q + (p - q) * own).sum())

    def of_yes(params: Array) -> float:
        a, b = arguments["design"]
        g = 1 / (1 + np.exp(-x @ params))
        yes = a * g + b * (1 - g)
        return -float(np.log(np.where(arguments["reports"] == 1, yes, 1 - yes)).sum())

    def of_number(params: Array) -> float:
        middle, effect, log_sigma = x @ params[:3], params[3], params[4]
        g = 1 / (1 + np.exp(-x @ params[5:]))
        density = [
            np.exp(-0.5 * ((arguments["y"] - middle - each * effect) / np.exp(log_sigma)) ** 2)
            / (np.exp(log_sigma) * np.sqrt(2 * np.pi))
            for each in (0, 1)
        ]
        yes = arguments["reports"]["affair"] == 1
        both = (1 - g) * np.where(yes, 0.25, 0.75) * density[0] + g * np.where(yes, 0.75, 0.25) * density[1]
        return -float(np.log(np.maximum(both, 1e-300)).sum())

    return {"mixed": of_yes, "choice": of_choice, "number": of_number}[kind]


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["mixed", long("choice"), long("number")])
def test_fits_equal_an_independent_one_from_100_of_100_random_starts(kind: str) -> None:
    arguments = sample(kind)
    objective = written_here(kind, arguments)
    rng = np.random.default_rng(11)
    size = len(fit(kind, arguments).params)
    with np.errstate(all="ignore"):
        ends = [minimize(objective, rng.normal(0, 0.5, size), method="BFGS", options={"gtol": 1e-6}) for _ in range(4)]
    independent = min(ends, key=lambda each: float(each.fun))
    for _ in range(100):
        found = fit(kind, arguments, start=rng.normal(0, 1.5, size))
        assert found.converged
        assert not found.separated
        assert found.params == pytest.approx(independent.x, abs=1e-5)
        assert found.loglik == pytest.approx(-independent.fun, abs=1e-6)


def test_direct_answers_are_ordinary_logistic_regression() -> None:
    found = logistic(DISTRESS, np.column_stack([np.ones(23), TEMPERATURE]), (1, 0))
    assert found.params == pytest.approx([15.0429, -0.2322], abs=5e-5)
    assert np.sqrt(np.diag(found.cov_params())) == pytest.approx([7.3786, 0.1082], abs=5e-5)
    assert found.cov_params("expected") == pytest.approx(found.cov_params(), rel=1e-6)
    assert -2 * found.loglik == pytest.approx(20.315, abs=5e-4)
    assert -2 * found.glance().null_loglik == pytest.approx(28.267, abs=5e-4)


def test_fits_have_the_names_that_statsmodels_has() -> None:
    found = logistic(DISTRESS, np.column_stack([np.ones(23), TEMPERATURE]), (1, 0), names=["const", "temperature"])
    assert found.cov_type == "observed"
    assert found.bse == pytest.approx([7.3786, 0.1082], abs=5e-5)
    rows = found.tidy()
    assert found.pvalues.tolist() == [row.p_value for row in rows]
    assert found.conf_int().tolist() == [[row.conf_low, row.conf_high] for row in rows]
    assert (found.conf_int(0.5)[:, 0] > found.conf_int()[:, 0]).all()
    header, const, temperature, *_, about = found.summary().splitlines()
    assert header.split() == ["Term", "Estimate", "SE", "z", "p", "95", "%", "CI"]
    assert const.split()[:3] == ["const", "15.04", "7.379"]
    assert temperature.split()[:3] == ["temperature", "\u22120.2322", "0.1082"]
    assert about == LIKELIHOOD_RATIO_Z
    assert "n = 23." in found.summary()
    assert abs(rows[1].statistic - rows[1].estimate / rows[1].std_error) > 0.2, "so the sentence is needed"
    wald = found.tidy(interval="wald")[1]
    assert wald.statistic == pytest.approx(wald.estimate / wald.std_error)
    moments = linear_moments([1, 2, 3, 4, 5, 6], [[1]] * 6, {"q": (1, 0)}, reports={"q": [0, 0, 0, 1, 1, 1]})
    assert moments.bse == pytest.approx(np.sqrt(np.diag(moments.cov_params())))
    assert moments.conf_int().shape == (2, 2)
    assert "q[T.yes]" in moments.summary()
    assert LIKELIHOOD_RATIO_Z not in moments.summary(), "moments have no likelihood"


def test_options_are_what_a_request_holds() -> None:
    held = {field.name for field in fields(FitRequest)} - {"randomised"}
    assert held == FitOptions.__annotations__.keys() | RowOptions.__annotations__.keys()
    shown = inspect.signature(logistic).parameters
    assert shown.keys() == {"outcome", "data", "design", "randomised"} | held
    assert shown["random_starts"].default == 5
    assert "penalty" not in inspect.signature(linear_moments).parameters


@pytest.mark.simulation
def test_kinds_of_standard_errors_agree_in_large_samples() -> None:
    for kind in ("mixed", "choice", "number"):
        found = fit(kind, sample(kind, 8000))
        observed = np.sqrt(np.diag(found.cov_params("observed")))
        for other in ("expected", "opg", "sandwich"):
            assert np.sqrt(np.diag(found.cov_params(other))) == pytest.approx(observed, rel=0.08), (kind, other)


def test_sandwich_over_clusters_equals_a_computation_by_hand() -> None:
    arguments = sample("mixed", 300)
    clusters = np.arange(300) % 20
    found = fit("mixed", arguments, clusters=[f"school {each}" for each in clusters])
    x, (a, b), g = arguments["x"], arguments["design"], 1 / (1 + np.exp(-arguments["x"] @ found.params))
    yes = a * g + b * (1 - g)
    scores = x * ((arguments["reports"] - yes) / (yes * (1 - yes)) * (a - b) * g * (1 - g))[:, None]
    sums = np.array([scores[clusters == each].sum(axis=0) for each in range(20)])
    bread = found.cov_params("observed")
    assert found.cov_params() == pytest.approx(bread @ sums.T @ sums @ bread * 20 / 19, rel=1e-9)
    assert fit("mixed", arguments).cov_params("sandwich", clusters) == pytest.approx(found.cov_params(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_are_replicated_rows(kind: str) -> None:
    n = 500 if kind.startswith("both") else 240
    arguments = sample(kind, n)
    times = np.random.default_rng(2).integers(1, 4, n)

    def repeated(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return np.repeat(value, times, axis=0)
        if isinstance(value, tuple):
            return tuple(map(repeated, value))
        if isinstance(value, Grouped):
            return replace(value, by=np.repeat(value.by, times))
        return {key: repeated(each) for key, each in value.items()} if isinstance(value, dict) else value

    counted = fit(kind, arguments, frequencies=times, penalty="cauchy")
    replicated = fit(kind, {key: repeated(each) for key, each in arguments.items()}, penalty="cauchy")
    assert counted.n == replicated.n == times.sum()
    assert counted.params == pytest.approx(replicated.params, abs=1e-6)
    assert counted.loglik == pytest.approx(replicated.loglik, abs=1e-8)
    for each in ("observed", "opg", "sandwich"):
        assert counted.cov_params(each) == pytest.approx(replicated.cov_params(each), rel=1e-4, abs=1e-7, nan_ok=True)


def test_weights_use_the_sandwich_and_no_scale_of_theirs_matters() -> None:
    arguments = sample("mixed", 300)
    weights = np.random.default_rng(5).uniform(0.5, 2, 300)
    one, other = (fit("mixed", arguments, weights=weights * scale) for scale in (1, 1000))
    assert one.cov_params() == pytest.approx(other.cov_params(), rel=1e-9)
    assert one.cov_params() == pytest.approx(one.cov_params("sandwich"), rel=1e-12)
    assert one.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert math.isnan(one.glance().p_value)
    with pytest.raises(ParameterError, match="interval: must be wald"):
        one.tidy(interval="profile")
    assert one.interval_kind("observed") == one.interval_kind() == "wald"


@pytest.mark.parametrize("errors", ["expected", "opg", "sandwich"])
def test_profiles_go_with_errors_of_the_likelihood(errors: str) -> None:
    one = fit("mixed", sample("mixed", 300))
    assert (one.interval_kind(), one.interval_kind("observed"), one.interval_kind(errors)) == (
        "profile",
        "profile",
        "wald",
    )
    with pytest.raises(ParameterError, match=rf"^interval: must be wald with {errors} errors; profiles"):
        one.tidy(cov_type=errors, interval="profile")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [long(kind) if kind.startswith("both") else kind for kind in KINDS])
def test_neither_order_nor_units_of_covariates_matter(kind: str) -> None:
    arguments = sample(kind, 500)
    found = fit(kind, arguments)
    p = len(found.terms)
    moved = fit(kind, arguments | {"x": arguments["x"][:, [2, 0, 1]]})
    assert moved.loglik == pytest.approx(found.loglik, abs=1e-8)
    assert moved.params[:3] == pytest.approx(found.params[[2, 0, 1]], abs=1e-6)
    scaled = fit(kind, arguments | {"x": arguments["x"] * [1, 1e6, 1]})
    factor = np.array([1e-6 if "x1" in term and "|" not in term else 1 for term in found.terms])
    assert scaled.params / factor == pytest.approx(found.params, abs=1e-6)
    errors = np.sqrt([np.diag(each.cov_params()) for each in (scaled, found)])
    assert errors[0] / factor == pytest.approx(errors[1], rel=1e-5)
    assert len(factor) == p


def test_likelihood_ratio_uses_the_best_of_both_fits() -> None:
    arguments = sample("mixed", 400)
    full = fit("mixed", arguments)
    restricted = fit("mixed", arguments | {"x": arguments["x"][:, :2]})
    test = likelihood_ratio_test(restricted, full)
    assert test.statistic == pytest.approx(2 * (full.loglik - restricted.loglik), abs=1e-6)
    assert test.df == 1
    # the signed root of a profile is the same test
    assert full.tidy()[2].statistic ** 2 == pytest.approx(test.statistic, abs=1e-6)
    assert full.tidy()[2].p_value == pytest.approx(test.p_value, abs=1e-6)
    with pytest.raises(ParameterError, match="further coefficients"):
        likelihood_ratio_test(full, restricted)
    with pytest.raises(ParameterError, match="same 400 rows"):
        likelihood_ratio_test(restricted, fit("mixed", sample("mixed", 400, seed=8)))
    with pytest.raises(ParameterError, match="penalty"):
        likelihood_ratio_test(restricted, fit("mixed", arguments, penalty="cauchy"))
