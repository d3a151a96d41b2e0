"""Intervals against their definitions, by brute force, and against published figures."""

from __future__ import annotations

import csv
import math
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlog1py, xlogy
from scipy.stats import beta, binom, chi2

from deniable import Interval, ParameterError
from deniable_statistics.intervals import (
    METHODS,
    consistency,
    feldman_cousins,
    jeffreys,
    likelihood_ratio_interval,
    midp,
    resolve_method,
    share_interval,
    share_intervals,
    wilson,
)
from deniable_statistics.intervals import blaker as blaker_interval
from deniable_statistics.intervals.restricted import _LIMITS
from deniable_statistics.intervals.simultaneous import simultaneous_intervals
from tools.tables.intervals import SIZES, cells, designs, joint_table, lowest, weighted_coverage, width_ratio

REFERENCE = Path(__file__).parents[1] / "reference" / "intervals.csv"
COLUMNS = {
    "feldman-cousins": "fc",
    "likelihood-ratio": "lr_restricted",
    "clopper-pearson": "clopper_pearson",
    "agresti-coull": "agresti_coull",
    **{name: name for name in ("wilson", "jeffreys", "midp", "wald")},
}
COINS = (0.75, 0.25)


def reference() -> list[dict[str, str]]:
    with REFERENCE.open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 39
    return rows


def cut(end: float) -> float:
    return min(max(end, 0.0), 1.0)


@pytest.mark.parametrize("method", COLUMNS)
def test_intervals_equal_the_reference(method: str) -> None:
    column, tolerance = COLUMNS[method], 1e-5 if method == "feldman-cousins" else 1e-6
    for row in reference():
        ends = share_interval(int(row["k"]), int(row["n"]), (float(row["a"]), float(row["b"])), 0.95, method)
        expected = [cut(float(row[f"{column}_{end}"])) for end in ("lo", "hi")]  # Wald's are not cut in the file
        assert list(ends) == pytest.approx(expected, abs=tolerance), row["design"]


def test_every_method_is_held_to_the_reference_or_to_brute_force() -> None:
    assert {*COLUMNS, "blaker"} == set(METHODS)


def test_consistency_equals_the_reference() -> None:
    for row in reference():
        fit = consistency(int(row["k"]), int(row["n"]), (float(row["a"]), float(row["b"])))
        expected = (float(row["pval_below_design"]), float(row["pval_above_design"]))
        assert tuple(fit) == pytest.approx(expected, abs=1e-6), row["design"]


# Feldman and Cousins


def log_likelihood(count: float | np.ndarray, n: int, lam: float | np.ndarray) -> Any:
    return xlogy(count, lam) + xlog1py(n - count, -lam)


def feldman_cousins_p(count: float, n: int, low: float, high: float, lam: np.ndarray) -> np.ndarray:
    """By the definition: add up all counts that are at least as extreme."""
    lam, each = np.atleast_1d(lam)[:, None], np.arange(n + 1)
    # Counts farther than this from every mean have a probability below 1e-120 together, by Hoeffding's inequality.
    each = each[(each >= n * lam.min() - 12 * math.sqrt(n)) & (each <= n * lam.max() + 12 * math.sqrt(n))]
    extreme = log_likelihood(each, n, np.clip(each / n, low, high)) - log_likelihood(each, n, lam)
    own = log_likelihood(count, n, np.clip(count / n, low, high)) - log_likelihood(count, n, lam)
    return np.where(extreme >= own - 1e-10, binom.pmf(each, n, lam), 0).sum(axis=1)


