"""Drawn boxes: chance alone says of which boxes a report speaks; each is estimated among the reports that drew it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable import AnswerError, DrawnBoxes, ParameterError, ReportError, SurveyError, TickBoxes, read_survey
from deniable.mechanisms.drawn_boxes import MOST_DRAWN
from deniable.randomness import UNIT
from deniable.wire.space import DrawnBits
from deniable_statistics.authoring.sample_size import noise_if_even
from deniable_statistics.authoring.selection import choose_for_ticks
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import every_report, number_of_reports, tally_array
from tools.rig.survey_files import question_toml, survey_toml

SMALL = [(2, 1), (2, 2), (3, 1), (3, 2), (4, 3), (5, 2)]
by_size = pytest.mark.parametrize(("k", "s"), SMALL, ids=str)


def answers_of(k: int) -> list[tuple[int, ...]]:
    return [ticked for size in range(k + 1) for ticked in itertools.combinations(range(k), size)]


def exact_output(mechanism: DrawnBoxes, answer: tuple[int, ...]) -> dict[str, Fraction]:
    """The exact distribution of reports, found by watching `randomize` over every draw that it can make."""
    found: Counter[str] = Counter()
    sets = math.comb(mechanism.k, mechanism.s)
    for rank in range(sets):
        # The words of one draw: first which boxes, then a word that says what is sent; it matters by stretches.
        start = [rank] if sets > 1 else []
        edges = [0, *(mechanism.keep + lie * mechanism.patterns._other for lie in range(2**mechanism.s)), UNIT]
        for low, high in itertools.pairwise(sorted(set(edges))):
            words = iter([*start, low])
            report = mechanism.randomize(list(answer), words.__next__)
            assert next(words, None) is None
            assert report == mechanism.randomize(list(answer), iter([*start, high - 1]).__next__)
            found[report] += high - low
    assert sum(found.values()) == sets * UNIT
    return {report: Fraction(weight, sets * UNIT) for report, weight in found.items()}


@by_size
def test_reports_are_as_likely_as_published_and_tell_no_answers_apart_by_more_than_epsilon(k: int, s: int) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, 1, s)
    outputs = [exact_output(mechanism, answer) for answer in answers_of(k)]
    assert all(set(each) == set(outputs[0]) for each in outputs)
    assert len(outputs[0]) == number_of_reports(mechanism.reports) == len(every_report(mechanism.reports))
    assert all(report in mechanism.reports for report in outputs[0])
    worst = max(max(each[report] for each in outputs) / min(each[report] for each in outputs) for report in outputs[0])
    assert worst == mechanism.likelihood_ratio
    assert 0.99 < mechanism.epsilon <= 1
    for answer, output in zip(answers_of(k), outputs, strict=True):
        supported = [Fraction(0)] * (2 * k)
        for report, chance in output.items():
            for option in mechanism.reports.supports(report):
                supported[option] += chance
        assert supported == list(design_of(mechanism).supported(answer))


@by_size
def test_two_drawn_boxes_have_one_chance(k: int, s: int) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, 2, s)
    for answer in answers_of(k):
        told = (0 in answer, 1 in answer)
        for marks in itertools.product(("10", "01"), repeat=2):
            chance = sum(
                share for report, share in exact_output(mechanism, answer).items() if report[:4] == "".join(marks)
            )
            expected = mechanism.pair[marks != tuple("01" if ticked else "10" for ticked in told)]
            assert chance == (expected * Fraction(s * (s - 1), k * (k - 1)) if s > 1 else 0)


@by_size
def test_scores_are_unbiased_whatever_the_answer(k: int, s: int) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, 2, s)
    weights, constant = design_of(mechanism).debiasing
    for answer in answers_of(k):
        expected = weights @ np.array(design_of(mechanism).supported(answer), dtype=float) + constant
        assert expected == pytest.approx([float(box in answer) for box in range(k)], abs=1e-9)


def test_which_boxes_are_drawn_does_not_depend_on_the_answer() -> None:
    mechanism = DrawnBoxes.from_epsilon(4, 2, 2)
    drawn = [
        Counter(
            {
                boxes: sum(
                    chance for report, chance in exact_output(mechanism, answer).items() if boxes_of(report) == boxes
                )
                for boxes in itertools.combinations(range(4), 2)
            }
        )
        for answer in answers_of(4)
    ]
    assert all(each == dict.fromkeys(itertools.combinations(range(4), 2), Fraction(1, 6)) for each in drawn)


def boxes_of(report: str) -> tuple[int, ...]:
    return tuple(box for box in range(len(report) // 2) if "1" in report[2 * box : 2 * box + 2])


@pytest.mark.parametrize(("k", "s"), [(3, 2), (5, 5), (20, 3), (40, 8)])
def test_many_draws_have_the_distribution_of_one(k: int, s: int) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, 2, s)
    n = 60_000
    answer = [0, k - 1]
    rows = np.zeros((n, k), dtype=np.uint8)
    rows[:, answer] = 1
    reports = mechanism.randomize_many(rows)
    assert reports.shape == (n, 2 * k)
    assert (reports.sum(axis=1) == s).all()
    counts = np.array(tally_array(mechanism.reports, reports))
    expected = n * np.array(design_of(mechanism).supported(answer), dtype=float)
    # Each count is binomial; 7 standard errors for each of at most 80: below 1e-9 together.
    assert (np.abs(counts - expected) < 7 * np.sqrt(expected)).all()
    if k == 3:
        texts = Counter("".join(map(str, row)) for row in reports.tolist())
        for report, chance in exact_output(mechanism, tuple(answer)).items():
            assert abs(texts[report] - n * chance) < 7 * math.sqrt(n * chance)


@pytest.mark.parametrize(
    ("k", "epsilon", "s", "variance"), [(8, 2, 2, 2.64), (20, 2, 2, 6.61), (5, 1, 1, 5.85), (5, 2, 2, 1.65)]
)
def test_variance_is_a_small_part_of_that_of_coins_for_each_box(k: int, epsilon: int, s: int, variance: float) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, epsilon)
    assert mechanism.s == s
    at_one_half = noise_if_even(mechanism) / k + 0.25  # chance, and who answers
    assert at_one_half == pytest.approx(variance, rel=0.003)
    assert at_one_half < noise_if_even(TickBoxes.from_epsilon(k, epsilon)) / k / 3.5


@pytest.mark.simulation
def test_estimates_of_simulated_people_vary_as_they_say() -> None:
    mechanism = DrawnBoxes.from_epsilon(8, 2)
    generator = np.random.default_rng(16)
    n, rounds = 2000, 400
    found = []
    for _ in range(rounds):
        people = (generator.random((n, 8)) < 0.5).astype(np.uint8)
        estimate = mechanism.estimate(tally_array(mechanism.reports, mechanism.randomize_many(people)), n)
        found.append(estimate.share)
    shares = np.array(found)
    # Of 3200 estimates the variance is within 5 standard errors, sqrt(2 / 3200) each: 3e-7.
    assert n * shares.var(axis=0).mean() == pytest.approx(2.644, rel=5 * math.sqrt(2 / (8 * rounds)))
    assert np.abs(shares.mean() - 0.5) < 5 * math.sqrt(2.644 / n / (8 * rounds))
    assert np.mean(estimate.std_error) == pytest.approx(math.sqrt(2.644 / n), rel=0.1)


def test_a_box_is_estimated_among_the_reports_that_drew_it() -> None:
    mechanism = DrawnBoxes.from_epsilon(3, 2, 1)
    a, b = mechanism.box.floats
    counts = [30, 70, 200, 0, 0, 0]
    estimate = mechanism.estimate(counts, 300)
    assert estimate.share[:2] == pytest.approx(((0.7 - b) / (a - b), -b / (a - b)))
    assert estimate.std_error[0] == pytest.approx(math.sqrt(0.7 * 0.3 / 100) / (a - b))
    assert estimate.covariance[0, 0] == pytest.approx(estimate.std_error[0] ** 2)
    assert math.isnan(estimate.covariance[0, 1])
    assert [each.n for each in estimate.binomials or ()] == [100, 200, 0]
    assert estimate.feasible[1] == 0
    for interval in (
        estimate.confidence_interval(),
        estimate.confidence_interval(simultaneous=True),
        estimate.respondents_only.confidence_interval(),
    ):
        assert interval[0].low < estimate.share[0] < interval[0].high
    # nobody drew the last box
    assert math.isnan(estimate.share[2])
    assert math.isnan(estimate.std_error[2])
    for method in ("default", "wilson", "wald", "clopper-pearson"):
        assert estimate.confidence_interval(method=method)[2] == (0, 1)
    assert estimate.respondents_only.confidence_interval()[2] == (0, 1)
    assert estimate.flags[0] is None
    assert estimate.flags[1] is not None
    assert estimate.flags[2] is None


def test_the_interval_of_a_box_is_that_of_a_yes_no_question_of_those_who_drew_it() -> None:
    from deniable_statistics.intervals import share_interval

    mechanism = DrawnBoxes.from_epsilon(2, 1, 1)
    estimate = mechanism.estimate([40, 60, 110, 90], 300)
    assert estimate.confidence_interval()[1] == share_interval(90, 200, mechanism.box.floats)


def test_errors_of_these_respondents_leave_out_who_answered_but_not_who_was_drawn() -> None:
    mechanism = DrawnBoxes.from_epsilon(4, 8, 1)
    estimate = mechanism.estimate([25, 25] * 4, 200)
    everybody, alone = estimate.std_error[0], estimate.respondents_only.std_error[0]
    noise = float(mechanism.box.if_true * mechanism.box.if_other) / float(mechanism.box.slope) ** 2
    # 50 of the 200 were drawn: their own variance counts with (200 - 50) / (200 - 1)
    assert alone**2 == pytest.approx((noise + 0.25 * 150 / 199) / 50, rel=1e-6)
    assert everybody**2 == pytest.approx((noise + 0.25) / 50, rel=1e-6)


def test_fakes_choose_the_box_that_they_speak_of() -> None:
    mechanism = DrawnBoxes.from_epsilon(8, 2)
    assert mechanism.estimate([10, 10] * 8, 80).fake_margin == pytest.approx(
        [0.01 * 8 / 2 / float(mechanism.box.slope)] * 8
    )


def test_reports_that_no_device_makes_are_refused() -> None:
    space = DrawnBits(3, 2)
    assert [report in space for report in ("011000", "000110", "010101", "110000", "0110", "01100", "0110ab", 11)] == [
        True,
        True,
        False,
        False,
        False,
        False,
        False,
        False,
    ]
    assert [space.from_text(text) for text in ("b011000", "11000", "111", "x")] == ["011000", "011000", None, None]
    assert [space.of_box("011000", box) for box in range(3)] == [1, 0, None]
    with pytest.raises(
        ReportError, match=r"^here: report must be a text of 3 pairs 00, 01 or 10, 2 of them not 00, got"
    ):
        space.check("010101", "here")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DrawnBoxes(1, 1, 3 * 2**30), "k: must be an integer of at least 2, got 1"),
        (lambda: DrawnBoxes(257, 1, 3 * 2**30), "k: must be at most 256 options, got 257"),
        (lambda: DrawnBoxes(4, 0, 3 * 2**30), r"s: must be an integer in \[1, 4\], got"),
        (lambda: DrawnBoxes.from_epsilon(20, 1, 9), r"s: must be an integer in \[1, 8\], got"),
        (lambda: DrawnBoxes(4, 1, 2**32), "keep: must be an integer above 1 and below"),
        (lambda: DrawnBoxes(4, 1, 2**30), "keep: must exceed the probability of each other"),
        (lambda: DrawnBoxes.from_epsilon(4, 0), "epsilon: must be"),
    ],
)
def test_parameters_that_make_no_mechanism_are_refused(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("answer", [[4], [-1], [0, 0], "01", 3, [True], [0.0], None])
def test_answers_that_are_none_are_refused_without_being_repeated(answer: object) -> None:
    with pytest.raises(AnswerError, match=r"^answer: must be a list of different integers in \[0, 4\)$"):
        DrawnBoxes.from_epsilon(4, 1).randomize(answer)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 5, 8, 64, 256])
def test_epsilon_is_never_above_what_was_asked_and_hardly_below(k: int, epsilon: str) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, epsilon)
    assert 0.99 * float(epsilon) < mechanism.epsilon <= float(epsilon)
    others = [DrawnBoxes.from_epsilon(k, epsilon, s) for s in range(1, min(k, MOST_DRAWN) + 1)]
    assert noise_if_even(mechanism) == min(noise_if_even(each) for each in others)


def test_drawn_boxes_are_chosen_for_ticks_unless_all_boxes_must_stand_together() -> None:
    survey = survey_toml("T", question_toml("drugs", "ticks", options=[*"abcdefgh"], epsilon=2.0))
    question = read_survey(survey).questions[0]
    assert isinstance(question.mechanism, DrawnBoxes)
    assert question.why == choose_for_ticks(8, 2, "shares").why
    for line in ('goal = "together"', 'mechanism = "tick-boxes"'):
        assert isinstance(read_survey(survey + line).questions[0].mechanism, TickBoxes)
    assert isinstance(read_survey(survey + 'mechanism = "drawn-boxes"').questions[0].mechanism, DrawnBoxes)
    with pytest.raises(SurveyError, match="goal must be one of shares, together, got 'mean'"):
        read_survey(survey + 'goal = "mean"')


def test_marks_to_expect_are_those_of_all_people() -> None:
    mechanism, shares = DrawnBoxes.from_epsilon(4, 2, s=3), (0.0, 0.3, 0.5, 1.0)
    expected = np.zeros(8)
    for ticks in itertools.product((0, 1), repeat=4):
        chance = math.prod(share if tick else 1 - share for tick, share in zip(ticks, shares, strict=True))
        answer = [box for box, tick in enumerate(ticks) if tick]
        expected += chance * np.array([float(each) for each in design_of(mechanism).supported(answer)])
    assert design_of(mechanism).expected(shares) == pytest.approx(expected.tolist())


def test_variances_of_scores_of_single_boxes_are_those_of_the_reports() -> None:
    mechanism = DrawnBoxes.from_epsilon(3, 2, s=2)
    every = every_report(mechanism.reports)
    chances = np.random.default_rng(3).dirichlet(np.ones(len(every)))  # whatever people say
    weights = np.array([[2.0, -1, 0, 0, 0, 0], [0, 0, 0.5, 3, 0, 0], [1, 1, 0, 0, 1, 0]])
    scores = every @ weights.T
    found = design_of(mechanism).score_covariance(weights, chances @ every)
    assert np.diag(found)[:2] == pytest.approx(chances @ scores[:, :2] ** 2 - (chances @ scores[:, :2]) ** 2)
    assert np.isnan(found).sum() == 7, "where two boxes meet"
