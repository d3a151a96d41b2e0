"""Run by a Python of its own, as somebody's program would: people who answer through the installed client.

Gets a file of JSON: the collector, and for each person a folder and steps. A path that nobody has, looked for between
steps, tells whoever watches where the run is.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from deniable import CollectorError
from deniable_client import Client, Memory


def mark(name: str) -> None:
    """Say where this run is."""
    # A call of its own, which hardly anything else makes: whoever watches stops at all of its kind.
    os.access(f"/deniable-audit/{name}", os.F_OK)


def main(job: dict[str, Any]) -> None:
    """All people, one after the other."""
    warm = Client(job["collector"])
    # What Python and SQLite load and draw once for a process is nobody's.
    warm.survey(job["warm"])
    with tempfile.TemporaryDirectory() as name:
        db = sqlite3.connect(Path(name) / "warm.db")
        db.execute("CREATE TABLE warm (warm)")
        db.close()
    for number, person in enumerate(job["people"]):
        folder = Path(person["folder"])
        clients: dict[int, Client] = {}
        for at, step in enumerate(person["steps"]):
            mark(f"{number}/{at}/{step['load']}/{step['failures']}")
            _STEPS[step["act"]](clients, step, job["collector"], folder)
        mark(f"{number}/end/-1/0")
    mark("done")


def _opened(clients: dict[int, Client], step: dict[str, Any], collector: str, folder: Path) -> None:
    clients[step["load"]] = Client(collector, memory=Memory(folder / "memory.db"), retries=step["retries"])
    clients[step["load"]].asked(clients[step["load"]].survey(step["survey"]))


def _answered(clients: dict[int, Client], step: dict[str, Any], _collector: str, _folder: Path) -> None:
    client = clients[step["load"]]
    with suppress(CollectorError):
        client.answer(client.survey(step["survey"]), step["answers"], step["cohort"], invitation=step["invitation"])


def _again(_clients: dict[int, Client], step: dict[str, Any], collector: str, folder: Path) -> None:
    client = Client(collector, memory=Memory(folder / "memory.db"))
    survey = client.survey(step["survey"])
    client.resend()
    client.answer(survey, step["answers"], step["cohort"], invitation=step["invitation"])


_STEPS: dict[str, Callable[[dict[int, Client], dict[str, Any], str, Path], None]] = {
    "open": _opened,
    "answer": _answered,
    "again": _again,
}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
