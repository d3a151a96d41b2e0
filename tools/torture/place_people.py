"""People in Chromium and by the Python client answer at a place, with tokens; both institutions are real processes.

Somebody stands between the two and writes down every byte; afterwards the memory of both processes is read as a
debugger does, and their files and logs. Each person has a mark: those in Chromium say it in heads that a browser sends
or a proxy adds, those by the Python client have an address of their own, from 127.1.0.0/16.
"""

from __future__ import annotations

import contextlib
import random
import re
import select
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import urllib3
from playwright.sync_api import Browser, sync_playwright

from deniable import Survey
from deniable_client import Client, Memory
from deniable_client.collector_connection import CollectorConnection
from deniable_server.sealing import SealingKeys
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.browsing import Witness, answer
from tools.rig.patience import wait_until
from tools.torture.place_kill import TwoInstitutions

MOST_RIGHT = 30
"""Right pairs that no pairing may have: of four batches chance makes about Poisson(4), as many once in 10^16 runs."""

MARKS = re.compile(rb"visitor-[0-9]+-here|\b127\.1\.[01]\.[0-9]+\b")
"""What marks a person."""

Messages = list[tuple[str, int]]
"""Path and length of the body of each request of a person, in order."""


def place_people(short: bool) -> str:
    """Half of the people in Chromium, half by Python: what each institution, and who reads the line, knows of them."""
    people, size = (12, 3) if short else (400, 100)
    with tempfile.TemporaryDirectory() as name, Line() as line:
        folder = Path(name)
        base = replace(unlinkable_survey(results="batches"), opens=None, closes=None, layout="page")
        invitations: list[str] = []

        def publish(store: Any, survey: Survey) -> None:
            invitations.extend(publish_to(store, survey, people))

        two = TwoInstitutions(folder, base=base, publish=publish, batch=size, line=line.url)
        line.leads_to = two.ports["collector"]
        random.SystemRandom().shuffle(invitations)
        two.start()
        try:
            seen = _all_answer(two, invitations)
            box = Letterbox(folder / "place.db")
            wait_until(lambda: not box.leaving() and box.slots()[0].waiting == size, "as many as a batch has stay")
            (slot,) = box.slots()
            box.cut(slot.name, size)  # as the end of the survey does
            box.close()
            wait_until(lambda: two.collector.reports(two.survey) == people, "all of them arrived")
            memory = {role: _memory(process.pid) for role, process in two.processes.items()}
        finally:
            two.end()
        keys = SealingKeys(folder / "keys")
        ids = [keys.open(two.survey, person.sealed)[7:39].decode() for person in seen]
        files = {role: _files(folder, role) for role in two.processes}
        for where, known in (
            ("memory", memory["collector"]),
            ("files", files["collector"]),
            ("line", bytes(line.heard)),
        ):
            found = MARKS.search(known)
            assert not found, f"the collector's {where} has {known[max(0, found.start() - 40) : found.end() + 40]!r}"
        for known in (memory["place"], files["place"]):
            assert not _known(known, {*ids, *invitations})
        assert _known(files["collector"], set(ids)) == set(ids), "what is searched for is found where it is"
        assert two.survey.id.encode() in memory["place"], "memory is read"
        alike = _messages_by_answer(seen)
        assert len(alike) == 2, "one kind of messages in Chromium and one in Python, whatever was answered"
        right = _right_pairs(line, keys, two.survey, ids)
        assert max(right.values()) < MOST_RIGHT, right
        told = ", ".join(f"by {way} {number}" for way, number in right.items())
    mib = {role: len(known) >> 20 for role, known in memory.items()}
    return (
        f"{people} people, half in Chromium, half by Python, {people // size} batches of {size}: no address, agent "
        f"or mark in the collector's memory ({mib['collector']} MiB), files, log and {len(line.heard):,} bytes sent, "
        f"no report and no invitation in the place's memory ({mib['place']} MiB) and files; right pairs of token and "
        f"report {told} (chance {people // size}); messages of both answers alike"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"place-people": place_people}


@dataclass
class Person:
    """What somebody sent, as their own device knows it."""

    client: str
    answer: str
    messages: Messages = field(default_factory=list)
    sealed: bytes = b""

    def note(self, path: str, body: bytes) -> None:
        """Note a request with a body."""
        self.messages.append((path.rpartition("/")[2], len(body)))
        if path.endswith("/sealed"):
            self.sealed = body


