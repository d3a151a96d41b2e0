"""The application factory."""

from __future__ import annotations

import atexit
import datetime
import os
from collections.abc import Callable
from pathlib import Path

from apiflask import APIFlask

from deniable import __version__
from deniable_server import api, embedding, pages, problems
from deniable_server.store import Store, utc_today
from deniable_server.writer import Writer

DEFAULT_DATABASE = "deniable.db"


def create_app(database: Path | str | None = None, today: Callable[[], datetime.date] = utc_today) -> APIFlask:
    """Make a collector.

    Parameters
    ----------
    database : Path or str, optional
        The SQLite file; by default that of the environment variable ``DENIABLE_DB``, or ``deniable.db``.
    today : callable
        The day by which surveys open and close.
    """
    app = APIFlask(
        "deniable_server",
        title="Deniable collector",
        version=__version__,
        spec_path="/api/openapi.json",
        docs_path=None,  # the page that APIFlask brings loads scripts from other hosts
        static_folder=None,  # type: ignore[arg-type]  # Flask takes None for no folder
    )
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        MAX_CONTENT_LENGTH=64 * 1024,  # routes that take more say so
        VALIDATION_ERROR_STATUS_CODE=422,
        TRAP_HTTP_EXCEPTIONS=False,
    )
    app.json.compact = True  # type: ignore[attr-defined]
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the order of the columns
    store = Store(database or os.environ.get("DENIABLE_DB", DEFAULT_DATABASE), today)
    writer = Writer(store)
    atexit.register(writer.stop)
    problems.init_app(app)
    api.init_app(app, store, writer)
    pages.init_app(app)
    embedding.init_app(app)
    return app
