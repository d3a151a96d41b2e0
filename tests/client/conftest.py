"""Real collectors to send reports to."""

from __future__ import annotations

from tests.support.collectors import collector, start_collector

__all__ = ["collector", "start_collector"]
