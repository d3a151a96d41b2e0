"""Edges of the mechanisms: arrays draw as single answers do, word for word; constructors name what they refuse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import (
    AnswerError,
    DiscreteLaplace,
    Exponential,
    ForcedResponse,
    Geometric,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    ParameterError,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
)
from deniable.mechanisms import OneOfK, mechanism_from_published

UNIT = 2**32
TOO_FINE = Fraction(3, 2 * UNIT)
"""Between two weights, so that rounding costs a third of it."""

ONE_WORD: list[OneOfK] = [
    Warner("1/3"),
    KAry.from_epsilon(3, 1),
    KAry.from_epsilon(7, "0.5"),
    Geometric.from_epsilon(-2, 3, 1),
    Exponential.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 1),
    DiscreteLaplace.from_epsilon(1, 4, 2, tail="1/10"),
    OneBitMean.from_epsilon(3, 8, 1),
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


def published(**keys: object) -> Mechanism:
    return mechanism_from_published(keys)


def stream(*words: int) -> Callable[[int], NDArray[np.uint32]]:
    """Words as an array asks for them, one after the other."""
    left = iter(words)
    return lambda n: np.array(list(itertools.islice(left, n)), dtype=np.uint32)


def test_two_coins_fall_on_their_sides_at_the_published_weights() -> None:
    coins = TwoCoin("1/2", "1/3")
    first = (coins.truth - 1, coins.truth, coins.truth, coins.truth)
    second = (coins.yes - 1, coins.yes, coins.yes + 1)
    assert coins.randomize_many([0, 0, 0, 0], stream(*first, *second)).tolist() == [0, 1, 0, 0]
    assert coins.randomize_many([1, 1, 1, 1], stream(*first, *second)).tolist() == [1, 1, 0, 0]


def test_ticks_are_turned_over_from_the_published_weight_on() -> None:
    boxes = TickBoxes(3, "3/4")
    words = (boxes.keep - 1, boxes.keep, boxes.keep + 1)
    assert boxes.randomize_many([[1, 1, 1]], stream(*words)).tolist() == [[1, 0, 0]]
    assert boxes.randomize_many([[0, 0, 0]], stream(*words)).tolist() == [[0, 1, 1]]


def test_large_arrays_are_randomised_block_by_block_and_all_of_them() -> None:
    mechanism = Warner("3/4")
    n = 2**18 + 5
    asked: list[int] = []

    def words(size: int) -> NDArray[np.uint32]:
        asked.append(size)
        return np.zeros(size, dtype=np.uint32) if len(asked) == 1 else np.full(size, UNIT - 1)

    reports = mechanism.randomize_many(np.ones(n, dtype=int), words)
    assert asked == [2**18, 5]
    assert reports.sum() == 2**18  # the first block says the truth, the second one the opposite


HALF = UNIT // 2

REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "two-coin truth": ("truth: must be a number", lambda: TwoCoin("x")),
    "two-coin yes": ("yes: must be a number", lambda: TwoCoin("1/2", "x")),
    "two-coin truth, too near": ("truth: is too close to 0 or 1", lambda: TwoCoin("1e-10")),
    "two-coin yes, too near": ("yes: is too close to 0 or 1", lambda: TwoCoin("1/2", "1e-12")),
    "two-coin, costly": ("two coins: 32-bit weights give epsilon ", lambda: TwoCoin("13e-10")),
    "two-coin, costly first coin": ("two coins: 32-bit weights give epsilon ", lambda: TwoCoin(1 - TOO_FINE)),
    "two-coin, costly second coin": ("two coins: 32-bit weights give epsilon ", lambda: TwoCoin("1/2", TOO_FINE)),
    "two-coin, the other way": ("two coins: 32-bit weights give epsilon ", lambda: TwoCoin("1/2", 1 - TOO_FINE)),
    "warner keep": ("keep: must be a number", lambda: Warner("x")),
    "warner keep, too near": ("keep: is too close to 0 or 1", lambda: Warner("1e-10")),
    "warner keep, even": ("keep: must not be 1/2, where every answer gives the same reports", lambda: Warner("1/2")),
    "warner, costly near 1/2": ("Warner's coin: 32-bit weights give", lambda: Warner(Fraction(1, 2) + TOO_FINE)),
    "warner, costly near 0": ("Warner's coin: 32-bit weights give epsilon ", lambda: Warner(TOO_FINE)),
    "warner, costly near 1": ("Warner's coin: 32-bit weights give epsilon ", lambda: Warner(1 - TOO_FINE)),
    "warner epsilon": ("epsilon: must be a number", lambda: Warner.from_epsilon("x")),
    "warner epsilon, tiny": (
        "epsilon: 1e-10 cannot be held by 32-bit weights",
        lambda: Warner.from_epsilon("1e-10"),
    ),
    "warner epsilon, costly": ("Warner's coin: 32-bit weights give", lambda: Warner.from_epsilon("1.4e-9")),
    "k-ary keep": ("keep: must be a number", lambda: KAry(3, "x")),
    "k-ary epsilon": ("epsilon: must be a number", lambda: KAry.from_epsilon(3, "x")),
    "k-ary truth": ("truth: must be a number", lambda: KAry.from_coin(3, "x")),
    "k-ary, costly": ("3 options: 32-bit weights give epsilon ", lambda: KAry.from_coin(3, "21e-10")),
    "forced text": (
        "forced: must be a list of probabilities, one each option, got a string",
        lambda: ForcedResponse("1/2", "1/2"),
    ),
    "forced sum": (
        "forced: must add up to 1, adds up to 0.75",
        lambda: ForcedResponse("1/2", ["1/2", "1/4"]),
    ),
    "forced truth, too near": ("truth: is too close to 0 or 1", lambda: ForcedResponse("1e-10", ["1/2", "1/2"])),
    "forced answers, too near": (
        "forced: is too close to 0 or 1",
        lambda: ForcedResponse("1/2", ["1e-10", "0.9999999999"]),
    ),
    "forced, costly": (
        "2 options: 32-bit weights give epsilon ",
        lambda: ForcedResponse(2 * TOO_FINE - Fraction(1, 10 * UNIT), ["1/2", "1/2"]),
    ),
    "forced, costly near 1": (
        "2 options: 32-bit weights give epsilon ",
        lambda: ForcedResponse(1 - TOO_FINE, ["1/2", "1/2"]),
    ),
    "forced truth": ("truth: must be a number", lambda: ForcedResponse("x", ["1/2", "1/2"])),
    "forced answers": ("forced: must be a number", lambda: ForcedResponse("1/2", ["1/2", "x"])),
    "subset epsilon": ("epsilon: must be a number", lambda: Subset.from_epsilon(4, 2, "x")),
    "ticks keep": ("keep: must be a number", lambda: TickBoxes(3, "x")),
    "ticks epsilon": ("epsilon: must be a number", lambda: TickBoxes.from_epsilon(3, "x")),
    "geometric epsilon": ("epsilon: must be a number", lambda: Geometric.from_epsilon(0, 3, "x")),
    "laplace tail": ("tail: must be a number", lambda: DiscreteLaplace.from_epsilon(0, 3, 1, tail="x")),
    "laplace tail, none": (
        "tail: must be above 0 and below 1, got 0",
        lambda: DiscreteLaplace.from_epsilon(0, 3, 1, tail=0),
    ),
    "laplace tail, all": (
        "tail: must be above 0 and below 1, got 1",
        lambda: DiscreteLaplace.from_epsilon(0, 3, 1, tail=1),
    ),
    "laplace margin": (
        "margin: must be an integer from 0 to 4000, got 4001",
        lambda: DiscreteLaplace(0, 3, 4001, ()),
    ),
    "laplace margin, below": (
        "margin: must be an integer from 0 to 4000, got -1",
        lambda: DiscreteLaplace(0, 3, -1, ()),
    ),
    "laplace margin, text": (
        "margin: must be an integer from 0 to 4000, got a string",
        lambda: DiscreteLaplace(0, 3, "1", ()),  # type: ignore[arg-type]
    ),
    "geometric, fine": (
        "epsilon: 22 cannot be held by 32-bit weights over this range; take fewer levels",
        lambda: Geometric.from_epsilon(0, 1000, 22),
    ),
    "tails, too few": ("tails: must be 2 weights, one for each distance", lambda: Geometric(0, 2, (HALF - 9,))),
    "tails, text": ("tails: must be integers above 0", lambda: Geometric(0, 2, (HALF - 9, "1"))),  # type: ignore[arg-type]
    "tails, half": ("tails: must be integers above 0 and below 2**31", lambda: Geometric(0, 2, (HALF, 5))),
    "tails, nothing": ("tails: must be integers above 0 and below 2**31", lambda: Geometric(0, 2, (5, 0))),
    "tails, level": ("tails: must fall strictly, or some report would be", lambda: Geometric(0, 2, (5, 5))),
    "range, too wide": (
        "range: lo and hi must be integers, hi above lo and at most 1000 apart, got 0 and 1001",
        lambda: Geometric.from_epsilon(0, 1001, 1),
    ),
    "range, text": (
        "range: lo and hi must be integers, hi above lo and at most 1000000 apart, got a string and 5",
        lambda: OneBitMean.from_epsilon("0", 5, 1),  # type: ignore[arg-type]
    ),
    "range, too far": ("range: lo and hi must be integers", lambda: OneBitMean(10**12 + 1, 10**12 + 3, 2)),
    "exponential weights": ("weights: must be a square table, got a string", lambda: Exponential("xx")),  # type: ignore[arg-type]
    "exponential weights, oblong": ("weights: must be a square table, got a tuple", lambda: Exponential(((1, 2),))),
    "exponential weights, 65": ("k: must be at most 64 options, got 65", lambda: Exponential(((1,) * 65,) * 65)),
    "exponential weights, float": (
        "weights: must be integers",
        lambda: Exponential(((UNIT - 1, 1.0), (1, UNIT - 1))),  # type: ignore[arg-type]
    ),
    "exponential weights, none": (
        "weights: must all be above 0: an impossible report is infinite epsilon",
        lambda: Exponential(((UNIT, 0), (1, UNIT - 1))),
    ),
    "exponential weights, sum": (
        f"weights: every row must add up to 2**32, one adds up to {UNIT - 1}",
        lambda: Exponential(((UNIT - 1, 1), (1, UNIT - 2))),
    ),
    "exponential score, 65": (
        "k: must be at most 64 options, got 65",
        lambda: Exponential.calibrated([[-abs(x - r) for r in range(65)] for x in range(65)], 1),
    ),
    "exponential score, oblong": (
        "score: must be a square table, score[x][r] of report r when x is the truth",
        lambda: Exponential.calibrated([[0, 1], [1]], 1),
    ),
    "exponential score, the same": (
        "score: must tell answers apart by more than a constant, or all give the same reports",
        lambda: Exponential.calibrated([[0, 1], [5, 6]], 1),
    ),
    "exponential, costly": (
        "a score of 2 options: 32-bit weights give epsilon ",
        lambda: Exponential.calibrated([[1, 0], [0, 1]], "2.5e-9"),
    ),
    "exponential score": ("score: must be a number", lambda: Exponential.nominal([["x", 1], [1, 0]], 1)),
    "mean slope": (
        "slope: must be a positive integer below 2**32 / 3",
        lambda: OneBitMean(0, 3, 0),
    ),
    "mean slope, steep": ("slope: must be a positive integer below 2**32 / 1", lambda: OneBitMean(0, 1, UNIT - 2)),
    "mean slope, odd": (
        f"slope: times hi - lo = 1 must be even, got {UNIT - 3}",
        lambda: OneBitMean(0, 1, UNIT - 3),
    ),
    "mean epsilon, tiny": (
        "epsilon: 0.0001 over this range cannot be held by 32-bit weights",
        lambda: OneBitMean.from_epsilon(0, 10**6, "0.0001"),
    ),
    "mean, costly": (
        "numbers from 0 to 1000000: 32-bit weights give epsilon ",
        lambda: OneBitMean.from_epsilon(0, 10**6, "0.0006"),
    ),
    "mean epsilon": ("epsilon: must be a number", lambda: OneBitMean.from_epsilon(0, 3, "x")),
    "longitudinal keep": ("keep: must be a number", lambda: Longitudinal(3, "x", "0.9")),
    "longitudinal again": ("again: must be a number", lambda: Longitudinal(3, "0.9", "x")),
    "longitudinal epsilon": ("epsilon: must be a number", lambda: Longitudinal.from_epsilon(3, "x", "0.5")),
    "longitudinal wave, huge": (
        "wave_epsilon: must be above 0 and below epsilon = 1, that of all waves, got 1e+99",
        lambda: Longitudinal.from_epsilon(3, 1, "1e99"),
    ),
    "longitudinal wave, tiny": (
        "wave_epsilon: 1e-10 over 3 options cannot be held by 32-bit weights",
        lambda: Longitudinal.from_epsilon(3, 1, "1e-10"),
    ),
    "longitudinal wave, costly": (
        "one wave of 3 options: 32-bit weights give epsilon ",
        lambda: Longitudinal.from_epsilon(3, 1, "2.2e-9"),
    ),
    "waves": ("waves: must be an integer from 1 to 1000, got 0", lambda: Longitudinal(3, "0.9", "0.8").epsilon_of(0)),
    "published name": ("mechanism: name must be one of ['discrete-laplace', ", lambda: published(name="warners")),
    "published number": ("mechanism: name must be one of ['discrete-laplace', ", lambda: published(name=7)),
    "published nothing": ("mechanism: name must be one of ['discrete-laplace', ", lambda: published(name=[])),
    "published keys": (
        "mechanism warner: must have the keys ['keep', 'name'], got ['hold', 'name']",
        lambda: published(name="warner", hold=3),
    ),
    "published fraction": (
        "mechanism warner: keep must be integers of at most 15 digits, got a fraction",
        lambda: published(name="warner", keep=0.75),
    ),
    "published digits": (
        "mechanism k-ary: k must be integers of at most 15 digits, got a very long number",
        lambda: published(name="k-ary", k=10**15, keep=3 * 2**30),
    ),
    "published list": (
        "mechanism geometric: tails must be integers of at most 15 digits, got a string",
        lambda: published(name="geometric", lo=0, hi=1, tails=["1"]),
    ),
    "longitudinal wave": ("wave_epsilon: must be a number", lambda: Longitudinal.from_epsilon(3, 1, "x")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_named(what: str) -> None:
    sentence, make = REFUSED[what]
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value).startswith(sentence)


def test_mechanisms_at_the_ends_of_what_they_take() -> None:
    assert OneBitMean(0, 2, 1).slope == 1
    assert OneBitMean.from_epsilon(0, 10**6, "0.000468").slope == 1
    assert OneBitMean(0, 1, UNIT - 4).support[1].if_other == Fraction(2, UNIT)
    assert OneBitMean(10**12, 10**12 + 10**6, 2).lo == 10**12
    assert OneBitMean(-(10**12), -(10**12) + 2, 1).lo == -(10**12)
    assert Geometric(0, 2, (HALF - 1, 1)).row(0) == [UNIT - HALF + 1, HALF - 2, 1]
    assert Geometric.from_epsilon(0, 1000, 1).k == 1001
    unbounded = DiscreteLaplace(0, 2, 0, (HALF - 1, 1))
    assert (unbounded.reports, unbounded.tail) == (Geometric(0, 2, (HALF - 1, 1)).reports, Fraction(HALF - 1, HALF))
    widest = DiscreteLaplace(0, 1, 4000, tuple(range(HALF - 1, HALF - 4002, -1)))
    assert widest.k == 8002
    with pytest.raises(ParameterError, match=r"^mechanism warner: keep must be integers of at most 15 digits"):
        published(name="warner", keep=10**15)
    with pytest.raises(ParameterError, match=r"^keep: must be a probability above 0 and below 1"):
        published(name="warner", keep=10**15 - 1)


def test_what_rounding_up_the_small_forced_answers_takes_is_taken_from_the_largest() -> None:
    for forced in (["0.8", "0.1", "0.1"], ["0.1", "0.8", "0.1"], ["0.1", "0.1", "0.8"]):
        weights = ForcedResponse("1/2", forced).forced
        assert sum(weights) == UNIT
        assert sorted(weights)[:2] == [math.ceil(Fraction(UNIT, 10))] * 2
        assert weights.index(max(weights)) == forced.index("0.8")


def test_nominal_weights_lose_at_most_their_nominal_epsilon() -> None:
    score = [[-abs(x - r) for r in range(4)] for x in range(4)]
    nominal = Exponential.nominal(score, 1)
    assert nominal.epsilon <= 1
    assert nominal.epsilon == pytest.approx(0.5, abs=0.1)
    # P(r|x) ~ exp(epsilon score / (2 sensitivity)), the sensitivity being 3
    first = [math.exp(-r / 6) for r in range(4)]
    assert nominal.row(0) == pytest.approx([UNIT * each / sum(first) for each in first], rel=1e-6)


def test_reports_that_nominal_weights_all_but_exclude_keep_a_weight_of_1() -> None:
    assert Exponential.nominal([[0, -1000], [0, -999]], 1).weights == ((UNIT - 1, 1),) * 2


def test_waves_lose_less_than_the_permanent_value_or_are_refused() -> None:
    for wave_epsilon in ("0", "-1", "1", "1.5"):
        with pytest.raises(ParameterError, match=r"^wave_epsilon: must be above 0 and below epsilon = "):
            Longitudinal.from_epsilon(3, 1, wave_epsilon)
    waves = Longitudinal.from_epsilon(3, 1, "0.999")
    assert waves.wave_likelihood_ratio < waves.likelihood_ratio


def test_slopes_of_means_are_even_over_the_range_and_as_steep_as_epsilon_allows() -> None:
    for lo, hi, epsilon in ((0, 3, 1), (5, 12, "0.5"), (-4, 5, 2), (0, 1, 1)):
        mechanism = OneBitMean.from_epsilon(lo, hi, epsilon)
        assert mechanism.slope * (hi - lo) % 2 == 0
        steeper = mechanism.slope + (1 if (hi - lo) % 2 == 0 else 2)
        assert OneBitMean(lo, hi, steeper).epsilon > float(Fraction(str(epsilon)))


def test_boxes_are_at_most_256_and_reported_as_they_are_more_often_than_not() -> None:
    ways: list[Callable[[int], TickBoxes]] = [
        lambda k: TickBoxes(k, "3/4"),
        lambda k: TickBoxes.from_epsilon(k, 4),
    ]
    for make in ways:
        assert make(256).k == 256
        with pytest.raises(ParameterError, match=r"^k: must be at most 256 options, got 257$"):
            make(257)
    with pytest.raises(ParameterError, match=r"^keep: must be above 1/2, got 1/2$"):
        TickBoxes(3, "1/2")
    with pytest.raises(ParameterError, match=r"^keep: must be above 1/2, got 2/5$"):
        TickBoxes(3, "2/5")
    with pytest.raises(ParameterError, match=r"^keep: is too close to 0 or 1"):
        TickBoxes(3, "1e-10")
    with pytest.raises(ParameterError, match=r"^256 boxes: 32-bit weights give epsilon "):
        TickBoxes.from_epsilon(256, "3e-6")


@pytest.mark.parametrize("answers", [[0, 1], [[0, 1]], [[0.0, 1.0, 1.0]], [[0, 1, 2]], [[0, -1, 1]], [["a", "b", "c"]]])
def test_rows_that_are_no_ticks_are_refused(answers: Any) -> None:
    with pytest.raises(AnswerError, match=r"^answers: must be rows of 3 numbers 0 or 1$"):
        TickBoxes(3, "3/4").randomize_many(answers)
    assert TickBoxes(3, "3/4").randomize_many([[True, False, True]]).shape == (1, 3)


def test_subsets_hold_the_truth_up_to_the_published_weight() -> None:
    mechanism = Subset(4, 2, 3 * UNIT)
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


@pytest.mark.parametrize(
    ("sentence", "make"),
    [
        ("w: must be an integer in [1, k = 4), got ", lambda: Subset(4, 4, 2**33)),
        ("w: must be an integer in [1, k = 4), got ", lambda: Subset(4, 0, 2**33)),
        ("inside: must be an integer above 2**32 and below 10**15, got ", lambda: Subset(4, 2, UNIT)),
        ("inside: must be an integer above 2**32 and below 10**15, got ", lambda: Subset(4, 2, 10**15)),
        ("epsilon: must be above 1e-9 and at most 12 for subsets, got 13", lambda: Subset.from_epsilon(4, 2, 13)),
        ("k: must be at most 256 options, got 257", lambda: Subset.from_epsilon(257, 2, 1)),
    ],
)
def test_subsets_that_cannot_be_are_refused(sentence: str, make: Callable[[], object]) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value).startswith(sentence)
    assert Subset(4, 2, UNIT + 1).inside == UNIT + 1
    assert Subset(4, 2, 10**15 - 1).k == 4
