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
"""Deepest nesting of arrays and objects."""

MAX_DIGITS = 15
"""Longest integer, in digits: up to there integers are exact in JavaScript too."""


class _Refusal(ValueError):
    """A refusal by a hook of the parser; `loads` puts the subject in front."""


def loads(raw: bytes, error: type[DeniableError], subject: str) -> Any:
    """Parse UTF-8 JSON strictly.

    Parameters
    ----------
    raw : bytes
        The whole document.
    error : type of DeniableError
        The class to raise.
    subject : str
        What the document is, to open the message.
    """
    try:
        text = raw.decode("utf-8")
        # Before the parser, which would recurse as deep as the text says.
        if _depth_above(text, MAX_DEPTH):
            raise _Refusal(f"must not nest deeper than {MAX_DEPTH}")
        return _DECODER.decode(text)
    except UnicodeDecodeError as problem:
        reason = f"must be UTF-8, byte {problem.start} is not"
    except json.JSONDecodeError as problem:
        reason = f"must be JSON; {problem.msg} at line {problem.lineno}, column {problem.colno}"
    except _Refusal as problem:
        reason = str(problem)
    raise error(f"{subject}: {reason}")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, for ``object_pairs_hook``; a ValueError if a key is there twice, of which parsers take either."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refusal("must not hold the same key twice")
    return found


def _integer(digits: str) -> int:
    # Before `int`, which takes a time in proportion to the square of the number of digits.
    if len(digits) > MAX_DIGITS:
        raise _Refusal(f"numbers must have at most {MAX_DIGITS} digits, got {len(digits)}")
    return int(digits)


def _fraction(_digits: str) -> NoReturn:
    raise _Refusal("numbers must be integers")


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique, parse_int=_integer, parse_float=_fraction, parse_constant=_fraction
)
"""Made once: making one takes as long as parsing a report."""


def dumps(value: Any) -> bytes:
    """Write JSON in the one form that Deniable publishes: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


# An unterminated string matches up to the end, so that no text makes the search start over at each quote.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)


def _depth_above(text: str, limit: int) -> bool:
    # Cheap first: reports have two braces, so the loop below never runs for them.
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
