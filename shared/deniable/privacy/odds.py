"""What the noise means to a person: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.mechanisms import ForcedResponse, KAry, Longitudinal, Mean, Mechanism, RowMechanism, Subset, TickBoxes
from deniable.mechanisms.yes_no import YesNoMechanism
from deniable.randomness import UNIT
from deniable.survey.document import Question, Survey


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
    kept = of_100(most_readable(mechanism))
    if isinstance(mechanism, KAry):
        return (f"Of 100 people who choose an option, about {kept} send it and {100 - kept} send another one.",)
    if isinstance(mechanism, Longitudinal):
        return (
            f"Of 100 people who choose an option, all waves together show it for about {kept} and another one for "
            f"{100 - kept}; one wave shows less.",
        )
    return (
        f"Whoever guesses your answer from what you send is right about {kept} times in 100, or less.",
        "Answers far apart can be told apart; close ones hardly.",
    )


def plainest(questions: Sequence[Question]) -> Question:
    """The question whose sentence says the most about a person, as a reader compares them: in whole people."""
    return max(questions, key=lambda question: of_100(_readable(question.mechanism)))


def most_readable(mechanism: Mechanism) -> Fraction:
    """The largest probability, over all answers, that a report tells the whole truth to whoever reads it best.

    A report is read as the answer under which it is likeliest. That need not be the answer that it names: a Warner
    coin that mostly says the opposite is read as the opposite, and noise beyond the end of a range as that end.
    """
    p = _readable(mechanism)
    return p**mechanism.k if isinstance(mechanism, TickBoxes) else p


def _readable(mechanism: Mechanism) -> Fraction:
    """The same, of tick boxes the truth about one of them."""
    if isinstance(mechanism, RowMechanism):
        most = [max(column) for column in zip(*mechanism.rows, strict=True)]
        read = (sum(weight for weight, top in zip(row, most, strict=True) if weight == top) for row in mechanism.rows)
        return Fraction(max(read), UNIT)
    if isinstance(mechanism, Longitudinal):
        mechanism = mechanism.permanent_response  # which many waves tell in the end
    assert mechanism.support is not None
    return max(max(option) for option in mechanism.support)


def whole_odds_sentences(survey: Survey) -> tuple[str, ...]:
    """The odds of a whole survey in words: how often, at most, every true answer can be read.

    Empty for a survey of one question, whose own odds say it all.
    """
    if len(survey.questions) == 1:
        return ()
    likeliest = math.prod((most_readable(each.mechanism) for each in survey.questions), start=Fraction(1))
    p = of_100(likeliest)
    return (f"Whoever guesses all your answers from what you send is right about {p} times in 100, or less.",)


def of_100(probability: Fraction) -> int:
    """Round to whole people, but never say that nobody or everybody does what a few do or do not."""
    return min(max(int(100 * probability + Fraction(1, 2)), 1), 99)