@pytest.mark.slow
def test_feldman_cousins_equals_its_definition_on_fine_grids() -> None:
    draw = random.Random(20261120)
    ranges = [(0, 1), (0.25, 0.75), (0.3, 1), (0, 0.6), (0.1, 0.9), (0.45, 0.55), (0.95, 0.999), (1e-4, 0.02)]
    for _ in range(250):
        n = draw.choice([1, 2, 3, 4, 5, 7, 10, 20, 37, 50, 64, 100])
        low, high = draw.choice([draw.choice(ranges), tuple(sorted((draw.random(), draw.random())))])
        near = round(n * (low + (high - low) * draw.random()))
        count = draw.choice([0, n, draw.randint(0, n), near, near, draw.random() * n])
        level = draw.choice([0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.99999])
        case = (count, n, level, low, high)
        ends = feldman_cousins(*case)
        length = high - low
        around = [np.linspace(end - 0.01 * length, end + 0.01 * length, 201) for end in ends]
        grid = np.clip(np.concatenate([np.linspace(low, high, 1001), *around]), low, high)
        accepted = grid[feldman_cousins_p(count, n, low, high, grid) > 1 - level]
        slack = 1e-7 * length + 1e-9
        assert ends.low - slack <= accepted.min(), case
        assert accepted.max() <= ends.high + slack, case
        inwards = np.array([0, 1e-10, 1e-9, 1e-8]) * length
        assert (feldman_cousins_p(count, n, low, high, np.minimum(ends.low + inwards, high)) > 1 - level).any(), case
        assert (feldman_cousins_p(count, n, low, high, np.maximum(ends.high - inwards, low)) > 1 - level).any(), case
        assert ends.low <= min(max(count / n, low), high) <= ends.high, case
        assert level < 0.75 or ends.low < ends.high, case


def test_feldman_cousins_finds_slivers_that_scans_step_over() -> None:
    # Shares from .86927 to .86941 are accepted, then none up to .87972; a scan of 4,000 steps starts there.
    n, low, high = 100, 0.5381836161335277, 0.8638390573212131
    shares = np.array([0.86926, 0.86928, 0.86940, 0.86942, 0.87971, 0.87973])
    accepted = feldman_cousins_p(n, n, low, high, low + (high - low) * shares) > 0.001
    assert accepted.tolist() == [False, True, True, False, False, True]
    assert 0.86926 < share_interval(n, n, (high, low), 0.999).low < 0.86928


@pytest.mark.slow
@pytest.mark.parametrize(("n", "count"), [(2000, 480), (2000, 1480), (20_000, 5100), (20_000, 9000)])
def test_feldman_cousins_of_many_reports_equals_its_definition_at_the_ends(n: int, count: int) -> None:
    low, high = feldman_cousins(count, n, 0.95, 0.25, 0.75)
    error = math.sqrt(0.25 / n)
    beyond = np.concatenate([low - error * np.linspace(1e-6, 1, 150), high + error * np.linspace(1e-6, 1, 150)])
    beyond = beyond[(beyond >= 0.25) & (beyond <= 0.75)]
    assert (feldman_cousins_p(count, n, 0.25, 0.75, beyond) <= 0.05).all()
    assert (feldman_cousins_p(count, n, 0.25, 0.75, np.array([low + 1e-9, high - 1e-9])) > 0.05).all()


# G. J. Feldman, R. D. Cousins, Physical Review D 57 (1998), table IV (90 %): background, events, limits of the signal
PUBLISHED = [
    (0.0, 0, 0.00, 2.44),
    (0.0, 1, 0.11, 4.36),
    (0.0, 2, 0.53, 5.91),
    (0.0, 3, 1.10, 7.42),
    (0.0, 4, 1.47, 8.60),
    (0.0, 5, 1.84, 9.99),
    (0.0, 6, 2.21, 11.47),
    (3.0, 1, 0.00, 1.88),
    (3.0, 2, 0.00, 3.04),
    (3.0, 3, 0.00, 4.42),
    (3.0, 4, 0.00, 5.60),
    (3.0, 5, 0.00, 6.99),
    (3.0, 6, 0.15, 8.47),
]


@pytest.mark.parametrize(("background", "events", "low", "high"), PUBLISHED)
def test_feldman_cousins_reproduces_the_limits_of_its_paper(
    background: float, events: int, low: float, high: float
) -> None:
    n = 10**6  # so many rare chances that the binomial count is Poisson's
    ends = feldman_cousins(events, n, 0.90, background / n, 1.0)
    assert [end * n - background for end in ends] == pytest.approx([low, high], abs=0.0051)  # printed to two decimals


def test_feldman_cousins_reproduces_the_adjusted_limit_of_its_paper() -> None:
    # No event above a background of 3: the paper gives 1.08, because upper limits shall not rise with the background.
    n = 10**6
    limits = [
        feldman_cousins(0, n, 0.90, background / n, 1.0).high * n - background for background in np.arange(3, 4, 0.02)
    ]
    assert limits[0] < 1
    assert max(limits) == pytest.approx(1.08, abs=0.0051)


