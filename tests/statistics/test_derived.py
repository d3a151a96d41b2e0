"""Shares of several truths together: sums and ratios with their errors and intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable import Estimate, KAry, TickBoxes
from deniable_statistics.classical import combined_share
from deniable_statistics.intervals.interval import normal_quantile

FOUR = KAry.from_epsilon(4, 1)
COUNTS = [400, 300, 200, 100]


@pytest.fixture
def result() -> Estimate:
    return FOUR.estimate(COUNTS)


def test_sum_of_options_has_the_covariance_between_them(result: Estimate) -> None:
    both = combined_share(result, ["0", 2])
    assert both.estimate == pytest.approx(result.share[0] + result.share[2])
    assert both.std_error**2 == pytest.approx(result.covariance[np.ix_([0, 2], [0, 2])].sum())
    assert both.feasible == pytest.approx(result.feasible[0] + result.feasible[2])
    alone = combined_share(result, [1])
    assert (alone.estimate, alone.std_error) == pytest.approx((result.share[1], result.std_error[1]))
    assert alone.fake_margin == pytest.approx(result.fake_margin[1])
    # All of them make 1 whatever is reported; what is left of the error is what floats leave of 0.
    everybody = combined_share(result, range(4))
    assert (everybody.estimate, everybody.std_error) == pytest.approx((1, 0), abs=1e-8)


def test_one_box_has_its_own_error_and_several_have_none_that_tallies_tell() -> None:
    boxes = TickBoxes.from_epsilon(3, 3).estimate([300, 420, 650], 1000)
    alone, both = combined_share(boxes, [1]), combined_share(boxes, [0, 1])
    assert (alone.estimate, alone.std_error) == pytest.approx((boxes.share[1], boxes.std_error[1]))
    assert math.isnan(both.std_error)


def test_ratio_has_the_error_of_the_delta_method(result: Estimate) -> None:
    found = combined_share(result, [1], ["0", "1"])
    a, b = result.share[:2]
    assert found.estimate == pytest.approx(b / (a + b))
    slope = np.array([-b, a]) / (a + b) ** 2
    assert found.std_error**2 == pytest.approx(slope @ result.covariance[:2, :2] @ slope)
    # One report in a hundred, moved from where it adds least to where it adds most.
    weights = slope @ result.design.debiasing.weights[:2]
    assert found.fake_margin == pytest.approx(0.01 * (weights.max() - weights.min()))


def test_ratio_among_nobody_is_nothing(result: Estimate) -> None:
    for found in (combined_share(result, [1], []), combined_share(FOUR.estimate([0] * 4), [1])):
        assert math.isnan(found.estimate)
        assert math.isnan(found.std_error)
        assert math.isnan(found.fake_margin)
        assert found.confidence_interval() == (0, 1)


def test_intervals_lie_around_the_figure(result: Estimate) -> None:
    z = normal_quantile(0.9)
    # By default around the figure after z^2 more reports that are shared out evenly.
    later = FOUR.estimate([count + z * z / 4 for count in COUNTS], n_effective=1000 + z * z)
    for part, whole in (([1, 2], None), ([1], [0, 1])):
        here, there = (combined_share(each, part, whole) for each in (result, later))
        for found, ends in ((here, here.confidence_interval(0.9, "wald")), (there, here.confidence_interval(0.9))):
            reach = z * found.std_error
            assert ends == pytest.approx((max(found.estimate - reach, 0), min(found.estimate + reach, 1)))
    one = combined_share(result, [1])
    assert one.confidence_interval() == one.confidence_interval(confidence_level=0.95)
