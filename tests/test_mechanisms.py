"""Distributions are proved by enumeration, epsilon in rational arithmetic; nothing here is sampled."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from deniable import AnswerError, KAry, Mechanism, ParameterError, ReportError, TwoCoin, Warner
from deniable.exact import exp_below, log_above
from deniable.mechanisms import mechanism_from_published
from deniable.randomness import UNIT

EXAMPLES: list[Mechanism] = [
    TwoCoin("1/2", "1/2"),
    TwoCoin("4/5", "4/5"),
    TwoCoin("1/10", "1/3"),
    Warner("3/4"),
    Warner("1/6"),
    Warner.from_epsilon("0.01"),
    Warner.from_epsilon(4),
    KAry.from_epsilon(2, 1),
    KAry.from_epsilon(3, "0.1"),
    KAry.from_epsilon(7, 4),
    KAry.from_epsilon(30, 2),
    KAry.from_coin(5, "1/3"),
]

by_parameters = pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)


Outcome = dict[int, Fraction]
"""Report value to its exact probability."""


@functools.cache
def exact_output(mechanism: Mechanism, answer: int) -> Outcome:
    """The exact distribution of `randomize` over all words, found by watching it and not from its parameters."""
    return _over_words(mechanism, answer, [], 2 if isinstance(mechanism, TwoCoin) else 1)


def _over_words(mechanism: Mechanism, answer: int, fixed: list[int], free: int) -> Outcome:
    if not free:
        source = iter(fixed)
        report = mechanism.randomize(answer, source.__next__)
        assert next(source, None) is None, "every word must be drawn, whatever the first one decides"
        return {report: Fraction(1)}
    total: Outcome = {}
    for length, outcome in _stretches(lambda word: _over_words(mechanism, answer, [*fixed, word], free - 1)):
        for report, share in outcome.items():
            total[report] = total.get(report, Fraction(0)) + share * Fraction(length, UNIT)
    return total


def _stretches(outcome: Callable[[int], Outcome], low: int = 0, high: int = UNIT - 1) -> Iterator[tuple[int, Outcome]]:
    """Lengths of the stretches of words on which the outcome stays the same, by halving where probes differ."""
    probes = {low + (high - low) * step // 8 for step in range(9)}
    first = outcome(low)
    if all(outcome(word) == first for word in probes):
        yield high - low + 1, first
    else:
        middle = (low + high) // 2
        yield from _stretches(outcome, low, middle)
        yield from _stretches(outcome, middle + 1, high)


@by_parameters
def test_every_answer_has_exactly_the_stated_distribution(mechanism: Mechanism) -> None:
    matrix = mechanism.channel_matrix
    for answer in range(mechanism.k):
        found = exact_output(mechanism, answer)
        assert found == {option: matrix[option][answer] for option in range(mechanism.k)}
        assert sum(found.values()) == 1


@by_parameters
def test_epsilon_is_the_largest_log_ratio_of_the_exact_distribution(mechanism: Mechanism) -> None:
    columns = [exact_output(mechanism, answer) for answer in range(mechanism.k)]
    ratio = max(a[report] / b[report] for a, b in itertools.permutations(columns, 2) for report in a)
    assert mechanism.likelihood_ratio == ratio
    exactly = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()  # 28 digits
    assert exactly <= Decimal(mechanism.epsilon) <= exactly * (1 + Decimal("3e-16"))


@pytest.mark.parametrize("k", [2, 3, 7])
def test_every_lie_is_reached_exactly_once(k: int) -> None:
    mechanism = KAry.from_epsilon(k, 1)
    for answer in range(k):
        draws = [mechanism.keep + lie * mechanism.other for lie in range(k - 1)]
        lies = [mechanism.randomize(answer, iter([draw]).__next__) for draw in draws]
        assert sorted([*lies, answer]) == list(range(k))


GRID = ["0.001", "0.01", "0.1", "0.5", "1", "1.0986", "1.5", "2", "3", "4", "6", "8", "10", "12"]


@pytest.mark.parametrize("epsilon", GRID)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 16])
def test_epsilon_never_exceeds_what_was_asked(k: int, epsilon: str) -> None:
    mechanism = KAry.from_epsilon(k, epsilon)
    asked = Fraction(epsilon)
    assert mechanism.keep <= exp_below(asked) * mechanism.other  # in integers and rationals, no float decides
    assert mechanism.epsilon <= float(asked)
    ratio = math.exp(asked)
    most = (ratio + k - 1) ** 2 / (ratio * UNIT)  # `other` is at most 1 above, so `keep` at most k - 1 below
    assert float(asked) - mechanism.epsilon <= min(1.001 * most + 1e-15, 0.01 * float(asked))


@pytest.mark.parametrize("epsilon", GRID)
def test_epsilon_of_warner_never_exceeds_what_was_asked(epsilon: str) -> None:
    mechanism = Warner.from_epsilon(epsilon)
    assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon))
    assert mechanism.epsilon <= float(Fraction(epsilon))


@pytest.mark.parametrize("yes", ["1/7", "1/3", "0.5", "2/3", "0.8", "0.99"])
@pytest.mark.parametrize("truth", ["1/7", "1/3", "0.5", "2/3", "0.8", "0.99"])
def test_epsilon_of_coins_never_exceeds_that_of_the_coins_asked_for(truth: str, yes: str) -> None:
    t, y = Fraction(truth), Fraction(yes)
    if_yes, if_no = t + (1 - t) * y, (1 - t) * y
    asked = max(if_yes / if_no, (1 - if_no) / (1 - if_yes))
    assert TwoCoin(truth, yes).likelihood_ratio <= asked


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_coin_over_options_is_truth_or_any_option_at_random(k: int) -> None:
    mechanism = KAry.from_coin(k, "1/2")
    p, q = mechanism.support[0]
    assert abs(p - (Fraction(1, 2) + Fraction(1, 2) / k)) < Fraction(k, UNIT)
    assert q >= Fraction(1, 2) / k
    assert mechanism.likelihood_ratio <= k + 1


def test_known_epsilons() -> None:
    assert TwoCoin("1/2", "1/2").epsilon == pytest.approx(math.log(3), abs=1e-15)
    assert TwoCoin("0.8", "0.8").epsilon == pytest.approx(math.log(21), abs=1e-8)
    assert Warner("3/4").likelihood_ratio == 3


def test_directed_logarithm_and_exponential() -> None:
    for number in (Fraction(3), Fraction(21), Fraction(10001, 10000), Fraction(2**64)):
        assert Decimal(log_above(number)) >= (Decimal(number.numerator) / Decimal(number.denominator)).ln()
    assert exp_below(Fraction(1)) < Fraction("2.71828182845904523536028747135266249775724709369996")
    assert exp_below(Fraction(1)) > Fraction("2.71828182845904523536028747135266249775724709369995")


@pytest.mark.parametrize(
    "make",
    [
        lambda: TwoCoin(1, "1/2"),
        lambda: TwoCoin("1", "1/2"),
        lambda: TwoCoin(0, "1/2"),
        lambda: TwoCoin("1/2", 1),
        lambda: TwoCoin("1/2", 0),
        lambda: TwoCoin("1/2", "1e-12"),
        lambda: TwoCoin("3/2", "1/2"),
        lambda: TwoCoin("-1/2", "1/2"),
        lambda: TwoCoin("half", "1/2"),
        lambda: TwoCoin("1e999999999", "1/2"),
        lambda: TwoCoin("1/0", "1/2"),
        lambda: TwoCoin(float("nan"), "1/2"),
        lambda: TwoCoin(True, "1/2"),
        lambda: TwoCoin(None, "1/2"),  # type: ignore[arg-type]
        lambda: Warner("1/2"),
        lambda: Warner(1),
        lambda: Warner.from_epsilon(0),
        lambda: Warner.from_epsilon(-1),
        lambda: Warner.from_epsilon("inf"),
        lambda: Warner.from_epsilon(float("inf")),
        lambda: Warner.from_epsilon(22),
        lambda: Warner.from_epsilon(10**400),
        lambda: KAry.from_epsilon(1, 1),
        lambda: KAry.from_epsilon(2.0, 1),  # type: ignore[arg-type]
        lambda: KAry.from_epsilon(True, 1),
        lambda: KAry.from_epsilon(2**17, 1),
        lambda: KAry.from_epsilon(4, 21.9),
        lambda: KAry.from_epsilon(4, "1e-11"),
        lambda: KAry.from_coin(4, 1),
        lambda: KAry(4, "1/8"),
        lambda: KAry(4, 2863311530),
    ],
)
def test_what_makes_no_mechanism_is_refused(make) -> None:
    with pytest.raises(ParameterError):
        make()


@by_parameters
def test_published_integers_make_the_same_mechanism(mechanism: Mechanism) -> None:
    assert mechanism_from_published(mechanism.publish()) == mechanism


@by_parameters
def test_many_answers_go_the_way_of_one(mechanism: Mechanism) -> None:
    dice = np.random.default_rng(7)
    answers = dice.integers(0, mechanism.k, size=(50, 40))
    drawn: list[int] = []

    def words(n: int) -> np.ndarray:
        block = dice.integers(0, UNIT, size=n, dtype=np.uint32)
        drawn.extend(block.tolist())
        return block

    reports = mechanism.randomize_many(answers, words)
    source = iter(drawn)
    assert reports.shape == answers.shape
    assert reports.ravel().tolist() == [
        mechanism.randomize(answer, source.__next__) for answer in answers.ravel().tolist()
    ]
    assert next(source, None) is None


@by_parameters
def test_many_answers_by_the_system_have_the_stated_distribution(mechanism: Mechanism) -> None:
    n = 400_000  # more than one block; |z| > 6 in one of at most 30 options has a probability below 1e-7
    for answer in (0, mechanism.k - 1):
        counts = np.bincount(mechanism.randomize_many(np.full(n, answer)), minlength=mechanism.k)
        for option in range(mechanism.k):
            share = float(mechanism.channel_matrix[option][answer])
            assert abs(counts[option] - n * share) < 6 * math.sqrt(n * share * (1 - share))


@pytest.mark.parametrize("bad", [[4], [-1], [0, 1, 4], [0.5], ["1"], [True], [2**40]])
def test_many_answers_outside_the_options_are_refused_without_repeating_them(bad: list[object]) -> None:
    with pytest.raises(AnswerError) as caught:
        KAry.from_epsilon(4, 1).randomize_many(bad)  # type: ignore[arg-type]
    assert str(bad[-1]) not in str(caught.value).replace("[0, 4)", "")


def test_no_answers_give_no_reports() -> None:
    assert KAry.from_epsilon(4, 1).randomize_many([]).shape == (0,)


@pytest.mark.parametrize("bad", [4, -1, 1.0, "1", None, True, 10**30])
def test_answers_and_reports_outside_the_options_are_refused(bad: object) -> None:
    mechanism = KAry.from_epsilon(4, 1)
    with pytest.raises(AnswerError) as caught:
        mechanism.randomize(bad)  # type: ignore[arg-type]
    assert str(caught.value) == "answer: must be an integer in [0, 4)"
    with pytest.raises(ReportError, match=r"^here: report must be an integer in \[0, 4\), got "):
        mechanism.check_report(bad, "here")
