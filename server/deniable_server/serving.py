"""The collector under Granian: one process, so that one thread writes."""

from __future__ import annotations

import os
from pathlib import Path

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

THREADS = 32
"""Requests at a time. They mostly wait for the writer, so there are more of them than cores."""


def serve(database: Path, host: str, port: int) -> None:
    """Run the collector until it is told to stop."""
    os.environ["DENIABLE_DB"] = str(database)  # the worker process makes the application
    Granian(
        "deniable_server.app:create_app",
        factory=True,
        interface=Interfaces.WSGI,
        address=host,
        port=port,
        workers=1,
        blocking_threads=THREADS,
        websockets=False,
        log_level=LogLevels.error,  # it warns of more threads than cores, which are meant
        log_access=False,  # a log of requests would join times and addresses to reports
    ).serve()
