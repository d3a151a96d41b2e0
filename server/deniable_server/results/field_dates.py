"""When a survey took replies, and of which day its results are: whole days in UTC, and never when a reply came."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from deniable_server.store import SurveyState
from deniable_statistics.release.record import ReleaseRecord


@dataclass(frozen=True)
class FieldDates:
    """The dates of what results show.

    Attributes
    ----------
    first : datetime.date
        The first day on which the survey took replies, or takes them.
    last : datetime.date or None
        The last one, or the one that the survey names; None where it names none and is not closed.
    as_of : datetime.date
        The day of the release. Results that are live are of the day on which they are asked for: the day of the newest
        reply would tell when it came.
    """

    first: datetime.date
    last: datetime.date | None
    as_of: datetime.date

    @property
    def columns(self) -> dict[str, str]:
        """The dates as the columns and keys of files; a day that is not known is empty."""
        return {
            "first_day": self.first.isoformat(),
            "last_day": self.last.isoformat() if self.last else "",
            "as_of": self.as_of.isoformat(),
        }


def field_dates(state: SurveyState, record: ReleaseRecord | None, today: datetime.date) -> FieldDates:
    """The dates of a survey's results.

    Parameters
    ----------
    state : SurveyState
    record : ReleaseRecord or None
        The release that is shown; None where results are live.
    today : datetime.date
    """
    survey, published = state.survey, datetime.date.fromisoformat(state.published_on)
    # A survey takes no replies before it is published.
    first = max(survey.opens, published) if survey.opens else published
    closed = datetime.date.fromisoformat(state.closed_on) if state.closed_on else None
    last = min((each for each in (survey.closes, closed) if each), default=None)
    return FieldDates(first, last, today if record is None else record.released_on)
