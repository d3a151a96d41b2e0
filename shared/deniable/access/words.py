"""Whether one report a person is enforced, and by what: the words of receipts, results and downloads."""

from __future__ import annotations

ONE_REPORT = {
    "open": "one report a person: not enforced",
    "invited": "one report a person, by invitation",
    "unlinkable": "one report a person, by blind token",
}
"""For each value of `Survey.access`."""
