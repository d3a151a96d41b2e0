"""Drawn questions in every analysis: each is estimated among those who were asked, two of one response by cells."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from deniable import ParameterError, Question, Survey, Warner, read_survey
from deniable.mechanisms.k_ary import support_of_digits
from deniable.randomness import system_words
from deniable.survey.group import Group
from deniable.survey.question_types import YES_NO
from deniable_client.device import draw_questions, mixed
from deniable_research.files import Table, compare, cross, estimate_shares, regress
from deniable_research.files.crossing import complete_rows
from deniable_research.files.estimating import cautions
from deniable_research.simulation import Simulation
from deniable_research.simulation.draw import QuestionReports, randomize_people, words_of
from deniable_research.simulation.epsilons import split_over_all
from deniable_statistics.authoring.sample_size import people_needed
from deniable_statistics.comparison import difference
from deniable_statistics.designs.spaces import tally_array
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.joint import DrawnPair, correlation, crosstab, question_pair
from deniable_statistics.joint.pairs import pair_channel
from deniable_statistics.planning.plans import SizePlan, estimands_of
from deniable_statistics.published.published_rows import EstimateRow, estimate
from deniable_statistics.sampling import SimpleSample
from tests.support.drawn_questions import (
    answers_of,
    group_of,
    joint_of,
    joint_survey,
    published_output,
    shared_survey,
    table_of,
)
from tests.support.marks import long
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml
from tools.tables import sharing
from tools.tables.joint import ONE_RESPONSE, rejections_in_one_response

TABLE = [(5, 2.0, 2, 1.65), (5, 1.0, 1, 5.85), (3, 1.1, 1, 2.99)]
"""Questions, epsilon, how many are drawn, and n times the variance of a share of one half."""

by_figure = pytest.mark.parametrize(("size", "epsilon", "s", "variance"), TABLE, ids=str)


def formula(size: int, epsilon: float, s: int) -> float:
    slope = math.expm1(epsilon) / (math.expm1(epsilon) + 2**s)
    return size / (4 * s * slope**2)


def tally_of(survey: Survey, columns: dict[str, QuestionReports], people: slice = slice(None)) -> Tally:
    """What a collector counts of these people."""
    counts: dict[str, tuple[int, ...]] = {}
    for question in survey.questions:
        column = columns[question.id]
        values = column.values[people]
        told = values if column.asked is None else values[column.asked[people]]
        found = tally_array(question.mechanism.reports, told)
        counts[question.id] = found if column.asked is None else (*found, len(told))
    return Tally(len(columns[survey.questions[0].id].values[people]), counts)


def people_of(survey: Survey, joint: Mapping[Any, float], n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Answers of ``n`` people to all questions, drawn from shares of whole tuples."""
    tuples = np.array(list(joint))[rng.choice(len(joint), n, p=list(joint.values()))]
    return dict(zip((question.id for question in survey.questions), tuples.T, strict=True))


# --- what drawing costs and buys


@by_figure
def test_the_variance_follows_from_the_published_integers(size: int, epsilon: float, s: int, variance: float) -> None:
    survey = shared_survey(size, epsilon)
    group = group_of(survey)
    assert (group.size, group.draw) == (size, s)
    for question in survey.questions:
        supports = question.mechanism.support
        assert supports is not None
        exact = Fraction(size, s) / (4 * supports[1].slope ** 2)
        assert float(exact) == pytest.approx(formula(size, epsilon, s), rel=1e-6)
        assert float(exact) == pytest.approx(variance, rel=3e-3)
        (noise,) = {each.noise for each in estimands_of(question, [0.5])}
        assert noise is not None
        assert noise.variance(0.5) == pytest.approx(float(exact), rel=1e-12)
        assert noise.epsilon == survey.epsilon


def test_the_table_of_the_document_is_that_of_the_tool() -> None:
    """As `make tables` prints it."""
    text = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
    for size in (3, 5, 10):
        cells = (sharing.cell(sharing.ways(size, epsilon)) for epsilon in sharing.EPSILONS)
        assert f"| {size} | {' | '.join(cells)} |" in text


