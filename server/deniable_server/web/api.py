"""The HTTP interface under ``/api/v1``."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, g, jsonify, request
from werkzeug.exceptions import Forbidden, RequestEntityTooLarge, UnsupportedMediaType

from deniable import NotInvited, Report, ReportConflict, ReportError, Survey, SurveyClosed, __version__, parse_report
from deniable.report.report import MAX_BYTES as MAX_REPORT
from deniable.survey.document import MAX_BYTES as MAX_SURVEY
from deniable.survey.published import parse_survey
from deniable_server.access.publishing import check_askable
from deniable_server.access.tokens import Token, is_owner, require_reader, require_token
from deniable_server.edge.delivery import counted, is_known, tagged
from deniable_server.edge.heads import OPEN_TO_ALL_ORIGINS
from deniable_server.edge.limits import REPORTS_A_REQUEST, get_limits
from deniable_server.edge.problems import status_of
from deniable_server.results import service
from deniable_server.results.query import EstimatesQuery
from deniable_server.results.releases import reports_header
from deniable_server.store import NotFound, Store, Verdict
from deniable_server.web import schemas
from deniable_server.web.metrics import get_metrics
from deniable_server.web.rehearsals import file_name, staged
from deniable_server.writing.writer import Writer
from deniable_statistics.published.csv_cells import csv_lines, report_cells

BASE = "/api/v1"
UNCHANGED = "nothing has changed since the version in If-None-Match"
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""Largest batch, in bytes."""

MAX_BATCH_LINES = 10_000
"""Largest batch, in lines."""

MAX_REFUSALS = 1000
"""Largest number of refused lines in an answer; a batch with more has one mistake in all of them."""

NDJSON = "application/x-ndjson"

PIECE_LINES = 250
"""Number of lines of a download that are made at a time, in some milliseconds."""

_one_piece_at_a_time = threading.Lock()

TOO_MANY = "too many requests: wait for as long as Retry-After says"

NOT_PUBLIC = "results of this survey need a token"
NOT_THIS_READER = "this token may not read the results of this survey"
OTHER_SCOPE = "a token of another scope"
NOT_A_RELAY = "no token of scope relay, although the survey names places"

UNAVAILABLE = "the database is not available: send the same request again"
OF_BODIES = {413: "body too large", 415: "not application/json"}

BUSY = "busy, or the database is not available: wait for as long as Retry-After says"

