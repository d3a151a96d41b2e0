"""Mechanisms whose report is drawn from a row of weights: ratios, supports and scores against their definitions."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest

from deniable import (
    Exponential,
    FilteredPiecewise,
    Geometric,
    KAry,
    Mechanism,
    OneBitMean,
    ParameterError,
    Piecewise,
    TickBoxes,
)
from deniable.exact import Number, exp_below
from deniable.mechanisms import DiscreteLaplace
from deniable.mechanisms.row_mechanism import RowMechanism, calibrate, check_rows
from deniable.randomness import UNIT
from deniable_statistics.designs.of_mechanisms import design_of

MAKERS: dict[str, Callable[[], RowMechanism]] = {
    "geometric": lambda: Geometric.from_epsilon(0, 4, 1),
    "geometric of two": lambda: Geometric.from_epsilon(0, 1, 2),
    "exponential": lambda: Exponential.calibrated([[0, -1, -2], [-1, 0, -1], [-2, -1, 0]], 2),
    "discrete laplace": lambda: DiscreteLaplace.from_epsilon(0, 3, 2),
    "piecewise": lambda: Piecewise.from_epsilon(0, 10, 2),
    "filtered piecewise": lambda: FilteredPiecewise.from_epsilon(0, 10, 2),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_likelihood_ratio_is_the_largest_of_all_pairs_of_answers(make: Callable[[], RowMechanism]) -> None:
    mechanism = make()
    pairs = (Fraction(one, other) for column in zip(*mechanism.rows, strict=True) for one in column for other in column)
    assert mechanism.likelihood_ratio == max(pairs)
    assert mechanism.likelihood_ratio > 2


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_report_supports_an_option_as_often_as_its_weight_says(make: Callable[[], RowMechanism]) -> None:
    mechanism = make()
    matrix = list(zip(*design_of(mechanism).channel_matrix, strict=True))
    for answer, column in zip(mechanism.answer_range, matrix, strict=True):
        assert design_of(mechanism).supported(answer) == list(column)
        assert sum(column) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda lo, hi: Geometric.from_epsilon(lo, hi, 1),
        lambda lo, hi: DiscreteLaplace.from_epsilon(lo, hi, 2),
        lambda lo, hi: OneBitMean.from_epsilon(lo, hi, 1),
        lambda lo, hi: Piecewise.from_epsilon(lo, hi, 2),
        lambda lo, hi: FilteredPiecewise.from_epsilon(lo, hi, 2),
    ],
)
def test_a_range_has_the_same_noise_wherever_it_lies(make: Callable[[int, int], Mechanism]) -> None:
    here, there = make(0, 9), make(50, 59)
    assert list(there.answer_range) == [50 + answer for answer in here.answer_range]
    assert design_of(there).exact_channels == design_of(here).exact_channels
    assert there.likelihood_ratio == here.likelihood_ratio


@pytest.mark.parametrize("answer", range(11))
def test_one_bit_supports_as_often_as_words_make_it(answer: int) -> None:
    mechanism = OneBitMean.from_epsilon(0, 10, 1)
    ones = bisect.bisect(range(UNIT), False, key=lambda word: not mechanism.randomize(answer, lambda: word))
    assert design_of(mechanism).supported(answer) == [1 - Fraction(ones, UNIT), Fraction(ones, UNIT)]


def test_one_of_k_supports_the_truth_more_often_than_any_other() -> None:
    mechanism = KAry.from_epsilon(4, 1)
    for answer, column in enumerate(zip(*design_of(mechanism).channel_matrix, strict=True)):
        assert design_of(mechanism).supported(answer) == list(column)
        assert max(column) == column[answer] > min(column)


def test_each_box_is_supported_as_often_as_its_coin_shows_it() -> None:
    boxes = design_of(TickBoxes(3, "3/4"))
    kept, turned = Fraction(3, 4), Fraction(1, 4)
    assert boxes.supported([0, 2]) == [kept, turned, kept]
    assert boxes.supported([]) == [turned, turned, turned]


def test_the_exponential_mechanism_sends_near_numbers_oftener() -> None:
    mechanism = Exponential.for_answers(range(5), 2)
    for answer, row in enumerate(mechanism.rows):
        assert sorted(range(5), key=lambda report: -row[report])[0] == answer
        assert all(row[answer + 1 :][i] >= row[answer + 2 :][i] for i in range(3 - answer))
    assert 0.99 * 2 < mechanism.epsilon <= 2


@pytest.mark.parametrize("knots", [(0, 4), (0, 3, 10), (0, 2, 5, 9)])
def test_scores_give_every_value_at_the_knots_without_bias(knots: tuple[int, ...]) -> None:
    """Of as many reports as knots, and of one more."""
    for more in (0, 1):
        size = len(knots) + more
        rows = [[5**8 if place == knot else 5**7 for place in range(size)] for knot in range(len(knots))]
        rows = [[*row[:-1], UNIT - sum(row[:-1])] for row in rows]
        gaps = [after - before for before, after in itertools.pairwise(knots)]
        spread = 2 * 3 * 4 * 5 * 7 * 11  # of which each gap is a divisor
        rows = [[spread * (each // spread) for each in row[:-1]] for row in rows]
        rows = [[*row, UNIT - sum(row)] for row in rows]
        slopes = tuple(
            tuple((there - here) // gap for here, there in zip(before, after, strict=True))
            for before, after, gap in zip(rows, rows[1:], gaps, strict=False)
        )
        mechanism = Piecewise(knots, tuple(rows[0]), slopes)
        assert list(map(list, mechanism.extreme_rows)) == rows
        for values in (knots, [3 * knot**2 + Fraction(1, 7) for knot in knots]):
            scores = design_of(mechanism).scores(values)
            found = [sum(score * weight for score, weight in zip(scores, row, strict=True)) / UNIT for row in rows]
            assert found == list(values)


def test_rows_that_do_not_add_up_are_refused() -> None:
    check_rows([(2**31, 2**31)])
    with pytest.raises(ValueError, match=f"every row must add up to 2\\*\\*32, one adds up to {UNIT - 1}$"):
        check_rows([(2**31, 2**31), (2**31, 2**31 - 1)])
    with pytest.raises(ValueError, match="weights: must all be above 0: an impossible report is infinite epsilon"):
        check_rows([(UNIT, 0)])


class Rows(RowMechanism):
    """Given rows of two reports; it counts how often all of them were compared."""

    compared = 0

    def __init__(self, *rows: list[int]) -> None:
        self.given = rows

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Rows:
        return cls(*([1, 1] for _ in answers))

    @property
    def answer_range(self) -> range:
        return range(len(self.given))

    @property
    def report_range(self) -> range:
        return range(2)

    def row(self, answer: int) -> list[int]:
        return self.given[answer]

    @property
    def likelihood_ratio(self) -> Fraction:
        Rows.compared += 1
        return super().likelihood_ratio


def losing(least: Fraction, lost: list[Fraction]) -> Callable[[Fraction], Rows]:
    """A maker of rows whose ends exceed epsilon 1 until the nominal one is lower by ``least``; it notes its losses."""
    large = 10**30  # so that no weight is rounded

    def make(nominal: Fraction) -> Rows:
        lost.append(1 - nominal)
        ratio = exp_below(Fraction(1)) * (nominal + least)
        return Rows([int(ratio * large), large], [3 * large // 2, large], [large, large])

    return make


@pytest.mark.parametrize("least", ["0", "3e-10", "1e-9", "3.1e-9", "4.1e-9", "1e-6", "0.003"])
def test_calibration_gives_away_at_most_twice_what_it_must(least: str) -> None:
    lost: list[Fraction] = []
    calibrate(losing(Fraction(least), lost), Fraction(1))
    assert Fraction(least) <= lost[-1] <= max(2 * Fraction(least), Fraction("1e-9") if Fraction(least) else 0)


def test_calibration_gives_up_where_more_than_a_hundredth_would_be_lost() -> None:
    lost: list[Fraction] = []
    with pytest.raises(ParameterError, match=r"^epsilon: 1 cannot be held by 32-bit weights over this range"):
        calibrate(losing(Fraction("0.02"), lost), Fraction(1))
    # From 1e-9 on, losses that double pass a hundredth after 24 steps.
    assert len(lost) == 25
    assert Fraction("0.005") < lost[-1] < Fraction("0.01")


def test_calibration_compares_all_rows_only_where_those_of_both_ends_pass() -> None:
    lost: list[Fraction] = []
    Rows.compared = 0
    calibrate(losing(Fraction("1e-6"), lost), Fraction(1))
    assert len(lost) > 1
    assert Rows.compared == 1


def test_calibration_refuses_a_row_between_the_ends_that_passes_the_bound() -> None:
    with pytest.raises(ParameterError, match=r"^epsilon: 1 cannot be held by 32-bit weights over this range"):
        calibrate(lambda nominal: Rows([1, 1], [3, 1], [1, 1]), Fraction(1))


def test_calibration_takes_a_ratio_of_exactly_the_bound() -> None:
    bound = exp_below(Fraction(1))
    exactly = Rows([bound.numerator, 1], [bound.denominator, 1], [bound.denominator, 1])
    assert calibrate(lambda nominal: exactly, Fraction(1)) is exactly


def test_an_exponential_mechanism_keeps_epsilon_where_rounding_passes_it_at_once() -> None:
    """With 64 reports the nominal epsilon is nearly the real one, and their weights are whole numbers."""
    score = [[0] + [-1] * 63, *([[-1] + [0] * 63] * 63)]
    assert 0.99 * 9e-6 <= Exponential.calibrated(score, "9e-6").epsilon <= 9e-6


@pytest.mark.parametrize("epsilon", ["1", "1.2", "1.5"])
def test_an_exponential_mechanism_is_found_where_its_epsilon_falls_again(epsilon: str) -> None:
    """The rarer report of one answer gets the weight 1 first, and from there on both answers grow alike again."""
    mechanism = Exponential.calibrated([[0, -10], [0, -9]], epsilon)
    assert 0.99 * float(epsilon) <= mechanism.epsilon <= float(epsilon)


@pytest.mark.parametrize(
    ("hi", "epsilon", "tail"), [(10, 1, "1/100"), (10, 1, "1/1000"), (1, 8, "1/1000"), (3, 2, "1/20"), (100, 4, "1/50")]
)
def test_reports_of_discrete_laplace_reach_as_far_as_the_tail_needs_and_no_further(
    hi: int, epsilon: int, tail: str
) -> None:
    mechanism = DiscreteLaplace.from_epsilon(0, hi, epsilon, tail=tail)
    assert mechanism.tail <= Fraction(tail)
    # How often the noise would pass reports that reach 3 % and two numbers less far.
    nearer = int(mechanism.excess / 1.03) - 2
    assert nearer < 0 or Fraction(2 * mechanism.tails[nearer], UNIT) > Fraction(tail)


def test_reports_of_discrete_laplace_reach_4000_beyond_the_ends_at_most() -> None:
    assert DiscreteLaplace.from_epsilon(0, 50, "0.08809").excess == 4000
    with pytest.raises(ParameterError, match=r"^epsilon: 0\.08807 cannot be held by 32-bit weights over this range"):
        DiscreteLaplace.from_epsilon(0, 50, "0.08807")
