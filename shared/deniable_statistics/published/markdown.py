"""Texts and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# CommonMark's marks within a line, and those of GitHub and Pandoc: ~ strikes out, $ opens mathematics.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def escape_markdown(text: str) -> str:
    r"""A text with the marks of Markdown escaped.

    >>> print(escape_markdown("a_b * [T.1] | x"))
    a\_b \* \[T.1\] \| x
    """
    # A line break would end the row of a table.
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: frozenset[int] | None = None) -> str:
    r"""Rows as a table in Markdown, with their texts escaped; ``left`` aligns all other columns to the right.

    >>> print(markdown_table(("code", "stands for"), [("1", "a|b")]), end="")
    | code | stands for |
    | --- | --- |
    | 1 | a\|b |
    """
    marks = ["---" if left is None or place in left else "---:" for place in range(len(header))]
    lines = [[*map(escape_markdown, header)], marks, *([*map(escape_markdown, row)] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
