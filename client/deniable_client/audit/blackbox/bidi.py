"""WebDriver BiDi, which a Firefox speaks by itself: commands and events over one WebSocket."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from deniable.errors import NotInstalled
from deniable_client.audit.blackbox.person import BrowserRefusal

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

SECONDS = 60.0
"""Longest wait for an answer."""


class Bidi:
    """A session with a browser.

    Parameters
    ----------
    url : str
        Of its WebSocket.
    hear : callable
        Gets the name of each event and what it tells, in a thread of its own.
    """

    def __init__(self, url: str, hear: Callable[[str, dict[str, Any]], None]) -> None:
        try:
            from websockets.sync.client import connect
        except ModuleNotFoundError:
            raise NotInstalled("websockets") from None
        self._hear = hear
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._sent = 0
        self._open = ExitStack()
        self._socket: ClientConnection = self._open.enter_context(connect(url, max_size=None, proxy=None))
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command, and wait for what comes of it."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            self._sent += 1
            number = self._sent
            self._waiting[number] = answer
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        try:
            came = answer.result(SECONDS)
        except Late:
            raise BrowserRefusal(f"{method}: has no answer") from None
        if came.get("type") == "error":
            raise BrowserRefusal(f"{method}: {str(came.get('message'))[:200]}")
        found: dict[str, Any] = came["result"]
        return found

    def close(self) -> None:
        """End the session's connection."""
        self._open.close()

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            for text in self._socket:
                came = json.loads(text)
                if came.get("type") == "event":
                    self._hear(came["method"], came["params"])
                elif waiting := self._waiting.pop(came.get("id"), None):
                    waiting.set_result(came)
        except ConnectionClosed:
            pass
        for waiting in self._waiting.values():
            waiting.set_result({"type": "error", "message": "the browser has ended"})
