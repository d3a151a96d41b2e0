"""What becomes of a report, and of a request for a token."""

from __future__ import annotations

import enum


class Verdict(enum.Enum):
    """What became of a report, or of a request for a token."""

    STORED = "stored"
    """It counts from now on; of a request: it used its invitation."""
    KNOWN = "known"
    """It was stored before; it counts once."""
    CONFLICT = "conflict"
    """Another report was stored under this id before."""
    SPENT = "spent"
    """Another report, or another request, has used its invitation."""
    UNINVITED = "uninvited"
    """There is no such invitation."""
    CLOSED = "closed"
