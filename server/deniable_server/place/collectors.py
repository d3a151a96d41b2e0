"""What a place asks of collectors and issuers. Nothing that it sends names or describes who asked."""

from __future__ import annotations

import re
from typing import NamedTuple

from deniable import Survey, parse_survey
from deniable.access.hosts import HIGHEST_PORT, is_host, is_loopback
from deniable.errors import CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed
from deniable.survey.document import MAX_BYTES
from deniable_server.edge.limits import Slots
from deniable_server.place.addresses import addresses_of
from deniable_server.place.addresses import is_public as is_public_address
from deniable_server.place.calls import Answer, call
from deniable_server.place.room import domain_of
from deniable_server.store import NotFound
from deniable_transport.oblivious.encapsulation import REQUEST, RESPONSE
from deniable_transport.responses import object_in

_WHERE = re.compile(r"([a-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::([1-9][0-9]{0,4}))?((?:/[A-Za-z0-9_~-]{1,64}){0,4})")

_calls = Slots(total=96, most=64)
"""Slots for calls for which somebody waits, each of which holds a thread: together half of those that there are.

Whoever serves surveys that never come must not hold up a place for everybody.
"""

_calls_of_strangers = Slots(total=32, most=16)
"""Slots for calls to collectors that nobody allowed, by their domain: many names take nothing from others."""

PROBLEM = "application/problem+json"

MORE = 4096
"""By how many bytes an encapsulated answer with a survey may be longer than the survey."""


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
    """The collector says that it takes no reports of the survey any more."""


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
    """Whether a collector has a name of the web; where the name leads is seen when it is called.

    >>> [is_public(each) for each in ("https://a.example", "https://10.0.0.1", "http://localhost", "https://a:8443")]
    [True, False, False, False]
    """
    return re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*(/[^:]*)?", collector) is not None


def is_own(url: str) -> bool:
    """Whether an address is that of the machine itself.

    >>> [is_own(each) for each in ("http://127.0.0.1:8000", "https://[::1]", "https://issuer.example")]
    [True, True, False]
    """
    return is_loopback(host_of(url))


def is_inside(collector: str) -> bool:
    """Whether a collector is on this machine, or on a network of its own."""
    try:
        return not all(map(is_public_address, addresses_of(host_of(collector), 443)))
    except OSError:  # what has no address leads nowhere
        return False


def host_of(url: str) -> str:
    """The host of an address, without a port.

    >>> host_of("http://[::1]:8000"), host_of("https://collector.example/surveys")
    ('[::1]', 'collector.example')
    """
    found = re.match(r"https?://(\[[^/]*\]|[^:/]*)", url)
    assert found, "addresses are checked when they are allowed, or published"
    return found[1]


def fetch_survey(collector: str, survey_id: str, *, is_allowed: bool = False) -> Survey:
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
    url = f"{collector}/api/v1/surveys/{survey_id}"
    answer = _ask("GET", url, None, {}, collector=collector, is_allowed=is_allowed)
    if answer.status == 404:
        raise NotFound(f"survey {survey_id}: is not at {collector}")
    if answer.status != 200 or len(answer.data) > MAX_BYTES:
        raise CollectorError(f"{collector}: answered with status {answer.status}")
    return parse_survey(answer.data, survey_id)


def state_of(collector: str, survey_id: str, *, is_allowed: bool = False) -> str | None:
    """The state that a collector tells; None where it cannot be reached."""
    try:
        url = f"{collector}/api/v1/surveys/{survey_id}/state"
        answer = _ask("GET", url, None, {}, collector=collector, is_allowed=is_allowed)
    except CollectorError:
        return None
    state = object_in(answer.data).get("state") if answer.status == 200 else None
    return state if state in ("open", "early", "closed") else None


def sign(survey: Survey, collector: str, body: bytes, *, is_allowed: bool = False) -> str:
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
    # The survey, and so its collector, says who the issuer is. It must lead this place to nobody on its own machine or
    # network, unless the operator has named a collector that is there itself.
    if is_own(signer) and not is_own(collector):
        raise ReportError(f"issuer: must not be on the machine of the place, got {signer}")
    url, headers = f"{signer}/api/v1/surveys/{survey.id}/tokens", {"Content-Type": "application/json"}
    inside = is_allowed and is_inside(collector)
    answer = _ask("POST", url, body, headers, collector=collector, is_allowed=is_allowed, may_be_inside=inside)
    content = object_in(answer.data)
    if answer.status in _REFUSALS and "detail" in content:
        raise _REFUSALS[answer.status](str(content["detail"])[:500])
    signature = content.get("signature")
    if answer.status != 200 or not isinstance(signature, str) or not re.fullmatch(r"[0-9a-f]{1,512}", signature):
        raise CollectorError(f"{signer}: answered with status {answer.status}, without a signature")
    return signature


def pass_in(
    survey: Survey, collector: str, token: str | None, body: bytes, *, is_allowed: bool = False
) -> RelayedAnswer:
    """Pass an encapsulated request on to the gateway of a survey, and return what it answers, which is not read here.

    Raises
    ------
    CollectorError
        If it cannot be reached, or answers something else.
    """
    # The token lets requests of many people pass from this one address; nothing else says anything of who asks.
    headers = {"Content-Type": REQUEST} | ({"Authorization": f"Bearer {token}"} if token else {})
    url = f"{collector}/api/v1/surveys/{survey.id}/gateway"
    answer = _ask("POST", url, body, headers, collector=collector, is_allowed=is_allowed, most=MAX_BYTES + MORE)
    if answer.status == 200 and answer.kind == RESPONSE:
        return RelayedAnswer(200, RESPONSE, answer.data)
    if 400 <= answer.status < 500 and answer.kind == PROBLEM and "detail" in object_in(answer.data):
        return RelayedAnswer(answer.status, PROBLEM, answer.data)
    raise CollectorError(f"{collector}: its gateway answered with status {answer.status}")


def deliver(
    survey: Survey, collector: str, token: str | None, messages: tuple[bytes, ...], *, is_allowed: bool = False
) -> BatchOutcome:
    """Pass a batch on; what the outcome counts as stored or known is on the collector's disk.

    Raises
    ------
    BatchRefused
        If the collector says that the survey is closed.
    CollectorError
        If the batch has to be sent again.
    """
    headers = {"Content-Type": "application/octet-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    url = f"{collector}/api/v1/surveys/{survey.id}/sealed"
    answer = call("POST", url, b"".join(messages), headers, timeout=60.0, may_be_inside=is_allowed)
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


def _ask(
    method: str,
    url: str,
    body: bytes | None,
    headers: dict[str, str],
    *,
    collector: str,
    is_allowed: bool,
    most: int = MAX_BYTES,
    may_be_inside: bool | None = None,
) -> Answer:
    """Call a collector, or an issuer to which one leads, for somebody who waits.

    Parameters
    ----------
    collector : str
    is_allowed : bool
        Whether the operator of the place named the collector, which may then be on a network of its own.
    may_be_inside : bool or None
        Whether the URL may lead there; None where it is the collector's own.
    """
    key = (collector.split("/")[2] if is_allowed else domain_of(collector)).encode()
    places = _calls if is_allowed else _calls_of_strangers
    if not places.take(key):
        raise CollectorError(f"{url.split('/api/')[0]}: is asked by too many others now")
    try:
        inside = is_allowed if may_be_inside is None else may_be_inside
        return call(method, url, body, headers, most=most, may_be_inside=inside)
    finally:
        places.give_back(key)
