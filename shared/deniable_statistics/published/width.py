"""How wide an interval may be for a sentence to give it in numbers; plans need this where no numpy is installed."""

from __future__ import annotations

TOO_WIDE = 0.15
"""Largest half-width of an interval that a sentence gives in numbers, as a share of the axis."""
