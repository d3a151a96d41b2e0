"""Acts that happen at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(*acts: Callable[[], object]) -> list[BaseException]:
    """Do each in a thread of its own, and wait for them; what went wrong."""
    failed: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed
