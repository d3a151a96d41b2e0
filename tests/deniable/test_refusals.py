"""What makes no mechanism, no answer and no report is refused by a sentence: subject, expectation, what came."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from deniable import AnswerError, Mechanism, ParameterError, ReportError, mechanisms
from deniable.mechanisms import mechanism_from_published

UNIT = 2**32
HALF = UNIT // 2
TOO_FINE = Fraction(3, 2 * UNIT)
"""Between two weights, so that rounding costs a third of it."""


def published(**keys: object) -> Mechanism:
    return mechanism_from_published(keys)


FILTERED: dict[str, Any] = {
    "name": "filtered-piecewise",
    "knots": [18, 26],
    "weights": [HALF, HALF // 2, HALF // 2],
    "slopes": [[-(2**27), 2**27, 0]],
    "others": [HALF // 2, HALF // 2, HALF],
}


REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "two-coin truth": ("truth: must be a number", lambda: mechanisms.TwoCoin("x")),
    "two-coin yes": ("yes: must be a number", lambda: mechanisms.TwoCoin("1/2", "x")),
    "two-coin truth, too near": ("truth: is too close to 0 or 1", lambda: mechanisms.TwoCoin("1e-10")),
    "two-coin yes, too near": ("yes: is too close to 0 or 1", lambda: mechanisms.TwoCoin("1/2", "1e-12")),
    "two-coin, costly": ("two coins: 32-bit weights give epsilon ", lambda: mechanisms.TwoCoin("13e-10")),
    "two-coin, costly first coin": (
        "two coins: 32-bit weights give epsilon ",
        lambda: mechanisms.TwoCoin(1 - TOO_FINE),
    ),
    "two-coin, costly second coin": (
        "two coins: 32-bit weights give epsilon ",
        lambda: mechanisms.TwoCoin("1/2", TOO_FINE),
    ),
    "two-coin, the other way": (
        "two coins: 32-bit weights give epsilon ",
        lambda: mechanisms.TwoCoin("1/2", 1 - TOO_FINE),
    ),
    "warner keep": ("keep: must be a number", lambda: mechanisms.Warner("x")),
    "warner keep, too near": ("keep: is too close to 0 or 1", lambda: mechanisms.Warner("1e-10")),
    "warner keep, even": (
        "keep: must not be 1/2, where every answer gives the same reports",
        lambda: mechanisms.Warner("1/2"),
    ),
    "warner, costly near 1/2": (
        "Warner's coin: 32-bit weights give",
        lambda: mechanisms.Warner(Fraction(1, 2) + TOO_FINE),
    ),
    "warner, costly near 0": ("Warner's coin: 32-bit weights give epsilon ", lambda: mechanisms.Warner(TOO_FINE)),
    "warner, costly near 1": ("Warner's coin: 32-bit weights give epsilon ", lambda: mechanisms.Warner(1 - TOO_FINE)),
    "warner epsilon": ("epsilon: must be a number", lambda: mechanisms.Warner.from_epsilon("x")),
    "warner epsilon, tiny": (
        "epsilon: 1e-10 cannot be held by 32-bit weights",
        lambda: mechanisms.Warner.from_epsilon("1e-10"),
    ),
    "warner epsilon, costly": ("Warner's coin: 32-bit weights give", lambda: mechanisms.Warner.from_epsilon("1.4e-9")),
    "k-ary k": ("k: must be an integer of at least 2, got 1", lambda: mechanisms.KAry(1, "1/2")),
    "k-ary k, text": ("k: must be an integer of at least 2, got a string", lambda: mechanisms.KAry("3", "1/2")),  # type: ignore[arg-type]
    "k-ary keep, uneven": (
        "keep: 2**32 - keep must divide by k - 1 = 3, got 2863311530",
        lambda: mechanisms.KAry(4, 2863311530),
    ),
    "k-ary keep, small": (
        "keep: must exceed the probability of each other option, 1/4 or less, got 1/8",
        lambda: mechanisms.KAry(4, "1/8"),
    ),
    "k-ary keep, costly": (
        "3 options: 32-bit weights give epsilon ",
        lambda: mechanisms.KAry(3, 1 - 2 * TOO_FINE + TOO_FINE / 2),
    ),
    "k-ary epsilon, tiny": (
        "epsilon: 1e-11 over 4 options cannot be held by 32-bit weights",
        lambda: mechanisms.KAry.from_epsilon(4, "1e-11"),
    ),
    "k-ary epsilon, costly": (
        "4 options: 32-bit weights give epsilon ",
        lambda: mechanisms.KAry.from_epsilon(4, "21.9"),
    ),
    "k-ary keep": ("keep: must be a number", lambda: mechanisms.KAry(3, "x")),
    "k-ary epsilon": ("epsilon: must be a number", lambda: mechanisms.KAry.from_epsilon(3, "x")),
    "k-ary truth": ("truth: must be a number", lambda: mechanisms.KAry.from_coin(3, "x")),
    "k-ary, costly": ("3 options: 32-bit weights give epsilon ", lambda: mechanisms.KAry.from_coin(3, "21e-10")),
    "forced text": (
        "forced: must be a list of probabilities, one each option, got a string",
        lambda: mechanisms.ForcedResponse("1/2", "1/2"),
    ),
    "forced sum": (
        "forced: must add up to 1, adds up to 0.75",
        lambda: mechanisms.ForcedResponse("1/2", ["1/2", "1/4"]),
    ),
    "forced truth, too near": (
        "truth: is too close to 0 or 1",
        lambda: mechanisms.ForcedResponse("1e-10", ["1/2", "1/2"]),
    ),
    "forced answers, too near": (
        "forced: is too close to 0 or 1",
        lambda: mechanisms.ForcedResponse("1/2", ["1e-10", "0.9999999999"]),
    ),
    "forced, costly": (
        "2 options: 32-bit weights give epsilon ",
        lambda: mechanisms.ForcedResponse(2 * TOO_FINE - Fraction(1, 10 * UNIT), ["1/2", "1/2"]),
    ),
    "forced, costly near 1": (
        "2 options: 32-bit weights give epsilon ",
        lambda: mechanisms.ForcedResponse(1 - TOO_FINE, ["1/2", "1/2"]),
    ),
    "forced truth": ("truth: must be a number", lambda: mechanisms.ForcedResponse("x", ["1/2", "1/2"])),
    "forced answers": ("forced: must be a number", lambda: mechanisms.ForcedResponse("1/2", ["1/2", "x"])),
    "subset epsilon, large": (
        "epsilon: must be above 1e-9 and at most 12 for subsets, got 13",
        lambda: mechanisms.Subset.from_epsilon(4, 2, 13),
    ),
    "subset w": ("w: must be an integer in [1, k = 4), got 4", lambda: mechanisms.Subset(4, 4, 2**33)),
    "subset w, none": ("w: must be an integer in [1, k = 4), got 0", lambda: mechanisms.Subset(4, 0, 2**33)),
    "subset inside": (
        "inside: must be an integer above 2**32 and below 10**15, got 4294967296",
        lambda: mechanisms.Subset(4, 2, UNIT),
    ),
    "subset inside, large": (
        "inside: must be an integer above 2**32 and below 10**15, got a very long number",
        lambda: mechanisms.Subset(4, 2, 10**15),
    ),
    "subset, 257": ("k: must be at most 256 options, got 257", lambda: mechanisms.Subset.from_epsilon(257, 2, 1)),
    "subset, costly": (
        "subsets of 2 out of 4: 32-bit weights give epsilon ",
        lambda: mechanisms.Subset.from_epsilon(4, 2, "3e-10"),
    ),
    "subset epsilon": ("epsilon: must be a number", lambda: mechanisms.Subset.from_epsilon(4, 2, "x")),
    "subset epsilon, tiny": (
        "epsilon: must be above 1e-9 and at most 12 for subsets, got 1e-10",
        lambda: mechanisms.Subset.from_epsilon(4, 2, "1e-10"),
    ),
    "ticks keep": ("keep: must be a number", lambda: mechanisms.TickBoxes(3, "x")),
    "ticks epsilon": ("epsilon: must be a number", lambda: mechanisms.TickBoxes.from_epsilon(3, "x")),
    "ticks, 257 and no epsilon": (
        "k: must be at most 256 options, got 257",
        lambda: mechanisms.TickBoxes.from_epsilon(257, 0),
    ),
    "drawn boxes, 257": (
        "k: must be at most 256 options, got 257",
        lambda: mechanisms.DrawnBoxes.from_epsilon(257, 1, 257),
    ),
    "drawn boxes s": (
        "s: must be an integer in [1, 4], got 5",
        lambda: mechanisms.DrawnBoxes(4, 5, 3 * 2**30),
    ),
    "drawn boxes s, text": (
        "s: must be an integer in [1, 8], got a string",
        lambda: mechanisms.DrawnBoxes.from_epsilon(20, 1, "3"),  # type: ignore[arg-type]
    ),
    "drawn boxes keep": (
        "keep: must be an integer above 1 and below 2**32, got 1",
        lambda: mechanisms.DrawnBoxes(4, 1, 1),
    ),
    "drawn boxes keep, text": (
        "keep: must be an integer above 1 and below 2**32, got a string",
        lambda: mechanisms.DrawnBoxes(4, 1, "1/2"),  # type: ignore[arg-type]
    ),
    "drawn boxes keep, small": (
        "keep: must exceed the probability of each other option, 1/2 or less, got 2",
        lambda: mechanisms.DrawnBoxes(4, 1, 2),
    ),
    "geometric epsilon": ("epsilon: must be a number", lambda: mechanisms.Geometric.from_epsilon(0, 3, "x")),
    "laplace tail": ("tail: must be a number", lambda: mechanisms.DiscreteLaplace.from_epsilon(0, 3, 1, tail="x")),
    "laplace tail, none": (
        "tail: must be above 0 and below 1, got 0",
        lambda: mechanisms.DiscreteLaplace.from_epsilon(0, 3, 1, tail=0),
    ),
    "laplace tail, all": (
        "tail: must be above 0 and below 1, got 1",
        lambda: mechanisms.DiscreteLaplace.from_epsilon(0, 3, 1, tail=1),
    ),
    "laplace excess": (
        "excess: must be an integer from 0 to 4000, got 4001",
        lambda: mechanisms.DiscreteLaplace(0, 3, 4001, ()),
    ),
    "laplace excess, below": (
        "excess: must be an integer from 0 to 4000, got -1",
        lambda: mechanisms.DiscreteLaplace(0, 3, -1, ()),
    ),
    "laplace excess, text": (
        "excess: must be an integer from 0 to 4000, got a string",
        lambda: mechanisms.DiscreteLaplace(0, 3, "1", ()),  # type: ignore[arg-type]
    ),
    "geometric, fine": (
        "epsilon: 22 cannot be held by 32-bit weights over this range; take fewer levels",
        lambda: mechanisms.Geometric.from_epsilon(0, 1000, 22),
    ),
    "tails, too few": (
        "tails: must be 2 weights, one for each distance",
        lambda: mechanisms.Geometric(0, 2, (HALF - 9,)),
    ),
    "tails, text": ("tails: must be integers above 0", lambda: mechanisms.Geometric(0, 2, (HALF - 9, "1"))),  # type: ignore[arg-type]
    "tails, half": ("tails: must be integers above 0 and below 2**31", lambda: mechanisms.Geometric(0, 2, (HALF, 5))),
    "tails, nothing": ("tails: must be integers above 0 and below 2**31", lambda: mechanisms.Geometric(0, 2, (5, 0))),
    "tails, level": ("tails: must fall strictly, or some report would be", lambda: mechanisms.Geometric(0, 2, (5, 5))),
    "range, too wide": (
        "range: lo and hi must be integers, hi above lo and at most 1000 apart, got 0 and 1001",
        lambda: mechanisms.Geometric.from_epsilon(0, 1001, 1),
    ),
    "range, text": (
        "range: lo and hi must be integers, hi above lo and at most 1000000 apart, got a string and 5",
        lambda: mechanisms.OneBitMean.from_epsilon("0", 5, 1),  # type: ignore[arg-type]
    ),
    "range, too far": ("range: lo and hi must be integers", lambda: mechanisms.OneBitMean(10**12 + 1, 10**12 + 3, 2)),
    "exponential weights": ("weights: must be a square table, got a string", lambda: mechanisms.Exponential("xx")),  # type: ignore[arg-type]
    "exponential weights, oblong": (
        "weights: must be a square table, got a tuple",
        lambda: mechanisms.Exponential(((1, 2),)),
    ),
    "exponential weights, 65": (
        "k: must be at most 64 options, got 65",
        lambda: mechanisms.Exponential(((1,) * 65,) * 65),
    ),
    "exponential weights, float": (
        "weights: must be integers",
        lambda: mechanisms.Exponential(((UNIT - 1, 1.0), (1, UNIT - 1))),  # type: ignore[arg-type]
    ),
    "exponential weights, none": (
        "weights: must all be above 0: an impossible report is infinite epsilon",
        lambda: mechanisms.Exponential(((UNIT, 0), (1, UNIT - 1))),
    ),
    "exponential weights, sum": (
        f"weights: every row must add up to 2**32, one adds up to {UNIT - 1}",
        lambda: mechanisms.Exponential(((UNIT - 1, 1), (1, UNIT - 2))),
    ),
    "exponential score, 65": (
        "k: must be at most 64 options, got 65",
        lambda: mechanisms.Exponential.calibrated([[-abs(x - r) for r in range(65)] for x in range(65)], 1),
    ),
    "exponential score, 65 alike": (
        "k: must be at most 64 options, got 65",
        lambda: mechanisms.Exponential.calibrated([[0] * 65] * 65, 1),
    ),
    "exponential score, one": (
        "k: must be an integer of at least 2, got 1",
        lambda: mechanisms.Exponential.calibrated([[0]], 1),
    ),
    "exponential score, hardly different": (
        "epsilon: 1 cannot be held by 32-bit weights with this score",
        lambda: mechanisms.Exponential.calibrated([[0, -1000], [0, -999]], 1),
    ),
    "exponential score, oblong": (
        "score: must be a square table, score[x][r] of report r when x is the truth",
        lambda: mechanisms.Exponential.calibrated([[0, 1], [1]], 1),
    ),
    "exponential score, the same": (
        "score: must tell answers apart by more than a constant, or all give the same reports",
        lambda: mechanisms.Exponential.calibrated([[0, 1], [5, 6]], 1),
    ),
    "exponential, costly": (
        "a score of 2 options: 32-bit weights give epsilon ",
        lambda: mechanisms.Exponential.calibrated([[1, 0], [0, 1]], "2.5e-9"),
    ),
    "exponential score": ("score: must be a number", lambda: mechanisms.Exponential.nominal([["x", 1], [1, 0]], 1)),
    "mean slope": (
        "slope: must be a positive integer below 2**32 / 3",
        lambda: mechanisms.OneBitMean(0, 3, 0),
    ),
    "mean slope, steep": (
        "slope: must be a positive integer below 2**32 / 1",
        lambda: mechanisms.OneBitMean(0, 1, UNIT - 2),
    ),
    "mean slope, odd": (
        f"slope: times hi - lo = 1 must be even, got {UNIT - 3}",
        lambda: mechanisms.OneBitMean(0, 1, UNIT - 3),
    ),
    "mean epsilon, tiny": (
        "epsilon: 0.0001 over this range cannot be held by 32-bit weights",
        lambda: mechanisms.OneBitMean.from_epsilon(0, 10**6, "0.0001"),
    ),
    "mean, costly": (
        "numbers from 0 to 1000000: 32-bit weights give epsilon ",
        lambda: mechanisms.OneBitMean.from_epsilon(0, 10**6, "0.0006"),
    ),
    "mean epsilon": ("epsilon: must be a number", lambda: mechanisms.OneBitMean.from_epsilon(0, 3, "x")),
    "longitudinal keep": ("keep: must be a number", lambda: mechanisms.Longitudinal(3, "x", "0.9")),
    "longitudinal again": ("again: must be a number", lambda: mechanisms.Longitudinal(3, "0.9", "x")),
    "longitudinal epsilon": ("epsilon: must be a number", lambda: mechanisms.Longitudinal.from_epsilon(3, "x", "0.5")),
    "longitudinal wave, huge": (
        "wave_epsilon: must be above 0 and below epsilon = 1, that of all waves, got 1e+99",
        lambda: mechanisms.Longitudinal.from_epsilon(3, 1, "1e99"),
    ),
    "longitudinal wave, tiny": (
        "wave_epsilon: 1e-10 over 3 options cannot be held by 32-bit weights",
        lambda: mechanisms.Longitudinal.from_epsilon(3, 1, "1e-10"),
    ),
    "longitudinal wave, tiny, of four": (
        "wave_epsilon: 1e-10 over 4 options cannot be held by 32-bit weights",
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, "1e-10"),
    ),
    "longitudinal wave, costly": (
        "one wave of 3 options: 32-bit weights give epsilon ",
        lambda: mechanisms.Longitudinal.from_epsilon(3, 1, "2.2e-9"),
    ),
    "waves": (
        "waves: must be an integer from 1 to 1000, got 0",
        lambda: mechanisms.Longitudinal(3, "0.9", "0.8").epsilon_of(0),
    ),
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
    "published 16 digits": (
        "mechanism warner: keep must be integers of",
        lambda: published(name="warner", keep=10**15),
    ),
    "published 15 digits": (
        "keep: must be a probability above 0 and below 1",
        lambda: published(name="warner", keep=10**15 - 1),
    ),
    "published list": (
        "mechanism geometric: tails must be integers of at most 15 digits, got a string",
        lambda: published(name="geometric", lo=0, hi=1, tails=["1"]),
    ),
    "unequal k-ary": ("others: must be a list of weights, got 7", lambda: mechanisms.UnequalKAry(7)),  # type: ignore[arg-type]
    "unequal k-ary, one": ("k: must be an integer of at least 2, got 1", lambda: mechanisms.UnequalKAry((7,))),
    "unequal k-ary, no truth": (
        "others: must be positive integers that add up to less than 2**32",
        lambda: mechanisms.UnequalKAry((HALF, HALF)),
    ),
    "unequal k-ary, impossible": (
        "others: must be positive integers that add up to less than 2**32",
        lambda: mechanisms.UnequalKAry((HALF, 0)),
    ),
    "discrete laplace, tiny": (
        "epsilon: 1e-10 cannot be held by 32-bit weights over this range; take fewer levels or more epsilon",
        lambda: mechanisms.DiscreteLaplace.from_epsilon(0, 10, "1e-10"),
    ),
    "piecewise, tiny": (
        "epsilon: 1e-06 over a range of 10 cannot be held by 32-bit weights; take a shorter range or more epsilon",
        lambda: mechanisms.Piecewise.from_epsilon(0, 10, "1e-6"),
    ),
    "piecewise knots, fraction": (
        "knots: must be integers",
        lambda: mechanisms.Piecewise((0, 4.0), (3 * 2**30, 2**30), ((-(2**29), 2**29),)),  # type: ignore[arg-type]
    ),
    "filtered-piecewise, tiny": (
        "epsilon: 1e-06 over a range of 10 cannot be held by 32-bit weights; take a shorter range or more epsilon",
        lambda: mechanisms.FilteredPiecewise.from_epsilon(0, 10, "1e-6"),
    ),
    "filtered-piecewise, others": (
        "others: must be a list of 3 to 16 integers, got 7",
        lambda: published(**FILTERED | {"others": 7}),
    ),
    "filtered-piecewise, two": (
        "others: must be a list of 3 to 16 integers, got a list",
        lambda: published(**FILTERED | {"others": [HALF, HALF]}),
    ),
    "filtered-piecewise, more": (
        "others: must be 3 weights, one for each report",
        lambda: published(**FILTERED | {"others": [HALF, HALF // 2, HALF // 4, HALF // 4]}),
    ),
    "longitudinal wave": ("wave_epsilon: must be a number", lambda: mechanisms.Longitudinal.from_epsilon(3, 1, "x")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_named(what: str) -> None:
    sentence, make = REFUSED[what]
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("maker", "arguments", "way"),
    [
        (mechanisms.Warner, {"epsilon": 1}, "Warner.from_epsilon(epsilon=1)"),
        (mechanisms.KAry, {"epsilon": 1}, "KAry.from_epsilon(epsilon=1)"),
        (mechanisms.KAry, {"k": 4, "epsilon": 0.5}, "KAry.from_epsilon(k=4, epsilon=0.5)"),
        (mechanisms.TwoCoin, {"epsilon": 1}, "a mechanism that takes one, such as Warner"),
    ],
)
def test_an_epsilon_in_the_wrong_place_is_told_the_way(maker: Any, arguments: dict[str, Any], way: str) -> None:
    with pytest.raises(ParameterError) as caught:
        maker(**arguments)
    assert str(caught.value).startswith(f"epsilon: must not be given to {maker.__name__}")
    assert str(caught.value).endswith(f"use {way}")


def test_published_lists_become_tuples() -> None:
    made = published(**FILTERED)
    assert isinstance(made, mechanisms.FilteredPiecewise)
    assert [made.knots, made.weights, made.slopes, made.others] == [
        (18, 26),
        (HALF, HALF // 2, HALF // 2),
        ((-(2**27), 2**27, 0),),
        (HALF // 2, HALF // 2, HALF),
    ]
    unequal = published(name="unequal-k-ary", others=[1, 2])
    assert isinstance(unequal, mechanisms.UnequalKAry)
    assert unequal.others == (1, 2)


@pytest.mark.parametrize("answers", [[0, 1], [[0, 1]], [[0.0, 1.0, 1.0]], [[0, 1, 2]], [[0, -1, 1]], [["a", "b", "c"]]])
def test_rows_that_are_no_ticks_are_refused(answers: Any) -> None:
    with pytest.raises(AnswerError, match=r"^answers: must be rows of 3 numbers 0 or 1$"):
        mechanisms.TickBoxes(3, "3/4").randomize_many(answers)
    assert mechanisms.TickBoxes(3, "3/4").randomize_many([[True, False, True]]).shape == (1, 3)


@pytest.mark.parametrize("answer", ["01", b"01", 1, None, [3], [-1], [True], ["1"], [0, 0]])
def test_ticks_that_are_none_are_refused_without_being_repeated(answer: Any) -> None:
    with pytest.raises(AnswerError, match=r"^answer: must be a list of different integers in \[0, 3\)$"):
        mechanisms.TickBoxes(3, "3/4").randomize(answer)


def test_a_wave_is_drawn_from_a_permanent_value_alone() -> None:
    with pytest.raises(ReportError, match=r"^permanent value: report must be an integer in \[0, 3\), got 3$"):
        mechanisms.Longitudinal(3, "0.9", "0.8").instantaneous(3)


def test_a_published_name_that_is_unknown_is_repeated() -> None:
    for name, came in (("warners", "'warners'"), (7, "7")):
        with pytest.raises(ParameterError, match=rf"^mechanism: name must be one of \[.*'warner'\], got {came}$"):
            published(name=name)