# Restricted likelihood ratio


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.25, 0.75), (0.0, 0.5), (0.7, 1.0), (0.4999, 0.5001)])
def test_likelihood_ratio_limits_are_where_it_equals_the_quantile(low: float, high: float, level: float) -> None:
    for n in (1, 2, 30, 5000, 10**6):
        for count in {0, 1, n // 4, n // 2, n - 1, n}:
            ends = likelihood_ratio_interval(count, n, level, low, high)
            best = min(max(count / n, low), high)
            assert low <= ends.low <= best <= ends.high <= high
            assert ends.low < ends.high
            for end, limit in ((ends.low, low), (ends.high, high)):
                twice = 2 * float(log_likelihood(count, n, best) - log_likelihood(count, n, end))
                if end == limit:
                    assert twice <= chi2.ppf(level, 1) + 1e-9
                else:
                    assert twice == pytest.approx(chi2.ppf(level, 1), rel=1e-6)


# Blaker, mid-p, Jeffreys


def blaker_acceptability(count: int, n: int, lam: np.ndarray) -> np.ndarray:
    """By the definition: the smaller tail and the largest opposite one that is no larger."""
    lam, each = lam[:, None], np.arange(n + 1)
    atoms = binom.pmf(each, n, lam)
    below = np.cumsum(atoms, axis=1)
    above = 1 - below + atoms
    smaller = np.minimum(below[:, count], above[:, count])
    opposite = np.where(above[:, [count]] <= below[:, [count]], below, above)
    return smaller + np.where(opposite <= smaller[:, None] + 1e-12, opposite, 0).max(axis=1)


@pytest.mark.parametrize("level", [0.3, 0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 41, 100])
def test_blaker_equals_its_definition_on_a_fine_grid(n: int, level: float) -> None:
    for count in sorted({0, 1, n // 3, n - 1, n}):
        ends = blaker_interval(count, n, level)
        around = [np.linspace(end - 0.01, end + 0.01, 101) for end in ends]
        grid = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 1001), *around]), 0, 1))
        accepted = grid[blaker_acceptability(count, n, grid) > 1 - level]
        assert ends.low - 1e-9 <= accepted[0]
        assert accepted[-1] <= ends.high + 1e-9
        inside = np.clip(np.array([ends.low + 1e-9, ends.high - 1e-9]), 0, 1)
        assert (blaker_acceptability(count, n, inside) > 1 - level - 1e-7).all()
        exact = share_interval(count, n, (1.0, 0.0), level, "clopper-pearson")
        assert exact.low - 1e-12 <= ends.low <= ends.high <= exact.high + 1e-12


def test_midp_solves_its_equation() -> None:
    for n in (1, 7, 60, 3000):
        for count in {0, 1, n // 3, n}:
            low, high = midp(count, n, 0.9)
            above = binom.sf(count, n, low) + binom.pmf(count, n, low) / 2
            below = binom.cdf(count - 1, n, high) + binom.pmf(count, n, high) / 2
            assert (low, above) == pytest.approx((0, above)) if count == 0 else above == pytest.approx(0.05)
            assert (high, below) == pytest.approx((1, below)) if count == n else below == pytest.approx(0.05)


def test_jeffreys_limits_are_quantiles_at_the_ends_too() -> None:
    for count in (0, 3, 10):
        expected = np.asarray(beta.ppf([0.025, 0.975], count + 0.5, 10 - count + 0.5))
        assert list(jeffreys(count, 10, 0.95)) == pytest.approx(list(expected), abs=1e-12)


# What holds for every method

supports = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda pair: abs(pair[0] - pair[1]) > 1e-3)
levels = st.floats(0.5, 0.9999)
methods = st.sampled_from(sorted(METHODS))
sizes = st.integers(1, 300)


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), sizes, supports, levels, methods)
def test_intervals_lie_within_0_and_1_and_swap_with_yes_and_no(
    data: st.DataObject, n: int, support: tuple[float, float], level: float, method: str
) -> None:
    count = data.draw(st.integers(0, n) | st.floats(0, n))
    low, high = share_interval(count, n, support, level, method)
    assert 0 <= low <= high <= 1
    (a, b), slack = support, 1e-9 / abs(support[0] - support[1])
    assert share_interval(n - count, n, (1 - a, 1 - b), level, method) == pytest.approx((low, high), abs=slack)
    assert share_interval(count, n, (b, a), level, method) == pytest.approx((1 - high, 1 - low), abs=slack)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("count", [5e-324, 1e-309, 2e-311, 1e-261, 1e-259])
