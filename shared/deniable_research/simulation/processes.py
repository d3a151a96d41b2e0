"""Work that several processes share."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_all(function: Callable[[Item], Result], items: Sequence[Item], processes: int, chunk: int = 1) -> list[Result]:
    """What a function makes of all items, in their order; with one process, in this one."""
    if processes == 1:
        return list(map(function, items))
    # Spawned, for a fork would copy the locks of numpy's threads as they stand.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent)
    try:
        return list(pool.map(function, items, chunksize=chunk))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for what has not begun


def _end_with_parent() -> None:
    """Let an interrupt be the parent's, and end when the parent has ended, however that came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
