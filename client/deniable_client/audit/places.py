"""Where people of the Python client live: in this process, or in several beside it.

Whoever watches a process from the kernel waits for it most of the time, so several people answer at a time only if as
many processes watch. Each of them has a stand-in for the collector of its own, and runs one client at a time. Which
people answer in one process of the client, and in which order, is the same however many run beside it, and so is the
order of what comes back.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import partial
from multiprocessing import connection, get_context, parent_process
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_client.audit.python_histories import Unfinished

AT_ONCE = 2
"""Most clients that run at a time, each in a process or in a browser of its own."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class Audited(Protocol):
    """What is audited; other processes get a copy of it."""

    def relay(self) -> RecordingRelay:
        """A stand-in for its collector."""


class Place(NamedTuple):
    """What people need to answer: the target of the audit, a stand-in for its collector, a program's environment."""

    target: Any
    relay: RecordingRelay
    environment: Mapping[str, str] | None = None


class Places:
    """Several places, each in a process of its own; with one, or for one task, it is this process.

    Parameters
    ----------
    target : Audited
    environment : mapping, optional
        That of the clients; by default this process's own.
    at_once : int, optional
        By default as many as this process has processors, at most `AT_ONCE`.
    """

    def __init__(
        self, target: Audited, environment: Mapping[str, str] | None = None, at_once: int | None = None
    ) -> None:
        self.target, self.environment = target, None if environment is None else dict(environment)
        self.at_once = at_once or min(AT_ONCE, _processors())
        self._own: Place | None = None
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as stack:
            if self._own:
                stack.callback(self._own.relay.close)
            if self._pool:
                # What has not begun does not begin any more.
                stack.callback(self._pool.shutdown, cancel_futures=True)

    def map(self, live: Callable[[Place, Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """What comes of each task, in their order.

        Parameters
        ----------
        live : callable
            A function of a module; other processes import it.
        tasks : sequence

        Raises
        ------
        Unfinished
            If a client or one of these processes did not come to its end.
        """
        if self.at_once == 1 or len(tasks) < 2:
            self._own = self._own or Place(self.target, self.target.relay(), self.environment)
            for task in tasks:
                yield live(self._own, task)
            return
        if not self._pool:
            # A copy of this process, with its threads and locks, could stand still for ever; a new one cannot.
            given = (self.target, self.environment)
            self._pool = ProcessPoolExecutor(self.at_once, get_context("spawn"), _settle, given)
        # Processes that begin now hear of Ctrl+C only while people live there, and so print nothing.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            results = self._pool.map(partial(_lived, live), tasks)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            yield from results
        except BrokenProcessPool:
            raise Unfinished("python: a process that watches clients ended before they did") from None


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_HERE: list[Place] = []
"""The place of this process, where it is one of several."""


def _settle(target: Audited, environment: Mapping[str, str] | None) -> None:
    """Make this process a place."""
    # Ctrl+C ends what is lived here, and says nothing; whoever waits for it says that the audit was ended.
    signal.signal(signal.SIGINT, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _HERE.append(Place(target, target.relay(), environment))


def _leave(*_: object) -> None:
    # Tasks that are on their way already find nobody.
    _HERE.clear()
    raise SystemExit(1)


def _end_with_parent() -> None:
    """End this process, and with it the client that it watches, if whoever waits for both is gone."""
    parent = parent_process()
    if parent:
        connection.wait([parent.sentinel])
        os._exit(1)


def _lived(live: Callable[[Place, Task], Result], task: Task) -> Result:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        if not _HERE:
            raise SystemExit(1)
        return live(_HERE[0], task)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
