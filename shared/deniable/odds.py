"""What the noise means to a person: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.mechanisms import ForcedResponse, KAry, Mean, Mechanism, RowMechanism, Subset, TickBoxes
from deniable.mechanisms.yes_no import YesNoMechanism
from deniable.randomness import UNIT
from deniable.survey import Question, Survey


def odds_sentences(question: Question) -> tuple[str, ...]:
    """The odds of one question in words, computed from its mechanism's integers.

    >>> from deniable import KAry, Question, TwoCoin
    >>> for sentence in odds_sentences(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))):
    ...     print(sentence)
    Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No.
    Of 100 people whose true answer is No, about 25 send Yes and 75 send No.
    """
    mechanism = question.mechanism
    if isinstance(mechanism, YesNoMechanism):
        yes_if_yes, yes_if_no = of_100(mechanism.yes_if_yes), of_100(mechanism.yes_if_no)
        return (
            f"Of 100 people whose true answer is Yes, about {yes_if_yes} send Yes and {100 - yes_if_yes} send No.",
            f"Of 100 people whose true answer is No, about {yes_if_no} send Yes and {100 - yes_if_no} send No.",
        )
    if isinstance(mechanism, Mean):
        low, high = (of_100(mechanism.support[1].if_other), of_100(mechanism.support[1].if_true))
        return (
            f"Of 100 people who give the highest answer, about {high} send “high”; "
            f"of 100 who give the lowest, about {low} do.",
        )
    if isinstance(mechanism, TickBoxes):
        p = of_100(mechanism.support[0].if_true)
        return (f"Of 100 people who tick a box, about {p} send it as ticked; of 100 who do not, about {100 - p} do.",)
    if isinstance(mechanism, Subset):
        p, q = (of_100(each) for each in mechanism.support[0])
        return (
            f"Of 100 people who choose an option, about {p} send a set of {mechanism.w} options that holds it; "
            f"of 100 who choose another, about {q} do.",
        )
    if isinstance(mechanism, ForcedResponse):
        t = of_100(Fraction(mechanism.truth, UNIT))
        return (f"Of 100 people, about {t} send what they chose and {100 - t} send an option drawn by chance.",)
    kept = of_100(largest_truthful(mechanism))
    if isinstance(mechanism, KAry):
        return (f"Of 100 people who choose an option, about {kept} send it and {100 - kept} send another one.",)
    return (
        f"Of 100 people, about {kept} or fewer send the very answer that they gave.",
        "Answers far apart can be told apart; close ones hardly.",
    )


def plainest(questions: Sequence[Question]) -> Question:
    """The question whose sentence says the most about a person, as a reader compares them: in whole people."""

    def told(question: Question) -> int:
        support = question.mechanism.support
        return of_100(support[1].if_true if support else largest_truthful(question.mechanism))

    return max(questions, key=told)


def largest_truthful(mechanism: Mechanism) -> Fraction:
    """The largest probability, over all answers, that a report says the truth."""
    if isinstance(mechanism, RowMechanism):
        start = mechanism.report_range.start
        return max(
            Fraction(row[answer - start], UNIT)
            for answer, row in zip(mechanism.answer_range, mechanism.rows, strict=True)
        )
    assert mechanism.support is not None
    p = max(option.if_true for option in mechanism.support)
    return p**mechanism.k if isinstance(mechanism, TickBoxes) else p


def whole_odds_sentences(survey: Survey) -> tuple[str, ...]:
    """The odds of a whole survey in words: how many people, at most, send nothing but true answers.

    Empty for a survey of one question, whose own odds say it all.
    """
    if len(survey.questions) == 1:
        return ()
    likeliest = math.prod((largest_truthful(each.mechanism) for each in survey.questions), start=Fraction(1))
    return (f"Of 100 people, about {of_100(likeliest)} or fewer send their true answer to every question.",)


def of_100(probability: Fraction) -> int:
    """Round to whole people, but never say that nobody or everybody does what a few do or do not."""
    return min(max(int(100 * probability + Fraction(1, 2)), 1), 99)
