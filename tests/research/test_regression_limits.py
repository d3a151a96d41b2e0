"""Regression where the data do not suffice, and how it fares over many samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable_research.files.design_files import direct
from deniable_research.regression import grouped, likelihood_ratio_test, linear, linear_moments, logistic
from deniable_statistics.classical import cheater_detection, stochastic_lie_detector
from tools.tables import regression as tables

COINS = tables.COINS


def two_groups(yes: tuple[int, int], penalty: str | None = "auto") -> Any:
    """100 reports through two fair coins in each of two groups."""
    counts = [each for count in yes for each in (100 - count, count)]
    x = [[1, 0], [1, 0], [1, 1], [1, 1]]
    return logistic([0, 1, 0, 1], x, COINS, names=["one", "old"], frequencies=counts, penalty=penalty)


def test_separation_behind_noise_is_said_and_gets_a_prior() -> None:
    # 20 of 100 yes where coins alone give 25: the share of the first group is 0 and its logit at minus infinity
    plain = two_groups((20, 60), penalty=None)
    assert plain.separated
    assert not plain.converged
    assert "no maximum that the data bound" in plain.message
    for row in plain.tidy():
        assert row.std_error == math.inf
        assert math.isinf(row.conf_low) or math.isinf(row.conf_high)
    assert [row.conf_high for row in plain.tidy(interval="wald")] == [math.inf, math.inf]
    assert np.isnan(plain.predict().std_error).all()
    fit = two_groups((20, 60))
    assert fit.separated
    assert fit.converged
    assert fit.glance().penalty == "cauchy"
    assert "Cauchy prior" in fit.message
    assert all(math.isfinite(row.std_error) for row in fit.tidy())
    assert fit.params[0] < -2
    assert two_groups((40, 60)).message == ""
    assert two_groups((40, 60)).penalty is None


def test_direct_answers_that_separate_are_said_too() -> None:
    x = np.column_stack([np.ones(10), np.arange(10)])
    fit = logistic((np.arange(10) > 4).astype(int), x, (1, 0))
    assert fit.separated
    assert fit.penalty == "cauchy"
    assert fit.converged


def test_only_the_terms_that_run_away_have_infinite_errors() -> None:
    # of three groups the last has fewer yes than coins alone give; the second is told from the first as ever
    x = [[1, 0, 0]] * 2 + [[1, 1, 0]] * 2 + [[1, 0, 1]] * 2
    fit = logistic([0, 1] * 3, x, COINS, frequencies=[60, 40, 40, 60, 80, 20], penalty=None)
    errors = np.sqrt(np.diag(fit.cov_params()))
    assert np.isinf(errors).tolist() == [False, False, True]
    pair = logistic([0, 1] * 2, [each[:2] for each in x[:4]], COINS, frequencies=[60, 40, 40, 60])
    assert errors[:2] == pytest.approx(np.sqrt(np.diag(pair.cov_params())), rel=1e-6)


def test_a_penalised_fit_has_its_own_likelihood_ratio() -> None:
    full = two_groups((20, 60))
    counts = [80, 20, 40, 60]
    alone = logistic([0, 1, 0, 1], [[1]] * 4, COINS, names=["one"], frequencies=counts, penalty="cauchy")
    test = likelihood_ratio_test(alone, full)
    assert test.statistic == pytest.approx(full.glance().lr_statistic, abs=1e-6)
    assert test.p_value < 0.01


@pytest.mark.parametrize(
    ("design", "frequencies", "end"),
    [
        (cheater_detection(["1/4", "3/4"]), [350, 150, 100, 400], 0.0),
        (stochastic_lie_detector("0.2", "0.8"), [50, 450, 250, 250], 1.0),
    ],
    ids=["no cheaters", "all honest"],
)
def test_a_share_at_its_end_has_no_standard_error_but_an_interval(
    design: Any, frequencies: list[int], end: float
) -> None:
    fit = logistic([0, 1, 0, 1], [[1]] * 4, grouped(design, [0, 0, 1, 1]), frequencies=frequencies)
    assert fit.converged
    assert not fit.separated
    row = fit.tidy()[1]
    assert row.estimate == end
    assert math.isnan(row.std_error)
    assert math.isnan(row.p_value)
    assert 0 <= row.conf_low < row.conf_high <= 1
    assert end in (row.conf_low, row.conf_high)
    assert "the end of its range" in fit.message
    assert math.isfinite(fit.tidy()[0].std_error)


@pytest.mark.long
@pytest.mark.simulation
def test_60_samples_of_200_people_give_no_silent_nonsense() -> None:
    counts = tables.small_samples(60, seed=3)
    assert counts["samples"] == 60
    assert counts["separated"] > 5  # or this would prove nothing
    assert counts["silent nonsense"] == counts["not converged"] == 0
    assert counts["separated without infinite standard error"] == 0
    for term in ("x0", "x1", "x2"):
        assert counts[f"covers {term}"] >= 48  # below 48 of 60 has probability 2e-6 at 95 %; the seed is fixed


@pytest.mark.simulation
@pytest.mark.parametrize("name", tables.MODELS)
def test_estimates_are_unbiased_and_intervals_cover(name: str) -> None:
    # 30 samples of the thousands that the tables print; a fixed seed, limits of 4.5 errors
    for row in tables.performance(name, 30, n=2000):
        assert abs(row.bias) < 4.5 * row.mc_error
        assert row.mean_error == pytest.approx(row.spread, rel=0.5)
        assert row.coverage >= 0.75


def test_the_effect_of_a_truth_that_nobody_has_is_said_to_be_unknown() -> None:
    rng = np.random.default_rng(2)
    x = tables.covariates(300, rng)
    reports = {"affair": (rng.random(300) < 0.15).astype(int)}  # fewer than the 25 % that coins alone give
    y = rng.normal(size=300)
    plain = linear(y, x, {"affair": COINS}, reports=reports, penalty=None)
    assert plain.separated
    assert not np.isfinite(plain.cov_params()).all()
    fit = linear(y, x, {"affair": COINS}, reports=reports)
    assert (fit.converged, fit.penalty) == (True, "cauchy on cells")
    moments = linear_moments(y, x, {"affair": COINS}, reports=reports)
    assert not moments.converged
    assert "no solution" in moments.message
    assert all(math.isnan(row.estimate) and math.isnan(row.std_error) for row in moments.tidy())
    assert moments.glance().separated


def test_more_cheaters_and_yes_than_people_are_said() -> None:
    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(2000), rng.normal(size=2000) * 4])
    truth = rng.random(2000) < 1 / (1 + np.exp(-x[:, 1]))
    by = np.arange(2000) % 2
    reports = (rng.random(2000) < 0.7) & (truth | (rng.random(2000) < np.array([0.25, 0.75])[by]))
    fit = logistic(reports, x, grouped(cheater_detection(["1/4", "3/4"]), by))
    assert "add up to more than 1" in fit.message


def test_an_outcome_that_is_not_normal_is_said() -> None:
    chance = np.random.default_rng(3)
    truth = chance.random(4000) < 0.3
    outcome = np.where(chance.random(4000) < 0.15, 1.0, 5.0) - 0.4 * truth + 0.1 * chance.standard_normal(4000)
    reports = np.where(chance.random(4000) < 0.5, truth, chance.random(4000) < 0.5).astype(int)
    data = {"y": outcome, "x": reports}
    assert "trust these (linear_moments)" in linear("y ~ x", data, {"x": (0.75, 0.25)}).message
    normal = {"y": 5 - 0.4 * truth + chance.standard_normal(4000), "x": reports}
    assert linear("y ~ x", normal, {"x": (0.75, 0.25)}).message == ""


@pytest.mark.slow
def test_perfect_separation_without_noise_has_the_finite_end_of_its_profile() -> None:
    from scipy.optimize import minimize
    from scipy.special import log_expit

    generator = np.random.default_rng(1)
    x, other = generator.normal(size=(2, 60))
    y = (x > 0).astype(float)
    fit = logistic("y ~ x + other", {"x": x, "other": other, "y": y}, direct(), penalty=None)
    rows = {row.term: row for row in fit.tidy()}
    assert rows["x"].std_error == rows["x"].conf_high == math.inf
    assert rows["x"].p_value < 1e-6  # of the likelihood ratio, which agrees with an interval above 0
    low = rows["x"].conf_low
    assert 0 < low < math.inf

    def cost(others: np.ndarray) -> float:
        predictor = others[0] + low * x + others[1] * other
        return -float(log_expit(np.where(y == 1, predictor, -predictor)).sum())

    assert minimize(cost, [0, 0], method="BFGS").fun == pytest.approx(1.959964**2 / 2, abs=1e-3)
    for term in ("Intercept", "other"):  # both may be anything where the slope is steep enough
        assert (rows[term].conf_low, rows[term].conf_high) == (-math.inf, math.inf)
        assert rows[term].p_value > 0.05


@pytest.mark.parametrize("with_intercept", [True, False])
@pytest.mark.parametrize(("far", "unit"), [(1.7e9, 1e4), (1e5, 1.0), (1e9, 1.0), (-1e6, 1e-2)])
def test_corrected_least_squares_depend_on_no_origin_and_no_unit(far: float, unit: float, with_intercept: bool) -> None:
    """``a + b z`` at ``z = (x - far) / unit`` has the slope ``b / unit`` and the intercept ``a - far b / unit``."""
    rng = np.random.default_rng(4)
    n = 800
    z, truth = rng.normal(size=n), rng.random(n) < 0.4
    table = {
        "z": z,
        "x": far + unit * z,
        "q": np.where(rng.random(n) < 0.5, truth, rng.random(n) < 0.5).astype(int),
        "y": 3 + 0.5 * z + 2 * truth + rng.normal(size=n),
        "school": np.arange(n) // 8,
    }
    table["z"] = (table["x"] - far) / unit  # as floats have it
    if not with_intercept:
        table["x"] = table["z"] * unit
    right = "q" if with_intercept else "0 + q"
    near = linear_moments(f"y ~ z + {right}", table, {"q": (0.75, 0.25)}, clusters="school")
    away = linear_moments(f"y ~ x + {right}", table, {"q": (0.75, 0.25)}, clusters="school")
    back = np.diag([*[1.0] * with_intercept, 1 / unit, 1.0])
    if with_intercept:
        back[0, 1] = -far / unit
    assert away.converged
    assert away.sigma == pytest.approx(near.sigma)
    np.testing.assert_allclose(away.params, back @ near.params, rtol=1e-6)
    np.testing.assert_allclose(away.cov_params(), back @ near.cov_params() @ back.T, rtol=1e-6)


@pytest.mark.parametrize("far", [1e7, 1e8, 1e9])
def test_a_likelihood_says_which_covariate_varies_too_little_for_its_size(far: float) -> None:
    rng = np.random.default_rng(5)
    table: dict[str, Any] = {"z": rng.normal(size=500), "q": rng.integers(0, 2, 500)}
    table["x"] = table["z"] + far
    expected = r"differs from a combination of the others by less than 1e-0\d of its size: Intercept, x\. .*subtract"
    with pytest.raises(ParameterError, match=expected):
        logistic("q ~ x", table, (0.75, 0.25))
    found = logistic("q ~ I(x - 1e6)", {**table, "x": table["z"] + 1e6}, (0.75, 0.25))
    assert found.loglik == pytest.approx(logistic("q ~ z", table, (0.75, 0.25)).loglik, abs=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("fitted", [linear, linear_moments])
def test_numbers_whose_squares_are_none_are_refused(unit: float, fitted: Any) -> None:
    rng = np.random.default_rng(6)
    table: dict[str, Any] = {"y": rng.normal(3, 1, 500), "z": rng.normal(3, 1, 500), "q": rng.integers(0, 2, 500)}
    for formula, named in (("y ~ z + q", "outcome"), ("z ~ y + q", "y")):
        with pytest.raises(
            ParameterError, match=rf"^{named}: must be numbers of a size from 1e-50 to 1e\+50; multiply"
        ):
            fitted(formula, {**table, "y": table["y"] * unit}, {"q": (0.75, 0.25)})


@pytest.mark.parametrize("unit", [1e-50, 1e-20, 1e20, 1e47])
def test_units_of_the_outcome_do_not_matter(unit: float) -> None:
    rng = np.random.default_rng(7)
    table: dict[str, Any] = {"y": rng.normal(100, 10, 500), "q": rng.integers(0, 2, 500)}
    one = linear_moments("y ~ q", table, {"q": (0.75, 0.25)})
    other = linear_moments("y ~ q", {**table, "y": table["y"] * unit}, {"q": (0.75, 0.25)})
    for mine, theirs in zip(one.tidy(), other.tidy(), strict=True):
        assert theirs.p_value == pytest.approx(mine.p_value, rel=1e-9)
        assert theirs.conf_low == pytest.approx(mine.conf_low * unit, rel=1e-9)
    assert other.sigma == pytest.approx(one.sigma * unit)
