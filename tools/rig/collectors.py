"""Real collectors, each in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import urllib3

from deniable import Survey
from deniable_server.location import Location
from deniable_server.store import NotFound, counts, open_store
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import pending_table
from tools.rig.patience import PATIENCE, wait_until


@dataclass(frozen=True)
class Collector:
    """A real collector: ``deniable serve`` in a process of its own."""

    url: str
    place: Location
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def database(self) -> Path:
        """Its file."""
        assert isinstance(self.place, Path)
        return self.place

    def publish(self, survey: Survey) -> str:
        """Publish a survey; the link where people answer."""
        store = open_store(self.place)
        store.publish(survey)
        store.close()
        return f"{self.url}/s/{survey.id}"

    def reports(self, survey: Survey) -> int:
        """How many reports are stored, released or not; none of a survey that is not published yet."""
        store = open_store(self.place)
        assert isinstance(store, SqlStore)
        try:
            store.survey(survey.id)
            with store._snapshot(survey) as db:
                (waiting,) = db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()
                return counts.folded(db, survey) + int(waiting)
        except NotFound:
            return 0
        finally:
            store.close()


@contextmanager
def running_collector(folder: Path, *flags: str) -> Iterator[Collector]:
    """A real collector with a database in that folder; without a limit, unless a flag sets one. Ends with the block."""
    with _running(["serve"], folder / "test.db", *flags) as collector:
        yield collector


@contextmanager
def running_issuer(database: Path, *flags: str) -> Iterator[Collector]:
    """A real issuer of a database; without a limit, unless a flag sets one. Ends with the block."""
    with _running(["issuer", "serve"], database, *flags) as issuer:
        yield issuer


@contextmanager
def _running(command: list[str], database: Path, *flags: str) -> Iterator[Collector]:
    port = free_port()
    log = database.with_name("log")
    command = [sys.executable, "-m", "deniable", *command, "--db", str(database), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--rate-limit", "off", *flags], stdout=output, stderr=subprocess.STDOUT)
    collector = Collector(f"http://127.0.0.1:{port}", database, process, log)
    try:
        wait_until_ready(collector)
        yield collector
    finally:
        process.terminate()
        process.wait(PATIENCE)


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as attempt:
        attempt.bind(("127.0.0.1", 0))
        port: int = attempt.getsockname()[1]
        return port


def wait_until_ready(collector: Collector) -> None:
    """Wait until a collector answers."""
    wait_until_answered(f"{collector.url}/livez", collector.process, collector.log)


def wait_until_answered(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a process answers at an address."""

    def ready() -> bool:
        assert process.poll() is None, log.read_text()
        return is_answered(url)

    wait_until(ready, f"something answers at {url}")


def answers(url: str) -> bool:
    """Whether a collector answers there."""
    return is_answered(f"{url}/livez")


def is_answered(address: str) -> bool:
    """Whether a request to an address succeeds."""
    try:
        return urllib3.request("GET", address, retries=False, timeout=PATIENCE).status == 200
    except urllib3.exceptions.HTTPError:
        return False
