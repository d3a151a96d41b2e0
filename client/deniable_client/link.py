"""Links to surveys: ``https://collector/s/<id>#cohort=web&invitation=<32 digits>``."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlsplit

from deniable.access.hosts import short_ipv6
from deniable.access.invitation import is_invitation
from deniable.errors import CollectorError, SurveyError, describe
from deniable.survey.document import is_address

_PATH = re.compile(r"(.*)/(?:s|embed|api/v1/surveys)/([a-z2-7]{26})/?")
_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[a-zA-Z0-9/:.@!$&'()*+,;=~%\[\]#?_-]*")
_LABEL = re.compile(r"[a-z0-9_-]+")
_NUMBER = re.compile(r"0x[0-9a-f]*")


@dataclass(frozen=True)
class Link:
    """A link to a survey: its collector and address, and the cohort and invitation of the person who follows it.

    Attributes
    ----------
    collector : str
        Such as ``"https://collector.example"``.
    survey : str
        The survey's address.
    cohort : str or None
    invitation : str or None
        32 hexadecimal digits. They are a secret, so they never show in a ``repr``.
    place : str or None
        The origin of the place at which the survey is answered, such as ``"https://place.example"``.
    """

    collector: str
    survey: str
    cohort: str | None = None
    invitation: str | None = field(default=None, repr=False)
    place: str | None = field(default=None, repr=False)


def parse_link(link: str) -> Link:
    """Read a link to a survey.

    A link to a place, ``https://place.example/#https://collector.example/s/<id>``, holds the survey's own link.

    Cohort and invitation stand in the fragment, which browsers send to nobody, and not in the query, which servers log.
    Everything else in the fragment or the query is ignored.

    Raises
    ------
    SurveyError
        If the text is not such a link.

    Examples
    --------
    >>> parse_link("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web")
    Link(collector='https://collector.example', survey='bpn4zq5y7xlxpqd63hsrm4s5ky', cohort='web')
    >>> parse_link("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky?cohort=web").cohort is None
    True
    """
    if not isinstance(link, str):
        raise SurveyError(f"survey: must be 26 letters and digits or a link, got {describe(link)}")
    at, _, own = link.partition("/#")
    # A link by a place: its own address, and behind the # that of the survey, which browsers send to no server.
    if own.startswith(("https://", "http://")):
        return replace(parse_link(own), place=_place(at))
    try:
        parts = urlsplit(link)
        # Pages, frames and API addresses of a survey are all accepted: people paste any of them.
        found = _PATH.fullmatch(parts.path)
        if found and is_address(found[2]):
            fragment = dict(reversed(parse_qsl(parts.fragment, keep_blank_values=True)))  # the first of equals counts
            collector = collector_url(f"{parts.scheme}://{parts.netloc}{found[1]}")
            invitation = fragment.get("invitation", "")
            return Link(collector, found[2], fragment.get("cohort"), invitation if is_invitation(invitation) else None)
    except (ValueError, CollectorError):
        pass  # not the address of a machine; refused below with everything else that is not a link
    before, *_ = link.split("#", 1)  # an invitation may stand behind it
    raise SurveyError(f"survey: must be 26 letters and digits or a link that ends in /s/ and them, got {before!r}")


def way_by(place: str, collector: str) -> str:
    """The address by which a place passes on what is asked of a collector.

    >>> way_by("https://place.example", "https://collector.example/surveys")
    'https://place.example/via/collector.example/surveys'
    """
    return f"{place}/via/{collector.partition('://')[2]}"


def _place(url: str) -> str:
    try:
        place = collector_url(url)
    except CollectorError:
        place = ""
    if not place or place != origin_of(place):
        raise SurveyError(f"place: must be like https://place.example, got {url!r}")
    return place


def collector_url(url: str) -> str:
    """The URL of a collector in canonical form, as browsers serialise it.

    Raises
    ------
    CollectorError
        If it is no URL of the web, or one that browsers might read otherwise.

    Examples
    --------
    >>> collector_url("HTTPS://Collector.Example:443/"), collector_url("http://127.1:8000/surveys")
    ('https://collector.example', 'http://127.0.0.1:8000/surveys')
    """
    try:
        if not isinstance(url, str) or not _PLAIN.fullmatch(url):
            raise ValueError("no text that every reader of URLs takes for the same")
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, _canonical_host(parts.hostname or ""), parts.port
        default = _PORTS[scheme]
    except (KeyError, ValueError):
        raise CollectorError(
            f"collector: must be a URL that starts with http:// or https:// and an ASCII host, got {url!r}"
        ) from None
    place = host if port in (None, default) else f"{host}:{port}"
    return f"{scheme}://{place}{_without_dots(parts.path).rstrip('/')}"


def origin_of(collector: str) -> str:
    """The origin of a collector, under which it stands in the ledger: scheme, host and port.

    >>> origin_of("https://collector.example/one"), origin_of("http://[0:0::1]:8000/")
    ('https://collector.example', 'http://[::1]:8000')
    """
    scheme, place = collector_url(collector).split("/")[0:3:2]
    return f"{scheme}//{place}"


def _canonical_host(host: str) -> str:
    """A host as the URL standard serialises it, or a ValueError.

    It refuses a final dot, which makes another origin of the same host, and letters beyond ASCII, which two versions
    of Unicode may write differently: a publisher can write such a host as punycode, the same in both.
    """
    if ":" in host and "%" not in host:
        return short_ipv6(host)
    labels = host.split(".")
    if not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("no host")
    if not _NUMBER.fullmatch(labels[-1]) and not labels[-1].isdecimal():
        return host
    # An IPv4 address in any of its old forms: 127.1, 0x7f.0.0.1, 2130706433.
    *first, last = [int(each, _base(each)) if each != "0x" else 0 for each in labels]
    # WHATWG URL, IPv4 parser: the last number fills all bytes that are left.
    if len(first) > 3 or any(each > 255 for each in first) or last >= 256 ** (4 - len(first)):
        raise ValueError("no IPv4 address")
    return str(ipaddress.IPv4Address(sum(each << 8 * (3 - n) for n, each in enumerate(first)) + last))


def _without_dots(path: str) -> str:
    """A path without the segments ``.`` and ``..``, which no browser sends."""
    kept: list[str] = []
    for segment in path.split("/"):
        # In such segments %2e counts as a dot (WHATWG URL, single-dot and double-dot segments).
        step = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if step == "..":
            del kept[max(len(kept) - 1, 1) :]  # the empty one before the first slash stays
        elif step != ".":
            kept.append(segment)
    return "/".join(kept)


def _base(number: str) -> int:
    if number.startswith("0x"):
        return 16
    # A leading zero means octal, as in inet_aton.
    return 8 if number.startswith("0") else 10
