"""One shape for every error: ``application/problem+json`` (RFC 9457) for programs, a short page for people.

No answer of the collector repeats what was sent to it beyond the names of keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from apiflask import APIFlask
from apiflask.exceptions import HTTPError
from flask import Response, current_app, render_template, request
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from deniable.errors import DeniableError, NotInvited, ReportConflict, SurveyClosed
from deniable_server.access.tokens import NotPublic
from deniable_server.edge.exclusive_options import not_together
from deniable_server.edge.heads import OPEN_TO_ALL_ORIGINS
from deniable_server.edge.limits import NoSlot, TooBusy, TooMany
from deniable_server.language import language_of_query, words
from deniable_server.logs import log_mistake
from deniable_server.sealing import KeysMissing
from deniable_server.store import (
    NoRelease,
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreForbidden,
    StoreFull,
    StoreReplaced,
    StoreUnavailable,
)
from deniable_server.writing.outage import get_outage

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

STATUS: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (ReportConflict, HTTPStatus.CONFLICT),
    (NotInvited, HTTPStatus.FORBIDDEN),
    (SurveyClosed, HTTPStatus.GONE),
    (TooMany, HTTPStatus.TOO_MANY_REQUESTS),
    (NoSlot, HTTPStatus.SERVICE_UNAVAILABLE),
    (TooBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (StoreDamaged, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreReplaced, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreForbidden, HTTPStatus.FORBIDDEN),
    (KeysMissing, HTTPStatus.SERVICE_UNAVAILABLE),
    (DeniableError, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""HTTP status by exception class; the first class that fits decides."""

SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    413: "The body is too large.",
    500: "The collector made a mistake. Nothing of this request was stored.",
}

PROBLEMS = {
    404: ("problem404", "problem404Text"),
    422: ("problemOther", "problem422Text"),
    429: ("problem429", "problemLater"),
    500: ("problem500", "problem500Text"),
    503: ("problem503", "problemLater"),
    507: ("problem503", "problemLater"),
}
"""Names of the heading and the sentence of a page for people, by status; another status has a heading alone."""

NOT_PUBLIC = ("problemPrivate", "problemPrivateText", "problemPrivateHow")
"""Names of the heading and the sentences of the page for people who may not see the results of a survey."""

NO_RELEASE = ("problemRelease", "problemReleaseText")
NO_RELEASE_YET = ("problemRelease", "rNumbered")
"""Names of the heading and the sentence of the page of a release that does not exist; where results are live, why."""

COMBINED = ("problemOther", "rCombined")
"""Names of the heading and the sentence of a page whose address combines two options that do not go together."""

_RESULTS = re.compile(r"/s/[a-z2-7]{26}/results(?=[/.]|$)")
"""The start of the address of results of a survey."""

FULL = "The collector's disk is full. Nothing of this request was stored; send the same again later."
REPLACED = "The collector's database was replaced while it was in use. Nothing was stored; send the same again later."
UNAVAILABLE = "The collector's database is not available. Nothing was stored; send the same again later."

OUTAGES: Mapping[type[DeniableError], tuple[str, int]] = {
    StoreFull: (FULL, 5),
    StoreDamaged: (UNAVAILABLE, 60),
    StoreReplaced: (REPLACED, 60),
    StoreUnavailable: (UNAVAILABLE, 1),
}
"""The sentence, and ``Retry-After`` in seconds, for each error of a store that takes no report."""


def init_app(app: APIFlask) -> None:
    """Answer every error in one shape."""

    @app.error_processor
    def on_api_error(error: HTTPError) -> Response:
        detail = SENTENCES.get(error.status_code) or error.message or "The request was refused."
        if isinstance(error.detail, dict) and error.detail:  # a validation error: location -> field -> messages
            # One location at a time is enough for a person to act on.
            fields = next(iter(error.detail.values()))
            detail = "; ".join(f"{field}: {', '.join(map(str, messages))}" for field, messages in fields.items())
        return problem(error.status_code, detail)

    @app.errorhandler(HTTPException)
    def on_http_error(error: HTTPException) -> Response:
        code = error.code or 500
        # Allow and WWW-Authenticate belong to the error; its type and length are those of our body.
        kept = {key: value for key, value in error.get_headers() if key not in ("Content-Type", "Content-Length")}
        private = error.survey.id if isinstance(error, NotPublic) else ""
        return problem(code, SENTENCES.get(code, error.description or error.name), kept, private)

    @app.errorhandler(DeniableError)
    @app.errorhandler(StoreBusy)
    def on_refusal(error: DeniableError | StoreBusy) -> Response:
        # A refusal that passes by itself knows how long that takes.
        wait = getattr(error, "wait", None)
        headers = None if wait is None else {"Retry-After": str(wait)}
        if isinstance(error, NoRelease):
            return problem(status_of(error), str(error), names=NO_RELEASE_YET if error.is_live else NO_RELEASE)
        return problem(status_of(error), str(error), headers)

    for kind, (detail, wait) in OUTAGES.items():
        app.register_error_handler(kind, partial(_on_outage, detail=detail, wait=wait))

    @app.errorhandler(Exception)
    def on_mistake(error: Exception) -> Response:
        log_mistake(error)
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, SENTENCES[500])


