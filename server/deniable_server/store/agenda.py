"""The agenda: the surveys that have to be settled, each from a day on, so that settling looks at no others.

A report that waits, and a fold that leaves rows to sort, put their survey on the agenda for today in the same
transaction, so the entry survives a crash. Settling removes it, or moves it to the day after the survey's last.
"""

from __future__ import annotations

import datetime

from deniable import Survey
from deniable_server.store.connection import Connection

NOW = ""
"""The empty text, which sorts before every ISO date: the survey is due now."""

LISTED = "SELECT survey FROM agenda WHERE day <= ?"
"""Query for the addresses of surveys that are due on a day, which is its value."""


def put(db: Connection, survey: Survey, day: str = NOW) -> None:
    """Put a survey on the agenda from a day on; an earlier day that is there stays."""
    # Only an earlier day replaces the one that is there: nothing that is due may be put off by a newcomer.
    db.execute(
        "INSERT INTO agenda VALUES (?, ?) "
        "ON CONFLICT (survey) DO UPDATE SET day = excluded.day WHERE agenda.day > excluded.day",
        [survey.id, day],
    )


def put_off(db: Connection, survey: Survey, day: str | None) -> None:
    """Move a survey on the agenda to a later day, or remove it."""
    if day is None:
        db.execute("DELETE FROM agenda WHERE survey = ?", [survey.id])
    else:
        db.execute("UPDATE agenda SET day = ? WHERE survey = ? AND day <> ?", [day, survey.id, day])


def after_closing(survey: Survey, days: int = 1) -> str | None:
    """The day that is ``days`` after the last one on which reports are taken; None if there is none."""
    try:
        return (survey.takes_until + datetime.timedelta(days)).isoformat() if survey.takes_until else None
    except OverflowError:  # past the year 9999
        return None
