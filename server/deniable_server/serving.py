"""The collector under Granian: one process, so that one thread writes.

Granian's own process, from which a worker is started, loads neither an application nor numpy: with both it takes
82 MB instead of 53, and twice the time to start.
"""

from __future__ import annotations

import errno
import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server
from granian.server.common import AbstractServer

from deniable.errors import DeniableError
from deniable_server import logs
from deniable_server.edge import stalls
from deniable_server.readiness import tell_ready
from deniable_server.settings import Settings

if TYPE_CHECKING:
    from apiflask import APIFlask

    from deniable_server.place.app import PlaceSettings

S = TypeVar("S", Settings, "PlaceSettings")

THREADS = 256
"""Largest number of requests that are served at a time.

Most threads wait for the writer or for a slow body; they start when needed and end when idle. `edge.limits` bounds how
many of them one address, or all, can hold from outside: a fourth is left for what is answered at once.
"""

CONNECTIONS = 4096
"""Largest number of open connections; more wait in the system's queue. `edge.stalls` bounds those of one address."""

SILENCE_MS = 15_000
"""Timeout for the head of a request on a connection, the first or the next one, in milliseconds."""

BACKLOG = 1024
"""Length of the system's queue of connections that were not accepted yet."""

SEND_BYTES = 128 * 1024
"""Size of a connection's send buffer in the system, in bytes; Linux doubles it.

By default the system would buffer megabytes of each download for somebody who reads nothing. This size still allows for
25 MB/s at a round trip of 10 ms.
"""

BUFFER_BYTES = 16 * 1024
"""Size of a connection's read buffer, in bytes; longer heads (at the latest of twice that) are refused."""

STOP_SECONDS = 10
"""Time that requests in flight have after a signal to stop, in seconds."""


def serve(settings: S, listener: socket.socket, load: Callable[[S, str], APIFlask]) -> None:
    """Serve the application that ``load`` makes on a socket of `listen`, until a signal to stop."""
    logs.configure()
    _allow_connections()
    logs.log("starting", port=settings.port)
    server(listener).serve(target_loader=partial(load, settings))
    logs.log("stopped")


def listen(host: str, port: int) -> socket.socket:
    """Take a port for this process alone.

    Granian would bind with ``SO_REUSEPORT``, which lets any number of processes listen on one port; the system would
    then give each of them a part of the reports.

    Raises
    ------
    DeniableError
        If somebody else listens there, or this machine does not have the address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # One socket for IPv4 and IPv6, where the system can.
    everywhere = host == "::" and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=everywhere)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise DeniableError(
                f"--port {port}: must be free on {host}, something listens there already; stop it or take another port"
            ) from None
        if error.errno == errno.EACCES:
            raise DeniableError(f"--port {port}: must be one that this user may take; try one above 1023") from None
        raise DeniableError(
            f"--host {host}: must be an address of this machine, such as 127.0.0.1, got: {error.strerror}"
        ) from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)  # connections have what their listener has
    return listener


class _Server(Server):  # type: ignore[misc,valid-type]  # one of two classes, by the build
    """Granian on a socket that is bound already, which it can do and offers no option for."""

    def __init__(self, listener: socket.socket, **options: object) -> None:
        host, port, *_ = listener.getsockname()
        super().__init__(address=host, port=port, backlog=BACKLOG, **options)
        self._listener = listener

    # Private names of Granian: it offers no way to serve a bound socket (pinned in pyproject.toml, checked by a test).
    def _init_shared_socket(self) -> None:
        """Give workers the socket, as Granian itself does where there is no ``SO_REUSEPORT``."""
        self._listener.set_inheritable(True)
        self._ssp = None
        self._sfd = self._listener.fileno()
        self._shd = SocketHolder(self._sfd, False, BACKLOG)  # type: ignore[call-arg]  # its stub forgets the last two
        self._sso = self._listener


def server(listener: socket.socket) -> AbstractServer[Any]:
    """The server as the collector needs it, without an application."""
    return _Server(
        listener,
        target="deniable_server.app:create_app",
        interface=Interfaces.WSGI,
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


def load_collector(settings: Settings, _target: str) -> APIFlask:
    """Make the application, in the process that serves it."""
    from deniable_server.app import create_app
    from deniable_server.results import service

    app = _load(settings, create_app)
    service.start_computing(app)
    return app


def load_issuer(settings: Settings, _target: str) -> APIFlask:
    """Make an issuer, in the process that serves it."""
    from deniable_server.app import create_issuer

    return _load(settings, create_issuer)


def load_place(settings: PlaceSettings, _target: str) -> APIFlask:
    """Make a place, in the process that serves it."""
    from deniable_server.place.app import create_place

    return _load(settings, create_place)


def _load(settings: Settings | PlaceSettings, create: Callable[..., APIFlask]) -> APIFlask:
    end_with_parent()
    logs.configure()
    app = create(settings=settings)
    spare_the_collector_of_garbage()
    # A proxy's connections are all of one address, and it counts those of its clients.
    stalls.watch(settings.port, None if settings.trusted_proxies else CONNECTIONS)
    tell_ready()  # the socket takes connections already, and the server asks for the application just before it serves
    return app


def end_with_parent() -> None:
    """Stop this process when its parent is gone, as a signal would, and after `STOP_SECONDS` at the latest.

    A worker that outlived its parent would go on serving, unseen by the operator who starts the next collector.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()  # reads a pipe that ends with the parent, so it cannot come too late
            # The way of an ordinary stop: requests in flight are answered and the writer stores what waits.
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(STOP_SECONDS)
            os._exit(1)

        threading.Thread(target=wait, name="deniable-parent", daemon=True).start()


def spare_the_collector_of_garbage() -> None:
    """Let the garbage collector run seldom, and never over objects that live as long as the process.

    A batch makes thousands of reports at once, none in a cycle; looking for cycles takes a quarter of the parser's
    time.
    """
    # First collect, then freeze: garbage that is frozen would never be freed.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _allow_connections() -> None:
    """Raise the limit of open files of this process, which is often 1024, as far as the system allows."""
    if sys.platform == "win32":
        return  # has no such number
    import resource

    # The soft limit may be raised up to the hard one without any rights.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A connection may need a second descriptor, for a file that is sent or the copy of its socket in `edge.stalls`.
    wanted = 2 * CONNECTIONS
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
