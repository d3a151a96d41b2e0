"""Counts that are drawn without their people have the distribution that they have with people.

All seeds are fixed. Chi-squared tests would fail a right program once in 10,000 other seeds.
"""

from __future__ import annotations

import functools
import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable import (
    MECHANISMS,
    DrawnBoxes,
    KAry,
    Longitudinal,
    Mechanism,
    ParameterError,
    Question,
    Subset,
    Survey,
    TickBoxes,
    Warner,
    read_survey,
)
from deniable.mechanisms import UnequalKAry
from deniable.wire.space import Texts
from deniable_research.simulation import Misbehaviour, Simulation, Truth, generator_of, truth_of
from deniable_research.simulation.counted_surveys import (
    CountedSurvey,
    count_members,
    draw_counts,
    multinomial,
    samplers_of,
)
from deniable_research.simulation.draw import draw_reports
from deniable_research.simulation.simulated_misbehaviour import first_report
from deniable_research.simulation.simulation import ONE_BY_ONE
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import every_report, tally_array
from tests.support.drawn_questions import joint_survey, shared_survey
from tests.support.marks import long
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES, SURVEY

LEAST_P = 1e-4
MISBEHAVIOUR = Misbehaviour(0.15, 0.1, 0.2)
DRAWS = 4_000
FEW_OR_ALL = [1_000, long(DRAWS)]
"""Numbers of draws. A thousand find a deviation twice as large as all of them do."""

Counts = tuple[int, ...]
Likely = Mapping[Counts, float]
"""How likely each row of counts is."""
Coded = Mapping[int, float]
"""The same, of rows as single numbers, which are added up many times faster."""


def coded(counts: Sequence[int], people: int) -> int:
    """A row of counts of so many people as one number, whose digits they are."""
    return sum(count * (people + 1) ** place for place, count in enumerate(counts))


def p_value(drawn: Mapping[int, int], expected: Coded) -> float:
    """Of Pearson's test; rare outcomes are one."""
    assert drawn.keys() <= expected.keys()
    total = sum(drawn.values())
    common = [key for key, share in expected.items() if share * total >= 5]
    observed = [drawn.get(key, 0) for key in common]
    shares = [expected[key] for key in common]
    rest = 1 - math.fsum(shares)
    if rest * total >= 1:
        observed, shares = [*observed, total - sum(observed)], [*shares, rest]
    else:
        shares = [share / math.fsum(shares) for share in shares]
        total = sum(observed)
    return float(stats.chisquare(observed, np.array(shares) * total).pvalue)


def same(first: Iterable[Hashable], second: Iterable[Hashable]) -> float:
    """P-value of two samples being of one distribution; rare outcomes are one."""
    counts = Counter(first), Counter(second)
    keys = sorted(set(counts[0]) | set(counts[1]), key=repr)
    table = np.array([[count[key] for key in keys] for count in counts])
    common = table.sum(axis=0) >= 10
    merged = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    return float(stats.chi2_contingency(merged[:, merged.sum(axis=0) > 0]).pvalue)


def of_one_report(mechanism: Mechanism, shares: Sequence[float]) -> dict[Counts, float]:
    """How likely each report of a person is, from the published weights alone; a report as what it supports."""
    if isinstance(mechanism, TickBoxes | DrawnBoxes):
        found: Counter[Counts] = Counter()
        for ticks in itertools.product((0, 1), repeat=mechanism.k):
            people = math.prod(share if tick else 1 - share for tick, share in zip(ticks, shares, strict=True))
            for report, likely in of_boxes(mechanism, ticks).items():
                found[report] += people * float(likely)  # type: ignore[assignment]  # a Counter adds up floats too
        return dict(found)
    rows = every_report(mechanism.reports)
    likely = np.broadcast_to(design_of(mechanism).likelihood(rows), (len(rows), len(shares))) @ np.array(shares)
    return dict(zip(map(tuple, rows.astype(int).tolist()), likely.tolist(), strict=True))


