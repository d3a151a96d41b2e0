"""Planning against brute force: every count, every report and every number of people, and published figures."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, laplace

from deniable import (
    DiscreteLaplace,
    Exponential,
    ForcedResponse,
    Geometric,
    KAry,
    Mechanism,
    OneBitMean,
    ParameterError,
    Piecewise,
    Question,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
    read_survey,
)
from deniable.mechanisms import OneOfK
from deniable_statistics.classical import Channel, forced_response, unrelated_question, warner
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.intervals import share_interval
from deniable_statistics.planning import (
    NoiseModel,
    PowerPlan,
    Precision,
    ShareTest,
    SizePlan,
    SplitPlan,
    WidthPlan,
    detectable_mean_difference,
    mean_precision,
)
from deniable_statistics.planning.checks import smallest
from deniable_statistics.planning.exact_power import _missed_at_most, critical_counts, tails_of
from deniable_statistics.planning.plans import Estimand, estimands_of
from tools.rig.surveys import FIVE_TYPES

REFERENCE = Path(__file__).parents[1] / "reference" / "power.csv"
ROWS = list(csv.DictReader(REFERENCE.read_text(encoding="utf-8").splitlines()))

DIE = NoiseModel.with_support(("5/6", "1/6"))
COINS = NoiseModel.through(TwoCoin("1/2", "1/2"))

CLASSICAL: dict[tuple[str, str], Channel] = {
    ("forced", "truth 2/3 yes 1/6 no 1/6"): forced_response("2/3"),
    ("mirrored (Warner)", "p 2/3"): warner("2/3"),
    ("unrelated known", "truth 2/3 yes 1/3"): unrelated_question("2/3", "1/3"),
}


def of_channel(channel: Channel) -> NoiseModel:
    """How a classical yes-no design asks."""
    return NoiseModel.with_support((channel.matrix[1][1], channel.matrix[1][0]))


# Sample sizes for a width, and what privacy costs


@pytest.mark.parametrize(
    ("noise", "people"),
    [
        (NoiseModel.through(Warner.from_epsilon("0.5")), 6159),
        (NoiseModel.through(Warner.from_epsilon(1)), 1553),
        (NoiseModel.through(Warner.from_epsilon(math.log(3))), 1291),
        (COINS, 1291),
        (NoiseModel.through(Warner.from_epsilon(2)), 417),
        (NoiseModel.through(Warner.from_epsilon(4)), 168),
        (NoiseModel.directly(), 139),
    ],
)
def test_people_for_five_points_at_a_share_of_one_in_ten(noise: NoiseModel, people: int) -> None:
    precision = noise.at(0.1)
    assert precision.sample_size(0.05) == people
    assert precision.half_width(people) <= 0.05 < precision.half_width(people - 1)


def test_break_even_bias_of_two_coins() -> None:
    assert COINS.at(0.1).break_even_bias(1000) == pytest.approx(math.sqrt(3 / 16 / (1 / 4) / 1000), rel=1e-12)
    assert round(100 * COINS.at(0.1).break_even_bias(1000), 1) == 2.7
    assert NoiseModel.directly().at(0.3).break_even_bias(10) == 0


@pytest.mark.parametrize(
    "noise", [COINS, DIE, NoiseModel.through(TwoCoin("1/2", "0.8")), NoiseModel.with_support((0.1, 0.7))]
)
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_at_the_break_even_bias_both_errors_are_the_same(noise: NoiseModel, share: float) -> None:
    precision = noise.at(share)
    randomised = precision.std_error(700) ** 2
    direct = share * (1 - share) / 700 + precision.break_even_bias(700) ** 2
    assert randomised == pytest.approx(direct, rel=1e-12)


def test_price_of_two_coins_is_what_the_theory_says() -> None:
    precision = COINS.at(0.3)
    assert round(100 * precision.half_width(1000), 1) == 6.1
    assert round(100 * precision.directly.half_width(1000), 1) == 2.8
    assert precision.factor == pytest.approx(0.96 / 0.21)
    assert COINS.at(0).factor == math.inf
    assert NoiseModel.directly().at(1).factor == 1


@pytest.mark.parametrize("beta", [0.01, 0.05, 0.5])
def test_curator_is_one_draw_of_laplace(beta: float) -> None:
    n, precision = 400, COINS.at(0.2)
    scale = 1 / (n * math.log(3))
    bound = precision.curator_noise(n, beta)
    assert 2 * laplace.sf(bound, scale=scale) == pytest.approx(beta, rel=1e-6)
    error = math.sqrt(0.16 / n + laplace.var(scale=scale))
    assert precision.curator_half_width(n) == pytest.approx(NormalDist().inv_cdf(0.975) * error, rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0.2", "1", "4"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_nobody_needs_more_people_than_the_local_mechanism(epsilon: str, share: float) -> None:
    precision = NoiseModel.through(Warner.from_epsilon(epsilon)).at(share)
    direct, curator, local = (
        precision.directly.sample_size(0.04),
        precision.curator_sample_size(0.04),
        precision.sample_size(0.04),
    )
    assert direct <= curator <= local
    assert precision.curator_half_width(curator) <= 0.04
    assert curator == 1 or precision.curator_half_width(curator - 1) > 0.04


def test_sensitivity_is_what_one_person_can_move() -> None:
    """All pairs of answers: how far the counts of the truth move together."""
    for mechanism, answers in (
        (Warner.from_epsilon(1), [(1, 0), (0, 1)]),
        (KAry.from_epsilon(4, 1), list(np.eye(4).tolist())),
        (TickBoxes.from_epsilon(3, 1), list(itertools.product((0, 1), repeat=3))),
    ):
        moved = max(sum(abs(x - y) for x, y in zip(one, two, strict=True)) for one in answers for two in answers)
        expected = moved / 2 if mechanism.k == 2 else moved  # of a yes-no one count says all
        assert NoiseModel.through(mechanism).sensitivity == expected


# The noise of a mechanism


def by_matrix(mechanism: Mechanism, option: int, share: float) -> float:
    """``A^-1 (diag(lam) - lam lam') A^-T`` of an option, the rest spread equally over the others."""
    matrix = np.array(design_of(mechanism).channel_matrix, dtype=float)
    k = matrix.shape[1]
    truth = np.full(k, (1 - share) / (k - 1))
    truth[option] = share
    lam, inverse = matrix @ truth, np.linalg.inv(matrix)
    return float((inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T)[option, option])


@pytest.mark.parametrize(
    "mechanism",
    [
        TwoCoin("0.7", "0.4"),
        Warner.from_epsilon(1),
        KAry.from_epsilon(5, 1),
        ForcedResponse("1/2", ["1/2", "1/4", "1/4"]),
        Geometric.from_epsilon(0, 4, 2),
        Exponential.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 2),
    ],
    ids=lambda mechanism: mechanism.name,
)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_variance_of_every_option_is_that_of_the_inverted_channel(mechanism: Mechanism, share: float) -> None:
    options = NoiseModel.options_of(mechanism)
    assert len(options) == mechanism.k
    for option, noise in enumerate(options):
        assert noise.variance(share) == pytest.approx(by_matrix(mechanism, option, share), rel=1e-9)
        assert noise.epsilon == mechanism.epsilon


