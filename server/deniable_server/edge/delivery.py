"""Delivery of answers: short ones as a whole, long ones piece by piece.

Granian sends an answer that it gets as a whole without a thread of ours. If it gets pieces, the thread that makes them
waits until the client takes them, so a slow reader of any file holds a thread. Routes with long answers count that:
`deniable_server.edge.limits.Limits.sending`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask
from flask import Response, request

from deniable_server.edge.limits import get_limits

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

MOST_AT_ONCE = 512 * 1024
"""Largest answer that is sent as a whole, in bytes: scripts, charts and 1,000 rows of estimates are smaller."""


def counted(response: Response) -> Response:
    """Count an answer as a download if it is too long to be sent as a whole.

    Raises
    ------
    TooMany, NoPlace
        See `deniable_server.edge.limits.Place.take`.
    """
    if (response.content_length or 0) > MOST_AT_ONCE:
        place = get_limits().sending(request.environ)
        place.take()
        response.call_on_close(place.give_back)
    return response


def init_app(app: APIFlask) -> None:
    """Wrap the application."""
    app.wsgi_app = Delivery(app.wsgi_app)  # type: ignore[method-assign]  # wrapping it is how Flask says to do this


class Delivery:
    """A WSGI layer that joins short answers into one piece."""

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
        # Unknown length counts as infinite: such a stream must not be collected in memory.
        if isinstance(body, list) or length > MOST_AT_ONCE:
            return body
        try:
            return list(body)
        finally:
            if close := getattr(body, "close", None):
                close()