@pytest.mark.simulation
@by_figure
@pytest.mark.long
def test_published_estimates_vary_so(size: int, epsilon: float, s: int, variance: float) -> None:
    """Of 25,000 estimates the variance is within 3 % for all but one of a thousand seeds; this one is fixed."""
    survey = shared_survey(size, epsilon)
    rng = np.random.default_rng(51)
    n, rounds, at_once = 500, 5000 * 5 // size // 200 * 200, 200
    found: list[list[float]] = []
    for _ in range(rounds // at_once):
        answers = {question.id: rng.integers(0, 2, n * at_once) for question in survey.questions}
        columns = randomize_people(survey.questions, answers, words_of(rng))
        for start in range(0, n * at_once, n):
            rows = estimate({None: tally_of(survey, columns, slice(start, start + n))}, survey, method="wald")
            found.append([_estimated(row) for row in rows if row.option == "yes"])
    shares = np.array(found)
    # Those who are asked are a random number: 1 / it is larger on average than 1 / its expectation.
    random_n = 1 + (1 - s / size) / (n * s / size)
    assert n * shares.var() == pytest.approx(formula(size, epsilon, s) * random_n, rel=0.03)
    assert n * shares.var() == pytest.approx(variance, rel=0.04)
    assert abs(shares.mean() - 0.5) < 5 * math.sqrt(variance / n / shares.size)


def _estimated(row: EstimateRow) -> float:
    assert row.estimate is not None
    return row.estimate


@pytest.mark.parametrize(("size", "epsilon"), [(5, 2.0), (5, 1.0), (3, 1.1), (2, 4.0), (10, 3.0)])
def test_plans_are_for_the_people_of_the_choice(size: int, epsilon: float) -> None:
    survey = shared_survey(size, epsilon)
    for question in survey.questions:
        needed = people_needed(question.mechanism, wants_mean=False, asked=question.share_asked)
        (estimand,) = estimands_of(question, [0.5])
        assert SizePlan(estimand, 0.05)["people"] == needed
        assert estimand.noise is not None
        assert estimand.noise.expected_width(needed, 0.5) / 2 == pytest.approx(0.05, rel=0.015)
    assert group_of(survey).why is not None
    assert f" {needed:,}; " in str(group_of(survey).why)


@pytest.mark.slow
def test_a_mean_is_planned_for_those_who_are_asked() -> None:
    numbers = [question_toml(f"q{place}", "number", lo=0, hi=10) for place in range(4)]
    survey = read_survey(survey_toml("T", *numbers, epsilon=1.0))
    assert group_of(survey).draw == 1
    for question in survey.questions:
        (estimand,) = estimands_of(question, [])
        assert SizePlan(estimand, 0.05)["people"] == people_needed(question.mechanism, wants_mean=True, asked=0.25)


def test_the_command_plans_for_the_same_people(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(
        survey_toml("T", *(question_toml(f"q{place}", "yes-no") for place in range(5)), epsilon=2.0), encoding="utf-8"
    )
    command = CommandLine("plan")
    rows = json.loads(command.ok("--survey", path, "--share", "0.5", "--width", "0.05", "--format", "json"))["plans"]
    assert [row["people"] for row in rows] == [2540] * 5
    text = command.ok("--survey", path, "--share", "0.5", "--width", "0.05")
    assert "2 of 5 in one response 2,540" in text
    assert "all 5 with epsilon / 5 each 9,861" in text


# --- simulated reports are those of devices


def small_groups() -> Iterator[tuple[str, Survey, tuple[int, ...]]]:
    yield "one response, 2 of 3", joint_survey(2, 3, 2), (1, 0, 1)
    yield "one response of three options, 2 of 3", joint_survey(3, 3, 2), (2, 0, 1)
    yield "one response, all", joint_survey(2, 2, 2), (0, 1)
    group = Group("private", 3, 2)
    coins = [Warner.from_epsilon(epsilon) for epsilon in (1, 2, 0.5)]
    asked = tuple(Question(f"q{place}", "yes-no", "Q?", YES_NO, coin, group=group) for place, coin in enumerate(coins))
    yield "mechanisms of their own, 2 of 3", Survey("T", asked), (1, 0, 1)


@pytest.mark.parametrize(("survey", "answers"), [pytest.param(*rest, id=name) for name, *rest in small_groups()])
def test_simulated_people_and_devices_make_reports_of_one_distribution(
    survey: Survey, answers: tuple[int, ...]
) -> None:
    """All reports of a group against their exact probabilities; each of two tests fails with a chance below 1e-7."""
    expected = {report: float(chance) for report, chance in published_output(survey, answers).items()}
    rng = np.random.default_rng(2)
    ids = [question.id for question in survey.questions]

    n = 200_000
    given = {name: np.full(n, answer) for name, answer in zip(ids, answers, strict=True)}
    columns = randomize_people(survey.questions, given, words_of(rng))
    texts = [
        [value if asked else None for value, asked in zip(column.values.tolist(), marks, strict=True)]
        for column in columns.values()
        for marks in [[True] * n if column.asked is None else column.asked.tolist()]
    ]
    assert_distribution(Counter(zip(*texts, strict=True)), expected)

    words = iter(rng.integers(0, 2**32, 500_000).tolist())
    sent: Counter[tuple[Any, ...]] = Counter()
    choices: dict[str, Any] = dict(zip(ids, answers, strict=True))
    for _ in range(20_000):
        asked = draw_questions(survey, words.__next__)
        sent[tuple(mixed(survey, choices, asked, words.__next__).values())] += 1
    assert_distribution(sent, expected)


def assert_distribution(counts: Counter[tuple[Any, ...]], expected: dict[tuple[Any, ...], float]) -> None:
    assert set(counts) <= set(expected)
    n = counts.total()
    statistic = sum((counts[report] - n * chance) ** 2 / (n * chance) for report, chance in expected.items())
    assert statistic < chi2.isf(1e-7, len(expected) - 1)


# --- intervals


@pytest.mark.simulation
@pytest.mark.parametrize(("size", "epsilon", "s"), [(5, 2.0, 2), (5, 1.0, 1)], ids=str)
@pytest.mark.parametrize("n", [20, 100, pytest.param(300, marks=pytest.mark.long)])
def test_intervals_cover_whatever_number_of_people_is_asked(n: int, size: int, epsilon: float, s: int) -> None:
    """Exactly: over how many are asked, and how many of these say yes; what is left out counts as a miss."""
    survey = shared_survey(size, epsilon)
    question = survey.questions[0]
    supports = question.mechanism.support
    assert supports is not None
    a, b = supports[1].floats
    shares = np.array([0, 0.05, 0.2, 0.5])
    chances = b + (a - b) * shares
    coverage = np.zeros(len(shares))
    for asked in range(n + 1):
        likely = float(binom.pmf(asked, n, s / size))
        if likely < 1e-7:
            continue
        counts = range(asked + 1)
        by_count = binom.pmf(np.arange(asked + 1)[:, None], asked, chances)
        for yes in counts:
            if by_count[yes].max() < 1e-7:
                continue
            rows = (asked - yes, yes, asked)
            tallied, told = question.counted(rows, n)
            low, high = question.mechanism.estimate(tallied, told).confidence_interval()[1]
            coverage += likely * by_count[yes] * ((low <= shares + 1e-12) & (shares <= high + 1e-12))
    assert (coverage >= 0.949).all()
    assert (coverage <= 1).all()


def test_nobody_asked_is_no_estimate_and_every_share_is_possible() -> None:
    survey = shared_survey(5, 2.0)
    nobody = {question.id: (0,) * question.reports.size for question in survey.questions}
    for row in estimate({None: Tally(7, nobody)}, survey):
        assert (row.n, row.count, row.estimate, row.std_error) == (0, 0, None, None)
        assert (row.conf_low, row.conf_high) == (0, 1)


# --- fakes


@pytest.mark.parametrize(("size", "epsilon"), [(5, 2.0), (5, 1.0), (3, 1.1)])
def test_fakes_move_a_question_by_what_is_stated_and_no_more(size: int, epsilon: float) -> None:
    """All that made-up reports instead of any others, one in a hundred, can do to the counts of one question."""
    survey = shared_survey(size, epsilon)
    question, group = survey.questions[0], group_of(survey)
    n = 10_000
    asked = n * group.draw // size
    yes = asked // 2

    def share(no: int, yes: int) -> float:
        return question.mechanism.estimate(*question.counted((no, yes, no + yes), n)).share[1]

    fakes = n // 100
    parts = range(0, fakes + 1, fakes // 5)
    # Replaced are any of those who said no, yes, or nothing; what comes instead says one of these.
    moved = [
        abs(share(asked - yes - gone_no + come_no, yes - gone_yes + come_yes) - share(asked - yes, yes))
        for gone_no, gone_yes, come_no, come_yes in itertools.product(parts, repeat=4)
        if gone_no + gone_yes <= fakes and come_no + come_yes <= fakes
    ]
    counts = {each.id: (asked - yes, yes, asked) for each in survey.questions}
    stated = estimate({None: Tally(n, counts)}, survey, method="wald")[1].fake_margin
    assert stated is not None
    assert max(moved) == pytest.approx(stated, rel=fakes / asked)  # the number of those who are asked moves as well
    assert max(moved) >= stated * (1 - 1e-9)
    supports = question.mechanism.support
    assert supports is not None
    assert stated == pytest.approx(0.01 * size / group.draw / float(supports[1].slope))


def test_files_and_collectors_state_one_margin() -> None:
    survey = shared_survey(5, 2.0)
    rng = np.random.default_rng(3)
    columns = randomize_people(survey.questions, {f"q{j}": rng.integers(0, 2, 600) for j in range(5)}, words_of(rng))
    table = table_of(survey, columns)
    published, read = estimate({None: tally_of(survey, columns)}, survey), estimate_shares(table)
    assert published == read
    assert {row.n for row in read if row.question == "q3"} == {int(table.answered("q3").sum())}


def test_fakes_move_a_mean_by_what_is_stated() -> None:
    """Two reports, so that a fake says the one or the other end of what they stand for."""
    asked = (question_toml(f"q{place}", "number", lo=0, hi=1) for place in range(4))
    survey = read_survey(survey_toml("T", *asked, epsilon=1.0))
    question, n = survey.questions[0], 4000
    assert (group_of(survey).draw, question.mechanism.reports.size) == (1, 2)

    def row(low: int, high: int) -> EstimateRow:
        counts = {each.id: (low, high, low + high) for each in survey.questions}
        return estimate({None: Tally(n, counts)}, survey)[0]

    moved = _estimated(row(500 - n // 100, 500 + n // 100)) - _estimated(row(500, 500))
    assert row(500, 500).statistic == "mean"
    assert moved == pytest.approx(row(500, 500).fake_margin)


# --- pairs


@pytest.mark.parametrize(
    ("k", "size", "s"), [(2, 2, 2), (2, 3, 2), (2, 3, 3), (2, 4, 3), (3, 2, 2), (3, 3, 2), (3, 4, 3)]
)
def test_the_chance_of_a_pair_is_that_of_all_reports_that_hold_both(k: int, size: int, s: int) -> None:
    survey = joint_survey(k, size, s)
    cells = list(itertools.product(range(k), repeat=2))
    names = [(str(one), str(two)) for one, two in cells]
    matrix = pair_channel(support_of_digits(joint_of(survey), k, 2), names, "pair").matrix
    both = Fraction(s * (s - 1), size * (size - 1))
    for first, second in [(0, 1), (size - 1, 0)]:
        for answers in answers_of(survey):
            told: dict[tuple[Any, ...], Fraction] = dict.fromkeys(cells, Fraction(0))
            for report, chance in published_output(survey, answers).items():
                if report[first] is not None and report[second] is not None:
                    told[report[first], report[second]] += chance
            truth = cells.index((answers[first], answers[second]))
            assert [told[cell] / both for cell in cells] == [row[truth] for row in matrix]


HALVES = {
    (1, 1): 0.25,
    (1, 0): 0.1,
    (0, 1): 0.15,
    (0, 0): 0.5,
}
"""Shares of the answers to two questions."""


def cells_of(rows: list[Any]) -> NDArray[np.float64]:
    cells = [row for row in rows if row.measure == "joint"]
    return np.array([[row.estimate, row.std_error, row.conf_low, row.conf_high] for row in cells])


@pytest.mark.long
@pytest.mark.simulation
def test_crosstabs_of_one_response_are_unbiased_and_their_intervals_cover() -> None:
    """Five questions of which two are asked; the two are crossed by one in ten."""
    survey = shared_survey(5, 2.0)
    rng = np.random.default_rng(12)
    people = {(first, 1, second, 0, 1): share for (first, second), share in HALVES.items()}
    truth = np.array([HALVES[cell] for cell in itertools.product((0, 1), repeat=2)])
    rounds, n = 500, 4000
    found, asked = [], []
    for _ in range(rounds):
        columns = randomize_people(survey.questions, people_of(survey, people, n, rng), words_of(rng))
        rows = cross(table_of(survey, columns), ["q0", "q2"])
        found.append(cells_of(rows))
        asked.append(rows[0].n)
    shares, errors, low, high = np.moveaxis(np.array(found), -1, 0)
    # 4 cells: means within 5.5 standard errors of the simulation, deviations within 5.5 / sqrt(1000); below 1e-6
    assert (np.abs(shares.mean(axis=0) - truth) < 5.5 * shares.std(axis=0) / math.sqrt(rounds)).all()
    assert shares.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=5.5 / math.sqrt(2 * rounds))
    covered = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert (covered > 0.95 - 5 * math.sqrt(0.95 * 0.05 / rounds)).all()
    assert np.mean(asked) == pytest.approx(n / 10, abs=5 * math.sqrt(n * 0.09 / rounds))
    # by the formula of the document
    a_less_b = math.expm1(2) / (math.expm1(2) + 4)
    b = 1 / (math.expm1(2) + 4)
    lam = b + a_less_b * truth
    assert errors.mean(axis=0) == pytest.approx(np.sqrt(lam * (1 - lam) / (n / 10)) / a_less_b, rel=0.02)


OF_THREE = np.array([0.5, 0.3, 0.2])
"""Shares of the options of either question."""


def pair_of_three(
    strength: float, n: int, rng: np.random.Generator, weigh: NDArray[np.float64] | None = None
) -> DrawnPair:
    """Two questions of three options; so many people answer both alike, and weigh what their first answer does."""
    survey = joint_survey(3, 2, 2, "3")
    first = rng.choice(3, n, p=OF_THREE)
    second = np.where(rng.random(n) < strength, first, rng.choice(3, n, p=OF_THREE))
    columns = randomize_people(survey.questions, {"q0": first, "q1": second}, words_of(rng))
    one, two = (table_of(survey, columns).item(name) for name in ("q0", "q1"))
    return question_pair(one, two, joint_of(survey), None if weigh is None else SimpleSample.of(weigh[first]))


@pytest.mark.long
@pytest.mark.simulation
def test_two_questions_of_three_options() -> None:
    rng = np.random.default_rng(13)
    truth = 0.4 * np.diag(OF_THREE) + 0.6 * np.outer(OF_THREE, OF_THREE)
    pairs = [pair_of_three(0.4, 800, rng) for _ in range(250)]
    shares = np.array([pair.share for pair in pairs])
    errors = np.array([pair.estimate.std_error for pair in pairs]).reshape(-1, 3, 3)
    assert (np.abs(shares.mean(axis=0) - truth) < 5.5 * shares.std(axis=0) / math.sqrt(250)).all()
    assert shares.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=5.5 / math.sqrt(500))
    assert np.mean([pair.independence().p_value < 0.05 for pair in pairs]) > 0.95
    assert {pair.independence().df for pair in pairs} == {4}
    with pytest.raises(ParameterError, match=r"^correlation: must be of answers that stand for numbers, got names"):
        pairs[0].correlation()


@pytest.mark.long
@pytest.mark.simulation
def test_weighted_pairs_are_those_of_the_weighted_people() -> None:
    rng = np.random.default_rng(14)
    rounds, weigh = 300, np.array([1.0, 2.0, 4.0])
    pairs = [pair_of_three(0.4, 800, rng, weigh) for _ in range(rounds)]
    people = 0.4 * np.diag(OF_THREE) + 0.6 * np.outer(OF_THREE, OF_THREE)
    weighted = people * weigh[:, None] / (people * weigh[:, None]).sum()
    shares = np.array([pair.share for pair in pairs])
    assert (np.abs(shares.mean(axis=0) - weighted) < 5.5 * shares.std(axis=0) / math.sqrt(rounds)).all()
    kish = (OF_THREE @ weigh) ** 2 / (OF_THREE @ weigh**2)
    assert np.mean([pair.estimate.n_effective for pair in pairs]) == pytest.approx(800 * kish, rel=0.01)
    errors = np.array([pair.estimate.std_error for pair in pairs]).reshape(-1, 3, 3)
    # Kish's number supposes weights that have nothing to do with the answers.
    assert shares.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=0.4)


def test_equal_weights_change_nothing() -> None:
    plain, weighted = (pair_of_three(0.4, 500, np.random.default_rng(6), weigh) for weigh in (None, np.full(3, 2.0)))
    assert weighted.estimate.share == pytest.approx(plain.estimate.share)
    assert weighted.estimate.std_error == pytest.approx(plain.estimate.std_error)
    assert weighted.independence().statistic == pytest.approx(plain.independence().statistic)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("name", "n"),
    [
        case if case[1] == 30 or place in (1, 8) else long(*case)
        for place, case in enumerate(
            itertools.product(
                ["2 options, one of .2", "2 options, epsilon 4, one of .1", *list(ONE_RESPONSE)[-3:-1]], [30, 100, 500]
            )
        )
    ],
)
def test_independence_keeps_its_level_with_few_reports_too(name: str, n: int) -> None:
    """The short version of what `make tables` prints; five standard errors above the level at most."""
    assert rejections_in_one_response(name, n, 400, seed=n) < 0.05 + 5 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.long
@pytest.mark.simulation
def test_independence_of_two_questions_is_told_from_a_link() -> None:
    rng = np.random.default_rng(15)
    p_values = np.array([pair_of_three(0, 600, rng).independence().p_value for _ in range(300)])
    assert abs((p_values < 0.5).mean() - 0.5) < 5 * 0.5 / math.sqrt(300)
    assert (p_values < 0.05).mean() < 0.05 + 5 * math.sqrt(0.05 * 0.95 / 300)


MIXED = survey_toml(
    "T",
    *(question_toml(f"q{place}", "yes-no") for place in range(3)),
    question_toml("town", "choice", options=["a", "b", "c"], epsilon=2.0),
    *(question_toml(name, "yes-no", group="own") for name in ("r0", "r1")),
    epsilon=4.0,
    draw=2,
    groups={"own": {"epsilon": 2.0}},
    cohorts=["x", "y"],
)


def mixed_columns(n: int, rng: np.random.Generator) -> tuple[Survey, dict[str, QuestionReports]]:
    survey = read_survey(MIXED)
    assert group_of(survey).joint is not None
    first = rng.random(n) < 0.4
    answers: dict[str, Any] = {
        "q0": first.astype(int),
        "q1": np.where(rng.random(n) < 0.5, first, rng.random(n) < 0.4).astype(int),
        "q2": np.zeros(n, dtype=int),
        "town": np.where(first, 0, rng.integers(0, 3, n)),
        "r0": first.astype(int),
        "r1": 1 - first,
    }
    return survey, randomize_people(survey.questions, answers, words_of(rng))


@pytest.mark.long
@pytest.mark.simulation
def test_a_question_of_a_group_is_crossed_with_one_outside_by_those_who_were_asked() -> None:
    """With a question of its own, and with one of another group; each seed within 5.5 standard errors, below 1e-6."""
    rng = np.random.default_rng(16)
    truths = {
        ("q0", "town"): [0.2, 0.2, 0.2, 0.4, 0, 0],
        ("q0", "r0"): [0.6, 0, 0, 0.4],
    }
    rounds = 200
    found: dict[tuple[str, str], list[NDArray[np.float64]]] = {names: [] for names in truths}
    for _ in range(rounds):
        survey, columns = mixed_columns(2000, rng)
        table = table_of(survey, columns)
        for names in truths:
            complete = table.where(complete_rows(table, names))
            crossed = crosstab(*map(complete.item, names))
            assert crossed.n == table.answered(*names).sum()
            found[names].append(np.stack([crossed.share.ravel(), crossed.std_error.ravel()], axis=1))
    for names, truth in truths.items():
        rows = cross(table, names)
        assert rows[0].n == table.answered(*names).sum()
        assert (cells_of(rows)[:, :2] == found[names][-1]).all()
        shares, errors = np.moveaxis(np.array(found[names]), -1, 0)
        assert (np.abs(shares.mean(axis=0) - truth) < 5.5 * shares.std(axis=0) / math.sqrt(rounds)).all()
        assert shares.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=5.5 / math.sqrt(2 * rounds))