@pytest.mark.parametrize("mechanism", [Subset.from_epsilon(6, 2, 1), TickBoxes.from_epsilon(3, 2)])
def test_variance_of_supports_is_that_of_the_estimate(mechanism: Mechanism) -> None:
    n, share = 10**9, 0.3
    support = mechanism.support
    assert support is not None
    counts = [round(n * (float(b) + float(a - b) * share)) for a, b in support]
    error = mechanism.estimate(counts, n).std_error[0]
    assert NoiseModel.through(mechanism, 0).variance(share) == pytest.approx(n * error**2, rel=1e-6)


def test_direct_answers_have_no_noise() -> None:
    assert NoiseModel.directly().variance(0.3) == pytest.approx(0.21)
    assert NoiseModel.with_support((1, 0)).epsilon == math.inf
    assert NoiseModel.with_support(("3/4", "1/4")).epsilon == pytest.approx(math.log(3))
    assert NoiseModel.with_support((0.1, 0.7)).epsilon == pytest.approx(math.log(7))


@pytest.mark.parametrize(
    ("question", "population"),
    [
        (Question("q", "number", "?", (), OneBitMean.from_epsilon(2, 6, 1)), None),
        (Question("q", "number", "?", (), OneBitMean.from_epsilon(2, 6, 1)), [0.5, 0.2, 0.2, 0.1, 0.0]),
        (Question("q", "number", "?", (), Piecewise.from_epsilon(2, 14, 2)), None),
        (Question("q", "number", "?", (), Piecewise.from_epsilon(2, 14, 2)), [0.5, 0.2, 0.2, 0.1, *[0.0] * 9]),
        (Question("q", "scale", "?", ("1", "2", "3"), Piecewise.from_epsilon(0, 2, 2), goal="mean"), [0.2, 0.3, 0.5]),
        (Question("q", "number", "?", (), DiscreteLaplace.from_epsilon(0, 3, 3)), [0.4, 0.3, 0.2, 0.1]),
        (Question("q", "scale", "?", ("1", "2", "3"), Geometric.from_epsilon(0, 2, 1), goal="mean"), [0.2, 0.3, 0.5]),
        (Question("q", "scale", "?", ("1", "2", "3"), KAry.from_epsilon(3, 1), goal="shares"), [0.2, 0.3, 0.5]),
    ],
)
def test_variance_of_a_mean_by_every_answer_and_report(question: Question, population: list[float] | None) -> None:
    mechanism = question.mechanism
    values = mean_values(question)
    assert values is not None
    assert isinstance(mechanism, OneOfK)
    weights, constant = design_of(mechanism).mean_weights(values)
    matrix = np.array(
        design_of(mechanism).channel_matrix, dtype=float
    )  # of single reports, each of which supports itself
    numbers = np.array(question.options or mechanism.answer_range, dtype=float)
    shares = np.full(len(numbers), 1 / len(numbers)) if population is None else np.array(population)
    chances = matrix @ shares
    scores = constant + np.array(weights)
    mean = float(chances @ scores)
    assert mean == pytest.approx(float(shares @ numbers), rel=1e-6)
    precision = mean_precision(question, population)
    assert precision.variance == pytest.approx(float(chances @ (scores - mean) ** 2), rel=1e-6)
    assert precision.direct == pytest.approx(float(shares @ (numbers - shares @ numbers) ** 2))
    assert precision.span == precision.sensitivity == numbers[-1] - numbers[0]


