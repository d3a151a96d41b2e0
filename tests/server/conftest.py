"""Collectors: one in this process, and real ones."""

from __future__ import annotations

from tests.support.collectors import collector, start_collector
from tests.support.in_process import app, http, store

__all__ = ["app", "collector", "http", "start_collector", "store"]
