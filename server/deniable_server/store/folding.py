"""The part of folding that both databases share: tallies, checksum, and dropping the ids of a closed survey."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from deniable import Survey
from deniable_server.store import checksum, counts
from deniable_server.store.connection import Connection
from deniable_server.store.tables import is_empty, kept_of, reports_table, rows_of

T = TypeVar("T", bound=Connection)


def release(db: Connection, survey: Survey, rows: str) -> None:
    """Add pending rows, a table or a query in brackets, to the tallies; the caller moves the rows themselves."""
    counts.add(db, survey, counts.count(db, survey, rows))
    if survey.retention == "tallies":
        # The report leaves the checksum and its id enters it: XOR does both at once.
        went = checksum.sum_of(survey, "report", rows_of(db, rows))
        came = checksum.sum_of(survey, "id", kept_of(survey, rows_of(db, rows)))
        checksum.change(db, survey, went ^ came)


def forget_ids(db: T, survey: Survey, empty: Callable[[T, str], None]) -> None:
    """Drop the ids of a closed survey that keeps tallies, by which reports that come twice were recognised.

    Parameters
    ----------
    empty : callable
        Deletes all rows of a table.
    """
    table = reports_table(survey)
    # A closed survey takes no reports, so no id has to be recognised any more.
    if not is_empty(db, table):
        checksum.change(db, survey, checksum.sum_of(survey, "id", rows_of(db, table)))
        empty(db, table)