def of_boxes(mechanism: TickBoxes | DrawnBoxes, ticks: Counts) -> dict[Counts, Fraction]:
    """How likely each report of these ticks is."""
    if isinstance(mechanism, TickBoxes):
        coin = Fraction(mechanism.keep, 2**32)
        return {
            report: math.prod((coin if tick == sent else 1 - coin for tick, sent in zip(ticks, report, strict=True)))
            for report in itertools.product((0, 1), repeat=mechanism.k)
        }
    found = {}
    sets = list(itertools.combinations(range(mechanism.k), mechanism.s))
    for boxes in sets:
        for pattern in itertools.product((0, 1), repeat=mechanism.s):
            is_true = pattern == tuple(ticks[box] for box in boxes)
            marks = [0] * (2 * mechanism.k)
            for box, mark in zip(boxes, pattern, strict=True):
                marks[2 * box + mark] = 1
            weight = mechanism.keep if is_true else mechanism.patterns._other
            found[tuple(marks)] = Fraction(weight, 2**32 * len(sets))
    return found


def of_people(one: Likely, people: int) -> dict[int, float]:
    """How likely each row of counts of so many independent reports is, by its code."""
    each = [(coded(report, people), chance) for report, chance in one.items()]
    found = {0: 1.0}
    for _ in range(people):
        more: dict[int, float] = {}
        for (counts, likely), (report, chance) in itertools.product(found.items(), each):
            more[counts + report] = more.get(counts + report, 0.0) + likely * chance
        found = more
    return found


FILTERED_NUMBER = """
title = "Drinks"
[[questions]]
id = "drinks"
type = "yes-no"
text = "Do you drink?"
epsilon = 1.0
[[questions]]
id = "glasses"
type = "number"
text = "How many glasses a week?"
lo = 1
hi = 9
epsilon = 1.0
ask_if = "drinks = yes"
"""


@functools.cache
def every_question() -> list[Any]:
    boxes = [TickBoxes.from_epsilon(3, 2), DrawnBoxes.from_epsilon(4, 1, 2), DrawnBoxes.from_epsilon(3, 2, 3)]
    subsets = [Subset.from_epsilon(5, 1, 1), Subset.from_epsilon(5, 4, 1), Subset.from_epsilon(2, 1, 1)]
    made = [Question("q", "ticks", "Q?", tuple("abcd"[: each.k]), each) for each in boxes]
    made.append(Question("q", "choice", "Q?", ("a", "b", "c"), Longitudinal.from_epsilon(3, 2, 1)))
    made.append(Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)))
    made.append(Question("q", "choice", "Q?", ("a", "b", "c"), UnequalKAry((2**28, 2**29, 2**30))))
    made += [Question("q", "choice", "Q?", tuple("abcde"[: each.k]), each) for each in subsets]
    return [
        pytest.param(each, id=f"{each.mechanism} over {each.mechanism.k} {each.type}")
        for each in (*read_survey(EVERY_KIND).questions, read_survey(FILTERED_NUMBER).questions[-1], *made)
    ]


def test_every_mechanism_is_among_them() -> None:
    assert {parameter.values[0].mechanism.name for parameter in every_question()} == MECHANISMS.keys()


def uneven(mechanism: Mechanism) -> list[float]:
    """Shares that are all different, the last one 0."""
    answers = len(mechanism.answer_range)
    if isinstance(mechanism, TickBoxes | DrawnBoxes):
        return [0.7 * (1 - box / (answers - 1)) for box in range(answers)]
    total = answers * (answers - 1) / 2
    return [(answers - 1 - place) / total for place in range(answers)]


@pytest.mark.slow
@pytest.mark.parametrize("question", every_question())
@pytest.mark.parametrize("people", [long(1), 3])
@pytest.mark.parametrize("draws", FEW_OR_ALL)
def test_counts_of_a_few_people_have_the_enumerated_distribution(question: Question, people: int, draws: int) -> None:
    mechanism = question.mechanism
    shares = uneven(mechanism)
    expected = of_people(of_one_report(mechanism, shares), people)
    assert math.fsum(expected.values()) == pytest.approx(1)
    law, generator = samplers_of(mechanism).told(shares), generator_of(people)
    drawn = Counter(coded(law(people, generator).tolist(), people) for _ in range(draws))
    assert p_value(drawn, expected) > LEAST_P


