"""How an answer leaves: short ones as a whole, long ones piece by piece.

Granian sends an answer that it has as a whole by itself. Where it gets pieces, the thread that makes them waits until
whoever asked takes them, so that a slow reader of any file holds a thread. Routes whose answers can be long count that:
`deniable_server.limits.Limits.sending`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask
from flask import Response, request

from deniable_server.limits import get_limits

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

MOST_AT_ONCE = 512 * 1024
"""Bytes of an answer that is made as a whole: every script and chart has fewer, and so have 1,000 rows of estimates."""


def counted(response: Response) -> Response:
    """An answer that is a download if it is too long to be made as a whole: one of the few that are under way.

    Raises
    ------
    TooMany, NoPlace
        As `deniable_server.limits.Place.take`.
    """
    if (response.content_length or 0) > MOST_AT_ONCE:
        place = get_limits().sending(request.environ)
        place.take()
        response.call_on_close(place.give_back)
    return response


def init_app(app: APIFlask) -> None:
    """Stand between the application and the network."""
    app.wsgi_app = Delivery(app.wsgi_app)  # type: ignore[method-assign]  # wrapping it is how Flask says to do this


class Delivery:
    """A WSGI application that makes short answers whole."""

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        length = math.inf

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            nonlocal length
            length = next((int(value) for name, value in headers if name.lower() == "content-length"), math.inf)
            return start_response(status, headers, *more)

        body = self._wsgi_app(environ, start)
        if isinstance(body, list) or length > MOST_AT_ONCE:
            return body
        try:
            return list(body)
        finally:
            if close := getattr(body, "close", None):
                close()
