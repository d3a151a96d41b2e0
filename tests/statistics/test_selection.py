"""Fewest respondents by default: the choice is never worse than what it chose from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np
import pytest

from deniable import Geometric, KAry, OneBitMean, Piecewise, Subset, parse_survey, read_survey
from deniable_statistics.authoring.sample_size import mean_variance, noise_if_even, variance_if_even
from deniable_statistics.authoring.selection import TIE, choose_for_choice, choose_for_number, choose_for_scale
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.means import MeanEstimate
from tests.support.marks import long
from tools.rig.survey_files import question_toml, survey_toml

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
@pytest.mark.parametrize("numbers", [[*range(2, 17), 20, 27, 40, 64, 100], long(range(2, 101))], ids=["some", "all"])
def test_automatic_choice_is_the_best_of_all(epsilon: str, numbers: Iterable[int]) -> None:
    e = float(epsilon)
    worst = 0.0
    for k in numbers:
        who_answers = 1 - 1 / k  # of all shares together, if they are equal
        chosen = variance_if_even(choose_for_choice(k, epsilon).best, wants_mean=False) * k
        best = min(kary_variance(k, e), oue_variance(k, e), *(subset_variance(k, w, e) for w in range(1, k)))
        worst = max(worst, chosen / (best + who_answers))
    assert worst <= TIE * 1.000001  # what rounding to integers costs


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
    by_label = {each.label: noise_if_even(each.mechanism) for each in choose_for_choice(k, epsilon).candidates}
    assert by_label["k-ary"] == pytest.approx(kary, rel=5e-3)
    assert oue_variance(k, float(epsilon)) == pytest.approx(oue, rel=5e-3)
    best = choose_for_choice(k, epsilon).best
    assert noise_if_even(best) == pytest.approx(subset, rel=5e-3)
    assert (best.w if isinstance(best, Subset) else 1) == w


@pytest.mark.parametrize("mechanism", [KAry.from_epsilon(11, 2), Subset.from_epsilon(11, 2, 2)])
def test_what_noise_adds_to_all_shares_does_not_depend_on_them_and_equal_ones_are_the_worst(
    mechanism: KAry | Subset,
) -> None:
    """So which mechanism takes the fewest does not depend on the truth, and the figure is enough for every truth."""
    dice = np.random.default_rng(3)
    for shares in (np.eye(11)[4], np.full(11, 1 / 11), *dice.dirichlet(np.full(11, 0.4), 20)):
        covariance = design_of(mechanism).covariance(design_of(mechanism).expected(shares.tolist()), 1)
        noise = np.trace(covariance) - (shares * (1 - shares)).sum()
        assert noise == pytest.approx(noise_if_even(mechanism), rel=1e-9)
        assert np.trace(covariance) / 11 <= variance_if_even(mechanism, wants_mean=False) * (1 + 1e-12)


def test_scale_takes_what_its_goal_wants() -> None:
    shares = {each.label: each.variance for each in choose_for_scale(11, 1, "shares").candidates}
    assert min(shares, key=shares.__getitem__) == "subset of 3"
    assert shares["geometric"] > 100 * shares["subset of 3"]
    means = {each.label: each.variance * 10**2 for each in choose_for_scale(11, 1, "mean").candidates}
    assert means == pytest.approx({"piecewise": 110, "mean": 117, "geometric": 143, "k-ary": 548}, rel=0.01)
    means = {each.label: each.variance * 10**2 for each in choose_for_scale(11, 4, "mean").candidates}
    assert means == pytest.approx({"piecewise": 12.75, "k-ary": 14.5, "geometric": 20, "mean": 27}, rel=0.02)


@pytest.mark.slow
def test_number_takes_the_fewest_respondents_and_says_why() -> None:
    choice = choose_for_number(0, 10, 1)
    assert isinstance(choice.best, Piecewise)
    assert re.fullmatch(
        r"fewest respondents for ±5 % of the range: piecewise 1,68\d; mean 1,799; geometric 2,197; discrete-laplace .*",
        choice.why,
    )
    assert isinstance(choose_for_number(0, 10**5, 1).best, Piecewise)
    assert isinstance(choose_for_number(0, 10, 6).best, Piecewise)


def test_number_takes_the_plainest_of_those_without_difference() -> None:
    for lo, hi, epsilon in ((0, 60, "0.1"), (0, 1, 1), (-(10**5), 10**5, "0.2")):
        choice = choose_for_number(lo, hi, epsilon)
        assert isinstance(choice.best, OneBitMean), choice.why
    assert isinstance(choose_for_scale(5, 8, "mean").best, KAry)


def test_a_plainer_mechanism_that_takes_one_percent_more_is_chosen_and_says_so() -> None:
    # Where k-ary response and subsets of 2 out of 11 take equally many, k-ary response stays the plainer just below.
    for step in range(100):
        epsilon = 1.8 + step / 500
        choice = choose_for_choice(11, epsilon)
        k_ary = next(each for each in choice.candidates if isinstance(each.mechanism, KAry))
        subset = next(each for each in choice.candidates if each is not k_ary)
        if subset.variance < k_ary.variance <= TIE * subset.variance:
            assert choice.candidates == (k_ary, subset)
            assert f"(within 1 % of {subset.label}, and plainer); {subset.label} " in choice.why
            return
    pytest.fail("no epsilon lies between")


def test_variances_are_those_of_simulated_estimates() -> None:
    dice = np.random.default_rng(11)  # fixed seed; the words come from it too

    def words(n: int) -> np.ndarray:
        return dice.integers(0, 2**32, n, dtype=np.uint32)

    n, rounds = 2000, 400
    for mechanism in (KAry.from_epsilon(11, 2), Geometric.from_epsilon(0, 10, 1), OneBitMean.from_epsilon(0, 10, 1)):
        means = []
        for _ in range(rounds):
            reports = mechanism.randomize_many(dice.integers(0, 11, n), words)
            means.append(MeanEstimate.from_counts(mechanism, np.bincount(reports, minlength=mechanism.k).tolist()).mean)
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
        results.append(MeanEstimate.from_counts(mechanism, reports.sum(axis=0).tolist(), n, values))
    spread = np.std([result.mean for result in results])
    assert np.mean([result.mean for result in results]) == pytest.approx(5, abs=5 * float(spread) / math.sqrt(rounds))
    assert spread == pytest.approx(np.mean([result.std_error for result in results]), rel=0.2)


def test_survey_publishes_which_and_why() -> None:
    survey = read_survey(
        'title = "T"\n[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\n'
        f"options = {[str(option) for option in range(10)]}\nepsilon = 1\n"
    )
    (question,) = survey.questions
    assert question.why == "fewest respondents on average over the options: subset of 3; k-ary takes 1.4 times as many"
    assert b'"why":"fewest respondents' in survey.document


def test_what_was_published_with_another_reason_stays_readable() -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "choice", options=["a", "b", "c"], epsilon=1.0)))
    reason = b'"why":"least total variance of the shares: k-ary 3.4; subset of 2 5"'
    old = re.sub(rb'"why":"[^"]*"', reason, survey.document)
    assert parse_survey(old).questions[0].mechanism == survey.questions[0].mechanism