@pytest.mark.slow
@pytest.mark.parametrize("question", every_question())
@pytest.mark.parametrize("draws", FEW_OR_ALL)
def test_misbehaving_people_have_the_enumerated_distribution(question: Question, draws: int) -> None:
    mechanism = question.mechanism
    shares = uneven(mechanism)
    truth = Truth(question, tuple(shares))
    first = [0.0] * len(shares) if truth.boxes else [1.0, *[0.0] * (len(shares) - 1)]
    rows = [tuple(row) for row in every_report(mechanism.reports).astype(int).tolist()]
    refused = dict.fromkeys([first_supports(mechanism)], 1.0)
    if isinstance(mechanism, DrawnBoxes):  # the drawn boxes as not ticked, whichever they are
        refused = {row: 1 / math.comb(mechanism.k, mechanism.s) for row in rows if not any(row[1::2])}
    parts = [
        (0.55, of_one_report(mechanism, shares)),
        (0.15, refused),
        (0.1, of_one_report(mechanism, first)),
        (0.2, dict.fromkeys(rows, 1 / len(rows))),
    ]
    one = {row: math.fsum(weight * part.get(row, 0.0) for weight, part in parts) for row in rows}
    counted, generator = CountedSurvey([truth], MISBEHAVIOUR), generator_of(7)
    drawn = Counter(coded(counted.draw(2, generator)[question.id].counts, 2) for _ in range(draws))
    assert p_value(drawn, of_people(one, 2)) > LEAST_P


def first_supports(mechanism: Mechanism) -> Counts:
    first = first_report(mechanism)
    if isinstance(mechanism.reports, Texts):
        assert isinstance(first, Sequence)
        return tuple(first)
    return tuple(int(place == first - mechanism.reports.first) for place in range(mechanism.reports.size))  # type: ignore[operator]  # a number


def whole_survey(name: str) -> tuple[Survey, dict[str, Any]]:
    if name == "drawn questions":
        return shared_survey(3, 1.5, 2), {"q0": 0.8, "q1": 0.1}
    if name == "one response for two of three":
        return joint_survey(2, 3, 2), {"q0": 0.8, "q1": 0.1}
    if name == "one response for all":
        return joint_survey(3, 2, 2), {"q0": [0.6, 0.3, 0.1], "q1": [0.0, 0.2, 0.8]}
    coin, k_ary = KAry.from_epsilon(2, 1), KAry.from_epsilon(3, 1)
    questions = (
        Question("a", "choice", "A?", ("x", "y"), coin),
        Question("b", "choice", "B?", ("x", "y", "z"), k_ary),
        Question("c", "ticks", "C?", ("x", "y"), TickBoxes.from_epsilon(2, 2)),
    )
    return Survey("T", questions), {"a": [0.8, 0.2], "b": [0.2, 0.3, 0.5], "c": [0.4, 0.1]}


WHOLE = ["drawn questions", "one response for two of three", "one response for all", "questions of their own"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    "misbehaviour", [long(Misbehaviour(), name="as told"), pytest.param(MISBEHAVIOUR, id="misbehaving")]
)
@pytest.mark.parametrize("draws", FEW_OR_ALL)
def test_counts_of_all_questions_together_are_those_of_people(
    name: str, misbehaviour: Misbehaviour, draws: int
) -> None:
    """What is asked, who misbehaves and what one response reports ties the counts of several questions together."""
    survey, given = whole_survey(name)
    truths, generator, people = truth_of(survey, given), generator_of(11), 2
    reports = draw_reports(truths, people * draws, misbehaviour, generator)
    rows = []
    for question in survey.questions:
        column, space = reports[question.id], question.mechanism.reports
        supports = column.values if isinstance(space, Texts) else np.eye(space.size, dtype=int)[column.values]
        asked = np.ones(len(supports), dtype=int) if column.asked is None else column.asked.astype(int)
        told = np.column_stack([supports * asked[:, None], asked])
        rows.append(told.reshape(draws, people, -1).sum(axis=1))
    with_people = map(tuple, np.column_stack(rows).tolist())
    counted = CountedSurvey(truths, misbehaviour)
    without = []
    for _ in range(draws):
        told_of = counted.draw(people, generator)
        without.append(
            tuple(
                each for question in survey.questions for each in (*told_of[question.id].counts, told_of[question.id].n)
            )
        )
    assert same(with_people, without) > LEAST_P


