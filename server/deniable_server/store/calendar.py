"""The calendar: which day it is, and whether the clock can be trusted.

Taking reports follows the clock, because that can be undone. What cannot be undone asks this calendar: folding the
remainder of a survey whose last day is over, closing it for good, and dropping its ids. A clock that is set forwards
by years, for a minute, must do none of it.

The last day that was believed is kept in the database. A day at most `STEP` after it is believed; one further ahead
only once the clock has stood there, and gone on at its own pace, for `STEP`. A day further back is believed at once: it
only makes everything wait. An author who knows better closes the survey by hand, which asks no clock.
"""

from __future__ import annotations

import datetime
import logging
import time
from dataclasses import astuple, dataclass

from deniable_server.store.connection import Connection

STEP = datetime.timedelta(days=3)
"""Largest trusted jump of the clock ahead of the last believed day, and how long a larger one must persist."""

DAY = datetime.timedelta(days=1)

LOGGER = logging.getLogger("deniable")


@dataclass(frozen=True)
class Days:
    """The row of the calendar: days, never a time of day.

    Attributes
    ----------
    believed : datetime.date
        The day by which irreversible things are done.
    doubted_since : datetime.date or None
        The day that the clock showed when it was first doubted; None while it is trusted.
    latest : datetime.date
        The day that the clock showed last.
    """

    believed: datetime.date
    doubted_since: datetime.date | None
    latest: datetime.date

    def after(self, today: datetime.date, most: datetime.timedelta) -> Days:
        """The row after a look at the clock, which shows ``today`` and can have advanced by ``most`` since the last
        look.

        >>> day = datetime.date(2026, 12, 1)
        >>> days = Days(day, None, day)
        >>> days.after(day + STEP, STEP).believed
        datetime.date(2026, 12, 4)
        >>> wrong = days.after(datetime.date(2038, 1, 19), STEP)
        >>> wrong.believed, wrong.after(day + DAY, STEP).believed
        (datetime.date(2026, 12, 1), datetime.date(2026, 12, 2))
        """
        if today <= self.believed + STEP:
            return Days(today, None, today)
        # A doubted clock has to run on at its own pace: neither back, nor forward by more than the time that passed.
        goes_on = self.doubted_since is not None and datetime.timedelta() <= today - self.latest <= most
        since = self.doubted_since if goes_on and self.doubted_since else today
        return Days(today, None, today) if today - since >= STEP else Days(self.believed, since, today)


class Calendar:
    """The day that one process believes."""

    def __init__(self) -> None:
        self._looked_at: float | None = None

    def look(self, db: Connection, today: datetime.date) -> datetime.date:
        """The believed day, given the day that the clock shows; within the caller's transaction."""
        before, now = _read(db), time.monotonic()
        # Since this process looked last, the clock can have moved only as time went by; before, it may have been off.
        most = STEP if self._looked_at is None else DAY + datetime.timedelta(seconds=now - self._looked_at)
        self._looked_at = now
        after = before.after(today, most) if before else Days(today, None, today)
        if after != before:
            # One row, replaced: the table never tells how often or when it was looked at.
            db.execute("DELETE FROM calendar")
            db.execute("INSERT INTO calendar VALUES (?, ?, ?)", [day and day.isoformat() for day in astuple(after)])
            _tell(before, after)
        return after.believed


def believed(db: Connection, today: datetime.date) -> datetime.date:
    """The day that a collector believed last; ``today`` where none has looked yet."""
    days = _read(db)
    return days.believed if days else today


def _read(db: Connection) -> Days | None:
    for row in db.execute("SELECT believed, doubted_since, latest FROM calendar"):
        try:
            one, two, three = (day and datetime.date.fromisoformat(day) for day in row)
            return Days(one, two, three)
        except (ValueError, TypeError):  # no day of ours; the clock is all there is
            return None
    return None


def _tell(before: Days | None, after: Days) -> None:
    if before and after.doubted_since and after.doubted_since != before.doubted_since:
        LOGGER.warning(
            "clock: must not be %s, %s days after the last day that was believed; until it has stood for %s days, "
            "surveys that would be over by it keep their ids and the reports that wait; close them by hand to go on",
            after.latest,
            (after.latest - before.believed).days,
            STEP.days,
        )
    elif before and before.doubted_since and not after.doubted_since:
        LOGGER.warning("clock: is believed again, it is %s", after.believed)
