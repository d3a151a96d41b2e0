"""Means among those to whom a question applies: the mechanism of numbers with a filter, and its estimates."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import multinomial

from deniable import FilteredPiecewise, KAry, ParameterError, Tally, parse_survey, read_survey
from deniable.exact import exp_below
from deniable.randomness import UNIT
from deniable_client.device import randomize, true_answers
from deniable_statistics.authoring.sample_size import people, variance_for
from deniable_statistics.designs.knot_weights import shares_of_knots
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.among import TOO_FEW
from deniable_statistics.estimates.mean_among import AmongMean, mean_variance_among, sums_of_scores
from deniable_statistics.published.published_rows import estimate
from tests.support.marks import long
from tools.rig.survey_files import question_toml, survey_toml

ENDS = FilteredPiecewise.from_epsilon(0, 4, "0.5")
"""Two knots and three reports: the k-ary response to lowest, highest and *does not apply*, after rounding to an end."""

SURVEY = read_survey(
    survey_toml(
        "Numbers for some",
        question_toml("smokes", "yes-no", epsilon=1),
        question_toml("since", "number", lo=0, hi=60, unit="years", epsilon=2, ask_if="smokes = yes"),
        question_toml("mood", "scale", lo=1, hi=5, goal="mean", epsilon=2, ask_if="since >= 10"),
        question_toml("stars", "rating", stars=4, goal="mean", epsilon=2, ask_if="since applies"),
    )
)


@pytest.mark.parametrize(
    ("lo", "hi", "epsilon"), [(0, 4, "0.5"), (18, 78, "1"), (-3, 2, "2"), long(0, 60, "4"), long(0, 1000, "6")]
)
def test_both_scores_have_no_bias_and_epsilon_holds(lo: int, hi: int, epsilon: str) -> None:
    mechanism = FilteredPiecewise.from_epsilon(lo, hi, epsilon)
    rows = [mechanism.row(answer) for answer in mechanism.answer_range]
    assert all(sum(row) == UNIT and min(row) >= 1 for row in rows)
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert ratio == mechanism.likelihood_ratio <= exp_below(Fraction(epsilon))
    assert mechanism.epsilon >= 0.99 * float(epsilon)
    scores = sums_of_scores(mechanism.knots) @ design_of(mechanism).debiasing.weights
    expected = scores @ np.array(rows).T / UNIT
    numbers = (np.arange(lo, hi + 1) - lo) / (hi - lo)
    assert np.abs(expected - [[*numbers, 0], [*np.ones(hi - lo + 1), 0]]).max() < 1e-9


def test_two_knots_are_k_ary_over_both_ends_and_the_option() -> None:
    plain = KAry.from_epsilon(3, "0.5")
    assert len(ENDS.knots) == 2
    assert np.array(ENDS.extreme_rows) / UNIT == pytest.approx(np.array(design_of(plain).float_matrix).T, rel=1e-8)


def test_no_answer_beyond_does_not_apply_is_taken() -> None:
    for answer in (-1, 6):
        with pytest.raises(Exception, match="must be an integer in"):
            ENDS.randomize(answer)
    with pytest.raises(ParameterError, match="others: must be 3 weights"):
        FilteredPiecewise(ENDS.knots, ENDS.weights, ENDS.slopes, (*ENDS.others, 1))


def test_arrays_are_drawn_as_single_answers_are() -> None:
    mechanism = FilteredPiecewise.from_epsilon(0, 10, 2)
    dice = random.Random(5)
    answers = [dice.choice(mechanism.answer_range) for _ in range(500)]
    words = [dice.getrandbits(32) for _ in answers]
    each = [mechanism.randomize(answer, iter([word]).__next__) for answer, word in zip(answers, words, strict=True)]
    assert mechanism.randomize_many(answers, lambda n: np.array(words, dtype=np.uint32)).tolist() == each


def coverage(mechanism: FilteredPiecewise, n: int, applying: float, part: float) -> float:
    """The probability that the 95 % interval holds the mean, over all tallies of three reports but for 1e-4."""
    chances = design_of(mechanism).expected([(1 - part) * applying, part * applying, 1 - applying])
    mean = mechanism.knots[0] + part * (mechanism.knots[1] - mechanism.knots[0])
    spread = 5 * math.sqrt(n) / 2
    total = covered = 0.0
    for x, y in itertools.product(
        *(range(max(0, int(n * p - spread)), min(n, int(n * p + spread)) + 1) for p in chances[:2])
    ):
        if x + y > n or (p := float(multinomial.pmf([x, y, n - x - y], n, chances))) < 1e-8:
            continue
        low, high = AmongMean.from_counts(mechanism, [x, y, n - x - y], mechanism.knots).confidence_interval()
        total += p
        covered += p * (low - 1e-9 <= mean <= high + 1e-9)
    assert total > 1 - 1e-3
    return covered / total


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("epsilon", "n", "applying", "part"),
    [
        ("2", 40, 0.5, 1.0),
        long("0.5", 200, 0.6, 1.0),
        long("0.5", 200, 0.6, 0.5),
        long("1", 200, 0.1, 0.0),
        long("2", 200, 0.6, 1.0),
        long("2", 200, 0.3, 0.5),
        long("2", 200, 0.02, 0.5),
    ],
)
def test_intervals_of_means_keep_their_level_exactly(epsilon: str, n: int, applying: float, part: float) -> None:
    ends = KAry.from_epsilon(3, epsilon)
    kept, other = (int(each * UNIT) for each in ends.support[0])
    kept = UNIT - 2 * other
    mechanism = FilteredPiecewise(
        (0, 1), (kept, other, other), ((other - kept, kept - other, 0),), (other, other, kept)
    )
    assert coverage(mechanism, n, applying, part) >= 0.945


@pytest.mark.simulation
def test_the_price_is_the_variance_that_samples_have() -> None:
    """Seeded: the deviation of 200 means is that of the formula within 20 %, four of its standard errors."""
    mechanism = FilteredPiecewise.from_epsilon(0, 20, 2)
    generator = np.random.default_rng(3)
    n, applying = 20_000, 0.5
    people_there = np.where(generator.random((200, n)) < applying, generator.integers(0, 21, (200, n)), 21)
    found = []
    for each in people_there:
        reports = mechanism.randomize_many(each, lambda size: generator.integers(2**32, size=size, dtype=np.uint32))
        mean = AmongMean.from_counts(mechanism, np.bincount(reports, minlength=mechanism.k).tolist(), mechanism.knots)
        found.append(mean.mean)
    expected = 20 * math.sqrt(variance_for(mechanism, applying) / n)
    assert np.std(found, ddof=1) == pytest.approx(expected, rel=0.2)
    assert mean.std_error == pytest.approx(expected, rel=0.05)
    assert abs(float(np.mean(found)) - 10) < 5 * expected / math.sqrt(len(found))
    shares = shares_of_knots(mechanism.knots)
    few = mean_variance_among(mechanism, mechanism.knots, [0.05 * each / sum(shares) for each in shares])
    assert people(few) > 50 * people(variance_for(mechanism, 0.5))


def test_nothing_is_said_of_nobody_and_fakes_widen() -> None:
    nobody = AmongMean.from_counts(ENDS, [1000 * each for each in design_of(ENDS).expected([0, 0, 1])], (0, 4))
    for each in (nobody, AmongMean.from_counts(ENDS, [0, 0, 0], (0, 4))):
        assert math.isnan(each.mean)
        assert math.isnan(each.std_error)
        assert each.confidence_interval() == (0, 4)
        assert each.fake_margin == 4
    counts = [20_000 * each for each in design_of(ENDS).expected([0.3, 0.3, 0.4])]
    found = AmongMean.from_counts(ENDS, counts, (0, 4))
    assert found.mean == pytest.approx(2)
    plain, some = found.confidence_interval(), found.confidence_interval(fake_share=0.01)
    assert some.low < plain.low < 2 < plain.high < some.high
    # The worst that one in a hundred can do is the margin, to first order.
    worst = [counts[0] * 0.99, counts[1] * 0.99 + 200, counts[2] * 0.99]
    moved = AmongMean.from_counts(ENDS, worst, (0, 4)).mean - 2
    assert 0 < moved <= 1.1 * found.fake_margin
    assert some.low < moved + 2 < some.high
    assert found.confidence_interval(fake_share=0.5) == (0, 4)


def test_a_survey_asks_numbers_of_some() -> None:
    assert [each.mechanism.name for each in SURVEY.questions] == ["warner", *["filtered-piecewise"] * 3]
    assert parse_survey(SURVEY.document, SURVEY.id) == SURVEY
    assert [each.rows for each in SURVEY.questions] == [2, 1, 1, 1]
    assert true_answers(SURVEY, {"smokes": "no", "since": 7}) == {"smokes": 0, "since": 61, "mood": 5, "stars": 4}
    assert true_answers(SURVEY, {"smokes": "yes", "since": 7, "stars": 2}) == {
        "smokes": 1,
        "since": 7,
        "mood": 5,
        "stars": 1,
    }
    for outside in (61, -1, "61"):
        with pytest.raises(Exception, match="since"):
            true_answers(SURVEY, {"smokes": "yes", "since": outside, "stars": 1})
    dice = random.Random(2)
    ways: tuple[dict[str, Any], ...] = ({"smokes": "no"}, {"smokes": "yes", "since": 60, "mood": 5, "stars": 4})
    sizes = {
        len(randomize(SURVEY, answers, word=lambda: dice.getrandbits(32)).encode())
        for _ in range(20)
        for answers in ways
    }
    assert len(sizes) == 1


def counts_of(name: str, shares: Sequence[float], n: int) -> tuple[int, ...]:
    """The tally that ``n`` people have on average, with these shares of the lowest and the highest answer."""
    design = design_of(SURVEY.question(name).mechanism)
    inner = [0.0] * (len(design.truths) - 3)
    full = shares if name == "smokes" else [shares[0], *inner, shares[1], 1 - sum(shares)]
    first, *others = (round(n * chance) for chance in design.expected(full))
    # Of rounded counts that are all reports, the sum is n again.
    return (n - sum(others) if abs(n - sum(others) - first) < 5 else first, *others)


def test_published_rows_hold_the_means_of_some() -> None:
    truths = {"smokes": [0.5, 0.5], "since": [0.25, 0.25], "mood": [0.1, 0.2], "stars": [0.1, 0.4]}
    counts = {name: counts_of(name, shares, 100_000) for name, shares in truths.items()}
    rows = {row.question: row for row in estimate({None: Tally(100_000, counts)}, SURVEY) if row.statistic == "mean"}
    for name, expected in {"since": 30, "mood": 1 + 4 * 2 / 3, "stars": 1 + 3 * 0.8}.items():
        assert rows[name].estimate == pytest.approx(expected, abs=0.01)
        assert rows[name].conf_low < expected < rows[name].conf_high
        assert (rows[name].method, rows[name].n) == ("score", 100_000)
    nobody = {name: counts_of(name, [0.5, 0.5] if name == "smokes" else [0, 0], 60) for name in truths}
    flagged = [row for row in estimate({None: Tally(60, nobody)}, SURVEY) if row.statistic == "mean"]
    assert {row.flag for row in flagged} == {TOO_FEW}
    assert {(row.estimate, row.conf_low) for row in flagged} == {(None, 0), (None, 1)}
