"""A pool of processes for heavy computing, with a short queue and a time limit.

Python runs one thread of a process at a time, so that a long estimate in a thread would delay every report that arrives
meanwhile. In another process it delays only the request that needs it.

Processes are started with the server, because a request cannot wait for the start, and a dead one is replaced. They
read their work from a pipe, which closes when the server ends, even if it is killed; then they end, too.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, ParamSpec, TypeVar

from deniable_server.edge.limits import Slots, TooBusy

WORKERS = max(1, min(2, (os.cpu_count() or 1) - 1))
"""Processes that compute; one processor is left to the server."""

MOST_ASKED = 16
"""Largest number of computations that run or wait."""

MOST_ASKED_BY_ONE = 8
"""Largest number of computations for one address that run or wait."""

WAIT_SECONDS = 5.0
"""Time limit of waiting for a free process, in seconds."""

START_SECONDS = 3.0
"""Time limit of waiting for a process to start, in seconds; it goes on starting for the next request."""

COMPUTE_SECONDS = 10.0
"""Time limit of a computation, in seconds; the largest survey takes two to six. With the wait it is shorter than the
time after which `deniable_server.edge.stalls` closes a connection without an answer."""

NICE = 5
"""Niceness of the processes, which gives the server priority, so that reports are accepted first."""

READY = b"ready\n"
"""The bytes that a process sends when it has started; it then imports its modules, which often takes longer than its
work, and reads what was asked meanwhile."""

P = ParamSpec("P")
R = TypeVar("R")


def _too_busy() -> TooBusy:
    return TooBusy("The collector computes for others already. Ask again later.")


class ProcessPool:
    """A pool of processes, each with one piece of work at a time.

    Parameters
    ----------
    workers : int
        Largest number of processes.
    asked, asked_by_one : int
        Largest number of computations that run or wait, in all and for one address.
    wait_seconds, compute_seconds : float
        Time limits of waiting and of computing, in seconds.
    """

    def __init__(
        self,
        workers: int = WORKERS,
        asked: int = MOST_ASKED,
        asked_by_one: int = MOST_ASKED_BY_ONE,
        wait_seconds: float = WAIT_SECONDS,
        compute_seconds: float = COMPUTE_SECONDS,
    ) -> None:
        self._slots = Slots(asked, asked_by_one)
        self._wait_seconds = wait_seconds
        self._compute_seconds = compute_seconds
        self._free = threading.BoundedSemaphore(workers)
        self._workers = workers
        self._idle: list[_Worker] = []
        atexit.register(self.stop)

    def start(self) -> None:
        """Start all processes, without waiting for them; without this call each is started when it is first needed."""
        while len(self._idle) < self._workers:
            self._idle.append(_Worker())

    @contextmanager
    def place(self, key: bytes) -> Iterator[None]:
        """Wait for a process; inside the block `run` uses it.

        Raises
        ------
        TooBusy
            If the queue is full, or no process is free in time.
        """
        if not self._slots.take(key):
            raise _too_busy()
        try:
            if not self._free.acquire(timeout=self._wait_seconds):
                raise _too_busy()
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._slots.give_back(key)

    def run(self, work: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The result of a function of a module, computed in another process.

        Raises
        ------
        TooBusy
            If it takes too long; its process is then killed.
        """
        worker = self._take()
        if not worker.is_ready(START_SECONDS):
            self._idle.append(worker)
            raise _too_busy()
        try:
            result = worker.run(work, arguments, named, self._compute_seconds)
        except BaseException:
            worker.stop()
            self._idle.append(_Worker())
            raise
        self._idle.append(worker)
        if isinstance(result, Exception):
            raise result
        value: R = result
        return value

    def _take(self) -> _Worker:
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread was faster
                worker = self._idle.pop()
                if worker.is_running:
                    return worker
                worker.stop()
        return _Worker()

    def stop(self) -> None:
        """End the processes that wait for work."""
        while self._idle:
            self._idle.pop().stop()


class _Worker:
    """One process and its two pipes."""

    def __init__(self) -> None:
        # It imports the same code as this process, and nothing (-P) from the folder that happens to be the current one.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        # Matrices here are small: threads of BLAS would wait for each other, and take processors from the server.
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # its messages might quote what somebody sent
            env=environment,
            start_new_session=True,  # Ctrl-C must reach the server only, which still answers waiting requests
        )
        self._ready = threading.Event()
        threading.Thread(target=self._wait_until_ready, daemon=True).start()

    def _wait_until_ready(self) -> None:
        assert self._process.stdout
        if self._process.stdout.read(len(READY)) == READY:
            self._ready.set()

    def is_ready(self, seconds: float) -> bool:
        """Whether it has started, after waiting at most this long."""
        return self._ready.wait(seconds)

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def run(self, work: Callable[..., Any], arguments: Any, named: Any, seconds: float) -> Any:
        """The result of a function, or the error that it raised."""
        assert self._process.stdin
        assert self._process.stdout
        alarm = threading.Timer(seconds, self._process.kill)
        alarm.daemon = True
        alarm.start()
        started = time.monotonic()
        try:
            pickle.dump((work, arguments, named), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)  # noqa: S301  # from a process of ours
        except (OSError, EOFError, pickle.UnpicklingError) as error:  # the pipe has ended: it was killed
            if time.monotonic() - started < seconds:
                raise _too_busy() from error
            raise TooBusy("This took too long to compute, and was given up.") from error
        finally:
            alarm.cancel()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # the process has not read all of it
                    pipe.close()


def serve(asked: IO[bytes], answered: IO[bytes]) -> None:
    """Compute the work from a pipe until it is closed."""
    while True:
        try:
            work, arguments, named = pickle.load(asked)  # noqa: S301  # from the process that started this one
        except EOFError:
            return
        result: Any
        try:
            result = work(*arguments, **named)
        except Exception as error:
            result = error.with_traceback(None)
        try:
            body = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
            pickle.loads(body)  # noqa: S301  # some errors cannot be unpickled
        except Exception:
            body = pickle.dumps(RuntimeError(f"{type(result).__name__} in a process that computes"))
        answered.write(body)
        answered.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a library prints is not an answer
        with contextlib.suppress(BrokenPipeError):
            with contextlib.suppress(AttributeError):  # Windows has no os.nice
                os.nice(NICE)
            answers.write(READY)
            answers.flush()
            # Takes longest, and is otherwise imported by the first work; work that comes meanwhile waits in the pipe.
            import deniable_server.results.work  # noqa: F401

            serve(sys.stdin.buffer, answers)