def test_two_of_one_response_are_crossed_and_nothing_else() -> None:
    survey, columns = mixed_columns(3000, np.random.default_rng(17))
    table = table_of(survey, columns, number=("1", "2", "4") * 1000)
    rows = cross(table, ["q0", "q1"])
    assert [row.measure for row in rows] == ["joint"] * 4 + ["independence", "odds ratio", "correlation"]
    assert rows[0].n == table.answered("q0", "q1").sum()
    sentence = re.escape(
        "q0, q1: must not share one response to be analysed like this, got questions of group 'survey'; "
        "of these only a crosstab of two and regressions by maximum likelihood are known"
    )
    for refused in (
        lambda: cross(table, ["q0", "q1", "town"]),
        lambda: regress(table, "number ~ q0 + q1"),
    ):
        with pytest.raises(ParameterError, match=f"^{sentence}$"):
            refused()
    with pytest.raises(ParameterError, match=r"^permutations: must be 0 for what is of one draw"):
        cross(table, ["q0", "q1"], permutations=100)


def test_questions_that_nobody_is_asked_together_are_refused() -> None:
    survey, columns = mixed_columns(50, np.random.default_rng(21))
    three = table_of(survey, columns)
    survey = shared_survey(5, 1.0)
    columns = randomize_people(survey.questions, {f"q{j}": np.zeros(50, dtype=int) for j in range(5)}, system_words)
    one = table_of(survey, columns)
    for refused, names, draw in (
        (lambda: cross(three, ["q0", "q1", "q2"]), "q0, q1, q2", 2),
        (lambda: cross(one, ["q0", "q1"]), "q0, q1", 1),
        (lambda: cross(one, ["q3", "q4"], given="q4"), "q3, q4", 1),
        (lambda: regress(one, "q0 ~ q1"), "q0, q1", 1),
    ):
        sentence = (
            f"^{names}: must be asked of the same people to be analysed together, "
            f"got questions of group 'survey', of which each device asks {draw}$"
        )
        with pytest.raises(ParameterError, match=sentence):
            refused()


