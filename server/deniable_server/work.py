"""What is computed in processes of its own: functions of values, and few imports, because each process makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable import EstimateRow, Tally, estimate, parse_survey


def rows_of(document: bytes, tallies: Mapping[str | None, Tally], wanted: Mapping[str, Any]) -> list[EstimateRow]:
    """Every estimate of a published survey; ``wanted`` are arguments of `deniable.estimate`."""
    return estimate(tallies, parse_survey(document), **wanted)


def chart_of(document: bytes, rows: tuple[EstimateRow, ...], form: str) -> bytes:
    """The chart of a published survey's estimates."""
    from deniable_server import charts  # matplotlib is for processes that draw

    return charts.estimates_chart(parse_survey(document), rows, form)
