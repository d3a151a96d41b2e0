"""How a survey enforces one report a person: its columns and cells in results and downloads."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from deniable.access.words import ONE_REPORT

ONE_REPORT_HEADING = "one report a person"
"""The heading above `enforced` in tables, and the column name in reports of older versions."""

ONE_REPORT_COLUMN = "one_report_a_person"
"""The column of reports with `enforced`, unless a question has this id."""

ACCESS_LABELS = {
    "access": "Who may be counted: open, invited or unlinkable",
    "one_report_a_person": "Whether people count once: whether n is people",
}
"""Labels of the last columns of estimates."""


def enforced(access: str) -> str:
    """How a survey enforces one report a person, as a value of `one_report_column`.

    >>> [enforced(access) for access in ("open", "invited", "unlinkable")]
    ['not enforced', 'by invitation', 'by blind token']
    """
    return ONE_REPORT[access].removeprefix(ONE_REPORT_HEADING).lstrip(":, ")


def one_report_column(questions: Collection[str]) -> str:
    """The name of the column with `enforced`, which differs from the ids of all questions.

    >>> one_report_column(["affair"]), one_report_column(["one_report_a_person"])
    ('one_report_a_person', 'one_report_a_person_1')
    """
    numbered = (f"{ONE_REPORT_COLUMN}_{number}" for number in itertools.count(1))
    return next(name for name in itertools.chain([ONE_REPORT_COLUMN], numbered) if name not in questions)


def access_cells(access: str) -> list[str]:
    """The values of `ACCESS_LABELS` for a survey."""
    return [access, enforced(access)]
