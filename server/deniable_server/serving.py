"""The collector under Granian: one process, so that one thread writes."""

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
from typing import Any

from apiflask import APIFlask
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server
from granian.server.common import AbstractServer

from deniable.errors import DeniableError
from deniable_server import logs
from deniable_server.app import create_app, create_issuer
from deniable_server.edge import stalls
from deniable_server.results import service
from deniable_server.settings import Settings

THREADS = 256
"""Requests at a time. They wait for the writer, or for a sender who takes his time over a body; they are started when
needed and end when idle. How many can be held from outside, by one address and by all, is in `edge.limits`:
a fourth is left for what is answered at once."""

CONNECTIONS = 4096
"""Open at a time; more wait in the system's queue. How many one address may have is in `edge.stalls`."""

SILENCE_MS = 15_000
"""How long a connection may take over the head of a request, the first or the next one, before it is closed."""

BACKLOG = 1024
"""Connections that the system holds until they are accepted."""

SEND_BYTES = 128 * 1024
"""What the system holds of an answer that is not taken; by itself it would take megabytes of each download, and have
the collector write them, for somebody who reads nothing. Linux doubles it; a second of 100 round trips is 25 MB."""

BUFFER_BYTES = 16 * 1024
"""What one connection may have waiting unread; heads of more, or of up to twice as much, are refused."""

STOP_SECONDS = 10
"""How long requests in flight have to be answered after a signal to stop."""


def serve(settings: Settings, listener: socket.socket, load: Callable[[Settings, str], APIFlask]) -> None:
    """Run what is to be loaded on a socket of `listen` until it is told to stop."""
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
    app = _load(settings, create_app)
    service.start_computing()
    return app


def load_issuer(settings: Settings, _target: str) -> APIFlask:
    """Make an issuer, in the process that serves it."""
    return _load(settings, create_issuer)


def _load(settings: Settings, create: Callable[..., APIFlask]) -> APIFlask:
    end_with_parent()
    logs.configure()
    app = create(settings=settings)
    spare_the_collector_of_garbage()
    # A proxy's connections are all of one address, and it counts those of its clients.
    stalls.watch(settings.port, None if settings.trusted_proxies else CONNECTIONS)
    return app


def end_with_parent() -> None:
    """Stop this process when the one that started it is gone: as by a signal, and in the same time at the latest.

    A worker that lived on would go on serving, unseen by whoever starts the next collector.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()  # reads a pipe that ends with the parent, so it cannot come too late
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(STOP_SECONDS)
            os._exit(1)

        threading.Thread(target=wait, name="deniable-parent", daemon=True).start()


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
