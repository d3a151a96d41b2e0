"""A cache of results that are computed once and sent many times."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any


class ResultCache:
    """The results that were used last, by name, of at most ``most`` bytes together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._lock = threading.Lock()
        self._results: dict[Hashable, tuple[Any, int]] = {}  # in order of use

    def get(self, name: Hashable) -> Any:
        """The result of this name, or None if it is not kept."""
        with self._lock:
            # Reinserted, so that it is the last: a dict keeps the order of insertion.
            found = self._results.pop(name, None)
            if found is None:
                return None
            self._results[name] = found
            return found[0]

    def put(self, name: Hashable, result: Any, size: int) -> None:
        """Keep a result of ``size`` bytes, and drop the least recently used ones beyond the limit."""
        size += 1000  # about as much for its name and its entry
        with self._lock:
            _, before = self._results.pop(name, (None, 0))
            self._results[name] = result, size
            self._bytes += size - before
            while self._bytes > self._most:
                _, gone = self._results.pop(next(iter(self._results)))
                self._bytes -= gone
