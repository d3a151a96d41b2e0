"""The versions of a revised survey, whose replies a page of results shows together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deniable import Survey, Tally
from deniable.errors import SurveyError
from deniable_server.results.field_dates import FieldDates, field_dates
from deniable_server.results.releases import ReleaseLog, ShownRelease
from deniable_server.store import NotFound, Store, SurveyState
from deniable_statistics.published.revision import Pool, inflation, versions_of


@dataclass(frozen=True)
class Versions:
    """A survey and all that it revises, from the oldest to itself, each with what its results show.

    Attributes
    ----------
    pool : Pool
    states : tuple of SurveyState
    shown : tuple of ShownRelease
    """

    pool: Pool
    states: tuple[SurveyState, ...]
    shown: tuple[ShownRelease, ...]

    @property
    def documents(self) -> list[bytes]:
        """The published surveys."""
        return [each.document for each in self.pool.versions]

    @property
    def tallies(self) -> list[Mapping[str | None, Tally]]:
        """The tallies of each version."""
        return [each.tallies for each in self.shown]

    @property
    def replies(self) -> Sequence[int]:
        """Number of replies of each version."""
        return [each.n for each in self.shown]

    @property
    def inflation(self) -> float:
        """How many times as large standard errors are at most, if the same people answered several versions."""
        return inflation(self.replies)

    def asks(self, question: str) -> bool:
        """Whether all versions ask a question alike."""
        return any(each.id == question for each in self.pool.survey.questions)

    def dates(self, store: Store) -> FieldDates:
        """The dates of all versions together; the last day is that of the newest."""
        pairs = zip(self.states, self.shown, strict=True)
        found = [field_dates(state, shown.record, store.today()) for state, shown in pairs]
        return FieldDates(min(each.first for each in found), found[-1].last, max(each.as_of for each in found))


def versions(
    store: Store, releases: ReleaseLog, state: SurveyState, may_read: Callable[[Survey], bool]
) -> Versions | None:
    """The versions of a survey; None where it revises none, or not all of them can be shown to this reader."""
    if state.survey.revises is None:
        return None
    try:
        pool = Pool(versions_of(state.survey, store.survey))
    except (NotFound, SurveyError):
        return None  # one is of another collector, or nothing is the same in all
    states = tuple(store.state(each.id) for each in pool.versions)
    if not all(may_read(each.survey) and each.reports for each in states):
        return None
    return Versions(pool, states, tuple(releases.shown(each) for each in states))
