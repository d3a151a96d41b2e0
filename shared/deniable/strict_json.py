"""JSON without the traps: what two parsers could read differently is refused.

The standard library's parser takes the last of two equal keys, reads ``true`` where 1 is meant, parses integers of
thousands of digits, falls over ``[[[[...`` with a RecursionError, and guesses UTF-16. Nothing that Deniable
exchanges needs a fraction, so fractions are refused too and no number depends on a language's floats.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from deniable.errors import DeniableError

MAX_DEPTH = 8
MAX_DIGITS = 15
"""Integers of up to 15 digits are exact in JavaScript too."""


def loads(raw: bytes, error: type[DeniableError], subject: str) -> Any:
    """Parse UTF-8 JSON strictly.

    Parameters
    ----------
    raw : bytes
        The whole document.
    error : type of DeniableError
        What to raise.
    subject : str
        What the document is, to open the message.
    """

    def refuse(reason: str) -> NoReturn:
        raise error(f"{subject}: {reason}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            refuse("must not hold the same key twice")
        return found

    def integer(digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            refuse(f"numbers must have at most {MAX_DIGITS} digits, got {len(digits)}")
        return int(digits)

    def fraction(_digits: str) -> NoReturn:
        refuse("numbers must be integers")

    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        refuse(f"must be UTF-8, byte {problem.start} is not")
    if _depth_above(text, MAX_DEPTH):
        refuse(f"must not nest deeper than {MAX_DEPTH}")
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_int=integer, parse_float=fraction, parse_constant=fraction
        )
    except json.JSONDecodeError as problem:
        refuse(f"must be JSON; {problem.msg} at line {problem.lineno}, column {problem.colno}")


def dumps(value: Any) -> bytes:
    """Write JSON in the one form that Deniable publishes: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


# An unterminated string matches up to the end, so that no text makes the search start over at each quote.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)


def _depth_above(text: str, limit: int) -> bool:
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for character in _STRING.sub("", text):
        if character in "[{":
            depth += 1
            if depth > limit:
                return True
        elif character in "]}":
            depth -= 1
    return False
