"""Eight slow addresses, and one that asks for all it may: others are served in time, direct and behind proxies."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import urllib3

from deniable import Survey, read_survey
from deniable.report.report import new_report_id
from deniable_client import randomize
from deniable_server.edge.stalls import LOOK_SECONDS, SECONDS
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector, free_port, running_collector
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture.network_slow import fill

DEPLOY = Path(__file__).parents[2] / "deploy"

ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
"""Eight addresses that Linux lets anybody on the machine send from."""

BODIES, READERS = 40, 20
"""Unfinished requests, and unread downloads, that each of them begins."""

MOST_LEFT = 64
"""Connections of the collector after a round; a proxy keeps half as many for later."""

LIVEZ_P99, REPORTS_P99 = 0.25, 1.0
"""Seconds that others may have to wait."""


def eight(short: bool) -> str:
    """Slow bodies and slow readers from eight addresses, direct and under both proxies of ``deploy``."""
    found = []
    for front in (direct, nginx, caddy):
        with collector_with(FIVE_TYPES, *([] if front is direct else ["--trusted-proxies", "1"])) as (
            collector,
            survey,
        ):
            fill(collector.database, survey, 100_000)  # 5 MB: more than lies between two sockets unread
            with front(collector) as url:
                figures = slow_addresses(url, survey, 4 if short else 45, short, keeps_bodies=front is nginx)
                if not short:
                    open_ones = connections(collector)
                    assert open_ones < MOST_LEFT, f"{open_ones} connections of the collector are still open"
                    figures += f", {open_ones} connections of the collector left"
                found.append(f"{front.__name__}: {figures}")
    return "; ".join(found)


def burst(short: bool) -> str:
    """Charts of levels of confidence that nobody asked for before, and estimates of the largest survey there may be."""
    charts = "/s/{}/results.svg?confidence={:.6f}"
    estimates = "/api/v1/surveys/{}/estimates.json?by=cohort&confidence={:.6f}"
    found = []
    for name, toml, path in (("charts", FIVE_TYPES, charts), ("largest survey", largest(), estimates)):
        with collector_with(toml) as (collector, survey):
            released(collector.database, survey)
            warm_up(collector.url + path.format(survey.id, 0.95))
            with Honest(collector.url, survey) as honest, Asking(collector.url, survey, path) as asking:
                time.sleep(4 if short else 30)
            statuses = ", ".join(f"{status}: {n}" for status, n in sorted(asking.statuses.items()))
            assert asking.statuses[200], statuses
            assert set(asking.statuses) <= {200, 429, 503}, statuses
            found.append(f"{name} from one address ({statuses}): {honest.checked()}")
    return "; ".join(found)


def released(database: Path, survey: Survey) -> None:
    """Store as many reports of every cohort as make a release, beside the running collector."""
    store = SqliteStore(database)
    for cohort in (*survey.cohorts, None):
        reports = [randomize(survey, answers_of(survey, number), cohort) for number in range(20)]
        sent = [replace(reports[number % 20], id=new_report_id()) for number in range(survey.release)]
        store.store_reports([(survey, sent)])
    store.settle()
    assert {tally.n for tally in store.tallies(survey).values()} == {survey.release}
    store.close()


def answers_of(survey: Survey, number: int) -> dict[str, Any]:
    """What a person answers to one of the two surveys here."""
    return person(number) if len(survey.questions) == 5 else {question.id: "yes" for question in survey.questions}


SCENARIOS: dict[str, Callable[[bool], str]] = {"eight": eight, "burst": burst}


def warm_up(url: str) -> None:
    """Ask from a third address until the process that computes has started, at most a minute."""
    http = urllib3.PoolManager(retries=False, timeout=20, source_address=(ADDRESSES[1], 0))
    for _ in range(60):
        if http.request("GET", url).status == 200:
            return
        time.sleep(1)
    raise AssertionError(f"no answer within a minute: {url}")


def largest() -> str:
    """A survey whose estimates take long: as many questions as may be, in nine cohorts."""
    questions = "\n".join(
        f'[[questions]]\nid = "q{number}"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1' for number in range(100)
    )
    return f'title = "Largest"\ncohorts = {[str(number) for number in range(9)]}\n{questions}'


@contextmanager
def collector_with(toml: str, *flags: str) -> Iterator[tuple[Collector, Survey]]:
    """A collector with its default limits, and a survey."""
    survey = read_survey(toml)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_collector(Path(folder), "--rate-limit", "300/minute", *flags) as collector,
    ):
        collector.publish(survey)
        yield collector, survey


def slow_addresses(url: str, survey: Survey, seconds: float, short: bool, keeps_bodies: bool) -> str:
    """Hold on to whatever can be held, while somebody else asks and sends.

    nginx knows a time between two pieces of a body and none for the whole of it: it keeps slow bodies, and passes none
    of them on.
    """
    head = f"POST /api/v1/surveys/{survey.id}/reports HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    body = f'{head}Content-Length: 100\r\n\r\n{{"id":'.encode()
    get = f"GET /api/v1/surveys/{survey.id}/reports.csv HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with ExitStack() as opened, Honest(url, survey) as honest:
        held = []
        for address, (begun, number) in itertools.product(ADDRESSES, ((body, BODIES), (get, READERS))):
            for _ in range(number):
                connection = opened.enter_context(connect(url, address, small=begun is get))
                connection.sendall(begun)
                held.append((connection, begun))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for connection, begun in held:
                with contextlib.suppress(OSError):  # it was closed: that is what this is about
                    if begun is body:
                        connection.send(b" ")
            time.sleep(1)
        held_on = sum(begun is body and is_open(connection) for connection, begun in held)
        if not short:
            assert seconds > SECONDS + 3 * LOOK_SECONDS
            assert held_on == 0 or keeps_bodies, f"{held_on} bodies are still on their way after {seconds} s"
        closed = "" if short else f", {held_on} bodies open after {seconds:.0f} s"
    return f"{len(ADDRESSES)} x {BODIES} slow bodies and {READERS} slow readers{closed}: {honest.checked()}"


def connections(collector: Collector) -> int:
    """How many connections the collector itself has open."""
    port = f":{urlsplit(collector.url).port or 0:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()]
    return sum(fields[1].endswith(port) and fields[3] == "01" for fields in lines)


def connect(url: str, address: str, small: bool) -> socket.socket:
    """A connection from an address; a small one has room for little that it does not read."""
    place = urlsplit(url)
    connection = socket.socket()
    if small:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(10)
    connection.bind((address, 0))
    connection.connect((place.hostname, place.port))
    return connection


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has neither answered nor closed."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@dataclass
class Busy(ABC):
    """Somebody who asks a collector again and again, in threads, until the block ends."""

    url: str
    survey: Survey
    stop: threading.Event = field(default_factory=threading.Event, kw_only=True)

    @abstractmethod
    def work(self) -> list[Callable[[], None]]:
        """What the threads do, each until `stop` is set."""

    def __enter__(self) -> Self:
        self.threads = [threading.Thread(target=each) for each in self.work()]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(60)


@dataclass
class Honest(Busy):
    """Somebody else, who asks whether the collector lives, and sends reports."""

    livez: list[float] = field(default_factory=list)
    reports: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def work(self) -> list[Callable[[], None]]:
        return [self.ask, self.send]

    def ask(self) -> None:
        """Ask twenty times a second."""
        http = urllib3.PoolManager(retries=False, timeout=10)
        self.repeat(0.05, self.livez, lambda: http.request("GET", f"{self.url}/livez", headers={"Host": "a"}).status)

    def send(self) -> None:
        """Send four reports a second."""
        http = urllib3.PoolManager(retries=False, timeout=10)

        def one() -> int:
            return send(http, self.url, self.survey, randomize(self.survey, answers_of(self.survey, 1)).encode())

        self.repeat(0.25, self.reports, one)

    def repeat(self, pause: float, waits: list[float], do: Callable[[], int]) -> None:
        """Do it again and again until told to stop, and write down how long it took."""
        while not self.stop.is_set():
            started = time.monotonic()
            try:
                if (status := do()) not in (200, 201):
                    self.mistakes.append(str(status))
            except urllib3.exceptions.HTTPError as error:
                self.mistakes.append(type(error).__name__)
            waits.append(time.monotonic() - started)
            self.stop.wait(pause)

    def checked(self) -> str:
        """The figures, if they are as promised."""
        livez, reports = p99(self.livez), p99(self.reports)
        figures = (
            f"/livez p99 {1000 * livez:.0f} ms ({len(self.livez)}), "
            f"reports p99 {1000 * reports:.0f} ms ({len(self.reports)})"
        )
        assert not self.mistakes, f"{figures}, mistakes {Counter(self.mistakes)}"
        assert livez < LIVEZ_P99, figures
        assert reports < REPORTS_P99, figures
        return figures


@dataclass
class Asking(Busy):
    """One address that asks for what nobody asked before, as fast as it can, eight at a time."""

    path: str
    statuses: Counter[int] = field(default_factory=Counter)

    def work(self) -> list[Callable[[], None]]:
        return [partial(self.ask, number) for number in range(8)]

    def ask(self, number: int) -> None:
        """Ask until told to stop; who is refused tries again soon."""
        dice = random.Random(number)
        http = urllib3.PoolManager(retries=False, timeout=60, source_address=(ADDRESSES[0], 0))
        while not self.stop.is_set():
            path = self.path.format(self.survey.id, dice.uniform(0.5, 0.99))
            status = http.request("GET", self.url + path).status
            self.statuses[status] += 1
            if status != 200:
                self.stop.wait(0.05)


def send(http: urllib3.PoolManager, url: str, survey: Survey, body: bytes) -> int:
    """Send a report; the status."""
    headers = {"Content-Type": "application/json", "Host": "a"}
    return http.request("POST", f"{url}/api/v1/surveys/{survey.id}/reports", body=body, headers=headers).status


def p99(seconds: list[float]) -> float:
    """What 99 in 100 did not exceed."""
    return sorted(seconds)[-1 - len(seconds) // 100]


@contextmanager
def direct(collector: Collector) -> Iterator[str]:
    """No proxy."""
    yield collector.url


@contextmanager
def nginx(collector: Collector) -> Iterator[str]:
    """The file of ``deploy``, without TLS, in front of a collector."""
    port = free_port()
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("127.0.0.1:8000", urlsplit(collector.url).netloc)
    site = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", site, flags=re.S)
    site = re.sub(r".*listen \[::\]:443.*\n|.*ssl_.*\n", "", site)
    site = re.sub(r"listen 443 .*;", f"listen 127.0.0.1:{port};", site)
    folder = collector.database.parent / "nginx"
    folder.mkdir()
    kept = "".join(f"{each}_temp_path {folder};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    main = f"daemon off; pid {folder}/pid; error_log /dev/null; events {{ worker_connections 4096; }}"
    (folder / "conf").write_text(f"{main}\nhttp {{ {kept}\n{site}\n}}\n", encoding="utf-8")
    with running(
        installed("nginx"), "-c", str(folder / "conf"), "-p", str(folder), "-e", str(folder / "log"), port=port
    ):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def caddy(collector: Collector) -> Iterator[str]:
    """The file of ``deploy``, without TLS, in front of a collector."""
    port = free_port()
    site = (DEPLOY / "Caddyfile").read_text(encoding="utf-8").replace("127.0.0.1:8000", urlsplit(collector.url).netloc)
    site = site.replace("\ncollector.example {", f"\nhttp://:{port} {{\n\tbind 127.0.0.1")
    site = site.replace("\n{\n", "\n{\n\tadmin off\n", 1)
    command = installed("caddy")
    version = subprocess.run([command, "version"], capture_output=True, text=True, check=True).stdout
    if re.match(r"v?2\.[0-6]\.", version):  # had other words for the same
        site = site.replace("request_buffers 4MiB", "buffer_requests\n\t\tmax_buffer_size 4MiB")
        site = site.replace("response_buffers 1MiB", "buffer_responses")
    path = collector.database.parent / "Caddyfile"
    path.write_text(site, encoding="utf-8")
    with running(command, "run", "--config", str(path), "--adapter", "caddyfile", port=port):
        yield f"http://127.0.0.1:{port}"


def installed(name: str) -> str:
    """The path of a proxy, installed now where the system lets us."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "--yes", "--quiet", name], capture_output=True, check=False)
        path = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if path is None:
        raise FileNotFoundError(f"{name}: must be installed for this round, as with: sudo apt-get install {name}")
    return path


@contextmanager
def running(*command: str, port: int) -> Iterator[None]:
    """A program that listens on a port, until the block ends."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None and process.stderr:
                raise RuntimeError(f"{command[0]}: must start, got {process.stderr.read().decode()[-500:]}")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(30)
        if process.stderr:
            process.stderr.close()
