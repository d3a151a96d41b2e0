"""Distributions are proved by enumeration, epsilon in rational arithmetic; nothing here is sampled."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import AnswerError, Mechanism, ParameterError, ReportError, mechanisms
from deniable.exact import exp_below, log_above
from deniable.mechanisms import OneOfK, RowMechanism, exponential, k_ary, longitudinal, mechanism_from_published
from deniable.mechanisms.longitudinal import waves_of
from deniable.randomness import UNIT
from deniable_statistics.designs.of_mechanisms import design_of

SCORE = [[-abs(x - r) for r in range(5)] for x in range(5)]
SKEWED = [[0, 1, 5], [2, 0, 1], [0, 0, 3]]

ONE_OF_K: list[OneOfK] = [
    mechanisms.TwoCoin("1/2", "1/2"),
    mechanisms.TwoCoin("4/5", "4/5"),
    mechanisms.TwoCoin("1/10", "1/3"),
    mechanisms.Warner("3/4"),
    mechanisms.Warner("1/6"),
    mechanisms.Warner.from_epsilon("0.01"),
    mechanisms.Warner.from_epsilon(4),
    mechanisms.KAry.from_epsilon(2, 1),
    mechanisms.KAry.from_epsilon(3, "0.1"),
    mechanisms.KAry.from_epsilon(7, 4),
    mechanisms.KAry.from_epsilon(30, 2),
    mechanisms.KAry.from_coin(5, "1/3"),
    mechanisms.ForcedResponse("2/3", ["1/2", "1/2"]),
    mechanisms.ForcedResponse("1/3", ["0.1", "0.2", "0.3", "0.4"]),
    mechanisms.Geometric.from_epsilon(0, 1, 1),
    mechanisms.Geometric.from_epsilon(0, 10, 1),
    mechanisms.Geometric.from_epsilon(-3, 4, 4),
    mechanisms.DiscreteLaplace.from_epsilon(0, 3, 2, tail="1/20"),
    mechanisms.DiscreteLaplace.from_epsilon(18, 24, 4),
    mechanisms.Exponential.nominal(SCORE, 2),
    mechanisms.Exponential.calibrated(SCORE, 1),
    mechanisms.Exponential.calibrated(SKEWED, 1),
    mechanisms.OneBitMean.from_epsilon(0, 10, 1),
    mechanisms.OneBitMean.from_epsilon(-5, 2, 4),
    mechanisms.Longitudinal.from_epsilon(2, 2, 1),
    mechanisms.Longitudinal.from_epsilon(5, "1.5", "0.25"),
    mechanisms.Longitudinal(3, "9/10", "1/2"),
    mechanisms.UnequalKAry((2**28, 2**29, 2**30)),
]
MANY_BITS: list[Mechanism] = [
    mechanisms.Subset.from_epsilon(2, 1, 1),
    mechanisms.Subset.from_epsilon(4, 2, 1),
    mechanisms.Subset.from_epsilon(5, 4, "0.5"),
    mechanisms.Subset.from_epsilon(8, 3, 1),
    mechanisms.TickBoxes.from_epsilon(3, 2),
    mechanisms.TickBoxes.from_epsilon(6, 4),
]


def name_of(mechanism: Mechanism) -> str:
    return str(mechanism).split(", tails")[0].split("weights")[0]


by_parameters = pytest.mark.parametrize("mechanism", ONE_OF_K, ids=name_of)
by_bits = pytest.mark.parametrize("mechanism", MANY_BITS, ids=name_of)
every_mechanism = pytest.mark.parametrize("mechanism", [*ONE_OF_K, *MANY_BITS], ids=name_of)


Outcome = dict[Any, int]  # by report: a number or a text
"""Report value to the number of words, or of tuples of words, that bring it."""


@functools.cache
def exact_output(mechanism: OneOfK, answer: int) -> dict[Any, Fraction]:
    """The exact distribution of `randomize` over all words, found by watching it and not from its parameters."""
    if isinstance(mechanism, mechanisms.Longitudinal):
        words, found = 2, exact_waves(mechanism, answer)
    else:
        words = 2 if isinstance(mechanism, (mechanisms.TwoCoin, mechanisms.ForcedResponse)) else 1
        found = _over_words(mechanism, answer, [], words)
    return {report: Fraction(number, UNIT**words) for report, number in found.items()}


def exact_waves(mechanism: mechanisms.Longitudinal, answer: int) -> Outcome:
    """The same of two steps, each watched over all words: the second one knows nothing but what the first one made."""
    total: Outcome = {}
    for length, (kept,) in _stretches(lambda word: {mechanism.permanent(answer, iter([word]).__next__): 1}):
        for second, (sent,) in _wave_of(mechanism, kept):
            total[sent] = total.get(sent, 0) + length * second
    for words in itertools.product((0, mechanism.keep, mechanism.again, UNIT - 1), repeat=2):
        source = iter(words)
        kept = mechanism.permanent(answer, iter(words[:1]).__next__)
        assert mechanism.randomize(answer, source.__next__) == mechanism.instantaneous(kept, iter(words[1:]).__next__)
        assert next(source, None) is None
    return total


@functools.cache
def _wave_of(mechanism: mechanisms.Longitudinal, kept: int) -> list[tuple[int, Outcome]]:
    return list(_stretches(lambda word: {mechanism.instantaneous(kept, iter([word]).__next__): 1}))


def _over_words(mechanism: OneOfK, answer: int, fixed: list[int], free: int) -> Outcome:
    if not free:
        source = iter(fixed)
        report = mechanism.randomize(answer, source.__next__)
        assert next(source, None) is None, "every word must be drawn, whatever the first one decides"
        return {report: 1}
    total: Outcome = {}
    for length, outcome in _stretches(lambda word: _over_words(mechanism, answer, [*fixed, word], free - 1)):
        for report, number in outcome.items():
            total[report] = total.get(report, 0) + number * length
    return total


def _stretches(outcome: Callable[[int], Outcome], low: int = 0, high: int = UNIT - 1) -> list[tuple[int, Outcome]]:
    """Lengths of the stretches of words on which the outcome stays the same, by halving where probes differ.

    A half is probed where its whole was probed before, so what a word brings is kept.
    """
    stretches: list[tuple[int, Outcome]] = []
    _halve(functools.cache(outcome), low, high, stretches)
    return stretches


def _halve(outcome: Callable[[int], Outcome], low: int, high: int, stretches: list[tuple[int, Outcome]]) -> None:
    probes = {low + (high - low) * step // 8 for step in range(9)}
    first = outcome(low)
    if any(outcome(word) != first for word in probes):
        middle = (low + high) // 2
        _halve(outcome, low, middle, stretches)
        _halve(outcome, middle + 1, high, stretches)
    elif stretches and stretches[-1][1] == first:
        stretches[-1] = stretches[-1][0] + high - low + 1, first
    else:
        stretches.append((high - low + 1, first))


@pytest.mark.slow
@by_parameters
def test_every_answer_has_exactly_the_stated_distribution(mechanism: OneOfK) -> None:
    matrix = design_of(mechanism).channel_matrix
    for column, answer in enumerate(mechanism.answer_range):
        found = exact_output(mechanism, answer)
        assert {mechanism.reports.supports(report)[0]: share for report, share in found.items()} == {
            option: matrix[option][column] for option in range(mechanism.k)
        }
        assert sum(found.values()) == 1
        for report in found:
            mechanism.reports.check(report, "report")


SUBSETS = [
    mechanisms.Subset.from_epsilon(k, w, 1) for k in range(2, 9) for w in range(1, k) if k <= 5 or w in (2, k // 2)
]


@pytest.mark.simulation
@pytest.mark.parametrize("mechanism", SUBSETS, ids=name_of)
def test_every_subset_has_exactly_its_weight(mechanism: mechanisms.Subset) -> None:
    k, w = mechanism.k, mechanism.w
    holding, outside = math.comb(k - 1, w - 1), math.comb(k - 1, w)
    total = holding * mechanism.inside + outside * UNIT
    words = -(-(total - 1).bit_length() // 32)

    def outcome(answer: int, draw: int) -> Outcome:
        source = iter([draw >> (32 * position) & (UNIT - 1) for position in range(words)])
        report = mechanism.randomize(answer, source.__next__)
        assert next(source, None) is None
        return {report: 1}

    for answer in range(k):
        found: Outcome = {}
        for length, sent in _stretches(functools.partial(outcome, answer), 0, total - 1):
            for report in sent:
                found[report] = found.get(report, 0) + length
        every = {
            "".join("1" if option in chosen else "0" for option in range(k))
            for chosen in itertools.combinations(range(k), w)
        }
        assert found.keys() == every
        for report, number in found.items():
            assert number == (mechanism.inside if report[answer] == "1" else UNIT)
        for option in range(k):
            held = sum(number for report, number in found.items() if report[option] == "1")
            assert Fraction(held, total) == design_of(mechanism).channel_matrix[option][answer]


def test_too_large_draws_of_a_subset_are_drawn_again_whole() -> None:
    mechanism = mechanisms.Subset.from_epsilon(4, 2, 1)
    words = iter([UNIT - 1] * 2 + [0, 0])
    assert mechanism.randomize(2, words.__next__) == "1010"
    assert next(words, None) is None


@pytest.mark.parametrize(
    "mechanism", [each for each in MANY_BITS if isinstance(each, mechanisms.TickBoxes)], ids=name_of
)
def test_each_box_has_a_coin_of_its_own(mechanism: mechanisms.TickBoxes) -> None:
    k = mechanism.k
    for ticked in ([], [0], list(range(k)), [1, k - 1]):
        for box in range(k):

            def outcome(word: int, box: int = box, ticked: list[int] = ticked) -> Outcome:
                source = iter([word if position == box else 0 for position in range(k)])
                report = mechanism.randomize(ticked, source.__next__)
                assert next(source, None) is None
                others = [int(option in ticked) for option in range(k) if option != box]
                assert [int(bit) for option, bit in enumerate(report) if option != box] == others
                return {report[box]: 1}

            truthful = sum(length for length, sent in _stretches(outcome) if str(int(box in ticked)) in sent)
            assert truthful == mechanism.keep


@by_bits
def test_epsilon_of_bits_is_the_exact_ratio(mechanism: Mechanism) -> None:
    if isinstance(mechanism, mechanisms.Subset):
        assert mechanism.likelihood_ratio == Fraction(mechanism.inside, UNIT)
    else:
        assert isinstance(mechanism, mechanisms.TickBoxes)
        p, q = mechanism.support[0]
        every = list(itertools.product((0, 1), repeat=mechanism.k))

        def probability(report: tuple[int, ...], answer: tuple[int, ...]) -> Fraction:
            return math.prod((p if r == a else q for r, a in zip(report, answer, strict=True)), start=Fraction(1))

        ratio = max(probability(every[0], one) for one in every) / min(probability(every[0], one) for one in every)
        assert mechanism.likelihood_ratio == ratio


@pytest.mark.slow
@by_parameters
def test_epsilon_is_the_largest_log_ratio_of_the_exact_distribution(mechanism: OneOfK) -> None:
    columns = [exact_output(mechanism, answer) for answer in mechanism.answer_range]
    ratio = max(a[report] / b[report] for a, b in itertools.permutations(columns, 2) for report in a)
    waves = waves_of(mechanism)
    assert (waves.wave_likelihood_ratio if waves else mechanism.likelihood_ratio) == ratio
    assert (mechanism.likelihood_ratio == ratio) == (waves is None)
    exactly = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()  # 28 digits
    assert exactly <= Decimal(waves.wave_epsilon if waves else mechanism.epsilon) <= exactly * (1 + Decimal("3e-16"))


@pytest.mark.parametrize("k", [2, 3, 7])
def test_every_lie_is_reached_exactly_once(k: int) -> None:
    mechanism = mechanisms.KAry.from_epsilon(k, 1)
    for answer in range(k):
        draws = [mechanism.keep + lie * mechanism._other for lie in range(k - 1)]
        lies = [mechanism.randomize(answer, iter([draw]).__next__) for draw in draws]
        assert sorted([*lies, answer]) == list(range(k))


def test_options_that_are_not_equally_likely_have_as_many_words_as_their_weights() -> None:
    mechanism = mechanisms.UnequalKAry((5, 2**29, 2**30))
    assert mechanism.truth == UNIT - 5 - 2**29 - 2**30
    starts = list(itertools.accumulate(mechanism.others, initial=mechanism.truth))
    for answer in range(3):
        ends = [0, starts[0] - 1]
        assert [mechanism.randomize(answer, lambda word=word: word) for word in ends] == [answer, answer]
        for other, (first, after) in enumerate(itertools.pairwise(starts)):
            ends = [first, after - 1]
            assert [mechanism.randomize(answer, lambda word=word: word) for word in ends] == [other, other]
    assert starts[-1] == UNIT
    assert mechanism.likelihood_ratio == Fraction(mechanism.truth + 5, 5)


GRID = ["0.001", "0.01", "0.1", "0.5", "1", "1.0986", "1.5", "2", "3", "4", "6", "8", "10", "12"]


@pytest.mark.parametrize("epsilon", GRID)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 16])
def test_epsilon_never_exceeds_what_was_asked(k: int, epsilon: str) -> None:
    mechanism = mechanisms.KAry.from_epsilon(k, epsilon)
    asked = Fraction(epsilon)
    assert mechanism.keep <= exp_below(asked) * mechanism._other  # in integers and rationals, no float decides
    assert mechanism.epsilon <= float(asked)
    ratio = math.exp(asked)
    most = (ratio + k - 1) ** 2 / (ratio * UNIT)  # `other` is at most 1 above, so `keep` at most k - 1 below
    assert float(asked) - mechanism.epsilon <= min(1.001 * most + 1e-15, 0.01 * float(asked))


def test_a_ratio_of_exactly_the_bound_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that integers can meet, instead of the rational ones below the exponential."""
    monkeypatch.setattr(k_ary, "exp_below", lambda asked: Fraction(3))
    monkeypatch.setattr(exponential, "exp_below", lambda asked: Fraction(3))
    monkeypatch.setattr(longitudinal, "exp_below", lambda asked: Fraction(5, 3))
    assert mechanisms.KAry.from_epsilon(2, math.log(3)).likelihood_ratio == 3
    assert mechanisms.Exponential.calibrated([[0, -1], [-1, 0]], math.log(3)).likelihood_ratio == 3
    waves = mechanisms.Longitudinal.from_epsilon(2, math.log(3), math.log(5 / 3))
    assert (waves.likelihood_ratio, waves.wave_likelihood_ratio) == (3, Fraction(5, 3))


