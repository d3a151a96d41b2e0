"""Two collectors where one should be, and files that are replaced or removed under a running one."""

from __future__ import annotations

import http.client
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from deniable import read_survey
from deniable_client import randomize
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector, free_port, running_collector
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture.network_stop import connect, path

SURVEY = read_survey(FIVE_TYPES)
SENDERS = 8


def collectors(short: bool) -> str:
    """Start several collectors on one port and on one file at the same moment: one serves, and has all reports."""
    rounds = 1 if short else 15
    answered = refused = 0
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder, port = Path(name), free_port()
            same_port = number % 2 == 0
            started = [
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "deniable", "serve", "--rate-limit", "off"),
                        *("--db", str(folder / f"{n if same_port else 0}.db")),
                        *("--port", str(port if same_port else free_port())),
                    ],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
                for n in range(3)
            ]
            try:
                wait_for(lambda: sum(each.poll() is None for each in started) <= 1, 120)  # noqa: B023  # called at once
                losers = [each for each in started if each.poll() is not None]
                assert len(losers) == 2, "nobody serves"
                for each in losers:
                    assert each.stderr
                    assert each.returncode == 1
                    assert each.stderr.read().count(b"\n") == 1
                refused += len(losers)
                answered += 1
            finally:
                for each in started:
                    each.terminate()
                    each.communicate(timeout=30)
    return (
        f"{3 * answered} collectors started at once in {rounds} rounds: {answered} served, "
        f"{refused} refused in one line"
    )


def replaced(short: bool) -> str:
    """Put a backup in the place of a database that is in use, or remove its log, then kill the collector."""
    dice = random.Random(12)
    before = after = 0
    ways = list(WAYS.items()) * (1 if short else 8)
    for way, interfere in ways:
        with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector:
            collector.publish(SURVEY)
            senders = [Sender(collector) for _ in range(SENDERS)]
            for sender in senders:
                sender.start()
            time.sleep(dice.uniform(0.2, 0.6))
            copy = collector.database.with_name("copy.db")
            back_up(collector.database, copy)
            time.sleep(dice.uniform(0.05, 0.3))
            interfere(collector.database)
            done = time.monotonic()
            wait_for(lambda: all(sender.refused for sender in senders), 30)  # noqa: B023  # called at once
            time.sleep(0.2)
            kill(collector)
            for sender in senders:
                sender.join(30)
            acknowledged = {key: began for sender in senders for key, began in sender.acknowledged.items()}
            late = [key for key, began in acknowledged.items() if began > done]
            assert not late, f"{way}: {len(late)} reports were acknowledged after the file had gone"
            before += len(acknowledged)
            after += sum(sender.refused for sender in senders)
            assert inspect(collector.database).findings == (), way
            with closing(SqliteStore(collector.database)) as store:
                found = {report.id for report in store.reports(SURVEY)}
            if way == "log removed":
                assert acknowledged.keys() <= found, f"{len(acknowledged.keys() - found)} acknowledged reports are lost"
    return (
        f"{len(ways)} databases replaced or robbed of their log under load: {before:,} reports acknowledged before, "
        f"0 of {after:,} after, 0 lost where only the log was removed, every file whole after a kill"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"collectors": collectors, "replaced": replaced}


class Sender(threading.Thread):
    """Sends reports until the collector is gone; knows when each that was acknowledged was begun."""

    def __init__(self, collector: Collector) -> None:
        super().__init__()
        self._collector = collector
        self.acknowledged: dict[str, float] = {}
        self.refused = 0

    def run(self) -> None:
        """Send."""
        headers = {"Content-Type": "application/json"}
        with closing(connect(self._collector)) as connection:
            while True:
                report = randomize(SURVEY, person(1))
                began = time.monotonic()
                try:
                    connection.request("POST", path(SURVEY), report.encode(), headers)
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, http.client.HTTPException):
                    return
                if answer.status == 201:
                    self.acknowledged[report.id] = began
                else:
                    assert answer.status == 503, answer.status
                    self.refused += 1


def log_removed(database: Path) -> None:
    """What a tidy hand does."""
    database.with_name(f"{database.name}-wal").unlink()


def backup_in_its_place(database: Path) -> None:
    """What a restore does that forgets to stop the collector, and the log."""
    os.replace(database.with_name("copy.db"), database)


def backup_in_place_of_all(database: Path) -> None:
    """What a restore does that forgets to stop the collector only."""
    backup_in_its_place(database)
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


WAYS: dict[str, Callable[[Path], None]] = {
    "log removed": log_removed,
    "backup in its place": backup_in_its_place,
    "backup in place of all": backup_in_place_of_all,
}


def kill(collector: Collector) -> None:
    """End both processes at once, without a word."""
    children = Path(f"/proc/{collector.process.pid}/task/{collector.process.pid}/children").read_text().split()
    for process in (*map(int, children), collector.process.pid):
        os.kill(process, signal.SIGKILL)
    collector.process.wait(10)


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
