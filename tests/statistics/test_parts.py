"""Estimates by hand: how options are named, intervals of their methods, populations, means."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from deniable import Estimate, ForcedResponse, Geometric, KAry, OneBitMean, ParameterError, Subset, TwoCoin, Warner
from deniable_statistics.classical.derived import place_of
from deniable_statistics.classical.designs import from_matrix
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.estimate import check_counts
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Consistency, share_interval
from deniable_statistics.intervals.interval import level_of_each, normal_quantile

FOUR = KAry.from_epsilon(4, 1)
COUNTS = [400, 300, 200, 100]


@pytest.fixture
def result() -> Estimate:
    return FOUR.estimate(COUNTS)


def test_options_are_found_by_name_and_by_number(result: Estimate) -> None:
    assert [place_of(truth, result) for truth in ("0", "3", 0, 3)] == [0, 3, 0, 3]
    assert place_of("yes", Warner("3/4").estimate([5, 5])) == 1
    for wrong in ("4", 4, -1, True, 1.0, None):
        with pytest.raises(ParameterError) as caught:
            place_of(wrong, result)  # type: ignore[arg-type]
        assert str(caught.value) == f"option: must be in [0, 4) or one of 0, 1, 2, 3, got {wrong!r}"


def test_shares_of_the_respondents_alone_have_an_interval_by_hand() -> None:
    # Wilson: (lam - C/n)^2 = z^2 variance / n, here with the variance of the coin alone, [f p (1-p) + (1-f) q (1-q)]
    estimate, z = TwoCoin("1/2", "1/2").estimate([570, 430]).respondents_only, normal_quantile(0.95)
    for share, end in (
        (estimate.share[1], estimate.confidence_interval()[1].low),
        (estimate.share[1], estimate.confidence_interval()[1].high),
    ):
        variance = (0.75 * 0.25) / 0.25 / 1000  # the same for yes and no
        assert abs(end - share) == pytest.approx(z * math.sqrt(variance), rel=1e-6)


def test_intervals_that_hold_together_share_the_chance_of_missing(result: Estimate) -> None:
    level = level_of_each(0.9, 4)
    assert level == pytest.approx(0.975)
    noisy = Geometric.from_epsilon(0, 3, 2).estimate(COUNTS)
    for estimate in (result, noisy, result.of_population(5000)):
        for method in ("wilson", "wald"):
            together = np.array(estimate.confidence_interval(0.9, method, simultaneous=True))
            assert together == pytest.approx(np.array(estimate.confidence_interval(level, method)))
            assert together != pytest.approx(np.array(estimate.confidence_interval(0.9, method)))
    coins = TwoCoin("1/2", "1/2").estimate([570, 430])  # each says what the other one does
    assert coins.confidence_interval(0.9, "wilson", simultaneous=True) == coins.confidence_interval(0.9, "wilson")


def test_the_method_that_is_used_is_named(result: Estimate) -> None:
    many = FOUR.estimate([4000] * 4)
    assert many.interval_method() == "likelihood-ratio"
    noisy = Geometric.from_epsilon(0, 3, 2).estimate(COUNTS)
    assert [noisy.interval_method(method) for method in ("default", "agresti-coull", "wald", "normal")] == [
        "likelihood-ratio",
        "agresti-coull",
        "wald",
        "wald",
    ]
    alone = result.respondents_only
    assert [alone.interval_method(method) for method in ("default", "wilson", "wald", "normal")] == [
        "wilson",
        "wilson",
        "wald",
        "wald",
    ]
    z = normal_quantile(0.9)
    for estimate in (noisy, alone):
        for share, error, ends in zip(
            estimate.share, estimate.std_error, estimate.confidence_interval(0.9, "wald"), strict=True
        ):
            cut = [min(max(end, 0), 1) for end in (share - z * error, share + z * error)]
            assert ends == pytest.approx(cut)


def test_fit_without_one_binomial_is_that_of_the_normal_distribution() -> None:
    # Where all shares are possible, their errors are those at the possible shares.
    noisy = Geometric.from_epsilon(0, 2, 4).estimate([300, 400, 300])
    assert noisy.feasible == pytest.approx(noisy.share, abs=1e-6)
    assert noisy.consistency is not None
    for fit, share, error in zip(noisy.consistency, noisy.share, noisy.std_error, strict=True):
        assert fit.p_below == pytest.approx(NormalDist().cdf(share / error), rel=1e-4)
        assert fit.p_above == pytest.approx(NormalDist().cdf((1 - share) / error), rel=1e-4)
    outside = Geometric.from_epsilon(0, 2, 4).estimate([420, 60, 520])
    assert outside.consistency is not None
    assert outside.share[1] < 0
    error = math.sqrt(outside._feasible_covariance[1, 1])
    assert outside.consistency[1].p_below == pytest.approx(NormalDist().cdf(outside.share[1] / error))
    assert outside.flags[1] is not None
    assert outside.flags[1].startswith("fewer reports than a share of 0 explains (p < .001)")


def test_reports_without_any_chance_fit_their_design() -> None:
    """Everybody tells the truth, two of the four responses to the last one: one share is 1, and has no error."""
    direct = from_matrix([[1, 0, 0], [0, 1, 0], [0, 0, "1/2"], [0, 0, "1/2"]])
    for counts in ([10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 0]):
        found = direct.estimate(counts)
        assert found.binomials is None
        assert found.consistency == (Consistency(1.0, 1.0),) * 3
        assert found.flags == (None,) * 3


@pytest.mark.parametrize(("size", "came"), [(999, "999"), (True, "true"), ("all", "a string"), (None, "null")])
def test_populations_smaller_than_their_respondents_are_refused(result: Estimate, size: int, came: str) -> None:
    with pytest.raises(ParameterError) as caught:
        result.of_population(size)
    assert str(caught.value) == f"population: must be an integer of at least n = 1000, got {came}"
    assert result.of_population(1000) == result.respondents_only


def test_score_interval_of_a_population_solves_its_equation() -> None:
    mechanism = ForcedResponse("2/3", ["1/5", "3/10", "1/2"])
    estimate, z = mechanism.estimate([300, 300, 400]).of_population(3000), normal_quantile(0.9)
    phi = estimate.finite_population_correction
    assert phi == pytest.approx(2000 / 2999)
    for share, support, ends in zip(estimate.share, mechanism.support, estimate.confidence_interval(0.9), strict=True):
        a, b = support.floats
        for end in ends:
            chance = end * a * (1 - a) + (1 - end) * b * (1 - b)  # of the mechanism alone
            variance = (chance / (a - b) ** 2 + phi * end * (1 - end)) / 1000
            assert (share - end) ** 2 == pytest.approx(z * z * variance, rel=1e-6)


def test_a_population_of_one_is_the_respondent() -> None:
    alone = TwoCoin("1/2", "1/2").estimate([0, 1]).of_population(1)
    assert alone.finite_population_correction == 0
    assert TwoCoin("1/2", "1/2").estimate([0, 1]).of_population(2).finite_population_correction == 1
    assert TwoCoin("1/2", "1/2").estimate([0, 1]).finite_population_correction == 1


@pytest.mark.parametrize(
    ("counts", "weighted", "sentence"),
    [
        ([1, 2], False, "tally: must be 3 integers, one for each response, got 2"),
        ([1, 2, 3, 4], True, "tally: must be 3 numbers, one for each response, got 4"),
        ([1, 2.5, 3], False, "tally: must be 3 integers; the first that is not is tally[1], got a fraction"),
        ([1, "x", 3], True, "tally: must be 3 numbers; the first that is not is tally[1], got a string"),
        ([1, None, 3], True, "tally: must be 3 numbers; the first that is not is tally[1], got null"),
        ([1, -1, 3], False, "tally: must be integers of at least 0, got [1, -1, 3]; the first that is not is tally[1]"),
        (
            [1, math.inf, 3],
            True,
            "tally: must be numbers of at least 0, got [1.0, inf, 3.0]; the first that is not is tally[1]",
        ),
        (
            [1, math.nan, 3],
            True,
            "tally: must be numbers of at least 0, got [1.0, nan, 3.0]; the first that is not is tally[1]",
        ),
    ],
)
def test_counts_that_are_none_are_refused_by_what_they_must_be(
    counts: list[object], weighted: bool, sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        check_counts(counts, 3, "tally", weighted=weighted)
    assert str(caught.value) == sentence


def test_counts_become_plain_numbers() -> None:
    found = check_counts([np.int64(0), True, 3], 3)
    assert found == (0, 1, 3)
    assert {type(each) for each in found} == {int}
    assert check_counts([0, 1.5], 2, weighted=True) == (0.0, 1.5)


@pytest.mark.parametrize(
    ("counts", "n", "sentence"),
    [
        ([1, 2], None, "counts: must be 4 integers, one for each response, got 2"),
        ([1, 2, 3, 8], 7, "counts: must be integers in [0, n = 7], got [1, 2, 3, 8]"),
    ],
)
def test_tallies_that_make_no_estimate_are_refused(counts: list[int], n: int | None, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        FOUR.estimate(counts, n)
    assert str(caught.value) == sentence
    assert FOUR.estimate([7, 0, 0, 0], 7).n == 7
    with pytest.raises(ParameterError, match=r"^n: must be given, because a report can support several options$"):
        Subset.from_epsilon(4, 2, 1).estimate([1, 2, 3, 4])


def test_means_end_where_their_numbers_do() -> None:
    mechanism = Geometric.from_epsilon(2, 6, 1)
    low, high = (
        MeanEstimate.from_counts(mechanism, [900, 0, 0, 0, 0]),
        MeanEstimate.from_counts(mechanism, [0, 0, 0, 0, 900]),
    )
    assert (low.lowest, low.highest, low.feasible, high.feasible) == (2, 6, 2, 6)
    assert low.mean < 2
    assert low.confidence_interval()[0] == 2
    assert high.confidence_interval()[1] == 6
    nobody = MeanEstimate.from_counts(mechanism, [0] * 5)
    assert (nobody.n, nobody.counts, nobody.n_effective, nobody.values) == (0, (0,) * 5, 0, (2, 3, 4, 5, 6))
    assert math.isnan(nobody.mean)
    assert math.isnan(nobody.std_error)
    assert nobody.confidence_interval() == (2, 6)


def test_means_have_the_interval_of_their_method() -> None:
    mechanism, z = Geometric.from_epsilon(2, 6, 1), normal_quantile(0.9)
    counts = [round(1000 * each) for each in design_of(mechanism).expected([0.1, 0.2, 0.4, 0.2, 0.1])]
    mean = MeanEstimate.from_counts(mechanism, counts)
    assert mean.confidence_interval(0.9, "wald") == pytest.approx(
        (mean.mean - z * mean.std_error, mean.mean + z * mean.std_error)
    )
    even = [z * z * each for each in design_of(mechanism).expected_if_even]
    later = MeanEstimate.from_counts(mechanism, [count + more for count, more in zip(counts, even, strict=True)])
    ends = (later.mean - z * later.std_error, later.mean + z * later.std_error)
    assert mean.confidence_interval(0.9, "agresti-coull") == pytest.approx(ends)
    assert mean.confidence_interval(0.9) == pytest.approx(ends, abs=0.02), "hundreds of reports are about normal"
    assert mean.confidence_interval() == mean.confidence_interval(0.95, "default")
    assert [mean.interval_method(method) for method in ("default", "agresti-coull", "wald")] == [
        "likelihood-ratio",
        "agresti-coull",
        "wald",
    ]


def test_means_of_0_and_1_are_shares_and_as_sure_as_they() -> None:
    for mechanism in (Warner.from_epsilon(6), Geometric.from_epsilon(0, 1, 6), OneBitMean.from_epsilon(0, 1, 6)):
        mean, shares = MeanEstimate.from_counts(mechanism, [900, 100]), mechanism.estimate([900, 100])
        assert mean.mean == pytest.approx(shares.share[1])
        assert mean.std_error == pytest.approx(shares.std_error[1])
        assert mean.confidence_interval(0.9, "wald") == pytest.approx(shares.confidence_interval(0.9, "wald")[1])
        assert mean.confidence_interval(0.9) == pytest.approx(shares.confidence_interval(0.9)[1])


def test_means_of_two_answers_have_the_interval_of_a_share_whichever_number_is_larger() -> None:
    coin = Warner("3/4")
    for values in ((0, 1), (1, 5), (5, 1)):
        mean = MeanEstimate.from_counts(coin, [600, 400], values=values)
        assert mean.interval_method() == "feldman-cousins"
        share = share_interval(400, 1000, (0.75, 0.25), 0.9)
        ends = sorted(values[0] + (values[1] - values[0]) * end for end in share)
        assert mean.confidence_interval(0.9) == pytest.approx(ends)
        halved = MeanEstimate.from_counts(coin, [600, 400], values=values, n_effective=500)
        share = share_interval(200, 500, (0.75, 0.25), 0.9, "wilson")
        ends = sorted(values[0] + (values[1] - values[0]) * end for end in share)
        assert halved.confidence_interval(0.9, "wilson") == pytest.approx(ends)


@pytest.mark.parametrize(
    "make", [lambda: FOUR.estimate(COUNTS), lambda: MeanEstimate.from_counts(OneBitMean.from_epsilon(0, 9, 1), [4, 5])]
)
def test_levels_that_are_none_are_refused_by_every_interval(make: Callable[[], Estimate]) -> None:
    for level in (0, 1, 95):
        with pytest.raises(ParameterError, match=r"^confidence_level: must be from 0.001 to 0.999999999999, got "):
            make().confidence_interval(level)
