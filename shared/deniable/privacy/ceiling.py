"""The ceiling of epsilon that a device accepts, and the thresholds at which it warns.

The figures stand in code that runs on the device, so that no collector can raise them. They are the same in
``client/deniable_web/ceiling.js``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deniable.errors import BudgetError
from deniable.survey.document import Survey

WARN_QUESTION = 2.0
"""Epsilon of a question, in nats, above which people are warned; above half of it a report is called a hint."""

WARN_SURVEY = 4.0
"""Epsilon of a whole survey, in nats, above which people are warned; above half of it reports are called a hint."""


@dataclass(frozen=True)
class Ceiling:
    """The largest epsilon that a device accepts.

    Attributes
    ----------
    question, survey : float
        Largest epsilon of one question, and of a whole survey, in nats.
    device : float
        Largest epsilon of all that a device sends within 90 days, to all collectors together; each one alone stays
        below ``survey``. Twice ``survey`` leaves room for a second study, and a collector that goes by many names gets
        no more than two collectors would.
    """

    question: float = 4.0
    survey: float = 8.0
    device: float = 16.0

    def check(self, survey: Survey) -> None:
        """Raise a BudgetError if the survey exceeds the limits."""
        for question in survey.questions:
            if question.epsilon > self.question:
                raise BudgetError(
                    f"question {question.id!r}: epsilon must be at most {self.question:g} on this device, "
                    f"the survey asks for {question.epsilon:.4g}"
                )
        # Beside the bound on each question, because many small losses add up to a large one.
        if survey.epsilon > self.survey:
            raise BudgetError(
                f"survey {survey.id}: epsilons must add up to at most {self.survey:g} on this device, "
                f"they add up to {survey.epsilon:.4g}"
            )


def weakness(survey: Survey, told: float = 0.0) -> Literal[0, 1, 2]:
    """How weak the protection is, by the worst of its questions, the whole survey, and all that was told.

    0 where nobody can be sure of an answer, 1 where a report is a hint, 2 where people are warned. ``told`` is the
    epsilon of everything that this collector is told within 90 days, this survey included.

    >>> from deniable import Question, TwoCoin
    >>> coin = Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))
    >>> weakness(Survey("T", (coin,)))                       # ln 3 is more than 1
    1
    """
    worst = max(each.epsilon for each in survey.questions)
    return weakness_of(worst, max(survey.epsilon, told))


def weakness_of(question: float, total: float = 0.0) -> Literal[0, 1, 2]:
    """How weak the protection is if a question has this epsilon, and all reports of a person together have ``total``.

    >>> [weakness_of(epsilon) for epsilon in (1, 1.5, 2.5)], weakness_of(1, total=5)
    ([0, 1, 2], 2)
    """
    # Epsilon as a part of where warnings start: above 1 people are warned, above 1/2 what they send is a hint.
    most = max(total / WARN_SURVEY, question / WARN_QUESTION)
    return 2 if most > 1 else 1 if most > 0.5 else 0