api = APIBlueprint("api", __name__, url_prefix=BASE, tag="API")


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Serve the API from a store."""
    app.extensions["deniable"] = {"store": store, "writer": writer}
    app.register_blueprint(api)


def get_store() -> Store:
    """The store of the application that serves this request."""
    store: Store = current_app.extensions["deniable"]["store"]
    return store


def require_owner(survey_id: str, doing: str) -> Store:
    """The store, if the token of the request owns the survey; otherwise refuse the request with 401 or 403."""
    token = require_token()
    store = get_store()
    g.survey = store.survey(survey_id).id
    if not token.owns(store.owner(survey_id)):
        raise Forbidden(f"survey: belongs to another token than {token.name!r}; {doing} needs scope 'operate'")
    return store


@api.after_request
def allow_other_origins(response: Response) -> Response:
    """Add the CORS headers to every answer of the API, errors too, and answer preflight requests."""
    response.headers.extend(OPEN_TO_ALL_ORIGINS)
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = "GET, POST"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        # A day, so that a device asks this question once for all requests of a survey.
        response.headers["Access-Control-Max-Age"] = "86400"
    return response


@api.get("/surveys")
@api.output(schemas.Surveys)
@api.doc(responses={401: "no valid token", 403: OTHER_SCOPE, 429: TOO_MANY, 503: UNAVAILABLE})
def list_surveys() -> dict[str, Any]:
    """List surveys.

    The surveys that this token published. Needs a token of scope `publish`, or of scope `operate` for every survey
    of this collector.
    """
    token = require_token()
    store = get_store()
    return {
        "surveys": [
            {
                "id": state.survey.id,
                "title": state.survey.title,
                "published_on": state.published_on,
                "opens": state.survey.opens and state.survey.opens.isoformat(),
                "closes": state.survey.closes and state.survey.closes.isoformat(),
                "closed_on": state.closed_on,
                "access": state.survey.access,
                "reports": state.reports,
                "waiting": service.waiting_rows(store, state.survey),
                "open": state.not_open_because(store.today()) is None,
                "state": state.standing(store.today()),
            }
            for state in store.states(None if token.scope == "operate" else token.name)
        ]
    }


@api.post("/surveys")
@api.input(schemas.PublishQuery, location="query", arg_name="query")
@api.output(schemas.Published, status_code=201)
@api.doc(
    responses={
        200: "published before",
        401: "no valid token",
        403: "a token of another scope, or it revises a survey of another token",
        **OF_BODIES,
        422: "not a survey, or a survey that every device refuses",
        429: TOO_MANY,
        503: UNAVAILABLE,
        507: "disk full",
    }
)
def publish_survey(query: schemas.PublishQuery) -> tuple[dict[str, str], int]:
    """Publish a survey.

    Stores the published bytes of a survey under their hash. Needs a token of scope `publish`, to which the survey
    then belongs. A survey that exceeds what devices allow (epsilon 4 for a question, 8 in total) is refused unless the
    query says `force=true`. A survey is always refused if it revises a survey of this collector that belongs to another
    token.
    """
    token = require_token()
    # The bytes as they came: only what publishing would write itself is published.
    survey = parse_survey(read_body(MAX_SURVEY, "application/json"))
    if not query.force:
        check_askable(survey, "publish it all the same with ?force=true")
    g.survey = survey.id
    store = get_store()
    _refuse_strangers_revision(store, survey, token)
    is_new = store.publish(survey, token.name)
    return {"id": survey.id, "path": f"/s/{survey.id}"}, 201 if is_new else 200


def _refuse_strangers_revision(store: Store, survey: Survey, token: Token) -> None:
    """Refuse, with 403, a survey that revises one of this collector that belongs to another token."""
    if survey.revises is None:
        return
    try:
        owner = store.owner(store.survey(survey.revises).id)
    except NotFound:
        return  # of another collector: the claim gains nothing there or here
    if not token.owns(owner):
        raise Forbidden(f"revises: survey {survey.revises} belongs to another token than {token.name!r}")


@api.get("/surveys/<survey_id>")
@api.doc(responses={200: "the published bytes", 404: "no such survey", 503: UNAVAILABLE})
def fetch_survey(survey_id: str) -> Response:
    """Fetch a survey.

    The published bytes, whose hash is the address.
    """
    survey = get_store().survey(survey_id)
    response = Response(survey.document, mimetype="application/json")
    # Immutable by construction: the address is the hash of these bytes.
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


@api.get("/surveys/<survey_id>/state")
@api.output(schemas.SurveyStanding)
@api.doc(responses={404: "no such survey", 503: UNAVAILABLE})
def survey_state(survey_id: str) -> Response:
    """Ask whether a survey takes reports.

    The response is the same for everybody. Clients ask before anybody answers, because a survey may have been closed
    before its last day.
    """
    store = get_store()
    return fresh_json({"state": store.state(survey_id).standing(store.today())})


@api.post("/surveys/<survey_id>/close")
@api.doc(
    responses={
        204: "closed",
        401: "no valid token",
        403: "belongs to another token, or a token of another scope",
        404: "no such survey",
        503: UNAVAILABLE,
    }
)
def close_survey(survey_id: str) -> Response:
    """Close a survey.

    From then on, the survey takes no more reports; this cannot be undone. Needs the token that published the survey, or
    one of scope `operate`.
    """
    require_owner(survey_id, "closing it").close_survey(survey_id)
    return Response(status=HTTPStatus.NO_CONTENT)


@api.post("/surveys/<survey_id>/reports")
@api.doc(
    responses={
        200: "already known, and counted once; or the results of a batch",
        201: "stored: on disk",
        404: "no such survey",
        403: "no invitation or token of this survey, although it requires one",
        409: "another report has this id, or has used the invitation",
        410: "closed, or not yet open",
        413: "body too large",
        415: "neither application/json nor application/x-ndjson",
        422: "does not fit the survey",
        429: TOO_MANY,
        503: "busy: send the same request again",
        507: "disk full: send the same request again later",
    },
)
def take_reports(survey_id: str) -> tuple[dict[str, Any], int]:
    """Send reports.

    One report as JSON, or many as NDJSON, one per line. A report counts once, however often it is sent. A request is
    accepted beyond the rate limit of its network if a header proves its right to send. The header is
    `Authorization: Invitation` with the SHA-256 of the invitation in hexadecimal, `PrivateToken` with the blind token
    (RFC 9577), or `Bearer` with an API token.
    """
    store = get_store()
    survey = store.survey(survey_id)
    refuse_unsealed(survey)
    if request.mimetype == NDJSON:
        limits = get_limits()
        # Held from the first byte on, because a batch and its reports take memory until it is answered.
        with limits.batching(request.environ):
            return take_batch(survey, read_body(MAX_BATCH_BYTES, NDJSON)), 200
    # The short way of `intake` comes here for everything that is not stored or known.
    report = parse_report(read_body(MAX_REPORT, "application/json", NDJSON), survey)
    (outcome,) = submit(survey, [report])
    if refusal := refusal_of(outcome, store, survey):
        raise refusal
    return {"status": outcome.value}, 201 if outcome is Verdict.STORED else 200


@api.get("/surveys/<survey_id>/estimates")
@api.get("/surveys/<survey_id>/estimates.json")
@api.input(EstimatesQuery, location="query", arg_name="query")
@api.output(schemas.Estimates)
@api.doc(
    responses={
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such survey",
        429: TOO_MANY,
        503: BUSY,
    }
)
def estimates_json(survey_id: str, query: EstimatesQuery) -> Response:
    """Estimates as JSON.

    Debiased shares with standard errors and confidence intervals, from the released reports. If the survey says
    `readers = "token"`, this and all other results need a token of scope `read` for it or for all surveys, the token
    that published the survey, or one of scope `operate`. With one of the last two, the response also says how many
    reports are waiting.
    """
    store = get_store()
    state = store.state(survey_id)
    survey = state.survey
    require_reader(survey)
    text = service.get_results().text(state, query, "json")
    if staged():
        text = json.dumps(json.loads(text) | {"rehearsal": True}, separators=(",", ":")).encode()
    if not is_owner(store, survey):
        return tagged(fresh(Response(text, mimetype="application/json")))
    document = json.loads(text) | {"more": None, "waiting": service.waiting_rows(store, survey) or None}
    response = Response(json.dumps(document, separators=(",", ":")), mimetype="application/json")
    response.headers["Cache-Control"] = "no-store"  # what nobody else may be told
    return counted(response)


@api.get("/surveys/<survey_id>/estimates.csv")
@api.input(EstimatesQuery, location="query", arg_name="query")
@api.doc(
    responses={
        200: "tidy rows",
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such survey",
        429: TOO_MANY,
        503: BUSY,
    }
)
def estimates_csv(survey_id: str, query: EstimatesQuery) -> Response:
    """Estimates as CSV.

    The same rows as the JSON. Differences between groups and crossed questions are files of the pages of results:
    `/s/SURVEY-ID/results/QUESTION.csv?compare=cohort` and `?with=OTHER-QUESTION`.
    """
    state = get_store().state(survey_id)
    require_reader(state.survey)
    text = service.get_results().text(state, query, "csv")
    return tagged(fresh(csv_response(text, f"estimates-{survey_id}.csv")))


@api.get("/surveys/<survey_id>/reports.csv")
@api.doc(
    responses={
        200: "rows in the order of their random ids",
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such survey",
        429: TOO_MANY,
        503: BUSY,
    }
)
def reports_csv(survey_id: str) -> Response:
    """Noisy reports as CSV.

    Every released noisy report, sorted by random id. Options are numbers counted from 0. Subsets and ticked boxes
    consist of a b and one character 0 or 1 for each option, in order, such as b0101; without the b, pandas and R would
    read numbers. Drawn boxes have two characters each: 01 if the box is reported as ticked, 10 if it is reported as not
    ticked, 00 if it was not drawn. The field of a question that a device did not ask is empty. The last column says
    what ensures that each report is one person: `not enforced`, `by invitation` or `by blind token`.
    """
    store = get_store()
    survey = store.survey(survey_id)
    require_reader(survey)
    release = store.release_of(survey_id)
    tag = tag_of(survey_id, release)
    if is_known(tag):
        unchanged = fresh(Response(status=HTTPStatus.NOT_MODIFIED))
        unchanged.set_etag(tag)
        return unchanged
    header = reports_header(survey)
    rows = ([report.id, report.cohort, *report_cells(survey, report)] for report in store.reports(survey))
    limits = get_limits()
    # Before a row is read: the cost of a download is its number of reports.
    limits.charge(request.environ, max(0, release) // REPORTS_A_REQUEST)
    place = limits.sending(request.environ)  # who reads slowly holds a thread all the while
    place.take()
    response = fresh(csv_response(pieces(csv_lines(itertools.chain([header], rows))), f"reports-{survey_id}.csv"))
    if request.authorization is None:
        response.set_etag(tag)
    response.call_on_close(place.give_back)
    return response


def tag_of(*parts: object) -> str:
    """The ETag of a file that is the same for the same parts, among which is its release, in this version."""
    return hashlib.sha256(json.dumps([__version__, *map(str, parts)]).encode()).hexdigest()[:32]


def fresh(response: Response) -> Response:
    """Results that are asked for again each time, and kept by nobody if they are for holders of a token alone."""
    response.headers["Cache-Control"] = "no-store" if request.authorization else "no-cache"
    return response


def fresh_json(content: dict[str, Any]) -> Response:
    """A JSON answer that must not be cached."""
    response = jsonify(content)
    response.headers["Cache-Control"] = "no-store"
    return response


def refuse_unsealed(survey: Survey) -> None:
    """Refuse a report that came as it is where the survey says that it is sealed."""
    if survey.sealed is not None:
        where = f"are taken at {survey.places[0]}" if survey.places else "must be sealed to the key of the week"
        raise ReportError(f"survey {survey.id}: its reports {where}; this collector takes none in clear")


def take_batch(survey: Survey, body: bytes) -> dict[str, Any]:
    """Store the valid lines of a batch in one transaction, and list the others."""
    store = get_store()
    # Bytes: splitlines would also split at characters that JSON strings may hold.
    lines = body.split(b"\n")
    if len(lines) > MAX_BATCH_LINES + 1:
        raise ReportError(f"batch: must be at most {MAX_BATCH_LINES} lines, got {len(lines)}")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    refused: list[dict[str, Any]] = []
    reports: list[tuple[int, Report]] = []
    for number, line in numbered:
        try:
            reports.append((number, parse_report(line, survey)))
        except ReportError as error:
            refused.append(refused_line(number, error))
    outcomes = submit(survey, [report for _, report in reports]) if reports else []
    stored = outcomes.count(Verdict.STORED)
    # The usual batch has nothing but new reports, of which nothing has to be said.
    if stored < len(outcomes):
        for (number, _), outcome in zip(reports, outcomes, strict=True):
            if refusal := refusal_of(outcome, store, survey):
                refused.append(refused_line(number, refusal))
        refused.sort(key=lambda refusal: refusal["line"])
    # A refused line takes no less time than a good one; senders with a right may send as many good ones as they have.
    costs = len(refused) if survey.access != "open" or is_owner(store, survey) else len(numbered)
    get_limits().charge(request.environ, costs - 1)
    return {
        "stored": stored,
        "known": outcomes.count(Verdict.KNOWN),
        "refused": refused[:MAX_REFUSALS],
    }


def refusal_of(outcome: Verdict, store: Store, survey: Survey) -> ReportError | None:
    """The error that an outcome stands for, or None when the report counts."""
    if outcome is Verdict.CONFLICT:
        return ReportConflict("id: another report was stored under this id; it was not changed")
    if outcome is Verdict.SPENT:
        return ReportConflict("credential: another report was stored for this invitation; it was not changed")
    if outcome is Verdict.UNINVITED:
        return NotInvited("credential: must be an invitation of this survey")
    if outcome is Verdict.CLOSED:
        return closed(store, survey, "takes no reports")
    return None


def closed(store: Store, survey: Survey, refused: str) -> SurveyClosed:
    """The error for what a survey does not do any more, or not yet."""
    reason = store.state(survey.id).not_open_because(store.today()) or "it was closed"
    return SurveyClosed(f"survey {survey.id}: {refused}: {reason}")


def refused_line(number: int, error: ReportError) -> dict[str, Any]:
    """A line of a batch that was not stored, as the answer names it."""
    return {"line": number, "status": int(status_of(error)), "detail": str(error)}


def pieces(lines: Iterator[str]) -> Iterator[bytes]:
    """Join lines into pieces, by one thread at a time and half of the time.

    Python runs one thread at a time, and the other threads have reports to store.
    """
    while True:
        with _one_piece_at_a_time:
            started = time.perf_counter()
            piece = "".join(itertools.islice(lines, PIECE_LINES)).encode()
            # As long asleep as at work, at most .1 s: half of the interpreter is left to reports.
            time.sleep(min(time.perf_counter() - started, 0.1))
        if not piece:
            return
        yield piece


def csv_response(lines: bytes | Iterable[bytes], filename: str) -> Response:
    """A CSV download."""
    headers = {"Content-Disposition": f'attachment; filename="{file_name(filename)}"'}
    return Response(lines, headers=headers, mimetype="text/csv")


def submit(survey: Survey, reports: Sequence[Report]) -> list[Verdict]:
    """Have the writer store reports; returns when they are on disk."""
    writer: Writer = current_app.extensions["deniable"]["writer"]
    outcomes = writer.submit(survey, reports)
    get_metrics().taken(survey, outcomes)
    return outcomes


def read_body(limit: int, *mimetypes: str) -> bytes:
    """The raw body, at most ``limit`` bytes of it and of one of the types; 413 and 415 otherwise."""
    # A form of another site can send text/plain without asking; JSON needs a preflight request.
    if request.mimetype not in mimetypes:
        raise UnsupportedMediaType(f"Content-Type: must be {' or '.join(mimetypes)}.")
    request.max_content_length = limit + 1  # Werkzeug cuts a chunked body off at its limit and says nothing
    with get_limits().receiving(request.environ):
        body = request.get_data(cache=False)
    if len(body) > limit:
        raise RequestEntityTooLarge
    return body
