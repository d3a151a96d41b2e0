"""What stands before everything else: who asks, and what every response tells a browser, whoever made it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask
from werkzeug.middleware.proxy_fix import ProxyFix

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), interest-cohort=()"),
]
"""Nothing is ever sniffed, or told where it was linked from. How the connection is secured is for the proxy to say."""

_WITH_POLICY = [*HEADERS, ("Content-Security-Policy", CONTENT_SECURITY_POLICY)]


OPEN_TO_ALL_ORIGINS = [("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "Retry-After")]
"""Pages of other origins may fetch surveys and send reports: there are no cookies that could be abused."""

MOST_HEADER = 1024
"""Bytes of a header that something here reads; more is refused. Headers that nothing reads may be longer."""

READ = (
    *("HTTP_AUTHORIZATION", "HTTP_HOST", "CONTENT_TYPE", "HTTP_RANGE", "HTTP_IF_RANGE"),
    *("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE"),
    *("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS"),
)
"""Headers that this project, Flask or Werkzeug parse, some in a time that grows with the square of their length."""

PREFERENCES = ("HTTP_ACCEPT", "HTTP_ACCEPT_LANGUAGE", "HTTP_ACCEPT_ENCODING")

MOST_PREFERENCES, MOST_PREFERENCE_BYTES = 20, 512
"""How many items, within how many bytes, are read of a header that lists preferences; the rest is ignored."""

MOST_PATH, MOST_QUERY, MOST_KEYS = 512, 1024, 32
"""Bytes of a path and of a query, and how many keys a query has; more is refused."""


def init_app(app: APIFlask, trusted_proxies: int) -> None:
    """Bound heads, believe that many proxies about who asks, and put the headers on whatever leaves."""
    if trusted_proxies:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # wrapping it is how Flask says to do this
            app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0
        )
    app.wsgi_app = Heads(app.wsgi_app)  # type: ignore[method-assign]  # here too
    app.wsgi_app = SecurityHeaders(app.wsgi_app)  # type: ignore[method-assign]  # and here


class Heads:
    """A WSGI application that refuses heads which would take long to parse, and shortens what may be shortened.

    What Flask would take for the same is made the same here, so that a bucket cannot be evaded by another spelling.
    """

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        environ["REQUEST_METHOD"] = environ["REQUEST_METHOD"].upper()
        environ["PATH_INFO"] = "/" + environ["PATH_INFO"].lstrip("/")
        query = environ.get("QUERY_STRING", "")
        if len(environ["PATH_INFO"]) > MOST_PATH or len(query) > MOST_QUERY or query.count("&") >= MOST_KEYS:
            sentence = f"must have at most {MOST_PATH} bytes, and a query of {MOST_QUERY} with {MOST_KEYS} keys"
            return _refuse(start_response, HTTPStatus.REQUEST_URI_TOO_LONG, f"address: {sentence}")
        for name in READ:
            if name in environ and len(environ[name]) > MOST_HEADER:
                header = name.removeprefix("HTTP_").replace("_", "-").lower()
                sentence = f"{header}: must be at most {MOST_HEADER} bytes, got {len(environ[name])}"
                return _refuse(start_response, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, sentence)
        for name in PREFERENCES:
            if name in environ and len(environ[name]) > MOST_PREFERENCES:
                environ[name] = _first(environ[name])
        return self._wsgi_app(environ, start_response)


def _first(preferences: str) -> str:
    """The first few of a list of preferences.

    >>> _first("en, de;q=0.5")
    'en, de;q=0.5'
    >>> _first("a," * 1000) == ",".join("a" * 20)
    True
    >>> _first("a" * 1000)
    ''
    """
    kept = preferences[:MOST_PREFERENCE_BYTES]
    if len(kept) < len(preferences):
        kept = kept.rpartition(",")[0]
    return ",".join(kept.split(",", MOST_PREFERENCES)[:MOST_PREFERENCES])


def _refuse(start_response: StartResponse, status: HTTPStatus, detail: str) -> Iterable[bytes]:
    content = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail}
    body = json.dumps(content).encode()
    headers = [("Content-Type", "application/problem+json"), ("Content-Length", str(len(body)))]
    start_response(f"{int(status)} {status.phrase.upper()}", headers)
    return [body]


class SecurityHeaders:
    """A WSGI application with the headers on each of its responses. One that has a policy of its own keeps it."""

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            more_headers = HEADERS if "Content-Security-Policy" in dict(headers) else _WITH_POLICY
            return start_response(status, headers + more_headers, *more)

        return self._wsgi_app(environ, start)
