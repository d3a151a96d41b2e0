"""The log of a survey's releases, as a collector serves it: its signed head, and the releases that it holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from deniable.errors import DeniableError
from deniable.table import printable
from deniable.wire import strict_json
from deniable_research.results.collector import NoSurvey
from deniable_statistics.published.steady_text import steady
from deniable_statistics.release.merkle import root_of
from deniable_statistics.release.record import LogHead
from deniable_statistics.release.signature import VerifyingKey

Fetch = Callable[[str], bytes]
"""Gets the bytes at a path of the collector, such as ``/api/v1/surveys/...``."""


def in_one_line(text: str) -> str:
    """A text of a stranger in one line, without what could write a verdict of its own on a terminal.

    >>> in_one_line("T\\nall checks passed: \\u202e\\x1b[2J")
    'T all checks passed: \ufffd[2J'
    """
    return printable(steady(" ".join(text.split())))


class NotVerified(DeniableError):
    """Something that a collector publishes is not as it must be. The first word of the message says what."""

    def __init__(self, message: str) -> None:
        # A message may quote the collector.
        super().__init__(in_one_line(message))


@dataclass(frozen=True)
class Log:
    """A survey's log of releases, checked: its head is signed, and its root is that of all its leaves.

    Attributes
    ----------
    survey : str
    key : VerifyingKey
    head : LogHead
    leaves : tuple of bytes
    signatures : tuple of bytes
        Of the records, in order.
    is_rehearsal : bool
        Whether the collector says that a program sent the replies, in a rehearsal or the demo.
    """

    survey: str
    key: VerifyingKey
    head: LogHead
    leaves: tuple[bytes, ...]
    signatures: tuple[bytes, ...]
    is_rehearsal: bool = False


def fetch_log(fetch: Fetch, survey_id: str) -> Log:
    """Fetch the log of a survey, and check its head.

    Raises
    ------
    NotVerified
        If the head is not signed, is another survey's, or is not that of the releases in the list.
    """
    document = fetch(f"/api/v1/surveys/{survey_id}/releases")
    try:
        listed = json.loads(document, object_pairs_hook=strict_json.unique)
        key = VerifyingKey(bytes.fromhex(listed["key"]))
        encoded, signature = listed["head"].encode("ascii"), bytes.fromhex(listed["head_signature"])
        numbers = [each["number"] for each in listed["releases"]]
        leaves = tuple(bytes.fromhex(each["leaf"]) for each in listed["releases"])
        signatures = tuple(bytes.fromhex(each["signature"]) for each in listed["releases"])
        is_rehearsal = listed.get("rehearsal") is True
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotVerified(f"log: must be a list of releases, got none ({type(error).__name__})") from None
    if not key.verifies(signature, encoded):
        raise NotVerified("signature: the head of the log must be signed by the collector's key, but is not")
    head = _parsed(encoded)
    # A head that is signed for another survey is a true signature of a wrong thing.
    if head.survey != survey_id:
        raise NotVerified(f"log: must be that of survey {survey_id}, got that of {head.survey!r:.40}")
    # Not `range(1, head.size + 1)`, which a head could make longer than memory.
    if head.size != len(numbers) or numbers != list(range(1, len(numbers) + 1)):
        raise NotVerified(f"log: its head has {head.size} releases, numbered from 1, but the list has {len(numbers)}")
    if root_of(leaves).hex() != head.root:
        raise NotVerified("log: its head is not that of the releases in the list")
    return Log(survey_id, key, head, leaves, signatures, is_rehearsal)


def served(fetch: Fetch, path: str, subject: str) -> bytes:
    """The bytes at a path where a collector has to serve some.

    Raises
    ------
    NotVerified
        If there is nothing; ``subject`` opens the message.
    """
    try:
        return fetch(path)
    except NoSurvey:
        raise NotVerified(f"{subject}: {path} must be served, and is not there") from None


def _parsed(encoded: bytes) -> LogHead:
    try:
        return LogHead.parse(encoded)
    except DeniableError as error:
        raise NotVerified(str(error)) from None
