"""Several browsers at a time, each with a stand-in for the collector and a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import Any, Self, TypeVar

from deniable_client.audit.blackbox.chromium import chromium
from deniable_client.audit.blackbox.firefox import firefox
from deniable_client.audit.blackbox.person import Watching
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_client.audit.places import AT_ONCE, Audited

BROWSERS: dict[str, Callable[[RecordingRelay, str | None], AbstractContextManager[Watching]]] = {
    "chromium": chromium,
    "chromium with processes": partial(chromium, is_apart=True),
    "firefox": firefox,
}
"""By name what starts a browser before a relay; the path of its program can be given."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class Browsers:
    """Some browsers, each of which starts when it first gets something to do, and ends with the block.

    Parameters
    ----------
    target : Audited
    program : str or None
        Path of a browser; by default the installed one.
    kind : {"chromium", "chromium with processes", "firefox"}
        In the second one, each tab has a process of its own.
    at_once : int

    Attributes
    ----------
    names : set of str
        Host names that the browsers asked for; known when they have ended.
    """

    def __init__(
        self, target: Audited, program: str | None = None, kind: str = "chromium", at_once: int = AT_ONCE
    ) -> None:
        self.target, self.program, self.kind = target, program, kind
        self.names = set[str]()
        self._waiting: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run) for _ in range(at_once)]
        self._ends: list[Exception] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(queue.Empty):  # what nobody waits for any more
            while True:
                self._waiting.get_nowait()
        for _thread in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        if self._ends and kind is None:
            raise self._ends[0]

    def map(self, use: Callable[[Watching, Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """What comes of each task, in their order; what was not asked for in the end does not begin."""
        begun: list[Future[Result]] = [Future() for _ in tasks]
        for task, future in zip(tasks, begun, strict=True):
            self._waiting.put((use, task, future))
        try:
            for future in begun:
                yield future.result()
        finally:
            for future in begun:
                future.cancel()

    def _run(self) -> None:
        """One browser's thread: whoever drives a browser has to do so from the thread that started it."""
        browser: Watching | None = None
        try:
            with ExitStack() as stack:
                while work := self._waiting.get():
                    use, task, future = work
                    if not future.set_running_or_notify_cancel():
                        continue
                    try:
                        browser = browser or self._started(stack)
                        future.set_result(use(browser, task))
                    except Exception as error:  # of whoever waits for it
                        future.set_exception(error)
        except Exception as error:  # of a browser that did not end as it should
            self._ends.append(error)
        if browser:
            self.names.update(browser.names)

    def _started(self, stack: ExitStack) -> Watching:
        relay = self.target.relay()
        stack.callback(relay.close)
        return stack.enter_context(BROWSERS[self.kind](relay, self.program))


_Work = tuple[Callable[[Watching, Any], Any], Any, "Future[Any]"]
