"""The Python client against applications in this process; every request is noted, as whoever holds the line sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from flask.testing import FlaskClient

from deniable_client.collector_connection import CollectorConnection


class Answered(NamedTuple):
    """What `CollectorConnection` reads of an answer."""

    status: int
    data: bytes
    headers: Mapping[str, str]


class Request(NamedTuple):
    """One request and its answer, in the order in which they came."""

    place: str
    path: str
    body: bytes
    answer: bytes


class Killed(BaseException):
    """The device's process ends here: nothing after it runs."""


@dataclass
class Wire:
    """Where requests of the Python client go.

    Attributes
    ----------
    places : dict of str to FlaskClient
        Collectors and issuers by their URL.
    requests : list of Request
    cut : callable
        Called with what is sent before it arrives and after, as ``"before /tokens"``; may raise.
    """

    places: dict[str, FlaskClient]
    requests: list[Request]
    cut: Callable[[str], None] = lambda _: None

    def __call__(
        self, connection: CollectorConnection, method: str, path: str, body: bytes | None = None, is_quick: bool = False
    ) -> Answered:
        what = path[path.rindex("/") :]
        self.cut(f"before {what}")
        answer = self.places[connection.collector].open(
            f"/api/v1{path}", method=method, data=body, content_type="application/json" if body else None
        )
        self.requests.append(Request(connection.collector, path, body or b"", answer.data))
        self.cut(f"after {what}")
        return Answered(answer.status_code, answer.data, dict(answer.headers))

    def bodies(self, what: str) -> list[bytes]:
        """What was sent to paths that end so."""
        return [each.body for each in self.requests if each.path.endswith(what)]


def wire_to(monkeypatch: pytest.MonkeyPatch, **places: FlaskClient) -> Wire:
    """Let all clients of this process talk to these applications, at ``https://NAME.example``."""
    wire = Wire({f"https://{name}.example": http for name, http in places.items()}, [])
    monkeypatch.setattr(CollectorConnection, "_request", lambda *request, **more: wire(*request, **more))
    return wire
