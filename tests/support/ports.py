"""A collector that notes over which connection each request came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from apiflask import APIFlask

from tools.rig.serving import running


@contextmanager
def noting_connections(app: APIFlask, may_close: bool = True) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Serve an application; gives its address, and the port of the other side and the end of the path of each request.

    Parameters
    ----------
    may_close : bool
        Whether the application's own wish to close a connection gets through; a proxy between keeps it to itself.
    """
    seen: list[tuple[int, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen.append((self.client_address[1], self.path.rsplit("/", 1)[1]))
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = app.test_client().open(
                self.path,
                method=self.command,
                data=body,
                content_type=self.headers.get("Content-Type"),
                base_url=f"http://{self.headers['Host']}",
            )
            self.send_response(answer.status_code)
            for name, value in answer.headers:
                if may_close or name != "Connection":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.data)

        do_POST = do_OPTIONS = do_GET  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True  # a connection that is kept has a thread of its own
    server.block_on_close = False
    with running(server) as address:
        yield f"http://{address}", seen
