"""Random surveys with filters, and what people answer: the same from Python's generator, whoever draws them."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable import FilteredPiecewise, KAry, OneBitMean, Question, Subset, Survey, TickBoxes, Warner
from deniable.errors import ParameterError, SurveyError
from deniable.mechanisms import DrawnBoxes, Mechanism
from deniable.survey.condition import Answers, Condition, Has, among, joined
from deniable.survey.group import Group
from deniable.survey.patterns import Routed, marginal_at, possible_patterns
from deniable.survey.routing import answers_of
from deniable_client.device import applying

NOT_APPLICABLE = "Does not apply"


def random_condition(earlier: Mapping[str, Answers], dice: random.Random, depth: int = 3) -> Condition:
    """A condition on earlier questions; it may be one that never holds."""
    if depth and dice.random() < 0.6:
        parts = [random_condition(earlier, dice, depth - 1) for _ in range(dice.randrange(2, 4))]
        return joined(dice.choice(["all", "any"]), parts)
    name = dice.choice([*earlier])
    possible = earlier[name].possible
    if earlier[name].takes_several:
        return Has(name, dice.choice(possible), dice.random() < 0.5)
    ends = [sorted(dice.choices(possible, k=2)) for _ in range(dice.randrange(1, 3))]
    return among(name, [(low, high) for low, high in ends], possible)


def numbers_of_some(lo: int, hi: int) -> FilteredPiecewise:
    """About the k-ary response to both ends of a range and *does not apply*, made without a solver: epsilon ln 2."""
    other, step = 2**30, 2**30 // (hi - lo)
    kept = other + step * (hi - lo)
    row = (kept, other, 2**32 - kept - other)
    return FilteredPiecewise((lo, hi), row, ((-step, step, 0),), (other, other, 2**31))


@functools.cache
def made(make: Callable[..., Mechanism], *arguments: int) -> Mechanism:
    """A mechanism, made once however many random surveys have one like it."""
    return make(*arguments)


def _question(name: str, dice: random.Random, condition: Condition | None) -> Question:
    kinds = ["choice", "ticks", "scale", "number", "scale of a mean"] + (["yes-no"] if condition is None else [])
    kind, size, more = dice.choice(kinds), dice.randrange(2, 6), condition is not None
    options = tuple(f"{name}{number}" for number in range(size))
    mechanism: Mechanism
    if kind == "yes-no":
        options, mechanism = ("no", "yes"), made(Warner.from_epsilon, 1)
    elif kind == "number":
        options = ()
        mechanism = made(numbers_of_some, 3, 3 + size) if more else made(OneBitMean.from_epsilon, 3, 3 + size, 1)
    elif kind == "scale of a mean":
        options = tuple(map(str, range(1, size + 1)))
        mechanism = made(numbers_of_some, 0, size - 1) if more else made(OneBitMean.from_epsilon, 0, size - 1, 1)
    elif kind == "ticks":
        mechanism = dice.choice(
            [made(DrawnBoxes.from_epsilon, size + more, 1, 1), made(TickBoxes.from_epsilon, size + more, 1)]
        )
    else:
        is_set = size + more == 5 and dice.random() < 0.5
        mechanism = made(Subset.from_epsilon, 5, 2, 1) if is_set else made(KAry.from_epsilon, size + more, 1)
        options = tuple(map(str, range(1, size + 1))) if kind == "scale" else options
    options = (*options, NOT_APPLICABLE) if more and options else options
    goal = {"scale": "shares", "scale of a mean": "mean"}.get(kind)
    return Question(name, kind.split(" ")[0], f"{name}?", options, mechanism, goal, ask_if=condition)


def random_survey(dice: random.Random, size: int = 5) -> Survey:
    """A survey of which most questions have filters; of some, devices draw what they ask."""
    while True:
        questions: list[Question] = []
        for number in range(size):
            earlier = {each.id: answers_of(each) for each in questions}
            condition = random_condition(earlier, dice) if number and dice.random() < 0.75 else None
            questions.append(_question("abcdefghij"[number], dice, condition))
        if dice.random() < 0.4:
            # The last ones of the survey, and its first, which others may be about.
            members = [0, *range(dice.randrange(1, size), size)]
            group = Group("some", len(members), dice.randrange(1, len(members) + 1))
            for place in members:
                questions[place] = replace(questions[place], group=group)
        if dice.random() < 0.4:
            questions = _together(questions)
        try:
            return Survey("Filters", tuple(questions))
        except SurveyError:
            continue  # a condition that never or always holds


def _together(questions: list[Question]) -> list[Question]:
    """The questions, of which those that can be in one response to possible patterns are."""
    names: list[str] = []
    for each in questions:
        about = set() if each.ask_if is None else set(each.ask_if.named)
        is_one = each.options and not each.kind.takes_several and each.goal != "mean"
        if each.group is None and is_one and about <= set(names):
            names.append(each.id)
    members = [each for each in questions if each.id in names]
    if not any(each.ask_if for each in members):
        return questions
    try:
        patterns = possible_patterns([Routed(each.id, len(each.options), each.ask_if) for each in members])
        joint = KAry.from_epsilon(len(patterns), 2)
        group = Group("whole", len(members), len(members), joint)
        mechanisms = [marginal_at(joint, patterns, n, len(each.options)) for n, each in enumerate(members)]
        made = {
            each.id: replace(each, mechanism=own, group=group) for each, own in zip(members, mechanisms, strict=True)
        }
    except (SurveyError, ParameterError):
        return questions
    return [made.get(each.id, each) for each in questions]


def random_answers(survey: Survey, asked: Sequence[str], dice: random.Random) -> dict[str, Any]:
    """The answers of a person who is asked these questions, as they are given: only to those that apply."""
    shown = [survey.question(name) for name in survey.shown(asked)]
    answers: dict[str, Any] = {}
    while missing := [each for each in applying(shown, answers) if each.id not in answers]:
        answers[missing[0].id] = _answer(missing[0], dice)
    return answers


def _answer(question: Question, dice: random.Random) -> Any:
    if question.kind.takes_several:
        return [option for option in question.choices if dice.random() < 0.5]
    return dice.choice(question.choices) if question.options else dice.choice(question.numbers)
