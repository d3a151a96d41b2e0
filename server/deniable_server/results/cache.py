"""What was made once and is sent many times."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any


class ResultCache:
    """Results by name, the latest used, of so many bytes together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._lock = threading.Lock()
        self._results: dict[Hashable, tuple[Any, int]] = {}  # in order of use

    def get(self, name: Hashable) -> Any:
        """The result of that name, or None."""
        with self._lock:
            # Taken out and put in again it is the latest: a dict keeps the order of insertion.
            found = self._results.pop(name, None)
            if found is None:
                return None
            self._results[name] = found
            return found[0]

    def put(self, name: Hashable, result: Any, size: int) -> None:
        """Keep a result of that many bytes, and drop those not used for longest."""
        size += 1000  # its name, and its place
        with self._lock:
            _, before = self._results.pop(name, (None, 0))
            self._results[name] = result, size
            self._bytes += size - before
            while self._bytes > self._most:
                _, gone = self._results.pop(next(iter(self._results)))
                self._bytes -= gone
