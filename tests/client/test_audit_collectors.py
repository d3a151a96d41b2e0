"""Collectors that do not behave: an audit says what it saw of them, and ends."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib.resources import files
from pathlib import Path

import pytest

from deniable.errors import CollectorError
from deniable_client import Client
from deniable_client.audit.blackbox import fetching
from deniable_client.audit.blackbox.fetching import AS_BROWSERS_ASK, Fetching
from deniable_client.audit.blackbox.listener import Listener
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_client.audit.release import VISITS, check_served, integrity
from tools.planted.targets import survey_of, target_of
from tools.rig.collectors import running_collector

SURVEY = "bpn4zq5y7xlxpqd63hsrm4s5ky"
SCRIPT = b"export {};"
PAGE = f'<script src="/client/deniable.js" integrity="{integrity(SCRIPT)}"></script>'.encode()
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)

Serve = Callable[[socket.socket, bytes], None]
"""Answers one request, whose head is given."""


def answered(content: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(content)}", "connection: close", "", ""]
    return "\r\n".join(lines).encode() + content


def good(head: bytes, *headers: str) -> bytes:
    if b"/client/deniable.js" in head:
        return answered(SCRIPT)
    if b"/client/" in head:
        return answered(b"", status="404 Not Found")
    return answered(PAGE, f"content-security-policy: {POLICY}", *headers)


@pytest.fixture
def collectors() -> Iterator[Callable[[Serve], str]]:
    """Starts a collector, and gives its address."""
    listening: list[Listener] = []

    def start(serve: Serve) -> str:
        def one(connection: socket.socket, _number: int) -> None:
            with connection, connection.makefile("rb") as stream:
                head = b"".join(iter(stream.readline, b"\r\n"))
                with suppress(OSError):  # whoever asked has gone
                    serve(connection, head)

        listening.append(Listener(one))
        return f"http://127.0.0.1:{listening[-1].port}"

    yield start
    for each in listening:
        each.close()


def look(url: str, visits: int = VISITS) -> tuple[tuple[str, ...], int, bool]:
    with closing(RecordingRelay(url)) as relay:
        found = check_served(relay, SURVEY, visits)
    return found.faults, found.visits, found.is_there


def drip(connection: socket.socket, start: bytes) -> None:
    connection.sendall(start)
    while True:
        time.sleep(0.02)
        connection.sendall(b"x")


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(bytes(65536))


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (lambda connection, _: connection.sendall(answered(b"", "location: /x", status="302 Found")), "leads to /x"),
        (lambda connection, _: connection.sendall(answered(b"", status="500 No")), "answered with status 500"),
        (lambda connection, _: connection.close(), "cannot be reached"),
        (
            lambda connection, _: drip(connection, b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n"),
            "no whole answer",
        ),
        (lambda connection, _: drip(connection, b"HTTP/1.1 200 OK\r\n"), "no whole answer"),
        (lambda connection, _: endless(connection), "sent more than"),
        (lambda connection, _: connection.sendall(b"no HTTP\r\n\r\n"), "cannot be reached"),
    ],
)
def test_what_a_collector_does_instead_of_an_answer_is_said(
    collectors: Callable[[Serve], str], serve: Serve, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PATIENCE", 0.5)
    monkeypatch.setattr(fetching, "LARGEST", 200_000)
    faults, _, is_there = look(collectors(serve))
    assert not is_there
    assert said in faults[0], faults


def test_another_script_for_one_visitor_in_ten_is_found(collectors: Callable[[Serve], str]) -> None:
    count = itertools.count(1)

    def serve(connection: socket.socket, head: bytes) -> None:
        is_script = b"/client/deniable.js" in head
        connection.sendall(answered(SCRIPT + b"x") if is_script and next(count) % 10 == 0 else good(head))

    faults, visits, is_there = look(collectors(serve))
    assert (visits, is_there) == (VISITS, True)
    assert faults[-1] == "script: is another one than at the first visit, in 4 of 44 visits"


def test_scripts_that_pages_elsewhere_load_are_looked_at(collectors: Callable[[Serve], str]) -> None:
    real = (files("deniable_web") / "dist" / "deniable-told.js").read_bytes()

    def serve(connection: socket.socket, head: bytes) -> None:
        others = {b"/client/deniable-told.js": real, b"/client/deniable-question.js": real}
        own = next((content for path, content in others.items() if path in head), None)
        connection.sendall(good(head) if own is None else answered(own))

    with closing(RecordingRelay(collectors(serve))) as relay:
        found = check_served(relay, SURVEY, visits=1)
    assert found.others == ("deniable-told.js",)
    assert found.faults[-1].startswith("script deniable-question.js: sha384-")


def test_other_rules_for_some_visitors_are_found(collectors: Callable[[Serve], str]) -> None:
    count = itertools.count(1)
    url = collectors(
        lambda connection, head: connection.sendall(good(head, *(["refresh: 5"] if next(count) % 6 == 5 else [])))
    )
    assert look(url)[0][-1].startswith("page: comes with other rules for browsers than at the first visit, in ")


@pytest.mark.parametrize("header", ["Set-Cookie: a=b", "Link: <//elsewhere.example>; rel=preconnect", "NEL: {}"])
def test_headers_by_which_a_page_acts_are_named(collectors: Callable[[Serve], str], header: str) -> None:
    faults, _, _ = look(collectors(lambda connection, head: connection.sendall(good(head, header))), visits=1)
    assert any(f"comes with the header {header.partition(':')[0].lower()}" in each for each in faults), faults


def test_a_collector_sees_a_browser_and_not_an_audit(collectors: Callable[[Serve], str]) -> None:
    heads: list[bytes] = []

    def serve(connection: socket.socket, head: bytes) -> None:
        heads.append(head)
        connection.sendall(good(head))

    url = collectors(serve)
    look(url, visits=2)
    with closing(RecordingRelay(url)) as relay, socket.create_connection(("127.0.0.1", relay.port)) as asking:
        own = ("User-Agent: Mozilla/5.0 x", f"Referer: {relay.url}/", "If-None-Match: x", "sec-fetch-mode: navigate")
        lines = (f"GET /s/{SURVEY} HTTP/1.1", f"Host: 127.0.0.1:{relay.port}", *own, "Cookie: a=b", "", "")
        asking.sendall("\r\n".join(lines).encode())
        assert asking.recv(65536).startswith(b"HTTP/1.1 200")
        assert str(relay.port).encode() not in heads[-1]
    assert sum(b"GET /s/" in head for head in heads) == 3
    for head in heads:
        told = head.lower()
        assert b"user-agent: mozilla/5.0" in told
        assert b"python" not in told
        assert not any(each in told for each in (b"if-none-match", b"cookie", b"referer"))
        assert b"sec-fetch-mode: navigate" in told


def test_a_collector_that_is_not_there_is_an_error() -> None:
    with pytest.raises(CollectorError, match="cannot be reached"):
        Fetching("http://127.0.0.1:9").get("/", AS_BROWSERS_ASK)


def test_no_report_of_an_audit_reaches_the_collector(tmp_path: Path) -> None:
    with running_collector(tmp_path) as collector:
        target, survey = target_of(collector, "filtered"), survey_of("filtered")
        with closing(target.relay()) as relay:
            client = Client(relay.url)
            client.answer(client.survey(survey.id), {"smokes": "no"})
            assert sum(each.is_report for each in relay.sent) == 1
        assert collector.reports(survey) == 0
