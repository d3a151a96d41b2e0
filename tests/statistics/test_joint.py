"""Joint analysis against Kronecker products, enumeration, classical formulas and people whose truth is known."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, multinomial

from deniable import Mechanism, ParameterError, mechanisms
from deniable_statistics.classical import Channel, cheater_detection, crosswise, forced_response, from_matrix, kuk
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals.enumerated import compositions
from deniable_statistics.joint import Crosstab, JointReports, correlation, crosstab, independence, independence_power
from deniable_statistics.joint.conditional_difference import certain_differences
from deniable_statistics.joint.reports import BLOCK
from deniable_statistics.sampling import Domain, SamplingDesign, SimpleSample
from deniable_statistics.sampling.items import Item
from tools.tables import joint

COINS = mechanisms.TwoCoin("1/2", "1/2")
DIRECT = from_matrix([[1, 0], [0, 1]])
ALMOST_DIRECT = mechanisms.KAry.from_epsilon(2, 4)


def words_from(chance: np.random.Generator) -> Callable[[int], NDArray[np.uint32]]:
    return lambda n: chance.integers(0, 2**32, n, dtype=np.uint32)


def item(
    name: str, design: Mechanism | Channel, reports: NDArray[np.integer[Any]], values: tuple[float, ...] = ()
) -> Item:
    """An item from an array of reports: numbers, or rows of 0 and 1."""
    supports = reports.astype(bool)
    if reports.ndim == 1:
        k = len(design.matrix) if isinstance(design, Channel) else design.k
        supports = np.eye(k, dtype=bool)[reports - getattr(design, "report_range", range(1)).start]
    return Item(name, design_of(design), supports, design_of(design).truths, values or None)


def matrix_of(design: Mechanism | Channel) -> NDArray[np.float64]:
    return np.array(design.matrix, dtype=float) if isinstance(design, Channel) else design_of(design).float_matrix


ONE_VALUE = [
    (COINS, mechanisms.Warner.from_epsilon(1)),
    (crosswise("1/6"), mechanisms.KAry.from_epsilon(3, 1)),
    (mechanisms.Geometric.from_epsilon(0, 3, 2), forced_response("1/2", ["1/2", "1/4", "1/4"])),
    (COINS, mechanisms.KAry.from_epsilon(3, 2), mechanisms.Warner("3/4")),
]


@pytest.mark.parametrize("designs", ONE_VALUE, ids=lambda designs: " x ".join(type(each).__name__ for each in designs))
def test_a_crosstab_is_the_inverse_of_the_kronecker_product(designs: tuple[Mechanism | Channel, ...]) -> None:
    chance = np.random.default_rng(1)
    sizes = [len(matrix_of(each)) for each in designs]
    columns = [chance.integers(0, size, 400) for size in sizes]
    items = [item(f"q{place}", *each) for place, each in enumerate(zip(designs, columns, strict=True))]
    table = np.zeros(sizes)
    np.add.at(table, tuple(columns), 1)
    inverse = np.eye(1)
    for each in designs:
        inverse = np.kron(inverse, np.linalg.inv(matrix_of(each)))
    lam = table.ravel() / 400
    for result in (crosstab(*items), Crosstab.from_counts(designs, table)):
        assert result.share.ravel() == pytest.approx(inverse @ lam, abs=1e-12)
        assert result.covariance == pytest.approx(
            inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / 400, abs=1e-12
        )
        assert result.n == 400
        assert result.epsilon == pytest.approx(sum(each.epsilon for each in designs))
        for place, single in enumerate(items):
            others = tuple(axis for axis in range(len(designs)) if axis != place)
            expected = single.estimate()
            assert result.share.sum(axis=others) == pytest.approx(expected.share, abs=1e-12)
            assert result.margin(place).share == pytest.approx(expected.share, abs=1e-12)
            assert result.margin(f"q{place}" if result.names[0] == "q0" else place).n == 400


@pytest.mark.parametrize(
    "mechanism", [mechanisms.Subset.from_epsilon(4, 2, 1), mechanisms.TickBoxes.from_epsilon(2, 2)], ids=str
)
def test_products_of_scores_are_unbiased_whatever_the_truth(mechanism: Mechanism) -> None:
    # Over every pair of reports, each with its probability: the indicators of the truths, exactly.
    bits = np.array(list(itertools.product([0, 1], repeat=mechanism.k)))
    if isinstance(mechanism, mechanisms.Subset):
        bits = bits[bits.sum(axis=1) == 2]
        truths = np.eye(4, dtype=int)
        weights = np.where(bits @ truths.T, mechanism.inside / 2**32, 1.0)
        chances = weights / weights.sum(axis=0)
    else:
        assert isinstance(mechanism, mechanisms.TickBoxes)
        truths = bits
        keep = mechanism.keep / 2**32
        same = (bits[:, None, :] == truths[None, :, :]).sum(axis=2)
        chances = keep**same * (1 - keep) ** (mechanism.k - same)
    coin = design_of(COINS).float_matrix
    pairs = list(itertools.product(range(len(bits)), range(2)))
    first = item("first", mechanism, bits[[report for report, _ in pairs]])
    second = item("second", COINS, np.array([report for _, report in pairs]))
    for x, truth in enumerate(truths):
        for y in range(2):
            weighed = [chances[report, x] * coin[other, y] for report, other in pairs]
            expected = np.outer(truth, np.eye(2)[y])
            assert crosstab(first, second, sample=SimpleSample.of(weighed)).share == pytest.approx(expected, abs=1e-12)


def test_many_different_reports_are_gone_through_in_blocks() -> None:
    chance = np.random.default_rng(2)
    mechanism = mechanisms.Subset.from_epsilon(10, 5, 1)
    columns = [mechanism.randomize_many(chance.integers(0, 10, 5000), words_from(chance)) for _ in range(2)]
    first, second = (item(name, mechanism, column) for name, column in zip("ab", columns, strict=True))
    reports = JointReports.from_items([first, second])
    assert len(reports.frequencies) > BLOCK
    result = Crosstab.from_reports(reports)
    products = np.einsum("ni,nj->nij", first.scores, second.scores).reshape(5000, -1)
    assert result.share.ravel() == pytest.approx(products.mean(axis=0), abs=1e-11)
    assert result.covariance == pytest.approx(np.cov(products.T, bias=True) / 5000, abs=1e-11)


def test_weights_repeat_people_and_cost_with_kish() -> None:
    chance = np.random.default_rng(3)
    columns = [chance.integers(0, 2, 200), chance.integers(0, 3, 200)]
    weights = chance.integers(0, 4, 200)
    three = mechanisms.KAry.from_epsilon(3, 1)
    weighted = crosstab(item("a", COINS, columns[0]), item("b", three, columns[1]), sample=SimpleSample.of(weights))
    repeated = crosstab(*(item(n, d, c.repeat(weights)) for n, d, c in zip("ab", (COINS, three), columns, strict=True)))
    assert weighted.share == pytest.approx(repeated.share)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert weighted.reports.n_effective == pytest.approx(kish)
    assert weighted.covariance == pytest.approx(repeated.covariance * repeated.n / kish)
    assert weighted.margin("b").std_error == pytest.approx(
        item("b", three, columns[1]).estimate(SimpleSample.of(weights)).std_error
    )
    equal = crosstab(
        item("a", COINS, columns[0]), item("b", three, columns[1]), sample=SimpleSample.of(np.full(200, 0.3))
    )
    plain = crosstab(item("a", COINS, columns[0]), item("b", three, columns[1]))
    assert equal.std_error == pytest.approx(plain.std_error)


def expectation_maximisation(chances: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Most likely shares by a method that shares nothing with the other."""
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(20_000):
        shares = shares * (chances.T @ (counts / (chances @ shares))) / counts.sum()
    return shares