# Power of one share against a known one


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["design"])
def test_power_is_that_of_rr(row: dict[str, str]) -> None:
    noise = of_channel(CLASSICAL[row["design"], row["parameters"]])
    alternative = {"one-sided": "greater", "two-sided": "two-sided"}[row["test"]]
    test = ShareTest(noise, level=float(row["level"]), alternative=alternative)
    assert test.power(float(row["prevalence"]), int(row["n"])) == pytest.approx(float(row["power"]), abs=1e-8)


@pytest.mark.parametrize(
    ("noise", "share", "level", "needed", "stopped"),
    [(DIE, 0.2, 0.01, 89, 87), (COINS, 0.1, 0.05, 483, 469)],
)
def test_people_are_solved_for_where_rr_stops_too_early(
    noise: NoiseModel, share: float, level: float, needed: int, stopped: int
) -> None:
    """rr 1.4.2 takes the first number whose power is within .01 of the wanted one."""
    test = ShareTest(noise, level=level, alternative="greater")
    assert test.sizes(share) == (needed,)
    assert next(n for n in range(1, 1000) if abs(test.power(share, n) - 0.8) < 0.01) == stopped
    assert test.power(share, stopped) < 0.8


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("noise", [COINS, DIE, NoiseModel.with_support((0.2, 0.7)), NoiseModel.directly()])
def test_solved_people_are_enough_and_one_fewer_is_not(noise: NoiseModel, alternative: str) -> None:
    share, null = (0.3, 0.1) if alternative != "less" else (0.1, 0.3)
    test = ShareTest(noise, null, alternative=alternative)
    for target in (0.5, 0.8, 0.99):
        (n,) = test.sizes(share, target)
        assert test.power(share, n) >= target
        below = [test.power(share, each) for each in range(1, n)]
        assert all(each < target for each in below)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("exact", [False, True])
