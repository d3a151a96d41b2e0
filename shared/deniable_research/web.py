"""Files in the web, brought here as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import urllib3

from deniable.unreachable import unreachable

CHUNK = 2**18
"""Bytes that are held at once."""

MOST_REDIRECTIONS = 3

# Statuses of a server that is busy or restarts, and of its proxy: worth another try.
_RETRIES = urllib3.Retry(3, status_forcelist=(429, 502, 503, 504), backoff_factor=0.2, raise_on_status=False)
_TIMEOUT = urllib3.Timeout(30)


class StatusError(Exception):
    """What a server answered instead of a file.

    Attributes
    ----------
    status : int
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status


class DownloadError(Exception):
    """Nobody answered, or not to the end; the message says why without the address."""


def is_url(source: str) -> bool:
    """Whether a text is meant as an address in the web.

    >>> is_url("https://collector.example/s/x"), is_url("reports.csv")
    (True, False)
    """
    return source.lower().startswith(("http://", "https://"))


@contextmanager
def connections() -> Iterator[urllib3.PoolManager]:
    """Connections that wait 30 seconds and try three times more."""
    with urllib3.PoolManager(retries=_RETRIES, timeout=_TIMEOUT) as pool:
        yield pool


def download(
    pool: urllib3.PoolManager,
    url: str,
    path: Path,
    *,
    headers: Mapping[str, str] | None = None,
    most: int | None = None,
    follow: bool = False,
) -> None:
    """Write what is at an address to a new file.

    Parameters
    ----------
    pool : PoolManager
    url : str
    path : Path
    headers : mapping, optional
    most : int, optional
        Bytes; more than these are not read.
    follow : bool
        Whether to go where the server redirects to, though not from https to http.

    Raises
    ------
    StatusError
        If the answer has another status than 200.
    DownloadError
        If there is none, it breaks off, it is longer than `most`, or it leads from https to http, to no valid
        address or on and on.
    """
    try:
        answer = _answer(pool, url, headers, MOST_REDIRECTIONS if follow else 0)
        try:
            if answer.status != 200:
                raise StatusError(answer.status)
            # x: what is there already is not replaced by what a server says.
            with path.open("xb") as file:
                for chunk in answer.stream(CHUNK):
                    file.write(chunk)
                    if most is not None and file.tell() > most:
                        raise DownloadError(f"has more than {most} bytes")
        finally:
            answer.close()
    except urllib3.exceptions.HTTPError as error:
        raise DownloadError(unreachable(error)) from None


def _answer(
    pool: urllib3.PoolManager, url: str, headers: Mapping[str, str] | None, redirections: int
) -> urllib3.BaseHTTPResponse:
    """What comes where an address leads to."""
    place = url
    for _ in range(redirections + 1):
        try:
            # Redirections are followed here, because urllib3 would go from https to http.
            answer = pool.request("GET", place, headers=headers, redirect=False, preload_content=False)
        except ValueError:
            raise DownloadError("cannot be reached: the address, or one that it leads to, is not valid") from None
        step = answer.get_redirect_location()
        if not step or not redirections:
            return answer
        answer.close()
        try:
            place = urljoin(place, step)
        except ValueError:
            raise DownloadError("leads to what is no valid address") from None
        if url.lower().startswith("https:") and not place.lower().startswith("https:"):
            raise DownloadError("leads from https to http")  # where everybody on the way can read and change what comes
    raise DownloadError(f"leads from one address to the next more than {redirections} times")
