"""A small web server that gives what a test tells it to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from tools.rig.serving import running


@dataclass
class Web:
    """A server that gives what it is told to.

    Attributes
    ----------
    url : str
    pages : dict of str to (int, bytes)
        Status and content by path and query; an address as content, where the status is 302, is where it leads.
    asked : list of (str, str or None)
        Paths, and what stood in ``Authorization``.
    """

    url: str = ""
    pages: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def web() -> Iterator[Web]:
    """A server that gives what it is told to, and nothing yet."""
    told = Web()

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"

        def do_GET(self) -> None:
            told.asked.append((self.path, self.headers.get("Authorization")))
            status, body = told.pages.get(self.path, (404, b"{}"))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_arguments: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as place:
        told.url = f"http://{place}"
        yield told
