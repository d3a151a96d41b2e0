"""Exact differences of few people: coverage by double enumeration, and what intervals and tests promise each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from deniable import TwoCoin, Warner
from deniable_statistics.classical import crosswise, from_matrix
from deniable_statistics.comparison import difference, pairwise, ratio
from deniable_statistics.comparison.unconditional import Arm, exact_interval, exact_p_value, is_enumerable
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import clopper_pearson
from tools.tables.comparison import SMALL_EPSILONS, SMALL_SIZES, small_cohorts

DIRECT = from_matrix([[1, 0], [0, 1]])
COINS = TwoCoin("1/2", "1/2")


def cohort(design: object, yes: float, n: float, n_effective: float | None = None) -> Estimate:
    return Estimate.from_counts(design, [n - yes, yes], n, n_effective)  # type: ignore[arg-type]  # any design


@pytest.mark.simulation
@pytest.mark.parametrize(("sizes", "epsilon"), [((3, 3), 4), ((7, 7), 3.3), ((3, 7), 2), ((7, 7), 0.5)])
def test_differences_of_few_people_are_covered(sizes: tuple[int, int], epsilon: float) -> None:
    # With Wilson's limits it was .84 to .92.
    found = small_cohorts(sizes, epsilon)
    assert found.coverage >= 0.949
    assert found.before < 0.925
    assert found.ratio >= 0.949


def test_an_interval_reaches_to_small_pieces_of_what_is_accepted() -> None:
    kept = float(Warner.from_epsilon(4).yes_if_yes)
    first, second = (Arm(yes, n, kept, 1 - kept) for yes, n in ((33, 33), (45, 61)))
    assert exact_p_value(first, second, 0.14) > 0.05
    assert exact_interval(first, second, 0.95).low < 0.14


@pytest.mark.long
def test_differences_are_covered_on_the_whole_grid_of_the_table() -> None:
    for sizes, epsilon in itertools.product(SMALL_SIZES, SMALL_EPSILONS):
        found = small_cohorts(sizes, epsilon)
        assert found.coverage >= 0.949, (sizes, epsilon)
        assert found.ratio >= 0.949, (sizes, epsilon)


@pytest.mark.parametrize("design", [Warner.from_epsilon(3.3), crosswise("1/6"), DIRECT], ids=["3.3", "crosswise", "1"])
def test_intervals_hold_the_possible_difference_and_turn_with_the_cohorts(design: object) -> None:
    n, m = 4, 6
    for yes, other in itertools.product(range(n + 1), range(m + 1)):
        first, second = cohort(design, yes, n), cohort(design, other, m)
        there, back = difference(first, second), difference(second, first)
        low, high = there.confidence_interval()
        assert -1 <= low < high <= 1
        assert back.confidence_interval() == (-high, -low)
        assert back.p_value == there.p_value
        possible = first.feasible[1] - second.feasible[1]
        assert low - 1e-9 <= possible <= high + 1e-9
        for level in (0.8, 0.99):
            if there.p_value > 1 - level:
                least, most = there.confidence_interval(level)
                assert least <= 0 <= most


def test_an_interval_excludes_no_difference_only_where_the_test_rejects_it() -> None:
    coin, rejected, excluded = Warner.from_epsilon(3.3), 0, 0
    for yes, other in itertools.product(range(8), repeat=2):
        found = difference(cohort(coin, yes, 7), cohort(coin, other, 7))
        low, high = found.confidence_interval()
        rejected += found.p_value <= 0.05
        excluded += not low <= 0 <= high
        assert low <= 0 <= high or found.p_value <= 0.05
    assert 0 < excluded <= rejected <= excluded + 2  # a hole of the accepted set may hold 0


def test_larger_cohorts_have_intervals_that_are_no_points_and_hold_the_possible_difference() -> None:
    for yes, other in ((0, 100), (10, 90), (30, 80), (100, 0), (50, 50), (20, 20)):
        first, second = cohort(COINS, yes, 100), cohort(COINS, other, 100)
        found = difference(first, second)
        assert (found.method, found.test) == ("mover", "score")
        low, high = found.confidence_interval()
        assert -1 <= low < high <= 1
        assert low <= first.feasible[1] - second.feasible[1] <= high
        assert difference(second, first).confidence_interval() == pytest.approx((-high, -low))


def test_larger_cohorts_square_and_add_what_clopper_and_pearson_leave() -> None:
    l1, u1 = (2 * (end - 0.25) for end in clopper_pearson(43, 100, 0.95))
    l2, u2 = (2 * (end - 0.25) for end in clopper_pearson(60, 150, 0.95))
    f1, f2 = 2 * (0.43 - 0.25), 2 * (0.4 - 0.25)
    expected = (f1 - f2 - math.hypot(f1 - l1, u2 - f2), f1 - f2 + math.hypot(u1 - f1, f2 - l2))
    assert difference(cohort(COINS, 43, 100), cohort(COINS, 60, 150)).confidence_interval() == pytest.approx(expected)


def test_the_width_does_not_jump_where_the_method_changes() -> None:
    widths = {}
    for n in (48, 49, 50, 51):
        found = difference(cohort(COINS, n // 2, n), cohort(COINS, n // 3, n))
        low, high = found.confidence_interval()
        widths[found.method] = (high - low) * math.sqrt(n)
    assert widths["mover"] / widths["exact-unconditional"] == pytest.approx(1, abs=0.07)


def test_weighted_cohorts_count_with_their_effective_number() -> None:
    plain = difference(cohort(COINS, 9, 20), cohort(COINS, 4, 15))
    doubled = difference(cohort(COINS, 18.0, 40.0, 20), cohort(COINS, 8.0, 30.0, 15))
    assert doubled.confidence_interval() == plain.confidence_interval()
    assert doubled.p_value == plain.p_value
    odd = difference(cohort(COINS, 18.5, 40.5, 19.6), cohort(COINS, 8.0, 30.0, 15)).confidence_interval()
    assert odd == pytest.approx(plain.confidence_interval(), abs=0.05)


def test_exact_p_values_are_the_largest_over_all_pairs_of_shares() -> None:
    # 3 of 3 and 0 of 3 asked directly: only the opposite is as far, 2 (f (1 - f))^3, 1/32 at most.
    assert exact_p_value(Arm(3, 3, 1, 0), Arm(0, 3, 1, 0)) == pytest.approx(1 / 32, rel=0.01)
    assert difference(cohort(DIRECT, 3, 3), cohort(DIRECT, 0, 3)).test == "exact"
    assert difference(cohort(DIRECT, 2, 3), cohort(DIRECT, 2, 3)).p_value == 1


def test_pairs_use_the_same_intervals_at_the_level_of_each() -> None:
    cohorts = [cohort(COINS, yes, 12) for yes in (3, 6, 9)]
    found = pairwise(cohorts)
    assert found.confidence_interval(0.94)[1] == difference(cohorts[0], cohorts[2]).confidence_interval(0.98)
    assert ratio(cohorts[0], cohorts[2]).p_value == found.differences[1].p_value


def test_how_many_pairs_of_counts_are_gone_through() -> None:
    few, many = Arm(3, 49, 0.75, 0.25), Arm(3, 50, 0.75, 0.25)
    assert is_enumerable(few, few)
    assert not is_enumerable(few, many)


def test_intervals_grow_with_the_level() -> None:
    ends = np.array(
        [exact_interval(Arm(6, 9, 0.9, 0.1), Arm(2, 7, 0.8, 0.3), level) for level in (0.5, 0.8, 0.95, 1 - 1e-9)]
    )
    assert (np.diff(ends[:, 0]) <= 1e-3).all()
    assert (np.diff(ends[:, 1]) >= -1e-3).all()
