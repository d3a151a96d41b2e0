"""Calls to a collector by a relay that cannot read them (Oblivious HTTP, RFC 9458)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import urllib3

from deniable.errors import CollectorError, MessageError
from deniable.installing import install_hint
from deniable_client.collector_connection import CollectorConnection
from deniable_transport.oblivious.binary_http import BinaryRequest, parse_response
from deniable_transport.oblivious.encapsulation import PADDED, REQUEST, RESPONSE, KeyConfiguration, encapsulate


class ObliviousConnection(CollectorConnection):
    """The calls of a client to one collector, by a relay and the gateway of a survey.

    Parameters
    ----------
    collector : str
        Its URL, which stands within the requests alone.
    relay : str
        The URL to which encapsulated requests are sent: a place's, or that of any relay that passes them on to the
        gateway of the survey.
    configuration : KeyConfiguration
        The key of the gateway.
    retries, timeout, size
        As `CollectorConnection` takes them.
    """

    def __init__(
        self, collector: str, relay: str, configuration: KeyConfiguration, retries: int, timeout: float, size: int
    ) -> None:
        super().__init__(collector, retries, timeout, size)
        self._relay = relay
        self.configuration = configuration

    def _call(
        self, method: str, url: str, body: bytes | None, headers: dict[str, str], patience: dict[str, Any]
    ) -> urllib3.BaseHTTPResponse:
        parts = urlsplit(url)
        fields = tuple((name.lower(), value) for name, value in headers.items() if name != "User-Agent")
        request = BinaryRequest(method, parts.scheme, parts.netloc, parts.path, fields, body or b"")
        try:
            sealed = encapsulate(self.configuration, request.encode(PADDED))
        except ModuleNotFoundError:
            raise CollectorError(
                f"{self.collector}: asking it by a relay needs cryptography; nothing was sent; {install_hint('sealed')}"
            ) from None
        about = {"Content-Type": REQUEST, "User-Agent": headers["User-Agent"], "Accept": "*/*"}
        outer = super()._call("POST", self._relay, sealed.message, about, patience)
        if outer.status != 200 or outer.headers.get("Content-Type", "").partition(";")[0] != RESPONSE:
            return outer  # of the relay, or of a gateway that could not open it
        try:
            inner = parse_response(sealed.response(outer.data))
        except MessageError as error:
            raise CollectorError(f"{self.collector}: answered by its relay with no {RESPONSE}: {error}") from None
        return urllib3.HTTPResponse(inner.content, dict(inner.fields), inner.status)