def test_shares_given_an_answer_are_those_of_the_cells() -> None:
    survey, columns = mixed_columns(3000, np.random.default_rng(18))
    table = table_of(survey, columns)
    joint = {(row.first_option, row.second_option): row for row in cross(table, ["q0", "q1"])}
    for row in cross(table, ["q0", "q1"], given="q0"):
        if row.measure == "conditional":
            cell = joint[row.first_option, row.second_option].estimate
            margin = sum(joint[row.first_option, each].estimate or 0 for each in ("no", "yes"))
            assert row.estimate == pytest.approx((cell or 0) / margin)


# --- cohorts, shares, files


def test_cohorts_are_compared_by_those_who_were_asked() -> None:
    survey, columns = mixed_columns(2000, np.random.default_rng(19))
    cohorts = ("x", "y", "y", "y") * 500
    table = table_of(survey, columns, cohort=cohorts)
    mechanism = survey.question("q0").mechanism
    found = {}
    for label in "xy":
        mine = np.array(cohorts) == label
        column = columns["q0"]
        assert column.asked is not None
        told = column.values[mine & column.asked]
        found[label] = mechanism.estimate(tally_array(mechanism.reports, told), len(told))
    rows = estimate_shares(table, ["q0"], by="cohort")
    assert [(row.cohort, row.n) for row in rows if row.option == "yes"] == [
        (label, each.n) for label, each in found.items()
    ]
    assert {row.estimate for row in rows if row.cohort == "x"} == set(found["x"].share)
    wanted = difference(found["x"], found["y"], 1)
    (row,) = [each for each in compare(table, "q0", "cohort") if (each.option, each.measure) == ("yes", "difference")]
    assert (row.estimate, row.conf_low, row.conf_high) == pytest.approx(
        (wanted.difference, *wanted.confidence_interval())
    )


