"""The value of a ``<deniable-question>`` as a form sends it to somebody's own server."""

from __future__ import annotations

import re

from deniable.errors import ParameterError, ReportError, check_kind, describe
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire.space import ReportValue

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")


def field_value(survey: Survey, question_id: str, text: object) -> ReportValue:
    """Check the text of a form field, and return the noisy value that it contains.

    Anybody who sends a form can put anything into it, so check the text like any other input.

    Parameters
    ----------
    survey : Survey
        The survey that the element names, such as ``parse_survey(document)`` of its published bytes.
    question_id : str
    text : str or int
        The text of the field; JSON may hold a number.

    Returns
    -------
    int or str
        A number, or for ticks and questions that report sets of options a text of 0 and 1.

    Raises
    ------
    ParameterError
        If the survey has no such question, or a form cannot ask it alone.
    ReportError
        If no device can send this for the question. The message does not repeat the text.

    Examples
    --------
    >>> from deniable import read_survey
    >>> survey = read_survey('title="T"\\n[[questions]]\\nid="affair"\\ntype="yes-no"\\ntext="?"\\ntruth="1/2"')
    >>> field_value(survey, "affair", "1")
    1
    >>> field_value(survey, "affair", "2")
    Traceback (most recent call last):
    ...
    deniable.errors.ReportError: affair: must be 0 or 1, got something else
    """
    check_kind(survey, Survey, "survey")
    question = next((each for each in survey.questions if each.id == question_id), None)
    if question is None or question.group or question.ask_if:
        alone = ", ".join(each.id for each in survey.questions if not each.group and not each.ask_if)
        raise ParameterError(f"question: must be one that a form can ask alone ({alone}), got {question_id!r:.50}")
    space = question.mechanism.reports
    number = _NUMBER.fullmatch(text) if isinstance(text, str) and space.json_type is int else None
    if (value := int(number[0]) if number else text) in space:
        return value  # type: ignore[return-value]  # of its space
    got = "nothing" if text in ("", None) else "something else" if isinstance(text, str) else describe(text)
    raise ReportError(f"{question_id}: must be {field_values(question)}, got {got}")


def field_values(question: Question) -> str:
    """What the field of a question in a form can hold, in words."""
    space = question.mechanism.reports
    return "0 or 1" if space.size == 2 and 0 in space else space.described
