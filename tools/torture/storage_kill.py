"""A collector that is killed under load, again and again: what it acknowledged is there, and nothing is there twice."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import urllib3

from deniable import Report, Survey, read_survey, tally_reports
from deniable_client import randomize
from deniable_server.location import Address, Location
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import pending_table, reports_table
from tools.rig.collectors import Collector, free_port, wait_until_ready
from tools.rig.patience import PATIENCE
from tools.rig.surveys import FIVE_TYPES, person

SENDERS = 16

BATCH = 250
"""Reports that one sender in four sends together: a fold by themselves."""


def kill(short: bool) -> str:
    """Rounds of kill -9 with concurrent senders, folds every 50 ms; then everything unacknowledged is sent again."""
    rounds = 2 if short else 200
    dice = random.Random(1974)
    survey = read_survey(FIVE_TYPES)
    load = Load([survey, replace(survey, retention="tallies")])
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "test.db"
        with closing(SqliteStore(database)) as store:
            for each in load.surveys:
                store.publish(each)
        for number in range(rounds):
            collector = start(database)
            try:
                load.run(collector, seconds=dice.uniform(0.1, 0.8))
            finally:
                end(collector, signal.SIGKILL)
            load.stop()
            look_at_a_copy(database, load, f"after kill {number + 1}")
        collector = start(database)
        try:
            load.run(collector, only_again=True)
            load.stop()
            counted = sum(collector.reports(each) for each in load.surveys)
        finally:
            end(collector, signal.SIGTERM)
        look_at_a_copy(database, load, "at the end")
        assert len(load.acknowledged) == len(load.sent) == counted, (len(load.sent), counted)
        log = database.with_name("test.db-wal")
        assert not log.exists() or not log.stat().st_size, f"stopped, but {log.stat().st_size} bytes are in its log"
    return (
        f"{rounds} rounds of kill -9 with {SENDERS} senders, {len(load.sent)} reports sent, {load.again} sent again: "
        "acknowledged and lost 0, counted twice 0, tallies equal a recount each time"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"kill": kill}


@dataclass
class Load:
    """Senders who go on until they are stopped, and remember what was acknowledged."""

    surveys: list[Survey]
    sent: dict[str, tuple[Survey, Report]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    backlog: deque[tuple[Survey, list[Report]]] = field(default_factory=deque)
    again: int = 0
    unexpected: set[int] = field(default_factory=set)

    def run(self, *collectors: Collector, seconds: float = 0, only_again: bool = False) -> None:
        """Send for so long, or until all is acknowledged that was ever sent; each sender to one after the other."""
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(collectors, n, BATCH if n % 4 == 0 else 1, only_again))
            for n in range(SENDERS)
        ]
        for thread in self._threads:
            thread.start()
        if only_again:
            for thread in self._threads:
                thread.join(PATIENCE)
        time.sleep(seconds)

    def stop(self) -> None:
        """Stop all senders."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert not self.unexpected, f"answered with {self.unexpected}"

    def _send(self, collectors: Sequence[Collector], number: int, together: int, only_again: bool) -> None:
        pool = urllib3.PoolManager(retries=False, timeout=PATIENCE)
        for turn in itertools.count(number):
            if self._stop.is_set():
                return
            collector = collectors[turn % len(collectors)]
            try:
                survey, reports = self.backlog.popleft()
                self.again += len(reports)
            except IndexError:
                if only_again:
                    return
                survey = self.surveys[len(self.sent) % 2]
                reports = [randomize(survey, person(len(self.sent) + n)) for n in range(together)]
                self.sent.update({report.id: (survey, report) for report in reports})
            url = f"{collector.url}/api/v1/surveys/{survey.id}/reports"
            body = b"\n".join(report.encode() for report in reports)
            headers = {"Content-Type": "application/json" if len(reports) == 1 else "application/x-ndjson"}
            try:
                answer = pool.request("POST", url, body=body, headers=headers)
                status = answer.status
                if len(reports) > 1 and status == 200 and json.loads(answer.data)["refused"]:
                    status = 422
            except urllib3.exceptions.HTTPError:
                status = 0
            if status not in (0, 200, 201, 429, 503):  # 429: more batches at once than one address has places for
                self.unexpected.add(status)
                return
            if status in (200, 201):
                self.acknowledged.update(report.id for report in reports)
            else:
                self.backlog.append((survey, reports))
                if only_again:
                    time.sleep(0.05)


def start(database: Location, *flags: str, log: Path | None = None) -> Collector:
    """A collector in a process group of its own, so that it can be killed as a whole."""
    port = free_port()
    log = log or Path(database).with_name("log")  # type: ignore[arg-type]  # an address comes with a log
    command = [sys.executable, "-m", "deniable", "serve", "--db", named(database), "--port", str(port)]
    command += ["--rate-limit", "off", "--fold-seconds", "0.05", *flags]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    collector = Collector(f"http://127.0.0.1:{port}", database, process, log)
    try:
        wait_until_ready(collector)
    except BaseException:
        if process.poll() is None:
            end(collector, signal.SIGKILL)
        raise
    return collector


def named(database: Location) -> str:
    """As a command is told it, with the password."""
    return database.url if isinstance(database, Address) else str(database)


def end(collector: Collector, how: signal.Signals) -> None:
    """End a collector: at once with all its processes, or in good order."""
    assert collector.process.poll() is None, f"ended by itself: {collector.log.read_text()}"
    if how is signal.SIGKILL:
        os.killpg(collector.process.pid, how)
    else:
        collector.process.send_signal(how)
    collector.process.wait(PATIENCE)


def look_at_a_copy(database: Path, load: Load, when: str) -> None:
    """Compare what is on the disk with what was acknowledged. A copy, so that the collector itself recovers the log."""
    with copied(database, when) as store:
        compare(store, load, when)


@contextmanager
def copied(database: Path, when: str) -> Iterator[SqliteStore]:
    """A store over a copy of the files, in which nothing is damaged."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        for suffix in ("", "-wal"):
            if database.with_name(database.name + suffix).exists():
                shutil.copy(f"{database}{suffix}", f"{copy}{suffix}")
        findings = inspect(copy).findings
        assert not findings, f"{when}: {findings}"
        with closing(SqliteStore(copy)) as store:
            yield store


def compare(store: SqlStore, load: Load, when: str) -> None:
    """Compare what a store has with what was sent, and with what was acknowledged.

    In one snapshot: a collector may still store what its sender has given up waiting for.
    """
    for survey in load.surveys:
        acknowledged = set(load.acknowledged)
        with store._snapshot(survey) as db:
            tables = (pending_table(survey), reports_table(survey))
            rows = [row[0] for table in tables for row in db.execute(f"SELECT id FROM {table}")]
            shown, tallies = store._state(db, survey).reports, store._tallies(db, survey)
        ids = set(rows)
        ours = {report_id for report_id, (its, _) in load.sent.items() if its is survey}
        assert len(rows) == len(ids), f"{when}: {len(rows) - len(ids)} ids stand there twice"
        assert len(ids) == shown, f"{when}: {len(ids)} ids, but {shown} are counted"
        assert ids <= ours, f"{when}: a report that nobody sent"
        lost = (acknowledged & ours) - ids
        assert not lost, f"{when}: {len(lost)} acknowledged reports lost"
        recount = tally_reports((load.sent[report_id][1] for report_id in ids), survey)
        assert tallies == recount, f"{when}: tallies are not a recount"
