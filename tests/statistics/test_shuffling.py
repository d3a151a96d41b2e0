"""What shuffling is worth: exact for two options, an upper bound for everything else."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from deniable import KAry, ParameterError, Subset, TwoCoin, Warner
from deniable_statistics.designs.channels import channel_of
from deniable_statistics.shuffling import (
    shuffled_epsilon,
    shuffled_of,
    shuffled_two_options,
    total_variation,
)

COIN = channel_of(Warner.from_epsilon(1))


def divergence(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """The larger hockey-stick divergence of two distributions."""
    growth = math.exp(epsilon)
    return max(np.maximum(0, one - growth * other).sum(), np.maximum(0, other - growth * one).sum())


def counts(channel: tuple[tuple[Fraction, ...], ...], n: int, ones: int) -> tuple[np.ndarray, np.ndarray]:
    """How many of n reports say 1 if one person's answer is 0 or 1, and ``ones`` of the others' answers are 1."""
    low, high = map(float, channel[1])
    others = np.convolve(binom.pmf(np.arange(ones + 1), ones, high), binom.pmf(np.arange(n - ones), n - 1 - ones, low))
    return np.convolve(others, [1 - low, low]), np.convolve(others, [1 - high, high])


@pytest.mark.parametrize(("n", "expected"), [(10_000, 0.036), (1_000, 0.127), (200, 0.318), (100, 0.484), (50, 0.749)])
def test_two_options_at_epsilon_1_and_delta_one_in_a_million(n: int, expected: float) -> None:
    assert round(shuffled_two_options(COIN, n, 1e-6), 3) == expected


@pytest.mark.parametrize("mechanism", [Warner.from_epsilon(1), TwoCoin("1/2", "1/4"), Warner.from_epsilon(3)])
def test_two_options_are_the_worst_over_all_answers_of_the_others(mechanism: Warner | TwoCoin) -> None:
    channel, n, delta = channel_of(mechanism), 60, 1e-4  # where the ends are not the worst
    found = shuffled_two_options(channel, n, delta)
    worst = [max(divergence(*counts(channel, n, ones), each) for ones in range(n)) for each in (found, found - 1e-6)]
    assert worst[0] <= delta * (1 + 1e-6)
    assert worst[1] > delta


def pairs(epsilon: float, n: int, variation: float, whole: float) -> tuple[np.ndarray, np.ndarray]:
    """The two distributions of the variation-ratio reduction, one outcome after the other."""
    p = math.exp(epsilon)
    a = variation / (p - 1)
    one: dict[tuple[int, int], float] = defaultdict(float)
    other = one.copy()
    for c in range(n):
        for x in range(c + 1):
            weight = binom.pmf(c, n - 1, 2 * a * p / math.exp(whole)) * binom.pmf(x, c, 0.5)
            for d, e, if_one, if_other in ((1, 0, p * a, a), (0, 1, a, p * a), (0, 0, 1 - a - p * a, 1 - a - p * a)):
                one[x + d, c - x + e] += weight * if_one
                other[x + d, c - x + e] += weight * if_other
    return np.array([*one.values()]), np.array([*other.values()])


@pytest.mark.parametrize(
    ("epsilon", "variation", "whole"), [(1.0, math.tanh(0.5), 1.0), (2.0, 0.5, 2.0), (1.0, 0.2, 2.5)]
)
def test_the_bound_is_that_of_the_pairs(epsilon: float, variation: float, whole: float) -> None:
    n, delta = 20, 1e-2
    found = shuffled_epsilon(epsilon, n, delta, variation, whole)
    both = pairs(epsilon, n, variation, whole)
    assert divergence(*both, found) <= delta * (1 + 1e-9)
    assert found == 0 or divergence(*both, found - 1e-6) > delta


def test_variation_is_that_of_the_reports_themselves() -> None:
    subset = Subset.from_epsilon(k=5, w=2, epsilon=1)
    weights = {0: subset.inside / 2**32, 1: 1.0}
    sets = [(i, j) for i in range(5) for j in range(i)]
    columns = np.array([[weights[answer not in each] for each in sets] for answer in (0, 1)])
    columns /= columns.sum(axis=1, keepdims=True)
    assert total_variation(subset) == pytest.approx(np.abs(columns[0] - columns[1]).sum() / 2)
    four = KAry.from_epsilon(k=4, epsilon=1)
    assert total_variation(four) == pytest.approx((math.e - 1) / (math.e + 3))


def test_more_reports_and_less_of_each_hide_better_and_parts_of_a_report_hide_less() -> None:
    four = KAry.from_epsilon(k=4, epsilon=1)
    left = [shuffled_of(four, n, 1e-6) for n in (1, 50, 200, 1000)]
    assert left == sorted(left, reverse=True)
    assert left[0] == four.epsilon
    alone = shuffled_epsilon(1.0, 1000, 1e-6)
    part = shuffled_epsilon(1.0, 1000, 1e-6, whole=3.0)
    assert alone < part < 1.0
    # With two options the exact figure is below the bound that holds for anything.
    assert shuffled_two_options(COIN, 200, 1e-6) < shuffled_epsilon(1.0, 200, 1e-6)


def test_what_makes_no_sense_is_refused() -> None:
    for arguments in ((1.0, 0, 1e-6), (1.0, 10, 0.0), (1.0, 10, 1e-6, 0.9), (1.0, 10, 1e-6, 0.2, 0.5)):
        with pytest.raises(ParameterError):
            shuffled_epsilon(*arguments)
