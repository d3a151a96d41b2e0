"""What a place asks of collectors and issuers. Nothing that it sends names or describes who asked."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress
from typing import Any, NamedTuple

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from deniable import Survey, parse_survey
from deniable.access.hosts import HIGHEST_PORT, is_host, is_loopback
from deniable.errors import CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed
from deniable.survey.document import MAX_BYTES
from deniable_server.edge.limits import Places
from deniable_server.store import NotFound
from deniable_transport.oblivious.encapsulation import REQUEST, RESPONSE
from deniable_transport.responses import object_in
from deniable_transport.unreachable import unreachable

_WHERE = re.compile(r"([a-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::([1-9][0-9]{0,4}))?((?:/[A-Za-z0-9_~-]{1,64}){0,4})")

QUICK = 5.0
"""Timeout in seconds of calls for which a person waits."""

_calls = Places(total=128, most=64)
"""Places for calls for which somebody waits, each of which holds a thread: half of those that there are.

Whoever serves surveys that never come must not hold up a place for everybody.
"""

PROBLEM = "application/problem+json"

MORE = 4096
"""By how many bytes an encapsulated answer with a survey may be longer than the survey."""


class _Exchange:
    """One request and its answer, which end after a time, however they are spread over it.

    urllib3 bounds each wait. Whoever sends a byte now and then would hold a thread for as long as they like.
    """

    def __init__(self, seconds: float) -> None:
        self.is_late = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._alarm = threading.Timer(seconds, self._end)
        self._alarm.daemon = True

    def __enter__(self) -> _Exchange:
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
    exchange: _Exchange | None = None


_current = _Current()


class _Noting:
    """A connection that tells the exchange of its thread which socket it uses."""

    sock: socket.socket | None

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request."""
        super().request(*args, **options)  # type: ignore[misc]
        if self.sock is not None and _current.exchange is not None:
            _current.exchange.note(self.sock)


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
)
_http.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

_REFUSALS: dict[int, type[ReportError]] = {
    403: NotInvited,
    404: ReportError,
    409: ReportConflict,
    410: SurveyClosed,
    422: ReportError,
}


class BatchOutcome(NamedTuple):
    """What a collector made of a batch."""

    stored: int
    known: int
    refused: int


class RelayedAnswer(NamedTuple):
    """What a gateway answered: status, media type and body."""

    status: int
    kind: str
    body: bytes


class BatchRefused(ReportError):
    """The collector takes no reports of the survey any more, so that sending them again is of no use."""


def collector_at(where: str) -> str:
    """The URL of a collector by its host, port and path; plain http is for one on this machine alone.

    >>> collector_at("collector.example"), collector_at("127.0.0.1:8000/surveys")
    ('https://collector.example', 'http://127.0.0.1:8000/surveys')
    """
    found = _WHERE.fullmatch(where)
    if not found or not is_host(found[1]) or int(found[2] or 1) > HIGHEST_PORT:
        raise NotFound("collector: must be the host of one that this place serves")
    return f"{'http' if is_loopback(found[1]) else 'https'}://{where}"


def is_public(collector: str) -> bool:
    """Whether a collector has a name of the web: a place that serves any must not be led into its own network.

    >>> [is_public(each) for each in ("https://a.example", "https://10.0.0.1", "http://localhost", "https://a:8443")]
    [True, False, False, False]
    """
    return re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*(/[^:]*)?", collector) is not None


def is_own(url: str) -> bool:
    """Whether an address is that of the machine itself.

    >>> [is_own(each) for each in ("http://127.0.0.1:8000", "https://[::1]", "https://issuer.example")]
    [True, True, False]
    """
    found = re.match(r"https?://(\[[^/]*\]|[^:/]*)", url)
    return found is not None and is_loopback(found[1])


def fetch_survey(collector: str, survey_id: str) -> Survey:
    """A survey, whose bytes have the hash in its address.

    Raises
    ------
    NotFound
        If there is none.
    SurveyError
        If the collector sent another one.
    CollectorError
        If it cannot be reached.
    """
    answer = _ask("GET", f"{collector}/api/v1/surveys/{survey_id}", None, {})
    if answer.status == 404:
        raise NotFound(f"survey {survey_id}: is not at {collector}")
    if answer.status != 200 or len(answer.data) > MAX_BYTES:
        raise CollectorError(f"{collector}: answered with status {answer.status}")
    return parse_survey(answer.data, survey_id)


