"""Mechanisms at the ends of what they take, and weights where they round."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from deniable import ParameterError, mechanisms

UNIT = 2**32
HALF = UNIT // 2


def test_mechanisms_at_the_ends_of_what_they_take() -> None:
    assert mechanisms.OneBitMean(0, 2, 1).slope == 1
    assert mechanisms.OneBitMean.from_epsilon(0, 10**6, "0.000468").slope == 1
    assert mechanisms.OneBitMean(0, 1, UNIT - 4).support[1].if_other == Fraction(2, UNIT)
    assert mechanisms.OneBitMean(10**12, 10**12 + 10**6, 2).lo == 10**12
    assert mechanisms.OneBitMean(-(10**12), -(10**12) + 2, 1).lo == -(10**12)
    assert mechanisms.Geometric(0, 2, (HALF - 1, 1)).row(0) == [UNIT - HALF + 1, HALF - 2, 1]
    assert mechanisms.Geometric.from_epsilon(0, 1000, 1).k == 1001
    unbounded = mechanisms.DiscreteLaplace(0, 2, 0, (HALF - 1, 1))
    assert (unbounded.reports, unbounded.tail) == (
        mechanisms.Geometric(0, 2, (HALF - 1, 1)).reports,
        Fraction(HALF - 1, HALF),
    )
    widest = mechanisms.DiscreteLaplace(0, 1, 4000, tuple(range(HALF - 1, HALF - 4002, -1)))
    assert widest.k == 8002
    assert mechanisms.Subset(4, 2, UNIT + 1).inside == UNIT + 1
    assert mechanisms.Subset(4, 2, 10**15 - 1).k == 4
    assert mechanisms.KAry(2, HALF + 1).keep == HALF + 1


def test_what_rounding_up_the_small_forced_answers_takes_is_taken_from_the_largest() -> None:
    for forced in (["0.8", "0.1", "0.1"], ["0.1", "0.8", "0.1"], ["0.1", "0.1", "0.8"]):
        weights = mechanisms.ForcedResponse("1/2", forced).forced
        assert sum(weights) == UNIT
        assert sorted(weights)[:2] == [math.ceil(Fraction(UNIT, 10))] * 2
        assert weights.index(max(weights)) == forced.index("0.8")


def test_nominal_weights_lose_at_most_their_nominal_epsilon() -> None:
    score = [[-abs(x - r) for r in range(4)] for x in range(4)]
    nominal = mechanisms.Exponential.nominal(score, 1)
    assert nominal.epsilon <= 1
    assert nominal.epsilon == pytest.approx(0.5, abs=0.1)
    # P(r|x) ~ exp(epsilon score / (2 sensitivity)), the sensitivity being 3
    first = [math.exp(-r / 6) for r in range(4)]
    assert nominal.row(0) == pytest.approx([UNIT * each / sum(first) for each in first], rel=1e-6)


def test_reports_that_nominal_weights_all_but_exclude_keep_a_weight_of_1() -> None:
    assert mechanisms.Exponential.nominal([[0, -1000], [0, -999]], 1).weights == ((UNIT - 1, 1),) * 2


def test_waves_lose_less_than_the_permanent_value_or_are_refused() -> None:
    for wave_epsilon in ("0", "-1", "1", "1.5"):
        with pytest.raises(ParameterError, match=r"^wave_epsilon: must be above 0 and below epsilon = "):
            mechanisms.Longitudinal.from_epsilon(3, 1, wave_epsilon)
    waves = mechanisms.Longitudinal.from_epsilon(3, 1, "0.999")
    assert waves.wave_likelihood_ratio < waves.likelihood_ratio


def test_slopes_of_means_are_even_over_the_range_and_as_steep_as_epsilon_allows() -> None:
    for lo, hi, epsilon in ((0, 3, 1), (5, 12, "0.5"), (-4, 5, 2), (0, 1, 1)):
        mechanism = mechanisms.OneBitMean.from_epsilon(lo, hi, epsilon)
        assert mechanism.slope * (hi - lo) % 2 == 0
        steeper = mechanism.slope + (1 if (hi - lo) % 2 == 0 else 2)
        assert mechanisms.OneBitMean(lo, hi, steeper).epsilon > float(Fraction(str(epsilon)))


def test_boxes_are_at_most_256_and_reported_as_they_are_more_often_than_not() -> None:
    ways: list[Callable[[int], mechanisms.TickBoxes]] = [
        lambda k: mechanisms.TickBoxes(k, "3/4"),
        lambda k: mechanisms.TickBoxes.from_epsilon(k, 4),
    ]
    for make in ways:
        assert make(256).k == 256
        with pytest.raises(ParameterError, match=r"^k: must be at most 256 options, got 257$"):
            make(257)
    with pytest.raises(ParameterError, match=r"^keep: must be above 1/2, got 1/2$"):
        mechanisms.TickBoxes(3, "1/2")
    with pytest.raises(ParameterError, match=r"^keep: must be above 1/2, got 2/5$"):
        mechanisms.TickBoxes(3, "2/5")
    with pytest.raises(ParameterError, match=r"^keep: is too close to 0 or 1"):
        mechanisms.TickBoxes(3, "1e-10")
    with pytest.raises(ParameterError, match=r"^256 boxes: 32-bit weights give epsilon "):
        mechanisms.TickBoxes.from_epsilon(256, "3e-6")


def test_subsets_hold_the_truth_up_to_the_published_weight() -> None:
    mechanism = mechanisms.Subset(4, 2, 3 * UNIT)
    with_truth, without = 3, 3  # subsets of the other three: one more of them, or two
    total = with_truth * mechanism.inside + without * UNIT
    last = with_truth * mechanism.inside - 1

    def report(draw: int) -> str:
        words = iter((draw % UNIT, draw // UNIT))
        return mechanism.randomize(1, lambda: next(words))

    assert total < 2**64
    assert report(last)[1] == "1"
    assert report(last + 1)[1] == "0"
    assert report(total - 1)[1] == "0"
