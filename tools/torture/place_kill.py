"""A place and its collector, killed again and again under load: nothing acknowledged is lost or counted twice."""

from __future__ import annotations

import datetime
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import urllib3

from deniable import Report, Survey
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token
from deniable_server.store import open_store
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.rig.collectors import Collector, free_port, wait_until_answered
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.places import sealed_survey

SENDERS = 8

BATCH = 10


def place_kill(short: bool) -> str:
    """Rounds of kill -9 of the place, of the collector, or of both, while people send; then everything arrives."""
    rounds = 2 if short else 100
    dice = random.Random(9180)
    with tempfile.TemporaryDirectory() as name:
        two = TwoInstitutions(Path(name))
        two.start()
        try:
            for number in range(rounds):
                load = Load(two)
                load.run(dice.uniform(0.1, 0.5))
                two.kill(["place", "collector", "both"][number % 3])
                load.stop()
                two.start()
            two.send_the_rest()
            waiting = two.drain()
            counted = two.collector.reports(two.survey)
        finally:
            two.end()
        kept = {int(each) for each in two.acknowledged}
        assert counted + waiting == len(two.sent_ids), (counted, waiting, len(two.sent_ids))
        assert kept <= two.sent_ids
    return (
        f"{rounds} rounds of kill -9 of place, collector and both with {SENDERS} senders, {len(kept)} sealed reports "
        f"acknowledged: lost 0, counted twice 0, {waiting} wait at the place for more"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"place-kill": place_kill}


@dataclass
class TwoInstitutions:
    """A collector and a place, in processes of their own that are killed and started again on the same files.

    Parameters
    ----------
    folder : Path
    base : Survey or None
        A survey that is not sealed; None for one of one question.
    publish : callable
    batch : int
        Number of sealed reports in a batch.
    line : str or None
        The URL by which the place and people know the collector, if that is another one than its own.
    """

    folder: Path
    base: Survey | None = None
    publish: Callable[[SqlStore, Survey], object] = SqlStore.publish
    batch: int = BATCH
    line: str | None = None
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    sent_ids: set[int] = field(default_factory=set)
    numbers: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.ports = {"collector": free_port(), "place": free_port()}
        self.urls = {name: f"http://127.0.0.1:{port}" for name, port in self.ports.items()}
        today = datetime.datetime.now(datetime.UTC).date()
        self.known_as = self.line or self.urls["collector"]
        places = (self.urls["place"],)
        self.survey: Survey = sealed_survey(self.folder / "keys", self.base, places=places, first=today)
        store = open_store(self.folder / "collector.db")
        assert isinstance(store, SqlStore)
        self.publish(store, self.survey)
        token = create_token(store, "place", "relay")
        store.close()
        box = Letterbox(self.folder / "place.db")
        box.allow(self.known_as, token)
        box.close()
        self.way = (
            f"{self.urls['place']}/via/{self.known_as.partition('://')[2]}/api/v1/surveys/{self.survey.id}/sealed"
        )

    @property
    def collector(self) -> Collector:
        """The collector as other tools know it."""
        database = self.folder / "collector.db"
        return Collector(self.urls["collector"], database, self.processes["collector"], self.folder / "log")

    def start(self) -> None:
        """Start what does not run."""
        commands = {
            "collector": ["serve", "--db", "collector.db", "--sealing-keys", "keys", "--fold-seconds", "0.2"],
            "place": ["place", "serve", "--db", "place.db", "--origin", self.urls["place"], "--delay", "0"],
        }
        commands["place"] += ["--batch", str(self.batch)]
        for name, command in commands.items():
            if name not in self.processes or self.processes[name].poll() is not None:
                flags = ["--port", str(self.ports[name]), "--rate-limit", "off"]
                with (self.folder / f"{name}.log").open("ab") as log:
                    self.processes[name] = subprocess.Popen(
                        [sys.executable, "-m", "deniable", *command, *flags],
                        cwd=self.folder,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        env=os.environ | {"PYTHONUNBUFFERED": "1"},
                        start_new_session=True,
                    )
        for name, process in self.processes.items():
            wait_until_answered(f"{self.urls[name]}/livez", process, self.folder / f"{name}.log")

    def kill(self, which: str) -> None:
        """Kill a process and its worker at once, as a machine that loses power does."""
        for name, process in self.processes.items():
            if which in (name, "both"):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(PATIENCE)

    def end(self) -> None:
        """End both as an operator does."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(PATIENCE)

    def next_number(self) -> int:
        """The number of a report that nobody sent yet."""
        with self.lock:
            self.numbers += 1
            return self.numbers

    def send(self, http: urllib3.PoolManager, number: int) -> None:
        """Send one sealed report, and note whether the place has it."""
        value = number % 2
        message = seal(self.survey, Report(f"{number:032x}", None, {"affair": value}).encode())
        headers = {"Content-Type": "application/octet-stream"}
        try:
            answer = http.request("POST", self.way, body=message, headers=headers, retries=False, timeout=10)
        except urllib3.exceptions.HTTPError:
            return
        assert answer.status < 500 or answer.status == 503, (answer.status, answer.data)
        if answer.status in (200, 201):
            with self.lock:
                self.acknowledged.add(number)
                self.sent_ids.add(number)

    def send_the_rest(self) -> None:
        """What was not acknowledged is sent again, as devices do, sealed anew."""
        with urllib3.PoolManager() as http:
            for number in range(1, self.numbers + 1):
                if number not in self.acknowledged:
                    self.send(http, number)
        assert len(self.acknowledged) == self.numbers

    def drain(self) -> int:
        """Wait until no batch is on its way; how many distinct reports still wait for more."""
        box = Letterbox(self.folder / "place.db")
        try:
            wait_until(lambda: not box.leaving() and box.slots()[0].waiting < 2 * BATCH, "all full batches arrived")
            time.sleep(0.5)
            held = [message for (message,) in box._db.execute("SELECT message FROM waiting").fetchall()]
        finally:
            box.close()
        from deniable_server.sealing import SealingKeys

        keys = SealingKeys(self.folder / "keys")
        ids = {keys.open(self.survey, message)[7:39].decode() for message in held}
        stored = open_store(self.folder / "collector.db")
        try:
            # A report that was sealed and sent twice may be in both.
            known = {
                each
                for kind in ("pending", "reports")
                for (each,) in _rows(stored, f"SELECT id FROM {kind}_{self.survey.id}", self.survey)
            }
        finally:
            stored.close()
        return len(ids - known)


def _rows(store: object, query: str, survey: Survey) -> list[tuple[str]]:
    with store._snapshot(survey) as db:  # type: ignore[attr-defined]
        rows: list[tuple[str]] = db.execute(query).fetchall()
        return rows


class Load:
    """Senders who go on until they are stopped."""

    def __init__(self, two: TwoInstitutions) -> None:
        self._two = two
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(SENDERS)]

    def run(self, seconds: float) -> None:
        """Send for so long; the senders go on behind this."""
        for thread in self._threads:
            thread.start()
        time.sleep(seconds)

    def stop(self) -> None:
        """Wait until nobody sends any more."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _run(self) -> None:
        with urllib3.PoolManager() as http:
            while not self._stop.is_set():
                self._two.send(http, self._two.next_number())