def test_a_count_that_is_next_to_nothing_has_the_interval_of_none(method: str, count: float) -> None:
    """Weighted counts can be as small as rounding leaves them."""
    assert share_interval(count, 10, (1.0, 0.0), 0.95, method) == pytest.approx(
        share_interval(0, 10, (1.0, 0.0), 0.95, method), abs=1e-9
    )


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), sizes, supports, levels, methods)
def test_limits_rise_with_the_count(
    data: st.DataObject, n: int, support: tuple[float, float], level: float, method: str
) -> None:
    if method == "wald":
        return  # its length falls towards 0 at the ends, faster than its middle moves
    few, many = sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n))))
    a, b = support
    less, more = (share_interval(count, n, (max(a, b), min(a, b)), level, method) for count in (few, many))
    assert less.low <= more.low + 1e-9
    assert less.high <= more.high + 1e-9


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), sizes, supports, levels, levels, methods)
def test_intervals_grow_with_the_level(
    data: st.DataObject, n: int, support: tuple[float, float], one: float, other: float, method: str
) -> None:
    count = data.draw(st.integers(0, n) | st.floats(0, n))
    narrow, wide = (share_interval(count, n, support, level, method) for level in sorted((one, other)))
    assert wide.low <= narrow.low + 1e-9
    assert narrow.high <= wide.high + 1e-9


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), sizes, supports, levels, methods)
def test_intervals_hold_the_most_likely_share(
    data: st.DataObject, n: int, support: tuple[float, float], level: float, method: str
) -> None:
    count = data.draw(st.integers(0, n) | st.floats(0, n))
    if method == "jeffreys" and count in (0, n):
        return  # plain quantiles leave out 0 and 1, as in statsmodels
    a, b = support
    low, high = share_interval(count, n, support, level, method)
    slack = 1e-9 / abs(a - b)
    assert low - slack <= cut((count / n - b) / (a - b)) <= high + slack
    if method == "likelihood-ratio" or (method == "feldman-cousins" and level >= 0.75):
        assert low < high


@pytest.mark.parametrize("method", METHODS)
def test_fractional_counts_lie_between_whole_ones(method: str) -> None:
    for n in (40, 41.4):  # 41 where whole reports are needed
        ends = [share_interval(share * n, n, COINS, 0.95, method) for share in np.linspace(0.2, 0.8, 61)]
        if method != "wald":
            assert all(one.low <= two.low and one.high <= two.high for one, two in pairwise(ends))
        whole = share_interval(41.4 / 2, 41.4, COINS, 0.95, method)
        assert list(whole) == pytest.approx(list(share_interval(20.5, 41, COINS, 0.95, method)), abs=0.004)


def test_count_may_exceed_n_by_rounding_only() -> None:
    assert share_interval(10 * (1 + 1e-12), 10, COINS) == share_interval(10, 10, COINS)
    with pytest.raises(ParameterError, match=r"count: must be in \[0, n = 10\], got 10.1"):
        share_interval(10.1, 10, COINS)


# Names, errors, several shares, weights


def test_the_default_depends_on_the_number_of_reports() -> None:
    for n, method in ((10_000, "feldman-cousins"), (10_001, "likelihood-ratio")):
        assert resolve_method("default", n) == method
        assert share_interval(n // 3, n, COINS) == share_interval(n // 3, n, COINS, 0.95, method)


def test_aliases_are_those_of_statsmodels() -> None:
    assert resolve_method("beta", 10) == "clopper-pearson"
    assert resolve_method("normal", 10) == "wald"
    assert [resolve_method(name, 10) for name in METHODS] == list(METHODS)


def test_no_reports_tell_nothing() -> None:
    for method in ("default", *METHODS):
        assert share_interval(0, 0, COINS, 0.95, method) == Interval(0, 1)
    assert consistency(0, 0, COINS) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "bayes"}, "method: must be one of default, feldman-cousins, .*, got 'bayes'"),
        ({"confidence_level": 95}, "confidence_level: must be from 0.001 to 0.999999999999, got 95"),
        ({"confidence_level": math.nan}, "confidence_level"),
        ({"count": -1}, r"count: must be in \[0, n = 10\], got -1"),
        ({"count": math.nan}, "count"),
        ({"n": math.inf}, "n: must be finite"),
        ({"support": (0.5, 0.5)}, "support: must be two different probabilities, got 0.5 and 0.5"),
        ({"support": (1.5, 0.5)}, "support"),
        ({"support": (math.nan, 0.5)}, "support"),
    ],
)
def test_what_makes_no_interval_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        share_interval(**{"count": 5, "n": 10, "support": COINS, **arguments})