def test_commands_say_how_many_were_asked(tmp_path: Path) -> None:
    survey = shared_survey(5, 2.0)
    path, reports = tmp_path / "survey.json", tmp_path / "reports.csv"
    path.write_bytes(survey.document)
    CommandLine("simulate").ok(path, "--respondents", 300, "--repetitions", 2, "--reports", reports)
    table = Table.read(reports, survey)
    result = CommandLine("analyze", "shares").run(reports, "--survey", path)
    assert result.exit_code == 0
    for question in survey.questions:
        asked = int(table.answered(question.id).sum())
        assert 60 < asked < 180
        assert f"{question.id}: asked of {asked} of 300\n" in result.stderr
    fit = CommandLine("analyze", "regress").run(reports, "q0 ~ q1", "--survey", path)
    assert fit.exit_code == 0
    assert f"{int((table.answered('q0') | table.answered('q1')).sum())} rows" in fit.stdout
    assert f"q1: asked of {int(table.answered('q1').sum())} of 300\n" in fit.stderr
    assert "Independence: \u03c7\u00b2(1)" in CommandLine("analyze", "crosstab").ok(
        reports, "q0", "q1", "--survey", path
    )


# --- simulations of whole surveys


@pytest.mark.simulation
def test_simulated_surveys_find_what_the_formula_says() -> None:
    survey = shared_survey(5, 2.0)
    rows = Simulation(survey, {"q1": 0.2}, 400).run(300, seed=20)
    for row in rows:
        assert abs(row.bias) < 4 * row.bias_error, row
        assert row.coverage > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 300), row
        assert abs(row.stated_se - row.empirical_se) < 4 * row.empirical_se_error, row
    (yes,) = [row for row in rows if (row.question, row.option) == ("q0", "yes")]
    assert yes.stated_se == pytest.approx(math.sqrt(formula(5, 2.0, 2) / 400), rel=0.02)


