"""Crowds: floods of heads, halves of heads and pages from one address, and what many behind one address need of it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import re
import resource
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from deniable import Survey, read_survey
from deniable.access.invitation import hash_of, new_invitation
from deniable.report.report import new_report_id
from deniable_client import randomize
from deniable_server.edge.limits import MOST_BODIES
from deniable_server.serving import CONNECTIONS
from deniable_server.store import open_store
from deniable_transport.authorization import authorization_of
from tools.rig.collectors import Collector
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture import network_addresses
from tools.torture.network_addresses import Honest, collector_with
from tools.torture.network_slow import ATTACKER, processes

NDJSON = "application/x-ndjson"

MOST_MEMORY = 400 * 10**6
"""Bytes that the collector's process may have had at any time of a round."""

FLOOD = 250
"""Connections on which a flood asks, each for the next thing once it has got the last."""

UNFINISHED = 2 * MOST_BODIES
"""Bodies of one address that somebody tries to keep on their way."""

PEOPLE = 400
"""In a lecture hall behind one address."""

INVITED = 'access = "invited"\n' + FIVE_TYPES


def heads(short: bool) -> str:
    """Headers and queries that take long to parse, of what a proxy lets through and of more."""
    found = []
    with collector_with(FIVE_TYPES) as (collector, survey):
        for size, (name, head) in itertools.product((8_000, 60_000), costly_heads(survey).items()):
            if short and (size, name) not in {(8_000, "Accept-Language"), (60_000, "Accept-Language")}:
                continue
            asked = flood(collector, survey, [head(size)], 2 if short else 8)
            found.append(f"{name} of {size // 1000} kB {asked}")
        return f"{'; '.join(found)}; {remained(collector)}"


def costly_heads(survey: Survey) -> dict[str, Callable[[int], bytes]]:
    """Requests by what makes them long."""
    page = f"/s/{survey.id}"

    def listed(name: str, item: str, path: str = page) -> Callable[[int], bytes]:
        return lambda size: _get(path, f"{name}: {item * (size // len(item))}\r\n")

    return {
        "Accept-Language": listed("Accept-Language", "a,"),
        "Accept": listed("Accept", "a/b;q=0.1,", "/nothing"),
        "Accept-Encoding": listed("Accept-Encoding", "a;q=0.1,", "/client/deniable.js"),
        "If-None-Match": listed("If-None-Match", '"a",', "/client/deniable.js"),
        "Content-Type": listed("Content-Type", "a;b=c;", f"/api/v1/surveys/{survey.id}/estimates"),
        "query": lambda size: _get(f"{page}/results?{'a=&' * (size // 3)}"),
        "cookie": listed("Cookie", "a=b;"),
    }


def halves(short: bool) -> str:
    """More heads than the collector has connections, none of them finished, and each begun again when it is closed."""
    with collector_with(FIVE_TYPES) as (collector, survey):
        begun = b"GET /livez HTTP/1.1\r\nX-Slow: "
        with attack(unfinished, collector.url, CONNECTIONS + 704, begun, b""), Honest(collector.url, survey) as honest:
            time.sleep(6 if short else 30)
        return f"{CONNECTIONS + 704:,} unfinished heads of one address: {honest.checked()}; {remained(collector)}"


def crowd(short: bool) -> str:
    """Pages as fast as they come, from one address; and pages that are asked for ahead and not read."""
    with collector_with(FIVE_TYPES) as (collector, survey):
        page = _get(f"/s/{survey.id}")
        found = [f"pages {flood(collector, survey, [page], 3 if short else 30)}"]
        hosts = [page.replace(b"Host: a", b"Host: a%d" % number) for number in range(1000)]
        found.append(f"pages for 1,000 hosts {flood(collector, survey, hosts, 2 if short else 10)}")
        with attack(unread_pages, collector.url, page), Honest(collector.url, survey) as honest:
            time.sleep(3 if short else 30)
        found.append(f"pages asked for ahead and not read: {honest.checked()}")
        return f"{'; '.join(found)}; {remained(collector)}"


