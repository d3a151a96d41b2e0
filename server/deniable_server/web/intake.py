"""The fast path of an ordinary report: parse, submit, answer.

Flask's routing costs more than everything that is done with a report. So nearly all requests, a single report that is
stored, are answered before Flask sees them. Everything else goes on to `deniable_server.web.api.take_reports` with its
body unread, because that one place makes all refusals. Submitting twice is harmless: a report counts once.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask

from deniable import ReportError, Survey, parse_report
from deniable.report.report import MAX_BYTES
from deniable_server.edge.heads import OPEN_TO_ALL_ORIGINS
from deniable_server.edge.limits import Limits
from deniable_server.sealing import SealingKeys
from deniable_server.store import Store, Verdict
from deniable_server.web.api import BASE
from deniable_server.web.metrics import Metrics
from deniable_server.writing.writer import Writer

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ROUTE = f"{BASE}/surveys/<survey_id>/reports"

_PATH = re.compile(rf"{BASE}/surveys/([a-z2-7]{{26}})/(reports|sealed)")

_TYPES = {"reports": "application/json", "sealed": "application/octet-stream"}
"""The type of a body by the end of its path."""


class FixedAnswer:
    """The answer of Flask, byte for byte; a test compares the two."""

    def __init__(self, kind: str, status: str, outcome: Verdict) -> None:
        self.status = status
        self.body = b'{"status":"%b"}\n' % outcome.value.encode()
        length = str(len(self.body))
        self.headers = [("Content-Type", "application/json"), ("Content-Length", length), *OPEN_TO_ALL_ORIGINS]
        self.labels = ("POST", ROUTE.replace("reports", kind), status[:3])


_ANSWERS = {
    (kind, outcome): FixedAnswer(kind, status, outcome)
    for kind in _TYPES
    for outcome, status in {Verdict.STORED: "201 CREATED", Verdict.KNOWN: "200 OK"}.items()
}


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Take ordinary reports before Flask does."""
    limits, metrics, keys = (app.extensions[f"deniable-{name}"] for name in ("limits", "metrics", "sealing"))
    # Wrapping it is how Flask says to do this.
    app.wsgi_app = Intake(app.wsgi_app, store, writer, limits, metrics, keys)  # type: ignore[method-assign]


class Intake:
    """A WSGI layer in front of Flask, for the most frequent request."""

    def __init__(
        self,
        wsgi_app: WSGIApplication,
        store: Store,
        writer: Writer,
        limits: Limits,
        metrics: Metrics,
        keys: SealingKeys,
    ) -> None:
        self._wsgi_app = wsgi_app
        self._survey = lru_cache(maxsize=256)(store.survey)  # a published survey never changes; a missing one raises
        self._writer = writer
        self._limits = limits
        self._metrics = metrics
        self._keys = keys

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        started = time.perf_counter()
        found = _PATH.fullmatch(environ["PATH_INFO"])
        is_ordinary = found is not None and _is_ordinary(environ, _TYPES[found[2]])
        answer = self._take(found[1], found[2], environ, started) if found and is_ordinary else None
        if answer is None:
            return self._wsgi_app(environ, start_response)
        start_response(answer.status, list(answer.headers))
        return [answer.body]

    def _take(self, survey_id: str, kind: str, environ: dict[str, Any], started: float) -> FixedAnswer | None:
        """Store the report of a request; None if Flask has to answer it."""
        try:
            # A slow sender holds a thread, so that the number of bodies in transit is bounded.
            with self._limits.receiving(environ):
                body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            # Flask must find the body unread if this way ends in a refusal.
            environ["wsgi.input"] = io.BytesIO(body)
            survey = self._survey(survey_id)
            (outcome,) = self._writer.submit(survey, [parse_report(self._report(survey, kind, body), survey)])
        except Exception:  # Flask meets the same error again and answers it
            return None
        # None for a refusal, which Flask words once it has submitted the report again.
        answer = _ANSWERS.get((kind, outcome))
        if answer is not None:
            self._metrics.took_one(answer.labels, time.perf_counter() - started, survey, outcome)
        return answer

    def _report(self, survey: Survey, kind: str, body: bytes) -> bytes:
        """The report in a body; a ReportError where Flask has to look at the request."""
        if (kind == "sealed") != (survey.sealed is not None) or survey.places:
            raise ReportError("report: must come another way, which Flask says")
        if survey.sealed is None:
            return body
        if len(body) != survey.sealed.length:
            raise ReportError("sealed report: must be a single one")
        return self._keys.open(survey, body)


def _is_ordinary(environ: dict[str, Any], kind: str) -> bool:
    length = environ.get("CONTENT_LENGTH", "")
    return (
        environ["REQUEST_METHOD"] == "POST"
        and environ.get("CONTENT_TYPE") == kind
        # A chunked body has no length that could be read at once.
        and "HTTP_TRANSFER_ENCODING" not in environ
        and length.isascii()
        and length.isdigit()
        # Before int(), which raises an error for more than 4,300 digits.
        and len(length) < 6
        and int(length) <= MAX_BYTES
    )