def test_feasible_tables_are_the_most_likely_ones() -> None:
    designs = (crosswise("1/6"), mechanisms.KAry.from_epsilon(3, 1))
    table = np.array([[10, 60, 20], [70, 5, 40]])
    result = Crosstab.from_counts(designs, table)
    expected = expectation_maximisation(np.kron(*map(matrix_of, designs)), table.ravel())  # type: ignore[arg-type]
    assert result.feasible.ravel() == pytest.approx(expected, abs=2e-4)
    assert result.share.min() < 0 <= result.feasible.min()

    subset = mechanisms.Subset.from_epsilon(4, 2, 1)
    chance = np.random.default_rng(4)
    answers = chance.choice(4, 300, p=[0.6, 0.3, 0.1, 0])
    first = item("first", subset, subset.randomize_many(answers, words_from(chance)))
    second = item("second", COINS, COINS.randomize_many((answers > 0).astype(int), words_from(chance)))
    members = np.where(first.supports, subset.inside, 2**32) / 1e10
    chances = np.einsum(
        "ni,nj->nij", members, design_of(COINS).float_matrix[second.supports[:, 1].astype(int)]
    ).reshape(300, -1)
    result = crosstab(first, second)
    assert result.feasible.ravel() == pytest.approx(expectation_maximisation(chances, np.ones(300)), abs=2e-4)
    assert result.feasible.sum() == pytest.approx(1)


