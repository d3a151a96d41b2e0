"""Numbers near the optimum: exact, unbiased without remainder, and as little noise as the linear program allows."""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable_statistics.authoring
from deniable import (
    DeniableError,
    FilteredPiecewise,
    KAry,
    OneBitMean,
    ParameterError,
    Piecewise,
    Question,
    Survey,
    read_survey,
)
from deniable.errors import AnswerError, BudgetError
from deniable.exact import exp_below
from deniable.mechanisms import mechanism_from_published
from deniable.mechanisms.piecewise import as_integers
from deniable.privacy.ceiling import Ceiling
from deniable.randomness import UNIT
from deniable_statistics.authoring import optimum
from deniable_statistics.authoring.optimum import least_noise, least_noise_of_some, optimal_noise
from deniable_statistics.authoring.sample_size import mean_variance
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.designs.spaces import tally_array
from deniable_statistics.estimates.means import MeanEstimate
from tests.support.marks import long

RANGES = [(0, 1), (0, 2), (-1, 2), (0, 4), (3, 10), (0, 10), (18, 31), (0, 60), (0, 97)]
EPSILONS = ["0.01", "0.1", "0.5", "1", "2", "3", "4", "8", "10"]
QUICK = {
    **{ends: ("0.01", "1", "4", "10") for ends in RANGES if ends[1] < 10},
    (3, 10): ("4",),
    (0, 10): ("1",),
    (18, 31): ("4",),
    (0, 60): ("1", "4"),
    (0, 97): ("1",),
}
"""The epsilons that each range has in the normal run."""

GRID = [
    pytest.param(lo, hi, epsilon, marks=() if epsilon in QUICK[lo, hi] else pytest.mark.long)
    for lo, hi in RANGES
    for epsilon in EPSILONS
]
WIDE = [(0, 1000), (-(10**5), 10**5), (0, 999_983), (-(10**12), 10**6 - 10**12)]

OPTIMUM = {
    10: {"0.5": 16.0, "1": 3.92, "2": 0.794, "3": 0.268, "4": 0.109},
    60: {"0.5": 16.0, "1": 3.89, "2": 0.780, "3": 0.262, "4": 0.106},
    100: {"0.5": 16.0, "1": 3.89, "2": 0.779, "3": 0.261, "4": 0.106},
    4: {"0.5": 15.97, "1": 3.97, "2": 0.801, "3": 0.273, "4": 0.0976},
    6: {"0.5": 15.99, "1": 3.93, "2": 0.800, "3": 0.271, "4": 0.107},
}
"""The least noise there can be, by the last answer and epsilon, answers scaled to [-1, 1]: `tools.tables.numbers`."""

TWO = Piecewise((0, 4), (3 * 2**30, 2**30), ((-(2**29), 2**29),))


def noise(mechanism: Piecewise) -> float:
    """``n`` times the variance of the mean that chance adds, answers scaled to [-1, 1] and uniform."""
    steps = len(mechanism.answer_range) - 1
    return (mean_variance(mechanism) - (steps + 1) ** 2 / 12 + 1 / 12) * 4 / steps**2


def expected_scores(mechanism: Piecewise, rows: Iterable[Sequence[int]]) -> list[Fraction]:
    """The mean of the scores over the reports of each row, exactly: in whole numbers over one denominator."""
    scores = design_of(mechanism).scores(mechanism.knots)
    common = math.lcm(*(score.denominator for score in scores))
    whole = [score.numerator * (common // score.denominator) for score in scores]
    return [Fraction(sum(map(operator.mul, whole, row)), common * UNIT) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("lo", "hi", "epsilon"), GRID)
def test_every_row_adds_up_and_every_mean_is_without_bias(lo: int, hi: int, epsilon: str) -> None:
    mechanism = Piecewise.from_epsilon(lo, hi, epsilon)
    rows = [mechanism.row(answer) for answer in mechanism.answer_range]
    assert all(sum(row) == UNIT and min(row) >= 1 for row in rows)
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert ratio == mechanism.likelihood_ratio <= exp_below(Fraction(epsilon))
    assert mechanism.epsilon >= 0.99 * float(epsilon)
    assert expected_scores(mechanism, rows) == list(mechanism.answer_range)
    assert len(mechanism.knots) <= 11
    assert len(mechanism.knots) <= mechanism.k <= 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lo", "hi", "epsilon"),
    [
        (*ends, epsilon)
        if (place, epsilon) in ((0, "1"), (0, "10"), (1, "1"), (2, "10"), (3, "1"))
        else long(*ends, epsilon)
        for place, ends in enumerate(WIDE)
        for epsilon in ("0.1", "1", "4", "10")
    ],
)
def test_wide_ranges_are_as_exact(lo: int, hi: int, epsilon: str) -> None:
    mechanism = Piecewise.from_epsilon(lo, hi, epsilon)
    middle = (lo + hi) // 2
    answers = sorted({lo, lo + 1, *mechanism.knots, middle, middle + 1, hi - 1, hi})
    rows = [mechanism.row(answer) for answer in answers]
    assert all(sum(row) == UNIT and min(row) >= 1 for row in rows)
    assert expected_scores(mechanism, rows) == answers
    assert 0.99 * float(epsilon) <= mechanism.epsilon <= float(epsilon)
    for outside in (lo - 1, hi + 1):
        with pytest.raises(AnswerError):
            mechanism.randomize(outside)


@pytest.mark.slow
def test_what_32_bits_cannot_hold_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"^epsilon: 0.01 over a range of 1000000 cannot be held by 32-bit weights"
    ):
        Piecewise.from_epsilon(0, 10**6, "0.01")
    with pytest.raises(ParameterError, match=r"^range: lo and hi must be integers, hi above lo and at most 1000000"):
        Piecewise.from_epsilon(0, 10**6 + 1, 1)


