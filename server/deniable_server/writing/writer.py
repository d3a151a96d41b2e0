"""The one thread that writes reports, and commits all that wait in one durable transaction.

A commit with ``synchronous=FULL`` waits for the disk. Under load many requests wait for the same commit, so the
disk is asked once for all of them; alone, a report waits for nobody.

The thread also settles the store (`Store.settle`): when it starts, when much is pending, on a timer, and when it ends.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence

from deniable import Report, Survey
from deniable_server.store import Store, StoreBusy, Verdict


class SubmissionFuture:
    """The future result of a submission, for the one thread that waits for it.

    A bare lock, taken until there is an answer: waking a waiter is most of what a report costs here, and the condition
    inside `concurrent.futures.Future` makes it dearer. Each waiter wakes the next one: woken all at once, they
    would only wait once more, for the interpreter's lock.
    """

    __slots__ = ("_error", "_next", "_outcomes", "_wait")

    def __init__(self) -> None:
        self._outcomes: list[Verdict] = []
        self._error: BaseException | None = None
        self._next: SubmissionFuture | None = None
        self._wait = threading.Lock()
        self._wait.acquire()

    def give(self, outcomes: list[Verdict], then: SubmissionFuture | None) -> None:
        """Set the verdicts that the waiter gets once `wake` is called; it then wakes another one."""
        self._outcomes, self._next = outcomes, then

    def refuse(self, error: BaseException, then: SubmissionFuture | None) -> None:
        """Set the error that the waiter raises once `wake` is called; it then wakes another one."""
        self._error, self._next = error, then

    def wake(self) -> None:
        """Wake the waiter."""
        self._wait.release()

    def get(self) -> list[Verdict]:
        """Wait for the verdicts, or the error."""
        self._wait.acquire()
        if self._next is not None:
            self._next.wake()
        if self._error is not None:
            raise self._error
        return self._outcomes


Submission = tuple[Survey, Sequence[Report], SubmissionFuture]

MOST_WAITING = 20_000
"""Largest number of waiting reports; more are refused instead of filling the memory."""

MOST_TOGETHER = 10_000
"""Number of reports at which a transaction takes no further submission."""

MOST_PENDING = 10_000
"""Number of unfolded reports at which the store settles before the timer; estimates count those row by row."""

FOLD_SECONDS = 10.0
"""Default interval between two settlings, in seconds."""

LOGGER = logging.getLogger("deniable")


class Writer:
    """Takes reports from any thread and stores them through one.

    Parameters
    ----------
    store : Store
        The store that takes the reports.
    fold_seconds : float
        Seconds after which reports are folded, or at least sorted, if too few have come to start that by their number.
    """

    def __init__(self, store: Store, fold_seconds: float = FOLD_SECONDS) -> None:
        self._store = store
        self._fold_seconds = fold_seconds
        self._waiting: queue.SimpleQueue[Submission | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._held = 0
        self._stopped = False
        self._put_off: str | None = None
        # A daemon, because the process must end even if the disk hangs; `stop` waits for it otherwise.
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    def submit(self, survey: Survey, reports: Sequence[Report]) -> list[Verdict]:
        """Store reports; returns when they are on disk.

        Raises
        ------
        StoreBusy
            When too much is waiting already, or the collector is stopping.
        StoreFull
            When the disk takes no more.
        """
        answer = SubmissionFuture()
        with self._lock:
            if self._stopped:
                raise StoreBusy("The collector is stopping; send the same report again.")
            if self._held and self._held + len(reports) > MOST_WAITING:  # a batch alone is bounded by its route
                raise StoreBusy("The collector has more waiting than it will hold; send the same report again.")
            self._held += len(reports)
            self._waiting.put((survey, reports, answer))
        return answer.get()

    def stop(self) -> None:
        """Store the waiting reports, settle the store, then end the thread."""
        with self._lock:
            self._stopped = True
            self._waiting.put(None)
        self._thread.join()

    @property
    def is_running(self) -> bool:
        """Whether the thread runs, without which nothing is stored."""
        return self._thread.is_alive()

    def waiting(self) -> int:
        """Submissions that wait for the thread."""
        return self._waiting.qsize()

    def _run(self) -> None:
        self._settle()  # what a collector that was killed left behind
        due, stopping = self._due(), False
        while not stopping:
            batch, stopping = self._take(max(due - time.monotonic(), 0))
            if batch:
                self._store_together(batch)
            if stopping or self._store.unfolded >= MOST_PENDING or time.monotonic() >= due:
                self._settle()
                due = self._due()
        self._store.leave()

    def _due(self) -> float:
        return time.monotonic() + self._fold_seconds

    def _take(self, seconds: float) -> tuple[list[Submission], bool]:
        """Wait ``seconds`` for a submission, then take all that wait behind it; also whether the thread is to end."""
        batch: list[Submission] = []
        size = 0
        try:
            item = self._waiting.get(timeout=seconds)
            while item is not None:
                batch.append(item)
                size += len(item[1])
                if size >= MOST_TOGETHER:
                    break
                # What came while the last commit waited for the disk goes into one transaction.
                item = self._waiting.get_nowait()
        except queue.Empty:
            return batch, False
        finally:
            with self._lock:
                self._held -= size
        return batch, item is None

    def _store_together(self, batch: list[Submission]) -> None:
        answers = [answer for _, _, answer in batch]
        others = [*answers[1:], None]
        try:
            outcomes = self._store.store_reports([(survey, reports) for survey, reports, _ in batch])
        except BaseException as error:  # nothing was stored, so all waiting requests fail
            for answer, then in zip(answers, others, strict=True):
                answer.refuse(error, then)
        else:
            for answer, mine, then in zip(answers, outcomes, others, strict=True):
                answer.give(mine, then)
        # The first waiter wakes the second, and so on: see `SubmissionFuture`.
        answers[0].wake()

    def _settle(self) -> None:
        """Settle the store; the reason for a failure is logged when it changes, not at every failure."""
        reason = None
        try:
            self._store.settle()
        except Exception as error:  # such as a full disk: nothing is lost, and the next settling does the rest
            reason = str(error)
        if reason != self._put_off:
            self._put_off = reason
            if reason is None:
                LOGGER.info("fold: done again")
            else:
                LOGGER.warning("fold: put off, %s", reason)
