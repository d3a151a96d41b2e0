"""A stand-in for a collector: it passes on pages, scripts and surveys, and takes reports itself.

No report of an audit reaches a collector. All that a client sends is kept as it came: bytes, connection, order, time.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from deniable.errors import CollectorError
from deniable_client.audit.blackbox.fetching import AS_BROWSERS_ASK, Fetching, headers_of
from deniable_client.audit.blackbox.listener import Listener
from deniable_client.audit.keys import NotSealed, Opened

PASSED_ON = (
    *("content-type", "content-security-policy", "cache-control", "vary", "x-content-type-options", "referrer-policy"),
    *("cross-origin-opener-policy", "permissions-policy", "etag", "access-control-allow-origin"),
    "cross-origin-resource-policy",
)
"""Headers of the collector that a browser acts by."""


class Sent(NamedTuple):
    """One request as its bytes came."""

    connection: int
    time: float
    head: bytes
    body: bytes

    @property
    def start(self) -> str:
        """Method and address."""
        return self.head.split(b"\r\n", 1)[0].decode("latin-1").rsplit(" ", 1)[0]

    @property
    def is_report(self) -> bool:
        """Whether it sends a report, in clear or sealed."""
        return self.start.startswith("POST ") and self.start.endswith(("/reports", "/sealed"))

    @property
    def right(self) -> str:
        """What its head says of the right that its body bears; empty where it says nothing."""
        return _header(self.head, "authorization")


Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body of an answer; status 0 gives none, until the client goes away."""


