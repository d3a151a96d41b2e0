"""A line at the terminal that says that a command is at work, for those that may take longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

AFTER = 2.0
"""Seconds until the line appears."""

EVERY = 1.0
"""Seconds between two versions of the line."""

_DONE = "deniable.done"

CLEAR = "\r\x1b[K"
"""What takes the line away: carriage return, then ANSI's "erase to the end of the line"."""


@contextmanager
def working(context: click.Context) -> Iterator[None]:
    """Show at the terminal for how long a command has been at work, and how far it has come if it says so.

    Nothing is written where standard error is no terminal, so that logs and pipes hold results alone.
    """
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    # A daemon: a command that fails must not wait for its own line.
    thread = threading.Thread(target=_tell, args=(context, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def done(count: int, of: int) -> None:
    """Say how far a command has come, for the line at the terminal.

    Parameters
    ----------
    count, of : int
        What is done, and what there is to do.
    """
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_DONE] = f", {count:,} of {of:,}"


def _tell(context: click.Context, ended: threading.Event) -> None:
    started = time.monotonic()
    if ended.wait(AFTER):
        return
    while True:
        # The cursor goes back to the start, so that whatever the command prints next is written over the line.
        sys.stderr.write(f"{CLEAR}Working, {time.monotonic() - started:.0f} s{context.meta.get(_DONE, '')}\r")
        sys.stderr.flush()
        if ended.wait(EVERY):
            break
    sys.stderr.write(CLEAR)
    sys.stderr.flush()
