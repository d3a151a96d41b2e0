"""Texts of authors and of strangers, without what would turn around the text behind them."""

from __future__ import annotations

import re
from functools import lru_cache

_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters of Unicode that change the direction of what follows them, the numbers of a sentence too."""


@lru_cache(maxsize=4096)  # the same labels stand in thousands of rows
def steady(text: str) -> str:
    """A text of an author without characters that would turn around what stands behind it.

    Letters that run from right to left have their direction without them.

    >>> steady("\u202e41 %")
    '41 %'
    """
    return _TURNS.sub("", text)
