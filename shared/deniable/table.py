"""Rows as text: aligned for people, CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> str:
    """Align columns with spaces; columns named in ``right`` end together.

    >>> print(format_table(("option", "share"), [("no", "67.8 %"), ("yes", "32.2 %")], right={"share"}))
    option   share
    no      67.8 %
    yes     32.2 %
    """
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, header, strict=True)
        ).rstrip()
        for line in lines
    )


def report_cell(value: int | str) -> int | str:
    """A report value as a field of CSV: a text of 0 and 1 begins with a b.

    pandas, R and spreadsheets read a column of 0101 as numbers, quoted or not, and lose the zeros in front. On the wire
    and in the database the text is as the mechanism makes it.

    >>> report_cell("0101"), report_cell(3)
    ('b0101', 3)
    """
    return f"b{value}" if isinstance(value, str) else value


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Rows as lines of CSV (RFC 4180); None is an empty field."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\r\n").writerow(row)
        yield line.getvalue()