@pytest.mark.parametrize("epsilon", GRID)
def test_epsilon_of_warner_never_exceeds_what_was_asked(epsilon: str) -> None:
    mechanism = mechanisms.Warner.from_epsilon(epsilon)
    assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon))
    assert mechanism.epsilon <= float(Fraction(epsilon))


@pytest.mark.parametrize("yes", ["1/7", "1/3", "0.5", "2/3", "0.8", "0.99"])
@pytest.mark.parametrize("truth", ["1/7", "1/3", "0.5", "2/3", "0.8", "0.99"])
def test_epsilon_of_coins_never_exceeds_that_of_the_coins_asked_for(truth: str, yes: str) -> None:
    t, y = Fraction(truth), Fraction(yes)
    if_yes, if_no = t + (1 - t) * y, (1 - t) * y
    asked = max(if_yes / if_no, (1 - if_no) / (1 - if_yes))
    assert mechanisms.TwoCoin(truth, yes).likelihood_ratio <= asked


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_coin_over_options_is_truth_or_any_option_at_random(k: int) -> None:
    mechanism = mechanisms.KAry.from_coin(k, "1/2")
    p, q = mechanism.support[0]
    assert abs(p - (Fraction(1, 2) + Fraction(1, 2) / k)) < Fraction(k, UNIT)
    assert q >= Fraction(1, 2) / k
    assert mechanism.likelihood_ratio <= k + 1