def test_detectable_share_has_the_power_and_nothing_nearer_has(alternative: str, exact: bool) -> None:
    test = ShareTest(COINS, 0.05, alternative=alternative, exact=exact)
    share = test.detectable(300)
    assert test.power(share, 300) == pytest.approx(0.8, abs=1e-9)
    nearer = [0.05 + (share - 0.05) * step / 100 for step in range(100)]
    assert all(test.power(each, 300) < 0.8 for each in nearer)
    less = ShareTest(COINS, 0.5, alternative="less", exact=exact)
    below = less.detectable(300)
    assert less.power(below, 300) == pytest.approx(0.8, abs=1e-9)
    assert below < 0.5


# Exact power


def tail(n: int, lam: Fraction, lowest: int) -> Fraction:
    """P(C >= lowest), exactly."""
    return sum((math.comb(n, c) * lam**c * (1 - lam) ** (n - c) for c in range(lowest, n + 1)), Fraction(0))


def enumerated_power(
    support: tuple[Fraction, Fraction], n: int, share: Fraction, null: Fraction, level: Fraction, alternative: str
) -> Fraction:
    """Over all counts: those whose own tail under the null hypothesis is at most the level, in exact arithmetic."""
    a, b = support
    lam_null, lam = b + (a - b) * null, b + (a - b) * share
    each = level / 2 if alternative == "two-sided" else level
    total = Fraction(0)
    for c in range(n + 1):
        up, down = tail(n, lam_null, c) <= each, 1 - tail(n, lam_null, c + 1) <= each
        if a < b:
            up, down = down, up
        if (up and alternative != "less") or (down and alternative != "greater"):
            total += math.comb(n, c) * lam**c * (1 - lam) ** (n - c)
    return total


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("support", [("3/4", "1/4"), ("1/10", "7/10"), ("1", "0"), ("1", "1/3")])
@pytest.mark.parametrize("n", [1, 2, 9, 31])
def test_exact_power_by_enumeration(alternative: str, support: tuple[str, str], n: int) -> None:
    a, b = Fraction(support[0]), Fraction(support[1])
    for share, null, level in [("1/5", "0", "1/20"), ("1/2", "1/4", "1/10"), ("1", "1/2", "1/2"), ("0", "1", "1/100")]:
        expected = enumerated_power((a, b), n, Fraction(share), Fraction(null), Fraction(level), alternative)
        truth, supposed, alpha = (float(Fraction(each)) for each in (share, null, level))
        test = ShareTest(NoiseModel.with_support((a, b)), supposed, alpha, alternative, exact=True)
        assert test.power(truth, n) == pytest.approx(float(expected), abs=1e-12)


def test_exact_tests_keep_their_level() -> None:
    for n in range(1, 200):
        assert ShareTest(COINS, 0.2, exact=True).power(0.2, n) <= 0.05
        assert ShareTest(COINS, 0.2, alternative="less", exact=True).power(0.2, n) <= 0.05


def test_critical_counts_are_the_smallest_that_keep_the_level() -> None:
    for lam, level in [(0.25, 0.05), (0.0, 0.05), (0.5, 0.25), (1.0, 0.05), (0.5, 0.5)]:
        for n in range(1, 60):
            c = int(critical_counts(n, lam, level))
            met = level * (1 + 1e-12)  # scipy has 0.5000000000000001 for half of all counts of fair coins
            assert binom.sf(c - 1, n, lam) <= met
            assert c == 0 or binom.sf(c - 2, n, lam) > met


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    ("noise", "low", "high"),
    [
        (COINS, 0.2, 0.5),
        (DIE, 0.0, 0.2),
        (NoiseModel.with_support((0.1, 0.7)), 0.3, 0.6),
        (NoiseModel.directly(), 0.0, 0.3),
    ],
)
def test_exact_power_stays_from_the_solved_people_on(
    noise: NoiseModel, low: float, high: float, alternative: str
) -> None:
    share, null = (low, high) if alternative == "less" else (high, low)
    test = ShareTest(noise, null, alternative=alternative, exact=True)
    (n,) = test.sizes(share)
    assert min(test.power(share, each) for each in range(n, 4 * n + 50)) >= 0.8
    assert n == 1 or test.power(share, n - 1) < 0.8
    (normal,) = ShareTest(noise, null, alternative=alternative).sizes(share)
    assert abs(n - normal) <= 0.25 * normal + 10


