"""The names that somebody finds who looks at `deniable` for the first time, and what they take."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable
from deniable import (
    AnswerError,
    DrawnBoxes,
    Geometric,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    ParameterError,
    Piecewise,
    ReportError,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
    choose,
    count_reports,
)


def public(value: object) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def test_the_package_shows_its_public_names_and_nothing_else() -> None:
    assert dir(deniable) == sorted([*deniable.__all__, "__version__"])


def test_a_mechanism_shows_few_names() -> None:
    assert len(public(KAry.from_epsilon(4, 1.0))) <= 22


def test_help_shows_the_parameters_of_a_mechanism() -> None:
    assert [*inspect.signature(KAry).parameters] == ["k", "keep"]
    assert [*inspect.signature(Subset).parameters] == ["k", "w", "inside"]
    # Until Python 3.14 it quotes the annotations.
    assert "KAry(k: int, keep: Number)" in pydoc.plain(pydoc.render_doc(KAry)).replace("'", "")


COINS = TwoCoin("1/2", "1/2").estimate([570, 430])


def test_an_estimate_has_one_confidence_interval() -> None:
    assert [name for name in public(COINS) if name.endswith(("interval", "intervals"))] == [
        "combination_intervals",
        "confidence_interval",
    ]
    alone = KAry.from_epsilon(3, 1).estimate([400, 300, 300])
    every = alone.confidence_interval(0.95, simultaneous=True)
    for each, wider in zip(alone.confidence_interval(confidence_level=0.95), every, strict=True):
        assert wider.low < each.low <= each.high < wider.high
    # Of two opposite options both intervals hold or neither does.
    assert COINS.confidence_interval(simultaneous=True) == COINS.confidence_interval()
    assert COINS.confidence_interval(method="wald") != COINS.confidence_interval(method="wilson")


MAKERS: dict[str, Callable[[Callable[[int], Any]], Mechanism]] = {
    "k-ary": lambda of: KAry.from_epsilon(of(4), of(1)),
    "k-ary by its weight": lambda of: KAry(of(3), of(2147483650)),
    "subset": lambda of: Subset.from_epsilon(of(5), of(2), of(1)),
    "boxes": lambda of: TickBoxes.from_epsilon(of(4), of(4)),
    "drawn boxes": lambda of: DrawnBoxes.from_epsilon(of(4), of(2)),
    "range": lambda of: Geometric.from_epsilon(of(0), of(5), of(1)),
    "mean": lambda of: OneBitMean.from_epsilon(of(0), of(5), of(1)),
    "piecewise": lambda of: Piecewise.from_epsilon(of(0), of(5), of(2)),
    "waves": lambda of: Longitudinal.from_epsilon(of(3), of(2), of(1)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_parameters_of_numpy_make_the_mechanism_of_plain_integers(
    make: Callable[[Callable[[int], Any]], Mechanism], kind: Callable[[int], Any]
) -> None:
    plain, made = make(int), make(kind)
    assert made == plain
    assert made.publish() == plain.publish()
    assert all(type(value) is not kind for value in vars(made).values())
    assert pickle.loads(pickle.dumps(made)) == plain


def test_numbers_of_numpy_are_numbers() -> None:
    assert Warner.from_epsilon(np.float32(0.5)) == Warner.from_epsilon(np.float64(0.5)) == Warner.from_epsilon(0.5)  # type: ignore[arg-type]
    counts = np.array([570, 430], dtype=np.int32)
    assert TwoCoin("1/2", "1/2").estimate(counts) == COINS  # type: ignore[arg-type]


def test_an_answer_out_of_range_is_told_by_its_place_and_not_by_what_it_was() -> None:
    with pytest.raises(AnswerError) as caught:
        KAry.from_epsilon(4, 1).randomize_many([0, 3, 77, 1])
    assert str(caught.value) == "answers: must all be integers in [0, 4); the first that is not is answers[2]"
    with pytest.raises(AnswerError, match=r"answers\[1, 0\]$"):
        KAry.from_epsilon(4, 1).randomize_many([[0, 1], [-1, 1]])


def test_counts_that_are_none_are_told_by_their_place() -> None:
    for counts, place in (([1, "a"], 1), ([-1, 2], 0), ([1, 2.5], 1)):
        with pytest.raises(ParameterError, match=rf"the first that is not is counts\[{place}\](, got .+)?$"):
            TwoCoin("1/2", "1/2").estimate(counts)  # type: ignore[arg-type]


class TestCountReports:
    def test_every_mechanism_counts_what_it_sends(self) -> None:
        for make in MAKERS.values():
            mechanism = make(int)
            if isinstance(mechanism, (TickBoxes, DrawnBoxes)):
                people: Any = np.random.default_rng(1).integers(0, 2, (300, 4))
            else:
                people = np.random.default_rng(1).integers(
                    mechanism.answer_range.start, mechanism.answer_range.stop, 300
                )
            reports = mechanism.randomize_many(people)
            one_by_one = [
                mechanism.randomize(int(each) if np.ndim(each) == 0 else np.flatnonzero(each)) for each in people
            ]
            if isinstance(mechanism, Longitudinal):
                continue
            for sent in (reports, list(reports), one_by_one):
                counts = count_reports(sent, mechanism)
                assert len(counts) == mechanism.reports.size
                assert all(type(count) is int for count in counts)
                if mechanism.reports.supports_one:
                    assert sum(counts) == 300

    def test_arrays_series_and_truth_values_are_taken(self) -> None:
        coin = Warner("3/4")
        expected = (2, 3)
        for sent in ([1, 0, 1, 1, 0], np.array([1, 0, 1, 1, 0]), pd.Series([1, 0, 1, 1, 0]), [True, False, True, 1, 0]):
            assert count_reports(sent, coin) == expected
        assert count_reports(np.array([1, 0, 1, 1, 0], dtype=bool), coin) == expected
        assert count_reports([], coin) == (0, 0)

    def test_counts_go_into_an_estimate(self) -> None:
        subset = Subset.from_epsilon(3, 2, 1)
        assert count_reports(["110", "011"], subset) == count_reports([[1, 1, 0], [0, 1, 1]], subset) == (1, 2, 1)
        assert subset.estimate(count_reports(["110", "011"], subset), n=2).n == 2

    @pytest.mark.parametrize("wrong", [7, -1, 0.5, "1", None])
    def test_what_is_no_report_is_told_by_its_place(self, wrong: object) -> None:
        with pytest.raises(ReportError, match=r"^reports\[2\]: report must be an integer in \[0, 4\), got "):
            count_reports([0, 1, wrong, wrong], KAry.from_epsilon(4, 1))


class TestChoose:
    @pytest.mark.parametrize(
        ("answers", "epsilon", "goal", "expected"),
        [
            (2, 1, "shares", Warner.from_epsilon(1)),
            (3, 2, "shares", KAry.from_epsilon(3, 2)),
            (np.int64(10), 1, "shares", Subset.from_epsilon(10, 3, 1)),
            (range(10), np.int64(1), "shares", Subset.from_epsilon(10, 3, 1)),
            (range(5, 46), 1, "mean", Piecewise.from_epsilon(5, 45, 1)),
            (8, 2, "boxes", DrawnBoxes.from_epsilon(8, 2, 2)),
            (8, 2, "boxes together", TickBoxes.from_epsilon(8, 2)),
        ],
    )
    def test_it_picks_the_mechanism_with_the_fewest_respondents(
        self, answers: Any, epsilon: Any, goal: str, expected: Mechanism
    ) -> None:
        assert choose(answers, epsilon, goal) == expected
        assert expected.epsilon <= epsilon

    @pytest.mark.parametrize(
        ("answers", "goal", "says"),
        [
            (1, "shares", "answers: must be a number of options of at least 2, or a range, got 1"),
            ("yes", "shares", "answers: must be a number of options of at least 2, or a range, got a string"),
            (range(3, 8), "shares", "answers: must be numbered from 0 for shares, got range(3, 8)"),
            (4, "median", "goal: must be one of shares, mean, boxes, boxes together, got a string"),
        ],
    )
    def test_what_it_does_not_take_is_named(self, answers: Any, goal: str, says: str) -> None:
        with pytest.raises(ParameterError, match=f"^{re.escape(says)}$"):
            choose(answers, 1, goal)
