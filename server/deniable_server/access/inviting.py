"""An author's access to invitations, in a collector's or an issuer's database or over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from deniable.errors import CollectorError
from deniable_server.access import remote
from deniable_server.location import Location
from deniable_server.store import InvitationCounts, InvitationUsage, open_store

MOST_HASHES = 10_000
"""Largest number of hashes in one request."""


Answer = TypeVar("Answer", InvitationCounts, InvitationUsage)


class InvitationStore(Protocol):
    """A store of invitations: a database, or a running collector."""

    def add_invitations(self, survey_id: str, hashes: Sequence[str]) -> InvitationCounts:
        """Add the invitations with these hashes."""

    def unused_invitations(self, survey_id: str, hashes: Sequence[str] | None = None) -> InvitationUsage:
        """Numbers of invitations and unused ones, and which of the given hashes are unused."""


def inviting(database: Location, url: str | None = None, token: str | None = None) -> InvitationStore:
    """The store of a database, or the collector at ``url`` if that is given."""
    return _Remote(url, token) if url else open_store(database, may_make=False)


def add_invitations(place: InvitationStore, survey_id: str, hashes: Sequence[str]) -> InvitationCounts:
    """Add any number of invitations. After a failure the same can be added again: known ones stay as they are.

    Raises
    ------
    DeniableError
        If there is no such survey, it has no invitations there, or the place cannot be reached.
    """
    added = known = 0
    # In blocks that one request may hold; repeating them is harmless.
    for start in range(0, len(hashes), MOST_HASHES):
        of_these = place.add_invitations(survey_id, hashes[start : start + MOST_HASHES])
        added, known = added + of_these.added, known + of_these.known
    return InvitationCounts(added, known)


def unused_invitations(place: InvitationStore, survey_id: str, hashes: Sequence[str] | None = None) -> InvitationUsage:
    """Numbers of invitations and unused ones, and which of the given hashes are unused, unless results are live.

    Raises
    ------
    DeniableError
        If there is no such survey, it has no invitations there, or the place cannot be reached.
    """
    if hashes is None:
        return place.unused_invitations(survey_id)
    starts = range(0, max(len(hashes), 1), MOST_HASHES)
    parts = [place.unused_invitations(survey_id, hashes[start : start + MOST_HASHES]) for start in starts]
    found = [each for part in parts for each in part.hashes or ()]
    return parts[-1]._replace(hashes=None if parts[-1].hashes is None else found)


class _Remote:
    """A running collector."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        self._token = token

    def add_invitations(self, survey_id: str, hashes: Sequence[str]) -> InvitationCounts:
        """Invite over HTTP."""
        return self._read(InvitationCounts, remote.invitations(self._url, self._token, survey_id, "", hashes))

    def unused_invitations(self, survey_id: str, hashes: Sequence[str] | None = None) -> InvitationUsage:
        """Ask over HTTP."""
        return self._read(InvitationUsage, remote.invitations(self._url, self._token, survey_id, "/unused", hashes))

    def _read(self, kind: Callable[..., Answer], answer: dict[str, Any]) -> Answer:
        try:
            # A collector of another version may answer with other fields.
            return kind(**answer)
        except TypeError:
            raise CollectorError(f"{self._url}: must answer as a collector does, got something else") from None
