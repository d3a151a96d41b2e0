"""A collector in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apiflask import APIFlask

from deniable_server.results import computing

computing.START_SECONDS = 60  # applications here start their process when they need it, on a machine that may be busy


@contextmanager
def ended(app: APIFlask) -> Iterator[APIFlask]:
    """An application in this process; its writer and its store end afterwards."""
    yield app
    app.extensions["deniable"]["writer"].stop()
    app.extensions["deniable"]["store"].close()