def test_lasting_people_do_not_depend_on_the_blocks_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for block in (4096, 64, 7):
        monkeypatch.setattr("deniable_statistics.planning.exact_power.BLOCK", block)
        found.append([ShareTest(COINS, 0.1, exact=True).sizes(share) for share in (0.3, 0.5, 0.9)])
    assert found[0] == found[1] == found[2]


def test_exact_power_is_saw_toothed_so_that_the_first_people_are_not_the_lasting_ones() -> None:
    test = ShareTest(DIE, level=0.01, alternative="greater", exact=True)
    (n,) = test.sizes(0.2)
    first = next(n for n in range(1, 500) if test.power(0.2, n) >= 0.8)
    assert first < n == 105


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_bound_of_missed_differences_holds_and_falls(alternative: str) -> None:
    """What the search for lasting people starts from: an upper bound on 1 - power that never rises."""
    (lam_null, lam, level), *_ = tails_of(COINS, 0.4, 0.1, 0.05, alternative)
    test = ShareTest(COINS, 0.1, alternative=alternative, exact=True)
    before = 1.0
    for n in range(1, 400):
        bound = _missed_at_most(n, lam_null, lam, level)
        assert 1 - test.power(0.4, n) <= bound + 1e-12
        assert bound <= before + 1e-12
        before = bound


# Two cohorts


def pooled_test_power(noise: NoiseModel, sizes: tuple[int, int], shares: tuple[float, float], level: float) -> float:
    """Over all pairs of counts: the two-sided pooled z test of the counts themselves."""
    assert noise.support is not None
    a, b = noise.support
    n1, n2 = sizes
    lam1, lam2 = (b + (a - b) * share for share in shares)
    c1, c2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    pooled = (c1 + c2) / (n1 + n2)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    rejects = np.abs(c1 / n1 - c2 / n2) > NormalDist().inv_cdf(1 - level / 2) * error
    chances = binom.pmf(c1, n1, lam1) * binom.pmf(c2, n2, lam2)
    return float(chances[rejects].sum())


@pytest.mark.parametrize(
    ("noise", "sizes", "shares"),
    [
        (NoiseModel.directly(), (686, 686), (0.10, 0.15)),
        (COINS, (300, 300), (0.1, 0.35)),
        (COINS, (200, 600), (0.3, 0.55)),
        (NoiseModel.with_support((0.1, 0.7)), (250, 250), (0.5, 0.25)),
        (COINS, (400, 400), (0.2, 0.2)),
    ],
)
def test_power_of_cohorts_by_enumeration(
    noise: NoiseModel, sizes: tuple[int, int], shares: tuple[float, float]
) -> None:
    """The normal power against all pairs of counts of the very test; they differ by the lattice and the true errors."""
    found = ShareTest(noise, shares[0]).power(shares[1], *sizes)
    assert found == pytest.approx(pooled_test_power(noise, sizes, shares, 0.05), abs=0.01)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("allocation", [(1, 1), (1, 3), (2, 1)])
def test_solved_cohorts_are_enough_and_the_next_smaller_are_not(alternative: str, allocation: tuple[int, int]) -> None:
    first, second = (0.35, 0.1) if alternative == "less" else (0.1, 0.35)
    test = ShareTest(COINS, first, 0.05, alternative)
    n1, n2 = test.sizes(second, 0.9, allocation)
    assert n1 * allocation[1] == n2 * allocation[0]
    times = n1 // allocation[0]
    reached = [test.power(second, m * allocation[0], m * allocation[1]) for m in range(1, times + 1)]
    assert reached[-1] >= 0.9
    assert all(each < 0.9 for each in reached[:-1])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.7])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_detectable_difference_has_the_power_and_nothing_between_has(share: float, alternative: str) -> None:
    start = 1 - share if alternative == "less" else share
    sizes = (900, 600)
    test = ShareTest(COINS, start, alternative=alternative)
    other = test.detectable(*sizes)
    difference = other - start
    assert (difference < 0) == (alternative == "less")
    assert test.power(other, *sizes) == pytest.approx(0.8, abs=1e-9)
    for step in range(100):
        nearer = start + difference * step / 100
        assert test.power(nearer, *sizes) < 0.8
        farther = other + ((0 if difference < 0 else 1) - other) * (step + 1) / 100
        assert test.power(farther, *sizes) > 0.8


