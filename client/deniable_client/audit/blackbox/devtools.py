"""The protocol that a Chromium speaks by itself (CDP): commands and events over two pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from deniable.errors import DeniableError
from deniable_client.audit.blackbox.person import BrowserRefusal

SECONDS = 60.0
"""Longest wait for an answer."""

ENDING = 10.0
"""Longest wait for the end of a browser, in seconds."""

_MOVED = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
"""A browser reads commands from descriptor 3 and writes to 4, which a child of Python cannot be given as such."""

Hear = Callable[[str, dict[str, Any]], None]


class Devtools:
    """A browser that was started, and the pipes to it.

    Whoever waits for an answer reads, and hears of the events before it. So all of it happens in one thread.

    Parameters
    ----------
    words : sequence of str
        Program and arguments.
    variables : mapping
        What is set in its environment.
    """

    def __init__(self, words: Sequence[str], variables: Mapping[str, str]) -> None:
        shell = ["/bin/sh", "-c", _MOVED, "sh", *words, "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env={**os.environ, **variables}
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout.fileno()
        self._pieces: list[bytes] = []
        self._sent = 0
        self._came: dict[int, dict[str, Any]] = {}
        self._left: set[int] = set()
        self.hears: dict[str, Hear] = {}
        """By the id of a session who hears its events; those of the browser itself have no id."""

    def tell(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> int:
        """Send a command, and say under which number its answer will come."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        whole = json.dumps(message).encode() + b"\0"
        try:
            while whole:
                whole = whole[self._to.write(whole) or 0 :]
        except OSError:
            raise BrowserRefusal(f"{method}: the browser has ended") from None
        return self._sent

    def answer(self, number: int) -> dict[str, Any]:
        """What came of a command."""
        give_up = time.monotonic() + SECONDS
        while number not in self._came:
            self._read(give_up)
        came = self._came.pop(number)
        if "error" in came:
            raise BrowserRefusal(str(came["error"].get("message"))[:200])
        found: dict[str, Any] = came["result"]
        return found

    def send(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """Send a command, and wait for what comes of it."""
        number = self.tell(method, parameters, session)
        try:
            return self.answer(number)
        except BrowserRefusal as error:
            raise BrowserRefusal(f"{method}: {error}") from None

    def leave(self, number: int) -> None:
        """Want no answer to a command."""
        self._left.add(number)

    def close(self) -> None:
        """End the browser."""
        with suppress(DeniableError):
            self.tell("Browser.close")
        with suppress(DeniableError):
            # What it still says is read, or it would wait for somebody to.
            give_up = time.monotonic() + ENDING
            while True:
                self._read(give_up)
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._process:  # closes both pipes
            pass

    def _read(self, give_up: float) -> None:
        """Wait for something to come, and take it."""
        ready, _, _ = select.select([self._from], [], [], max(0.0, give_up - time.monotonic()))
        if not ready:
            raise BrowserRefusal("has no answer")
        piece = os.read(self._from, 1 << 20)
        if not piece:
            raise BrowserRefusal("the browser has ended")
        *ends, rest = piece.split(b"\0")
        for end in ends:
            text = b"".join((*self._pieces, end))
            self._pieces.clear()
            self._take(json.loads(text))
        self._pieces.append(rest)

    def _take(self, came: dict[str, Any]) -> None:
        number = came.get("id")
        if number is None:
            hear = self.hears.get(came.get("sessionId", ""))
            if hear:
                hear(came["method"], came.get("params", {}))
        elif number in self._left:
            self._left.discard(number)
        else:
            self._came[number] = came