RANGED = [
    *(("geometric", lo, hi) for lo, hi in [(0, 1), (0, 4), (0, 10), (-50, 50)]),
    *(("discrete-laplace", lo, hi) for lo, hi in [(0, 1), (0, 10), (18, 60)]),
    *(("mean", lo, hi) for lo, hi in [(0, 1), (0, 10), (0, 1000), (-7, 10**6 - 7)]),
    *(("exponential", 0, hi) for hi in (1, 4, 10)),
    *(("subset", 2, k) for k in (3, 10, 30, 128)),
    *(("tick-boxes", 0, k) for k in (2, 5, 20)),
]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4", "8"])
@pytest.mark.parametrize(("name", "lo", "hi"), RANGED)
def test_exact_ratio_of_ranged_mechanisms_never_exceeds_what_was_asked(
    name: str, lo: int, hi: int, epsilon: str
) -> None:
    score = [[-abs(x - r) for r in range(hi + 1)] for x in range(hi + 1)] if name == "exponential" else []
    make = {
        "geometric": lambda: mechanisms.Geometric.from_epsilon(lo, hi, epsilon),
        "discrete-laplace": lambda: mechanisms.DiscreteLaplace.from_epsilon(lo, hi, epsilon),
        "mean": lambda: mechanisms.OneBitMean.from_epsilon(lo, hi, epsilon),
        "exponential": lambda: mechanisms.Exponential.calibrated(score, epsilon),
        "subset": lambda: mechanisms.Subset.from_epsilon(hi, lo, epsilon),
        "tick-boxes": lambda: mechanisms.TickBoxes.from_epsilon(hi, epsilon),
    }[name]
    mechanism = make()  # type: ignore[no-untyped-call]
    asked = Fraction(epsilon)
    bound = exp_below(asked / hi) ** hi if name == "tick-boxes" else exp_below(asked)
    assert mechanism.likelihood_ratio <= bound
    assert 0.99 * float(asked) <= mechanism.epsilon <= float(asked)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_calibrated_weights_of_any_score_lose_hardly_any_epsilon(epsilon: str) -> None:
    dice = random.Random(3)
    for k in (2, 3, 4, 7):
        for _ in range(5):
            # A constant for each truth, however large, changes no probability.
            score = [
                [10 * truth + (0 if report == truth else dice.randrange(1, 4)) for report in range(k)]
                for truth in range(k)
            ]
            mechanism = mechanisms.Exponential.calibrated(score, epsilon)
            assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon))
            assert mechanism.epsilon >= 0.99 * float(epsilon)
    with pytest.raises(ParameterError, match="all give the same reports"):
        mechanisms.Exponential.calibrated([[0, 1, 2], [5, 6, 7], [1, 2, 3]], epsilon)
    with pytest.raises(ParameterError, match="cannot be held by 32-bit weights"):
        mechanisms.Exponential.calibrated([[0, -1000], [0, -999]], epsilon)


