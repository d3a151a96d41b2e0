"""The gateway of Oblivious HTTP (RFC 9458): requests about one survey that a relay passes on and cannot read.

Its keys are those that the survey publishes. What is in a request is answered as if it had come by itself, but nothing
says from where; the relay is who asks.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, g, request
from werkzeug.test import EnvironBuilder, run_wsgi_app

from deniable import ReportError, Survey
from deniable.errors import MessageError
from deniable_server.sealing import SealingKeys
from deniable_server.web.api import (
    BASE,
    OF_BODIES,
    TOO_MANY,
    UNAVAILABLE,
    allow_other_origins,
    get_store,
    read_body,
)
from deniable_transport.oblivious.binary_http import BinaryRequest, BinaryResponse, parse_request
from deniable_transport.oblivious.encapsulation import (
    KEYS,
    PADDED,
    REQUEST,
    RESPONSE,
    decapsulate,
    encapsulate_response,
    encode_keys,
)
from deniable_transport.oblivious.pinned import configuration_of

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

TARGETS = {("GET", ""), ("GET", "/state"), ("POST", "/invitations/state"), ("POST", "/tokens"), ("POST", "/sealed")}
"""What can be asked by a gateway: method, and what stands behind the address of its survey."""

ASKED = {"accept", "authorization", "content-type"}
ANSWERED = {"content-type", "retry-after"}
"""Fields of requests and responses that are passed on."""

UNKNOWN_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key"
"""The type of the problem by which a client learns that it needs other keys (RFC 9458, section 5.3)."""

MAX_REQUEST = 32 * 1024
"""Largest request, in bytes: room for a sealed report of the largest size."""

gateway = APIBlueprint("gateway", __name__, url_prefix=BASE, tag="API")
gateway.after_request(allow_other_origins)


def init_app(app: APIFlask) -> None:
    """Serve the gateway of each sealed survey."""
    app.register_blueprint(gateway)


@gateway.get("/surveys/<survey_id>/gateway")
@gateway.doc(responses={200: KEYS, 404: "no such survey", 422: "its reports are not sealed", 429: TOO_MANY})
def gateway_keys(survey_id: str) -> Response:
    """Get this week's key configuration for Oblivious HTTP.

    It contains the key that the survey publishes for this week, so clients that have the survey need not ask.
    """
    survey = _sealed(survey_id)
    content = encode_keys([configuration_of(survey, get_store().believed_day())])
    response = Response(content, mimetype=KEYS)
    # An hour: a key is for a week, and the survey itself says which keys are right.
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@gateway.post("/surveys/<survey_id>/gateway")
@gateway.doc(
    responses={
        200: f"{RESPONSE}: the response to the inner request, whatever its status",
        400: "not an encapsulated request sealed to a key of this survey",
        404: "no such survey",
        410: "sealed to a key that was destroyed",
        **OF_BODIES,
        415: f"not {REQUEST}",
        422: "its reports are not sealed",
        429: TOO_MANY,
        503: UNAVAILABLE,
    }
)
def answer_encapsulated(survey_id: str) -> Response:
    """Send a request through a relay that cannot read it.

    Takes an encapsulated request (RFC 9458) that contains a binary one (RFC 9292). The inner request asks for the
    survey, its state, the state of an invitation or a token, or sends a sealed report to a survey that names no places.
    """
    survey = _sealed(survey_id)
    g.survey = survey.id
    body = read_body(MAX_REQUEST, REQUEST)
    keys: SealingKeys = current_app.extensions["deniable-sealing"]
    # Identifiers of keys are numbers of weeks of this survey: no other key of the collector can be asked for.
    known = range(len(survey.sealed.keys)) if survey.sealed else ()
    try:
        inner, context = decapsulate(body, lambda each: keys.key_of(survey, each).private if each in known else None)
    except MessageError as error:
        return _unknown_key(str(error))
    answered = encapsulate_response(context, _answer_to(survey, inner).encode(PADDED))
    response = Response(answered, mimetype=RESPONSE)
    response.headers["Cache-Control"] = "no-store"
    return response


def _sealed(survey_id: str) -> Survey:
    survey = get_store().survey(survey_id)
    if survey.sealed is None:
        raise ReportError(f"survey {survey_id}: its reports are not sealed, and so it has no gateway")
    return survey


def _unknown_key(detail: str) -> Response:
    status = HTTPStatus.BAD_REQUEST
    # Outside of the encapsulation, because there is no key with which it could be sealed.
    content = {"type": UNKNOWN_KEY, "title": status.phrase, "status": int(status), "detail": detail}
    return Response(json.dumps(content), status, mimetype="application/problem+json")


def _answer_to(survey: Survey, message: bytes) -> BinaryResponse:
    """The answer to a binary request; what is wrong with it is said within the answer (RFC 9458, section 5.2)."""
    try:
        inner = parse_request(message)
    except MessageError as error:
        return _refusal(HTTPStatus.BAD_REQUEST, str(error))
    # Of this survey alone: otherwise a gateway would open the whole API to requests that hide who asks.
    _, found, rest = inner.path.partition(f"{BASE}/surveys/{survey.id}")
    if not found or (inner.method, rest) not in TARGETS:
        return _refusal(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    body, status, headers = run_wsgi_app(current_app.wsgi_app, _environ(survey, inner, rest), buffered=True)
    # Nothing else passes, so that no field tells the relay's client from others.
    fields = tuple((name.lower(), value) for name, value in headers if name.lower() in ANSWERED)
    return BinaryResponse(int(status.split()[0]), fields, b"".join(body))


def _environ(survey: Survey, inner: BinaryRequest, rest: str) -> WSGIEnvironment:
    """A request of its own, from the address of the relay: it counts against the limits as if it came directly."""
    headers = [(name, value) for name, value in inner.fields if name in ASKED]
    path = f"{BASE}/surveys/{survey.id}{rest}"
    environ = EnvironBuilder(path, method=inner.method, headers=headers, data=inner.content).get_environ()
    environ["REMOTE_ADDR"] = request.environ.get("REMOTE_ADDR", "")
    return environ


def _refusal(status: HTTPStatus, detail: str) -> BinaryResponse:
    content = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail}
    return BinaryResponse(int(status), (("content-type", "application/problem+json"),), json.dumps(content).encode())
