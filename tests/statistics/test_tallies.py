"""Every tally that people can send has an estimate, and everything that is published of it is a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable import DiscreteLaplace, Estimate, Geometric, KAry, OneBitMean, Subset, TickBoxes, TwoCoin
from deniable.mechanisms import MECHANISMS
from deniable_statistics.classical import Channel, cheater_detection, from_matrix, kuk, stochastic_lie_detector
from deniable_statistics.designs.of_mechanisms import MechanismDesign
from deniable_statistics.estimates.fakes import fake_margins
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.published.published_rows import EstimateOptions
from tests.support.marks import long
from tools.tables.tallies import FAMILIES, check_maximum, check_numbers, search

TWENTY_CARDS = [
    *(752, 6632, 26932, 68616, 125586, 170988, 183729, 157478, 109555, 62926, 29411, 11398, 3611, 957, 261),
    *(193, 417, 832, 1275, 1182, 575),
]

STALLED = {
    "a range": lambda: Geometric.from_epsilon(0, 4, "4").estimate([737, 176, 63, 23, 14]),
    "five cards": lambda: kuk("0.8", "0.2", 5).estimate([6565, 8177, 4038, 1083, 131, 6]),
    "twenty cards": lambda: kuk("0.1", "0.9", 20).estimate(TWENTY_CARDS),
    "unbounded noise": lambda: DiscreteLaplace.from_epsilon(0, 2, "2").estimate(
        [2, 8, 34, 45, 176, 462, 1216, 3443, 9160, 3441, 1287, 453, 177, 59, 28, 5, 3, 1, 0]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", STALLED.values(), ids=STALLED)
def test_tallies_at_which_the_likelihood_is_too_flat_for_floats(make: Callable[[], Estimate]) -> None:
    result = make()
    assert isinstance(result.design, (MechanismDesign, Channel))
    check_numbers(result, EstimateOptions())
    check_maximum(result, gap=2e-8)


@pytest.mark.parametrize("zero", [[0, 5], [5, 0]])
@pytest.mark.parametrize(
    "matrix", [[["0.594", 1], ["0.406", 0]], [[1, "0.594"], [0, "0.406"]], [["0.4", 0], ["0.6", 1]]]
)
def test_a_truth_that_always_sends_the_same(matrix: list[list[str]], zero: list[int]) -> None:
    design = from_matrix(matrix)
    for counts in ([7, 3], [1, 1], zero):
        result = design.estimate(counts)
        check_numbers(result, EstimateOptions())
        check_maximum(result)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tallies", [3, long(12)])
def test_random_tallies_have_estimates(family: str, tallies: int) -> None:
    assert search(family, tallies=tallies) == []


def test_the_search_knows_every_mechanism() -> None:
    assert set(MECHANISMS) <= set(FAMILIES)


def test_fakes_in_a_range_of_numbers_move_a_share_by_300_points() -> None:
    mechanism = Geometric.from_epsilon(0, 10, 1)
    n = 10_000
    honest = np.full(11, n // 11)
    honest[5] += n - honest.sum()
    before, moved = np.array(mechanism.estimate(honest.tolist()).share), []
    for out in range(11):
        for into in range(11):
            counts = honest.copy()
            counts[out], counts[into] = counts[out] - n // 100, counts[into] + n // 100
            moved.append(np.abs(np.array(mechanism.estimate(counts.tolist()).share) - before))
    assert np.max(moved, axis=0) == pytest.approx(fake_margins(mechanism), rel=1e-9)
    assert max(fake_margins(mechanism)) == pytest.approx(3.0, abs=0.05)


def test_fakes_in_a_mean() -> None:
    for mechanism in (OneBitMean.from_epsilon(18, 99, 1), Geometric.from_epsilon(0, 10, 1), KAry.from_epsilon(5, 1)):
        counts = [1000] * mechanism.k
        result = MeanEstimate.from_counts(mechanism, counts)
        moved = []
        for out in range(mechanism.k):
            for into in range(mechanism.k):
                faked = list(counts)
                faked[out] -= 10 * mechanism.k
                faked[into] += 10 * mechanism.k
                moved.append(abs(MeanEstimate.from_counts(mechanism, faked).mean - result.mean))
        assert max(moved) == pytest.approx(result.fake_margin, rel=1e-9)


def test_fakes_that_support_several_options_at_once() -> None:
    subset = Subset.from_epsilon(6, 2, 1)
    values = (0, 1, 2, 3, 4, 5)
    counts, n = [100] * 6, 300
    result = MeanEstimate.from_counts(subset, counts, n, values)
    # Three fakes support 4 and 5 instead of 0 and 1.
    faked = MeanEstimate.from_counts(subset, [97, 97, 100, 100, 103, 103], n, values)
    assert faked.mean - result.mean == pytest.approx(result.fake_margin, rel=1e-9)
    boxes = TickBoxes(3, "3/4")
    assert fake_margins(boxes) == pytest.approx((0.02,) * 3)
    assert MeanEstimate.from_counts(boxes, [50, 50, 50], 100, (1, 1, -1)).fake_margin == pytest.approx(0.06)


def test_fakes_in_each_group() -> None:
    for design in (cheater_detection(["1/4", "3/4"]), stochastic_lie_detector("0.2", "0.8")):
        before = design.estimate([[300, 200], [500, 500]]).share
        moved = []
        for first in (-5, 5):
            for second in (-10, 10):
                faked = design.estimate([[300 - first, 200 + first], [500 - second, 500 + second]])
                moved.append(np.abs(np.array(faked.share) - before))
        assert np.max(moved, axis=0) == pytest.approx(fake_margins(design), rel=1e-9)


def test_only_possible_responses_can_be_made_up() -> None:
    assert fake_margins(kuk("0.8", "0.2", 5)) == pytest.approx((0.01 / 0.6,) * 2)
    assert TwoCoin("1/2", "1/2").estimate([570, 430]).fake_margin == (0.02, 0.02)
