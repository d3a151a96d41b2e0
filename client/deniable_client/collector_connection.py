"""The HTTP calls of the client: fetch a survey, get a token signed where reports need one, send a report.

The requests do not depend on the answers.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self, get_args
from weakref import WeakSet

import urllib3
from urllib3.connectionpool import ConnectionPool

from deniable.access.blind_rsa import SIZE
from deniable.errors import CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed, SurveyError
from deniable_transport.authorization import authorization_of
from deniable_transport.responses import object_in
from deniable_transport.unreachable import is_untrusted, unreachable

_log = logging.getLogger(__name__)

LONGEST_WAIT = 20.0
"""Longest wait within a call, in seconds; if the collector asks for more, the call raises `Busy`."""

QUICK = 5.0
"""Timeout in seconds of calls before the first question; without an answer the person is asked all the same."""

SEALED = "sealed"
"""The end of the path for sealed reports, whose bodies are no JSON."""

_HEADERS = {"User-Agent": "deniable", "Accept": "*/*"}
"""Headers of every request. They name no version, which would tell devices apart."""

_REFUSALS: dict[int, type[ReportError]] = {
    403: NotInvited,
    404: ReportError,
    409: ReportConflict,
    410: SurveyClosed,
    413: ReportError,
    422: ReportError,
}


Hindrance = Literal["closed", "early", "used", "unknown"]
"""A reason why a report would not count: the survey is closed or not open yet, the invitation used or unknown."""

_SIGNATURE = re.compile(rf"[0-9a-f]{{{2 * SIZE}}}")


class Busy(CollectorError):
    """The collector asks to wait for longer than `LONGEST_WAIT`.

    Attributes
    ----------
    seconds : float
        Seconds to wait before the next try, counted from now.
    """

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Untrusted(CollectorError):
    """The collector has no certificate that this device trusts, so nothing was sent to it."""


class CollectorConnection:
    """The calls of a client to one collector, or to an issuer elsewhere.

    Parameters
    ----------
    collector : str
        Its URL, in the form of `deniable_client.link.collector_url`.
    retries : int
        How often the same bytes are sent again if the network or the collector fails.
    timeout : float
        Seconds to wait for a connection and for each read.
    size : int
        Number of connections that are kept open.
    """

    def __init__(self, collector: str, retries: int, timeout: float, size: int) -> None:
        self.collector = collector
        self._pool = urllib3.PoolManager(
            maxsize=size,
            block=True,
            timeout=timeout,
            headers=_HEADERS,
            retries=_Retries(
                total=retries,
                redirect=0,  # a survey lives at its address or nowhere
                allowed_methods=None,  # POST too: the collector counts the same bytes once
                status_forcelist=(429, 502, 503, 504, 507),
                backoff_factor=0.1,
                backoff_jitter=0.1,
                raise_on_status=False,
                raise_on_redirect=False,
            ),
        )

    def fetch(self, survey: str) -> bytes:
        """The bytes that the collector sends for a survey's address; their hash is not checked here.

        Raises
        ------
        SurveyError
            If there is no such survey.
        CollectorError
            If the collector cannot be reached, or answers something else.
        """
        answer = self._request("GET", f"/surveys/{survey}")
        if answer.status == 404:
            raise SurveyError(f"survey {survey}: is not at {self.collector}")
        if answer.status != 200:
            raise self._unexpected(answer)
        return answer.data

    def hindrance(self, survey: str, invitation: str | None) -> Hindrance | None:
        """Why a report would be refused, as far as the collector tells before it is sent; else None.

        Parameters
        ----------
        invitation : str or None
            The hash of the invitation that the report would carry. It is asked about only if the survey is open.
        """
        state = self._state(f"/surveys/{survey}/state")
        if state == "open" and invitation:
            # The body always has the same length, so traffic tells nothing about the invitation.
            body = json.dumps({"hash": invitation}, separators=(",", ":")).encode("ascii")
            state = self._state(f"/surveys/{survey}/invitations/state", body)
        return next((each for each in get_args(Hindrance) if each == state), None)

    def _state(self, path: str, body: bytes | None = None) -> object:
        """A state that a collector tells; None where it cannot be reached, or is too old to tell."""
        try:
            answer = self._request("GET" if body is None else "POST", path, body, is_quick=True)
        except CollectorError:
            return None
        return object_in(answer.data).get("state") if answer.status == 200 else None

    def send(self, survey: str, body: bytes) -> bool:
        """Send the bytes of a report; return whether the collector knew them already.

        Raises
        ------
        ReportError
            If the collector refuses them.
        CollectorError
            If it cannot be reached, or answers something else.
        """
        return self._sent(self._post(f"/surveys/{survey}/reports", body, object_in(body).get("credential")))

    def send_sealed(self, survey: str, body: bytes) -> bool:
        """Send a sealed report; return whether it was known already. The errors are those of `send`.

        The head names no right: whoever passes the report on must not see what it bears.
        """
        return self._sent(self._post(f"/surveys/{survey}/{SEALED}", body, None))

    def _sent(self, answer: urllib3.BaseHTTPResponse) -> bool:
        # 201 alone proves nothing: a captive portal may answer anything to every request.
        if object_in(answer.data).get("status") not in ("stored", "known"):
            raise self._unexpected(answer)
        return answer.status == 200

    def sign(self, survey: str, invitation: str, blinded: bytes) -> bytes:
        """Get a blinded message signed for an invitation; the signature is not checked here.

        The same message gets the same signature again; a second message for the same invitation gets none.

        Raises
        ------
        ReportError
            If the issuer refuses to sign: `NotInvited` where it knows no such invitation, `ReportConflict` where that
            was used for another message.
        CollectorError
            If it cannot be reached, or answers something else.
        """
        body = json.dumps({"invitation": invitation, "blinded": blinded.hex()}, separators=(",", ":")).encode("ascii")
        answer = self._post(f"/surveys/{survey}/tokens", body, invitation)
        signature = str(object_in(answer.data).get("signature"))
        if not _SIGNATURE.fullmatch(signature):
            raise CollectorError(f"{self.collector}: answered without a signature")
        return bytes.fromhex(signature)

    def _post(self, path: str, body: bytes, credential: str | None) -> urllib3.BaseHTTPResponse:
        answer = self._request("POST", path, body, credential)
        # A portal between here and the collector may answer anything to everything, but not in our words.
        if answer.status in _REFUSALS and "detail" in object_in(answer.data):
            raise _REFUSALS[answer.status](_detail(answer))
        if answer.status not in (200, 201):
            raise self._unexpected(answer)
        return answer

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        credential: str | None = None,
        is_quick: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        headers = dict(_HEADERS)
        if body is not None:
            headers["Content-Type"] = "application/octet-stream" if path.endswith(SEALED) else "application/json"
        if credential is not None:
            headers["Authorization"] = authorization_of(credential)
        # People wait for this before the first question, so it gets one short try.
        patience: dict[str, Any] = {"retries": False, "timeout": QUICK} if is_quick else {}
        url = f"{self.collector}/api/v1{path}"
        try:
            return self._call(method, url, body, headers, patience)
        except urllib3.exceptions.HTTPError as error:
            if is_untrusted(error):
                raise Untrusted(
                    f"{self.collector}: this device does not trust its certificate, so nothing was sent; check "
                    "the date of this device and the address, and tell who gave you the link"
                ) from None
            raise CollectorError(f"{self.collector}: {unreachable(error)}") from None

    def _call(
        self, method: str, url: str, body: bytes | None, headers: dict[str, str], patience: dict[str, Any]
    ) -> urllib3.BaseHTTPResponse:
        return self._pool.request(method, url, body=body, headers=headers, **patience)

    def _unexpected(self, answer: urllib3.BaseHTTPResponse) -> CollectorError:
        message = f"{self.collector}: answered with status {answer.status}: {_detail(answer)}"
        seconds = _Retries().get_retry_after(answer)
        if answer.status == 429:
            again = "later" if seconds is None else f"in {_seconds(seconds)}"
            message = (
                f"{self.collector}: takes no more from this network for now, because too much came; try again {again}"
            )
        if seconds is not None and seconds > LONGEST_WAIT:
            return Busy(message, seconds)
        return CollectorError(message)


_THROTTLED: WeakSet[ConnectionPool] = WeakSet()
"""Connections of which it was said that the collector makes them wait."""


class _Retries(urllib3.Retry):
    """Retries that wait as long as ``Retry-After`` says, and end where that is more than `LONGEST_WAIT`."""

    def get_retry_after(self, response: urllib3.BaseHTTPResponse) -> float | None:
        """Seconds until the next try, from a valid ``Retry-After``; else None."""
        with suppress(urllib3.exceptions.InvalidHeader):
            return super().get_retry_after(response)
        return None

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: urllib3.BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """End the retries if the next one is too far away: urllib3 returns the response for a MaxRetryError."""
        seconds = self.get_retry_after(response) if response else None
        if _pool and seconds is not None and seconds > LONGEST_WAIT:
            raise urllib3.exceptions.MaxRetryError(_pool, url or "")
        # A script that sends many reports waits before most of them, and one sentence is enough.
        if response and response.status == 429 and seconds is not None and _pool not in _THROTTLED:
            _log.warning(
                "the collector is throttling this network: sending again in %s, and so from now on without a message",
                _seconds(seconds),
            )
            if _pool is not None:
                _THROTTLED.add(_pool)
        return super().increment(method, url, response, error, _pool, _stacktrace)


def _seconds(seconds: float) -> str:
    return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"


def _detail(answer: urllib3.BaseHTTPResponse) -> str:
    """The sentence of a problem+json."""
    return str(object_in(answer.data).get("detail", "it does not say why"))[:500]
