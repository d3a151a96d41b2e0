"""Whether one report a person is enforced, and by what: the words of receipts, results and downloads."""

from __future__ import annotations

ONE_REPORT = {
    "open": "one report a person: not enforced",
    "invited": "one report a person, by invitation",
    "unlinkable": "one report a person, by blind token",
}
"""For each value of `Survey.access`."""

ONE_REPORT_COLUMN = "one report a person"
"""A column of reports that says whether they are people, in every row. No question can have an id with spaces."""

ACCESS_LABELS = {
    "access": "Who may be counted: open, invited or unlinkable",
    "one_report_a_person": "Whether people count once: whether n is people",
}
"""What the last columns of estimates hold."""


def enforced(access: str) -> str:
    """How a survey sees to it that a report is a person, as a value of `ONE_REPORT_COLUMN`.

    >>> [enforced(access) for access in ("open", "invited", "unlinkable")]
    ['not enforced', 'by invitation', 'by blind token']
    """
    return ONE_REPORT[access].removeprefix(ONE_REPORT_COLUMN).lstrip(":, ")


def access_cells(access: str) -> list[str]:
    """The values of `ACCESS_LABELS` for a survey."""
    return [access, enforced(access)]
