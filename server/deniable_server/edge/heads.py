"""The outermost WSGI layers: bounds on heads, the client's address, and the security headers of every response."""

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
    ("Accept-Ranges", "none"),
]
"""Headers of every response: no sniffing, no referrer, no ranges. HSTS is left to the proxy that terminates TLS."""

_WITH_POLICY = [*HEADERS, ("Content-Security-Policy", CONTENT_SECURITY_POLICY)]


OPEN_TO_ALL_ORIGINS = [("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "Retry-After")]
"""Pages of other origins may fetch surveys and send reports: there are no cookies that could be abused."""

MOST_HEADER = 1024
"""Longest header in `READ`, in bytes; other headers may be longer."""

READ = (
    *("HTTP_AUTHORIZATION", "HTTP_HOST", "CONTENT_TYPE"),
    *("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE"),
    *("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS"),
)
"""Headers that this project, Flask or Werkzeug parse, some in a time that grows with the square of their length."""

PREFERENCES = ("HTTP_ACCEPT", "HTTP_ACCEPT_LANGUAGE", "HTTP_ACCEPT_ENCODING")

MOST_PREFERENCES, MOST_PREFERENCE_BYTES = 20, 512
"""Number of items, and of bytes, that are read of a header with preferences; the rest is ignored."""

MOST_PATH, MOST_QUERY, MOST_KEYS = 512, 1024, 32
"""Longest path and query, in bytes, and largest number of keys of a query."""


def init_app(app: APIFlask, trusted_proxies: int) -> None:
    """Bound heads, trust ``trusted_proxies`` proxies about the client's address, and add the security headers."""
    if trusted_proxies:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # wrapping it is how Flask says to do this
            app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0
        )
    app.wsgi_app = Heads(app.wsgi_app)  # type: ignore[method-assign]  # here too
    app.wsgi_app = SecurityHeaders(app.wsgi_app)  # type: ignore[method-assign]  # and here


class Heads:
    """A WSGI layer that refuses heads which would take long to parse, and shortens lists of preferences.

    It also normalises what Flask would treat as equal, so that no other spelling evades a limit.
    """

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        # Flask would route "post" and "//api" too; a spelling that only the limits do not know would evade them.
        environ["REQUEST_METHOD"] = environ["REQUEST_METHOD"].upper()
        environ["PATH_INFO"] = "/" + environ["PATH_INFO"].lstrip("/")
        # A browser that left a page half loaded asks for the rest of its files by Range, a request that tells when the
        # respondent left. Told that there are no ranges, it asks for the whole file, as it does for the first time.
        environ.pop("HTTP_RANGE", None)
        query = environ.get("QUERY_STRING", "")
        if len(environ["PATH_INFO"]) > MOST_PATH or len(query) > MOST_QUERY or query.count("&") >= MOST_KEYS:
            sentence = f"must have at most {MOST_PATH} bytes, and a query of {MOST_QUERY} with {MOST_KEYS} keys"
            return _refuse(start_response, HTTPStatus.REQUEST_URI_TOO_LONG, f"address: {sentence}")
        for name in READ:
            if name in environ and len(environ[name]) > MOST_HEADER:
                header = name.removeprefix("HTTP_").replace("_", "-").lower()
                sentence = f"{header}: must be at most {MOST_HEADER} bytes, got {len(environ[name])}"
                return _refuse(start_response, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, sentence)
        # Cut, not refused: browsers with many languages are no attack, and the first preferences decide anyway.
        for name in PREFERENCES:
            if name in environ and len(environ[name]) > MOST_PREFERENCES:
                environ[name] = _first(environ[name])
        return self._wsgi_app(environ, start_response)


def _first(preferences: str) -> str:
    """The first `MOST_PREFERENCES` items of a list of preferences.

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
    """A WSGI layer that gives every response the security headers; a policy of its own is kept."""

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            # A page that may be framed has a policy of its own, which a second one would only narrow.
            more_headers = HEADERS if "Content-Security-Policy" in dict(headers) else _WITH_POLICY
            # Flask says of files that they have ranges.
            kept = [(name, value) for name, value in headers if name != "Accept-Ranges"]
            return start_response(status, kept + more_headers, *more)

        return self._wsgi_app(environ, start)
