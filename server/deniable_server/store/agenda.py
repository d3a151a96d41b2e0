"""Which surveys there is something to do for, and from which day on, so that nobody looks at all the others.

A report that comes to wait, and a fold that leaves rows to sort, put their survey on the agenda for today in the same
transaction, so it outlives a crash; settling takes it off, or puts it down for the day after the survey's last.
"""

from __future__ import annotations

import datetime

from deniable import Survey
from deniable_server.store.connection import Connection

NOW = ""
"""Before every day."""

LISTED = "SELECT survey FROM agenda WHERE day <= ?"
"""Addresses of the surveys that are due on a day, with it as the value."""


def put(db: Connection, survey: Survey, day: str = NOW) -> None:
    """Have a survey settled from a day on, or from an earlier one that was put down for it."""
    db.execute(
        "INSERT INTO agenda VALUES (?, ?) "
        "ON CONFLICT (survey) DO UPDATE SET day = excluded.day WHERE agenda.day > excluded.day",
        [survey.id, day],
    )


def put_off(db: Connection, survey: Survey, day: str | None) -> None:
    """Have a survey settled from a later day on, or not at all."""
    if day is None:
        db.execute("DELETE FROM agenda WHERE survey = ?", [survey.id])
    else:
        db.execute("UPDATE agenda SET day = ? WHERE survey = ? AND day <> ?", [day, survey.id, day])


def after_closing(survey: Survey, days: int = 1) -> str | None:
    """The day so many days after a survey's last one, or None where there is no such day."""
    try:
        return (survey.closes + datetime.timedelta(days)).isoformat() if survey.closes else None
    except OverflowError:  # past the year 9999
        return None