def test_conditional_shares_divide_by_the_margin() -> None:
    table = Crosstab.from_counts(
        [COINS, mechanisms.KAry.from_epsilon(3, 2)], [[200, 90, 60], [120, 80, 150]], ["a", "b"]
    )
    result = table.conditional("a")
    assert result.share == pytest.approx(table.share / table.share.sum(axis=1, keepdims=True))
    assert result.share.sum(axis=1) == pytest.approx([1, 1])
    # the delta method by differences: how the ratio moves with every cell, times the cells' covariance
    slopes = np.zeros(6)
    for cell in range(6):
        moved = table.share.copy().ravel()
        moved[cell] += 1e-6
        again = moved.reshape(2, 3)
        slopes[cell] = (again[1, 2] / again[1].sum() - result.share[1, 2]) / 1e-6
    assert result.std_error[1, 2] == pytest.approx(math.sqrt(slopes @ table.covariance @ slopes), rel=1e-5)
    possible = result.share.clip(0, 1)
    for low, high in (result.confidence_interval(0.9), result.fieller_interval(0.9)):
        assert ((low <= possible) & (possible <= high)).all()
    # the ends of the second solve Fieller's equation, with the mean square of 700 reports
    n, d, end = table.share[1, 2], table.share[1].sum(), high[1, 2]
    variance = np.array([0, 0, 0, -end, -end, 1 - end]) @ table.covariance @ [0, 0, 0, -end, -end, 1 - end]
    gap = (n - end * d) ** 2
    assert gap == pytest.approx(1.6448536**2 * (variance + gap / 700), rel=1e-6)


def test_few_reports_about_boxes_exclude_no_share_and_show_no_difference() -> None:
    """Two reports that differ had differences of 100 points, "certain" and with intervals of a single point."""
    boxes, coins = mechanisms.TickBoxes.from_epsilon(3, 3), COINS
    reports, answers = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 0]]), np.array([1, 0, 1])
    for n in (1, 2, 3):
        within = crosstab(item("boxes", boxes, reports[:n]), item("coins", coins, answers[:n])).conditional("coins")
        low, high = within.confidence_interval()
        assert (low.min(), low.max(), high.min(), high.max()) == (0, 0, 1, 1)
        assert certain_differences(within, np.full(within.share.shape, math.nan), range(3)) == []