def _on_outage(error: DeniableError, detail: str, wait: int) -> Response:
    get_outage().began(error)
    return problem(status_of(error), detail, {"Retry-After": str(wait)})


def status_of(error: Exception) -> HTTPStatus:
    """The HTTP status that an error of this project becomes."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def answer(
    app: APIFlask,
    environ: WSGIEnvironment,
    start_response: StartResponse,
    status: HTTPStatus,
    detail: str,
    headers: list[tuple[str, str]],
) -> Iterable[bytes]:
    """Answer like `problem`, at next to no cost, a request that is refused before it reaches Flask.

    It only guesses the wanted media type, by whether ``Accept`` names HTML.
    """
    is_api = environ["PATH_INFO"].startswith("/api/")
    if not is_api and "pages" in app.blueprints and "text/html" in environ.get("HTTP_ACCEPT", ""):
        body, mimetype = (
            _page(app, int(status), detail, _language(environ), names_of(status)),
            "text/html; charset=utf-8",
        )
    else:
        body, mimetype = _json(status, detail).encode(), "application/problem+json"
    more = [("Content-Type", mimetype), ("Content-Length", str(len(body))), *(OPEN_TO_ALL_ORIGINS if is_api else [])]
    start_response(f"{int(status)} {status.phrase.upper()}", headers + more)
    return [body]


def _language(environ: WSGIEnvironment) -> str:
    accepted = parse_accept_header(environ.get("HTTP_ACCEPT_LANGUAGE", ""), LanguageAccept)
    return language_of_query(environ.get("QUERY_STRING", ""), accepted)


@lru_cache(maxsize=64)
def _page(
    app: APIFlask,
    status: int,
    detail: str,
    language: str,
    names: tuple[str, ...],
    results: str = "",
    command: str = "",
    combined: tuple[str, str] | None = None,
) -> bytes:
    """The page for people: what happened and what to do in their language, and the sentence for programs aside.

    Parameters
    ----------
    names : tuple of str
        The names of the heading and of the sentences.
    results : str
        The address of the survey's results, where the wrong address is below it, or empty.
    command : str
        The command that reads the results, where the survey's results are not public, or empty.
    combined : tuple of two str, optional
        The names of two options of the address that do not go together.
    """
    sentences = words(language)
    title, *texts = (sentences[name] for name in names)
    if combined is not None:
        texts = [text.format(one=combined[0], other=combined[1]) for text in texts]
    with app.app_context():
        said = {"title": title, "texts": texts, "command": command}
        page = render_template("problem.html", words=sentences, **said, status=status, detail=detail, results=results)
    return page.encode()


def _json(status: int, detail: str) -> str:
    phrase = HTTPStatus(status).phrase
    return json.dumps({"type": "about:blank", "title": phrase, "status": int(status), "detail": detail})


def _results_above(status: int, language: str) -> str:
    """The results of a survey, where a part of the address below them or of its query is wrong."""
    found = _RESULTS.match(request.path) if status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY) else None
    # Not where this very address is what is not there.
    if found is None or (request.path == found[0] and not request.query_string):
        return ""
    return f"{found[0]}?lang={language}" if "lang" in request.args else found[0]


def names_of(status: int) -> tuple[str, ...]:
    """The names of the heading and the sentences of a page, by its status."""
    return PROBLEMS.get(status, ("problemOther",))


def problem(
    status: int,
    detail: str,
    headers: dict[str, str] | None = None,
    private: str = "",
    names: tuple[str, ...] | None = None,
) -> Response:
    """An error response: a page where a browser asked for a page, problem+json everywhere else.

    Parameters
    ----------
    private : str
        The id of the survey whose results were asked for and are not public, or empty.
    names : tuple of str, optional
        The names of the heading and the sentences of the page, where they are not those of the status.
    """
    # The first where either will do.
    wanted = request.accept_mimetypes.best_match(("application/problem+json", "text/html"))
    has_pages = "pages" in current_app.blueprints  # an issuer has none
    if has_pages and not request.path.startswith("/api/") and wanted == "text/html":
        language = language_of_query(request.query_string.decode("latin-1"), request.accept_languages)
        app: APIFlask = cast("Any", current_app)._get_current_object()
        base = current_app.extensions["deniable-pages"].base
        command = f"deniable estimate {base}/s/{private} --token dn_..." if private else ""
        results = _results_above(status, language)
        is_refused_view = status == HTTPStatus.UNPROCESSABLE_ENTITY and bool(results)
        combined = not_together(request.args) if is_refused_view else None
        names = names or (NOT_PUBLIC if private else COMBINED if combined else names_of(status))
        page = _page(app, status, detail, language, names, results, command, combined)
        response = Response(page, status, headers)
        response.vary.add("Accept-Language")
        return response
    return Response(_json(status, detail), status, headers, mimetype="application/problem+json")