def test_detectable_difference_of_means_solves_the_power() -> None:
    precision = Precision(variance=4.0, direct=1.0, span=10.0)
    difference = detectable_mean_difference(precision, (50, 200))
    error = math.sqrt(4 / 50 + 4 / 200)
    normal = NormalDist(difference / error)
    z = NormalDist().inv_cdf(0.975)
    assert 1 - normal.cdf(z) + normal.cdf(-z) == pytest.approx(0.8, abs=1e-9)
    assert detectable_mean_difference(precision, (50, 200), alternative="less") < 0


# Expected widths


@pytest.mark.parametrize("method", ["default", "wilson", "clopper-pearson"])
@pytest.mark.parametrize(
    ("noise", "share"), [(COINS, 0.1), (NoiseModel.with_support((0.1, 0.7)), 0.5), (NoiseModel.directly(), 0.0)]
)
def test_expected_width_by_enumeration(noise: NoiseModel, share: float, method: str) -> None:
    n = 40
    assert noise.support is not None
    a, b = noise.support
    lam = b + (a - b) * share
    total = 0.0
    for count in range(n + 1):
        low, high = share_interval(count, n, noise.support, 0.9, method)
        total += math.comb(n, count) * lam**count * (1 - lam) ** (n - count) * (high - low)
    assert noise.expected_width(n, share, 0.9, method) == pytest.approx(total, abs=1e-8)


def test_expected_width_of_many_people_is_interpolated_without_loss() -> None:
    n, share = 60_000, 0.02
    assert COINS.support is not None
    lam = 1 / 4 + share / 2
    counts = range(int(binom.ppf(1e-9, n, lam)), int(binom.ppf(1 - 1e-9, n, lam)) + 1)
    assert len(counts) > 1000
    ends = [share_interval(count, n, COINS.support) for count in counts]
    total = float(np.asarray(binom.pmf(list(counts), n, lam)) @ [high - low for low, high in ends])
    assert COINS.expected_width(n, share) == pytest.approx(total, rel=1e-5)


def test_expected_width_tends_to_the_normal_one_and_is_smaller_at_the_ends() -> None:
    assert COINS.expected_width(30_000, 0.4) == pytest.approx(2 * COINS.at(0.4).half_width(30_000), rel=2e-3)
    assert COINS.expected_width(500, 0.0) < 0.75 * 2 * COINS.at(0.0).half_width(500)


# Splitting


@pytest.mark.parametrize("questions", [2, 5, 10])
def test_splitting_a_small_epsilon_costs_as_many_times_more_people_as_there_are_questions(questions: int) -> None:
    assert SplitPlan(questions, "0.05", 0.5)["ratio"] == pytest.approx(questions, rel=0.01)


def test_splitting_is_the_variance_of_a_part_against_a_part_of_the_people() -> None:
    four = SplitPlan(4, 2, 0.2)
    part, whole = (math.exp(each) for each in (0.5, 2.0))
    assert four.together.variance == pytest.approx(part / (part - 1) ** 2 + 0.16, rel=1e-6)
    assert four.one_each.variance == pytest.approx(4 * (whole / (whole - 1) ** 2 + 0.16), rel=1e-6)
    assert SplitPlan(1, 1, 0.2)["ratio"] == 1
    assert SplitPlan(3, 20, 0.5)["ratio"] < 1  # hardly any noise: drawing only loses people
    assert SplitPlan(3, 1, 0.2, options=5)["ratio"] > 2


# Whole surveys and their plans


