"""Rows for programs, and numbers for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

from deniable.table import csv_lines


def columns_of(row_type: Any) -> tuple[str, ...]:
    """The columns of a kind of row: fields of a dataclass or of a named tuple."""
    return tuple(field.name for field in fields(row_type)) if is_dataclass(row_type) else tuple(row_type._fields)


def records(rows: Iterable[Any], row_type: Any) -> list[dict[str, Any]]:
    """Rows as JSON holds them: infinite and undefined numbers are null."""
    names = columns_of(row_type)
    return [{name: _finite(getattr(row, name)) for name in names} for row in rows]


def rows_csv(rows: Iterable[Any], row_type: Any) -> str:
    """Rows as CSV with a header; an undefined number is an empty field, an infinite one is ``inf``."""
    names = columns_of(row_type)
    lines = [[_defined(getattr(row, name)) for name in names] for row in rows]
    return "".join(csv_lines([names, *lines]))


def to_json(document: Mapping[str, Any]) -> str:
    """A document as commands print it."""
    return json.dumps(document, indent=1, allow_nan=False)


def percent(value: float | None, digits: int = 1) -> str:
    """A share, or a difference of shares, for people.

    >>> percent(0.32251), percent(-0.004), percent(None)
    ('32.3 %', '\u22120.4 %', '\u2013')
    """
    return _shown(value, lambda number: f"{100 * number:.{digits}f} %")


def number(value: float | None, digits: int = 4) -> str:
    """A number of some digits, for people.

    All digits before the point are shown, and the zeros after it, because nobody reads powers of ten. A billion and
    more keeps them; what is left of a sum of ones by rounding is 0:

    >>> number(4.32194), number(-0.5), number(float("inf")), number(12340.6), number(1.4321e-8), number(9.8e-19)
    ('4.322', '\u22120.5', '\u221e', '12,341', '0.00000001432', '0')
    """

    def form(each: float) -> str:
        if 10**digits <= each < 1e9:
            return f"{each:,.0f}"
        if 1e-15 < each < 1e-4:
            return format(Decimal(f"{each:.{digits}g}"), "f")
        return f"{each:.{digits}g}" if each > 1e-15 else "0"

    return _shown(value, form)


def p_value(value: float | None) -> str:
    """A p-value; below one in ten thousand its digits say nothing.

    >>> p_value(0.0312), p_value(1e-9)
    ('0.0312', '< 0.0001')
    """
    return _shown(value, lambda p: "< 0.0001" if p < 1e-4 else f"{p:.4f}")


def interval(low: float | None, high: float | None, form: Any = percent) -> str:
    """An interval for people.

    >>> interval(0.1, 0.25)
    '10.0 % to 25.0 %'
    """
    return f"{form(low)} to {form(high)}"


def counted(n: int, noun: str, nouns: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(3, "row"), counted(12340, "person", "people")
    ('1 row', '3 rows', '12,340 people')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def _shown(value: float | None, form: Callable[[float], str]) -> str:
    """A number in a form for its absolute value; a dash where there is none, a real minus, and no minus zero."""
    if value is None or math.isnan(value):
        return "\u2013"
    text = "\u221e" if math.isinf(value) else form(abs(value))
    negative = value < 0 and any(digit in "123456789\u221e" for digit in text)
    return f"\u2212{text}" if negative else text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(each) for each in value]
    return value


def _defined(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
