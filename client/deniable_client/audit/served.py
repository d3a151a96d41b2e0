"""A collector of an audit's own, for a survey that is a file."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3

from deniable.errors import DeniableError
from deniable_commands.ending import end

SECONDS = 60.0
"""Longest time that a collector may take to start."""


PLACEHOLDER = """
title = "A page for an audit"

[[questions]]
id = "page"
type = "yes-no"
text = "Is there a page?"
epsilon = 1.0
"""
"""A survey of whose page that of published JSON is made: only files of authors can be published."""


@contextmanager
def serving(file: Path, folder: Path) -> Iterator[str]:
    """A collector with the survey of an author's file, in a process of its own; ends with the block."""
    database = folder / "audit.db"
    _run("survey", "publish", str(file), "--db", str(database), "--force")
    with socket.socket() as attempt:
        attempt.bind(("127.0.0.1", 0))
        port = attempt.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [*_DENIABLE, "serve", "--db", str(database), "--port", str(port), "--rate-limit", "off"]
    # In a session of its own, so that the Ctrl+C of a terminal ends the audit, which then ends the collector.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(url, process)
        yield url
    finally:
        end(process, 30)


_DENIABLE = [sys.executable, "-m", "deniable"]


def _run(*words: str) -> None:
    done = subprocess.run([*_DENIABLE, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DeniableError(f"survey: cannot be published for the audit: {done.stderr.strip()}")


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        try:
            if urllib3.request("GET", f"{url}/livez", retries=False, timeout=2).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(0.05)
    raise DeniableError("collector: one for the audit did not start; deniable serve says why")