def state_of(collector: str, survey_id: str) -> str | None:
    """The state that a collector tells; None where it cannot be reached."""
    try:
        answer = _ask("GET", f"{collector}/api/v1/surveys/{survey_id}/state", None, {})
    except CollectorError:
        return None
    state = object_in(answer.data).get("state") if answer.status == 200 else None
    return state if state in ("open", "early", "closed") else None


def sign(survey: Survey, collector: str, body: bytes) -> str:
    """The signature of a blinded message, from the issuer that the survey names.

    Raises
    ------
    ReportError
        If the issuer refuses to sign.
    CollectorError
        If it cannot be reached, or answers something else.
    """
    assert survey.issuer is not None, "its route looked"
    signer = survey.issuer.url or collector
    # The survey, and so its collector, says who the issuer is: it must lead this place to nobody on its own machine.
    if is_own(signer) and not is_own(collector):
        raise ReportError(f"issuer: must not be on the machine of the place, got {signer}")
    answer = _ask("POST", f"{signer}/api/v1/surveys/{survey.id}/tokens", body, {"Content-Type": "application/json"})
    content = object_in(answer.data)
    if answer.status in _REFUSALS and "detail" in content:
        raise _REFUSALS[answer.status](str(content["detail"])[:500])
    signature = content.get("signature")
    if answer.status != 200 or not isinstance(signature, str) or not re.fullmatch(r"[0-9a-f]{1,512}", signature):
        raise CollectorError(f"{signer}: answered with status {answer.status}, without a signature")
    return signature


def pass_in(survey: Survey, collector: str, token: str | None, body: bytes) -> RelayedAnswer:
    """Pass an encapsulated request on to the gateway of a survey, and return what it answers, which is not read here.

    Raises
    ------
    CollectorError
        If it cannot be reached, or answers something else.
    """
    # The token lets requests of many people pass from this one address; nothing else says anything of who asks.
    headers = {"Content-Type": REQUEST} | ({"Authorization": f"Bearer {token}"} if token else {})
    url = f"{collector}/api/v1/surveys/{survey.id}/gateway"
    answer = _ask("POST", url, body, headers, most=MAX_BYTES + MORE)
    if answer.status == 200 and answer.kind == RESPONSE:
        return RelayedAnswer(200, RESPONSE, answer.data)
    if 400 <= answer.status < 500 and answer.kind == PROBLEM and "detail" in object_in(answer.data):
        return RelayedAnswer(answer.status, PROBLEM, answer.data)
    raise CollectorError(f"{collector}: its gateway answered with status {answer.status}")


def deliver(survey: Survey, collector: str, token: str | None, messages: tuple[bytes, ...]) -> BatchOutcome:
    """Pass a batch on; what the outcome counts as stored or known is on the collector's disk.

    Raises
    ------
    BatchRefused
        If the survey is closed there for good.
    CollectorError
        If the batch has to be sent again.
    """
    headers = {"Content-Type": "application/octet-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    answer = _call("POST", f"{collector}/api/v1/surveys/{survey.id}/sealed", b"".join(messages), headers, timeout=60.0)
    content = object_in(answer.data)
    if len(messages) == 1:  # answered like any single report
        if content.get("status") in ("stored", "known"):
            return BatchOutcome(int(answer.status == 201), int(answer.status == 200), 0)
        if answer.status in (403, 409, 422) and "detail" in content:
            return BatchOutcome(0, 0, 1)
    elif answer.status == 200:
        counts = [each for key in BatchOutcome._fields if type(each := content.get(key)) is int and each >= 0]
        # Every message is accounted for, or somebody else answered.
        if len(counts) == len(BatchOutcome._fields) and sum(counts) == len(messages):
            return BatchOutcome(*counts)
    if answer.status == 410 and "detail" in content:
        raise BatchRefused(str(content["detail"])[:500])
    raise CollectorError(f"{collector}: answered a batch with status {answer.status}")


class _Answer(NamedTuple):
    status: int
    data: bytes
    kind: str


def _ask(method: str, url: str, body: bytes | None, headers: dict[str, str], most: int = MAX_BYTES) -> _Answer:
    """Call something for which a person waits."""
    host = url.split("/")[2].encode()
    if not _calls.take(host):
        raise CollectorError(f"{url.split('/api/')[0]}: is asked by too many others now")
    try:
        return _call(method, url, body, headers, most=most)
    finally:
        _calls.give_back(host)


def _call(
    method: str,
    url: str,
    body: bytes | None,
    headers: dict[str, str],
    timeout: float = QUICK,
    most: int = MAX_BYTES,
) -> _Answer:
    site = url.split("/api/")[0]
    with _Exchange(timeout) as exchange:
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
    return _Answer(answer.status, data, answer.headers.get("Content-Type", "").partition(";")[0])
