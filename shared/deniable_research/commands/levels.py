"""Confidence levels on the command line."""

from __future__ import annotations

from deniable_commands.numbers import Number
from deniable_statistics.intervals.interval import HIGHEST_LEVEL, LOWEST_LEVEL

LEVEL = Number(LOWEST_LEVEL, HIGHEST_LEVEL)
"""Type of options that are a confidence level, within the range for which intervals are computed."""