@dataclass
class RecordingRelay:
    """Listens at ``url``; `sent` is everything that came.

    Parameters
    ----------
    upstream : str
        The collector whose pages are passed on; each is fetched once.

    Attributes
    ----------
    places : dict of str to str
        By host and port of this computer what stands there, in a word; ports differ from run to run.
    """

    upstream: str
    sent: list[Sent] = field(default_factory=list)
    faults: deque[Answer] = field(default_factory=deque)
    """What the next reports get instead of being taken."""
    issuing: deque[str] = field(default_factory=deque)
    """What the next requests for a token get: "lost" is no answer, "false" a signature of something else."""
    sign: Callable[[bytes], bytes] | None = None
    """Signs the blinded messages of tokens."""
    open: Callable[[str, bytes], Opened] | None = None
    """Opens sealed reports of a survey, given by its address."""
    path_of: Callable[[str], str] = lambda path: path
    """Where upstream has what is asked for."""
    rewrite: Callable[[str, Answer], Answer] = lambda _path, answer: answer
    """Changes what is passed on."""
    as_worn: Callable[[str], str] = lambda head: head
    """A head as a browser sends it under the name that the auditor gave it."""

    def __post_init__(self) -> None:
        self.places: dict[str, str] = {}
        self._pages: dict[tuple[str, str], Answer] = {}
        self._known: set[bytes] = set()
        self._fetching = Fetching(self.upstream)
        self._lock = threading.Lock()
        self._listener = Listener(self._serve)
        self.places[f"127.0.0.1:{self.port}"] = "COLLECTOR"

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._listener.port

    @property
    def url(self) -> str:
        """Its address, for clients that of the collector."""
        return f"http://127.0.0.1:{self.port}"

    def take(self) -> list[Sent]:
        """Everything that came since the last time, and nothing of it again."""
        with self._lock:
            came, self.sent = self.sent, []
            self._known.clear()
        return came

    def leave_out(self, is_such: Callable[[Sent], bool]) -> int:
        """Forget such requests; how many there were."""
        with self._lock:
            kept = [each for each in self.sent if not is_such(each)]
            forgotten, self.sent = len(self.sent) - len(kept), kept
            return forgotten

    def record(self, connection: int, head: bytes, body: bytes) -> None:
        """Keep a request that came now."""
        with self._lock:
            self.sent.append(Sent(connection, time.perf_counter(), head, body))

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, connection.makefile("rb") as stream:
            while (request := read_request(stream)) is not None:
                head, body = request
                self.record(number, head, body)
                try:
                    try:
                        status, headers, content = self._answer(head, body)
                    except CollectorError as error:  # such as of an address that it redirects
                        status, headers, content = _json(502, {"detail": str(error)})
                    # A collector that takes the report and never answers: the client has to wait, and to send the same
                    # again.
                    if status == 0:
                        connection.settimeout(60)
                        connection.recv(1)
                        return
                    connection.sendall(
                        written(status, headers, b"" if head.startswith(b"HEAD ") else content, len(content))
                    )
                except OSError:
                    return

    def _answer(self, head: bytes, body: bytes) -> Answer:
        method, path = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")[:2]
        path = path.split("?")[0] if path.startswith("/") else "/" + path.split("/", 3)[-1]
        if method in ("GET", "HEAD"):
            if path.endswith("/state"):
                return _json(200, {"state": "open"})
            return self.passed_on(path, headers_of(head))
        if method != "POST":
            return _json(405, {"detail": "not here"})
        return self._taken(path, body)

    def _taken(self, path: str, body: bytes) -> Answer:
        if path.endswith("/invitations/state"):
            return _json(200, {"state": "unused"})
        if path.endswith("/tokens") and self.sign:
            try:
                blinded = bytes.fromhex(json.loads(body)["blinded"])
            except (KeyError, TypeError, ValueError):
                return _json(422, {"detail": "not a request for a token"})
            becomes = self.issuing.popleft() if self.issuing else ""
            if becomes == "lost":
                return _json(500, {"detail": "lost"})
            if becomes == "false":
                blinded = blinded[:-1] + bytes([blinded[-1] ^ 1])
            return _json(200, {"signature": self.sign(blinded).hex()})
        if path.endswith(("/reports", "/sealed")):
            if self.faults:
                return self.faults.popleft()
            content = self.in_clear(path, body).padded
            # By what the report says, not by its bytes: it may come sealed a second time.
            known = content in self._known
            self._known.add(content)
            return _json(200, {"status": "known"}) if known else _json(201, {"status": "stored"})
        return _json(404, {"detail": "not here"})

    def in_clear(self, path: str, body: bytes) -> Opened:
        """What a body says that was sent somewhere: itself, unless it is a sealed report that can be opened."""
        if self.open and path.endswith("/sealed"):
            with suppress(NotSealed):
                return self.open(path.split("/")[-2], body)
        return Opened(body, "")

    def passed_on(self, path: str, asked: Mapping[str, str] = AS_BROWSERS_ASK) -> Answer:
        """What a client gets at a path: the same bytes whenever it asks."""
        language = next((value for name, value in asked.items() if name.lower() == "accept-language"), "")
        if (path, language) not in self._pages:
            # Kept, so that all sessions get the same bytes and differ by their own doing alone.
            self._pages[path, language] = self._fetched(path, asked)
        return self._pages[path, language]

    def _fetched(self, path: str, asked: Mapping[str, str]) -> Answer:
        status, came, content = self.page(path, asked)
        return status, {name: came[name] for name in PASSED_ON if name in came}, content

    def page(self, path: str, asked: Mapping[str, str] = AS_BROWSERS_ASK) -> Answer:
        """What the collector has at a path, asked anew, with all of its headers; by default as a browser asks."""
        return self.rewrite(path, self._fetching.get(self.path_of(path), asked))


def read_request(stream: object) -> tuple[bytes, bytes] | None:
    """The next request of a connection: its head with the empty line, and its body."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        try:
            line: bytes = stream.readline(65_536)  # type: ignore[attr-defined]  # a buffered reader
        except OSError:
            return None
        if not line:
            return None
        head += line
    # Clients send a length with every body; one in chunks would be read as none, which the record then shows.
    length = int(_header(head, "content-length") or 0)
    body: bytes = stream.read(length) if length else b""  # type: ignore[attr-defined]
    return head, body


def _header(head: bytes, name: str) -> str:
    for line in head.decode("latin-1").split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.strip().lower() == name:
            return value.strip()
    return ""


def _json(status: int, content: object) -> Answer:
    return status, {"content-type": "application/json"}, json.dumps(content).encode()


def written(status: int, headers: dict[str, str], content: bytes, length: int) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {'OK' if status < 400 else 'No'}",
        *(f"{key}: {value}" for key, value in headers.items()),
        # As collectors say. Without it Chromium completes what it left half loaded by Range, and how much that is
        # depends on the clock and not on an answer.
        "accept-ranges: none",
    ]
    return "\r\n".join([*lines, f"content-length: {length}", "", ""]).encode("latin-1") + content
