"""Links to surveys, and personal links of invited people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from deniable.access.hosts import is_loopback
from deniable.access.invitation import is_invitation
from deniable.errors import SurveyError
from deniable.survey.document import is_address

_LINK = re.compile(
    # The pages of results and releases too: publishing prints their links.
    r"(https?://[^\s?#@]+?)/+s/([a-z2-7]{26})(?:/|/(?:results|releases)(?:/[^\s?#]*)?)?(?:[?#]\S*)?",
    re.IGNORECASE,
)

_WEB = re.compile(r"https?://", re.IGNORECASE)

_START = re.compile(r"https?://(?!-)[a-z0-9.\[\]:-]+(/[\x21-\x7e]*)?", re.IGNORECASE)


PLACEHOLDER = "collector.example"
"""The host in ``deploy/environment``, which every operator has to replace."""


class SurveyReference(NamedTuple):
    """A survey by address, perhaps with the collector at which people answer it.

    Attributes
    ----------
    collector : str or None
        The collector's URL, like ``"https://collector.example"``; None if the id alone was given.
    survey : str
        Its address.
    """

    collector: str | None
    survey: str


def cautions_about_start(start: str) -> list[str]:
    """Warnings about the address with which the links of a collector start; none if it is empty.

    A name that only a Tor hidden service has needs no TLS.

    >>> cautions_about_start("https://survey.uni.example"), cautions_about_start("http://127.0.0.1:8000")
    ([], [])
    >>> len(cautions_about_start("http://collector.example/path"))
    3
    """
    try:
        url = urlsplit(start)
    except ValueError:  # an unfinished IPv6 address, which is no start of links either
        return []
    host = url.hostname or ""
    said = []
    if url.scheme.lower() == "http" and not (
        is_loopback(f"[{host}]" if ":" in host else host) or host.endswith(".onion")
    ):
        said.append(
            f"links start with {start}, without TLS, so everybody on the way can read and change what is sent; "
            "put a proxy with TLS in front, and use https://"
        )
    if url.path.strip("/"):
        said.append(
            f"links start with {start}, and below the path {url.path} pages find neither their script nor their style, "
            "which they load from /client and /static; give the collector a name of its own"
        )
    if host == PLACEHOLDER:
        said.append(f"links start with {start}, the name in our examples; put your own into DENIABLE_PUBLIC_URL")
    return said


def read_place(text: str) -> SurveyReference:
    """A survey by its id or its link.

    Raises
    ------
    SurveyError
        If the text is neither. The fragment is not repeated: an invitation may stand there.

    Examples
    --------
    >>> read_place("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web").collector
    'https://collector.example'
    >>> read_place("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky/results").survey
    'bpn4zq5y7xlxpqd63hsrm4s5ky'
    >>> read_place("bpn4zq5y7xlxpqd63hsrm4s5ky").collector is None
    True
    """
    if is_address(text):
        return SurveyReference(None, text)
    found = _LINK.fullmatch(text)
    if found and is_address(found[2]):
        return SurveyReference(found[1], found[2])
    # The fragment may hold an invitation, which must not get into logs.
    before = text.partition("#")[0]
    raise SurveyError(f"survey: must be 26 letters and digits or a link that ends in /s/ and them, got {before!r:.80}")


def id_at(text: str, url: str | None) -> str:
    """The id of a survey that a command names by id or by link, to the collector of ``--url`` if that is given.

    Raises
    ------
    SurveyError
        If the text is a link to no survey, or to one of another collector than that.

    Examples
    --------
    >>> id_at("https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web", None)
    'bpn4zq5y7xlxpqd63hsrm4s5ky'
    """
    # Everything else is taken for an id, which the store knows or refuses.
    if not text.lower().startswith(("http://", "https://")):
        return text
    collector, survey_id = read_place(text)
    if url and collector and collector.lower() != url.rstrip("/").lower():
        raise SurveyError(
            f"survey: must be at the collector of --url {url}, got a link to {collector}; give the --url of the link, "
            f"or the id {survey_id} alone"
        )
    return survey_id


def is_start(text: str) -> bool:
    """Whether this can be the start of links on every device: the address of a collector, and not of a survey.

    >>> [is_start(f"https://{each}") for each in ("c.example/ask", "[::1]:8443", "c example", "me@c.example")]
    [True, True, False, False]
    """
    return bool(_START.fullmatch(text)) and not _LINK.fullmatch(text) and not {*"?#@"} & {*text}


def is_page(text: str) -> bool:
    """Whether this is the address of a page that can embed a survey: without a fragment, which the survey needs.

    >>> [is_page(f"https://{each}") for each in ("uni.example/a?b=1", "uni.example/a#b", "a b.example")]
    [True, False, False]
    """
    return bool(_START.fullmatch(text)) and not _LINK.fullmatch(text) and not {*"#@"} & {*text}


def survey_link(collector: str, survey_id: str, cohort: str | None = None) -> str:
    """The link that everybody uses, or everybody in a cohort.

    >>> survey_link("https://c.example/", "bpn4zq5y7xlxpqd63hsrm4s5ky", "on paper")
    'https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=on%20paper'
    """
    label = "" if cohort is None else f"#cohort={quote(cohort, safe='')}"
    return f"{collector.rstrip('/')}/s/{survey_id}{label}"


def people_link(link: str, places: Sequence[str]) -> str:
    """The link that people follow: that of the survey, at the first of its places if it names some.

    >>> people_link("https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky", ["https://place.example"])
    'https://place.example/#https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky'
    """
    return f"{places[0]}/#{link}" if places else link


def page_link(link: str, page: str, survey_id: str) -> str:
    """A link of the survey as one to a page that embeds it; the page hands on what stands behind the #.

    >>> survey = "bpn4zq5y7xlxpqd63hsrm4s5ky"
    >>> page_link(f"https://c.example/s/{survey}#cohort=a", "https://uni.example/", survey)
    'https://uni.example/#survey=bpn4zq5y7xlxpqd63hsrm4s5ky&cohort=a'
    """
    return f"{page}#survey={survey_id}&{link.partition('#')[2]}"


def own_link(link: str) -> str:
    """The survey's own link in a link that people follow.

    >>> own_link("https://place.example/#https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=a")
    'https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=a'
    """
    found = re.fullmatch(r"https?://[^/?#]+/#(https?://.*)", link.strip())
    return found[1] if found else link.strip()


def personal_link(collector: str, survey_id: str, invitation: str, cohort: str | None = None) -> str:
    """The personal link of one person. Browsers send the part behind the # to nobody.

    >>> personal_link("https://c.example/", "bpn4zq5y7xlxpqd63hsrm4s5ky", "00" * 16, "on paper")[-62:]
    '#cohort=on%20paper&invitation=00000000000000000000000000000000'
    """
    link = survey_link(collector, survey_id, cohort)
    return f"{link}{'#' if cohort is None else '&'}invitation={invitation}"


def invitation_in(link: str, survey_id: str) -> str | None:
    """The invitation in a personal link to that survey, or to a page that embeds it; None if it is no such link."""
    link = own_link(link)
    # The fragment has the form of a query, as browsers of respondents read it.
    said = parse_qs(urlsplit(link).fragment) if _WEB.match(link) else {}
    found = _LINK.fullmatch(link)
    if survey_id not in (found and found[2], said.get("survey", [""])[0]):
        return None
    invitation = said.get("invitation", [""])[0]
    return invitation if is_invitation(invitation) else None
