"""Close connections whose other side takes too long, so that nobody can hold a thread for any length of time.

Granian has a timeout for the head of a request and for nothing else (as of 2.8): a thread that reads a body, or waits
until a download is taken, waits for ever, and cannot be told to stop. But the kernel knows how many bytes each
connection received and sent, and shutting one down ends the thread's call. This works on Linux only; elsewhere a proxy
in front has to do it.

Two rules apply, both with a minimum rate and a time that everybody has:

* an answer must begin within 20 seconds after the last one was taken, plus a second for each 64 KiB received;
* an answer must be taken within 20 seconds, plus a second for each 64 KiB taken.

If one address has more connections than its share, those that were idle for longest are closed: Granian accepts a fixed
number of connections, and one without a finished head counts like any other.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from deniable_server.edge.limits import network

SECONDS = 20.0
"""Time for a request, or for taking an answer, in seconds."""

BYTES_A_SECOND = 64 * 1024
"""Minimum rate of a body beyond that, in bytes a second: 4 MiB within 84 seconds."""

LOOK_SECONDS = 2.0
"""Interval between two looks at all connections, in seconds."""

MOST_CONNECTIONS = 1024
"""Largest number of connections of one address: some hundred browsers, each of which opens up to six."""

CROWD, CROWD_SECONDS = 512, 0.2
"""Number of connections from which on they are counted by address, and the interval in seconds; 3,000 take 50 ms."""

_ESTABLISHED_TO_CLOSE_WAIT = (1, 4, 5, 8)  # TCP_ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT of linux/tcp_states.h

_TCP_INFO = struct.Struct("=B 119x QQ 8x I")
"""The state, bytes_acked, bytes_received and notsent_bytes of struct tcp_info (linux/tcp.h)."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The kernel's counters of a connection, in bytes, and the network of its client."""

    acknowledged: int
    received: int
    unsent: int
    network: bytes = b""

    @property
    def is_behind(self) -> bool:
        """Whether something waits to be sent."""
        return self.unsent > 0


@dataclass(slots=True)
class _WatchedConnection:
    now: Progress
    start: Progress
    since: float


class Watch:
    """The progress of each connection since its current request or answer began."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _WatchedConnection] = {}

    def overdue(self, progress: dict[tuple[int, int], Progress], now: float) -> list[tuple[int, int]]:
        """The connections that took too long, from the counters of all connections at the time ``now``."""
        late, known = [], {}
        for name, new in progress.items():
            seen = self._known.get(name)
            if seen is None or _is_new(seen.now, new):
                seen = _WatchedConnection(new, new, now)
            else:
                seen.now = new
            known[name] = seen
            # Only the direction that is due counts: bytes taken while an answer waits, else bytes received.
            moved = new.acknowledged - seen.start.acknowledged if new.is_behind else new.received - seen.start.received
            if now - seen.since > SECONDS + moved / BYTES_A_SECOND:
                late.append(name)
        self._known = known
        return late

    def crowding(self, total: int, most: int = MOST_CONNECTIONS) -> list[tuple[int, int]]:
        """The connections that addresses have beyond their `share` of a total, the longest idle first."""
        by_network: dict[bytes, list[tuple[int, int]]] = {}
        for name, seen in sorted(self._known.items(), key=lambda each: each[1].since):
            by_network.setdefault(seen.now.network, []).append(name)
        # Everybody is counted before anybody is cut off, so that the share is that of this very crowd.
        each = share([len(names) for names in by_network.values()], total, most)
        return [name for names in by_network.values() for name in names[: max(0, len(names) - each)]]


def share(held: Iterable[int], total: int, most: int) -> int:
    """The fair share of connections of one address, such that a new address finds as many.

    >>> share([4000], 4096, 1024), share([4000, 5], 4096, 4096), share([1000, 1000, 1000, 1000], 4096, 1024)
    (1024, 2045, 819)
    """
    left = total
    those = sorted(held)
    for number, connections in enumerate(those):
        # The addresses from here on, which have the most connections, and one newcomer share the rest equally.
        others = len(those) - number + 1
        if connections * others > left:
            return min(most, left // others)
        left -= connections
    return min(most, left)


def _is_new(before: Progress, after: Progress) -> bool:
    """Whether the time limit starts anew, because an answer was taken or has begun."""
    if after.is_behind:
        # An answer begins where something waits to be sent and nothing did before.
        return not before.is_behind
    # All is sent and more was taken: the answer is through, and the next request may take its time.
    return after.acknowledged > before.acknowledged


def watch(port: int, total: int | None) -> None:
    """Watch the connections of this process that came in at a port, in a thread of its own.

    Parameters
    ----------
    port : int
    total : int or None
        Number of possible connections, which addresses share; None where all come from a proxy.
    """
    if sys.platform != "linux":
        return
    threading.Thread(target=_watch, args=(port, total), name="deniable-stalls", daemon=True).start()


def _watch(port: int, total: int | None) -> None:
    watched = Watch()
    due = time.monotonic() + LOOK_SECONDS
    while True:
        time.sleep(CROWD_SECONDS if total else LOOK_SECONDS)
        try:
            # Counting descriptors is cheap; asking each socket for its address is not.
            is_crowded = total is not None and len(os.listdir("/proc/self/fd")) > CROWD
            if not is_crowded and time.monotonic() < due:
                continue
            due = time.monotonic() + LOOK_SECONDS
            closed = watched.overdue(look(port), time.monotonic())
            if total is not None:
                closed += watched.crowding(total)
            for name in closed:
                shut_down(name)
        except OSError as error:  # no descriptor left, say; the next look will do
            logging.getLogger("deniable").warning("connections: not looked at, %s", type(error).__name__)


def look(port: int) -> dict[tuple[int, int], Progress]:
    """The counters of every connection of this process at a port, by descriptor and inode."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # it was closed meanwhile
            inode = _inode(int(name))
            if inode is None:
                continue
            with _borrowed(int(name)) as connection:
                if connection.family not in (socket.AF_INET, socket.AF_INET6) or connection.type != socket.SOCK_STREAM:
                    continue
                if connection.getsockname()[1] != port:
                    continue
                address = connection.getpeername()[0]
                told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
            if len(told) < _TCP_INFO.size:
                continue  # a kernel before 4.6
            state, acknowledged, received, unsent = _TCP_INFO.unpack(told)
            if state in _ESTABLISHED_TO_CLOSE_WAIT:
                found[int(name), inode] = Progress(acknowledged, received, unsent, network(address))
    return found


def shut_down(name: tuple[int, int]) -> None:
    """Shut a connection down, unless its descriptor means another one by now. Its owner closes it."""
    descriptor, inode = name
    with contextlib.suppress(OSError), _borrowed(descriptor) as connection:
        # Between look and shut-down the descriptor may have been closed and given to another connection.
        if _inode(connection.fileno()) == inode:
            connection.shutdown(socket.SHUT_RDWR)


def _borrowed(descriptor: int) -> socket.socket:
    """A socket for a copy of a descriptor that belongs to Granian."""
    return socket.socket(fileno=os.dup(descriptor))


def _inode(descriptor: int) -> int | None:
    told = os.fstat(descriptor)
    return told.st_ino if stat.S_ISSOCK(told.st_mode) else None
