"""Answers of servers, of which nothing is known before they are read."""

from __future__ import annotations

import json
from typing import Any


def object_in(text: bytes) -> dict[str, Any]:
    """The JSON object in an answer; an empty one if there is none.

    >>> object_in(b'{"status": "stored"}'), object_in(b"[1]"), object_in(b"<html>")
    ({'status': 'stored'}, {}, {})
    """
    try:
        # Not strictly: whoever answers may be any server, and nothing that it says is trusted.
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
