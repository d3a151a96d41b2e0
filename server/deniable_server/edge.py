"""What stands before everything else: who asks, and what every response tells a browser, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable
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


def init_app(app: APIFlask, trusted_proxies: int) -> None:
    """Believe that many proxies about who asks, and put the headers on whatever leaves."""
    if trusted_proxies:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # wrapping it is how Flask says to do this
            app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0
        )
    app.wsgi_app = SecurityHeaders(app.wsgi_app)  # type: ignore[method-assign]  # here too


class SecurityHeaders:
    """A WSGI application with the headers on each of its responses. One that has a policy of its own keeps it."""

    def __init__(self, wsgi_app: WSGIApplication) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            has_policy = any(name == "Content-Security-Policy" for name, _ in headers)
            return start_response(status, headers + (HEADERS if has_policy else _WITH_POLICY), *more)

        return self._wsgi_app(environ, start)
