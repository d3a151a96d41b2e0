"""What the noise means to a person: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.exact import of_100
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.survey.unit import Unit


def odds_sentences(question: Question) -> tuple[str, ...]:
    """The odds of one question in words, computed from its mechanism's integers.

    >>> from deniable import KAry, Question, TwoCoin
    >>> for sentence in odds_sentences(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))):
    ...     print(sentence)
    Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No.
    Of 100 people whose true answer is No, about 25 send Yes and 75 send No.
    """
    return question.mechanism.odds


def plainest(questions: Sequence[Question]) -> Question:
    """The question whose sentence says the most about a person, as a reader compares them: in whole people."""
    return max(questions, key=lambda question: of_100(question.mechanism.readable))


def whole_odds_sentences(survey: Survey) -> tuple[str, ...]:
    """The odds of a whole survey in words: how often, at most, every true answer can be read.

    Empty for a survey of one question, whose own odds say it all.
    """
    if len(survey.questions) == 1:
        return ()
    p = of_100(math.prod(map(_likeliest, survey.units), start=Fraction(1)))
    return (f"Whoever guesses all your answers from what you send is right about {p} times in 100, or less.",)


def _likeliest(unit: Unit) -> Fraction:
    """How often, at most, all that a device tells of a unit can be read: of the plainest questions that it may ask."""
    if unit.group and unit.group.joint:
        return unit.group.joint.readable
    plainest_first = sorted((each.mechanism.most_readable for each in unit.questions), reverse=True)
    return math.prod(plainest_first[: unit.group.draw if unit.group else 1], start=Fraction(1))
