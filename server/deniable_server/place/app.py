"""The application of a place."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING

from apiflask import APIFlask

from deniable import __version__
from deniable_server import logs
from deniable_server.edge import heads, limits, problems
from deniable_server.edge.limits import PAGES, REPORTS, Limits, NoSlot, Rate, TooMany
from deniable_server.place import routes
from deniable_server.place.relay import DELAY, PAUSE, BatchRelay
from deniable_server.store import utc_today
from deniable_server.store.sqlite.letterbox import Letterbox

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SIZE = 200
"""Default of the least number of sealed reports in a batch."""


@dataclass(frozen=True)
class PlaceSettings:
    """The settings of ``deniable place serve``.

    Attributes
    ----------
    db : Path
    host, port : str, int
    origin : str or None
        The origin under which people reach the place.
    size : int
        Least number of sealed reports in a batch.
    serves_any : bool
        Whether any collector of the web is served, and not only those that were allowed.
    rate_limit : Rate or None
    trusted_proxies : int
    pause : float
        Seconds between two looks for batches that are due.
    delay : float
        Longest time for which a full batch is held, in seconds.
    """

    db: Path
    host: str = "127.0.0.1"
    port: int = 8002
    origin: str | None = None
    size: int = SIZE
    serves_any: bool = False
    rate_limit: Rate | None = None
    trusted_proxies: int = 0
    pause: float = PAUSE
    delay: float = DELAY


def create_place(settings: PlaceSettings, today: Callable[[], datetime.date] = utc_today) -> APIFlask:
    """Make a place."""
    app = APIFlask("deniable_server", title="Deniable place", version=__version__, spec_path=None, docs_path=None)
    app.template_folder = "web/templates"
    app.config.update(MAX_CONTENT_LENGTH=64 * 1024, TRAP_HTTP_EXCEPTIONS=False)
    box = Letterbox(settings.db)
    relay = BatchRelay(box, settings.size, today, settings.pause, settings.delay)
    problems.init_app(app)
    logs.init_app(app)
    limits.init_app(app, settings.rate_limit, settings.trusted_proxies)
    routes.init_app(app, routes.ServedPlace(box, settings.origin, settings.serves_any, today))
    app.wsgi_app = Door(app, app.wsgi_app, app.extensions["deniable-limits"])  # type: ignore[method-assign]
    heads.init_app(app, settings.trusted_proxies)
    app.extensions["deniable-letterbox"], app.extensions["deniable-relay"] = box, relay
    relay.start()
    Finalize(app, relay.stop, exitpriority=10)
    return app


class Door:
    """A WSGI layer that counts every request against its address, as a collector does."""

    def __init__(self, app: APIFlask, wsgi_app: WSGIApplication, limits: Limits) -> None:
        self._app = app
        self._wsgi_app = wsgi_app
        self._limits = limits

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        try:
            self._limits.admit(environ, REPORTS if environ["REQUEST_METHOD"] == "POST" else PAGES)
        except (TooMany, NoSlot) as refusal:
            headers = [("Retry-After", str(refusal.wait))]
            status = problems.status_of(refusal)
            return problems.answer(self._app, environ, start_response, status, str(refusal), headers)
        return self._wsgi_app(environ, start_response)
