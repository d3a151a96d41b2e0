"""Estimates beyond the plain one: covariance, finite populations, weights, matrix designs, means, flags."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from deniable import Estimate, Mechanism, ParameterError, mechanisms
from deniable_statistics.classical import (
    cheater_detection,
    forced_response,
    kuk,
    mangat,
    unrelated_question_unknown,
    warner,
)
from deniable_statistics.designs.feasible import most_likely_mixture
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import share_interval

LEVELS = [[-abs(x - r) for r in range(4)] for x in range(4)]
DESIGNS = [
    (mechanisms.TwoCoin("1/2", "1/2"), [570, 430], None),
    (mechanisms.Warner("1/6"), [400, 600], None),
    (mechanisms.ForcedResponse("1/2", ["1/3", "2/3"]), [500, 500], None),
    (mechanisms.KAry.from_epsilon(4, 1), [400, 300, 200, 100], None),
    (mechanisms.Subset.from_epsilon(5, 2, 1), [300, 420, 400, 380, 500], 1000),
    (mechanisms.TickBoxes.from_epsilon(3, 3), [300, 420, 650], 1000),
    (mechanisms.Geometric.from_epsilon(1, 5, 2), [150, 250, 300, 200, 100], None),
    (mechanisms.Exponential.calibrated(LEVELS, 2), [400, 300, 200, 100], None),
    (forced_response("1/2", ["1/4", "1/4", "1/2"]), [300, 450, 250], None),
    (kuk("0.8", "0.2", 5), [100, 200, 250, 200, 150, 100], None),
    (mangat("0.7"), [570, 430], None),
]


def estimated(design: object, counts: list[int], n: int | None) -> Estimate:
    return Estimate.from_counts(design, counts, n)  # type: ignore[arg-type]


@pytest.mark.parametrize(("design", "counts", "n"), DESIGNS, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("size", [None, 1000, 5000])
def test_standard_errors_are_the_diagonal_of_the_covariance(
    design: Mechanism, counts: list[int], n: int | None, size: int | None
) -> None:
    result = estimated(design, counts, n)
    if size is not None:
        result = result.of_population(size)
    assert np.sqrt(result.covariance.diagonal()) == pytest.approx(result.std_error, rel=1e-9)


@pytest.mark.parametrize(("design", "counts", "n"), DESIGNS, ids=lambda each: getattr(each, "name", ""))
def test_debiasing_inverts_what_is_expected(design: Mechanism, counts: list[int], n: int | None) -> None:
    weights, constant = design_of(design).debiasing
    for truth in range(len(design_of(design).truths)):
        shares = [float(x == truth) for x in range(len(design_of(design).truths))]
        assert weights @ design_of(design).expected(shares) + constant == pytest.approx(shares, abs=1e-12)
    total = sum(counts) if n is None else n
    assert estimated(design, counts, n).share == pytest.approx(weights @ np.array(counts) / total + constant, abs=1e-12)


def test_subset_covariance_is_that_of_all_subsets() -> None:
    mechanism = mechanisms.Subset.from_epsilon(5, 2, 1)
    truths = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
    ratio = float(mechanism.likelihood_ratio)
    sets = list(itertools.combinations(range(5), 2))
    chances = np.array([sum(f * (ratio if x in each else 1) for x, f in enumerate(truths)) for each in sets])
    chances /= chances.sum()
    supports = np.array([[float(option in each) for option in range(5)] for each in sets])
    scores = supports @ design_of(mechanism).debiasing.weights.T
    wanted = (scores.T * chances) @ scores - np.outer(chances @ scores, chances @ scores)
    assert design_of(mechanism).covariance(chances @ supports * 1000, 1000) == pytest.approx(wanted / 1000, abs=1e-12)


def test_every_weighted_sum_of_supports_has_its_own_reach_and_variance() -> None:
    weights = np.array([[3.0, 0, 0, 0], [1, -1, 0, 0], [1, 2, 3, 4]])
    assert design_of(mechanisms.Subset.from_epsilon(4, 2, 1)).reach(weights).tolist() == [
        3,
        2,
        4,
    ]  # 1, 1 - -1 + 0 - 0, 3 + 4 - 1 - 2
    assert design_of(mechanisms.KAry.from_epsilon(4, 1)).reach(weights).tolist() == [3, 2, 3]
    boxes = mechanisms.TickBoxes(4, "3/4")
    assert design_of(boxes).reach(weights).tolist() == [3, 2, 10]
    covariance = design_of(boxes).score_covariance(weights, [0.5, 0.25, 0.25, 0.5])
    assert covariance[0, 0] == 9 * 0.5 * 0.5
    assert np.isnan(covariance).sum() == 8, "of two boxes nobody knows how often they go together"


def test_possible_shares_of_boxes_are_the_unbiased_ones_cut_to_what_can_be() -> None:
    result = mechanisms.TickBoxes(3, "3/4").estimate([100, 500, 900], 1000)
    assert result.share == pytest.approx((-0.3, 0.5, 1.3))
    assert result.feasible == (0, 0.5, 1)


def test_tallies_of_boxes_do_not_tell_what_goes_together() -> None:
    covariance = mechanisms.TickBoxes.from_epsilon(3, 3).estimate([300, 420, 650], 1000).covariance
    assert np.isnan(covariance[~np.eye(3, dtype=bool)]).all()


@pytest.mark.parametrize("a", [Fraction(3, 4), Fraction(1, 4)])
def test_variance_among_these_respondents_is_exact(a: Fraction) -> None:
    # 8 people, 4 of them true yes: C ~ Bin(4, a) + Bin(4, b); a count of 4 is an estimate of exactly 1/2
    result = warner(a).estimate([4, 4]).respondents_only
    b = float(1 - a)
    pmf = np.convolve(binom.pmf(range(5), 4, float(a)), binom.pmf(range(5), 4, b))  # type: ignore[arg-type]
    shares = (np.arange(9) / 8 - b) / (float(a) - b)
    assert pmf @ shares == pytest.approx(0.5)
    assert result.std_error[1] ** 2 == pytest.approx(pmf @ (shares - 0.5) ** 2, abs=1e-12)


def test_variance_in_a_finite_population_is_exact() -> None:
    # 8 people out of 20, 10 of them true yes
    a, b = 0.75, 0.25
    pmf = np.zeros(9)
    for yes in range(9):
        drawn = hypergeom.pmf(yes, 20, 10, 8)
        pmf += drawn * np.convolve(binom.pmf(range(yes + 1), yes, a), binom.pmf(range(9 - yes), 8 - yes, b))  # type: ignore[arg-type]
    shares = (np.arange(9) / 8 - b) / (a - b)
    result = warner("3/4").estimate([4, 4]).of_population(20)
    assert result.std_error[1] ** 2 == pytest.approx(pmf @ (shares - pmf @ shares) ** 2, abs=1e-12)


def test_formula_of_fixed_respondents() -> None:
    # n Var = [f p (1 - p) + (1 - f) q (1 - q)] / (p - q)^2
    mechanism = mechanisms.KAry.from_epsilon(3, 1)
    p, q = map(float, mechanism.support[0])
    result = mechanism.estimate([400, 330, 270]).respondents_only
    f = np.array(result.share)
    wanted = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2 / 1000
    assert np.array(result.std_error) ** 2 == pytest.approx(wanted, rel=1e-9)


def test_errors_shrink_from_everybody_to_the_respondents() -> None:
    estimate = mechanisms.TwoCoin("1/2", "1/2").estimate([570, 430])
    errors = [estimate, *(estimate.of_population(size) for size in (10**9, 10_000, 2000)), estimate.respondents_only]
    values = [each.std_error[1] for each in errors]
    assert values == sorted(values, reverse=True)
    assert values[1] == pytest.approx(values[0], rel=1e-5)
    widths = [high - low for low, high in (each.confidence_interval(method="wilson")[1] for each in errors)]
    assert widths == sorted(widths, reverse=True)
    assert widths[1] == pytest.approx(widths[0], rel=1e-5)
    assert estimate.respondents_only.interval_method() == "wilson"


@pytest.mark.parametrize(("a", "n"), [(0.75, 100), (0.98, 7), (0.95, 30)])
def test_interval_of_the_respondents_covers_their_shares(a: float, n: int) -> None:
    b, channel = 1 - a, warner(str(a))
    ends = np.array([channel.estimate([n - c, c]).respondents_only.confidence_interval()[1] for c in range(n + 1)])
    assert (ends[:, 1] > ends[:, 0]).all()
    for yes in range(n + 1):
        pmf = np.convolve(binom.pmf(range(yes + 1), yes, a), binom.pmf(range(n - yes + 1), n - yes, b))  # type: ignore[arg-type]
        held = (ends[:, 0] <= yes / n + 1e-12) & (yes / n <= ends[:, 1] + 1e-12)
        assert pmf @ held >= 0.95 - 1e-9


def test_weights_that_are_all_the_same_change_nothing() -> None:
    mechanism = mechanisms.KAry.from_epsilon(3, 1)
    plain = mechanism.estimate([500, 300, 200])
    weighted = mechanism.estimate([1000.0, 600.0, 400.0], 2000.0, n_effective=1000)
    assert weighted.share == pytest.approx(plain.share, abs=1e-15)
    assert weighted.std_error == pytest.approx(plain.std_error, abs=1e-15)
    assert np.array(weighted.confidence_interval()) == pytest.approx(np.array(plain.confidence_interval()), abs=1e-12)
    assert weighted.covariance == pytest.approx(plain.covariance, abs=1e-15)


def test_fewer_effective_reports_widen_everything() -> None:
    mechanism = mechanisms.TwoCoin("1/2", "1/2")
    plain, fewer = mechanism.estimate([570, 430]), mechanism.estimate([570, 430], n_effective=500)
    assert fewer.std_error[1] == pytest.approx(plain.std_error[1] * math.sqrt(2))
    assert fewer.confidence_interval()[1] == share_interval(215, 500, (0.75, 0.25))


def test_fewer_effective_reports_widen_a_mean() -> None:
    for mechanism in (
        mechanisms.OneBitMean.from_epsilon(0, 10, 1),
        mechanisms.KAry.from_epsilon(2, 1),
        mechanisms.Geometric.from_epsilon(0, 1, 1),
    ):
        plain, fewer = (
            MeanEstimate.from_counts(mechanism, [570, 430]),
            MeanEstimate.from_counts(mechanism, [570, 430], n_effective=500),
        )
        assert (fewer.mean, fewer.n) == (plain.mean, plain.n)
        assert fewer.std_error == pytest.approx(plain.std_error * math.sqrt(2))
        half = MeanEstimate.from_counts(mechanism, [285, 215])
        for method in ("default", "wald", "wilson"):
            assert fewer.confidence_interval(0.9, method) == pytest.approx(half.confidence_interval(0.9, method))


def test_simultaneous_intervals_are_wider_and_hold_the_single_ones() -> None:
    result = mechanisms.KAry.from_epsilon(4, 1).estimate([400, 300, 200, 100])
    pairs = zip(result.confidence_interval(), result.confidence_interval(simultaneous=True), strict=True)
    assert all(wide.low <= one.low <= one.high <= wide.high for one, wide in pairs)


def test_smoothed_interval_is_agresti_and_coull_for_two_options() -> None:
    # one card a pack has an estimator of its own, so no support, but the same numbers as Warner's coin
    for count in (0, 3, 20, 50):
        without = kuk("3/4", "1/4").estimate([50 - count, count])
        assert without.interval_method("agresti-coull") == "agresti-coull"
        wanted = share_interval(count, 50, (0.75, 0.25), method="agresti-coull")
        assert without.confidence_interval(method="agresti-coull")[1] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.slow
def test_designs_without_one_binomial_never_get_a_point_from_their_error() -> None:
    for tally in ([50, 0, 0, 0, 0], [0, 0, 0, 0, 50], [0, 0, 50, 0, 0]):
        result = mechanisms.Geometric.from_epsilon(1, 5, 2).estimate(tally)
        assert all(
            high > low for low, high in (*result.confidence_interval(), *result.confidence_interval(simultaneous=True))
        )
        assert any(result.flags)
    groups = cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]])
    assert groups.interval_method() == "likelihood-ratio"
    for share, error, (low, high) in zip(groups.share, groups.std_error, groups.confidence_interval(), strict=True):
        assert low < share < high
        assert high - low == pytest.approx(2 * 1.96 * error, rel=0.05)


@pytest.mark.long
def test_interval_of_a_scale_covers() -> None:
    mechanism = mechanisms.Geometric.from_epsilon(1, 3, 2)
    n, truth = 12, (0.7, 0.2, 0.1)
    lam = design_of(mechanism).float_matrix @ truth
    covered = np.zeros(3)
    for first in range(n + 1):
        for second in range(n + 1 - first):
            tally = [first, second, n - first - second]
            chance = math.factorial(n) * math.prod(p**c / math.factorial(c) for p, c in zip(lam, tally, strict=True))
            held = mechanism.estimate(tally).confidence_interval()
            covered += chance * np.array([low <= f <= high for f, (low, high) in zip(truth, held, strict=True)])
    assert (covered >= 0.95).all()


@pytest.mark.parametrize(
    ("mechanism", "counts", "values"),
    [
        (mechanisms.KAry.from_epsilon(5, 1), [300, 250, 200, 150, 100], (1, 2, 3, 4, 5)),
        (mechanisms.Geometric.from_epsilon(1, 5, 2), [150, 250, 300, 200, 100], (1, 2, 3, 4, 5)),
    ],
    ids=str,
)
def test_mean_of_shares_is_the_mean(mechanism: Mechanism, counts: list[int], values: tuple[int, ...]) -> None:
    shares, mean = mechanism.estimate(counts), MeanEstimate.from_counts(mechanism, counts, values=values)
    assert np.dot(values, shares.share) == pytest.approx(mean.mean, rel=1e-9)
    assert math.sqrt(values @ shares.covariance @ np.array(values)) == pytest.approx(mean.std_error, rel=1e-9)
    low, high = mean.confidence_interval()
    assert low < mean.mean < high
    assert mean.interval_method() == "likelihood-ratio"


@pytest.mark.parametrize(
    ("mechanism", "arguments", "sentence"),
    [
        (mechanisms.KAry.from_epsilon(3, 1), ([1, 2],), "counts: must be 3 numbers, one for each response, got 2"),
        (
            mechanisms.KAry.from_epsilon(3, 1),
            ([1, 2, -3],),
            "counts: must be numbers of at least 0, got [1.0, 2.0, -3.0]",
        ),
        (mechanisms.KAry.from_epsilon(3, 1), ([1, 2, 3], 2), "counts: must be numbers in [0, n = 2], got [1, 2, 3]"),
        (
            mechanisms.KAry.from_epsilon(3, 1),
            ([1, 2, 3], 6, (1, 2)),
            "values: must be 3 numbers, one for each answer, got 2",
        ),
        (
            mechanisms.Geometric.from_epsilon(0, 2, 1),
            ([1, 2, 3], 6, range(4)),
            "values: must be 3 numbers, one for each answer",
        ),
        (
            mechanisms.OneBitMean.from_epsilon(0, 9, 1),
            ([1, 2], 3, range(10)),
            "values: must be 2 numbers, one for each answer",
        ),
        (mechanisms.TickBoxes(2, "3/4"), ([1, 2],), "n: must be given, because a report can support several options"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_tallies_and_values_that_make_no_mean_are_refused(
    mechanism: Mechanism, arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        MeanEstimate.from_counts(mechanism, *arguments)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("fakes", [0, 3])
@pytest.mark.parametrize("method", ["wald", "agresti-coull", "likelihood-ratio"])
@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (mechanisms.Geometric.from_epsilon(0, 4, 2), [20, 10, 30, 25, 15]),
        (mechanisms.Geometric.from_epsilon(0, 1, 1), [24, 16]),
    ],
    ids=["five answers", "two answers"],
)
def test_the_interval_of_a_mean_follows_its_scale(
    mechanism: Mechanism, counts: list[int], method: str, fakes: int
) -> None:
    values = [float(answer) for answer in mechanism.answer_range]
    plain = MeanEstimate.from_counts(mechanism, counts, None, values)
    other = MeanEstimate.from_counts(mechanism, counts, None, [5 + 2 * value for value in values])
    low, high = plain.confidence_interval(0.9, method, fakes=fakes)
    assert values[0] <= low < high <= values[-1]
    assert other.confidence_interval(0.9, method, fakes=fakes) == pytest.approx((5 + 2 * low, 5 + 2 * high))


def test_the_mean_of_equal_numbers_is_that_number() -> None:
    same = MeanEstimate.from_counts(mechanisms.Geometric.from_epsilon(0, 1, 1), [24, 16], None, (3, 3))
    for fakes in (0, 3):
        assert same.confidence_interval(0.9, fakes=fakes) == (3, 3)


def test_fakes_in_groups_are_assumed_by_likelihood_alone() -> None:
    groups = cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]])
    with pytest.raises(ParameterError) as caught:
        groups.confidence_interval(method="wald", fakes=5)
    assert str(caught.value) == "method: must be by likelihood ratio to assume fakes in groups, got wald"


def test_mean_of_two_ends_has_the_interval_of_a_share() -> None:
    mechanism = mechanisms.OneBitMean.from_epsilon(10, 20, 1)
    a, b = map(float, mechanism.support[1])
    low, high = share_interval(300, 800, (a, b))
    assert MeanEstimate.from_counts(mechanism, [500, 300]).confidence_interval() == pytest.approx(
        (10 + 10 * low, 10 + 10 * high)
    )
    assert MeanEstimate.from_counts(mechanism, [500, 300]).interval_method() == "feldman-cousins"
    assert (
        MeanEstimate.from_counts(mechanism, [500, 300]).confidence_interval(method="wald")
        != MeanEstimate.from_counts(mechanism, [500, 300]).confidence_interval()
    )


def test_noise_beyond_the_range_still_tells_shares() -> None:
    mechanism = mechanisms.DiscreteLaplace.from_epsilon(0, 3, epsilon=4, tail="1/100")
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    counts = np.round(design_of(mechanism).float_matrix @ truth * 10**7).astype(int).tolist()
    result = mechanism.estimate(counts)
    assert result.share == pytest.approx(truth, abs=1e-5)
    assert result.feasible == pytest.approx(truth, abs=1e-5)


def expectation_maximisation(matrix: np.ndarray, counts: np.ndarray, steps: int) -> np.ndarray:
    """The maximum by a method that shares nothing with the steps of quadratic programs."""
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    seen = counts / counts.sum()
    for _ in range(steps):
        before, shares = shares, shares * (matrix.T @ (seen / (matrix @ shares)))
        # Where the maximum has a share of 0 the change falls like 1 / n^2, so it never gets there by being slow.
        if np.abs(shares - before).max() < 1e-15:
            break
    return shares


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (mechanisms.Geometric.from_epsilon(1, 5, 2), [150, 250, 300, 200, 100]),
        (mechanisms.Geometric.from_epsilon(0, 10, 4), [500, 0, 0, 0, 0, 300, 0, 0, 0, 0, 200]),
        (mechanisms.Geometric.from_epsilon(0, 10, 1), [10, 5, 0, 1, 4, 5, 9, 0, 0, 2, 0]),
        (mechanisms.Exponential.calibrated(LEVELS, 2), [400, 0, 500, 100]),
        (mechanisms.Exponential.nominal(LEVELS, 1), [0, 0, 0, 30]),
    ],
    ids=str,
)
def test_feasible_shares_of_matrices_are_the_maximum(mechanism: Mechanism, counts: list[int]) -> None:
    found = np.array(mechanism.estimate(counts).feasible)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    matrix = design_of(mechanism).float_matrix
    slow = expectation_maximisation(matrix, np.array(counts, dtype=float), 100_000)

    def likelihood(shares: np.ndarray) -> float:
        lam = matrix @ shares
        return float(sum(c * math.log(p) for c, p in zip(counts, lam, strict=True) if c))

    assert likelihood(found) >= likelihood(slow) - 1e-6
    gradient = matrix.T @ (np.array(counts) / (matrix @ found)) / sum(counts)
    assert gradient.max() <= 1 + 1e-8


def test_most_likely_shares_of_random_channels_satisfy_the_condition_of_the_maximum() -> None:
    generator = np.random.default_rng(1974)
    for _ in range(300):
        truths, reports, groups = generator.integers(2, 9), generator.integers(2, 12), generator.integers(1, 3)
        matrices = [generator.dirichlet(np.full(reports, 0.3), truths).T for _ in range(groups)]
        counts = [generator.multinomial(50, matrix @ generator.dirichlet(np.full(truths, 0.5))) for matrix in matrices]
        shares: NDArray[np.float64] = np.array(most_likely_mixture(matrices, counts))  # type: ignore[arg-type]  # arrays do too
        stacked, observed = np.vstack(matrices), np.concatenate(counts)
        seen = observed > 0
        gradient = stacked[seen].T @ (observed[seen] / (stacked[seen] @ shares)) / observed.sum()
        assert gradient.max() <= 1 + 1e-8
        assert shares.min() >= 0


def test_feasible_shares_of_groups() -> None:
    assert cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]]).feasible == pytest.approx(
        (0.56, 0.24, 0.2), abs=1e-6
    )
    outside = cheater_detection(["1/4", "3/4"]).estimate([[300, 200], [350, 150]])
    assert min(outside.feasible) == 0
    assert sum(outside.feasible) == pytest.approx(1)
    unknown = unrelated_question_unknown("0.7", "0.3").estimate([[200, 300], [300, 200]])
    assert unknown.feasible == unknown.share


def test_data_that_hardly_fit_the_design_are_flagged() -> None:
    # 98 yes of 729 from dice that force a sixth of the answers to be yes
    result = forced_response("3/4", ["1/3", "2/3"]).estimate([631, 98])
    assert result.design.support is not None
    assert [float(each) for each in result.design.support[1]] == pytest.approx([11 / 12, 1 / 6])
    assert result.consistency is not None
    assert result.consistency[1].p_below == pytest.approx(0.0097, abs=5e-5)
    assert result.flags[1] == "fewer reports than a share of 0 explains (p = .010): the data hardly fit the design"
    assert result.flags[0] is not None
    assert result.flags[0].startswith("more reports than a share of 1")
    assert mechanisms.TwoCoin("1/2", "1/2").estimate([570, 430]).flags == (None, None)
    assert kuk("0.8", "0.2", 5).estimate([10] * 6).flags == (None, None)
    assert kuk("0.8", "0.2", 5).estimate([900, 100, 0, 0, 0, 0]).flags[1] is not None
    assert cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]]).flags == (None,) * 3
    assert cheater_detection(["1/4", "3/4"]).estimate([[200, 300], [350, 150]]).flags[0] is not None


def test_mistakes_about_populations_are_sentences() -> None:
    estimate = mechanisms.TwoCoin("1/2", "1/2").estimate([570, 430])
    for size in (999, 0, -1, True, 1000.0, "all"):
        with pytest.raises(ParameterError, match="population: must be an integer of at least n = 1000"):
            estimate.of_population(size)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^population: needs a design that asks everybody alike, got groups$"):
        cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]]).of_population(2000)
    with pytest.raises(ParameterError, match="must be wilson or wald for a finite population, got 'blaker'"):
        estimate.respondents_only.confidence_interval(method="blaker")


@pytest.mark.parametrize("n", [400, 10_001, 60_000])
def test_simultaneous_intervals_hold_the_single_ones_and_are_no_points(n: int) -> None:
    # Above 10,000 reports they were Wilson's, cut to [0, 1]: (0, 0) for a count that a share of 0 hardly explains.
    mechanism = mechanisms.KAry.from_epsilon(10, 1)
    none = float(mechanism.support[0].if_other) * n
    error = math.sqrt(none)
    counts = [max(round(none + z * error), 0) for z in (-5, -4, -3.2, -2, -1, 0, 1, 3, 5)]
    estimate = mechanism.estimate([n - sum(counts), *counts])
    for each in (estimate, estimate.respondents_only, estimate.of_population(2 * n)):
        for level in (0.8, 0.95, 0.999):
            for (low, high), (least, most) in zip(
                each.confidence_interval(level), each.confidence_interval(level, simultaneous=True), strict=True
            ):
                assert 0 <= least <= low < high <= most <= 1
