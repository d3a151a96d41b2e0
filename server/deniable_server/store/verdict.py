"""The verdicts on reports, and on requests for tokens."""

from __future__ import annotations

import enum


class Verdict(enum.Enum):
    """The verdict on a report, or on a request for a token."""

    STORED = "stored"
    """The report counts from now on, or the request used its invitation."""
    KNOWN = "known"
    """This very report was stored before; it counts once."""
    CONFLICT = "conflict"
    """Another report was stored under this id before."""
    SPENT = "spent"
    """Another report, or another request, has used its invitation."""
    UNINVITED = "uninvited"
    """The survey has no such invitation."""
    CLOSED = "closed"
    """The survey takes no reports, or gives no tokens, now."""
