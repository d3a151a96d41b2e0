"""What a place answers: its page, and under ``/via/`` what it passes on to the collectors that it serves."""

from __future__ import annotations

import datetime
import logging
import re
from collections.abc import Callable, Container
from http import HTTPStatus
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, jsonify, request
from werkzeug.exceptions import NotFound as NoPage

from deniable import Survey, is_address
from deniable.errors import CollectorError, ReportError, SurveyClosed
from deniable_server.edge.limits import get_limits
from deniable_server.edge.problems import problem
from deniable_server.language import language_of
from deniable_server.logs import log
from deniable_server.place import collectors, pages
from deniable_server.place.heard import CollectorSurvey, HeardSurveys
from deniable_server.place.room import check_room
from deniable_server.store import NotFound, StoreFull
from deniable_server.store.sqlite.letterbox import Letterbox, slot_of
from deniable_server.web.api import read_body
from deniable_transport.oblivious.encapsulation import KEYS, REQUEST, encode_keys
from deniable_transport.oblivious.pinned import configuration_of

MAX_REQUEST = 4 * 1024
"""Largest body with an invitation and a blinded message, in bytes."""

MAX_ENCAPSULATED = 32 * 1024
"""Largest encapsulated request, in bytes, as gateways take it."""

UNKNOWN = 60
"""Number of requests as which one counts for a survey that there is not: by default an address has 100 a minute."""

KINDS = {"css": "text/css", "js": "text/javascript", "json": "application/json"}

_LENGTH = re.compile(r"[0-9]{1,6}")

site = APIBlueprint("place", __name__, enable_openapi=False)
via = APIBlueprint("via", __name__, url_prefix="/via/<path:where>/api/v1/surveys/<survey_id>", enable_openapi=False)


class ServedPlace:
    """The surveys that a place serves.

    Parameters
    ----------
    box : Letterbox
    origin : str or None
        The origin under which people reach this place; None where any survey may be answered here.
    serves_any : bool
        Whether surveys of collectors that nobody allowed are served, too.
    today : callable
        The day by which surveys open and close.
    """

    def __init__(
        self, box: Letterbox, origin: str | None, serves_any: bool, today: Callable[[], datetime.date]
    ) -> None:
        self._box = box
        self._origin = origin
        self._serves_any = serves_any
        self._today = today
        self._heard = HeardSurveys()
        self._cleared: dict[str, datetime.date] = {}

    def survey(self, where: str, survey_id: str) -> tuple[Survey, str]:
        """A survey of a collector that this place serves, and the collector.

        Raises
        ------
        NotFound
            If the collector is not served, has no such survey, or the survey is not one for this place.
        CollectorError
            If the collector cannot be reached, and this place has not seen the survey yet.
        """
        collector = collectors.collector_at(where)
        is_allowed = self.is_allowed(collector)
        # Before anything is fetched: strangers must not choose whom this place calls.
        if not is_allowed and not (self._serves_any and collectors.is_public(collector)):
            raise NotFound("collector: must be the host of one that this place serves")
        if not is_address(survey_id):
            raise NotFound("survey: there is none at this address")
        survey = self._heard.survey(CollectorSurvey(collector, survey_id), is_allowed)
        # This place could read its reports, beside the addresses that they come from.
        if survey.sealed is None:
            raise NotFound(f"survey {survey_id}: is not sealed, so no place may pass its reports on")
        # Respondents were told which place sees their addresses.
        if survey.places and self._origin and self._origin not in survey.places:
            raise NotFound(f"survey {survey_id}: is answered at {survey.places[0]}")
        return survey, collector

    def is_allowed(self, collector: str) -> bool:
        """Whether the operator named a collector."""
        return collector in self._box.collectors()

    def state(self, survey: Survey, collector: str) -> str:
        """Whether a survey takes reports: by its days, and by what its collector said within a minute.

        Where the collector does not answer, people are asked all the same: the place keeps what they send.
        """
        if survey.not_open_because(self._today()):
            return "early" if survey.opens and self._today() < survey.opens else "closed"
        return self._heard.state(CollectorSurvey(collector, survey.id), self.is_allowed(collector)) or "open"

    def today(self) -> datetime.date:
        """The day, by the clock of this place."""
        return self._today()

    def pass_in(self, survey: Survey, collector: str, body: bytes) -> collectors.RelayedAnswer:
        """Pass an encapsulated request on to the gateway of a survey."""
        allowed = self._box.collectors()
        return collectors.pass_in(survey, collector, allowed.get(collector), body, is_allowed=collector in allowed)

    def keep(self, survey: Survey, collector: str, message: bytes) -> bool:
        """Keep a sealed report until it leaves; return whether this very one is here already.

        Raises
        ------
        SurveyClosed
            If the survey takes none now.
        ReportError
            If it is no sealed report of the survey, as far as that can be seen without opening it.
        StoreFull
            If the disk is full, or the collector has no room left.
        """
        assert survey.sealed is not None, "others are not served"
        if reason := survey.not_open_because(self._today()):
            raise SurveyClosed(f"survey {survey.id}: takes no reports: {reason}")
        # All messages of a survey have one length, so that none tells what it bears.
        if len(message) != survey.sealed.length or message[0] >= len(survey.sealed.keys):
            raise ReportError(f"sealed report: must be {survey.sealed.length} bytes, sealed to a key of the survey")
        if survey.sealed.destroyed_on(message[0]) <= self._today():
            raise SurveyClosed(f"survey {survey.id}: the key of that week was destroyed; seal to the key of this week")
        slot, allowed = slot_of(survey.id, collector), self._box.collectors()
        try:
            check_room(self._box.kept(), slot, allowed, len(message))
        except StoreFull:
            self._make_room(collector, allowed)
            check_room(self._box.kept(), slot, allowed, len(message))
        return self._box.put(slot, message, survey)

    def _make_room(self, collector: str, allowed: Container[str]) -> None:
        """Remove slots that are empty, which are made again when needed, and those that nobody can open any more.

        The latter only of those who share the room: by a clock that is wrong it would be somebody else's loss.
        """
        for slot, size in self._box.kept().items():
            if not size:
                self._box.remove(slot)
        party = collector if collector in allowed else ""
        # Whoever fills their room could have it looked for all the time.
        if self._cleared.get(party) == (today := self._today()):
            return
        self._cleared[party] = today
        for slot, survey, whose, _ in self._box.slots():
            assert survey.sealed is not None, "others are not served"
            if (whose if whose in allowed else "") != party:
                continue
            if survey.sealed.destroyed_on(len(survey.sealed.keys) - 1) <= today:
                log("what no key opens any more was removed", logging.WARNING, survey=survey.id)
                self._box.discard(slot)