def test_stated_tail_of_discrete_laplace_is_the_real_one() -> None:
    mechanism = mechanisms.DiscreteLaplace.from_epsilon(0, 10, 1, tail="1/100")
    row = mechanism.row(5)
    far = [
        weight for report, weight in zip(mechanism.report_range, row, strict=True) if abs(report - 5) > mechanism.excess
    ]
    assert mechanism.tail <= Fraction(1, 100)
    assert Fraction(sum(far), UNIT) == mechanism.tail


def test_mean_is_exactly_linear_in_the_answer() -> None:
    mechanism = mechanisms.OneBitMean.from_epsilon(3, 20, 1)
    ones = design_of(mechanism).channel_matrix[1]
    assert len({later - earlier for earlier, later in itertools.pairwise(ones)}) == 1
    assert ones[0] + ones[-1] == 1


def test_known_epsilons() -> None:
    assert mechanisms.TwoCoin("1/2", "1/2").epsilon == pytest.approx(math.log(3), abs=1e-15)
    assert mechanisms.TwoCoin("0.8", "0.8").epsilon == pytest.approx(math.log(21), abs=1e-8)
    assert mechanisms.Warner("3/4").likelihood_ratio == 3


def test_directed_logarithm_and_exponential() -> None:
    for number in (Fraction(3), Fraction(21), Fraction(10001, 10000), Fraction(2**64)):
        assert Decimal(log_above(number)) >= (Decimal(number.numerator) / Decimal(number.denominator)).ln()
    assert exp_below(Fraction(1)) < Fraction("2.71828182845904523536028747135266249775724709369996")
    assert exp_below(Fraction(1)) > Fraction("2.71828182845904523536028747135266249775724709369995")


