"""Comparisons of cohorts against published figures, exact enumeration and formulas that share nothing with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom, chi2, chi2_contingency

from deniable import Geometric, KAry, OneBitMean, ParameterError, Piecewise, Subset, TickBoxes, TwoCoin, Warner
from deniable_statistics.classical import cheater_detection, crosswise, forced_response, from_matrix, from_mechanism
from deniable_statistics.comparison import difference, holm, homogeneity, pairwise, ratio, trend
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.comparison.means import mean_differences
from deniable_statistics.comparison.null import common_share
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import clopper_pearson, level_of_each, wilson
from deniable_statistics.intervals.ratio_limits import Spread, ratio_limits
from tools.tables.comparison import enumerate_cohorts

COINS = TwoCoin("1/2", "1/2")
DIRECT = from_matrix([[1, 0], [0, 1]])


def cohort(design: AnyDesign, yes: float, n: float, n_effective: float | None = None) -> Estimate:
    return Estimate.from_counts(design, [n - yes, yes], n, n_effective)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_linear_intervals_of_wilsons_limits_are_newcombes(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    shares = (first[0] / first[1], second[0] / second[1])
    on_wilson = linear_interval((1, -1), shares, (wilson(*first, 0.95), wilson(*second, 0.95)))
    assert on_wilson.cut(-1, 1) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("design", [COINS, Warner.from_epsilon(1), crosswise("1/6")], ids=str)
def test_a_difference_is_that_of_reports_stretched_by_the_debiasing_line(design: Design) -> None:
    reports = difference(cohort(DIRECT, 43, 100), cohort(DIRECT, 60, 150))
    result = difference(cohort(design, 43, 100), cohort(design, 60, 150))
    assert design.support is not None
    stretch = 1 / float(design.support[1].if_true - design.support[1].if_other)  # below 0 for crosswise(1/6)
    assert result.difference == pytest.approx(stretch * reports.difference)
    assert result.std_error == pytest.approx(abs(stretch) * reports.std_error)
    assert result.p_value == pytest.approx(reports.p_value, rel=1e-9)
    assert result.confidence_interval() == pytest.approx(sorted(stretch * end for end in reports.confidence_interval()))


@pytest.mark.slow
def test_intervals_and_tests_are_right_for_every_pair_of_shares() -> None:
    # By enumeration; the same function over cohorts of 50, 100 and 500 prints its table with `make tables`.
    for channel in (forced_response("1/2"), from_mechanism(Warner.from_epsilon(1))):
        rows = enumerate_cohorts(channel, 50)
        assert len(rows) == 45
        assert min(row.difference for row in rows) >= 0.939
        assert min(row.ratio for row in rows if row.ratio is not None) >= 0.939
        assert min(row.rejected for row in rows if row.shares[0] == row.shares[1]) >= 0.049
        assert max(row.rejected for row in rows if row.shares[0] == row.shares[1]) <= 0.058


@pytest.mark.simulation
def test_the_score_test_holds_its_level_between_different_designs() -> None:
    n, m = 60, 90
    other = crosswise("1/6")
    firsts = [cohort(forced_response("1/2"), yes, n) for yes in range(n + 1)]
    seconds = [cohort(other, yes, m) for yes in range(m + 1)]
    rejected = np.array([[difference(one, two).p_value <= 0.05 for two in seconds] for one in firsts])
    for share in (0, 0.1, 0.3, 0.6, 1):
        chance = np.outer(
            binom.pmf(np.arange(n + 1), n, 0.25 + 0.5 * share),
            binom.pmf(np.arange(m + 1), m, 5 / 6 - 2 / 3 * share),
        )
        assert 0.045 <= chance[rejected].sum() <= 0.056


def test_the_common_share_is_the_most_likely_one_and_the_statistic_pearsons() -> None:
    cohorts = [cohort(COINS, 43, 100), cohort(Warner.from_epsilon(1), 70, 150), cohort(crosswise("1/6"), 60, 80)]
    supports = [tuple(map(float, each.design.support[1])) for each in cohorts]  # all have some

    def lam(share: float) -> list[float]:
        return [b + (a - b) * share for a, b in supports]

    def likelihood(share: float) -> float:
        return -sum(
            each.counts[1] * math.log(p) + each.counts[0] * math.log(1 - p)
            for each, p in zip(cohorts, lam(share), strict=True)
        )

    best = minimize_scalar(likelihood, bounds=(-0.24, 1.24), method="bounded", options={"xatol": 1e-10}).x
    null = common_share(cohorts, 1)
    assert null.share == pytest.approx(best, abs=1e-6)
    pearson = sum(
        (each.counts[1] - each.n * p) ** 2 / (each.n * p * (1 - p))
        for each, p in zip(cohorts, lam(null.share), strict=True)
    )
    assert null.statistic == pytest.approx(pearson)
    # at the most likely share the statistic of two cohorts is their difference over its error
    first, second = cohorts[:2]
    null = common_share((first, second), 1)
    z = (first.share[1] - second.share[1]) / math.sqrt(sum(null.variances))
    assert difference(first, second).statistic == pytest.approx(z, rel=1e-9)


def test_the_common_share_may_be_at_the_end_of_what_is_possible() -> None:
    null = common_share([cohort(DIRECT, 0, 20), cohort(COINS, 5, 20)], 1)
    assert null.share == pytest.approx(0, abs=1e-12)
    result = difference(cohort(DIRECT, 0, 20), cohort(DIRECT, 0, 30))
    assert (result.statistic, result.p_value) == (0, 1)


def test_weights_count_with_kish() -> None:
    plain = difference(cohort(COINS, 43, 100), cohort(COINS, 30, 90))
    doubled = difference(cohort(COINS, 86.0, 200.0, 100), cohort(COINS, 90.0, 270.0, 90))
    assert doubled.confidence_interval() == pytest.approx(plain.confidence_interval())
    assert doubled.p_value == pytest.approx(plain.p_value)
    assert doubled.std_error == pytest.approx(plain.std_error)
    uneven = difference(cohort(COINS, 86.0, 200.0, 60), cohort(COINS, 90.0, 270.0, 90))
    assert uneven.p_value > plain.p_value


def test_the_respondents_alone_are_compared_by_wald() -> None:
    first, second = cohort(COINS, 43, 100), cohort(COINS, 30, 90)
    result = difference(first.respondents_only, second.respondents_only)
    assert (result.method, result.test) == ("wald", "wald")
    assert result.std_error < difference(first, second).std_error
    low, high = result.confidence_interval()
    assert (high - low) / 2 == pytest.approx(1.959964 * result.std_error, rel=1e-6)
    assert result.statistic == pytest.approx(result.difference / result.std_error)


def test_empty_cohorts_are_unknown() -> None:
    some, none = cohort(COINS, 43, 100), cohort(COINS, 0, 0)
    apart, times = difference(some, none), ratio(some, none)
    assert math.isnan(apart.difference)
    assert math.isnan(apart.p_value)
    assert apart.confidence_interval() == (-1, 1)
    assert math.isnan(times.ratio)
    assert times.confidence_interval() == (0, math.inf)
    assert math.isnan(homogeneity([some, none]).p_value)
    assert homogeneity([some, none, some]).df == 1
    slope = trend([none, some, none])
    assert math.isnan(slope.slope)
    assert slope.confidence_interval() == (-math.inf, math.inf)


def test_ratios_are_those_of_donner_and_zou() -> None:
    # equation 9 of Statistical Methods in Medical Research 21 (2012), 347-359, on Clopper-Pearson's limits stretched
    def limits(yes: int, n: int) -> list[float]:
        return [2 * (end - 0.25) for end in clopper_pearson(yes, n, 0.9)]

    (l1, u1), (l2, u2) = limits(550, 1000), limits(420, 900)
    f1, f2 = 2 * (0.55 - 0.25), 2 * (420 / 900 - 0.25)
    low = (f1 * f2 - math.sqrt((f1 * f2) ** 2 - l1 * u2 * (2 * f1 - l1) * (2 * f2 - u2))) / (u2 * (2 * f2 - u2))
    high = (f1 * f2 + math.sqrt((f1 * f2) ** 2 - u1 * l2 * (2 * f1 - u1) * (2 * f2 - l2))) / (l2 * (2 * f2 - l2))
    result = ratio(cohort(COINS, 550, 1000), cohort(COINS, 420, 900))
    assert result.confidence_interval(0.9) == pytest.approx((low, high))
    assert result.method == "donner-zou"


def test_ratios_by_standard_errors_are_fiellers() -> None:
    assert ratio(cohort(COINS, 60, 100).respondents_only, cohort(COINS, 50, 90)).method == "fieller"


def test_limits_of_ratios_are_the_ends_of_all_that_fit() -> None:
    chance = np.random.default_rng(7)
    ratios = np.concatenate([np.linspace(0, 20, 40_001), np.geomspace(20, 1e7, 20_000)])
    unbounded = 0
    for _ in range(300):
        top, bottom = chance.normal(1, 1.5, 2)
        v_top, v_bottom = chance.gamma(1, 1, 2)
        spread = Spread(v_top, v_bottom, chance.uniform(-0.99, 0.99) * math.sqrt(v_top * v_bottom))
        fits = (top - ratios * bottom) ** 2 <= spread.top - 2 * ratios * spread.both + ratios**2 * spread.bottom
        low, high = ratio_limits(top, bottom, spread, spread)
        unbounded += high == math.inf
        if bottom < 0 and bottom**2 > v_bottom:  # certainly below 0, which no share is
            assert high == math.inf
            continue
        if not fits.any():
            assert (low, high) in {(0, 0), (math.inf, math.inf)} or high - low < 1e-3 * (1 + low)
            continue
        found = ratios[fits]
        if low > 0 or fits[0]:  # a numerator below 0 leaves only the hull from 0
            assert low == pytest.approx(found[0], abs=1e-3, rel=1e-3)
        assert high == (math.inf if fits[-1] else pytest.approx(found[-1], abs=1e-3, rel=1e-3))
    assert 50 < unbounded < 250


def test_homogeneity_of_one_design_is_pearsons_test_on_the_reports() -> None:
    designs: list[tuple[AnyDesign, list[list[int]]]] = [
        (COINS, [[570, 430], [620, 380], [300, 250]]),
        (KAry.from_epsilon(4, 1), [[40, 30, 20, 10], [30, 30, 25, 40], [25, 25, 25, 25]]),
        (Geometric.from_epsilon(0, 3, 2), [[40, 30, 20, 10], [30, 30, 25, 40], [25, 25, 25, 25]]),
        (forced_response("1/2", ["1/2", "1/4", "1/4"]), [[40, 30, 20], [30, 30, 25]]),
        (KAry.from_epsilon(3, 1), [[40, 30, 0], [30, 50, 0]]),  # nobody reports the last: one degree of freedom less
    ]
    for design, table in designs:
        counts = np.array(table)
        seen = counts[:, counts.sum(axis=0) > 0]
        expected, p, df, _ = chi2_contingency(seen, correction=False)
        result = homogeneity([Estimate.from_counts(design, row) for row in table])
        assert (result.statistic, result.df, result.test) == (pytest.approx(expected), df, "score")
        assert result.p_value == pytest.approx(p)


def test_homogeneity_of_subsets_of_one_is_that_of_k_ary() -> None:
    table = [[40, 30, 20, 10], [30, 30, 25, 40]]
    subsets = homogeneity([Subset.from_epsilon(4, 1, 1).estimate(row, sum(row)) for row in table])
    assert (subsets.statistic, subsets.df) == (pytest.approx(chi2_contingency(table, correction=False)[0]), 3)


@pytest.mark.simulation
def test_homogeneity_of_subsets_holds_its_level() -> None:
    mechanism, draws = Subset.from_epsilon(6, 2, 1), 300
    chance = np.random.default_rng(3)

    def words(n: int) -> np.ndarray:
        return chance.integers(0, 2**32, n, dtype=np.uint32)

    statistics = []
    for _ in range(draws):
        answers = chance.choice(6, size=(3, 300), p=[0.5, 0.2, 0.1, 0.1, 0.1, 0])
        tallies = mechanism.randomize_many(answers, words).sum(axis=1, dtype=int)
        result = homogeneity([mechanism.estimate(row.tolist(), 300) for row in tallies])
        assert result.df == 10
        statistics.append(result.statistic)
    # The mean of a chi-squared with 10 degrees of freedom is 10, its variance 20.
    assert np.mean(statistics) == pytest.approx(10, abs=5 * math.sqrt(20 / draws))
    assert np.mean(np.array(statistics) > chi2.isf(0.05, 10)) == pytest.approx(0.05, abs=5 * math.sqrt(0.0475 / draws))


def test_homogeneity_of_different_designs_weighs_with_covariances() -> None:
    cohorts = [
        KAry.from_epsilon(4, 1).estimate([40, 30, 20, 30]),
        Geometric.from_epsilon(0, 3, 2).estimate([30, 30, 45, 30]),
        Subset.from_epsilon(4, 2, 1).estimate([70, 60, 40, 50], 110),
    ]
    shares = np.array([each.share for each in cohorts])[:, :3]  # the last share is what is left
    inverses = np.array([np.linalg.inv(each.covariance[:3, :3]) for each in cohorts])
    mean = np.linalg.solve(inverses.sum(axis=0), sum(v @ f for v, f in zip(inverses, shares, strict=True)))
    expected = sum((f - mean) @ v @ (f - mean) for v, f in zip(inverses, shares, strict=True))
    result = homogeneity(cohorts)
    assert (result.statistic, result.df, result.test) == (pytest.approx(expected), 6, "wald")


def test_groups_are_compared_by_their_own_errors() -> None:
    design = cheater_detection(["1/4", "3/4"])
    first, second = design.estimate([[310, 190], [170, 330]]), design.estimate([[280, 220], [170, 330]])
    result = difference(first, second, "yes")
    assert (result.method, result.test) == ("wald", "wald")
    assert result.statistic == pytest.approx(result.difference / result.std_error)
    assert homogeneity([first, second]).df == 2


def test_tick_boxes_are_compared_box_by_box() -> None:
    boxes = TickBoxes.from_epsilon(3, 2)
    cohorts = [boxes.estimate([40, 50, 60], 100), boxes.estimate([50, 50, 40], 100)]
    with pytest.raises(ParameterError, match="option: must be given for tick boxes"):
        homogeneity(cohorts)
    result = homogeneity(cohorts, option=2)
    expected = chi2_contingency([[60, 40], [40, 60]], correction=False)[0]
    assert (result.statistic, result.df) == (pytest.approx(expected), 1)
    assert difference(cohorts[0], cohorts[1], 2).p_value == pytest.approx(result.p_value)


def cochran_armitage(yes: np.ndarray, n: np.ndarray, x: np.ndarray) -> float:
    """P. Armitage, Biometrics 11 (1955), 375-386, as a standard normal."""
    total, p = n.sum(), yes.sum() / n.sum()
    above = (x * (yes - n * p)).sum()
    return float(above / math.sqrt(p * (1 - p) * ((n * x * x).sum() - (n * x).sum() ** 2 / total)))


@pytest.mark.parametrize("design", [COINS, Warner.from_epsilon(1), DIRECT], ids=str)
def test_trend_is_that_of_cochran_and_armitage_on_the_reports(design: Design) -> None:
    yes, n, x = np.array([35, 40, 60, 55]), np.array([100, 120, 130, 90]), np.array([2019.0, 2021, 2022, 2026])
    cohorts = [cohort(design, int(y), int(size)) for y, size in zip(yes, n, strict=True)]
    result = trend(cohorts, scores=x.tolist())
    assert result.statistic == pytest.approx(cochran_armitage(yes, n, x))
    weights = np.sqrt(n)
    slope = np.polyfit(x - 2020, [each.share[1] for each in cohorts], 1, w=weights)[0]
    assert result.slope == pytest.approx(slope)
    everything = homogeneity(cohorts)
    assert result.departure + result.statistic**2 == pytest.approx(everything.statistic)
    assert (result.departure_df, everything.df) == (2, 3)
    low, high = result.confidence_interval()
    assert low < result.slope < high
    assert 1 < (high - low) / (2 * 1.96 * result.std_error) < 1.05  # Clopper-Pearson's limits are a little wider


def test_a_trend_over_two_waves_is_their_difference() -> None:
    first, second = cohort(COINS, 43, 100), cohort(Warner.from_epsilon(1), 70, 150)
    apart, slope = difference(second, first), trend([first, second])
    assert slope.slope == pytest.approx(apart.difference)
    assert slope.statistic == pytest.approx(apart.statistic)
    assert slope.confidence_interval() == pytest.approx(apart.confidence_interval())
    assert math.isnan(slope.departure_p_value)


def test_a_straight_line_is_found_exactly_in_waves_of_different_designs() -> None:
    counts: list[tuple[AnyDesign, int]] = [
        (COINS, 300),
        (Warner("3/4"), 350),
        (forced_response("1/2"), 400),
    ]  # 0.1, 0.2 and 0.3 of 1000
    result = trend([cohort(design, yes, 1000) for design, yes in counts], scores=[0, 1, 2])
    assert result.slope == pytest.approx(0.1)
    assert result.departure == pytest.approx(0, abs=1e-9)


def test_trends_of_matrix_mechanisms_use_the_covariance_of_all_reports() -> None:
    mechanism = Geometric.from_epsilon(0, 3, 2)
    cohorts = [mechanism.estimate(row) for row in ([40, 30, 20, 10], [30, 30, 25, 40], [20, 25, 25, 45])]
    result = trend(cohorts, option=3)
    assert (result.test, result.method) == ("score", "wald")
    assert result.statistic**2 + result.departure == pytest.approx(homogeneity(cohorts, option=3).statistic)
    half = (result.confidence_interval().high - result.confidence_interval().low) / 2
    assert half == pytest.approx(1.959964 * result.std_error, rel=1e-6)


def test_waves_that_never_say_yes_have_no_trend() -> None:
    result = trend([cohort(DIRECT, 0, 20), cohort(DIRECT, 0, 30), cohort(DIRECT, 0, 30)])
    assert (result.slope, result.statistic, result.p_value, result.departure) == (0, 0, 1, 0)


@pytest.mark.simulation
def test_intervals_of_slopes_cover_the_truth() -> None:
    # By enumeration of three waves of 24: shares 0.1, 0.3, 0.5.
    n, shares = 24, (0.1, 0.3, 0.5)
    channel = forced_response("1/2")
    estimates = [cohort(channel, yes, n) for yes in range(n + 1)]
    chances = [binom.pmf(np.arange(n + 1), n, 0.25 + share / 2) for share in shares]
    covered = 0.0
    for first in range(n + 1):
        for second in range(0, n + 1, 8):  # every eighth: its count has coefficient 0 and does not matter
            chance = chances[0][first] * chances[1][second] / chances[1][::8].sum()
            for third in range(n + 1):
                low, high = trend([estimates[first], estimates[second], estimates[third]]).confidence_interval()
                covered += chance * chances[2][third] * (low - 1e-12 <= 0.2 <= high + 1e-12)
    assert 0.95 <= covered <= 0.975  # Clopper-Pearson limits cover more than the level


def test_pairs_hold_together() -> None:
    cohorts = [cohort(COINS, yes, 1000) for yes in (430, 380, 500)]
    result = pairwise(cohorts)
    assert result.pairs == ((0, 1), (0, 2), (1, 2))
    alone = [each.p_value for each in result.differences]
    assert result.p_values == pytest.approx(holm(alone))
    assert result.confidence_interval(0.94)[0] == pytest.approx(
        difference(cohorts[0], cohorts[1]).confidence_interval(0.98)
    )
    # with an empty cohort one pair is left, and nothing is adjusted
    with_empty = pairwise([*cohorts[:2], cohort(COINS, 0, 0)])
    assert with_empty.p_values[0] == pytest.approx(alone[0])
    assert all(map(math.isnan, with_empty.p_values[1:]))


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))
    assert holm([0.9, 0.8]) == (1, 1)
    assert holm([]) == ()


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        (lambda: difference(cohort(COINS, 1, 2), KAry(3, "1/2").estimate([1, 1, 1])), "estimates: must all have 2"),
        (lambda: difference(cohort(COINS, 1, 2), cohort(COINS, 1, 2), 2), r"option: must be in \[0, 2\) or one of no"),
        (lambda: difference(cohort(COINS, 1, 2), cohort(COINS, 1, 2), "maybe"), "option: must be in"),
        (lambda: difference(cohort(COINS, 1, 2), cohort(COINS, 1, 2), True), "option: must be in"),
        (lambda: difference(cohort(COINS, 1, 2), cohort(COINS, 1, 2)).confidence_interval(95), "must be from 0.001"),
        (lambda: homogeneity([cohort(COINS, 1, 2)]), "estimates: must be at least 2, one for each cohort, got 1"),
        (lambda: pairwise([]), "estimates: must be at least 2"),
        (lambda: trend([cohort(COINS, 1, 2)] * 2, scores=[1]), "scores: must be 2 finite numbers"),
        (lambda: trend([cohort(COINS, 1, 2)] * 2, scores=[1, math.nan]), "scores: must be 2 finite numbers"),
        (lambda: trend([cohort(COINS, 1, 2)] * 2, scores=[3, 3]), "scores: must not all be the same, got 3 only"),
        (
            lambda: difference(Geometric.from_epsilon(0, 2, 1).estimate([1, 0, 0]), KAry(3, "1/2").estimate([1, 1, 1])),
            r"estimates\[0\]: must have a standard error above 0",
        ),
    ],
)
def test_mistakes_are_sentences(compare: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        compare()


FEW = [
    Geometric.from_epsilon(1, 3, 2),
    KAry.from_epsilon(5, 4),
    Piecewise.from_epsilon(0, 10, 2),
    OneBitMean.from_epsilon(0, 4, 1),
]
"""Mechanisms of numbers; a normal interval of one reply to them is a single point."""


@pytest.mark.parametrize("mechanism", FEW, ids=lambda each: each.name)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_reply_alone_makes_a_mean_differ_for_certain(mechanism: AnyDesign, n: int) -> None:
    """Pages said of one reply: the mean is higher in the other cohort, by 8.3 to 9.2."""
    size = design_of(mechanism).reports.size
    many = MeanEstimate.from_counts(mechanism, [200] * size)
    alike = [[n * (each == place) for each in range(size)] for place in range(size)]
    found = mean_differences([many, *(MeanEstimate.from_counts(mechanism, each) for each in alike)])[:size]
    # The level of each where pages compare three cohorts by five answers and the mean.
    level = level_of_each(0.95, 18)
    for each in found:
        low, high = each.confidence_interval(level)
        assert low <= 0 <= high
        assert high - low > 0.3 * (many.highest - many.lowest)
        assert each.p_value > 0.003
    assert all(each.confidence_interval(0.95).low <= 0 for each in found) or n > 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_reply_alone_makes_a_share_of_a_matrix_mechanism_differ_for_certain(n: int) -> None:
    mechanism = Geometric.from_epsilon(1, 3, 2)
    many = mechanism.estimate([200, 200, 200])
    for place, option in itertools.product(range(3), range(3)):
        found = difference(mechanism.estimate([n * (each == place) for each in range(3)]), many, option)
        assert found.method == "mover"
        low, high = found.confidence_interval(level_of_each(0.95, 12))
        assert low <= 0 <= high
        assert high - low > 0.3
        low, high = ratio(*found.cohorts, option).confidence_interval()
        assert low < 1 < high or n > 1
        assert high - low > 1


def test_with_many_replies_means_and_matrix_shares_have_the_normal_interval() -> None:
    scale = KAry.from_epsilon(3, 2)
    (found,) = mean_differences([MeanEstimate.from_counts(scale, each) for each in ([900, 700, 800], [800, 700, 900])])
    normal = 1.959964 * found.std_error
    assert found.confidence_interval() == pytest.approx(
        (found.estimate - normal, found.estimate + normal), abs=0.05 * normal
    )
    assert found.statistic == pytest.approx(found.estimate / found.std_error, rel=0.05)
    mechanism = Geometric.from_epsilon(1, 3, 2)
    first, second = mechanism.estimate([900, 1000, 800]), mechanism.estimate([800, 1000, 900])
    shares = difference(first, second, 1)
    normal = 1.959964 * shares.std_error
    assert shares.confidence_interval() == pytest.approx(
        (shares.difference - normal, shares.difference + normal), abs=0.05 * normal
    )


def test_the_p_value_of_means_is_below_5_percent_exactly_where_the_interval_excludes_0() -> None:
    scale = KAry.from_epsilon(5, 2)
    generator = np.random.default_rng(4)
    counts = [
        generator.multinomial(n, shares) for n in (3, 8, 30, 120) for shares in ([0.6, 0.1, 0.1, 0.1, 0.1], [0.2] * 5)
    ]
    found = mean_differences([MeanEstimate.from_counts(scale, each.tolist()) for each in counts])
    told = [not each.confidence_interval().low <= 0 <= each.confidence_interval().high for each in found]
    assert told == [each.p_value < 0.05 for each in found]
    assert True in told
    assert False in told
    empty = MeanEstimate.from_counts(scale, [0] * 5)
    (unknown,) = mean_differences([empty, MeanEstimate.from_counts(scale, counts[0].tolist())])
    assert unknown.confidence_interval() == (-4, 4)
    assert math.isnan(unknown.p_value)


@pytest.mark.simulation
def test_differences_of_means_hold_for_few_people() -> None:
    """Cells of 1 to 300 people in either cohort: normal intervals covered .63 on average, and 0 at worst."""
    scale, generator, samples = KAry.from_epsilon(3, 4), np.random.default_rng(3), 150
    channel = design_of(scale).float_matrix
    truths = [np.array(each) for each in ((1, 0, 0), (0, 0, 1), (1 / 3,) * 3, (0.5, 0, 0.5))]
    cells = [
        (n, truth, generator.multinomial(n, channel @ truth, samples)) for n in (1, 5, 20, 300) for truth in truths
    ]
    means = [MeanEstimate.from_counts(scale, each.tolist()) for *_, drawn in cells for each in drawn]
    both = list(itertools.product(range(len(cells)), repeat=2))
    # Samples of one cell beside those of another in the other order, which are independent where both are one cell.
    pairs = [(samples * i + place, samples * (j + 1) - 1 - place) for i, j in both for place in range(samples)]
    found = mean_differences(means, pairs)
    held = []
    for number, (i, j) in enumerate(both):
        apart = float((cells[i][1] - cells[j][1]) @ np.arange(3))
        ends = [each.confidence_interval() for each in found[samples * number : samples * (number + 1)]]
        held.append(sum(low - 1e-9 <= apart <= high + 1e-9 for low, high in ends) / samples)
    assert np.mean(held) > 0.95
    assert min(held) > 0.95 - 4 * math.sqrt(0.95 * 0.05 / samples)  # the lowest of 256 cells
