"""The classical designs against figures from elsewhere, and channels against independent computations."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Estimate, Mechanism, ParameterError, mechanisms
from deniable_statistics import classical as designs

# R 4.2.2, RRreg 0.7.5: RRuni(response, model = <rrreg_model>, p = <p>), one row for each classical design
REFERENCE = {
    row["id"]: row for row in json.loads((Path(__file__).parents[1] / "reference/prevalence.json").read_text())
}


def forced_by_outcome(p: list[float]) -> designs.Channel:
    """RRreg gives the probabilities of all forced outcomes, ours are those among forced answers."""
    exact = [Fraction(str(each)) for each in p]
    return designs.forced_response(1 - sum(exact), [each / sum(exact) for each in exact])


ONE_GROUP: dict[str, Callable[[Any], designs.Channel]] = {
    "Warner": designs.warner,
    "UQTknown": lambda p: designs.unrelated_question(*p),
    "Mangat": designs.mangat,
    "FR": forced_by_outcome,
    "Kuk": lambda p: designs.kuk(*p),
    "Crosswise": designs.crosswise,
    "Triangular": designs.triangular,
}


@pytest.mark.parametrize("row", [row for row in REFERENCE.values() if row["rrreg_model"] in ONE_GROUP], ids=str)
def test_designs_of_one_group_equal_rrreg(row: dict[str, Any]) -> None:
    channel = ONE_GROUP[row["rrreg_model"]](row["p"])
    counts = list(row["counts"].values())
    if "n" in row["counts"]:
        counts = [counts[1] - counts[0], counts[0]]
    result = channel.estimate(counts)
    factor = math.sqrt(result.n / (result.n - 1))
    wanted = row["pi"] if isinstance(row["pi"], list) else [1 - row["pi"], row["pi"]]
    errors = row["piSE"] if isinstance(row["piSE"], list) else [row["piSE"]] * 2
    assert result.share == pytest.approx(wanted, abs=1e-6)
    assert [factor * each for each in result.std_error] == pytest.approx(errors, abs=1e-6)


def test_kuk_with_five_cards_equals_rrreg() -> None:
    row = REFERENCE["kuk_rep5"]
    result = designs.kuk("0.8", "0.2", repetitions=5).estimate(list(row["counts"].values()))
    assert result.share[1] == pytest.approx(row["pi"], abs=1e-12)
    # there, the part of the variance that is chance of the cards divides by 5 n - 1, that of the people by n - 1
    n, cards = result.n, 5
    cards_red = result.share[1] * 0.8 + result.share[0] * 0.2
    chance = cards_red * (1 - cards_red) / (n * cards) / 0.6**2
    people = (1 - 1 / cards) * result.share[1] * result.share[0] / n
    assert result.std_error[1] ** 2 == pytest.approx(chance + people, abs=1e-15)
    with_their_divisors = chance * n * cards / (n * cards - 1) + people * n / (n - 1)
    assert math.sqrt(with_their_divisors) == pytest.approx(row["piSE"], abs=1e-12)


def two_groups(row: dict[str, Any]) -> list[list[int]]:
    counted = [[int(each) for each in row["counts"][g].split("/")] for g in ("g1", "g2")]
    return [[n - yes, yes] for yes, n in counted]


def check(found: designs.CombinedShare, value: float, error: float | None) -> None:
    assert found.estimate == pytest.approx(value, abs=1e-6)
    if error is not None:  # groups of 500
        assert found.std_error * math.sqrt(500 / 499) == pytest.approx(error, abs=1e-6)


def test_unrelated_question_of_unknown_prevalence_equals_rrreg() -> None:
    row = REFERENCE["uqtunknown"]
    result = designs.unrelated_question_unknown(*row["p"]).estimate(two_groups(row))
    check(designs.combined_share(result, ["yes"]), row["pi"], row["piSE"])
    check(designs.combined_share(result, ["unrelated yes"]), row["piUQ"], row["piUQSE"])
    assert result.share[0] + result.share[1] == pytest.approx(1, abs=1e-15)


def test_stochastic_lie_detector_equals_rrreg() -> None:
    row = REFERENCE["sld"]
    result = designs.stochastic_lie_detector(*row["p"]).estimate(two_groups(row))
    carriers = ["yes, honest", "yes, lying"]
    check(designs.combined_share(result, carriers), row["pi"], row["piSE"])
    check(designs.combined_share(result, ["yes, honest"], carriers), row["t"], row["tSE"])


@pytest.mark.parametrize("name", ["cdm", "cdmsym"])
def test_cheater_detection_equals_rrreg(name: str) -> None:
    row = REFERENCE[name]
    p = row["p"]
    design = designs.cheater_detection(p) if name == "cdm" else designs.cheater_detection(yes=p[0::2], no=p[1::2])
    result = design.estimate(two_groups(row))
    for truth, value in (("yes", "pi"), ("no", "beta"), ("cheater", "gamma")):
        check(designs.combined_share(result, [truth]), row[value], row[f"{value}SE"])


def test_every_row_of_the_reference_is_tested() -> None:
    elsewhere = {"Kuk Kukrep=5", "UQTunknown", "SLD", "CDM", "CDMsym"}
    assert len(REFERENCE) == 18
    assert {row["rrreg_model"] for row in REFERENCE.values()} == elsewhere | set(ONE_GROUP)


@pytest.mark.parametrize(
    ("channel", "ratio"),
    [
        (designs.forced_response("1/2"), 3),
        (designs.forced_response("0.8", ["0.2", "0.8"]), 21),
        (designs.warner("3/4"), 3),
        (designs.warner("1/4"), 3),
        (designs.unrelated_question("1/2", "1/2"), 3),
        (designs.kuk("3/4", "1/4"), 3),
        (designs.kuk("3/4", "1/4", repetitions=3), 27),
        (designs.crosswise("1/6"), 5),
        (designs.disguised_response("3/4"), 3),
        (designs.forced_response("1/2", ["1/4"] * 4), 5),
        (designs.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]]), 1),
    ],
    ids=lambda value: value.name if isinstance(value, designs.Channel) else str(value),
)
def test_epsilon_by_hand(channel: designs.Channel, ratio: int) -> None:
    assert channel.likelihood_ratio == ratio
    assert channel.epsilon == pytest.approx(math.log(ratio), abs=1e-8)
    assert channel.epsilon >= math.log(ratio)
    assert channel.can_collect


@pytest.mark.parametrize(
    ("channel", "reason"),
    [
        (designs.mangat("0.7"), "'no' is possible when the truth is 'no' and impossible when it is 'yes'"),
        (designs.triangular("1/6"), "'circle' is possible when the truth is 'no' and impossible when it is 'yes'"),
        (
            designs.forced_response("3/4", [0, 1]),
            "'no' is possible when the truth is 'no' and impossible when it is 'yes'",
        ),
        (
            designs.forced_response("3/4", [1, 0]),
            "'yes' is possible when the truth is 'yes' and impossible when it is 'no'",
        ),
        (
            designs.unrelated_question("1/2", 1),
            "'no' is possible when the truth is 'no' and impossible when it is 'yes'",
        ),
        (designs.from_matrix([[1, 0], [0, 1]]), "'0' is possible when the truth is '0' and impossible when it is '1'"),
    ],
    ids=lambda value: value.name if isinstance(value, designs.Channel) else "",
)
def test_infinite_epsilon_says_so_and_is_never_collected(channel: designs.Channel, reason: str) -> None:
    assert channel.likelihood_ratio == math.inf
    assert channel.epsilon == math.inf
    assert not channel.can_collect
    assert channel.refusal == f"epsilon is infinite: {reason}"


def test_designs_of_several_groups_are_never_collected() -> None:
    for design in (
        designs.cheater_detection(["1/4", "3/4"]),
        designs.stochastic_lie_detector("0.2", "0.8"),
        designs.unrelated_question_unknown("0.7", "0.3"),
    ):
        assert not design.can_collect
        assert design.refusal


def test_a_response_that_never_happens_costs_nothing() -> None:
    channel = designs.from_matrix([["3/4", "1/4"], ["1/4", "3/4"], [0, 0]])
    assert channel.likelihood_ratio == 3
    assert channel.estimate([570, 430, 0]).share == pytest.approx((0.64, 0.36), abs=1e-15)
    with pytest.raises(ParameterError, match="counts: must be 0 for '2', which is impossible, got 1"):
        channel.estimate([570, 430, 1])


@pytest.mark.parametrize(
    "mechanism",
    [
        mechanisms.TwoCoin("1/2", "0.3"),
        mechanisms.Warner("0.8"),
        mechanisms.KAry.from_epsilon(4, 1),
        mechanisms.KAry.from_epsilon(2, 1),
    ],
    ids=str,
)
def test_mechanisms_are_channels(mechanism: Mechanism) -> None:
    channel = designs.from_mechanism(mechanism)
    assert channel.epsilon == mechanism.epsilon
    counts = [100 + 50 * option for option in range(mechanism.k)]
    ours, theirs = channel.estimate(counts), mechanism.estimate(counts)
    assert ours.share == theirs.share
    assert ours.std_error == pytest.approx(theirs.std_error, abs=1e-15)


def test_channels_of_numbers_have_the_epsilon_of_their_mechanism() -> None:
    for mechanism in (mechanisms.OneBitMean.from_epsilon(0, 4, 1), mechanisms.DiscreteLaplace.from_epsilon(0, 2, 2)):
        channel = designs.from_mechanism(mechanism)
        assert channel.epsilon == mechanism.epsilon
        assert channel.can_collect


@pytest.mark.parametrize(
    "mechanism", [mechanisms.Subset.from_epsilon(6, 2, 1), mechanisms.TickBoxes.from_epsilon(2, 1)], ids=str
)
def test_mechanisms_that_report_several_options_are_no_single_response(mechanism: Mechanism) -> None:
    with pytest.raises(ParameterError, match="mechanism: must report one value, got"):
        designs.from_mechanism(mechanism)


def expected_counts(channel: designs.Channel, shares: list[Fraction], n: int) -> list[Fraction]:
    return [n * sum(map(lambda a, f: a * f, row, shares), Fraction(0)) for row in channel.matrix]


@pytest.mark.parametrize(
    "channel",
    [
        designs.warner("1/4"),
        designs.forced_response("1/2", ["1/4", "1/4", "1/2"]),
        designs.kuk("3/4", "1/4", repetitions=4),
        designs.from_matrix(designs.kuk("3/4", "1/4", repetitions=4).matrix),
        designs.from_matrix([["1/2", "1/4"], ["1/4", "1/2"], ["1/4", "1/4"]]),
    ],
    ids=lambda channel: channel.name,
)
def test_expected_counts_give_the_true_shares_exactly(channel: designs.Channel) -> None:
    shares = [Fraction(1 + x, sum(range(1, len(channel.truths) + 1))) for x in range(len(channel.truths))]
    counts = expected_counts(channel, shares, 3 * 2**20)
    assert all(count.denominator == 1 for count in counts)
    assert channel.estimate([int(count) for count in counts]).share == tuple(map(float, shares))


def all_tallies(n: int, m: int) -> list[tuple[int, ...]]:
    return [each for each in itertools.product(range(n + 1), repeat=m) if sum(each) == n]


@pytest.mark.parametrize(
    "channel",
    [
        designs.forced_response("1/2", ["1/4", "1/4", "1/2"]),
        designs.from_matrix(designs.kuk("3/4", "1/4", 2).matrix),
        designs.kuk("3/4", "1/4", 2),
    ],
    ids=["square", "least squares", "scores"],
)
def test_mean_and_covariance_by_enumeration_of_every_tally(channel: designs.Channel) -> None:
    n, shares = 5, np.arange(1.0, len(channel.truths) + 1)
    shares /= shares.sum()
    matrix = np.array(channel.matrix, dtype=float)
    lam = matrix @ shares
    inverse = np.array(channel.inverse, dtype=float)
    mean, second = np.zeros(len(shares)), np.zeros((len(shares), len(shares)))
    for tally in all_tallies(n, len(lam)):
        ways = math.factorial(n) // math.prod(map(math.factorial, tally))
        chance = ways * np.prod(lam ** np.array(tally))
        share = np.array(channel.estimate(tally).share)
        mean += chance * share
        second += chance * np.outer(share, share)
    assert mean == pytest.approx(shares, abs=1e-12)
    theory = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / n
    assert second - np.outer(mean, mean) == pytest.approx(theory, abs=1e-12)


def test_covariance_equals_the_formula_with_matrices() -> None:
    channel = designs.forced_response("1/2", ["1/4", "1/4", "1/2"])
    result = channel.estimate([300, 450, 250])
    inverse = np.linalg.inv(np.array(channel.matrix, dtype=float))
    lam = np.array([0.3, 0.45, 0.25])
    wanted = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / 1000
    assert np.array(result.covariance) == pytest.approx(wanted, abs=1e-15)
    assert np.array(result.covariance).sum() == pytest.approx(0, abs=1e-15)  # shares add up to 1
    assert result.std_error == pytest.approx(np.sqrt(np.diag(wanted)), abs=1e-15)
    everybody = designs.combined_share(result, channel.truths)
    assert (everybody.estimate, everybody.std_error) == pytest.approx((1, 0), abs=1e-7)


def test_certain_tallies_have_no_error_and_no_nan() -> None:
    assert designs.warner("3/4").estimate([0, 50]).std_error == (0, 0)
    for tally in ([50, 0, 0], [0, 0, 50]):  # shares outside [0, 1] predict no probabilities here
        errors = designs.kuk("3/4", "1/4", repetitions=2).estimate(tally).std_error
        assert errors == (0, 0)


def test_least_squares_use_more_of_many_cards_than_their_mean() -> None:
    cards = designs.kuk("0.9", "0.3", repetitions=4)
    counts = [round(each) for each in expected_counts(cards, [Fraction(1, 2)] * 2, 10**6)]
    mean, squares = cards.estimate(counts), designs.from_matrix(cards.matrix).estimate(counts)
    assert squares.share == pytest.approx(mean.share, abs=1e-5)
    assert squares.std_error[1] < mean.std_error[1]


def test_many_options_are_inverted_exactly() -> None:
    k = 30
    channel = designs.from_mechanism(mechanisms.KAry.from_epsilon(k, 1))
    result = channel.estimate(range(k))
    assert result.share == mechanisms.KAry.from_epsilon(k, 1).estimate(list(range(k))).share


def test_no_responses_give_no_estimate() -> None:
    for result in (
        designs.warner("3/4").estimate([0, 0]),
        designs.cheater_detection(["1/4", "3/4"]).estimate([[0, 0], [0, 0]]),
    ):
        assert isinstance(result, Estimate)
        assert result.n == 0
        assert all(map(math.isnan, (*result.share, *result.std_error)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.warner(1), "p: must be a probability above 0 and below 1, got 1"),
        (lambda: designs.warner("x"), "p: must be a number like 0.5 or a fraction like 1/2, got 'x'"),
        (lambda: designs.warner(True), "p: must be a number like 0.5 or a fraction like 1/2, got true"),
        (lambda: designs.forced_response("1/2", ["1/2"]), "forced: must be the probabilities of two options or more"),
        (lambda: designs.forced_response("1/2", ["1/4", "1/4"]), "divide them by 1 - truth"),
        (
            lambda: designs.forced_response("1/2", ["3/2", "-1/2"]),
            "forced[0]: must be a probability in [0, 1], got 3/2",
        ),
        (lambda: designs.unrelated_question("1/2", 2), "prevalence: must be a probability in [0, 1], got 2"),
        (lambda: designs.kuk("1/2", "1/4", 0), "repetitions: must be an integer in [1, 1000], got 0"),
        (lambda: designs.kuk("1/2", "1/4", True), "repetitions: must be an integer in [1, 1000], got true"),
        (
            lambda: designs.cheater_detection(["1/2"]),
            "yes, no: must be one probability for each of 2 groups, got 1 and 2",
        ),
        (lambda: designs.cheater_detection(["3/4", 0], ["1/2", 0]), "yes[0] + no[0]: must be at most 1, got 5/4"),
        (lambda: designs.from_matrix([]), "channel: must be a matrix with rows of one length, got 0 rows"),
        (lambda: designs.from_matrix([[1, 1], [0]]), "channel: must be a matrix with rows of one length, got 2 rows"),
        (
            lambda: designs.from_matrix([[1, 0.3], [0, 0.6]]),
            "channel: column 1 must hold probabilities that add up to exactly",
        ),
        (lambda: designs.from_matrix([[2, 0], [-1, 1]]), "channel: column 0 must hold probabilities"),
        (lambda: designs.from_matrix([["a"]]), "channel[0][0]: must be a number like 0.5"),
        (lambda: designs.from_matrix(5), "channel: must be a list of rows of numbers, got 5"),  # type: ignore[arg-type]
        (lambda: designs.from_matrix([[1, 1]], ["a", "b"]), "channel: responses: must be 1 different names, got 2"),
        (lambda: designs.from_matrix([[1, 1]], truths=["a", "a"]), "channel: truths: must be 2 different names, got 2"),
        (lambda: designs.Channel(((0.5, 0.5), (0.5, 0.5))), "channel: must hold Fractions"),  # type: ignore[arg-type]
        (
            lambda: designs.Channel(designs.warner("3/4").matrix, scores=designs.warner("3/4").matrix),
            "channel: scores times matrix must be the identity",
        ),
        (lambda: designs.warner("1/2").estimate([1, 1]), "warner(1/2): must respond differently to different truths"),
        (lambda: designs.kuk("1/2", "1/2", 3).estimate([1] * 4), "must respond differently to different truths"),
        (
            lambda: designs.from_matrix([[1, "1/2", 0], [0, "1/2", 1]]).estimate([1, 1]),
            "channel: cannot tell 3 truths apart by 2 reports; if answers are numbers, estimate their mean",
        ),
        (
            lambda: designs.unrelated_question_unknown("0.7", "0.7").estimate([[1, 1], [1, 1]]),
            "unrelated_question_unknown: must respond differently",
        ),
        (lambda: designs.warner("3/4").estimate([1]), "counts: must be 2 integers, one for each response, got 1"),
        (lambda: designs.warner("3/4").estimate([1, 0.5]), "counts: must be 2 integers"),
        (lambda: designs.warner("3/4").estimate([1, -1]), "counts: must be integers of at least 0, got [1, -1]"),
        (
            lambda: designs.cheater_detection(["1/4", "3/4"]).estimate([[1, 1]]),
            "counts: must be one list for each of 2 groups",
        ),
        (
            lambda: designs.cheater_detection(["1/4", "3/4"]).estimate([[1, 1], [0, 0]]),
            "counts of group 1: must hold at least",
        ),
        (
            lambda: designs.combined_share(designs.warner("3/4").estimate([1, 1]), ["maybe"]),
            "or one of no, yes, got 'maybe'",
        ),
        (
            lambda: designs.combined_share(designs.warner("3/4").estimate([1, 1]), ["no", 0]),
            "truths: must each be named once, got no, no",
        ),
    ],
)
def test_mistakes_are_sentences(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert message in str(caught.value)


def test_channels_are_values() -> None:
    assert designs.warner("0.75") == designs.warner("3/4")
    assert hash(designs.warner("0.75")) == hash(designs.warner("3/4"))
    assert isinstance(designs.cheater_detection(["1/4", "3/4"]), designs.Groups)
