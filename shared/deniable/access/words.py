"""How a survey enforces one report a person, in the words of receipts, results and archives."""

from __future__ import annotations

ONE_REPORT = {
    "open": "one report a person: not enforced",
    "invited": "one report a person, by invitation",
    "unlinkable": "one report a person, by blind token",
}
"""The sentence for each value of `Survey.access`."""
