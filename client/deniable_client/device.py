"""The device: where an answer ends and a report begins.

Nothing in this module keeps, prints or raises an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import AnswerError, ReportError
from deniable.randomness import Word, system_word
from deniable.report import Report, new_report_id
from deniable.survey import Survey


def randomize(
    survey: Survey,
    answers: Mapping[str, str],
    cohort: str | None = None,
    *,
    word: Word = system_word,
    report_id: str | None = None,
) -> Report:
    """Mix chance into the answers to a survey; the result is all that may leave the device.

    Draw once for each person: every further draw of the same answers gives more of them away.

    Parameters
    ----------
    survey : Survey
    answers : mapping of str to str
        Question id to the label of the chosen option, for every question.
    cohort : str, optional
        The label on the link, one of the survey's cohorts.
    word : callable
        Source of uniform 32-bit words, drawn in the order of the questions.
    report_id : str, optional
        32 hexadecimal digits; by default random.

    Raises
    ------
    AnswerError
        If a question is missing, unknown, or answered with something else than one of its options. The message
        names the question and its options, never what came.
    ReportError
        If the survey has no such cohort.
    """
    if cohort is not None and cohort not in survey.cohorts:
        raise ReportError(f"cohort: must be one of {list(survey.cohorts)}, got {cohort!r}")
    known = [question.id for question in survey.questions]
    if set(answers) - set(known):
        raise AnswerError(f"answers: must be to the questions {known}, got one to another question")
    choices = {}
    for question in survey.questions:
        if question.id not in answers:
            raise AnswerError(f"answers: question {question.id!r} must be answered too; leaving it out would tell")
        label = answers[question.id]
        if not isinstance(label, str) or label not in question.options:
            raise AnswerError(f"answers[{question.id!r}]: must be one of {list(question.options)}")
        choices[question.id] = question.options.index(label)
    values = {question.id: question.mechanism.randomize(choices[question.id], word) for question in survey.questions}
    return Report(report_id or new_report_id(), cohort, values)
