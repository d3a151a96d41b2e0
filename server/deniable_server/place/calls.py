"""Calls of a place to others: bounded in time, however an answer is spread over it, in length and in destination."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any, NamedTuple

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from deniable.errors import CollectorError
from deniable.survey.document import MAX_BYTES
from deniable_server.place.addresses import addresses_of, is_public
from deniable_transport.unreachable import unreachable

QUICK = 5.0
"""Timeout in seconds of calls for which a person waits."""


class Exchange:
    """One request and its answer, which end after a time, however they are spread over it.

    urllib3 bounds each wait. Whoever sends a byte now and then would hold a thread for as long as they like.
    """

    def __init__(self, seconds: float, may_be_inside: bool = False) -> None:
        self.is_late = False
        self.may_be_inside = may_be_inside
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._alarm = threading.Timer(seconds, self._end)
        self._alarm.daemon = True

    def __enter__(self) -> Exchange:
        _current.exchange = self
        self._alarm.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._alarm.cancel()

    def note(self, used: socket.socket) -> None:
        """Know a socket that is used, to end it."""
        with self._lock:
            self._sockets.append(used)
        if self.is_late:
            self._end()

    def _end(self) -> None:
        self.is_late = True
        with self._lock:
            for each in self._sockets:
                with suppress(OSError):  # it is closed already
                    each.shutdown(socket.SHUT_RDWR)


class _Current(threading.local):
    exchange: Exchange | None = None


_current = _Current()


class _Noting:
    """A connection that tells the exchange of its thread which socket it uses."""

    sock: socket.socket | None
    host: str
    port: int
    timeout: Any
    socket_options: Any
    _dns_host: str

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request."""
        super().request(*args, **options)  # type: ignore[misc]
        if self.sock is not None and _current.exchange is not None:
            _current.exchange.note(self.sock)

    def _new_conn(self) -> socket.socket:
        """Connect; to a public address alone, unless the exchange may lead inside."""
        if _current.exchange is not None and _current.exchange.may_be_inside:
            return super()._new_conn()  # type: ignore[misc,no-any-return]
        # Looked up once: a name that leads somewhere else a moment later would lead there after the check.
        try:
            found = addresses_of(self._dns_host, self.port)
        except OSError as error:
            raise NameResolutionError(self.host, self, error) from error  # type: ignore[arg-type]
        if not all(map(is_public, found)):
            raise NewConnectionError(self, "leads into a network of its own")  # type: ignore[arg-type]
        try:
            return create_connection((found[0], self.port), self.timeout, socket_options=self.socket_options)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "timed out") from error
        except OSError as error:
            raise NewConnectionError(self, "nobody takes connections") from error  # type: ignore[arg-type]


class _NotingHttp(_Noting, HTTPConnection): ...


class _NotingHttps(_Noting, HTTPSConnection): ...


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _NotingHttp


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _NotingHttps


_http = urllib3.PoolManager(
    headers={"User-Agent": "deniable", "Accept": "*/*"},
    retries=False,  # no redirect leads elsewhere, and people and batches try again by themselves
    timeout=30.0,
    maxsize=16,  # connections to one collector that are kept for the next call
)
_http.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}


class Answer(NamedTuple):
    """What came back: status, body and media type."""

    status: int
    data: bytes
    kind: str


def call(
    method: str,
    url: str,
    body: bytes | None,
    headers: dict[str, str],
    timeout: float = QUICK,
    most: int = MAX_BYTES,
    may_be_inside: bool = False,
) -> Answer:
    """Send a request and read its answer.

    Parameters
    ----------
    method, url : str
    body : bytes or None
    headers : dict
    timeout : float
        Seconds for everything together.
    most : int
        Longest answer that is read, in bytes; one byte more shows that it was longer.
    may_be_inside : bool
        Whether it may lead to an address that is not public.

    Raises
    ------
    CollectorError
        If nothing came, or not all in time.
    """
    site = url.split("/api/")[0]
    with Exchange(timeout, may_be_inside) as exchange:
        try:
            answer = _http.request(
                method,
                url,
                body=body,
                headers={**_http.headers, **headers},
                timeout=timeout,
                preload_content=False,
                decode_content=False,  # no compression was asked for, and some bytes must not become many
            )
            # One byte more than there may be, to know that there was more.
            data = answer.read(most + 1)
            if len(data) > most:  # what is left of it is not worth reading
                answer.close()
            answer.release_conn()
        except urllib3.exceptions.HTTPError as error:
            raise CollectorError(f"{site}: {unreachable(error)}") from None
    if exchange.is_late:  # what was read may end anywhere
        raise CollectorError(f"{site}: does not answer in time")
    return Answer(answer.status, data, answer.headers.get("Content-Type", "").partition(";")[0])
