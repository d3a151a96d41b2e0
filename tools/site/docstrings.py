"""Docstrings of numpydoc as Sphinx reads them: each counts its references from 1, and no page may hold two alike."""

from __future__ import annotations

import re
from typing import Any


def plain_references(lines: list[str]) -> list[str]:
    """The lines of a docstring with its references as text, where they stood as links.

    >>> plain_references(["By Warner [1]_.", "", ".. [1] S. Warner, 1965."])
    ['By Warner \\\\[1].', '', '| \\\\[1] S. Warner, 1965.']
    """
    text = [re.sub(r"\[(\d+)\]_", r"\\[\1]", line) for line in lines]
    return [re.sub(r"^(\s*)\.\. \[(\d+)\] ", r"\1| \\[\2] ", line) for line in text]


def on_docstring(_app: Any, _what: str, _name: str, _about: Any, _options: Any, lines: list[str]) -> None:
    """Sphinx's event `autodoc-process-docstring`."""
    lines[:] = plain_references(lines)


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("autodoc-process-docstring", on_docstring, priority=400)  # before napoleon, whose priority is 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