@pytest.mark.long
@pytest.mark.simulation
def test_splitting_has_the_errors_that_the_formula_says(tmp_path: Path) -> None:
    """Three yes-no questions for 1.1 in all: drawn sqrt(2.99), split sqrt(.25 / tanh(1.1 / 6)^2), over sqrt(n)."""
    path = tmp_path / "six.toml"
    path.write_text(
        survey_toml("T", *(question_toml(f"q{place}", "yes-no") for place in range(3)), epsilon=1.1), encoding="utf-8"
    )
    arguments = (path, "--split", "--respondents", 6366, "--repetitions", 400, "--method", "wilson", "--format", "json")
    rows = json.loads(CommandLine("simulate").ok(*arguments))["figures"]
    wanted = math.sqrt(0.25 / math.tanh(1.1 / 6) ** 2 / formula(3, 1.1, 1))
    assert wanted == pytest.approx(1.594, abs=0.001)
    drawn = np.array([row["empirical_se"] for row in rows if row["option"] == "yes"])
    split = np.array([row["empirical_se_if_split"] for row in rows if row["option"] == "yes"])
    # 3 x 400 estimates either way: the ratio within 5 standard errors, sqrt(1 / 1200) of it
    ratio = math.sqrt((split**2).mean() / (drawn**2).mean())
    assert ratio == pytest.approx(wanted, rel=5 / math.sqrt(1200))
    text = CommandLine("simulate").ok(path, "--split", "--respondents", 50, "--repetitions", 2)
    assert "if split" in text
    assert "If split: the spread if all people were asked all questions, at a part of epsilon each." in text