@pytest.mark.long
@pytest.mark.parametrize("designs", [(DIRECT, ALMOST_DIRECT), (ALMOST_DIRECT, ALMOST_DIRECT)], ids=["direct", "noisy"])
def test_intervals_of_cells_hold_the_level_with_few_people_and_little_noise(
    designs: tuple[Mechanism | Channel, ...],
) -> None:
    """By enumeration of all tables of four people."""
    channel = np.kron(*map(matrix_of, designs))
    truths = np.array([[[0.9, 0.05], [0.04, 0.01]], [[0.25, 0.25], [0.25, 0.25]], [[0.7, 0.05], [0.05, 0.2]]])
    given = truths / truths.sum(axis=2, keepdims=True)
    held, held_given = np.zeros((2, *truths.shape))
    tallies = compositions(4, 4)
    for tally, chances in zip(
        tallies, multinomial.pmf(tallies[:, None], 4, truths.reshape(3, 4) @ channel.T), strict=True
    ):
        table = Crosstab.from_counts(designs, tally.reshape(2, 2))
        low, high = table.confidence_interval()
        assert (low < high).all()
        held += chances[:, None, None] * ((low <= truths) & (truths <= high))
        low, high = table.conditional(0).confidence_interval()
        assert (low < high).all()
        held_given += chances[:, None, None] * ((low <= given) & (given <= high))
    assert held.min() >= 0.95
    assert held_given.min() >= 0.95


def test_no_interval_of_a_cell_is_a_point_where_the_likelihood_is_not_asked() -> None:
    first = item("a", DIRECT, np.array([0, 1, 0, 1]))
    subset = mechanisms.Subset.from_epsilon(4, 2, 2)
    second = item("b", subset, np.array([[1, 1, 0, 0]] * 4))
    table = crosstab(first, second)
    low, high = table.confidence_interval()
    assert (low < high).all()
    # never inside of the normal one
    assert (low <= (table.share - 1.959963985 * table.std_error).clip(0, 1)).all()
    assert (high >= (table.share + 1.959963985 * table.std_error).clip(0, 1)).all()
    domain = Domain(SamplingDesign.of(np.ones(4, dtype=bool), clusters=range(4)), np.ones(4, dtype=bool))
    low, high = crosstab(first, item("b", COINS, np.array([0, 0, 0, 0])), sample=domain).confidence_interval()
    assert (low < high).all()


def test_shares_among_nobody_are_unknown() -> None:
    table = Crosstab.from_counts([COINS, COINS], [[40, 38], [12, 10]])
    result = table.conditional(0)
    assert table.share[1].sum() < 0
    assert np.isnan(result.share[1]).all()
    low, high = result.confidence_interval()
    assert (low[1], high[1]) == (pytest.approx([0, 0]), pytest.approx([1, 1]))


def test_tick_boxes_are_conditions_too() -> None:
    chance = np.random.default_rng(5)
    boxes = mechanisms.TickBoxes(2, "0.999999")
    ticks = chance.integers(0, 2, (4000, 2))
    answers = ticks[:, 0] & chance.integers(0, 2, 4000)
    table = crosstab(
        item("boxes", boxes, boxes.randomize_many(ticks, words_from(chance))),
        item("other", DIRECT, answers),
    )
    expected = [answers[ticks[:, box] == 1].mean() for box in range(2)]
    assert table.conditional("boxes").share[:, 1] == pytest.approx(expected, abs=0.01)
    with pytest.raises(ParameterError, match="feasible: needs answers that exclude each other"):
        table.feasible  # noqa: B018  # reading it is the act
    with pytest.raises(ParameterError, match="boxes: a correlation needs answers that exclude each other"):
        table.correlation()