def test_two_knots_and_two_reports_are_one_bit() -> None:
    for bit in (OneBitMean.from_epsilon(3, 20, 1), OneBitMean.from_epsilon(-(10**5), 10**5, 2)):
        least = (
            int(design_of(bit).channel_matrix[1][0] * UNIT) if bit.steps < 100 else (UNIT - bit.steps * bit.slope) // 2
        )
        same = Piecewise((bit.lo, bit.hi), (UNIT - least, least), ((-bit.slope, bit.slope),))
        assert same.likelihood_ratio == bit.likelihood_ratio
        assert (design_of(same).float_matrix == design_of(bit).float_matrix).all()
        assert design_of(same).answer_values == design_of(bit).answer_values
        for answer, word in itertools.product((bit.lo, bit.lo + 7, bit.hi), (0, least, UNIT // 2, UNIT - least)):
            # The same probabilities; which words bring 1 is the other way round.
            mirrored = same.randomize(answer, lambda word=word: UNIT - 1 - word)
            assert mirrored == bit.randomize(answer, lambda word=word: word)
        for counts in ([700, 300], [0, 5]):
            ours, theirs = MeanEstimate.from_counts(same, counts), MeanEstimate.from_counts(bit, counts)
            assert (ours.mean, ours.std_error) == pytest.approx((theirs.mean, theirs.std_error), rel=1e-9)
        assert mean_variance(same) == pytest.approx(mean_variance(bit), rel=1e-9)


def test_without_room_for_more_the_rows_are_those_of_one_bit() -> None:
    assert len(Piecewise.from_epsilon(0, 60, "0.1").knots) == 2
    assert noise(Piecewise.from_epsilon(0, 1, 1)) == pytest.approx(1 / math.tanh(0.5) ** 2 - 1, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1", "2", "4"])
def test_no_other_unbiased_score_has_less_variance(epsilon: str) -> None:
    mechanism = Piecewise.from_epsilon(0, 60, epsilon)
    rows, lam = design_of(mechanism).truth_matrix.T, np.array(design_of(mechanism).expected_if_even)
    scores = np.array([float(score) for score in design_of(mechanism).scores(mechanism.knots)])
    others = np.linalg.svd(rows)[2][len(rows) :]  # what no answer's expectation notices
    assert np.abs(others @ (lam * scores)).max(initial=0) < 1e-7 * (lam @ scores**2)
    assert lam == pytest.approx(design_of(mechanism).float_matrix.mean(axis=1))


@pytest.mark.parametrize(
    ("lo", "hi"), [(0, 4), *(pytest.param(*ends, marks=pytest.mark.slow) for ends in [(0, 60), (-(10**5), 10**5)])]
)
def test_arrays_are_randomised_alike(lo: int, hi: int) -> None:
    mechanism = Piecewise.from_epsilon(lo, hi, 3)
    for answer in {lo, lo + 1, *mechanism.knots, (lo + hi) // 2 + 1, hi - 1, hi}:
        ends = list(itertools.accumulate(mechanism.row(answer)))
        words = sorted({0, UNIT - 1, *ends[:-1], *(end - 1 for end in ends)})
        reports = mechanism.randomize_many(
            [answer] * len(words), lambda n, words=words: np.array(words, dtype=np.uint32)
        )
        assert reports.tolist() == [mechanism.randomize(answer, lambda word=word: word) for word in words]
        assert set(reports.tolist()) == set(mechanism.report_range)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hi", "epsilon"),
    [
        pytest.param(hi, epsilon, marks=() if hi in (4, 60) else pytest.mark.long)
        for hi, optimum in OPTIMUM.items()
        for epsilon in optimum
    ],
)
def test_noise_is_near_the_optimum(hi: int, epsilon: str) -> None:
    least = OPTIMUM[hi][epsilon]
    assert 0.99 * least < noise(Piecewise.from_epsilon(0, hi, epsilon)) < 1.06 * least
    assert optimal_noise(hi, math.exp(float(epsilon))) == pytest.approx(least, rel=0.01)


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(("hi", "epsilon"), [(hi, epsilon) for hi, optimum in OPTIMUM.items() for epsilon in optimum])
def test_simulated_means_have_that_noise(hi: int, epsilon: str) -> None:
    """The variance of 4000 means is off by 2.2 % of its own; each answer is given equally often, so noise is all."""
    mechanism = Piecewise.from_epsilon(0, hi, epsilon)
    dice = np.random.default_rng(hi)  # fixed seed; the words come from it too
    people = np.tile(np.arange(hi + 1), -(-1000 // (hi + 1)))
    means = []
    for _ in range(4000):
        reports = mechanism.randomize_many(people, lambda n: dice.integers(0, UNIT, n, dtype=np.uint32))
        means.append(MeanEstimate.from_counts(mechanism, tally_array(mechanism.reports, reports)).mean)
    scaled = np.array(means) * 2 / hi - 1
    spread = len(people) * float(np.var(scaled))
    assert abs(scaled.mean()) < 5 * math.sqrt(spread / len(people) / len(means))
    assert spread == pytest.approx(noise(mechanism), rel=0.11)
    assert spread < 1.11 * 1.06 * OPTIMUM[hi][epsilon]


@pytest.mark.long
@pytest.mark.simulation
def test_intervals_hold_the_mean() -> None:
    mechanism = Piecewise.from_epsilon(0, 60, 2)
    dice = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        people = np.minimum(dice.poisson(8, 400), 60)
        reports = mechanism.randomize_many(people, lambda n: dice.integers(0, UNIT, n, dtype=np.uint32))
        interval = MeanEstimate.from_counts(mechanism, tally_array(mechanism.reports, reports)).confidence_interval()
        held += interval.low <= 8 <= interval.high
    assert 0.92 < held / 1000 < 0.98


BENDS: dict[str, Any] = {
    "name": "piecewise",
    "knots": [0, 3, 5],
    "weights": [3 * 2**30, 2**29, 2**29],
    "slopes": [[-(2**28), 2**28, 0], [0, -(2**28), 2**28]],
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"knots": [0, 5, 3]}, "knots: must be in rising order"),
        ({"knots": [0, 3, 3]}, "knots: must be in rising order"),
        ({"knots": [5, 3, 0]}, "range: lo and hi must be integers, hi above lo and at most 1000000 apart"),
        ({"knots": [0, 3, 10**6 + 1]}, "range: lo and hi must be integers, hi above lo and at most 1000000 apart"),
        ({"knots": 5}, "knots: must be a list of 2 to 11 integers, got 5"),
        ({"weights": [3 * 2**30, 2**30]}, "weights: must be a list of 3 to 15 integers, got a list"),
        ({"slopes": [[1, -1, 0]]}, "slopes: must be 2 rows, one from each knot to the next"),
        ({"slopes": [[1, -1, 0], [1, -1]]}, "slopes: must be a list of 3 integers, got a list"),
        (
            {"slopes": [[-(2**30), 2**30, 0], [0, 0, 0]]},
            "weights: must all be above 0: an impossible report is infinite",
        ),
        (
            {"weights": [3 * 2**30, 2**29, 2**29 - 1]},
            "weights: every row must add up to 2**32, one adds up to 4294967295",
        ),
        ({"slopes": [[1, 0, 0], [0, 1, -1]]}, "weights: every row must add up to 2**32, one adds up to 4294967299"),
        (
            {"slopes": [[-2, 2, 0], [1, -1, 0]]},
            "slopes: must make independent rows, or no estimate of the mean is without",
        ),
        ({"slopes": [[-2, 2, 0], [0, 0, 0]]}, "slopes: must make independent rows"),
        ({"slopes": [[-2, 2, 0.5], [0, 0, 0]]}, "mechanism piecewise: slopes must be integers of at most 15 digits"),
        ({"lo": 0}, "mechanism piecewise: must have the keys ['knots', 'name', 'slopes', 'weights']"),
    ],
)
def test_bent_rows_are_refused(change: dict[str, Any], sentence: str) -> None:
    assert mechanism_from_published(BENDS)
    with pytest.raises(ParameterError) as refused:
        mechanism_from_published(BENDS | change)
    assert str(refused.value).startswith(sentence)


def test_rows_with_a_larger_ratio_have_the_epsilon_of_their_integers() -> None:
    slope = (UNIT - 3) // 3
    steep = Piecewise((0, 3), (UNIT - 1, 1), ((-slope, slope),))
    assert steep.epsilon == pytest.approx(math.log(3 * slope + 1))
    with pytest.raises(
        BudgetError, match=r"^question 'q': epsilon must be at most 4 on this device, .* asks for 22.18$"
    ):
        Ceiling().check(Survey("T", (Question("q", "number", "?", (), steep),)))


def survey_of(questions: int, line: str) -> str:
    each = f'type = "number"\ntext = "How many hours did you work last week?"\nlo = 0\nhi = 60\n{line}\n'
    return 'title = "T"\n' + "".join(f'[[questions]]\nid = "question_{n}"\n{each}' for n in range(questions))


def test_authors_ask_for_it_by_name_or_get_it() -> None:
    asked = read_survey(survey_of(1, 'epsilon = 2\nmechanism = "piecewise"')).questions[0]
    given = read_survey(survey_of(1, "epsilon = 2")).questions[0]
    assert asked.mechanism == given.mechanism == Piecewise.from_epsilon(0, 60, 2)
    assert given.why is not None
    assert given.why.startswith("fewest respondents for ±5 % of the range: piecewise 441; ")
    assert isinstance(given.mechanism, Piecewise)
    assert mean_values(given) == given.mechanism.knots, "numbers stand for themselves"
    level = (
        'title = "T"\n[[questions]]\nid = "q"\ntype = "scale"\ntext = "?"\nlo = 1\nhi = 7\nepsilon = 2\ngoal = "mean"'
    )
    scale = read_survey(level).questions[0]
    assert isinstance(scale.mechanism, Piecewise)
    assert mean_values(scale) == tuple(1 + knot for knot in scale.mechanism.knots)
    assert not scale.has_shares


@pytest.mark.slow
def test_thirteen_questions_publish_less_than_16_kilobytes() -> None:
    for epsilon in ("1", "2", "3", "4"):
        assert len(read_survey(survey_of(13, f"epsilon = {epsilon}")).document) < 16_000


def test_levels_of_a_scale_have_their_own_mean() -> None:
    mechanism = Piecewise.from_epsilon(0, 6, 2)
    question = Question("q", "scale", "?", tuple(map(str, range(1, 8))), mechanism, goal="mean")
    assert mean_values(question) is not None
    expected = design_of(mechanism).float_matrix @ [0, 0, 1, 0, 0, 0, 0]
    assert MeanEstimate.from_counts(mechanism, expected.tolist(), 1, mean_values(question)).mean == pytest.approx(
        3, abs=1e-9
    )


def test_people_who_mix_in_no_chance_send_what_is_nearest() -> None:
    sent = [design_of(TWO).untouched(answer) for answer in TWO.answer_range]
    assert sent == [0, 0, 0, 1, 1]


def test_without_a_solver_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(DeniableError, match=r"^highspy: is needed for this; .*pip install"):
        Piecewise.from_epsilon(0, 23, "1.23")
    assert KAry.from_epsilon(4, 1)


def test_without_the_statistics_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(deniable_statistics.authoring, "optimum")
    monkeypatch.setitem(sys.modules, "deniable_statistics.authoring.optimum", None)
    for maker in (Piecewise, FilteredPiecewise):
        with pytest.raises(DeniableError, match=r"^deniable_statistics\S*: is needed for this; .*\[statistics\]"):
            maker.from_epsilon(0, 23, "1.23")


@pytest.mark.parametrize("maker", [Piecewise, FilteredPiecewise])
def test_rows_that_give_away_a_part_of_epsilon_are_refused_whoever_solved_for_them(
    maker: type[Piecewise], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimum, "least_noise", lambda steps, asked: least_noise(steps, asked / 2))
    monkeypatch.setattr(optimum, "least_noise_of_some", lambda steps, asked: least_noise_of_some(steps, asked / 2))
    with pytest.raises(ParameterError) as refused:
        maker.from_epsilon(3, 7, 2)
    assert str(refused.value).startswith("numbers from 3 to 7: 32-bit weights give epsilon ")
    assert " where 2 was asked; " in str(refused.value)


def test_a_list_of_the_wrong_length_is_told_every_length_that_it_may_have() -> None:
    for size, wanted in ((range(2, 3), "2"), (range(2, 4), "2 to 3"), (range(2, 12), "2 to 11")):
        assert as_integers([5, 7], "knots", size) == (5, 7)
        with pytest.raises(ParameterError, match=rf"^knots: must be a list of {wanted} integers, got a list$"):
            as_integers([5], "knots", size)