def init_app(app: APIFlask, place: ServedPlace) -> None:
    """Serve the page of a place and what it passes on."""
    app.extensions["deniable-place"] = place
    app.extensions["deniable-place-files"] = pages.files()
    app.register_blueprint(site)
    app.register_blueprint(via)


@site.get("/<path:name>")
def file(name: str) -> Response:
    """A file that belongs to the page."""
    files: dict[str, bytes] = current_app.extensions["deniable-place-files"]
    if name not in files:
        raise NoPage
    response = Response(files[name], mimetype=KINDS[name.rpartition(".")[2]])
    response.add_etag()
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Access-Control-Allow-Origin"] = "*"
    conditional: Response = response.make_conditional(request)  # type: ignore[assignment]
    return conditional


@site.get("/")
def home() -> Response:
    """The page on which people answer; which survey stands behind the #, which no browser sends."""
    response = Response(pages.page(language_of(request.accept_languages)), mimetype="text/html")
    response.headers["Content-Security-Policy"] = pages.POLICY
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept-Language")
    return response


@site.get("/livez")
def livez() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "ok"}


@via.errorhandler(CollectorError)
def unreachable(error: CollectorError) -> Response:
    """A collector that does not answer now."""
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), {"Retry-After": "5"})


@via.errorhandler(StoreFull)
def full(error: StoreFull) -> Response:
    """A disk that is full, or a collector without room: devices keep the reply and send it again."""
    return problem(HTTPStatus.INSUFFICIENT_STORAGE, str(error), {"Retry-After": "60"})


@via.get("")
def document(where: str, survey_id: str) -> Response:
    """The published bytes of a survey, whose hash the device compares with its address."""
    survey, _ = _survey(where, survey_id)
    response = Response(survey.document, mimetype="application/json")
    # The address is the hash of the document, which therefore never changes.
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


@via.get("/state")
def state(where: str, survey_id: str) -> Response:
    """Whether a survey takes reports."""
    return _fresh({"state": _place().state(*_survey(where, survey_id))})


@via.post("/sealed")
def take(where: str, survey_id: str) -> tuple[Response, int]:
    """Keep one sealed report; it is on the disk when this is answered."""
    survey, collector = _survey(where, survey_id)
    assert survey.sealed is not None, "others are not served"
    message = read_body(survey.sealed.length, "application/octet-stream")
    is_known = _place().keep(survey, collector, message)
    return _fresh({"status": "known" if is_known else "stored"}), 200 if is_known else 201


@via.get("/gateway")
def gateway_keys(where: str, survey_id: str) -> Response:
    """The key configuration of this week, from the survey itself: everybody gets the same."""
    survey, _ = _survey(where, survey_id)
    response = Response(encode_keys([configuration_of(survey, _place().today())]), mimetype=KEYS)
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@via.post("/gateway")
def relay(where: str, survey_id: str) -> Response:
    """Pass an encapsulated request on (RFC 9458): this place cannot read it, and the gateway sees this place alone."""
    survey, collector = _survey(where, survey_id)
    answer = _place().pass_in(survey, collector, read_body(MAX_ENCAPSULATED, REQUEST))
    response = Response(answer.body, answer.status, mimetype=answer.kind)
    response.headers["Cache-Control"] = "no-store"
    return response


@via.post("/tokens")
def sign(where: str, survey_id: str) -> Response:
    """Have a token signed by an issuer with an address of its own, who sees this place alone."""
    survey, collector = _survey(where, survey_id)
    if survey.issuer is None:
        raise ReportError(f"survey {survey_id}: has no blind tokens, its access is {survey.access!r}")
    if survey.issuer.url is None:  # its collector signs, and has a gateway: nobody on the way need see the invitation
        raise ReportError(f"survey {survey_id}: its tokens are asked for by its gateway")
    body = read_body(MAX_REQUEST, "application/json")
    signature = collectors.sign(survey, collector, body, is_allowed=_place().is_allowed(collector))
    return _fresh({"signature": signature})


def _survey(where: str, survey_id: str) -> tuple[Survey, str]:
    try:
        return _place().survey(where, survey_id)
    except NotFound:
        # Its collector was asked, which counts all requests of this place together.
        get_limits().charge(request.environ, UNKNOWN - 1)
        raise


def _place() -> ServedPlace:
    place: ServedPlace = current_app.extensions["deniable-place"]
    return place


def _fresh(content: dict[str, Any]) -> Response:
    response = jsonify(content)
    response.headers["Cache-Control"] = "no-store"
    return response
