"""The noise in words: odds out of 100 people, never a bare epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import check_kind
from deniable.exact import chances_above, factor_above
from deniable.survey.document import Survey
from deniable.survey.question import Question

ONE_IN_TEN = Fraction(1, 9)
"""The odds of 10 chances in 100: what somebody believes before in an example, and in another one the opposite."""


def odds_sentences(question: Question) -> tuple[str, ...]:
    """The odds of one question in words, computed from its mechanism's integers.

    >>> from deniable import KAry, Question, TwoCoin
    >>> for sentence in odds_sentences(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))):
    ...     print(sentence)
    Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No.
    Of 100 people whose true answer is No, about 25 send Yes and 75 send No.
    """
    check_kind(question, Question, "question")
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
    check_kind(survey, Survey, "survey")
    # Posterior odds = prior odds times the ratio of the probabilities of the report: the bound needs no prior.
    ratio = survey.likelihood_ratio
    return (
        "Suppose that somebody thinks it is fifty-fifty whether you chose one particular answer. After seeing all that "
        "you send, and knowing that it is yours, that person’s best guess is right at most "
        f"{chances_above(ratio)} times in 100.",
        "Somebody who suspected you before can become surer, but only so far: 10 chances in 100 that you chose an "
        f"answer become at most {chances_above(ratio, ONE_IN_TEN)}, and 90 become at most "
        f"{chances_above(ratio, 1 / ONE_IN_TEN)}.",
        "In every case, one answer, compared with another, becomes at most "
        f"{factor_above(ratio)} times as believable as it was.",
    )
