"""The answers that an audit gives: all answers to a question, or the ends and a sample between."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deniable import Question
from deniable.survey.question_types import AnswerKind
from deniable_client.device import range_of

MOST_ANSWERS = 64
"""Largest number of answers to one question in an audit."""


@dataclass(frozen=True)
class TestedAnswers:
    """The answers to one question."""

    question: Question
    given: tuple[Any, ...]
    """The answers as a person gives them, the ends first and last; None last where it does not apply."""
    truths: tuple[Any, ...]
    """The answers as the mechanism takes them."""


def answers_to(question: Question, dice: random.Random) -> TestedAnswers:
    """All answers to a question, or `MOST_ANSWERS` of them."""
    if question.kind.answers is AnswerKind.RANGE:
        lo, hi = range_of(question)
        given: tuple[Any, ...] = tuple(some(range(lo, hi + 1), dice))
        truths: tuple[Any, ...] = given
    elif question.kind.takes_several:
        # Boxes that stand alone are ticked by themselves, before the set of all others, which is an end.
        sets = _ticks(len(question.choices) - len(question.exclusive), dice)
        truths = (*sets[:-1], *([place] for place in sorted(question.exclusive)), sets[-1])
        given = tuple([question.choices[each] for each in truth] for truth in truths)
    else:
        truths = tuple(some(range(len(question.choices)), dice))
        given = tuple(question.choices[each] for each in truths)
    if question.ask_if:
        return TestedAnswers(question, (*given, None), (*truths, question.not_applicable))
    return TestedAnswers(question, given, truths)


def extreme_answers(question: Question) -> tuple[Any, Any]:
    """The two answers that differ most, as a person gives them."""
    if question.kind.takes_several:
        return ([], list(question.choices[: len(question.choices) - len(question.exclusive)]))
    if question.kind.answers is AnswerKind.RANGE:
        return range_of(question)
    return (question.choices[0], question.choices[-1])


def some(possible: Sequence[int], dice: random.Random) -> list[int]:
    """All of a sequence, or its ends and a random choice between them, in order."""
    if len(possible) <= MOST_ANSWERS:
        return list(possible)
    # The ends always, because a mechanism's likelihood ratio is largest between them.
    between = dice.sample(range(1, len(possible) - 1), MOST_ANSWERS - 2)
    return [possible[0], *(possible[place] for place in sorted(between)), possible[-1]]


def _ticks(k: int, dice: random.Random) -> tuple[list[int], ...]:
    """No box, single ones, some sets, all boxes."""
    if 2**k <= MOST_ANSWERS:
        return tuple([box for box in range(k) if number >> box & 1] for number in range(2**k))
    # Single boxes tell what each does alone, sets whether boxes influence each other.
    singles = [[box] for box in some(range(k), dice)[: MOST_ANSWERS // 2]]
    sets = [sorted(dice.sample(range(k), dice.randrange(2, k))) for _ in range(MOST_ANSWERS - 2 - len(singles))]
    return ([], *singles, *sets, list(range(k)))
