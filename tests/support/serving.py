"""Small servers that tests write themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import ClassVar

import pytest


@contextmanager
def running(server: HTTPServer) -> Iterator[str]:
    """Run a server in a thread of its own; gives its host and port."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