def test_split_is_the_same_survey_asked_of_everybody() -> None:
    survey = read_survey(MIXED)
    split = split_over_all(survey)
    assert split.groups == {}
    assert [each.id for each in split.questions] == [each.id for each in survey.questions]
    assert split.question("town") == survey.question("town")
    for name, epsilon in (("q0", 4 / 3), ("r0", 1)):
        assert split.question(name).epsilon == pytest.approx(epsilon, rel=1e-6)
    assert split.epsilon <= survey.epsilon


def test_what_cannot_be_simulated_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1.0)), encoding="utf-8")
    assert "--split needs a survey with groups" in CommandLine("simulate").refused(path, "--split")
    with pytest.raises(ParameterError, match=r"^respondents: must be so many that devices draw every question and box"):
        Simulation(shared_survey(5, 1.0), respondents=2).run(2, seed=1)


@pytest.mark.simulation
@pytest.mark.parametrize(("epsilon", "draw"), [(2.0, 2), long(4.0, 1)])
def test_intervals_for_the_respondents_hold_those_too_who_were_not_asked(epsilon: float, draw: int) -> None:
    survey = read_survey(
        survey_toml("T", *(question_toml(f"q{j}", "yes-no") for j in range(5)), epsilon=epsilon, draw=draw)
    )
    rng = np.random.default_rng(11)
    held, n, repetitions = 0, 2000, 400
    for _ in range(repetitions):
        answers = {each.id: rng.integers(0, 2, n) for each in survey.questions}
        columns = randomize_people(survey.questions, answers, words_of(rng))
        counts = {
            each.id: (*tally_array(each.mechanism.reports, told := columns[each.id].told), len(told))
            for each in survey.questions
        }
        row = estimate({None: Tally(n, counts)}, survey, target="respondents")[1]
        held += row.conf_low <= answers["q0"].mean() <= row.conf_high
    # Before those who were not asked counted as respondents, 5 and 8 of 10; 400 of .95 are below .88 once in 10**8.
    assert held / repetitions > 0.88


def test_items_of_one_response_are_not_multiplied() -> None:
    survey = shared_survey(5, 2.0)
    rows = [{f"q{j}": str(n % 2) if j in (n % 5, (n + 1) % 5) else "" for j in range(5)} for n in range(60)]
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]} | {"cohort": ("",) * 60}
    one, two = Table.of(columns, survey).items("q0", "q1")
    with pytest.raises(ParameterError, match="q0, q1: must not be questions of one response"):
        crosstab(one, two)
    with pytest.raises(ParameterError, match="q0, q1: must not be questions of one response"):
        correlation(one, two)


def test_a_file_with_rows_that_no_device_makes_is_doubted() -> None:
    survey = shared_survey(5, 2.0)
    rows = [{f"q{j}": str(j % 2) if j < 2 + (n < 7) else "" for j in range(5)} for n in range(60)]
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]} | {"cohort": ("",) * 60}
    table = Table.of(columns, survey)
    assert cautions(table, ["q0"])[0] == "group 'survey': 7 of 60 rows hold more or fewer of its questions than 2"