@pytest.mark.parametrize(
    "make",
    [
        lambda: mechanisms.TwoCoin(1, "1/2"),
        lambda: mechanisms.TwoCoin("1", "1/2"),
        lambda: mechanisms.TwoCoin(0, "1/2"),
        lambda: mechanisms.TwoCoin("1/2", 1),
        lambda: mechanisms.TwoCoin("1/2", 0),
        lambda: mechanisms.TwoCoin("1/2", "1e-12"),
        lambda: mechanisms.TwoCoin("3/2", "1/2"),
        lambda: mechanisms.TwoCoin("-1/2", "1/2"),
        lambda: mechanisms.TwoCoin("half", "1/2"),
        lambda: mechanisms.TwoCoin("1e999999999", "1/2"),
        lambda: mechanisms.TwoCoin("1/0", "1/2"),
        lambda: mechanisms.TwoCoin(float("nan"), "1/2"),
        lambda: mechanisms.TwoCoin(True, "1/2"),
        lambda: mechanisms.TwoCoin(None, "1/2"),  # type: ignore[arg-type]
        lambda: mechanisms.Warner("1/2"),
        lambda: mechanisms.Warner(1),
        lambda: mechanisms.Warner.from_epsilon(0),
        lambda: mechanisms.Warner.from_epsilon(-1),
        lambda: mechanisms.Warner.from_epsilon("inf"),
        lambda: mechanisms.Warner.from_epsilon(float("inf")),
        lambda: mechanisms.Warner.from_epsilon(22),
        lambda: mechanisms.Warner.from_epsilon(10**400),
        lambda: mechanisms.KAry.from_epsilon(1, 1),
        lambda: mechanisms.KAry.from_epsilon(2.0, 1),  # type: ignore[arg-type]
        lambda: mechanisms.KAry.from_epsilon(True, 1),
        lambda: mechanisms.KAry.from_epsilon(2**17, 1),
        lambda: mechanisms.KAry.from_epsilon(4, 21.9),
        lambda: mechanisms.KAry.from_epsilon(4, "1e-11"),
        lambda: mechanisms.KAry.from_coin(4, 1),
        lambda: mechanisms.KAry(4, "1/8"),
        lambda: mechanisms.KAry(4, 2863311530),
        lambda: mechanisms.Longitudinal(4, "1/2", "1/4"),
        lambda: mechanisms.Longitudinal(4, "1/4", "1/2"),
        lambda: mechanisms.Longitudinal(4, "1/2", 2863311530),
        lambda: mechanisms.Longitudinal(1, "1/2", "1/2"),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, 1),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, 0),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, -1),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, "nan"),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, "1e-9"),
        lambda: mechanisms.Longitudinal.from_epsilon(4, 1, "0.9999999999"),
        lambda: mechanisms.ForcedResponse("1/2", ["1/2", "1/4"]),
        lambda: mechanisms.ForcedResponse("1/2", ["1", "0"]),
        lambda: mechanisms.ForcedResponse("1/2", "1/2"),
        lambda: mechanisms.ForcedResponse("1/2", ["1"]),
        lambda: mechanisms.Subset.from_epsilon(4, 4, 1),
        lambda: mechanisms.Subset.from_epsilon(300, 4, 1),
        lambda: mechanisms.Subset.from_epsilon(4, 2, 13),
        lambda: mechanisms.TickBoxes.from_epsilon(1, 1),
        lambda: mechanisms.TickBoxes(3, "1/3"),
        lambda: mechanisms.Geometric.from_epsilon(0, 0, 1),
        lambda: mechanisms.Geometric.from_epsilon(0, 5000, 1),
        lambda: mechanisms.Geometric.from_epsilon(0, 1000, 22),
        lambda: mechanisms.Geometric.from_epsilon(0.0, 5, 1),  # type: ignore[arg-type]
        lambda: mechanisms.DiscreteLaplace.from_epsilon(0, 5, 1, tail=0),
        lambda: mechanisms.Exponential.calibrated([[1, 1], [1, 1]], 1),
        lambda: mechanisms.Exponential.calibrated([[1, 2]], 1),
        lambda: mechanisms.OneBitMean.from_epsilon(5, 5, 1),
        lambda: mechanisms.OneBitMean.from_epsilon(0, 10**7, 1),
        lambda: mechanisms.OneBitMean.from_epsilon(0, 10**6, "0.0001"),
    ],
)
def test_what_makes_no_mechanism_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ParameterError):
        make()


