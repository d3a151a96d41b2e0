"""Arrays of answers: exactly uniform draws, blocks that meet, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import AnswerError, mechanisms
from deniable.mechanisms import OneOfK, drawn_boxes, subset, tick_boxes
from deniable.mechanisms.arrays import bernoulli, uniform_below

UNIT = 2**32


class Stream:
    """Given words, and how many of them were asked for at a time."""

    def __init__(self, *words: int) -> None:
        self.left = iter(words)
        self.asked: list[int] = []

    def __call__(self, n: int) -> NDArray[np.uint32]:
        self.asked.append(n)
        found = list(itertools.islice(self.left, n))
        assert len(found) == n, "more words than were given"
        return np.array(found, dtype=np.uint32)

    @property
    def is_empty(self) -> bool:
        return next(self.left, None) is None


ONE_WORD: list[OneOfK] = [
    mechanisms.Warner("1/3"),
    mechanisms.KAry.from_epsilon(3, 1),
    mechanisms.KAry.from_epsilon(7, "0.5"),
    mechanisms.Geometric.from_epsilon(-2, 3, 1),
    mechanisms.Exponential.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 1),
    mechanisms.DiscreteLaplace.from_epsilon(1, 4, 2, tail="1/10"),
    mechanisms.OneBitMean.from_epsilon(3, 8, 1),
    mechanisms.Piecewise.from_epsilon(2, 9, 3),
    mechanisms.FilteredPiecewise.from_epsilon(2, 9, 3),
    mechanisms.UnequalKAry((2**28, 2**29, 2**30)),
]
"""Those that draw one word for an answer, alone or in an array."""


def ends_of(mechanism: OneOfK, answer: int) -> list[int]:
    """The words at which the report changes, found by halving, and their neighbours."""

    def report(word: int) -> Any:
        return mechanism.randomize(answer, lambda: word)

    def between(low: int, high: int) -> list[int]:
        if report(low) == report(high) and high - low < UNIT // 64:
            return []
        if high - low == 1:
            return [low, high]
        middle = (low + high) // 2
        return between(low, middle) + between(middle, high)

    return sorted({0, UNIT - 1, *between(0, UNIT - 1)})


@pytest.mark.parametrize("mechanism", ONE_WORD, ids=lambda mechanism: f"{mechanism.name}, {mechanism.k}")
def test_arrays_change_at_the_same_words_as_single_answers(mechanism: OneOfK) -> None:
    for answer in mechanism.answer_range:
        words = ends_of(mechanism, answer)
        single = [mechanism.randomize(answer, lambda word=word: word) for word in words]
        many = mechanism.randomize_many(
            np.full(len(words), answer), lambda n, words=words: np.array(words[:n], dtype=np.uint32)
        )
        assert many.tolist() == single
        assert len(set(single)) > 1


def test_two_coins_fall_on_their_sides_at_the_published_weights() -> None:
    coins = mechanisms.TwoCoin("1/2", "1/3")
    first = (coins.truth - 1, coins.truth, coins.truth, coins.truth)
    second = (coins.yes - 1, coins.yes, coins.yes + 1)
    assert coins.randomize_many([0, 0, 0, 0], Stream(*first, *second)).tolist() == [0, 1, 0, 0]
    assert coins.randomize_many([1, 1, 1, 1], Stream(*first, *second)).tolist() == [1, 1, 0, 0]


def test_ticks_are_turned_over_from_the_published_weight_on() -> None:
    boxes = mechanisms.TickBoxes(3, "3/4")
    words = (boxes.keep - 1, boxes.keep, boxes.keep + 1)
    assert boxes.randomize_many([[1, 1, 1]], Stream(*words)).tolist() == [[1, 0, 0]]
    assert boxes.randomize_many([[0, 0, 0]], Stream(*words)).tolist() == [[0, 1, 1]]


def test_drawn_boxes_of_many_people_are_those_of_one_with_the_same_draws() -> None:
    boxes = mechanisms.DrawnBoxes.from_epsilon(5, 2, 3)
    dice = np.random.default_rng(9)
    answers, ranks, patterns = dice.integers(0, 2, (900, 5)), dice.integers(0, 10, 900), dice.integers(0, UNIT, 900)
    # Arrays take the rank from the high end of a word, single answers from the low one.
    words = Stream(*(ranks * (UNIT // 10) + UNIT // 20).tolist(), *patterns.tolist())
    made = boxes.randomize_many(answers, words)
    assert words.is_empty
    single = [
        boxes.randomize(np.flatnonzero(answer).tolist(), iter(both).__next__)
        for answer, both in zip(answers, zip(ranks.tolist(), patterns.tolist(), strict=True), strict=True)
    ]
    assert ["".join(map(str, row)) for row in made.tolist()] == single
    assert len(set(single)) == 10 * 2**3


def test_large_arrays_are_randomised_block_by_block_and_all_of_them() -> None:
    mechanism = mechanisms.Warner("3/4")
    n = 2**18 + 5
    asked: list[int] = []

    def words(size: int) -> NDArray[np.uint32]:
        asked.append(size)
        return np.zeros(size, dtype=np.uint32) if len(asked) == 1 else np.full(size, UNIT - 1)

    reports = mechanism.randomize_many(np.ones(n, dtype=int), words)
    assert asked == [2**18, 5]
    assert reports.sum() == 2**18  # the first block says the truth, the second one the opposite


def test_words_that_would_make_a_bound_uneven_are_drawn_again_one_by_one() -> None:
    # 2**32 % 6 = 4: a word is thrown away if the lower half of its product with 6 is below 4
    edge = 2 * pow(3, -1, 2**31) % 2**31
    assert edge * 6 % UNIT == 4
    words = Stream(0, 5, UNIT // 2, edge, UNIT - 1, *(0, UNIT // 2, 1), edge + UNIT // 2)
    drawn = uniform_below(6, 5, words)
    assert drawn.tolist() == [0, 0, (edge + UNIT // 2) * 6 // UNIT, edge * 6 // UNIT, 5]
    assert words.asked == [5, 1, 1, 1, 1]
    assert words.is_empty
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("bound", [3, 5, 6, 7, 100, 255])
def test_as_many_words_lead_to_each_number_below_a_bound(bound: int) -> None:
    """Kept words are counted between the ends of their stretches, which lie next to the multiples of 2**32 / bound."""

    def first_kept(value: int) -> int:
        word = -(-value * UNIT // bound)
        while word * bound % UNIT < UNIT % bound:
            word += 1
        return word

    starts = [first_kept(value) for value in range(bound)]
    assert uniform_below(bound, bound, Stream(*starts)).tolist() == list(range(bound))
    sizes = {-(-(value + 1) * UNIT // bound) - start for value, start in enumerate(starts)}
    assert sizes == {UNIT // bound}


def test_bounds_that_divide_evenly_throw_no_word_away() -> None:
    assert uniform_below(4, 4, Stream(0, UNIT // 4, UNIT - 1, UNIT // 4 - 1)).tolist() == [0, 1, 3, 0]
    assert uniform_below(1, 2, Stream(0, UNIT - 1)).tolist() == [0, 0]


def test_a_rational_probability_is_met_in_all_its_digits() -> None:
    digit = 0x55555555  # of 1/3 in base 2**32, for ever
    below, equal, above = (digit - 1, digit), (digit, digit), (digit + 1, digit)
    low, high = (digit, digit - 1), (digit, digit + 1)
    assert bernoulli(4, Fraction(1, 3), Stream(*below, *above, *low, *high)).tolist() == [True, False, True, False]
    decided = {(digit - 1,): True, (digit + 1,): False, (digit, digit, 0): True, (digit, UNIT - 1): False}
    for rest, wanted in decided.items():
        words = Stream(*equal, *rest)
        assert bernoulli(1, Fraction(1, 3), words).tolist() == [wanted]
        assert words.asked == [2, *(1 for _ in rest)]
        assert words.is_empty
    # 1/2 has no further digits, so that nothing is below them.
    assert bernoulli(2, Fraction(1, 2), Stream(UNIT - 1, UNIT // 2 - 1, 0, UNIT // 2, 0, 7)).tolist() == [True, False]


def test_boxes_drawn_boxes_and_subsets_go_on_in_the_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick_boxes, "BLOCK", 4)
    boxes, turned = mechanisms.TickBoxes(3, "3/4"), UNIT - 1
    words = Stream(0, 0, turned, 0, *(turned, turned, 0, 0), turned)
    assert boxes.randomize_many([[1, 0, 1], [1, 0, 0], [1, 1, 0]], words).tolist() == [[1, 0, 0], [1, 1, 1], [1, 1, 1]]
    assert words.asked == [4, 4, 1]
    monkeypatch.setattr(drawn_boxes, "BLOCK", 8)  # three people with four boxes: a row more than the block holds
    drawn = mechanisms.DrawnBoxes.from_epsilon(4, 2, 1)
    # Which of the four boxes, by quarters of the words, then whether it is sent as it is.
    words = Stream(0, UNIT // 4, UNIT - 1, *(0, turned, 0), UNIT // 2, 0, *(turned, 0))
    reports = drawn.randomize_many([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], words)
    assert ["".join(map(str, row)) for row in reports.tolist()] == [
        "01000000",
        "00100000",
        "00000010",
        "00001000",
        "10000000",
    ]
    assert words.asked == [3, 3, 2, 2]
    monkeypatch.setattr(subset, "BLOCK", 9)  # two people with four options
    sets = mechanisms.Subset.from_epsilon(4, 1, 1)
    holds, lacks = (0, 0), (0, turned)
    words = Stream(*holds, *lacks, *[3] * 2, *[3] * 2, *[3] * 2, *holds, *[3] * 3)
    reports = sets.randomize_many([2, 0, 3], words)
    assert reports.tolist() == [[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert words.asked == [4, 2, 2, 2, 2, 1, 1, 1]


def test_members_of_a_subset_are_taken_in_order_and_skip_the_truth() -> None:
    sets, last = mechanisms.Subset.from_epsilon(5, 2, 1), UNIT - 1
    lacks = (last, last)
    for answer, wanted in ((0, "01010"), (1, "10010"), (2, "10010"), (4, "10100")):
        # Of the four others the first and the third: 0 is below what is needed, 2**32 - 1 is not.
        words = Stream(*lacks, 0, last, 0, last)
        made = sets.randomize_many([answer], words)
        assert "".join(map(str, made[0].tolist())) == wanted


def test_forced_answers_change_at_the_published_weights() -> None:
    mechanism = mechanisms.ForcedResponse("1/2", ["1/4", "1/4", "1/2"])
    forced = mechanism.truth
    pairs = [(forced - 1, 0), *((forced, second) for second in (0, UNIT // 4 - 1, UNIT // 4, UNIT // 2 - 1, UNIT // 2))]
    words = Stream(*itertools.chain.from_iterable(pairs))
    assert mechanism.randomize_many([2] * 6, words).tolist() == [2, 0, 0, 1, 1, 2]


@pytest.mark.parametrize("bad", [[0, 3], [0, -1], [0.0], ["a"], [True], [None]])
@pytest.mark.parametrize(
    "make", [lambda: mechanisms.KAry.from_epsilon(3, 1), lambda: mechanisms.Subset.from_epsilon(3, 1, 1)]
)
def test_the_refusal_of_an_array_says_what_is_possible_and_where_it_is_not(
    make: Callable[[], Any], bad: list[object]
) -> None:
    with pytest.raises(AnswerError) as caught:
        make().randomize_many(bad)
    place = (
        "; the first that is not is answers[1]"
        if len(bad) > 1
        else "; of a category of pandas, these are its .cat.codes"
    )
    assert str(caught.value) == f"answers: must all be integers in [0, 3){place}"


def test_the_ends_of_what_is_possible_are_taken() -> None:
    steady = Stream(*[0] * 8)
    assert mechanisms.KAry.from_epsilon(3, 1).randomize_many([0, 2], steady).tolist() == [0, 2]
    assert mechanisms.OneBitMean.from_epsilon(3, 7, 1).randomize_many([3, 7], steady).tolist() == [1, 1]
    assert mechanisms.Warner("3/4").randomize_many([0, 1], steady).tolist() == [0, 1]
