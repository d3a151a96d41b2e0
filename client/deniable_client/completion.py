"""The way back to a panel, as one respondent gets it."""

from __future__ import annotations

from dataclasses import dataclass

from deniable import Survey
from deniable.randomness import Word, below, system_word
from deniable.survey.completion import CODE_CHARACTERS, PLACEHOLDER


@dataclass(frozen=True)
class PersonalCompletion:
    """The completion of a survey with its code filled in.

    Attributes
    ----------
    text, link, code : str or None
    """

    text: str | None
    link: str | None
    code: str | None


def completion_of(survey: Survey, word: Word = system_word) -> PersonalCompletion | None:
    """The completion of a survey, with a code that this call draws if the survey wants one; None if it has none.

    To be called once, after the report was sent. The code is drawn from nothing but new words, and kept nowhere, so it
    tells nothing of the report. ``completion.js`` makes the same code of the same words.

    Examples
    --------
    >>> from deniable import Question, Warner
    >>> from deniable.survey.completion import Completion
    >>> asked = (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),)
    >>> survey = Survey("T", asked, completion=Completion(link="https://panel.example/{code}", code_length=6))
    >>> completion_of(survey, iter([0, 8, 31, 30, 1, 2, 3]).__next__).link      # 31 is drawn again
    'https://panel.example/2AZ345'
    """
    completion = survey.completion
    if completion is None:
        return None
    code = completion.code
    if completion.code_length is not None:
        drawn = [below(len(CODE_CHARACTERS), word) for _ in range(completion.code_length)]
        code = "".join(CODE_CHARACTERS[each] for each in drawn)
    link = completion.link and completion.link.replace(PLACEHOLDER, code or "")
    return PersonalCompletion(completion.text, link, code)
