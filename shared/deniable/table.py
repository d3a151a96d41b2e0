"""Rows as text, aligned for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters, which terminals obey, and characters that XML 1.0 forbids."""


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> str:
    """Align columns with spaces; columns named in ``right`` end together. Cells are made `printable`.

    >>> print(format_table(("option", "share"), [("no", "67.8 %"), ("yes", "32.2 %")], right={"share"}))
    option   share
    no      67.8 %
    yes     32.2 %
    """
    lines = [tuple(map(printable, line)) for line in (header, *rows)]
    # Characters, not columns of the screen: wide letters of East Asia shift the rest of their line.
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, header, strict=True)
        ).rstrip()
        for line in lines
    )


def printable(text: str) -> str:
    """A text whose characters terminals and XML can show: U+FFFD stands for each of the others, not for line ends.

    >>> printable("a\\x1b[31mb\\uffffc")
    'a\ufffd[31mb\ufffdc'
    """
    return _UNSHOWN.sub("\ufffd", text)