@pytest.mark.parametrize("survey", [FIVE_TYPES, EVERY_KIND], ids=["five types", "every kind"])
def test_counts_of_many_people_are_those_of_people(survey: str) -> None:
    truths = truth_of(read_survey(survey))
    people, generator = 100_000, generator_of(5)
    reports = draw_reports(truths, people, MISBEHAVIOUR, generator)
    told = draw_counts(truths, people, MISBEHAVIOUR, generator)
    for truth in truths:
        question = truth.question
        assert told[question.id].n == people
        space = question.mechanism.reports
        for count, other in zip(told[question.id].counts, tally_array(space, reports[question.id].told), strict=True):
            assert abs(count - other) < 5 * math.sqrt(2 * max(count * (1 - count / people), 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "size", "around"), [(5, 2, None), (4, 3, None), (5, 2, [0.5, 0, 0.3, 0.2, 0]), (3, 0, [0.2, 0.8, 0])]
)
@pytest.mark.parametrize("draws", FEW_OR_ALL)
def test_members_of_sets_are_counted_together(k: int, size: int, around: list[float] | None, draws: int) -> None:
    one: dict[Counts, float] = {}
    for centre, weight in [(None, 1.0)] if around is None else list(enumerate(around)):
        others = [option for option in range(k) if option != centre]
        sets = list(itertools.combinations(others, size))
        for chosen in sets:
            row = tuple(int(option in chosen or option == centre) for option in range(k))
            one[row] = one.get(row, 0.0) + weight / len(sets)
    generator, weights = generator_of(3), None if around is None else np.array(around)
    drawn = Counter(coded(count_members(k, size, 3, generator, weights).tolist(), 3) for _ in range(draws))
    expected = of_people(one, 3)
    assert not {key for key, likely in expected.items() if likely == 0} & drawn.keys()
    assert p_value(drawn, expected) > LEAST_P


def test_members_add_up_however_many_sets_there_are() -> None:
    counts = count_members(256, 100, 10**11, generator_of(1))
    assert counts.sum() == 100 * 10**11
    error = math.sqrt(10**11 * 100 / 256 * 156 / 256)
    assert np.abs(counts - 10**11 * 100 / 256).max() < 5 * error


def test_impossible_outcomes_never_come() -> None:
    generator = generator_of(1)
    for _ in range(1000):
        counts = multinomial(10**11, [0.1, 0.2, 0.3, 0.4, 0.0], generator)
        assert counts[-1] == 0
        assert counts.sum() == 10**11


def test_large_surveys_are_counted_and_small_ones_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def draw(truths: Any, people: int, *others: Any) -> Any:
        drawn.append(people)
        return draw_reports(truths, people, *others)

    monkeypatch.setattr(sys.modules["deniable_research.simulation.simulation"], "draw_reports", draw)
    survey = joint_survey(2, 3, 2)
    Simulation(survey, None, ONE_BY_ONE).run(2)
    assert drawn == [ONE_BY_ONE] * 2
    Simulation(survey, None, ONE_BY_ONE + 1).run(2)
    assert len(drawn) == 2


@pytest.mark.long
@pytest.mark.simulation
def test_estimates_of_a_hundred_million_are_unbiased_and_cover() -> None:
    rows = Simulation(read_survey(FIVE_TYPES), {"affair": 0.3}, 10**8).run(100)
    assert len(rows) == 2 + 10 + 3 + 8 + 1
    for row in rows:
        assert row.respondents == 10**8
        assert abs(row.bias) < 4.5 * row.bias_error, row
        assert row.coverage > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 100), row
        assert abs(row.stated_se - row.empirical_se) < 4.5 * row.empirical_se_error, row
        if row.statistic == "share":
            assert row.empirical_se < 0.001, row


def test_cohorts_of_large_surveys_are_compared() -> None:
    rows = Simulation(read_survey(SURVEY), {"affair": 0.3}, 10**6, compare={"affair": 0.31}).run(20)
    (row,) = [row for row in rows if row.statistic == "difference" and row.test and row.option == "yes"]
    assert row.truth == pytest.approx(-0.01)
    assert abs(row.bias) < 4 * row.bias_error
    assert row.rejected == 1


@pytest.mark.long
def test_respondents_cost_no_memory(tmp_path: Path) -> None:
    """As many as there are people; in a process of its own, whose memory is no other test's."""
    file = tmp_path / "survey.toml"
    file.write_text(FIVE_TYPES, encoding="utf-8")
    program = (
        "import resource, sys; from deniable_commands.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def most(respondents: int) -> int:
        arguments = ["simulate", str(file), "--respondents", str(respondents), "--repetitions", "2"]
        run = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
        return int(run.stdout.splitlines()[-1])

    assert most(8 * 10**9) < 1.2 * most(1000)


def test_more_respondents_than_can_be_counted_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"respondents: must be an integer in \[1, 100000000000\]"):
        Simulation(read_survey(FIVE_TYPES), respondents=10**11 + 1)
