"""A function mapped over items by several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_all(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    processes: int,
    chunk: int = 1,
    progress: Callable[[int], object] = lambda _: None,
) -> list[Result]:
    """The results of a function for all items, in their order; with ``processes`` 1 no process is started.

    `progress` is called with the number of results after each one.
    """
    if processes == 1:
        return list(_counted(map(function, items), progress))
    # Spawned: a forked process could inherit a lock that a thread of numpy holds, and wait for it forever.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent)
    try:
        return list(_counted(pool.map(function, items, chunksize=chunk), progress))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for what has not begun


def _counted(results: Iterable[Result], progress: Callable[[int], object]) -> Iterator[Result]:
    for n, result in enumerate(results, start=1):
        progress(n)
        yield result


def _end_with_parent() -> None:
    """Leave Ctrl-C to the parent, and end this process when the parent ends, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