@every_mechanism
def test_published_integers_make_the_same_mechanism(mechanism: Mechanism) -> None:
    assert mechanism_from_published(mechanism.publish()) == mechanism


@by_parameters
def test_many_answers_go_the_way_of_one(mechanism: OneOfK) -> None:
    dice = np.random.default_rng(7)
    answers = dice.choice(np.array(mechanism.answer_range), size=(50, 40))
    drawn: list[int] = []

    def words(n: int) -> np.ndarray:
        block = dice.integers(0, UNIT, size=n, dtype=np.uint32)
        drawn.extend(block.tolist())
        return block

    reports = mechanism.randomize_many(answers, words)
    if isinstance(mechanism, mechanisms.TwoCoin):  # all first coins, then the second ones of those who need them
        seconds = iter(drawn[answers.size :])
        firsts = drawn[: answers.size]
        drawn = [word for first in firsts for word in (first, next(seconds) if first >= mechanism.truth else 0)]
        assert next(seconds, None) is None
    if isinstance(mechanism, mechanisms.Longitudinal):  # all first steps, then all second ones
        drawn = [word for both in zip(drawn[: answers.size], drawn[answers.size :], strict=True) for word in both]
    source = iter(drawn)
    assert reports.shape == answers.shape
    assert reports.ravel().tolist() == [
        mechanism.randomize(answer, source.__next__) for answer in answers.ravel().tolist()
    ]
    assert next(source, None) is None


