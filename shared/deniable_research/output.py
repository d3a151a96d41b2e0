"""Formats of what commands print: rows for programs, numbers and counts for people."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from deniable_statistics.published.csv_cells import csv_lines

OPTIONAL = {"optional": True}
"""Metadata of a field that is a column only if some row has it, such as a figure of complex samples."""


def field_names(row_type: Any, rows: Iterable[Any] = ()) -> tuple[str, ...]:
    """The names of the columns of a row type, which is a dataclass or a named tuple; `OPTIONAL` fields need a value."""
    if not is_dataclass(row_type):
        return tuple(row_type._fields)
    used = [
        each
        for each in fields(row_type)
        if not each.metadata or any(getattr(row, each.name) is not None for row in rows)
    ]
    return tuple(each.name for each in used)


def records(rows: Collection[Any], row_type: Any) -> list[dict[str, Any]]:
    """Rows as dictionaries for JSON; infinite and undefined numbers are None."""
    names = field_names(row_type, rows)
    return [{name: _finite(getattr(row, name)) for name in names} for row in rows]


def rows_csv(rows: Collection[Any], row_type: Any) -> str:
    """Rows as CSV with a header; an undefined number is an empty field, an infinite one is ``inf``."""
    names = field_names(row_type, rows)
    lines = [[_defined(getattr(row, name)) for name in names] for row in rows]
    return "".join(csv_lines([names, *lines]))


def to_json(document: Mapping[str, Any]) -> str:
    """A document as commands print it: JSON with an indentation of one space."""
    return json.dumps(document, indent=1, allow_nan=False)


def counted(n: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun in the singular or plural.

    >>> counted(1, "row"), counted(3, "row"), counted(12340, "person", "people")
    ('1 row', '3 rows', '12,340 people')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def _finite(value: Any) -> Any:
    # JSON has neither infinity nor NaN (RFC 8259, section 6).
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(each) for each in value]
    return value


def _defined(value: Any) -> Any:
    # Infinite ends stay: pandas and R read inf, and an open interval is not a missing one.
    return None if isinstance(value, float) and math.isnan(value) else value
