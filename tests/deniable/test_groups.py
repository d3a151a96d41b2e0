"""Questions that share one epsilon: what every report is as likely as, which way is chosen, and what is refused."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import (
    KAry,
    ParameterError,
    Question,
    ReportError,
    Survey,
    SurveyError,
    Warner,
    parse_report,
    parse_survey,
    read_survey,
)
from deniable.privacy.ceiling import Ceiling
from deniable.randomness import UNIT
from deniable.report.report import Report
from deniable.survey.group import Group, marginal
from deniable.survey.question_types import QUESTION_TYPES, YES_NO
from deniable.wire.space import Value
from deniable_client import randomize
from deniable_client.device import mixed
from deniable_statistics.authoring.sample_size import people_needed
from deniable_statistics.authoring.sharing import Member, Sharing, ways_to_share, why
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.published.published_rows import estimate
from tests.support.drawn_questions import Likely, Values, answers_of, group_of, joint_of, joint_survey, published_output
from tools.rig.survey_files import question_toml, survey_toml

ONE_RESPONSE = [(k, size, s) for k in (2, 3) for size in (2, 3, 4) for s in (1, 2, 3) if s <= size]
"""Options, questions, and how many are asked."""

one_response = pytest.mark.parametrize(("k", "size", "s"), ONE_RESPONSE, ids=str)


def watched_output(survey: Survey, answers: Sequence[int]) -> Likely:
    """How likely each report is, found by watching the device over every draw that it can make."""
    group, joint = group_of(survey), joint_of(survey)
    choices: dict[str, Any] = {question.id: answer for question, answer in zip(survey.questions, answers, strict=True)}
    sets = math.comb(group.size, group.draw)
    # The words of one response matter by stretches.
    edges = [0, *(joint.keep + lie * joint._other for lie in range(joint.k))]
    found: defaultdict[Values, Fraction] = defaultdict(Fraction)
    for rank in range(sets):
        asked = [survey.questions[place].id for place in group.draw_members(iter([rank]).__next__)]
        for low, high in itertools.pairwise(edges):
            for word in (low, high - 1):
                words = iter([word])
                report = tuple(mixed(survey, choices, asked, words.__next__).values())
                assert next(words, None) is None
                found[report] += Fraction(high - low, 2 * UNIT * sets)
    return dict(found)


def largest_ratio(outputs: Iterable[Likely]) -> Fraction:
    """How many times as likely a report can be under one tuple of answers as under another."""
    every = list(outputs)
    assert all(set(each) == set(every[0]) for each in every)
    return max(max(each[report] for each in every) / min(each[report] for each in every) for report in every[0])


@one_response
def test_reports_of_one_response_are_as_likely_as_published(k: int, size: int, s: int) -> None:
    survey = joint_survey(k, size, s)
    for answers in answers_of(survey):
        expected = published_output(survey, answers)
        assert sum(expected.values()) == 1
        assert len(expected) == math.comb(size, s) * k**s
        assert watched_output(survey, answers) == expected
        for report in expected:
            survey.check_draw(dict(zip(survey.keys, report, strict=True)))


@pytest.mark.parametrize("epsilon", ["0.3", "1.5", "4"])
@one_response
def test_one_response_tells_no_answers_apart_by_more_than_epsilon(k: int, size: int, s: int, epsilon: str) -> None:
    survey = joint_survey(k, size, s, epsilon)
    joint = joint_of(survey)
    # Whoever knows the answers to all other questions learns no more of one than of all.
    every = [published_output(survey, answers) for answers in answers_of(survey)]
    last_alone = every[:k]
    assert largest_ratio(every) == largest_ratio(last_alone) == joint.likelihood_ratio
    (unit,) = survey.units
    assert 0.99 * float(epsilon) < unit.epsilon <= float(epsilon)
    assert math.isclose(unit.epsilon, math.log(joint.likelihood_ratio), rel_tol=1e-12)
    assert {question.epsilon for question in survey.questions} == {unit.epsilon}
    assert unit.epsilon <= unit.cost / 1e6 < unit.epsilon + 1e-6
    assert unit.epsilon <= survey.epsilon <= float(epsilon)


@one_response
def test_which_questions_are_drawn_does_not_depend_on_the_answers(k: int, size: int, s: int) -> None:
    survey = joint_survey(k, size, s)
    alike = dict.fromkeys(itertools.combinations(range(size), s), Fraction(1, math.comb(size, s)))
    for answers in answers_of(survey):
        drawn: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for report, chance in published_output(survey, answers).items():
            drawn[tuple(place for place, value in enumerate(report) if value is not None)] += chance
        assert drawn == alike


@one_response
def test_a_question_of_one_response_is_answered_through_its_mechanism(k: int, size: int, s: int) -> None:
    """Every coordinate, whatever the answers to the others; estimates from what is expected are the truth."""
    survey = joint_survey(k, size, s)
    share_asked = Fraction(s, size)
    for answers in answers_of(survey):
        output = published_output(survey, answers)
        for place, question in enumerate(survey.questions):
            told: defaultdict[Value, Fraction] = defaultdict(Fraction)
            for report, chance in output.items():
                told[report[place]] += chance
            channel = design_of(question.mechanism).channel_matrix
            assert told.pop(None, Fraction(0)) == 1 - share_asked
            assert told == {sent: share_asked * channel[sent][answers[place]] for sent in range(k)}
            supports = question.mechanism.support
            assert supports is not None
            for option in range(k):
                lam = told[option] / share_asked
                found = (lam - supports[option].if_other) / supports[option].slope
                assert found == (option == answers[place])


@one_response
def test_published_estimates_of_what_is_expected_are_the_truth(k: int, size: int, s: int) -> None:
    """A population of every tuple of answers, in different numbers, and all reports as often as they are expected."""
    survey = joint_survey(k, size, s)
    people = dict(zip(answers_of(survey), itertools.count(1), strict=False))
    scale = UNIT * math.comb(size, s)
    counts = {question.id: [0] * question.reports.size for question in survey.questions}
    for answers, number in people.items():
        for report, chance in published_output(survey, answers).items():
            for question, value in zip(survey.questions, report, strict=True):
                for option in question.reports.supports(value):
                    counts[question.id][option] += int(number * chance * scale)
    n = sum(people.values()) * scale
    tally = Tally(n, {name: tuple(each) for name, each in counts.items()})
    rows = {(row.question, row.option): row for row in estimate({None: tally}, survey, method="wald")}
    for place, question in enumerate(survey.questions):
        for option, label in enumerate(question.options):
            row = rows[question.id, label]
            truth = sum(number for answers, number in people.items() if answers[place] == option) / sum(people.values())
            assert row.n == n * s // size
            assert row.estimate == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize(
    ("epsilons", "s"), [(("0.5", "1", "2"), 1), (("0.5", "1", "2"), 2), (("0.5", "1", "2"), 3), (("1", "1"), 1)]
)
def test_without_one_response_a_group_costs_the_dearest_that_it_asks(epsilons: tuple[str, ...], s: int) -> None:
    group = Group("private", len(epsilons), s)
    mechanisms = [Warner.from_epsilon(epsilon) for epsilon in epsilons]
    questions = [
        Question(f"q{place}", "yes-no", "Q?", YES_NO, mechanism, group=group)
        for place, mechanism in enumerate(mechanisms)
    ]
    survey = Survey("T", tuple(questions))
    outputs = [published_output(survey, answers) for answers in answers_of(survey)]
    assert all(sum(each.values()) == 1 for each in outputs)
    dearest = sorted((each.likelihood_ratio for each in mechanisms), reverse=True)[:s]
    assert largest_ratio(outputs) == math.prod(dearest)
    (unit,) = survey.units
    assert unit.epsilon >= math.fsum(sorted((each.epsilon for each in mechanisms), reverse=True)[:s])
    assert unit.epsilon == pytest.approx(math.log(math.prod(dearest)), rel=1e-12)
    assert unit.cost == sum(sorted((math.ceil(each.epsilon * 1e6) for each in mechanisms), reverse=True)[:s])
    assert survey.asks == s


@pytest.mark.parametrize("held", [(), ("q0", "q1", "q2"), ("q0",)])
def test_reports_of_other_numbers_of_questions_are_refused(held: tuple[str, ...]) -> None:
    survey = joint_survey(2, 3, 2)
    values = {name: 1 if name in held else None for name in survey.keys}
    report = Report("00" * 16, None, values)
    sentence = r"^values: must hold 2 of group 'private' \(q0, q1, q2\) and null for the others, got " + str(len(held))
    with pytest.raises(ReportError, match=sentence):
        survey.check_draw(values)
    with pytest.raises(ReportError, match=sentence):
        parse_report(report.encode(), survey)


# --- which way is chosen

Z = 1.959963984540054
YES = Member(QUESTION_TYPES["yes-no"], range(2), None)
MEMBERS = {
    "yes": YES,
    "choice of 3": Member(QUESTION_TYPES["choice"], range(3), None),
    "choice of 12": Member(QUESTION_TYPES["choice"], range(12), None),
    "ticks": Member(QUESTION_TYPES["ticks"], range(8), "shares"),
    "shares of a scale": Member(QUESTION_TYPES["scale"], range(5), "shares"),
    "mean of a scale": Member(QUESTION_TYPES["scale"], range(5), "mean"),
    "number": Member(QUESTION_TYPES["number"], range(11), None),
}


def people(variance: float) -> float:
    """For +-5 points."""
    return variance * (Z / 0.05) ** 2


def question_epsilon(way: Sharing) -> float:
    """What a report tells of one question, to whoever knows the answers to all others."""
    return way.joint.epsilon if way.joint else max(each.epsilon for each in way.mechanisms)


@pytest.mark.parametrize("epsilon", [4.5, 6, 8])
def test_no_way_is_chosen_that_devices_refuse(epsilon: float) -> None:
    ways = ways_to_share([YES] * 5, str(epsilon))
    assert question_epsilon(ways[0]) <= Ceiling.question < epsilon
    text = survey_toml("T", *(question_toml(f"q{n}", "yes-no") for n in range(5)), epsilon=epsilon)
    Ceiling().check(read_survey(text))
    assert "(which devices refuse)" in why(sorted(ways, key=lambda way: way.respondents))


@pytest.mark.parametrize("epsilon", [0.5, 1, 1.1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("size", range(2, 11))
def test_the_way_of_yes_no_questions_is_the_cheapest_by_formula(size: int, epsilon: float) -> None:
    e = math.exp(epsilon)
    wanted = {}
    for s in range(1, size + 1):
        wanted[s, False] = size / (4 * s * math.tanh(epsilon / (2 * s)) ** 2)
        if s > 1 and 2**s <= 1000:
            wanted[s, True] = size / (4 * s * ((e - 1) / (e - 1 + 2**s)) ** 2)
    found = ways_to_share([YES] * size, str(epsilon))
    allowed = [each.respondents for each in found if question_epsilon(each) <= Ceiling.question]
    assert [each.respondents for each in found] == sorted(allowed) + sorted(
        each.respondents for each in found if question_epsilon(each) > Ceiling.question
    )
    for each in found:
        assert each.respondents == pytest.approx(
            people(wanted.pop((each.draw, each.joint is not None))), rel=1e-4, abs=1
        )
    assert all(people(rest) > found[0].respondents - 1 for rest in wanted.values())  # of which none was looked at


@pytest.mark.parametrize(
    "names",
    [
        ("yes", "choice of 3", "ticks"),
        ("choice of 3",) * 4,
        ("shares of a scale",) * 3,
        ("mean of a scale", "number", "yes"),
        ("yes",) * 5 + ("choice of 12",),
        ("choice of 12",) * 6,
        ("ticks", "ticks", "number", "mean of a scale"),
        tuple(MEMBERS),
    ],
)
@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_no_number_of_questions_is_cheaper_than_the_one_that_is_chosen(names: tuple[str, ...], epsilon: str) -> None:
    members = [MEMBERS[name] for name in names]
    best = ways_to_share(members, epsilon)[0]
    every = [ways_to_share(members, epsilon, draw)[0].respondents for draw in range(1, len(members) + 1)]
    assert best.respondents == min(every) == every[best.draw - 1]


@pytest.mark.slow
def test_respondents_are_those_of_the_question_that_takes_the_most() -> None:
    for way in ways_to_share([MEMBERS["yes"], MEMBERS["choice of 12"], MEMBERS["number"]], 2):
        needed = [
            people_needed(mechanism, wants_mean=wants_mean, asked=way.draw / way.size)
            for mechanism, wants_mean in zip(way.mechanisms, (False, False, True), strict=True)
        ]
        assert way.respondents == max(needed) > min(needed)


def test_only_questions_with_one_answer_out_of_equally_many_options_share_a_response() -> None:
    def shares_one(*names: str) -> bool:
        return any(each.joint for each in ways_to_share([MEMBERS[name] for name in names], 2, 2))

    assert shares_one("yes", "yes")
    assert shares_one("shares of a scale", "shares of a scale")
    assert not shares_one("yes", "choice of 3")
    assert not shares_one("ticks", "ticks")
    assert not shares_one("mean of a scale", "mean of a scale")
    assert not shares_one("number", "number")


# --- what authors write


def yes_no(*names: str, **keys: object) -> list[str]:
    return [question_toml(name, "yes-no", **keys) for name in names]


def test_five_questions_of_one_epsilon_are_a_drawn_group() -> None:
    survey = read_survey(survey_toml("T", *yes_no(*"abcde"), epsilon=2.0))
    group = group_of(survey)
    assert (group.name, group.size, group.draw, survey.asks) == ("survey", 5, 2, 2)
    assert group.joint == KAry.from_epsilon(4, 2)
    assert group.why == (
        "fewest respondents for ±5 points: 2 of 5 in one response 2,540; 3 of 5 in one response 3,248; "
        "1 of 5 with all of epsilon 3,312; all 5 with epsilon / 5 each 9,861"
    )
    assert survey.epsilon == group.joint.epsilon


def test_a_draw_that_the_author_says_is_obeyed() -> None:
    for draw in range(1, 6):
        survey = read_survey(survey_toml("T", *yes_no(*"abcde"), epsilon=2.0, draw=draw))
        assert survey.asks == draw
        assert survey.epsilon <= 2
    # All five cost less as questions of their own than in one response over 32 patterns.
    assert [each.group for each in survey.questions] == [None] * 5
    assert {each.mechanism for each in survey.questions} == {Warner.from_epsilon("0.4")}
    every = read_survey(survey_toml("T", *yes_no(*"ab"), epsilon=4.0, draw=2))
    group = group_of(every)
    assert (group.is_drawn, group.joint) == (False, KAry.from_epsilon(4, 4))
    assert every.asks == 2


def test_a_group_of_one_is_a_question_of_its_own() -> None:
    shared = read_survey(survey_toml("T", *yes_no("a"), epsilon=1.0))
    alone = read_survey(survey_toml("T", *yes_no("a", epsilon=1.0)))
    named = read_survey(survey_toml("T", *yes_no("a", group="x"), groups={"x": {"epsilon": 1.0, "draw": 1}}))
    assert shared.document == alone.document == named.document


def test_questions_with_noise_of_their_own_stay_outside() -> None:
    survey = read_survey(
        survey_toml(
            "T",
            *yes_no("a"),
            *yes_no("coin", truth="1/2"),
            *yes_no("b", group="x"),
            *yes_no("own", epsilon=1.0),
            *yes_no("c", group="x"),
            *yes_no("d"),
            epsilon=1.0,
            want=["shares"],
            groups={"x": {"epsilon": 0.5, "want": ["shares"]}},
        )
    )
    assert [each.group.name if each.group else None for each in survey.questions] == [
        *("survey", None, "x", None, "x", "survey")
    ]
    assert [tuple(each.id for each in unit.questions) for unit in survey.units] == [
        *(("a", "d"), ("coin",), ("b", "c"), ("own",))
    ]
    assert survey.asks == 4
    assert survey.epsilon == pytest.approx(1 + math.log(3) + 0.5 + 1, abs=1e-6)


def test_a_choice_that_can_be_declined_shares_like_one_of_three() -> None:
    survey = read_survey(survey_toml("T", *yes_no("a", "b", "c", decline="No answer"), epsilon=4.0, draw=2))
    joint = group_of(survey).joint
    assert joint == KAry.from_epsilon(9, 4)
    assert {each.mechanism for each in survey.questions} == {marginal(joint, 3, is_yes_no=False)}


@pytest.mark.parametrize(
    ("keys", "questions", "sentence"),
    [
        (
            {"groups": {"x": {"epsilon": 1.0}}},
            yes_no("a", "b", group="x", epsilon=1.0),
            "question 'a': must have either group or epsilon: the questions of a group share its noise",
        ),
        (
            {"groups": {"x": {"epsilon": 1.0}}},
            yes_no("a", "b", group="x", truth="1/2"),
            "question 'a': must have either group or truth: the questions of a group share its noise",
        ),
        (
            {"groups": {"x": {"epsilon": 1.0}}},
            yes_no("a", "b", group="x", mechanism="warner"),
            "question 'a': must have either group or mechanism: the questions of a group share its noise",
        ),
        (
            {"groups": {"x": {"epsilon": 1.0}}},
            yes_no("a", "b", group="y"),
            r"question 'a': group must be one of \[groups\] \(x\), got 'y'",
        ),
        ({}, yes_no("a", group="y"), r"question 'a': group must be one of \[groups\] \(this survey has none\), got"),
        ({"groups": {"x": {"epsilon": 1.0}}}, yes_no("a", group=1), r"question 'a': group must be one of \[groups\]"),
        ({"draw": 1}, yes_no("a", "b", epsilon=1.0), "draw: needs epsilon, which the questions share"),
        ({"groups": {"x": {"draw": 1}}}, yes_no("a", group="x"), "group 'x': must have the key epsilon"),
        *(
            (
                {"epsilon": 1.0, "draw": draw},
                yes_no("a", "b"),
                rf"survey: draw: must be an integer in \[1, 2\], the number of questions, got {came}",
            )
            for draw, came in ((0, "0"), (3, "3"), (-1, "-1"), ("1", "'1'"), (1.5, r"Decimal\('1.5'\)"), (True, "True"))
        ),
        (
            {"groups": {"x": {"epsilon": 1.0, "draw": 3}}},
            yes_no("a", "b", group="x"),
            r"group 'x': draw: must be an integer in \[1, 2\]",
        ),
        (
            {"epsilon": 1.0, "groups": {"survey": {"epsilon": 1.0}}},
            yes_no("a", "b", group="survey"),
            "groups: must not be called 'survey', the group of what shares the survey's epsilon",
        ),
        (
            {"epsilon": 1.0},
            yes_no("a", "b", epsilon=1.0),
            "survey: epsilon is shared by questions that have none of their own",
        ),
        (
            {"groups": {"x": {"epsilon": 1.0}}},
            yes_no("a", epsilon=1.0),
            "group 'x': epsilon is shared by questions that have none of their own",
        ),
        (
            {"epsilon": 1.0},
            [*yes_no("a", "b"), question_toml("c", "yes-no", mechanism="warner")],
            "question 'c': must say how much noise: epsilon",
        ),
        (
            {"epsilon": 1e-9},
            yes_no("a", "b"),
            "survey: epsilon: 1e-09 for 2 questions cannot be held by 32-bit weights",
        ),
        (
            {"groups": {"x": {"epsilon": 1e-9}}},
            yes_no("a", "b", group="x"),
            "group 'x': epsilon: 1e-09 for 2 questions cannot be held by 32-bit weights",
        ),
        ({"epsilon": 0}, yes_no("a", "b"), "survey: epsilon: must be"),
        ({"epsilon": -1.0}, yes_no("a", "b"), "survey: epsilon: must be"),
        ({"epsilon": "much"}, yes_no("a", "b"), "survey: epsilon: must be"),
        ({"groups": {"x": {"epsilon": "much"}}}, yes_no("a", "b", group="x"), "group 'x': epsilon: must be"),
        (
            {"groups": {"x": {"epsilon": 1.0, "drawn": 1}}},
            yes_no("a", "b", group="x"),
            "group 'x': has the unknown key 'drawn'; did you mean 'draw'",
        ),
        (
            {"groups": {"x": {"epsilon": 1.0, "mechanism": "k-ary"}}},
            yes_no("a", "b", group="x"),
            "group 'x': has the unknown key 'mechanism'; it can have epsilon, draw",
        ),
        ({"groups": {"x": 1.0}}, yes_no("a", "b", group="x"), r"groups: must be tables such as \[groups.private\]"),
        ({"groups": ["x"]}, yes_no("a", "b", group="x"), r"groups: must be tables such as \[groups.private\]"),
        (
            {"groups": {"X": {"epsilon": 1.0}}},
            yes_no("a", "b", group="X"),
            r"group: must be called by 1 to 40 lower-case letters, digits or underscores, starting with a letter, got",
        ),
    ],
)
def test_what_makes_no_group_is_refused_with_its_name(
    keys: dict[str, object], questions: list[str], sentence: str
) -> None:
    with pytest.raises(SurveyError, match=f"^{sentence}"):
        read_survey(survey_toml("T", *questions, **keys))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "Private"}, "group: must be called by 1 to 40 lower-case letters"),
        ({"size": 1}, "group 'x': must have at least 2 questions, got 1"),
        ({"draw": 0}, r"group 'x': draw must be an integer in \[1, 3\], got 0"),
        ({"draw": 4}, r"group 'x': draw must be an integer in \[1, 3\], got 4"),
        ({"draw": True}, r"group 'x': draw must be an integer in \[1, 3\], got true"),
    ],
)
def test_groups_that_cannot_be_are_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SurveyError, match=f"^{sentence}"):
        Group(**{"name": "x", "size": 3, "draw": 2, **change})


def test_groups_and_their_questions_must_say_the_same() -> None:
    def survey(group: Group, *mechanisms: Warner | KAry) -> Survey:
        asked = []
        for place, mechanism in enumerate(mechanisms):
            kind, options = ("yes-no", YES_NO) if isinstance(mechanism, Warner) else ("choice", tuple("abc"))
            asked.append(Question(f"q{place}", kind, "Q?", options, mechanism, group=group))
        return Survey("T", tuple(asked))

    joint = KAry.from_epsilon(4, 1)
    own = marginal(joint, 2, is_yes_no=True)
    assert isinstance(own, Warner)
    assert survey(Group("x", 2, 2, joint), own, own).asks == 2
    with pytest.raises(SurveyError, match=r"^group 'x': must be the same for its 3 questions, got 2"):
        survey(Group("x", 3, 2, joint), own, own)
    with pytest.raises(SurveyError, match=r"^group 'x': joint must be over the 2 patterns of 1 questions, got 4"):
        survey(Group("x", 2, 1, joint), own, own)
    with pytest.raises(SurveyError, match=r"^question 'q1': mechanism must be what the response of group 'x' does"):
        survey(Group("x", 2, 2, joint), own, Warner.from_epsilon(1))
    with pytest.raises(SurveyError, match=r"^group 'x': joint must be of questions with one answer out of equally"):
        survey(Group("x", 2, 2, joint), own, KAry.from_epsilon(3, 1))


def test_published_groups_read_back_and_hold_what_devices_need() -> None:
    survey = read_survey(survey_toml("T", *yes_no(*"abcde"), epsilon=2.0))
    assert parse_survey(survey.document, survey.id) == survey
    for old, new, sentence in (
        (b'"draw":2', b'"draw":6', r"group 'survey': draw must be an integer in \[1, 5\], got 6"),
        (b'"draw":2', b'"draw":"2"', r"group 'survey': draw must be an integer in \[1, 5\], got a string"),
        (b'"draw":2', b'"draw":1', r"group 'survey': joint must be over the 2 patterns of 1 questions, got 4"),
        (b'"draw":2', b'"draw":2,"epsilon":2', r"groups.survey: has the unknown key 'epsilon'"),
        (b'"group":"survey"', b'"group":"x"', r"group 'survey': must have at least 2 questions, got 0"),
    ):
        assert old in survey.document
        with pytest.raises(SurveyError, match=f"^{sentence}"):
            parse_survey(survey.document.replace(old, new))


@st.composite
def written(draw: Any) -> tuple[str, float]:
    """A survey file with up to two groups, and what its questions may cost together."""
    epsilons = {"survey": draw(st.sampled_from([0.5, 1.0, 2.0, 4.0])), "x": draw(st.sampled_from([0.7, 3.0]))}
    drafts = draw(st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.booleans()), min_size=1, max_size=7))
    named = [False, *(each for _, each in drafts)]  # the first shares the epsilon of the survey
    kinds = ["yes-no", *(each for each, _ in drafts)]
    keys: dict[str, Any] = {"epsilon": epsilons["survey"]}
    if draw(st.booleans()):
        keys["draw"] = draw(st.integers(1, named.count(False)))
    if any(named):
        keys["groups"] = {"x": {"epsilon": epsilons["x"]}}
    else:
        epsilons["x"] = 0
    questions = [
        question_toml(f"q{place}", KINDS[kind][0], **KINDS[kind][1], **({"group": "x"} if is_named else {}))
        for place, (kind, is_named) in enumerate(zip(kinds, named, strict=True))
    ]
    return survey_toml("T", *questions, **keys), sum(epsilons.values())


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "yes-no": ("yes-no", {}),
    "choice": ("choice", {"options": ["a", "b", "c"]}),
    "ticks": ("ticks", {"options": ["a", "b", "c", "d"]}),
    "scale": ("scale", {"lo": 1, "hi": 3}),
    "mean": ("rating", {"stars": 3, "goal": "mean"}),
    "number": ("number", {"lo": 0, "hi": 10}),
}


def some_answer(question: Question, number: int) -> Any:
    if question.kind.takes_several:
        return list(question.options[: number % 3])
    return question.options[number % len(question.options)] if question.options else number % 11


@pytest.mark.fuzz
@settings(max_examples=60, deadline=None, derandomize=True)
@given(written(), st.integers(0, 20))
def test_all_that_authors_write_is_published_and_answered(text_and_epsilon: tuple[str, float], number: int) -> None:
    text, epsilon = text_and_epsilon
    survey = read_survey(text)
    assert 0.98 * epsilon < survey.epsilon <= epsilon + 1e-12
    assert parse_survey(survey.document, survey.id) == survey
    report = randomize(survey, {each.id: some_answer(each, number) for each in survey.questions})
    assert parse_report(report.encode(), survey) == report
    assert sum(value is not None for value in report.values.values()) == survey.asks
    for unit in survey.units:
        mine = {each.id: report.values[each.id] for each in unit.questions}
        assert unit.kept(unit.to_keep(mine)) == mine
        unit.check_values(mine)


def test_a_draw_of_more_questions_than_there_are_is_refused_by_its_number() -> None:
    with pytest.raises(ParameterError, match=r"^draw: must be an integer in \[1, 2\], the number of questions, got 3"):
        ways_to_share([YES] * 2, 1, 3)
