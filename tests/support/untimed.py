"""Draws of an audit, on a machine whose time tells nothing."""

from __future__ import annotations

from collections.abc import Iterator

from deniable import Survey
from deniable_client.audit.sampling import Draw, RecordedReport, Trials


def untimed(draw: Draw) -> Draw:
    """The draws without the time that each took, which is chance on a busy machine."""

    def drawn(survey: Survey, trials: Trials, record: bool) -> Iterator[RecordedReport]:
        return (each._replace(nanoseconds=0) for each in draw(survey, trials, record))

    return drawn
