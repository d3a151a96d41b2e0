"""Routing: which questions apply to a person, which can ever apply, and what a device must ask to know it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from deniable.errors import SurveyError
from deniable.survey.condition import Among, Answers, Condition, check_condition
from deniable.survey.question import Question

MAX_STEPS = 50_000
"""Number of answers that are tried at most in deciding whether a condition can hold, and can fail to."""


def answers_of(question: Question) -> Answers:
    """The answers that conditions can test."""
    filtered = question.ask_if is not None
    return Answers(question.mechanism.answer_range, question.kind.takes_several, filtered)


def needed(questions: Sequence[Question], asked: Collection[str]) -> tuple[str, ...]:
    """The ids of the questions to put to a person so that the asked ones can be answered, in order.

    They are the asked ones and those that their conditions are about, directly or by way of others. Nothing is sent of
    what is not asked.
    """
    wanted = set(asked)
    # Conditions are about earlier questions, so one way back finds them all.
    for each in reversed(questions):
        if each.id in wanted and each.ask_if:
            wanted.update(each.ask_if.named)
    return tuple(each.id for each in questions if each.id in wanted)


def check_routing(questions: Sequence[Question]) -> None:
    """Raise a SurveyError unless each condition is about earlier questions, and can hold as well as fail."""
    earlier: dict[str, Answers] = {}
    for place, each in enumerate(questions):
        if each.ask_if is not None:
            try:
                check_condition(each.ask_if, earlier)
            except SurveyError as error:
                raise SurveyError(f"question {each.id!r}: ask_if {error}") from None
            _check_both(each.id, each.ask_if, questions[:place])
        earlier[each.id] = answers_of(each)


def _check_both(name: str, condition: Condition, earlier: Sequence[Question]) -> None:
    """Raise a SurveyError where no answers, or all, make the condition hold."""
    asked = needed(earlier, condition.named)
    involved = [each for each in earlier if each.id in asked]
    found: set[bool] = set()
    for tried, answers in enumerate(_possible(involved, _tests_of(condition, involved), {}), start=1):
        found.add(condition.holds(answers))
        # It can hold and can fail; nothing more is asked of it.
        if len(found) == 2:
            return
        if tried == MAX_STEPS:
            raise SurveyError(f"question {name!r}: ask_if is too complex to know whether it can ever hold; simplify it")
    said = "always holds, so ask the question without it" if True in found else "can never hold, so nobody is asked"
    raise SurveyError(f"question {name!r}: ask_if {said}")


def _tests_of(condition: Condition, involved: Sequence[Question]) -> dict[str, list[Any]]:
    """All tests of each question, by the condition and by those of the involved questions."""
    conditions = [condition, *(each.ask_if for each in involved if each.ask_if)]
    found: dict[str, list[Any]] = {each.id: [] for each in involved}
    for test in itertools.chain.from_iterable(each.tests for each in conditions):
        found[test.question].append(test)
    return found


def _possible(
    questions: Sequence[Question], tests: Mapping[str, Sequence[Any]], answers: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Answers that people can give to the questions, one of each kind that no test tells apart."""
    if not questions:
        yield answers
        return
    first, *others = questions
    if first.ask_if and not first.ask_if.holds(answers):
        # Whoever it does not apply to has one answer only.
        kinds: Iterator[Any] = iter([first.not_applicable])
    else:
        kinds = _kinds(first, tests[first.id])
    for each in kinds:
        yield from _possible(others, tests, {**answers, first.id: each})


def _kinds(question: Question, tests: Sequence[Any]) -> Iterator[Any]:
    """Answers of a question to which it applies, one of each kind that no test tells apart."""
    possible = question.mechanism.answer_range
    last = possible[-1] - (question.ask_if is not None)
    if question.kind.takes_several:
        # Boxes that no test looks at change nothing, so they stay clear.
        boxes = sorted({each.box for each in tests if each.box <= last})
        for size in range(len(boxes) + 1):
            sets = itertools.combinations(boxes, size)
            yield from (list(each) for each in sets if size < 2 or question.exclusive.isdisjoint(each))
        return
    # Between two places where some test begins or ends all answers are alike.
    starts = {possible[0]}
    for each in tests:
        assert isinstance(each, Among)
        starts.update(end for low, high in each.intervals for end in (low, high + 1))
    yield from sorted(each for each in starts if possible[0] <= each <= last)
