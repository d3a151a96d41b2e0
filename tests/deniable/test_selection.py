"""Least noise by default: the choice is never worse than what it chose from."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from deniable import Geometric, KAry, OneBitMean, Piecewise, Subset, read_survey
from deniable.survey.selection import (
    choose_for_choice,
    choose_for_number,
    choose_for_scale,
    mean_variance,
)

EPSILONS = ["0.5", "1", str(math.log(3)), "2", "4"]


def kary_variance(k: int, epsilon: float) -> float:
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    q = (1 - p) / (k - 1)
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


def subset_variance(k: int, w: int, epsilon: float) -> float:
    ratio = math.exp(epsilon)
    p = w * ratio / (w * ratio + k - w)
    q = (w * ratio * (w - 1) + (k - w) * w) / ((k - 1) * (w * ratio + k - w))
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


def oue_variance(k: int, epsilon: float) -> float:
    q = 1 / (math.exp(epsilon) + 1)
    return (0.25 + (k - 1) * q * (1 - q)) / (0.5 - q) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_automatic_choice_is_the_best_of_all(epsilon: str) -> None:
    e = float(epsilon)
    worst = 0.0
    for k in range(2, 101):
        chosen = choose_for_choice(k, epsilon).best.total_variance
        best = min(kary_variance(k, e), oue_variance(k, e), *(subset_variance(k, w, e) for w in range(1, k)))
        worst = max(worst, chosen / best)
    assert worst <= 1.000001  # what rounding to integers costs


@pytest.mark.parametrize(
    ("k", "epsilon", "kary", "oue", "subset", "w"),
    [
        (5, "1", 11.4, 19.4, 11.4, 1),
        (10, "1", 41.0, 37.8, 29.1, 3),
        (30, "1", 328, 111, 102, 8),
        (100, "0.5", 23830, 1568, 1535, 38),
        (10, "2", 5.02, 8.24, 5.02, 1),
    ],
)
def test_published_comparison(k: int, epsilon: str, kary: float, oue: float, subset: float, w: int) -> None:
    by_label = {each.label: each.variance for each in choose_for_choice(k, epsilon).candidates}
    assert by_label["k-ary"] == pytest.approx(kary, rel=5e-3)
    assert by_label["unary encoding (OUE), not used"] == pytest.approx(oue, rel=5e-3)
    best = choose_for_choice(k, epsilon).best
    assert best.total_variance == pytest.approx(subset, rel=5e-3)
    assert (best.w if isinstance(best, Subset) else 1) == w


def test_scale_takes_what_its_goal_wants() -> None:
    shares = {each.label: each.variance for each in choose_for_scale(11, 1, "shares").candidates}
    assert min(shares, key=shares.__getitem__) == "subset of 3"
    assert shares["geometric"] > 100 * shares["subset of 3"]
    means = {each.label: each.variance for each in choose_for_scale(11, 1, "mean").candidates}
    assert means == pytest.approx({"piecewise": 110, "mean": 117, "geometric": 143, "k-ary": 548}, rel=0.01)
    means = {each.label: each.variance for each in choose_for_scale(11, 4, "mean").candidates}
    assert means == pytest.approx({"piecewise": 12.75, "k-ary": 14.5, "geometric": 20, "mean": 27}, rel=0.02)


@pytest.mark.slow
def test_number_takes_the_least_variance_and_says_why() -> None:
    choice = choose_for_number(0, 10, 1)
    assert isinstance(choice.best, Piecewise)
    assert re.match(r"least variance of the mean: piecewise 1\d\d(\.\d)?; mean 117.1; geometric 143", choice.why)
    assert isinstance(choose_for_number(0, 10**5, 1).best, Piecewise)
    assert isinstance(choose_for_number(0, 10, 6).best, Piecewise)


def test_number_takes_the_plainest_of_those_without_difference() -> None:
    for lo, hi, epsilon in ((0, 60, "0.1"), (0, 1, 1), (-(10**5), 10**5, "0.2")):
        choice = choose_for_number(lo, hi, epsilon)
        assert isinstance(choice.best, OneBitMean), choice.why
    assert isinstance(choose_for_scale(5, 8, "mean").best, KAry)


def test_variances_are_those_of_simulated_estimates() -> None:
    dice = np.random.default_rng(11)  # fixed seed; the words come from it too

    def words(n: int) -> np.ndarray:
        return dice.integers(0, 2**32, n, dtype=np.uint32)

    n, rounds = 2000, 400
    for mechanism in (KAry.from_epsilon(11, 2), Geometric.from_epsilon(0, 10, 1), OneBitMean.from_epsilon(0, 10, 1)):
        means = []
        for _ in range(rounds):
            reports = mechanism.randomize_many(dice.integers(0, 11, n), words)
            means.append(mechanism.estimate_mean(np.bincount(reports, minlength=mechanism.k).tolist()).mean)
        assert np.mean(means) == pytest.approx(5, abs=5 * float(np.std(means)) / math.sqrt(rounds))
        assert n * np.var(means) == pytest.approx(mean_variance(mechanism), rel=0.3)


def test_mean_from_subsets_knows_its_error() -> None:
    dice = np.random.default_rng(12)
    mechanism = Subset.from_epsilon(11, 3, 1)
    values = list(range(11))
    n, rounds = 2000, 300
    results = []
    for _ in range(rounds):
        reports = mechanism.randomize_many(
            dice.integers(0, 11, n), lambda n: dice.integers(0, 2**32, n, dtype=np.uint32)
        )
        results.append(mechanism.estimate_mean(reports.sum(axis=0).tolist(), n, values))
    spread = np.std([result.mean for result in results])
    assert np.mean([result.mean for result in results]) == pytest.approx(5, abs=5 * float(spread) / math.sqrt(rounds))
    assert spread == pytest.approx(np.mean([result.std_error for result in results]), rel=0.2)


def test_survey_publishes_which_and_why() -> None:
    survey = read_survey(
        'title = "T"\n[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\n'
        f"options = {[str(option) for option in range(10)]}\nepsilon = 1\n"
    )
    (question,) = survey.questions
    assert question.why == "least total variance of the shares: subset of 3 29.1; k-ary 40.96"
    assert b'"why":"least total variance' in survey.document