def test_without_noise_association_is_the_textbook_one() -> None:
    counts = np.array([[50, 20], [10, 40]])
    table = Crosstab.from_counts([DIRECT, DIRECT], counts)
    odds = table.odds_ratio()
    assert odds.odds_ratio == pytest.approx(10)
    assert odds.log_std_error == pytest.approx(math.sqrt(sum(1 / each for each in counts.ravel())))  # Woolf
    low, high = odds.confidence_interval()
    assert (low, high) == (
        pytest.approx(10 * math.exp(-1.959964 * odds.log_std_error)),
        pytest.approx(10 * math.exp(1.959964 * odds.log_std_error)),
    )
    phi = (50 * 40 - 20 * 10) / math.sqrt(70 * 50 * 60 * 60)
    assert table.correlation().correlation == pytest.approx(phi)
    people = [np.repeat([0, 0, 1, 1], counts.ravel()), np.repeat([0, 1, 0, 1], counts.ravel())]
    assert np.corrcoef(*people)[0, 1] == pytest.approx(phi)  # type: ignore[call-overload]
    # the delta error of a correlation is that of its influence function
    z = [(each - each.mean()) / each.std() for each in people]
    influence = z[0] * z[1] - phi / 2 * (z[0] ** 2 + z[1] ** 2)
    assert table.correlation().std_error == pytest.approx(influence.std() / math.sqrt(120))


def test_odds_ratios_have_no_bound_where_a_cell_may_be_empty() -> None:
    sure = Crosstab.from_counts([COINS, COINS], [[3000, 1800], [1800, 2000]]).odds_ratio()
    assert 0 < sure.confidence_interval().low < sure.odds_ratio < sure.confidence_interval().high < math.inf
    rare = Crosstab.from_counts([COINS, COINS], [[400, 230], [190, 180]]).odds_ratio()
    assert rare.odds_ratio > 1
    assert rare.confidence_interval().high == math.inf
    none = Crosstab.from_counts([COINS, COINS], [[400, 100], [200, 120]]).odds_ratio()
    assert math.isnan(none.odds_ratio)
    assert none.confidence_interval() == (0, math.inf)


def test_correlation_with_a_plain_variable_undoes_the_noise() -> None:
    chance = np.random.default_rng(6)
    age = chance.integers(20, 70, 3000).astype(float)
    reports = chance.integers(0, 2, 3000) & (age > 40)
    result = correlation(item("q", COINS, reports), age)
    # cov(f, age) = 2 cov(report, age); var f = f (1 - f)
    share = 2 * (reports.mean() - 0.25)
    expected = 2 * np.cov(reports, age, bias=True)[0, 1] / math.sqrt(share * (1 - share) * age.var())
    assert result.correlation == pytest.approx(expected)
    assert result.variances == pytest.approx((share * (1 - share), age.var()))
    # neither origin nor unit of a variable matters, nor how far it is from 0
    far = correlation(item("q", COINS, reports, (1e6, 1e6 + 3)), 1e9 + 5 * age)
    assert far.correlation == pytest.approx(result.correlation, rel=1e-6)
    assert far.std_error == pytest.approx(result.std_error, rel=1e-5)
    doubled = correlation(item("q", COINS, reports), age, sample=SimpleSample.of(np.full(3000, 2.0)))
    assert doubled.std_error == pytest.approx(result.std_error)


def test_the_error_of_a_correlation_is_its_spread() -> None:
    shares = joint.linked(4, 2, 0.5)
    pair = (mechanisms.Geometric.from_epsilon(0, 3, 3), mechanisms.Warner.from_epsilon(2))
    found = [
        Crosstab.from_reports(each).correlation()
        for each in joint.draw(pair, shares, 4000, 400, np.random.default_rng(8))
    ]
    estimates = np.array([each.correlation for each in found])
    x, y = np.arange(4), np.arange(2)
    f, g = shares.sum(axis=1), shares.sum(axis=0)
    truth = (x @ shares @ y - (x @ f) * (y @ g)) / math.sqrt((x**2 @ f - (x @ f) ** 2) * (y**2 @ g - (y @ g) ** 2))
    assert estimates.mean() == pytest.approx(truth, abs=5 * estimates.std() / math.sqrt(400))
    # The spread of 400 normal numbers is known to 3.5 %.
    assert np.mean([each.std_error for each in found]) == pytest.approx(estimates.std(), rel=0.18)


