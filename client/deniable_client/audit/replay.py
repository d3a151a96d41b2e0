"""One report looked at exactly: its bytes, and what the published mechanisms make of the chance that it was drawn with.

This finds what no statistics can: a generator that is not the system's, an id or a cohort that carries an answer, an
encoding of the same length that does, and any departure from the mechanisms however rare, once it happens at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable import Report, ReportError, Survey, parse_report
from deniable_client.device import draw_questions, mixed

WORD, ID = 4, 16
"""Bytes of a word and of an id, as the clients take them."""


class Departure(Exception):
    """A report is not what it must be."""


class _NoMoreWords(Exception):
    """The mechanisms need more words than the client drew."""


def check_form(line: bytes, survey: Survey, cohort: str | None) -> Report:
    """Read a report, or raise a `Departure` unless it has the only bytes that its id, cohort and values can have."""
    try:
        report = parse_report(line, survey)
    except ReportError as error:
        raise Departure(f"no report: {error}") from None
    if report.cohort != cohort:
        raise Departure(f"cohort {report.cohort!r} where the link said {cohort!r}")
    if (expected := report.encode()) != line:
        place = next((n for n, (a, b) in enumerate(zip(line, expected, strict=False)) if a != b), len(expected))
        raise Departure(f"byte {place} of {len(line)} is not as reports are written")
    return report


def replay(line: bytes, survey: Survey, truths: Sequence[Any], cohort: str | None, chance: Sequence[bytes]) -> None:
    """Raise a `Departure` unless the published mechanisms make this very report of the answers and the chance.

    Parameters
    ----------
    line : bytes
        The report as sent.
    survey : Survey
    truths : sequence
        The answers, as mechanisms take them.
    cohort : str or None
    chance : sequence of bytes
        What the client took from the system's source: 16 bytes for the id and 4 for each word, in whatever order.
    """
    ids = [each.hex() for each in chance if len(each) == ID]
    words = [int.from_bytes(each, "little") for each in chance if len(each) == WORD]
    if len(ids) != 1 or len(words) != len(chance) - 1:
        raise Departure(
            f"took {len(words)} words and {len(ids)} ids from the system in {len(chance)} calls, not one id"
        )
    left = iter(words)

    def word() -> int:
        for each in left:
            return each
        raise _NoMoreWords

    try:
        choices = {question.id: truth for question, truth in zip(survey.questions, truths, strict=True)}
        values = mixed(survey, choices, draw_questions(survey, word), word)
    except _NoMoreWords:
        raise Departure(f"took {len(words)} words from the system; the mechanisms need more") from None
    if unused := len(list(left)):
        raise Departure(f"took {len(words)} words from the system; the mechanisms need {len(words) - unused}")
    if Report(ids[0], cohort, values).encode() != line:
        raise Departure("not what the mechanisms make of the words and the id that were drawn for it")
