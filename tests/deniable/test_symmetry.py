"""Properties of estimates that need no figure from elsewhere: other labels, more of the same people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import Estimate, Mechanism, mechanisms
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.means import MeanEstimate

T = TypeVar("T")

QUICKLY = settings(max_examples=20, deadline=None, derandomize=True)
THOROUGHLY = settings(max_examples=200, deadline=None, derandomize=True)

ALIKE: list[Mechanism] = [
    mechanisms.TwoCoin("2/3", "1/2"),
    mechanisms.Warner("3/4"),
    mechanisms.Warner("1/6"),
    mechanisms.KAry.from_epsilon(2, 1),
    mechanisms.KAry.from_epsilon(3, 4),
    mechanisms.KAry.from_epsilon(6, "0.5"),
    mechanisms.KAry.from_coin(4, "1/2"),
    mechanisms.Longitudinal.from_epsilon(4, 2, 1),
    mechanisms.Subset.from_epsilon(5, 2, 1),
    mechanisms.TickBoxes.from_epsilon(4, 2),
]
"""To these mechanisms every option is like every other."""

FROM_BOTH_ENDS: list[Mechanism] = [
    mechanisms.Geometric.from_epsilon(0, 4, 1),
    mechanisms.Geometric.from_epsilon(-3, 2, 2),
    mechanisms.DiscreteLaplace.from_epsilon(1, 5, 2, tail="1/10"),
    mechanisms.Exponential.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 1),
]
"""To these the levels of a scale are alike from above and from below."""


def name_of(mechanism: Mechanism) -> str:
    return f"{mechanism.name}, {mechanism.k}"


def tallies(mechanism: Mechanism, draw: st.DataObject) -> tuple[list[int], int]:
    """Counts that people can send, and of how many people."""
    size = len(design_of(mechanism).expected_if_even)
    if isinstance(mechanism, mechanisms.Subset):
        members = st.permutations(range(size)).map(lambda order: order[: mechanism.w])
        kinds = draw.draw(st.lists(st.tuples(members, st.integers(1, 500)), min_size=1, max_size=8))
        return [sum(n for each, n in kinds if option in each) for option in range(size)], sum(n for _, n in kinds)
    counts = draw.draw(st.lists(st.integers(0, 3000), min_size=size, max_size=size).filter(any))
    if isinstance(mechanism, mechanisms.TickBoxes):
        return counts, max(counts) + draw.draw(st.integers(0, 1000))
    return counts, sum(counts)


def reordered(values: Sequence[T], order: Sequence[int]) -> list[T]:
    return [values[place] for place in order]


def check_reordered(one: Estimate, other: Estimate, order: Sequence[int]) -> None:
    """Everything that is said of an option is said of it under its other label."""
    assert other.share == pytest.approx(reordered(one.share, order), abs=1e-12)
    assert other.std_error == pytest.approx(reordered(one.std_error, order), rel=1e-9, abs=1e-12)
    assert other.feasible == pytest.approx(reordered(one.feasible, order), abs=1e-6)
    assert other.covariance == pytest.approx(one.covariance[np.ix_(order, order)], rel=1e-9, abs=1e-12, nan_ok=True)
    assert other.fake_margin == pytest.approx(reordered(one.fake_margin, order), rel=1e-9)
    for method in ("default", "wilson", "wald"):
        expected = reordered(one.confidence_interval(0.9, method), order)
        for found, wanted in zip(other.confidence_interval(0.9, method), expected, strict=True):
            assert found == pytest.approx(wanted, abs=1e-9)


def check_other_labels(mechanism: Mechanism, draw: st.DataObject) -> None:
    counts, n = tallies(mechanism, draw)
    order = draw.draw(st.permutations(range(len(counts))))
    check_reordered(mechanism.estimate(counts, n), mechanism.estimate(reordered(counts, order), n), order)


@pytest.mark.fuzz
@pytest.mark.parametrize("mechanism", ALIKE, ids=name_of)
@QUICKLY
@given(draw=st.data())
def test_other_labels_of_the_options_permute_the_estimates(mechanism: Mechanism, draw: st.DataObject) -> None:
    check_other_labels(mechanism, draw)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ALIKE, ids=name_of)
@THOROUGHLY
@given(draw=st.data())
def test_other_labels_of_the_options_permute_the_estimates_of_many_tallies(
    mechanism: Mechanism, draw: st.DataObject
) -> None:
    check_other_labels(mechanism, draw)


@pytest.mark.fuzz
@QUICKLY
@given(draw=st.data(), order=st.permutations(range(4)))
def test_other_labels_of_forced_answers_permute_the_estimates(draw: st.DataObject, order: list[int]) -> None:
    """What is forced differs by option, so it gets the other labels too."""
    forced = ["1/10", "1/5", "3/10", "2/5"]
    one, other = (mechanisms.ForcedResponse("2/3", each) for each in (forced, reordered(forced, order)))
    counts, n = tallies(one, draw)
    first, second = one.estimate(counts, n), other.estimate(reordered(counts, order), n)
    # the last forced answer takes what rounding leaves
    assert second.share == pytest.approx(reordered(first.share, order), abs=1e-8)
    assert second.std_error == pytest.approx(reordered(first.std_error, order), abs=1e-8)


def check_other_end(mechanism: Mechanism, draw: st.DataObject) -> None:
    counts, n = tallies(mechanism, draw)
    one, other = mechanism.estimate(counts, n), mechanism.estimate(counts[::-1], n)
    assert other.share == pytest.approx(one.share[::-1], abs=1e-9)
    assert other.std_error == pytest.approx(one.std_error[::-1], rel=1e-7, abs=1e-9)
    assert other.feasible == pytest.approx(one.feasible[::-1], abs=1e-5)


@pytest.mark.fuzz
@pytest.mark.parametrize("mechanism", FROM_BOTH_ENDS, ids=name_of)
@QUICKLY
@given(draw=st.data())
def test_a_scale_read_from_its_other_end_reverses_the_estimates(mechanism: Mechanism, draw: st.DataObject) -> None:
    check_other_end(mechanism, draw)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", FROM_BOTH_ENDS, ids=name_of)
@THOROUGHLY
@given(draw=st.data())
def test_a_scale_read_from_its_other_end_reverses_the_estimates_of_many_tallies(
    mechanism: Mechanism, draw: st.DataObject
) -> None:
    check_other_end(mechanism, draw)


@pytest.mark.fuzz
@QUICKLY
@given(yes=st.integers(0, 2000), no=st.integers(1, 2000))
def test_a_mean_read_from_the_other_end_of_its_range_is_as_far_from_it(yes: int, no: int) -> None:
    mechanism = mechanisms.OneBitMean.from_epsilon(3, 10, 1)
    one, other = MeanEstimate.from_counts(mechanism, [no, yes]), MeanEstimate.from_counts(mechanism, [yes, no])
    assert one.mean - 3 == pytest.approx(10 - other.mean, abs=1e-9)
    assert one.std_error == pytest.approx(other.std_error, rel=1e-9)
    low, high = one.confidence_interval()
    assert other.confidence_interval() == pytest.approx((13 - high, 13 - low), abs=1e-9)


def check_more_people(mechanism: Mechanism, draw: st.DataObject, times: int) -> None:
    counts, n = tallies(mechanism, draw)
    one, many = mechanism.estimate(counts, n), mechanism.estimate([times * count for count in counts], times * n)
    assert many.share == pytest.approx(one.share, abs=1e-12)
    assert many.feasible == pytest.approx(one.feasible, abs=1e-5)
    assert [math.sqrt(times) * error for error in many.std_error] == pytest.approx(one.std_error, rel=1e-7, abs=1e-9)


@pytest.mark.fuzz
@pytest.mark.parametrize("mechanism", [*ALIKE, *FROM_BOTH_ENDS], ids=name_of)
@QUICKLY
@given(draw=st.data(), times=st.integers(2, 50))
def test_so_many_times_the_same_people_have_the_same_shares(
    mechanism: Mechanism, draw: st.DataObject, times: int
) -> None:
    check_more_people(mechanism, draw, times)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", [*ALIKE, *FROM_BOTH_ENDS], ids=name_of)
@THOROUGHLY
@given(draw=st.data(), times=st.integers(2, 50))
def test_so_many_times_the_same_people_have_the_same_shares_in_many_tallies(
    mechanism: Mechanism, draw: st.DataObject, times: int
) -> None:
    check_more_people(mechanism, draw, times)
