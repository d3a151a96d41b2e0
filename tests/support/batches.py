"""Batches of a place, taken by a collector that is not there."""

from __future__ import annotations

import pytest

from deniable import Survey
from deniable_server.place.collectors import BatchOutcome


def sizes_of_batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have every batch accepted as a whole; the list gets the number of messages of each."""
    sizes: list[int] = []

    def deliver(
        _survey: Survey, _collector: str, _token: str | None, batch: tuple[bytes, ...], **_: object
    ) -> BatchOutcome:
        sizes.append(len(batch))
        return BatchOutcome(len(batch), 0, 0)

    monkeypatch.setattr("deniable_server.place.relay.deliver", deliver)
    return sizes
