"""Downloads over HTTP, as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import urllib3

from deniable_transport.unreachable import unreachable

CHUNK = 2**18
"""Number of bytes that are read at a time."""

MOST_REDIRECTIONS = 3
"""Largest number of redirections that a download follows."""

# Statuses of a server that is busy or restarting, and of its proxy, are temporary.
_RETRIES = urllib3.Retry(3, status_forcelist=(429, 502, 503, 504), backoff_factor=0.2, raise_on_status=False)
_TIMEOUT = urllib3.Timeout(30)


class StatusError(Exception):
    """The server answered with another status than 200.

    Attributes
    ----------
    status : int
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status


class DownloadError(Exception):
    """No answer, or an incomplete one; the message gives the reason without the address."""


def is_url(source: str) -> bool:
    """Whether a text is an address with http:// or https://.

    >>> is_url("https://collector.example/s/x"), is_url("reports.csv")
    (True, False)
    """
    return source.lower().startswith(("http://", "https://"))


@contextmanager
def connections() -> Iterator[urllib3.PoolManager]:
    """A pool of connections that wait 30 seconds and retry three times."""
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
    """Download an address to a new file.

    Parameters
    ----------
    pool : PoolManager
    url : str
    path : Path
    headers : mapping, optional
    most : int, optional
        Largest number of bytes; a longer answer is an error.
    follow : bool
        Whether to follow redirections, though not from https to http.

    Raises
    ------
    StatusError
        If the answer has another status than 200.
    DownloadError
        If there is no complete answer, it is longer than `most`, or it redirects from https to http, to an invalid
        address, or more than `MOST_REDIRECTIONS` times.
    """
    try:
        answer = _answer(pool, url, headers, MOST_REDIRECTIONS if follow else 0)
        try:
            if answer.status != 200:
                raise StatusError(answer.status)
            # Mode x: a server must not replace a file that exists.
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
    """The answer of an address, after at most this number of redirections."""
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
            raise DownloadError("leads from https to http")  # which anybody on the way can read and change
    raise DownloadError(f"leads from one address to the next more than {redirections} times")