def test_survey_is_planned_question_by_question() -> None:
    survey = read_survey(FIVE_TYPES)
    estimands = [estimand for question in survey.questions for estimand in estimands_of(question, [0.1])]
    assert [(each.question, each.statistic) for each in estimands] == [
        ("affair", "share"),
        ("town", "share"),
        ("drugs", "share"),
        ("trust", "share"),
        ("trust", "mean"),
        ("drinks", "mean"),
    ]
    assert [each.precision.sensitivity for each in estimands] == [1, 2, 3, 2, 6, 60]
    assert SizePlan(estimands[0], 0.05)["people"] == 1291
    for estimand in estimands:
        plan = WidthPlan(estimand, 1000)
        assert plan["people"] == SizePlan(estimand, 0.05)["people"]
        assert plan["half_width_directly"] <= plan["half_width_curator"] < plan["half_width"]
        assert plan["detectable"] is not None
        if estimand.noise is not None:
            assert estimand.share is not None
            other = estimand.share + plan["detectable"]
            assert ShareTest(estimand.noise, 0.1).power(other, 500, 500) == pytest.approx(0.8, abs=1e-9)
            assert plan["half_width"] == estimand.noise.expected_width(1000, 0.1) / 2


def test_worst_option_is_planned_for() -> None:
    mechanism = ForcedResponse("1/2", ["1/2", "1/4", "1/4"])
    (estimand,) = estimands_of(Question("q", "choice", "?", ("a", "b", "c"), mechanism), [0.1])
    assert estimand.precision.variance == max(noise.variance(0.1) for noise in NoiseModel.options_of(mechanism))
    (yes,) = estimands_of(Question("q", "yes-no", "?", ("no", "yes"), TwoCoin("1/2", "0.9")), [0.1])
    assert yes.noise == NoiseModel.through(TwoCoin("1/2", "0.9"), 1)


def test_too_few_people_detect_nothing_and_say_so() -> None:
    plan = WidthPlan(Estimand.of_share("q", COINS, 0.5), 20)
    assert plan["detectable"] is None
    with pytest.raises(ParameterError, match=r"power: even a share of 1 is found with power 0\.\d+ only, not 0.8; ask"):
        ShareTest(COINS, 0.5).detectable(10, 10)


def test_plan_of_a_test_gives_people_and_the_power_of_respondents() -> None:
    estimand = Estimand.of_share("q", COINS, 0.3)
    plan = PowerPlan(estimand, 0.1, cohorts=1, alternative="greater")
    test = ShareTest(COINS, 0.1, alternative="greater")
    assert (plan["people"],) == (plan["respondents"],) == test.sizes(0.3)
    assert plan["power"] == test.power(0.3, plan["people"])
    noise = PowerPlan(estimand, 0.1, sample=301)
    assert noise["power"] == ShareTest(COINS, 0.1).power(0.3, 150, 151)
    assert noise["people"] == sum(ShareTest(COINS, 0.1).sizes(0.3, allocation=(1, 1)))
    less = ShareTest(COINS, 0.5, alternative="less").sizes(0.3, allocation=(1, 1))
    assert PowerPlan(estimand, 0.5, alternative="less")["people"] == sum(less)


