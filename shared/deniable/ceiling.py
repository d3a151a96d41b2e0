"""How much a device lets a survey ask: its ceiling of epsilon, and where it starts to warn.

The figures stand in code that runs on the device, so that no collector can raise them. They are the same in
``client/deniable_web/ceiling.js``.
"""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import BudgetError
from deniable.survey import Survey

WARN_QUESTION = 2.0
WARN_SURVEY = 4.0


@dataclass(frozen=True)
class Ceiling:
    """The largest epsilon that a device accepts.

    Attributes
    ----------
    question, survey : float
        For one question, for a whole survey.
    device : float
        For all that a device tells within 90 days, whoever asks; what one collector asks stays below ``survey``. Twice
        that leaves room for a second study, and gives a collector that goes by many names no more than two would get.
    """

    question: float = 4.0
    survey: float = 8.0
    device: float = 16.0

    def check(self, survey: Survey) -> None:
        """Raise a BudgetError unless the survey stays below the ceiling."""
        for question in survey.questions:
            if question.epsilon > self.question:
                raise BudgetError(
                    f"question {question.id!r}: epsilon must be at most {self.question:g} on this device, "
                    f"the survey asks for {question.epsilon:.4g}"
                )
        if survey.epsilon > self.survey:
            raise BudgetError(
                f"survey {survey.id}: epsilons must add up to at most {self.survey:g} on this device, "
                f"they add up to {survey.epsilon:.4g}"
            )


def weak_protection(survey: Survey) -> list[str]:
    """Sentences on what protects little, for authors and respondents; empty when nothing does."""
    sentences = [
        f"question {question.id!r}: epsilon {question.epsilon:.3g} protects little (above {WARN_QUESTION:g})"
        for question in survey.questions
        if question.epsilon > WARN_QUESTION
    ]
    if survey.epsilon > WARN_SURVEY:
        sentences.append(
            f"the whole survey: epsilons add up to {survey.epsilon:.3g}, which protects little (above {WARN_SURVEY:g})"
        )
    return sentences