def test_correlations_that_noise_hides_say_so() -> None:
    result = Crosstab.from_counts([COINS, COINS], [[40, 38], [12, 10]]).correlation()
    assert math.isnan(result.correlation)
    assert result.note == (
        "the estimated variance of the true values is not above 0: the reports are too few for their noise"
    )
    assert result.confidence_interval() == (-1, 1)
    beyond = Crosstab.from_counts([COINS, COINS], [[31, 16], [16, 31]]).correlation()
    assert beyond.correlation > 1
    assert beyond.note is None
    assert -1 <= beyond.confidence_interval().low < beyond.confidence_interval().high == 1


@pytest.mark.parametrize("designs", ONE_VALUE[:3], ids=lambda designs: " x ".join(type(e).__name__ for e in designs))
def test_independence_is_pearsons_test_on_the_table_of_reports(designs: tuple[Mechanism | Channel, ...]) -> None:
    table = np.random.default_rng(9).integers(5, 40, [len(matrix_of(each)) for each in designs])
    expected, p, df, frequencies = chi2_contingency(table, correction=False)
    result = Crosstab.from_counts(designs, table).independence()
    assert (result.statistic, result.df) == (pytest.approx(expected), df)
    assert (result.p_value, result.p_error) == (pytest.approx(p), 0)
    assert result.smallest_expected == pytest.approx(frequencies.min())


def test_responses_that_nobody_gave_are_no_degrees_of_freedom() -> None:
    table = np.array([[30, 20, 0], [20, 35, 0]])
    result = Crosstab.from_counts([COINS, mechanisms.KAry.from_epsilon(3, 1)], table).independence()
    assert (result.statistic, result.df) == (pytest.approx(chi2_contingency(table[:, :2], correction=False)[0]), 1)
    nothing = Crosstab.from_counts([COINS, COINS], [[30, 20], [0, 0]]).independence()
    assert (nothing.statistic, nothing.df, nothing.p_value) == (0, 0, 1)


def test_subsets_of_one_are_tested_as_k_ary() -> None:
    chance = np.random.default_rng(10)
    subset, other = chance.integers(0, 4, 300), chance.integers(0, 2, 300)
    coins = item("coins", COINS, other)
    one = independence(item("q", mechanisms.Subset.from_epsilon(4, 1, 1), np.eye(4, dtype=int)[subset]), coins)
    same = independence(item("q", mechanisms.KAry.from_epsilon(4, 1), subset), coins)
    assert (one.statistic, one.df) == (pytest.approx(same.statistic), same.df)
    assert one.smallest_expected is None


def test_permutations_of_few_people_are_all_permutations() -> None:
    first, second = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 0])
    a, b = item("a", COINS, first), item("b", COINS, second)
    statistic = independence(a, b).statistic
    every = [
        chi2_contingency(np.histogram2d(first, second[list(order)], bins=2)[0], correction=False)[0]
        for order in itertools.permutations(range(6))
    ]
    exact = np.mean(np.array(every) >= statistic * (1 - 1e-9))
    result = independence(a, b, permutations=2000, seed=1)
    assert result.statistic == statistic
    assert result.p_value == pytest.approx(exact, abs=5 * result.p_error)
    assert result == independence(a, b, permutations=2000, seed=1)


def test_permutations_never_say_that_something_is_impossible() -> None:
    # The reports as they came are one of the reassignments: 0 of 9 reach them, so p is 1 of 10.
    same = np.arange(100) % 2
    assert independence(item("a", COINS, same), item("b", COINS, same), permutations=9, seed=1).p_value == 0.1


@pytest.mark.simulation
@pytest.mark.parametrize("name", ["two coins x two coins", "4-ary x 4-ary, epsilon 1"])
def test_the_test_of_independence_holds_its_level(name: str) -> None:
    pair = joint.PAIRS[name]
    sizes = (pair[0].k, pair[1].k)
    assert 0.04 <= joint.rejections(pair, joint.linked(*sizes, 0), 1000, 2000, seed=11) <= 0.06
    linked = joint.linked(*sizes, 0.8)
    power = independence_power(pair, linked, 1000)
    assert joint.rejections(pair, linked, 1000, 500, seed=12) == pytest.approx(power, abs=0.06)