# What is refused


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: COINS.at(1.2), "share: must be a probability in [0, 1], got 1.2"),
        (lambda: COINS.at(math.nan), "share: must be a probability in [0, 1], got nan"),
        (lambda: NoiseModel.with_support((0.5, 0.5)), "support: must be two different probabilities, got 0.5 twice"),
        (lambda: NoiseModel.with_support((1.5, 0.5)), "support: must be a probability in [0, 1], got 1.5"),
        (lambda: NoiseModel.through(Warner("0.7"), 2), "option: must be an integer in [0, 2), got 2"),
        (lambda: COINS.at(0.1).sample_size(1.0), "half_width: must be above 0 and below 1, the whole range, got 1.0"),
        (lambda: COINS.at(0.1).sample_size(0), "half_width: must be above 0"),
        (lambda: COINS.at(0.1).sample_size(1e-9), "half_width: 1e-09 takes more people than there are"),
        (lambda: COINS.at(0.1).half_width(0), "n: must be an integer of at least 1, got 0"),
        (lambda: COINS.at(0.1).half_width(10, 1.0), "confidence_level: must be from 0.001 to 0.999999999999, got 1.0"),
        (lambda: COINS.at(0.1).curator_noise(10, 0), "beta: must be above 0 and below 1, got 0"),
        (lambda: ShareTest(COINS, level=0).power(0.1, 10), "level: must be above 0 and below 1, got 0"),
        (
            lambda: ShareTest(COINS, alternative="both").power(0.1, 10),
            "alternative: must be one of two-sided, greater, less",
        ),
        (lambda: ShareTest(COINS, -0.1).power(0.1, 10), "null: must be a probability in [0, 1], got -0.1"),
        (lambda: ShareTest(COINS, 0.1).sizes(0.1), "shares: must differ from each other, got 0.1 for both"),
        (
            lambda: ShareTest(COINS).sizes(0.1, target=0.05),
            "power: must be below 1 and above the level 0.05, which a test has without any people, got 0.05",
        ),
        (
            lambda: ShareTest(COINS, 0.2, alternative="greater").sizes(0.1),
            "alternative: must be the side on which 0.1 is of 0.2, got 'greater'",
        ),
        (lambda: ShareTest(COINS, 0.1000001).sizes(0.1), "share: 0.1 is too near to 0.1000001 for any number"),
        (
            lambda: ShareTest(COINS, 0.1005, exact=True).sizes(0.1),
            "exact: is limited to 1,000,000 people, these shares may need",
        ),
        (lambda: ShareTest(COINS).detectable(5), "power: even a share of 1 is found with power"),
        (lambda: ShareTest(COINS, 1.0).detectable(100, 100), "power: even a share of 1 is found with power"),
        (
            lambda: detectable_mean_difference(Precision(100.0, 1.0, span=1.0), (5, 5)),
            "power: even a difference over the whole range is found with power",
        ),
        (lambda: ShareTest(COINS, 0.1).sizes(0.2, allocation=(0, 1)), "allocation: must be an integer of at least 1"),
        (lambda: COINS.expected_width(10, 0.5, method="guess"), "method: must be one of"),
        (
            lambda: NoiseModel.through(Geometric.from_epsilon(0, 4, 1)).expected_width(10, 0.5),
            "expected_width: needs a mechanism whose reports support an option or do not",
        ),
        (
            lambda: ShareTest(NoiseModel.through(Geometric.from_epsilon(0, 4, 1)), exact=True).power(0.5, 10),
            "exact: needs a mechanism whose reports support an option or do not",
        ),
        (lambda: SplitPlan(0, 1, 0.1), "questions: must be an integer of at least 1, got 0"),
        (lambda: mean_precision(Question("q", "yes-no", "?", ("no", "yes"), Warner("0.7"))), "question 'q': must be a"),
        (
            lambda: mean_precision(Question("q", "number", "?", (), OneBitMean.from_epsilon(0, 2, 1)), [0.5, 0.5]),
            "population: must be 3 shares that add up to 1",
        ),
        (lambda: SizePlan(Estimand.of_share("q", COINS, 0.1), 1.0), "width: must be above 0 and below 1"),
        (lambda: WidthPlan(Estimand.of_share("q", COINS, 0.1), 1), "respondents: must be at least 2"),
        (lambda: WidthPlan(Estimand.of_share("q", COINS, 0.1), 50, power=0.01), "power: must be below 1 and above"),
        (lambda: PowerPlan(Estimand.of_share("q", COINS, 0.1), 0.2, cohorts=3), "cohorts: must be 1 or 2, got 3"),
        (lambda: PowerPlan(Estimand.of_share("q", COINS, 0.1), 0.2, exact=True), "exact: is for one cohort"),
    ],
)
def test_what_cannot_be_planned_is_a_sentence(attempt: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        attempt()
    assert message in str(caught.value)


def test_search_finds_the_smallest() -> None:
    chance = random.Random(7)
    for _ in range(200):
        first = chance.randint(1, 10**6)
        assert smallest(lambda n, first=first: n >= first, "") == first
