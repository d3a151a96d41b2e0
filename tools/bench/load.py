"""A load of single reports over so many connections.

``python tools/bench/load.py PORT PATH CONNECTIONS SECONDS REPORT``, or with ``@FILE,LENGTH`` in the place of the
report: bodies of one length, one behind the other, each of which is sent once; it ends with the last of them.

Raw sockets and nothing built per request but the id, so that one process of Python can ask far faster than one of
Python can answer. Prints one JSON object: requests, statuses, seconds, and quantiles of the latency in milliseconds.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

NO_ID = "0" * 32
"""Stands in the report where each one has an id of its own."""

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)\r\n")


class Connection:
    """One request after another, each with an id of its own, over one socket."""

    def __init__(self, port: int, path: str, report: str, bodies: Iterator[bytes] | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._bodies = bodies
        before, after = ("", "") if bodies else report.split(NO_ID)
        kind = "application/octet-stream" if bodies else "application/json"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        self._head = head.encode()
        self._before = f"{head}Content-Length: {len(before) + 32 + len(after)}\r\n\r\n{before}".encode()
        self._after = after.encode()
        self._got = b""
        self.sent_at = 0.0

    def send(self) -> None:
        """Ask; StopIteration if there is nothing left to send."""
        self._got = b""
        self.sent_at = time.perf_counter()
        if self._bodies:
            body = next(self._bodies)
            self.socket.sendall(self._head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            return
        self.socket.sendall(self._before + os.urandom(16).hex().encode() + self._after)

    def receive(self) -> int | None:
        """The status, once the answer is whole."""
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server closed the connection")
        self._got += piece
        end = self._got.find(b"\r\n\r\n")
        if end < 0:
            return None
        found = _LENGTH.search(self._got, 0, end + 2)
        if not found or len(self._got) < end + 4 + int(found[1]):
            return None
        return int(self._got[9:12])


def load(port: int, path: str, connections: int, seconds: float, report: str) -> dict[str, Any]:
    """Keep that many connections busy for so long."""
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    bodies = _bodies(report) if report.startswith("@") else None
    with selectors.DefaultSelector() as selector, suppress(StopIteration):
        opened = [Connection(port, path, report, bodies) for _ in range(connections)]
        for connection in opened:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send()
        started = time.perf_counter()
        now = started
        while now < started + seconds:
            for key, _ in selector.select(1):
                connection = key.data
                status = connection.receive()
                if status is not None:
                    statuses[status] += 1
                    latencies.append(time.perf_counter() - connection.sent_at)
                    connection.send()
            now = time.perf_counter()
        for connection in opened:
            connection.socket.close()
    now = time.perf_counter()
    latencies.sort()
    quantiles = {f"p{q}": round(1000 * latencies[len(latencies) * q // 100], 3) for q in (50, 99)}
    return {"requests": len(latencies), "seconds": now - started, "statuses": dict(statuses)} | quantiles


def _bodies(named: str) -> Iterator[bytes]:
    """The bodies in a file of which name and length of each were given."""
    name, _, length = named[1:].rpartition(",")
    with open(name, "rb") as file:
        while body := file.read(int(length)):
            yield body


if __name__ == "__main__":
    port, path, connections, seconds, report = sys.argv[1:]
    print(json.dumps(load(int(port), path, int(connections), float(seconds), report)))
