"""Conditions as authors write them: what they mean, and what is refused by a sentence."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from deniable import SurveyError, read_survey
from deniable.survey.question_types import QUESTION_TYPES
from deniable_statistics.published.condition_text import Earlier, read_condition
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = (
    question_toml("smokes", "yes-no", epsilon=1),
    question_toml("drugs", "ticks", options=["cannabis", "cocaine", "two words"], epsilon=1),
    question_toml("age", "number", lo=18, hi=99, epsilon=1),
    question_toml("often", "scale", lo=1, hi=5, epsilon=1, ask_if="smokes = yes or drugs has cannabis"),
)


def with_filter(condition: object, *more: str, **keys: Any) -> str:
    """The survey with one more question, which has this condition."""
    asked = {"kind": "yes-no", "epsilon": 1, **keys}
    kind = asked.pop("kind")
    return survey_toml("T", *SURVEY, question_toml("last", kind, ask_if=condition, **asked), *more)


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ("smokes = yes", ["among", "smokes", 1, 1]),
        ("smokes != Yes", ["among", "smokes", 0, 0]),
        ("not smokes = 'no'", ["among", "smokes", 1, 1]),
        ('smokes="yes"', ["among", "smokes", 1, 1]),
        ("often >= 3", ["among", "often", 2, 4]),
        ("often < 3", ["among", "often", 0, 1]),
        ("often != 3", ["among", "often", 0, 1, 3, 5]),
        ("often in (1, 3, 2)", ["among", "often", 0, 2]),
        ("often not in [1]", ["among", "often", 1, 5]),
        ("often applies", ["among", "often", 0, 4]),
        ("not (often applies)", ["among", "often", 5, 5]),
        ("age > 30 AND age <= 40", ["all", ["among", "age", 31, 99], ["among", "age", 18, 40]]),
        ("age in (20, 21, 30)", ["among", "age", 20, 21, 30, 30]),
        ("drugs has 'two words'", ["has", "drugs", 2]),
        ("not drugs has cocaine", ["lacks", "drugs", 1]),
        (
            "smokes = yes and (age < 30 or drugs has cocaine) and often = 2",
            [
                "all",
                ["among", "smokes", 1, 1],
                ["any", ["among", "age", 18, 29], ["has", "drugs", 1]],
                ["among", "often", 1, 1],
            ],
        ),
        ("not (smokes = yes and age < 30)", ["any", ["among", "smokes", 0, 0], ["among", "age", 30, 99]]),
        ("smokes = yes or smokes = yes", ["among", "smokes", 1, 1]),
    ],
)
def test_what_authors_write_is_published_as_data(written: str, published: list[Any]) -> None:
    last = read_survey(with_filter(written)).questions[-1]
    assert last.ask_if is not None
    assert last.ask_if.publish() == published
    assert (last.type, [str(each) for each in last.options]) == ("yes-no", ["no", "yes", "Does not apply"])
    assert last.mechanism.k == 3


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "must have the id of an earlier question, got the end"),
        (3, "must be a condition such as"),
        ("smokes", "one of =, !=, <, <=, >, >=, in, has or applies behind smokes, got the end"),
        ("smokes = maybe", r"must name an answer to 'smokes' \(no, yes\), got 'maybe'"),
        ("smokes > no", "whose answers have no order"),
        ("smokes == yes", "must have one = behind smokes, got =="),
        ("smokes has yes", "must say smokes = ..., because"),
        ("smokes applies", "must not say smokes applies"),
        ("drugs = cannabis", "must say drugs has 'cannabis'"),
        ("drugs has heroin", r"\(cannabis, cocaine, two words\), got 'heroin'"),
        ("drugs has two words", "got 'two'; put an answer of several words in quotes"),
        ("age = 17", r"must name an answer to 'age' \(18 to 99\), got '17'"),
        ("age > 99", "age > 99 can never hold"),
        ("age >= 18", "age >= 18 always holds"),
        ("age < x", "must compare age with a whole number"),
        ("often > 5", "the answers 1 to 5; often > 5 can never hold"),
        ("smokes in (yes, no)", "always holds"),
        ("smokes in yes", "a list in brackets behind smokes in"),
        ("smokes in (yes", r"a comma or \)"),
        ("(smokes = yes", r"a closing bracket \)"),
        ("smokes = yes no", "and, or, or the end, got 'no'"),
        ("smokes = yes and", "must have the id of an earlier question"),
        ("smokes ! yes", "cannot be read from"),
        ("smokes = 'yes", "cannot be read from"),
        ("town = 'A'", r"must be about earlier questions \(smokes, drugs, age, often\), got 'town'"),
        ("last = yes", "the question itself: a circle"),
        ("later = yes", "'later' comes later, so move it up"),
        ("loop = yes", "'loop' depends on 'last' in turn: a circle"),
        ("round = yes", "'round' depends on 'last' in turn: a circle"),
        ("smokes = yes and smokes = no", "can never hold, so nobody is asked"),
        ("age < 30 or age > 20", "always holds, so ask the question without it"),
        ("often = 2 and smokes = no and not drugs has cannabis", "can never hold"),
        ("not " * 30 + "smokes = yes", "at most 20 brackets and nots"),
        (" or ".join(f"age = {age}" for age in range(18, 60)), "at most 40 tests, got 42"),
        ("(" * 100 + "smokes = yes" + ")" * 100, "at most 20 brackets"),
        ("smokes = yes or " * 200, "at most 2000 characters"),
        ("(" * 5000, "at most 2000 characters"),
    ],
)
def test_what_is_no_condition_is_refused_by_name(written: object, said: str) -> None:
    later = (
        question_toml("later", "yes-no", epsilon=1),
        question_toml("loop", "yes-no", epsilon=1, ask_if="last = yes"),
        question_toml("round", "yes-no", epsilon=1, ask_if="loop = yes"),
    )
    with pytest.raises(SurveyError, match=f"question 'last': ask_if .*{said}"):
        read_survey(with_filter(written, *later))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"kind": "number", "lo": 0, "hi": 9, "mechanism": "mean"}, "mechanism: must be one of filtered-piecewise"),
        ({"kind": "number", "lo": 0, "hi": 10**7}, "lo and hi must be at most 1,000,000 apart"),
        ({"kind": "scale", "lo": 0, "hi": 9, "mechanism": "geometric"}, "mechanism: must be one of"),
        ({"epsilon": None, "truth": "1/2", "yes": "1/2"}, "either yes or ask_if"),
        ({"kind": "choice", "options": ["a", "Does not apply"]}, "stands there twice"),
    ],
)
def test_what_cannot_have_a_filter_is_refused_with_a_way_out(keys: dict[str, Any], said: str) -> None:
    given = {"epsilon": 1, **keys}
    with pytest.raises(SurveyError, match=said):
        read_survey(
            with_filter("smokes = yes", **{key: value for key, value in given.items() if value is not None}).replace(
                "epsilon = 1\ntruth", "truth"
            )
        )


def test_coins_and_declining_go_with_filters() -> None:
    coins = read_survey(with_filter("smokes = yes", truth="1/2").replace("epsilon = 1\ntruth", "truth")).questions[-1]
    assert coins.mechanism.name == "k-ary"
    assert 3.999 < coins.mechanism.likelihood_ratio <= 4, "1/2 + 1/6 against 1/6"
    declined = read_survey(with_filter("smokes = yes", decline="I'd rather not say")).questions[-1]
    assert (declined.type, declined.last) == ("yes-no", ("decline",))
    assert list(map(str, declined.options)) == ["no", "yes", "I'd rather not say", "Does not apply"]
    assert declined.choices == declined.options[:3]


def test_questions_with_filters_share_an_epsilon_like_others() -> None:
    survey = read_survey(
        survey_toml(
            "T",
            question_toml("first", "choice", options=["a", "b", "c"]),
            *(question_toml(each, "choice", options=["a", "b"], ask_if="first = a") for each in ("second", "third")),
            epsilon=2,
            draw=2,
        )
    )
    (unit,) = survey.units
    assert survey.asks == 2
    assert unit.group is not None
    assert unit.group.joint is not None, "one response over 3 x 3 patterns"
    assert survey.shown(["third"]) == ("first", "third")
    assert survey.asks_more


EARLIER = {
    "yes": Earlier(QUESTION_TYPES["yes-no"], ("no", "yes"), range(0), False),
    "level": Earlier(QUESTION_TYPES["scale"], tuple("23456"), range(0), True),
    "n": Earlier(QUESTION_TYPES["number"], (), range(-5, 6), False),
    "box": Earlier(QUESTION_TYPES["ticks"], ("a", "b", "c d"), range(0), True),
}


def random_text(dice: random.Random, depth: int = 3) -> tuple[str, Callable[[Mapping[str, Any]], bool]]:
    """A condition in words, and what it means of answers that are words, numbers, lists of words, or None."""
    if depth and dice.random() < 0.6:
        (one, first), (other, second) = random_text(dice, depth - 1), random_text(dice, depth - 1)
        which = dice.choice(["and", "or", "not"])
        if which == "not":
            return f"not ({one})", lambda answers: not first(answers)
        join = all if which == "and" else any
        return f"({one}) {which} ({other})", lambda answers: join((first(answers), second(answers)))
    name = dice.choice(["yes", "level", "n", "box"])
    if name == "box":
        box = dice.choice(["a", "b", "c d"])
        return f"box has '{box}'", lambda answers: answers["box"] is not None and box in answers["box"]
    if name == "yes":
        value = dice.choice(["no", "yes"])
        return f"yes = {value}", lambda answers: answers["yes"] == value
    low = {"level": 2, "n": -5}[name]
    bound = dice.randrange(low + 1, low + 4)
    sign = dice.choice(["<", "<=", ">", ">=", "=", "!="])
    compare: dict[str, Callable[[int], bool]] = {
        "<": bound.__gt__,
        "<=": bound.__ge__,
        ">": bound.__lt__,
        ">=": bound.__le__,
        "=": bound.__eq__,
        "!=": bound.__ne__,
    }

    def means(answers: Mapping[str, Any]) -> bool:
        return sign == "!=" if answers[name] is None else compare[sign](answers[name])

    return f"{name} {sign} {bound}", means


def test_conditions_mean_what_they_say() -> None:
    """In a chain of comparisons with Python's own; a question that does not apply has None for an answer."""
    dice = random.Random(11)
    held = refused = 0
    for _ in range(1500):
        text, means = random_text(dice)
        try:
            condition = read_condition(text, EARLIER, {"own": ()})
        except SurveyError:
            refused += 1
            continue
        for _ in range(5):
            answers: dict[str, Any] = {
                "yes": dice.choice(["no", "yes"]),
                "level": dice.choice([None, 2, 3, 4, 5, 6]),
                "n": dice.randrange(-5, 6),
                "box": dice.choice([None, [], ["a"], ["b", "c d"]]),
            }
            numbers = {
                "yes": ["no", "yes"].index(answers["yes"]),
                "level": 5 if answers["level"] is None else answers["level"] - 2,
                "n": answers["n"],
                "box": [3] if answers["box"] is None else [["a", "b", "c d"].index(each) for each in answers["box"]],
            }
            assert condition.holds(numbers) == means(answers), text
            held += condition.holds(numbers)
    assert 1000 < held < 6500
    assert refused < 100, "which nest too deep"


def test_no_text_crashes_the_reader() -> None:
    dice = random.Random(13)
    pieces = [
        "yes",
        "level",
        "n",
        "box",
        "and",
        "or",
        "not",
        "in",
        "has",
        "applies",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        "<=",
        "!=",
    ]
    pieces += ["no", "3", "-1", "'a'", '"', "'", "\u00e4", "\n", "<", "2,", "\x00", "9" * 30]
    read = 0
    for _ in range(10_000):
        text = " ".join(dice.choices(pieces, k=dice.randrange(1, 12)))
        try:
            read_condition(text, EARLIER, {"own": ()})
            read += 1
        except SurveyError:
            continue
    assert 0 < read < 2000
