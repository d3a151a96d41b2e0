"""Cases that take their time, beside shorter ones of the same test."""

from __future__ import annotations

from typing import Any

import pytest


def long(*values: Any, name: str | None = None) -> Any:
    """A case of a parametrised test that runs in ``make test-long`` alone."""
    return pytest.param(*values, id=name, marks=pytest.mark.long)
