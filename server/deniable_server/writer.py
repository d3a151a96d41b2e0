"""The one thread that writes reports, and commits whatever waits in one durable transaction.

A commit with ``synchronous=FULL`` waits for the disk. Under load many requests wait for the same commit, so the
disk is asked once for all of them; alone, a report waits for nobody.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from deniable import Report, Survey
from deniable_server.store import Outcome, Store, StoreBusy

Submission = tuple[Survey, Sequence[Report], "Future[list[Outcome]]"]

MOST_WAITING = 4096
"""Submissions that may wait; the next one is refused instead of filling the memory."""

MOST_TOGETHER = 10_000
"""Reports in one transaction, at the most one submission more."""


class Writer:
    """Takes reports from any thread and stores them through one.

    Use as a context manager, or call `stop`: what waits is stored first.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: queue.Queue[Submission | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    def submit(self, survey: Survey, reports: Sequence[Report]) -> list[Outcome]:
        """Store reports; returns when they are on disk.

        Raises
        ------
        StoreBusy
            When too much is waiting already.
        """
        done: Future[list[Outcome]] = Future()
        try:
            self._waiting.put_nowait((survey, reports, done))
        except queue.Full:
            raise StoreBusy("The collector has more waiting than it will hold; send the same report again.") from None
        return done.result()

    def stop(self) -> None:
        """Store what waits, then end the thread."""
        self._waiting.put(None)
        self._thread.join()

    @property
    def is_running(self) -> bool:
        """Whether the thread lives: without it nothing is stored."""
        return self._thread.is_alive()

    def waiting(self) -> int:
        """Submissions that wait for the thread."""
        return self._waiting.qsize()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            batch, stopping = self._take()
            if batch:
                self._store_together(batch)
        self._store.close()

    def _take(self) -> tuple[list[Submission], bool]:
        """Wait for one submission, then take all that wait behind it."""
        batch: list[Submission] = []
        size = 0
        item = self._waiting.get()
        while item is not None:
            batch.append(item)
            size += len(item[1])
            if size >= MOST_TOGETHER:
                break
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
        return batch, item is None

    def _store_together(self, batch: list[Submission]) -> None:
        try:
            outcomes = iter(self._store.store_reports([(s, report) for s, reports, _ in batch for report in reports]))
        except BaseException as error:  # nothing was stored: everybody who waits is told so
            for _, _, done in batch:
                done.set_exception(error)
            return
        for _, reports, done in batch:
            done.set_result([next(outcomes) for _ in reports])