def shared(short: bool) -> str:
    """A lecture hall, with and without invitations, beside whoever in it sends junk, asks for results, and probes."""
    found = []
    for toml in (FIVE_TYPES, INVITED):
        with collector_with(toml) as (collector, survey):
            people = invite(collector, survey, 40 if short else PEOPLE)
            junk = [_batch(survey, b"junk\n" * 10_000), _get("/readyz"), _get(f"/s/{survey.id}/results")]
            if survey.access == "invited":
                junk += [_report(survey, person_with(survey, new_invitation())) for _ in range(20)]
            calm = Hall(collector, survey, people[: len(people) // 2]).answered(5 if short else 60)
            with attack(ask_again, collector.url, junk, 16):
                time.sleep(1)  # until its buckets are empty
                beside = Hall(collector, survey, people[len(people) // 2 :]).answered(5 if short else 60)
            assert collector.reports(survey) == len(people), f"{collector.reports(survey)} of {len(people)} are stored"
            assert calm.refused == 0, f"{calm.refused} requests of a lecture hall were refused"
            assert beside.refused == 0, f"{beside.refused} requests beside junk were refused"
            found.append(f"{survey.access}: {calm.checked()}, beside junk of the same address {beside.checked()}")
            found.append(remained(collector))
    return "; ".join(found)


def bodies(short: bool) -> str:
    """Unfinished bodies of one address, each begun again when it is closed, beside people of it with invitations."""
    found = []
    with collector_with(INVITED) as (collector, survey):
        body = _report(survey, person_with(survey, new_invitation()))[:-40]
        false = b"Authorization: " + authorization_of(new_invitation()).encode()
        kinds = {
            "silent": (body, b""),
            "in drops": (body, b" "),
            "with a right that is none": (body.replace(b"Host: a", false), b""),
        }
        for name, (begun, drop) in kinds.items():
            people = invite(collector, survey, 40 if short else PEOPLE)
            with attack(unfinished, collector.url, UNFINISHED, begun, drop):
                time.sleep(3)  # until they hold what they can, and the buckets are empty
                beside = Hall(collector, survey, people).answered(5 if short else 60)
            assert beside.refused == 0, f"{beside.refused} requests beside unfinished bodies were refused"
            found.append(f"{UNFINISHED} {name}: {beside.checked()}; {remained(collector)}")
    return "; ".join(found)


SCENARIOS: dict[str, Callable[[bool], str]] = {
    "heads": heads,
    "halves": halves,
    "crowd": crowd,
    "shared": shared,
    "bodies": bodies,
}


def flood(collector: Collector, survey: Survey, requests: list[bytes], seconds: float) -> str:
    """Ask for the same from one address on many connections, while somebody else asks and sends."""
    with attack(ask_again, collector.url, requests, FLOOD) as statuses, Honest(collector.url, survey) as honest:
        time.sleep(seconds)
    return f"on {FLOOD} connections ({said(statuses)}): {honest.checked()}"


def remained(collector: Collector) -> str:
    """What is left of an attack: nothing. The most memory that the collector had meanwhile."""
    http = urllib3.PoolManager(retries=False, timeout=10)
    waits = []
    for _ in range(20):
        started = time.monotonic()
        assert http.request("GET", f"{collector.url}/livez").status == 200
        waits.append(time.monotonic() - started)
    assert max(waits) < network_addresses.LIVEZ_P99, f"/livez takes {1000 * max(waits):.0f} ms afterwards"
    most = max(_most_resident(pid) for pid in processes(collector.process.pid))
    assert most < MOST_MEMORY, f"{most / 10**6:.0f} MB"
    return f"{1000 * max(waits):.0f} ms afterwards, at most {most / 10**6:.0f} MB"


def _most_resident(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    assert found
    return 1024 * int(found[1])


def said(statuses: Counter[int]) -> str:
    """Statuses and how many of each; 0 where the connection was closed."""
    return ", ".join(f"{status}: {n:,}" for status, n in sorted(statuses.items())) or "none answered"


@contextmanager
def attack(work: Callable[..., Counter[int]], url: str, *arguments: object) -> Iterator[Counter[int]]:
    """Attack from a process of its own until the block ends; statuses, once it has ended."""
    context = multiprocessing.get_context("spawn")
    stop, begun, statuses = context.Event(), context.Event(), context.SimpleQueue()
    process = context.Process(target=_attack, args=(work, stop, begun, statuses, url, *arguments), daemon=True)
    process.start()
    found: Counter[int] = Counter()
    try:
        assert begun.wait(60)
        yield found
    finally:
        stop.set()
        found.update(statuses.get())
        process.join(30)


def _attack(
    work: Callable[..., Counter[int]],
    stop: Event,
    begun: Event,
    statuses: multiprocessing.SimpleQueue[Counter[int]],
    *arguments: object,
) -> None:
    os.nice(5)  # two processors have to do for the attacker, the collector and everybody else
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    begun.set()
    statuses.put(work(stop, *arguments))


def ask_again(stop: Event, url: str, requests: list[bytes], connections: int) -> Counter[int]:
    """Ask on so many connections, the next thing once the last one was answered; statuses."""
    return asyncio.run(_ask_again(stop, url, requests, connections))


async def _ask_again(stop: Event, url: str, requests: list[bytes], connections: int) -> Counter[int]:
    place = urlsplit(url)
    statuses: Counter[int] = Counter()

    async def ask(number: int) -> None:
        sent = itertools.islice(itertools.cycle(requests), number, None)
        while not stop.is_set():
            with contextlib.suppress(OSError, EOFError):
                reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(ATTACKER, 0))
                try:
                    while not stop.is_set():
                        writer.write(next(sent))
                        head = await reader.readuntil(b"\r\n\r\n")
                        length = re.search(rb"(?i)content-length: (\d+)", head)
                        await reader.readexactly(int(length[1]) if length else 0)
                        statuses[int(head[9:12])] += 1
                finally:
                    writer.close()
            await asyncio.sleep(0.01)

    asked = [asyncio.create_task(ask(number)) for number in range(connections)]
    while not stop.is_set():
        await asyncio.sleep(0.1)
    for each in asked:
        each.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    return statuses


def unfinished(stop: Event, url: str, number: int, begun: bytes, drop: bytes) -> Counter[int]:
    """Hold so many unfinished requests, and begin another for each that is closed or answered; how many were, under 0.

    Each goes on by a drop every second.
    """
    place = urlsplit(url)
    closed: Counter[int] = Counter()
    due = time.monotonic()
    with selectors.DefaultSelector() as held:
        while not stop.is_set():
            for _ in range(min(500, number - len(held.get_map()))):
                connection = socket.socket()
                connection.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: a port for each other side
                connection.bind((ATTACKER, 0))
                connection.settimeout(1)
                try:
                    connection.connect((place.hostname, place.port))
                    connection.sendall(begun)
                except OSError:
                    connection.close()
                    break
                connection.setblocking(False)
                held.register(connection, selectors.EVENT_READ)
            if drop and time.monotonic() > due:
                due = time.monotonic() + 1
                for key in held.get_map().values():
                    with contextlib.suppress(OSError):
                        key.fileobj.send(drop)  # type: ignore[union-attr]
            for key, _ in held.select(0.01):
                held.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
                closed[0] += 1
        for key in list(held.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return closed


def unread_pages(stop: Event, url: str, page: bytes) -> Counter[int]:
    """Ask for a hundred pages at once on each of many connections, and read none of them."""
    place = urlsplit(url)
    opened = []
    while not stop.is_set():
        with contextlib.suppress(OSError):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(0.5)
            connection.bind((ATTACKER, 0))
            connection.connect((place.hostname, place.port))
            connection.setblocking(False)
            opened.append(connection)
            connection.send(100 * page)
        if len(opened) == FLOOD:
            stop.wait(1)
            for each in opened:
                each.close()
            opened.clear()
    for each in opened:
        each.close()
    return Counter()


class Hall:
    """People behind the attacker's address, each with a page, its script, the survey, and a report.

    Who is refused waits as long as told and tries again, at most for two minutes.
    """

    def __init__(self, collector: Collector, survey: Survey, reports: list[bytes]) -> None:
        self._collector = collector
        self._survey = survey
        self._reports = reports
        self._lock = threading.Lock()
        self.waits: list[float] = []
        self.refused = 0

    def answered(self, seconds: float) -> Hall:
        """Let everybody answer within that time."""
        with ThreadPoolExecutor(64) as people:
            starts = [seconds * number / len(self._reports) for number in range(len(self._reports))]
            began = time.monotonic()
            list(people.map(partial(self._answer, began), starts, self._reports))
        return self

    def _answer(self, began: float, start: float, report: bytes) -> None:
        time.sleep(max(0.0, began + start - time.monotonic()))
        http = urllib3.PoolManager(retries=False, timeout=20, source_address=(ATTACKER, 0))
        survey = f"/api/v1/surveys/{self._survey.id}"
        for path in (f"/s/{self._survey.id}", "/static/pages.css", "/client/deniable.js", "/static/icon.png", survey):
            self._ask(partial(http.request, "GET", self._collector.url + path))
        url, headers = f"{self._collector.url}{survey}/reports", {"Content-Type": "application/json"}
        if credential := json.loads(report).get("credential"):
            headers["Authorization"] = authorization_of(credential)  # as clients do
        waited = self._ask(lambda: http.request("POST", url, body=report, headers=headers))
        with self._lock:
            self.waits.append(waited)

    def _ask(self, ask: Callable[[], urllib3.BaseHTTPResponse]) -> float:
        """Ask until it is done; seconds of the last try."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            started = time.monotonic()
            answer = ask()
            if answer.status in (200, 201):
                return time.monotonic() - started
            assert answer.status in (429, 503), answer.data
            with self._lock:
                self.refused += 1
            time.sleep(int(answer.headers["Retry-After"]))
        raise AssertionError("somebody was refused for good")

    def checked(self) -> str:
        """The figures, if they are as promised."""
        slowest = sorted(self.waits)[-1 - len(self.waits) // 100]
        figures = f"{len(self.waits)} people, reports p99 {1000 * slowest:.0f} ms, {self.refused} refused at first"
        assert slowest < network_addresses.REPORTS_P99, figures
        return figures


def invite(collector: Collector, survey: Survey, n: int) -> list[bytes]:
    """Reports of so many people, each with an invitation where the survey asks for one."""
    invitations = [new_invitation() if survey.access == "invited" else None for _ in range(n)]
    if survey.access == "invited":
        store = open_store(collector.place)
        store.add_invitations(survey.id, [hash_of(each) for each in invitations if each])
        store.close()
    return [person_with(survey, each) for each in invitations]


def person_with(survey: Survey, invitation: str | None) -> bytes:
    """A report with that invitation."""
    open_survey = read_survey(FIVE_TYPES)
    report = randomize(open_survey, person(1))
    assert [each.id for each in open_survey.questions] == [each.id for each in survey.questions]
    return replace(report, id=new_report_id(), credential=invitation).encode()


def _get(path: str, headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n".encode()


def _report(survey: Survey, body: bytes) -> bytes:
    return _post(survey, body, "application/json")


def _batch(survey: Survey, body: bytes) -> bytes:
    return _post(survey, body, NDJSON)


def _post(survey: Survey, body: bytes, mimetype: str) -> bytes:
    head = f"POST /api/v1/surveys/{survey.id}/reports HTTP/1.1\r\nHost: a\r\nContent-Type: {mimetype}"
    return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
