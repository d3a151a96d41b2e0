"""Reading the rows of other programs: CSV with a header, whatever separates its fields."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from deniable.errors import ReportError
from deniable.table import plain_cell

DELIMITERS = ",;\t"
"""What is recognised between the fields of a header."""

_QUOTED = re.compile(r'"[^"]*"')

MAX_FIELD = 1024 * 1024
"""Longest field: an export with open answers is still read, a file that is no CSV is not."""


def read_columns(path: str | Path, delimiter: str | None = None, skip: int = 0) -> dict[str, tuple[str, ...]]:
    """The columns of a CSV file as texts, by their names in the header.

    Parameters
    ----------
    path : str or Path
        UTF-8, with or without a byte order mark.
    delimiter : str, optional
        One character; by default whichever of comma, semicolon and tab stands most often in the header.
    skip : int
        Rows below the header that are no data: Qualtrics has two, with the texts of questions.

    Raises
    ------
    ReportError
        If the file is not UTF-8, has no header with different names, or a row of another length. Lines of the file
        are counted from 1, the header's.
    """
    name = Path(path).name
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ReportError(f"{name}: must be UTF-8 text, byte {problem.start} is not; export it as UTF-8") from None
    return columns_of(text, name, delimiter, skip)


def columns_of(text: str, name: str, delimiter: str | None = None, skip: int = 0) -> dict[str, tuple[str, ...]]:
    """The columns of a CSV text, as `read_columns` finds them; ``name`` opens messages.

    >>> columns_of("id;q1\\n1;yes\\n2;no\\n", "data.csv")
    {'id': ('1', '2'), 'q1': ('yes', 'no')}
    """
    first = text.partition("\n")[0]
    if not first.strip():
        raise ReportError(f"{name}: must start with a header of column names, got an empty line")
    between = delimiter or max(DELIMITERS, key=_QUOTED.sub("", first).count)
    if len(between) != 1:
        raise ReportError(f"{name}: delimiter must be one character, got {len(between)}")
    before = csv.field_size_limit(MAX_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
        header = [each.strip() for each in next(reader)]
        repeated = sorted({each for each in header if header.count(each) > 1})
        if repeated:
            raise ReportError(f"{name}: columns must have different names, {repeated[0]!r} stands there twice")
        rows = []
        for row in reader:
            if len(row) == len(header):
                rows.append(row)
            elif not row and len(header) == 1:
                rows.append([""])  # an empty line is somebody who said nothing, if there is one column only
            elif row:
                raise ReportError(
                    f"{name}, line {reader.line_num}: must have {len(header)} fields like the header, got {len(row)}"
                )
    except csv.Error as problem:
        raise ReportError(f"{name}, line {reader.line_num}: is not CSV: {problem}") from None
    finally:
        csv.field_size_limit(before)
    rows = rows[skip:]
    columns = zip(*rows, strict=True) if rows else ((),) * len(header)
    return {
        title: tuple(plain_cell(cell.strip()) for cell in column) for title, column in zip(header, columns, strict=True)
    }
