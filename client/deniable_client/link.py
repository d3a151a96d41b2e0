"""Links to surveys: ``https://collector/s/<id>#cohort=web``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from deniable.errors import CollectorError, SurveyError
from deniable.survey import is_address

_PATH = re.compile(r"(.*)/(?:s|embed|api/v1/surveys)/([a-z2-7]{26})/?")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Link:
    """Where a survey is, and the cohort into which its author puts whoever follows the link.

    Attributes
    ----------
    collector : str
        Such as ``"https://collector.example"``.
    survey : str
        The survey's address.
    cohort : str or None
    """

    collector: str
    survey: str
    cohort: str | None = None


def parse_link(link: str) -> Link:
    """Read a link to a survey.

    The cohort stands in the fragment, which is sent to nobody, and never in the query, which servers log.

    Raises
    ------
    SurveyError
        If the text is no such link.

    Examples
    --------
    >>> parse_link("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web")
    Link(collector='https://collector.example', survey='bpn4zq5y7xlxpqd63hsrm4s5ky', cohort='web')
    >>> parse_link("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky?cohort=web").cohort is None
    True
    """
    try:
        parts = urlsplit(link)
        found = _PATH.fullmatch(parts.path)
        if found and is_address(found[2]):
            fragment = dict(reversed(parse_qsl(parts.fragment, keep_blank_values=True)))  # the first of equals counts
            return Link(collector_url(f"{parts.scheme}://{parts.netloc}{found[1]}"), found[2], fragment.get("cohort"))
    except (ValueError, CollectorError):
        pass  # an address of a machine that is none, refused below with everything else that is no link
    raise SurveyError(f"survey: must be 26 letters and digits or a link that ends in /s/ and them, got {link!r}")


def collector_url(url: str) -> str:
    """The one way to write the URL of a collector, so that its ledger is one ledger.

    Raises
    ------
    CollectorError
        If it is no URL of the web.

    Examples
    --------
    >>> collector_url("HTTPS://Collector.Example:443/")
    'https://collector.example'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in _PORTS:
        raise CollectorError(f"collector: must be a URL that starts with http:// or https://, got {url!r}")
    shown = f"[{host}]" if ":" in host else host
    place = shown if port in (None, _PORTS[parts.scheme]) else f"{shown}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
