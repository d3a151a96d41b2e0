"""Files in the web, brought here as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import urllib3

CHUNK = 2**18
"""Bytes that are held at once."""

_RETRIES = urllib3.Retry(
    3, redirect=3, status_forcelist=(429, 502, 503, 504), backoff_factor=0.2, raise_on_status=False
)
_TIMEOUT = urllib3.Timeout(30)


class Refused(Exception):
    """What a server answered instead of a file.

    Attributes
    ----------
    status : int
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status


class Unreachable(Exception):
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
    Refused
        If the answer has another status than 200.
    Unreachable
        If there is none, it breaks off, it is longer than `most`, or it leads from https to http.
    """
    try:
        answer = pool.request("GET", url, headers=headers, redirect=follow, preload_content=False)
        try:
            if url.lower().startswith("https:") and any(
                map(_is_plain, answer.retries.history if answer.retries else ())
            ):
                raise Unreachable("leads from https to http")
            if answer.status != 200:
                raise Refused(answer.status)
            with path.open("xb") as file:
                for chunk in answer.stream(CHUNK):
                    file.write(chunk)
                    if most is not None and file.tell() > most:
                        raise Unreachable(f"has more than {most} bytes")
        finally:
            answer.close()
    except urllib3.exceptions.HTTPError as error:
        raise Unreachable(f"cannot be reached ({type(error).__name__})") from None


def _is_plain(step: urllib3.util.retry.RequestHistory) -> bool:
    """Whether a redirection leads where everybody on the way can read and change what comes."""
    return (step.redirect_location or "").strip().lower().startswith("http:")
