"""How an audit asks a collector for its pages: as a browser would, and with an end to its patience."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import urllib3

from deniable.errors import CollectorError

PATIENCE = 30.0
"""Longest time for one answer, from the first byte that is asked to the last that comes, in seconds."""

LARGEST = 16 * 1024 * 1024
"""Largest answer that is read, in bytes; a page with its script has a hundredth of that."""

AS_BROWSERS_ASK = {
    "sec-ch-ua": '"Not:A-Brand";v="8", "Chromium";v="156"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
    ),
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
    "Accept-Language": "en-GB",
    "Accept-Encoding": "gzip, deflate",
}
"""Headers of a browser that opens a page. A collector is not to see that it is audited."""

_OF_A_VISITOR = ("user-agent", "accept", "accept-language", "upgrade-insecure-requests", "priority")
"""Headers of a client that are passed on, beside those that begin with ``sec-``."""


def headers_of(head: bytes) -> dict[str, str]:
    """The headers of a client's request that a collector may see: none of them names the stand-in's address."""
    found = {"Accept-Encoding": "gzip, deflate"}  # what is read here, whatever the client reads
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        if name.lower() in _OF_A_VISITOR or name.lower().startswith("sec-"):
            found[name] = value.strip()
    return found


class Fetching:
    """Asks one collector.

    Parameters
    ----------
    upstream : str
        Its address.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self._http = urllib3.PoolManager(retries=urllib3.Retry(2, redirect=0), timeout=PATIENCE)

    def get(self, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Status, headers in lower case, and body.

        Raises
        ------
        CollectorError
            If there is no whole answer within `PATIENCE`, or it is larger than `LARGEST`, or leads elsewhere.
        """
        found: list[tuple[int, dict[str, str], bytes] | CollectorError] = []

        def ask() -> None:
            try:
                found.append(self._asked(path, headers))
            except CollectorError as error:
                found.append(error)

        # In a thread that nobody waits for in the end: a byte now and then would keep any time limit of a socket.
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(PATIENCE)
        if not found:
            raise CollectorError(f"{self.upstream}{path}: gave no whole answer within {PATIENCE:g} seconds")
        if isinstance(found[0], CollectorError):
            raise found[0]
        return found[0]

    def _asked(self, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        where = f"{self.upstream}{path}"
        try:
            got = self._http.request("GET", where, headers=headers, redirect=False, preload_content=False)
            content = bytearray()
            for piece in got.stream(64 * 1024):
                content += piece
                if len(content) > LARGEST:
                    got.close()
                    raise CollectorError(f"{where}: sent more than {LARGEST // 2**20} MiB")
            got.release_conn()
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise CollectorError(f"{where}: cannot be reached: {type(reason).__name__}") from None
        if 300 <= got.status < 400:
            raise CollectorError(f"{where}: leads to {got.headers.get('location')}, and an audit does not follow")
        return got.status, {name.lower(): value for name, value in got.headers.items()}, bytes(content)
