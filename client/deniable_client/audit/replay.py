"""The exact check of one report: its bytes, and its computation anew from the chance that it was drawn with.

This finds faults that no statistical test can: a generator that is not the system's, an id, a cohort or an encoding of
the same length that carries an answer, and any departure from the mechanisms, however rare, once it happens. What
must be sent is computed by the auditor's own implementation, `deniable_client.audit.reference`, and by nothing that
clients use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from deniable import Report, ReportError, Survey, parse_report
from deniable_client.audit.reference.chance import OutOfWords, Words
from deniable_client.audit.reference.device import without_memory
from deniable_client.audit.reference.published import PublishedSurvey

WORD, ID = 4, 16
"""Length in bytes of a word and of an id, as the clients draw them."""

_NONCE = slice(4, 36)
"""Where a token in hexadecimal has the first half of its nonce, behind its type: the id of its report."""


class Departure(Exception):
    """A report that the published mechanisms cannot have made."""


@lru_cache
def published(document: bytes) -> PublishedSurvey:
    """A survey as the reference reads it."""
    return PublishedSurvey(document)


def check_form(line: bytes, survey: Survey, cohort: str | None, credential: str | None = None) -> Report:
    """Read a report, or raise a `Departure` unless it has the only bytes that its id, cohort and values can have.

    The credential must be the one that the device had before the answers; a token determines the id as well.
    """
    try:
        canonical = survey.canonical_form.read(line)
        report = Report(*canonical) if canonical else parse_report(line, survey)  # which says what is wrong
    except ReportError as error:
        raise Departure(f"no report: {error}") from None
    if report.cohort != cohort:
        raise Departure(f"cohort {report.cohort!r} where the link said {cohort!r}")
    if report.credential != credential:
        raise Departure("another credential than the device was given")
    if survey.tokens and credential and report.id != credential[_NONCE]:
        raise Departure("an id that is not that of its token")
    # Spaces, escapes or another order of keys could carry an answer within a valid report.
    expected = published(survey.document).report(report.id, cohort, report.values, credential)
    if expected != line:
        place = next((n for n, (a, b) in enumerate(zip(line, expected, strict=False)) if a != b), len(expected))
        raise Departure(f"byte {place} of {len(line)} is not as reports are written")
    return report


def replay(
    line: bytes,
    survey: Survey,
    truths: Sequence[Any],
    cohort: str | None,
    chance: Sequence[bytes],
    credential: str | None = None,
) -> None:
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
        The random bytes that the client took from the system: 16 for the id and 4 for each word, in any order.
    credential : str, optional
        The credential that the device had before the answers. With a token the id is not drawn.
    """
    # Ids and words have different lengths, so the order of the calls does not matter.
    ids = [each.hex() for each in chance if len(each) == ID]
    words = Words(int.from_bytes(each, "little") for each in chance if len(each) == WORD)
    # With a token the id is not drawn: it is part of the nonce that was signed before.
    wanted = 0 if survey.tokens and credential else 1
    if len(ids) != wanted or words.left != len(chance) - wanted:
        raise Departure(
            f"took {words.left} words and {len(ids)} ids from the system in {len(chance)} calls, not "
            f"{'one id' if wanted else 'an id, which the token has'}"
        )
    mine = ids[0] if credential is None or wanted else credential[_NONCE]
    its = published(survey.document)
    try:
        values = without_memory(
            its, {each.id: truth for each, truth in zip(survey.questions, truths, strict=True)}, words
        )
    except OutOfWords:
        raise Departure(f"took {words.taken} words from the system; the mechanisms need more") from None
    # A word too many could have decided something that no mechanism asks for.
    if words.left:
        raise Departure(f"took {words.taken + words.left} words from the system; the mechanisms need {words.taken}")
    if its.report(mine, cohort, values, credential) != line:
        raise Departure("not what the mechanisms make of the words and the id that were drawn for it")