@pytest.mark.simulation
def test_the_test_of_independence_holds_its_level_for_subsets() -> None:
    pair = joint.PAIRS["subsets 3 of 10 x two coins"]
    assert 0.03 <= joint.rejections(pair, joint.linked(10, 2, 0), 1000, 500, seed=13) <= 0.07


@pytest.mark.simulation
def test_intervals_of_crosstabs_cover_the_truth() -> None:
    found = joint.coverage((COINS, COINS), np.array([[0.6, 0.1], [0.1, 0.2]]), 1000, 500, seed=14)
    assert min(found.cell, found.conditional, found.odds_ratio, found.correlation) >= 0.92


def test_people_of_1974_are_found_behind_the_noise() -> None:
    with (files("deniable_client.demo") / "redbook1974.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    affair = np.array([int(row["affair"]) for row in rows])
    religious = np.array([int(row["religious"]) - 1 for row in rows])
    age = np.array([float(row["age"]) for row in rows])
    chance = np.random.default_rng(1974)
    asked = item("affair", COINS, COINS.randomize_many(affair, words_from(chance)))
    truth = np.zeros((2, 4))
    np.add.at(truth, (affair, religious), 1 / len(rows))
    for mechanism in (mechanisms.KAry.from_epsilon(4, 2), mechanisms.Subset.from_epsilon(4, 2, 1)):
        devout = item("religious", mechanism, mechanism.randomize_many(religious, words_from(chance)))
        table = crosstab(asked, devout)
        assert (abs(table.share - truth) < 4 * table.std_error).all()
        given = table.conditional("religious")
        assert (abs(given.share - truth / truth.sum(axis=0)) < 4 * given.std_error).all()
        result = correlation(asked, devout)
        expected = np.corrcoef(affair, religious)[0, 1]
        assert abs(result.correlation - expected) < 4 * result.std_error
        assert result.confidence_interval().low < expected < result.confidence_interval().high
    result = correlation(devout, age)
    assert abs(result.correlation - np.corrcoef(religious, age)[0, 1]) < 4 * result.std_error
    plain = item("religious", from_matrix(np.eye(4, dtype=int).tolist()), religious)
    assert independence(asked, plain).p_value < 1e-4


def test_nobody_gives_no_estimate() -> None:
    table = Crosstab.from_counts([COINS, COINS], np.zeros((2, 2)))
    assert table.n == 0
    assert np.isnan(table.share).all()
    assert np.isnan(table.std_error).all()
    assert np.isnan(table.feasible).all()
    low, high = table.confidence_interval()
    assert (low == 0).all()
    assert (high == 1).all()
    assert np.isnan(table.conditional(0).share).all()
    assert (table.conditional(0).confidence_interval()[1] == 1).all()
    assert math.isnan(table.independence().p_value)
    assert table.correlation().note == "there are no reports"
    assert math.isnan(table.odds_ratio().odds_ratio)


def person(name: str, design: Mechanism | Channel = COINS, people: int = 2) -> Item:
    return item(name, design, np.zeros(people, dtype=int))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: crosstab(person("a")), "items: must be at least 2 questions, got 1"),
        (lambda: crosstab(person("a"), person("a")), "items: must be different questions, got a, a"),
        (lambda: crosstab(person("a"), person("b", people=3)), "items: must all have the reports of 2 people, b has 3"),
        (
            lambda: crosstab(person("a"), person("b"), sample=SimpleSample.of([1])),
            "sample: must be of the 2 people of the items, got 1",
        ),
        (lambda: crosstab(person("a"), person("b"), sample=SimpleSample.of([1, -1])), "weights: must be 2 finite"),
        (
            lambda: crosstab(*(person(name, mechanisms.KAry.from_epsilon(50, 1)) for name in "ab")),
            "items: must have at most 2000 combinations of answers, got 2500",
        ),
        (
            lambda: crosstab(person("a"), person("b", mechanisms.OneBitMean.from_epsilon(0, 9, 1))),
            "tells their mean only",
        ),
        (lambda: Crosstab.from_counts([COINS], [1, 2]), "table: must have the shape"),
        (lambda: Crosstab.from_counts([COINS, COINS], [[1, 2]]), "table: must have the shape"),
        (lambda: Crosstab.from_counts([COINS, COINS], [[1, -2], [1, 1]]), "table: must hold finite numbers"),
        (lambda: Crosstab.from_counts([COINS, COINS], [[1, 2], [1, 1]], ["a"]), "names, options: must fit 2 questions"),
        (
            lambda: Crosstab.from_counts([COINS, mechanisms.Subset.from_epsilon(3, 2, 1)], np.ones((2, 3))),
            "designs: must report single values to be counted in a table, not subset",
        ),
        (lambda: crosstab(person("a"), person("b")).conditional("c"), r"question: must be in \[0, 2\) or one of a, b"),
        (lambda: crosstab(person("a"), person("b")).confidence_interval(2), "confidence_level"),
        (
            lambda: crosstab(person("a"), person("b", mechanisms.KAry.from_epsilon(3, 1))).odds_ratio(),
            "crosstab: must be 2 by 2 for an odds ratio, got 2 by 3",
        ),
        (lambda: crosstab(person("a"), person("b"), person("c")).independence(), "items: must be 2 questions"),
        (lambda: crosstab(person("a"), person("b"), person("c")).correlation(), "items: must be 2 questions"),
        (
            lambda: crosstab(*(person(n, mechanisms.KAry.from_epsilon(30, 1)) for n in "ab")).feasible,
            "feasible: must have at most",
        ),
        (
            lambda: independence(person("a"), person("b"), sample=SimpleSample.of([1, 2]), permutations=9),
            "permutations: must be 0",
        ),
        (lambda: correlation(person("a"), [1.0]), "second: must be 2 finite numbers"),
        (lambda: correlation(person("a"), [1.0, math.nan]), "second: must be 2 finite numbers"),
        (
            lambda: correlation(person("a", mechanisms.OneBitMean.from_epsilon(0, 9, 1)), [1.0, 2.0]),
            "tells their mean only",
        ),
        (lambda: independence_power([COINS, COINS], [[0.5, 0.5]], 10), "shares: must be a table of two questions"),
        (lambda: independence_power([COINS, COINS], [[0.5, 0.5], [0.5, 0.5]], 10), "shares: must be at least 0"),
        (lambda: independence_power([COINS, COINS], [[0.5, 0], [0, 0.5]], 10, 1.5), "level: must be above 0"),
        (
            lambda: independence_power([COINS, mechanisms.TickBoxes.from_epsilon(2, 1)], [[0.5, 0], [0, 0.5]], 10),
            "designs: must tell the covariance of their scores",
        ),
    ],
)
def test_mistakes_are_sentences(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        act()


def test_more_responses_than_truths_are_taken_in() -> None:
    cards, laplace = kuk("0.8", "0.2", 3), mechanisms.DiscreteLaplace.from_epsilon(0, 2, 3)
    chance = np.random.default_rng(15)
    truth = chance.integers(0, 2, 20_000)
    red = chance.binomial(3, np.where(truth, 0.8, 0.2))
    noisy = laplace.randomize_many(2 * truth, words_from(chance))
    table = crosstab(item("cards", cards, red), item("number", laplace, noisy))
    expected = [[1 - truth.mean(), 0, 0], [0, 0, truth.mean()]]
    assert (abs(table.share - expected) < 5 * table.std_error).all()
    assert table.independence().df == 2
    assert abs(table.correlation().correlation - 1) < 5 * table.correlation().std_error


def test_groups_are_no_items() -> None:
    with pytest.raises(AttributeError):
        item("cheats", cheater_detection(["1/4", "3/4"]), np.array([0, 1, 1]))  # type: ignore[arg-type]
