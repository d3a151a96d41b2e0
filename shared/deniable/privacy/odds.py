"""The noise in words: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable.exact import factor_above, right_of_100
from deniable.survey.document import Survey
from deniable.survey.question import Question

ONE_IN_TEN = Fraction(1, 9)
"""The odds of one chance in ten: what somebody who suspects is supposed to believe before, in an example."""


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
    """The question whose report can multiply somebody's odds the most."""
    return max(questions, key=lambda question: question.mechanism.told_ratio)


def whole_odds_sentences(survey: Survey) -> tuple[str, ...]:
    """Sentences on what a whole report can reveal to anybody, for every prior belief.

    The factor is the largest ratio of the probabilities of a whole report under any two sets of true answers, exactly,
    and rounded up. By Bayes it bounds the odds of any single answer, whatever the answers have to do with each other.
    So it holds for every prior, and grows with epsilon.
    """
    # Posterior odds = prior odds times the ratio of the probabilities of the report: the bound needs no prior.
    ratio = survey.likelihood_ratio
    return (
        "Suppose that somebody thinks it is fifty-fifty whether you chose one particular answer. After seeing all that "
        f"you send, that person’s best guess is right at most {right_of_100(ratio)} times in 100.",
        "Whatever somebody believed before, all that you send makes one answer, compared with another, at most "
        f"{factor_above(ratio)} times as believable as it was. For example, an answer that somebody gave one chance in "
        f"ten before has at most {right_of_100(ratio, ONE_IN_TEN)} chances in 100 afterwards.",
    )
