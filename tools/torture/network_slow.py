"""Senders that take their time, and bodies without an end: others are served, and the memory stays as it was."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from deniable import Survey, read_survey
from deniable.report.report import new_report_id
from deniable_client import randomize
from deniable_server.edge.limits import MOST_BODIES, MOST_DOWNLOADS
from deniable_server.serving import SILENCE_MS
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector, running_collector
from tools.rig.patience import PATIENCE
from tools.rig.surveys import FIVE_TYPES, person

ATTACKER = "127.0.0.2"
"""Linux lets anybody on the machine send from any address of 127.0.0.0/8."""


def slow(short: bool) -> str:
    """Unfinished heads and bodies, and endless bodies, against a collector that others use."""
    survey = read_survey(FIVE_TYPES)
    with tempfile.TemporaryDirectory() as folder, running_collector(Path(folder)) as collector:
        collector.publish(survey)
        return "; ".join(
            [
                unfinished_bodies(collector, survey, 60 if short else 500, 2 if short else 30),
                unread_downloads(collector, survey, 60 if short else 300, 2 if short else 30),
                unfinished_heads(collector, survey, 100 if short else 1000),
                endless_bodies(collector, survey, 64 if short else 1024),
            ]
        )


SCENARIOS: dict[str, Callable[[bool], str]] = {"slow": slow}


def unfinished_bodies(collector: Collector, survey: Survey, senders: int, seconds: float) -> str:
    """Begin many reports and finish none, while somebody else sends whole ones."""
    head = f"POST /api/v1/surveys/{survey.id}/reports HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    with connections(collector, senders) as held:
        for connection in held:
            connection.sendall(f'{head}Content-Length: 100\r\n\r\n{{"id":'.encode())
        slowest, answered = honest(collector, survey, seconds)
        refused = sum(b" 429 " in waiting(connection)[:20] for connection in held)
    assert refused == senders - MOST_BODIES, refused
    return (
        f"{senders} unfinished bodies from one address: {refused} refused, {answered:,} whole reports of another were "
        f"answered, the slowest in {1000 * slowest:.0f} ms"
    )


def unread_downloads(collector: Collector, survey: Survey, senders: int, seconds: float) -> str:
    """Ask for all reports many times and read nothing of it, while somebody else sends reports."""
    fill(collector.database, survey, 100_000)  # 5 MB: more than lies between two sockets unread
    request = f"GET /api/v1/surveys/{survey.id}/reports.csv HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with connections(collector, senders) as held:
        for connection in held:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request)
        slowest, answered = honest(collector, survey, seconds)
        refused = sum(b" 429 " in connection.recv(20) for connection in held)
    assert refused == senders - MOST_DOWNLOADS, refused
    return (
        f"{senders} unread downloads: {refused} refused, {answered:,} reports of another were answered, the slowest in "
        f"{1000 * slowest:.0f} ms"
    )


def unfinished_heads(collector: Collector, survey: Survey, senders: int) -> str:
    """Begin many requests without finishing their heads: each connection is closed after a time, others are served."""
    limit = SILENCE_MS / 1000
    with connections(collector, senders) as held:
        started = time.monotonic()
        for connection in held:
            connection.sendall(b"GET /livez HTTP/1.1\r\nX-Slow: ")
        slowest, answered = honest(collector, survey, 1)
        for connection in held:
            connection.settimeout(max(0.1, started + limit + 10 - time.monotonic()))
            assert connection.recv(100) == b"", "closed without a word"
        waited = time.monotonic() - started
    assert limit - 1 < waited < limit + 10, waited
    return (
        f"{senders} unfinished heads: {answered:,} reports of another were answered, the slowest in "
        f"{1000 * slowest:.0f} ms; all closed after {waited:.1f} s"
    )


def endless_bodies(collector: Collector, survey: Survey, megabytes: int) -> str:
    """Send bodies that do not end, one that says so and one that does not: 413, and memory as before."""
    before = memory(collector)
    sent = []
    for length in (f"Content-Length: {megabytes * 10**6}", "Transfer-Encoding: chunked"):
        with connections(collector, 1) as (connection,):
            path = f"/api/v1/surveys/{survey.id}/reports"
            mimetype = "Content-Type: application/x-ndjson"
            connection.sendall(f"POST {path} HTTP/1.1\r\nHost: a\r\n{mimetype}\r\n{length}\r\n\r\n".encode())
            piece = b" " * 2**16
            if "chunked" in length:
                piece = b"10000\r\n" + piece + b"\r\n"
            connection.settimeout(5)
            total = 0
            try:
                while total < megabytes * 10**6:
                    connection.sendall(piece)
                    total += len(piece)
            except OSError:
                pass  # the collector closed the connection: it has answered
            sent.append(total // 10**6)
            answer = waiting(connection, 5)
            assert b" 413 " in answer[:20] or (not answer and total < megabytes * 10**6), answer[:100]
    growth = memory(collector) - before
    assert growth < 50 * 2**20, f"{growth / 2**20:.0f} MiB"
    assert collector.reports(survey) >= 0
    return f"bodies of {megabytes} MB refused with 413 after {max(sent)} MB, memory grew by {growth / 2**20:.0f} MiB"


def fill(database: Path, survey: Survey, n: int) -> None:
    """Store so many reports beside the running collector."""
    fitting = [randomize(survey, person(number)) for number in range(100)]
    store = SqliteStore(database)
    for start in range(0, n, 10_000):
        reports = [replace(fitting[number % 100], id=new_report_id()) for number in range(start, start + 10_000)]
        store.store_reports([(survey, reports)])
    store.settle()
    store.close()


def honest(collector: Collector, survey: Survey, seconds: float) -> tuple[float, int]:
    """Send whole reports for so long, each stored; seconds of the slowest, and how many."""
    http = urllib3.PoolManager(retries=False, timeout=PATIENCE)
    url = f"{collector.url}/api/v1/surveys/{survey.id}/reports"
    slowest, until = 0.0, time.monotonic() + seconds
    for number in itertools.count():
        started = time.monotonic()
        report = randomize(survey, person(number))
        answer = http.request("POST", url, body=report.encode(), headers={"Content-Type": "application/json"})
        assert answer.status == 201, json.loads(answer.data)
        slowest = max(slowest, time.monotonic() - started)
        if time.monotonic() > until:
            return slowest, number + 1
    raise AssertionError("counting does not end")


@contextmanager
def connections(collector: Collector, number: int) -> Iterator[list[socket.socket]]:
    """Open a number of connections from the attacker's address."""
    place = urlsplit(collector.url)
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                socket.create_connection((place.hostname, place.port), 10, source_address=(ATTACKER, 0))
            )
            for _ in range(number)
        ]


def waiting(connection: socket.socket, seconds: float = 0.05) -> bytes:
    """What has come, waiting no longer than that."""
    connection.settimeout(seconds)
    try:
        return connection.recv(10_000)
    except OSError:
        return b""


def memory(collector: Collector) -> int:
    """Bytes in memory of the collector's processes together."""
    return sum(_resident(pid) for pid in processes(collector.process.pid))


def processes(pid: int) -> list[int]:
    """A process and those that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *itertools.chain.from_iterable(processes(int(child)) for child in children)]


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    found = re.match(r"\d+ (\d+)", status)
    assert found
    return int(found[1]) * os.sysconf("SC_PAGE_SIZE")