@pytest.mark.simulation
@by_parameters
def test_many_answers_by_the_system_have_the_stated_distribution(mechanism: OneOfK) -> None:
    n = 400_000  # more than one block; |z| > 6 in one of at most 30 options has a probability below 1e-7
    matrix = np.array(design_of(mechanism).channel_matrix, dtype=float)
    for column in (0, -1):
        answer = mechanism.answer_range[column]
        start = mechanism.report_range.start if isinstance(mechanism, RowMechanism) else 0
        counts = np.bincount(mechanism.randomize_many(np.full(n, answer)) - start, minlength=mechanism.k)
        share = matrix[:, column]
        assert np.all(np.abs(counts - n * share) < 6.5 * np.sqrt(n * share * (1 - share)) + 6.5)


@pytest.mark.simulation
@by_bits
def test_many_bits_by_the_system_have_the_stated_distribution(mechanism: Mechanism) -> None:
    n = 300_000  # every report, not only every bit: |z| > 6.5 in one of 70 has a probability below 1e-8
    k = mechanism.k
    if isinstance(mechanism, mechanisms.Subset):
        answers: np.ndarray = np.full(n, k - 1)
        truth: list[int] | int = k - 1
    else:
        answers = np.tile(np.arange(k) % 2, (n, 1))
        truth = [option for option in range(k) if option % 2]
    reports = mechanism.randomize_many(answers)
    assert reports.shape == (n, k)
    assert set(np.unique(reports).tolist()) == {0, 1}
    # A whole number for each report, as they are sorted many times faster than rows.
    found, counts = np.unique(reports @ (1 << np.arange(k)), return_counts=True)
    for number, count in zip(found.tolist(), counts.tolist(), strict=True):
        bits = [number >> option & 1 for option in range(k)]
        if isinstance(mechanism, mechanisms.Subset):
            assert sum(bits) == mechanism.w
            total = math.comb(k - 1, mechanism.w - 1) * mechanism.inside + math.comb(k - 1, mechanism.w) * UNIT
            share = (mechanism.inside if bits[truth] else UNIT) / total
        else:
            assert isinstance(mechanism, mechanisms.TickBoxes)
            p = mechanism.keep / UNIT
            share = math.prod(p if bit == (option in truth) else 1 - p for option, bit in enumerate(bits))  # type: ignore[operator]
        assert abs(count - n * share) < 6.5 * math.sqrt(n * share * (1 - share)) + 6.5


@pytest.mark.parametrize("bad", [[4], [-1], [0, 1, 4], [0.5], ["1"], [True], [2**40]])
def test_many_answers_outside_the_options_are_refused_without_repeating_them(bad: list[object]) -> None:
    with pytest.raises(AnswerError) as caught:
        mechanisms.KAry.from_epsilon(4, 1).randomize_many(bad)  # type: ignore[arg-type]
    assert str(bad[-1]) not in str(caught.value).replace("[0, 4)", "")


def test_no_answers_give_no_reports() -> None:
    assert mechanisms.KAry.from_epsilon(4, 1).randomize_many([]).shape == (0,)


@pytest.mark.parametrize("bad", [4, -1, 1.0, "1", None, True, 10**30])
def test_answers_and_reports_outside_the_options_are_refused(bad: object) -> None:
    mechanism = mechanisms.KAry.from_epsilon(4, 1)
    with pytest.raises(AnswerError) as caught:
        mechanism.randomize(bad)  # type: ignore[arg-type]
    assert str(caught.value) == "answer: must be an integer in [0, 4)"
    with pytest.raises(ReportError, match=r"^here: report must be an integer in \[0, 4\), got "):
        mechanism.reports.check(bad, "here")
