"""How an answer leaves: short ones as a whole, long ones piece by piece.

Granian sends an answer that it has as a whole by itself. Where it gets pieces, the thread that makes them waits until
whoever asked takes them, so that a slow reader of any file holds a thread. Routes whose answers can be long count that:
`deniable_server.limits.Limits.sending`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from apiflask import APIFlask

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

MOST_AT_ONCE = 512 * 1024
"""Bytes of an answer that is made as a whole: every page, script, chart and set of estimates has fewer."""


def init_app(app: APIFlask) -> None:
    """Stand between the application and the network."""
    app.wsgi_app = Delivery(app.wsgi_app)  # type: ignore[method-assign]  # wrapping it is how Flask says to do this


class Delivery:
    """A WSGI application that makes short answers whole."""

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        body = self._wsgi_app(environ, start_response)
        if isinstance(body, list):
            return body
        first: list[bytes] = []
        size = 0
        pieces = iter(body)
        try:
            for piece in pieces:
                first.append(piece)
                size += len(piece)
                if size > MOST_AT_ONCE:
                    return _Streamed(first, pieces, body)
            return first
        finally:
            if size <= MOST_AT_ONCE:  # made, or broken off; what is streamed is closed by who takes it
                _close(body)


class _Streamed:
    """The pieces that were made, then those that are made when they are taken."""

    def __init__(self, first: list[bytes], pieces: Iterator[bytes], body: Iterable[bytes]) -> None:
        self._first = [b"".join(first)]
        self._pieces = pieces
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return self._first.pop() if self._first else next(self._pieces)

    def close(self) -> None:
        """Let go of whatever makes the pieces."""
        _close(self._body)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close:
        close()
