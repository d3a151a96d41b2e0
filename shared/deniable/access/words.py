"""Whether one report a person is enforced, and by what: the words of receipts, results and downloads."""

from __future__ import annotations

ENFORCED = {"open": "not enforced", "invited": "by invitation", "unlinkable": "by blind token"}
"""What makes sure that each person sends one report, for each value of `Survey.access`."""

ONE_REPORT = {
    "open": f"one report a person: {ENFORCED['open']}",
    "invited": f"one report a person, {ENFORCED['invited']}",
    "unlinkable": f"one report a person, {ENFORCED['unlinkable']}",
}
"""The same as part of a sentence."""

COLUMN = "one report a person"
"""The column of `ENFORCED` in files of reports. No question has an id with spaces."""
