"""What the noise means to a person: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.survey import Question, Survey


def odds_sentences(question: Question) -> tuple[str, ...]:
    """The odds of one question in words, computed from its mechanism's integers.

    >>> from deniable import KAry, Question, TwoCoin
    >>> for sentence in odds_sentences(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))):
    ...     print(sentence)
    Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No.
    Of 100 people whose true answer is No, about 25 send Yes and 75 send No.
    """
    support = question.mechanism.support
    if question.type == "yes-no":
        yes_if_yes, yes_if_no = (_of_100(probability) for probability in support[1])
        return (
            f"Of 100 people whose true answer is Yes, about {yes_if_yes} send Yes and {100 - yes_if_yes} send No.",
            f"Of 100 people whose true answer is No, about {yes_if_no} send Yes and {100 - yes_if_no} send No.",
        )
    kept = _of_100(support[0].if_true)
    return (f"Of 100 people who choose an option, about {kept} send it and {100 - kept} send another one.",)


def whole_odds_sentences(survey: Survey) -> tuple[str, ...]:
    """The odds of a whole survey in words: how many people, at most, send nothing but true answers.

    Empty for a survey of one question, whose own odds say it all.
    """
    if len(survey.questions) == 1:
        return ()
    likeliest = math.prod(max(option.if_true for option in each.mechanism.support) for each in survey.questions)
    return (f"Of 100 people, about {_of_100(likeliest)} or fewer send their true answer to every question.",)


def _of_100(probability: Fraction | int) -> int:
    """Round to whole people, but never say that nobody or everybody does what a few do or do not."""
    return min(max(int(100 * probability + Fraction(1, 2)), 1), 99)