def _all_answer(two: TwoInstitutions, invitations: list[str]) -> list[Person]:
    """Everybody answers, one after the other; each buys a token and sends the report at once."""
    seen = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        for number, invitation in enumerate(invitations):
            person = Person(("Chromium", "Python")[number % 2], ("yes", "no")[number // 2 % 2])
            act = partial(_in_chromium, browser) if number % 2 == 0 else _by_python
            act(two, person, number, invitation)
            seen.append(person)
        browser.close()
    return seen


def _in_chromium(browser: Browser, two: TwoInstitutions, person: Person, number: int, invitation: str) -> None:
    heads = {"X-Forwarded-For": f"visitor-{number}-here", "Accept-Language": f"en, visitor-{number}-here"}
    context = browser.new_context(user_agent=f"visitor-{number}-here", extra_http_headers=heads)
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(f"{two.urls['place']}/#{two.known_as}/s/{two.survey.id}#invitation={invitation}")
    answer(page, two.survey, {"affair": person.answer, "religious": "not"})
    for request in witness.requests:
        if request.method == "POST":
            person.note(request.url, request.post_data_buffer or b"")
    context.close()


def _by_python(two: TwoInstitutions, person: Person, number: int, invitation: str) -> None:
    with _from_address(f"127.1.{number // 250}.{number % 250 + 1}"), _noting(person):
        client = Client(two.known_as, place=two.urls["place"], memory=Memory(two.folder / f"device-{number}"))
        client.answer(
            client.survey(two.survey.id), {"affair": person.answer, "religious": "not"}, invitation=invitation
        )


@contextmanager
def _from_address(address: str) -> Iterator[None]:
    """Connections of this process come from an address of its own."""
    real = urllib3.util.connection.create_connection

    def connect(*args: Any, **options: Any) -> socket.socket:
        return real(*args, **options | {"source_address": (address, 0)})

    urllib3.util.connection.create_connection = connect
    try:
        yield
    finally:
        urllib3.util.connection.create_connection = real


@contextmanager
def _noting(person: Person) -> Iterator[None]:
    """What the Python client posts is noted."""
    real = CollectorConnection._request

    def request(self: CollectorConnection, method: str, path: str, *args: Any, **options: Any) -> Any:
        body = next((each for each in (*args, *options.values()) if isinstance(each, bytes)), b"")
        if method == "POST":
            person.note(path, body)
        return real(self, method, path, *args, **options)

    CollectorConnection._request = request  # type: ignore[method-assign]
    try:
        yield
    finally:
        CollectorConnection._request = real  # type: ignore[method-assign]


class Line(socketserver.ThreadingTCPServer):
    """What connects the place with the collector; it hears every byte of both, in clear."""

    daemon_threads = True
    leads_to = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), None)  # type: ignore[arg-type]
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.heard = bytearray()
        self.sent: list[tuple[str, bytes]] = []  # path and body of the place's requests, in order
        self._lock = threading.Lock()

    def __enter__(self) -> Line:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Pass bytes on both ways until one end closes."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.leads_to)) as onward:
            unread = bytearray()
            while True:
                for ready in select.select([request, onward], [], [])[0]:
                    if not (data := ready.recv(65536)):
                        return
                    (onward if ready is request else request).sendall(data)
                    with self._lock:
                        self.heard += data
                        if ready is request:
                            unread += data
                            self._split(unread)

    def _split(self, unread: bytearray) -> None:
        """Take whole requests from the front of what was heard on a connection."""
        while (end := unread.find(b"\r\n\r\n")) >= 0:
            head = unread[:end].decode("latin-1")
            found = re.search(r"(?i)\r\ncontent-length: *([0-9]+)", head)
            whole = end + 4 + (int(found[1]) if found else 0)
            if len(unread) < whole:
                return
            self.sent.append((head.split(" ")[1], bytes(unread[end + 4 : whole])))
            del unread[:whole]


def _memory(pid: int) -> bytes:
    """All that a process and its children can write to, as a debugger reads it."""
    found = bytearray()
    for each in (pid, *_children(pid)):
        maps = Path(f"/proc/{each}/maps").read_text()
        with open(f"/proc/{each}/mem", "rb", buffering=0) as memory:
            for start, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps, re.MULTILINE):
                memory.seek(int(start, 16))
                with contextlib.suppress(OSError):  # a page that is there for nobody
                    found += memory.read(int(end, 16) - int(start, 16))
    return bytes(found)


def _known(where: bytes, secrets: set[str]) -> set[str]:
    """Secrets of 32 hexadecimal digits that stand somewhere, as digits or as bytes."""
    found = set()
    for run in re.findall(rb"[0-9a-f]{32,}", where):
        found |= {each for start in range(len(run) - 31) if (each := run[start : start + 32].decode()) in secrets}
    return found | {each for each in secrets if bytes.fromhex(each) in where}


def _children(pid: int) -> list[int]:
    direct = [
        int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
    ]
    return [each for child in direct for each in (child, *_children(child))]


def _files(folder: Path, role: str) -> bytes:
    """The database of an institution, what SQLite keeps beside it, and its log."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{role}.*")))


def _messages_by_answer(seen: list[Person]) -> set[tuple[str, tuple[tuple[str, int], ...]]]:
    """The kinds of messages by client; both answers were given in each."""
    assert {(each.client, each.answer) for each in seen} == {
        (c, a) for c in ("Chromium", "Python") for a in ("yes", "no")
    }
    return {(each.client, tuple(each.messages)) for each in seen}


def _right_pairs(line: Line, keys: SealingKeys, survey: Survey, ids: list[str]) -> dict[str, int]:
    """How many pairs are right: the n-th token is the n-th person's, as the collector knows by the invitation."""
    assert survey.sealed
    batches = [survey.sealed.split(body) for path, body in line.sent if path.endswith("/sealed")]
    arrived = [[keys.open(survey, part)[7:39].decode() for part in batch] for batch in batches]
    assert sorted(each for batch in arrived for each in batch) == sorted(ids)
    assert sum(path.endswith("/gateway") for path, _ in line.sent) == len(ids), "one token each, by the gateway"
    ways: dict[str, list[str]] = {
        "order": [each for batch in arrived for each in batch],
        "order backwards": [each for batch in arrived for each in batch[::-1]],
        "order of ids": [each for batch in arrived for each in sorted(batch)],
        "ciphertexts": [each for batch in batches for each in _ids(keys, survey, sorted(batch))],
    }
    return {name: sum(one == other for one, other in zip(ids, guess, strict=True)) for name, guess in ways.items()}


def _ids(keys: SealingKeys, survey: Survey, parts: list[bytes]) -> list[str]:
    return [keys.open(survey, part)[7:39].decode() for part in parts]
