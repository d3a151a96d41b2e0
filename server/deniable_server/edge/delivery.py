"""Delivery of answers: short ones as a whole, long ones piece by piece.

Granian sends an answer that it gets as a whole without a thread of ours. If it gets pieces, the thread that makes them
waits until the client takes them, so a slow reader of any file holds a thread. Routes with long answers count that:
`deniable_server.edge.limits.Limits.sending`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from http import HTTPStatus
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
    TooMany, NoSlot
        See `deniable_server.edge.limits.HeldSlot.take`.
    """
    if (response.content_length or 0) > MOST_AT_ONCE:
        place = get_limits().sending(request.environ)
        place.take()
        response.call_on_close(place.give_back)
    return response


def tagged(response: Response, tag: str | None = None) -> Response:
    """Give an answer an ETag, and send whoever names it 304 without a body; count the download otherwise.

    By default the tag is the hash of the bytes, so it changes when they do and tells nothing that they do not. What is
    for holders of a token alone has none, because nobody may keep it.

    Raises
    ------
    TooMany, NoSlot
        As `counted`.
    """
    if request.authorization is None:
        if tag is None:
            response.add_etag()
        else:
            response.set_etag(tag)
        # A range of a page or of a table is of no use to anybody, so the whole is sent.
        response.make_conditional(request)  # changes the response itself
    return response if response.status_code == HTTPStatus.NOT_MODIFIED else counted(response)


def is_known(tag: str) -> bool:
    """Whether the request names this ETag, so that its answer need not be made."""
    return request.authorization is None and request.if_none_match.contains(tag)


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
