"""This room needs no collector and no browser."""

from __future__ import annotations

from tests.support.alone import neither_collector_nor_browser

__all__ = ["neither_collector_nor_browser"]
