"""The application factory."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from multiprocessing.util import Finalize

from apiflask import APIFlask

from deniable import __version__
from deniable_server import logs
from deniable_server.edge import admission, delivery, heads, limits, problems
from deniable_server.location import Location
from deniable_server.results import service
from deniable_server.sealing import SealingKeys
from deniable_server.settings import Settings
from deniable_server.store import Store, open_store, utc_today
from deniable_server.web import (
    api,
    embedded_figures,
    embedding,
    gateway,
    health,
    intake,
    invitations,
    metrics,
    openapi,
    pages,
    releases,
    results_pages,
    sealed,
)
from deniable_server.writing import outage
from deniable_server.writing.writer import Writer


def create_app(
    database: Location | str | None = None,
    today: Callable[[], datetime.date] = utc_today,
    settings: Settings | None = None,
) -> APIFlask:
    """Make a collector.

    Parameters
    ----------
    database : Path, Address or str, optional
        The database, instead of the one in the settings.
    today : callable
        The day by which surveys open and close.
    settings : Settings, optional
        By default from the environment.
    """
    settings = settings or Settings()
    app, store, writer = _application("Deniable collector", database, today, settings, "/api/openapi.json")
    metrics.init_app(app, store, writer)
    service.init_app(app, store)
    api.init_app(app, store, writer)
    invitations.init_app(app)
    sealed.init_app(app, store, SealingKeys(settings.sealing_keys))
    gateway.init_app(app)
    pages.init_app(app, settings.contact)
    results_pages.init_app(app)
    embedded_figures.init_app(app)
    releases.init_app(app)
    embedding.init_app(app, settings.public_url)
    openapi.init_app(app, settings.public_url)
    # WSGI layers wrap the application from the inside out: heads, the last one, sees a request first.
    delivery.init_app(app)
    intake.init_app(app, store, writer)
    admission.init_app(app, store)
    heads.init_app(app, settings.trusted_proxies)
    return app


def create_issuer(
    database: Location | str | None = None,
    today: Callable[[], datetime.date] = utc_today,
    settings: Settings | None = None,
) -> APIFlask:
    """Make an issuer: it signs blind tokens for surveys of other collectors, and does nothing else.

    The parameters are those of `create_app`.
    """
    settings = settings or Settings()
    app, store, writer = _application("Deniable issuer", database, today, settings, spec_path=None)
    # An issuer has no API of surveys, whose init_app registers these in a collector.
    app.extensions["deniable"] = {"store": store, "writer": writer}
    invitations.init_app(app, signs_for_others=True)
    admission.init_app(app, store)
    heads.init_app(app, settings.trusted_proxies)
    return app


def _application(
    title: str,
    database: Location | str | None,
    today: Callable[[], datetime.date],
    settings: Settings,
    spec_path: str | None,
) -> tuple[APIFlask, Store, Writer]:
    """An application with what collectors and issuers have in common, its store and its writer."""
    app = APIFlask(
        "deniable_server",
        title=title,
        version=__version__,
        spec_path=spec_path,
        docs_path=None,  # the page that APIFlask brings loads scripts from other hosts
        template_folder="web/templates",
        static_folder=None,  # type: ignore[arg-type]  # Flask takes None for no folder
    )
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        MAX_CONTENT_LENGTH=64 * 1024,  # routes that take more say so
        VALIDATION_ERROR_STATUS_CODE=422,
        TRAP_HTTP_EXCEPTIONS=False,
        REHEARSAL=settings.rehearsal,
    )
    app.json.compact = True  # type: ignore[attr-defined]
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the order of the columns
    # Before the writer's thread starts: a database that cannot be opened ends the process with one sentence.
    store = open_store(database or settings.db, today)
    writer = Writer(store, settings.fold_seconds)
    # A worker process ends without atexit, but with this, and after the last request was answered.
    Finalize(app, writer.stop, exitpriority=10)
    outage.init_app(app, store, writer)
    problems.init_app(app)
    logs.init_app(app)
    limits.init_app(app, settings.rate_limit, settings.trusted_proxies)
    health.init_app(app, store, writer, settings.min_free_mb * 10**6)
    return app, store, writer
