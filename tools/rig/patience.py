"""Waiting for what must happen, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds until a test gives up. They bound a hang and measure nothing: a quiet machine takes a moment."""


def wait_until(happened: Callable[[], object], what: str) -> None:
    """Look again and again whether something happened; fail if it never does."""
    give_up = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < give_up, f"waited in vain until {what}"
        time.sleep(0.02)