def test_supports_may_be_exact() -> None:
    exact = (Fraction(11, 12), Fraction(1, 6))
    assert share_interval(98, 729, exact) == share_interval(98, 729, (11 / 12, 1 / 6))  # type: ignore[arg-type]
    assert consistency(98, 729, exact).p_below == pytest.approx(binom.cdf(98, 729, 1 / 6))  # type: ignore[arg-type]


def test_consistency_is_one_sided_and_turns_with_the_support() -> None:
    assert consistency(30, 100, (0.8, 0.4)) == pytest.approx((binom.cdf(30, 100, 0.4), binom.sf(29, 100, 0.8)))
    assert consistency(30, 100, (0.4, 0.8)) == pytest.approx((binom.sf(29, 100, 0.8), binom.cdf(30, 100, 0.4)))


def test_simultaneous_intervals_are_those_of_an_equal_part_of_alpha() -> None:
    counts, supports = [700, 200, 100], [(0.6, 0.2)] * 3
    expected = [share_interval(count, 1000, (0.6, 0.2), 1 - 0.05 / 3, "feldman-cousins") for count in counts]
    assert simultaneous_intervals(counts, 1000, supports) == expected
    # statsmodels 0.15: multinomial_proportions_confint([7000, 2000, 1000], .05, "goodman"), with each (p - .2) / .4
    goodman = [(0.68891739, 0.71085349), (0.19059712, 0.20974655), (0.09304558, 0.10741265)]
    many = simultaneous_intervals([7000, 2000, 1000], 10_000, supports, method="wilson")
    for found, ends in zip(many, goodman, strict=True):
        assert list(found) == pytest.approx([cut((end - 0.2) / 0.4) for end in ends], abs=5e-8)
    with pytest.raises(ParameterError, match="supports: must be 3, one for each count, got 1"):
        simultaneous_intervals(counts, 1000, supports[:1])


def test_wilson_is_not_cut_to_what_a_share_can_be() -> None:
    low, high = wilson(10, 100, 0.95)  # for Newcombe's interval of a difference
    assert (low - 0.25) / 0.5 < (high - 0.25) / 0.5 < 0


# Coverage: the short version of what `make tables` prints


@pytest.mark.parametrize("k", [2, 5])
def test_default_covers_at_least_the_level_and_is_shorter_than_clopper_pearson(k: int) -> None:
    sizes = SIZES[:3]
    table = cells(sizes, designs(k), ["default", "clopper-pearson", "likelihood-ratio", "wald"], shares=101)
    for method in ("default", "clopper-pearson"):
        for place, cell in table[method].items():
            assert cell.coverage.min() >= 0.95 - 1e-9, (method, place)
    assert sum(cell.points for cell in table["default"].values()) == 0
    assert lowest(table["likelihood-ratio"])[0] > 0.88
    assert lowest(table["wald"])[0] < 0.5
    assert width_ratio(table, *sizes) <= 0.96


@pytest.mark.simulation
def test_all_shares_together_are_covered() -> None:
    assert joint_table(sizes=(50, 3000, 20_000), options=(5,))[1] >= 0.945  # fixed seeds; standard error .0015


@pytest.mark.simulation
def test_effective_n_keeps_the_coverage_of_weighted_data() -> None:
    coverage = weighted_coverage(200, 0.3, COINS, "wilson", 2000, seed=1)
    assert coverage == pytest.approx(0.95, abs=0.015)  # fixed seed; standard error .005


def test_options_together_have_the_intervals_that_each_has_alone() -> None:
    # Of few and of many reports, at both ends, of weights, without any, and behind the default's two methods.
    counts = [(0, 3), (3, 3), (98, 729), (20.5, 41.2), (0, 0), (4000, 9000), (6000, 20_000)]
    counted = [(count, n, COINS) for count, n in counts]
    for method in ("default", *METHODS):
        alone = [share_interval(*each, 0.937, method) for each in counted]
        _LIMITS.clear()  # limits that were computed are kept
        assert share_intervals(counted, 0.937, method) == alone
