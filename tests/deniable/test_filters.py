"""Filters: conditions as data, which questions apply, and that no report tells which way somebody went."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from deniable import (
    DeniableError,
    KAry,
    Question,
    Survey,
    SurveyError,
    TickBoxes,
    Warner,
    parse_report,
    parse_survey,
    read_survey,
)
from deniable.mechanisms import DrawnBoxes
from deniable.survey.condition import Answers, among, condition_from, joined
from deniable.survey.group import Group
from deniable_client.device import applying, randomize, true_answers
from deniable_statistics.published.condition_text import opposite
from tests.support.vectors import vectors
from tools.rig import filtered
from tools.rig.survey_files import question_toml, survey_toml

SMOKES = Question("smokes", "yes-no", "?", ("no", "yes"), Warner.from_epsilon(1))
IF_SMOKES = among("smokes", [(1, 1)], range(2))
OFTEN = Question("often", "choice", "?", ("a", "b", "none"), KAry.from_epsilon(3, 1), ask_if=IF_SMOKES)


@pytest.mark.parametrize("vector", vectors("filters"), ids=lambda vector: vector["name"])
def test_vectors(vector: dict[str, Any]) -> None:
    if vector["id"] is None:
        with pytest.raises(SurveyError):
            parse_survey(vector["document"].encode())
        return
    survey = parse_survey(vector["document"].encode(), vector["id"])
    assert [unit.key for unit in survey.units] == vector["keys"]
    for each in vector["people"]:
        shown = [survey.question(name) for name in survey.shown(each["asked"])]
        assert [question.id for question in applying(shown, each["answers"])] == each["route"]
        words = iter(each["words"])
        report = randomize(survey, each["answers"], asked=each["asked"], word=words.__next__, report_id="00" * 16)
        assert report.encode().decode() == each["report"]
        assert next(words, None) is None


def test_opposite_holds_where_a_condition_does_not() -> None:
    dice = random.Random(1)
    for _ in range(2000):
        earlier = {"a": Answers(range(2)), "b": Answers(range(5), is_filtered=True), "c": Answers(range(4), True)}
        condition = filtered.random_condition(earlier, dice)
        answers = {name: dice.choice(earlier[name].possible) for name in "ab"}
        answers["c"] = dice.sample(range(4), dice.randrange(5))  # type: ignore[assignment]
        assert condition.holds(answers) != opposite(condition).holds(answers)
        assert opposite(opposite(condition)).holds(answers) == condition.holds(answers)
        assert not condition.holds({}), "no test of a missing answer holds"


def test_what_is_published_is_read_back_to_the_byte() -> None:
    for seed in range(40):
        survey = filtered.random_survey(random.Random(seed))
        assert parse_survey(survey.document, survey.id) == survey


def test_questions_without_filters_are_published_as_before() -> None:
    assert "ask_if" not in Survey("T", (SMOKES,)).document.decode()
    assert Survey("T", (SMOKES,)).units[0].key == Survey("T", (SMOKES, OFTEN)).units[0].key


def test_a_question_is_another_one_for_a_device_under_another_filter() -> None:
    """Also where the condition is the same to the letter, and the question that it names is another."""
    key = Survey("T", (SMOKES, OFTEN)).keys["often"]
    assert Survey("Another", (SMOKES, OFTEN)).keys["often"] == key
    turned = replace(OFTEN, ask_if=opposite(IF_SMOKES))
    drinks = replace(SMOKES, text="Do you drink?")
    plain = replace(OFTEN, ask_if=None)
    others = [Survey("T", each).keys["often"] for each in ((SMOKES, turned), (drinks, OFTEN), (SMOKES, plain))]
    assert len({key, *others}) == 4


def test_conditions_that_never_or_always_hold_are_refused_by_name() -> None:
    never = joined("all", [IF_SMOKES, opposite(IF_SMOKES)])
    always = joined("any", [IF_SMOKES, opposite(IF_SMOKES)])
    # Whoever is asked how often smokes, so that no smoker is left.
    behind = joined("all", [among("often", [(0, 1)], range(3)), opposite(IF_SMOKES)])
    third = replace(OFTEN, id="third")
    for condition, said in ((never, "can never hold"), (always, "always holds"), (behind, "can never hold")):
        with pytest.raises(SurveyError, match=f"question 'third': ask_if {said}"):
            Survey("T", (SMOKES, OFTEN, replace(third, ask_if=condition)))
    with pytest.raises(SurveyError, match="must be about earlier questions"):
        Survey("T", (OFTEN, SMOKES))
    with pytest.raises(SurveyError, match="must be about earlier questions"):
        Survey("T", (SMOKES, replace(OFTEN, ask_if=among("often", [(0, 0)], range(3)))))


def test_satisfiability_is_decided_as_by_going_through_all_answers() -> None:
    dice = random.Random(7)
    decided = {True: 0, False: 0}
    while min(decided.values()) < 10:
        survey = filtered.random_survey(dice, 3)
        if any(not each.options for each in survey.questions):
            continue
        earlier = {each.id: Answers(each.mechanism.answer_range, each.kind.takes_several) for each in survey.questions}
        condition = filtered.random_condition(earlier, dice)
        found: set[bool] = set()
        for each in all_answers(survey):
            found.add(condition.holds(true_answers(survey, each)))
            if len(found) == 2:
                break
        last = replace(OFTEN, ask_if=condition)
        said = refusal(lambda questions=(*survey.questions, last): Survey("T", questions))
        if "of some of its answers" in said:
            continue  # a test within it that never or always holds
        expected = {frozenset({True}): "always holds", frozenset({False}): "can never hold"}.get(frozenset(found), "")
        assert (expected in said) if expected else not said
        decided[not said] += 1


def refusal(make: Callable[[], Any]) -> str:
    """What a SurveyError says; empty without one."""
    try:
        make()
    except SurveyError as error:
        return str(error) or "nothing"
    return ""


def all_answers(survey: Survey) -> list[dict[str, Any]]:
    """All that people can answer; those to questions that do not apply are dropped."""
    each = []
    for question in survey.questions:
        choices = question.choices
        sets = itertools.chain.from_iterable(itertools.combinations(choices, n) for n in range(len(choices) + 1))
        each.append(list(map(list, sets)) if question.kind.takes_several else list(choices))
    names = [question.id for question in survey.questions]
    return [dict(zip(names, answers, strict=True)) for answers in itertools.product(*each)]


BOXES = Question(
    "boxes", "ticks", "?", ("x", "y", "none"), TickBoxes.from_epsilon(3, 1), ask_if=among("often", [(1, 1)], range(3))
)
FEW = replace(BOXES, mechanism=DrawnBoxes.from_epsilon(3, 1, 2))
LEVELS = Question("level", "scale", "?", ("1", "2", "none"), KAry.from_epsilon(3, 1), "shares", ask_if=IF_SMOKES)


@pytest.mark.parametrize(
    "survey",
    [
        Survey("Two", (SMOKES, OFTEN)),
        Survey("Three", (SMOKES, OFTEN, BOXES)),
        Survey("Drawn boxes", (SMOKES, OFTEN, FEW)),
        Survey("Levels", (SMOKES, LEVELS)),
        Survey("Drawn", tuple(replace(each, group=Group("g", 3, 1)) for each in (SMOKES, OFTEN, BOXES))),
    ],
    ids=lambda survey: survey.title,
)
def test_no_report_tells_more_than_declared_about_the_way(survey: Survey) -> None:
    """Over all answers, so all ways, the exact probabilities of every report differ by at most exp(epsilon)."""
    paths = [true_answers(survey, each) for each in all_answers(survey)]
    worst = Fraction(1)
    for unit in survey.units:
        for each in unit.questions:
            columns = [distribution(each, path[each.id]) for path in paths]
            chances = [[column[value] for column in columns] for value in columns[0]]
            assert max(max(each) / min(each) for each in chances) <= each.mechanism.likelihood_ratio
            assert all(sum(column.values()) == 1 for column in columns)
        worst *= unit.likelihood_ratio
    assert math.log(worst) <= survey.epsilon


def distribution(question: Question, truth: Any) -> dict[Any, Fraction]:
    """Exact probabilities of all reports of a question under an answer."""
    mechanism = question.mechanism
    if isinstance(mechanism, (KAry, Warner)):
        return {
            value: each.if_true if value == truth else each.if_other
            for value, each in enumerate(mechanism.support or ())
        }
    k = len(question.options)
    if isinstance(mechanism, TickBoxes):
        keep = mechanism.support[0].if_true
        return {
            bits: math.prod((keep if (bit == "1") == (box in truth) else 1 - keep) for box, bit in enumerate(bits))
            for bits in map("".join, itertools.product("01", repeat=k))
        }
    assert isinstance(mechanism, DrawnBoxes)
    found = {}
    for drawn in itertools.combinations(range(k), mechanism.s):
        for pattern in itertools.product((0, 1), repeat=mechanism.s):
            right = pattern == tuple(int(box in truth) for box in drawn)
            support = mechanism.patterns.support[0]
            chance = support.if_true if right else support.if_other
            found[drawn, pattern] = chance / math.comb(k, mechanism.s)
    return found


def test_reports_of_all_ways_have_one_form() -> None:
    survey = Survey("Three", (SMOKES, OFTEN, BOXES))
    dice = random.Random(3)
    sizes, keys = set(), set()
    for answers in all_answers(survey):
        for _ in range(20):
            report = randomize(survey, answers, word=lambda: dice.getrandbits(32))
            sizes.add(len(report.encode()))
            keys.add(tuple(report.values))
            assert all(value is not None for value in report.values.values())
    assert len(sizes) == len(keys) == 1


def test_each_way_draws_the_same_words() -> None:
    survey = Survey("Three", (SMOKES, OFTEN, BOXES))
    drawn = set()
    for answers in all_answers(survey):
        words: list[int] = []
        randomize(survey, answers, word=lambda words=words: words.append(0) or 0)
        drawn.add(len(words))
    assert len(drawn) == 1


def test_what_is_missing_is_not_named_and_what_does_not_apply_is_dropped() -> None:
    survey = Survey("Two", (SMOKES, OFTEN))
    with pytest.raises(DeniableError) as caught:
        randomize(survey, {"smokes": "yes"})
    assert "often" not in str(caught.value)
    for smokes in ("yes", "no"):
        with pytest.raises(DeniableError, match="must be one of"):
            randomize(survey, {"smokes": smokes, "often": "none"})
    assert true_answers(survey, {"smokes": "no", "often": "a"}) == true_answers(survey, {"smokes": "no"})


def test_malformed_conditions_are_refused_with_a_sentence() -> None:
    dice = random.Random(5)
    earlier = {"a": Answers(range(2)), "b": Answers(range(5)), "c": Answers(range(3), True)}
    pieces: list[Any] = [
        "all",
        "any",
        "among",
        "has",
        "lacks",
        "a",
        "b",
        "c",
        "",
        0,
        1,
        2,
        4,
        -1,
        10**15,
        None,
        True,
        {},
    ]

    def broken(depth: int) -> Any:
        if depth and dice.random() < 0.5:
            return [broken(depth - 1) for _ in range(dice.randrange(5))]
        return dice.choice(pieces)

    refused = 0
    for _ in range(10_000):
        published = broken(6)
        if said := refusal(lambda published=published: condition_from(published, earlier)):
            assert said != "nothing"
            refused += 1
        else:
            assert condition_from(published, earlier).publish() == published
    assert 9_900 < refused < 10_000


IN_ONE = read_survey(
    survey_toml(
        "Ever, and how often",
        question_toml("ever", "yes-no"),
        question_toml("often", "choice", options=["few", "some", "many"], ask_if="ever = yes"),
        question_toml("helps", "yes-no", ask_if="often in (some, many)"),
        epsilon=2,
    )
)
"""All three questions in one response to the six answers that somebody can give."""


def test_one_response_to_what_somebody_can_answer_is_exact() -> None:
    """By enumeration: epsilon is that of the whole group, each question has its published mechanism, none a bias."""
    (unit,) = IN_ONE.units
    assert unit.group is not None
    assert unit.patterns == ((0, 3, 2), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 1))
    joint = unit.group.joint
    assert joint is not None
    assert IN_ONE.epsilon == joint.epsilon <= 2
    assert unit.likelihood_ratio == joint.likelihood_ratio
    for place, question in enumerate(unit.questions):
        support = question.mechanism.support
        assert support is not None
        for truth in unit.patterns:
            told = dict.fromkeys(range(len(question.options)), Fraction(0))
            for pattern in unit.patterns:
                told[pattern[place]] += joint.support[0][pattern != truth]
            # The channel of the question alone, exactly; its estimates undo this one, so that they have no bias.
            assert list(told.values()) == [each[option != truth[place]] for option, each in enumerate(support)]


def test_devices_send_a_pattern_and_collectors_take_no_other_one() -> None:
    (unit,) = IN_ONE.units
    sent = set()
    for number, word in enumerate(range(0, 2**32, 2**27)):
        answers = ({"ever": "no"}, {"ever": "yes", "often": "few"}, {"ever": "yes", "often": "many", "helps": "no"})
        report = randomize(IN_ONE, answers[number % 3], word=lambda word=word: word)
        sent.add(tuple(report.values.values()))
        assert parse_report(report.encode(), IN_ONE) == report
    assert sent == set(unit.patterns or ())
    for impossible in ((0, 0, 2), (1, 3, 2), (0, 3, 1)):
        text = report.encode().decode()
        values = ",".join(f'"{name}":{value}' for name, value in zip(report.values, impossible, strict=True))
        with pytest.raises(DeniableError, match="answers to group 'survey' that one person can give"):
            parse_report(re.sub(r'"values":{.*?}', f'"values":{{{values}}}', text).encode(), IN_ONE)


def test_questions_beside_one_response_are_sent_with_it() -> None:
    survey = read_survey(
        survey_toml(
            "Between two questions of their own",
            question_toml("first", "yes-no", epsilon=1),
            question_toml("ever", "yes-no"),
            question_toml("often", "choice", options=["few", "some", "many"], ask_if="ever = yes"),
            question_toml("last", "yes-no", epsilon=1),
            epsilon=2,
        )
    )
    _, group, _ = survey.units
    assert group.patterns == ((0, 3), (1, 0), (1, 1), (1, 2))
    answers = {"first": "yes", "ever": "yes", "often": "many", "last": "yes"}
    words = iter([0, 0, 0])  # all three draws keep the truth
    report = randomize(survey, answers, word=words.__next__)
    assert report.values == {"first": 1, "ever": 1, "often": 2, "last": 1}
    assert next(words, None) is None
    report = randomize(survey, answers, word=iter([2**32 - 1, 0, 2**32 - 1]).__next__)
    assert report.values == {"first": 0, "ever": 1, "often": 2, "last": 0}


def test_a_response_to_other_patterns_than_the_possible_ones_is_refused() -> None:
    document = IN_ONE.document.decode()
    assert parse_survey(IN_ONE.document) == IN_ONE
    for broken, said in (
        (document.replace('"k":6,', '"k":5,').replace('"keep":', '"keep":1'), "keep"),
        (document.replace('["among","ever",1,1]', '["among","ever",0,0]'), "must be"),
        (document.replace('"others":[', '"others":[1'), "must be what the response"),
    ):
        assert broken != document
        with pytest.raises(SurveyError, match=said):
            parse_survey(broken.encode())
    outside = replace(OFTEN, id="outside", ask_if=IF_SMOKES)
    group = Group("g", 2, 2, KAry.from_epsilon(4, 1))
    others = [replace(each, group=group) for each in (replace(OFTEN, ask_if=None, id="a"), outside)]
    with pytest.raises(SurveyError, match="ask_if must be about questions of its group"):
        Survey("T", (SMOKES, *others))
