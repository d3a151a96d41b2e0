"""Rehearsals: a collector of made-up replies, which says so wherever its numbers can go."""

from __future__ import annotations

from flask import current_app

MARK = "Rehearsal: made-up replies."
"""What citations and archives of a rehearsal say, which are English."""


def is_rehearsal() -> bool:
    """Whether this collector was started for a rehearsal."""
    return bool(current_app.config.get("REHEARSAL"))


def file_name(name: str) -> str:
    """The name of a download; columns stay as they are, so that a script runs unchanged on the files of a study."""
    return f"rehearsal-{name}" if is_rehearsal() else name
