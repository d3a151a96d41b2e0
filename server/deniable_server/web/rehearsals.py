"""Rehearsals and the demo: collectors whose replies a program sends, which say so wherever their numbers can go."""

from __future__ import annotations

from typing import Literal, TypeAlias

from flask import current_app

from deniable_server.language import words

Staged: TypeAlias = Literal["rehearsal", "demo"]
"""What a collector is whose replies a program sends; the name of the sentence that says so."""


def staged() -> Staged | None:
    """Whether this collector was started for a rehearsal or for the demo; None where people send to it."""
    found = current_app.config.get("REHEARSAL")
    return "demo" if found == "demo" else "rehearsal" if found else None


def mark_of(kind: Staged | None) -> str:
    """What citations and archives say of such replies, which are English; empty where people sent them."""
    return "" if kind is None else words("en")[kind]


def file_name(name: str) -> str:
    """The name of a download; columns stay as they are, so that a script runs unchanged on the files of a study."""
    kind = staged()
    return name if kind is None else f"{kind}-{name}"
