"""Rows of figures that are the same, whether they were computed together or one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from deniable_statistics.published.published_rows import EstimateRow


def assert_same_row(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Texts and counts are equal, and numbers to thirteen digits: sums in another order differ in their last bits."""
    floats = {name for name, value in expected.items() if isinstance(value, float)}
    others = expected.keys() - floats
    assert {name: found[name] for name in others} == {name: expected[name] for name in others}
    for name in floats:
        assert found[name] == pytest.approx(expected[name], rel=1e-13, abs=0, nan_ok=True), name


def assert_same_rows(found: Iterable[EstimateRow], expected: Iterable[EstimateRow]) -> None:
    """Every row is that of the other list, in its order."""
    for mine, theirs in zip(found, expected, strict=True):
        assert_same_row(asdict(mine), asdict(theirs))
