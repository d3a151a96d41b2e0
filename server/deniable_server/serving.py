"""The collector under Granian: one process, so that one thread writes."""

from __future__ import annotations

import gc
import sys
from functools import partial
from typing import Any

from apiflask import APIFlask
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.common import AbstractServer

from deniable_server import logs, stalls
from deniable_server.app import create_app
from deniable_server.settings import Settings

THREADS = 256
"""Requests at a time. They wait for the writer, or for a sender who takes his time over a body; they are started when
needed and end when idle. How many can be held from outside, by one address and by all, is in `deniable_server.limits`:
a fourth is left for what is answered at once."""

CONNECTIONS = 4096
"""Open at a time; more wait in the system's queue."""

SILENCE_MS = 15_000
"""How long a connection may take over the head of a request, the first or the next one, before it is closed."""

BUFFER_BYTES = 64 * 1024
"""What one connection may have waiting unread; heads of more are refused."""

SWITCH_SECONDS = 0.001
"""After which a thread that computes lets another one run; 5 ms by default, which a report would wait several times."""

STOP_SECONDS = 10
"""How long requests in flight have to be answered after a signal to stop."""


def serve(settings: Settings) -> None:
    """Run the collector until it is told to stop."""
    logs.configure()
    _allow_connections()
    logs.log("starting", port=settings.port)
    server(settings.host, settings.port).serve(target_loader=partial(load, settings))
    logs.log("stopped")


def server(host: str, port: int) -> AbstractServer[Any]:
    """The server as the collector needs it, without an application."""
    return Granian(
        "deniable_server.app:create_app",
        interface=Interfaces.WSGI,
        address=host,
        port=port,
        workers=1,
        blocking_threads=THREADS,
        backpressure=CONNECTIONS,
        http=HTTPModes.http1,  # what proxies speak; HTTP/2 would bring limits of its own to watch
        http1_settings=HTTP1Settings(header_read_timeout=SILENCE_MS, max_buffer_size=BUFFER_BYTES),
        websockets=False,
        workers_kill_timeout=STOP_SECONDS,
        log_level=LogLevels.error,  # it warns of more threads than cores, which are meant
        log_dictconfig=logs.CONFIGURATION,
        log_access=False,  # a log of requests would join times and addresses to reports
    )


def load(settings: Settings, _target: str) -> APIFlask:
    """Make the application, in the process that serves it."""
    logs.configure()
    app = create_app(settings=settings)
    spare_the_collector_of_garbage()
    sys.setswitchinterval(SWITCH_SECONDS)
    stalls.watch(settings.port)
    return app


def spare_the_collector_of_garbage() -> None:
    """Let Python look for cycles seldom, and not among what lives as long as the process.

    A batch makes thousands of reports at once, none in a cycle; looking for some takes a quarter of the parser's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _allow_connections() -> None:
    """Raise the number of files that this process may open, which is often 1024, as far as it may."""
    if sys.platform == "win32":
        return  # has no such number
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
