"""Admission: every request counts against the limits of its address before anything is parsed, read or computed.

Requests of one address are counted by kind (`edge.limits.RequestKind`), so that a reader of results, a probe or a batch
uses up nothing that respondents at the same address need. A request that bears a right is admitted even if the bucket
of its address is empty: a report with an invitation or a token of its survey, a request for a token with an invitation,
a call with an API token. Each right has a bucket of its own, of the same rate.

A right is looked up only once the bucket or the slots (`limits.Slots`) of the address are used up, for one request at
a time, at the cost of a report. These look-ups are not counted, so that nobody can use them up with junk. Devices name
their right in the head of a request, so that it is known before the body is read; for older devices, which do not, it
is looked for in the body.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask

from deniable import parse_report
from deniable.access.invitation import hash_of, is_invitation
from deniable.errors import DeniableError, ReportError
from deniable.report.report import MAX_BYTES
from deniable.wire import strict_json
from deniable_server.access.tokens import valid_token
from deniable_server.edge import problems
from deniable_server.edge.limits import BATCHES, PAGES, PROBES, REPORTS, RESULTS, Limits, NoSlot, RequestKind, TooMany
from deniable_server.store import Store
from deniable_transport.authorization import invitation_hash, token_in

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_BEARER = "Bearer "

_SURVEYS = "/api/v1/surveys"

_ANSWERING = re.compile(rf"{_SURVEYS}/([^/]*)/(reports|tokens|sealed)")

_COMPUTED = re.compile(
    rf"{_SURVEYS}(?:|/[^/]*/(?:estimates[^/]*|reports[^/]*|close|archive[^/]*|releases.*|invitations(?:/unused)?))"
    r"|/s/[^/]*/(?:results|releases).*"
)

AT_A_TIME = 2
"""Number of pages, and of probes, that are rendered at a time; the others wait for their turn.

Python runs one thread at a time, and every further thread that competes for it slows all others down: 250 pages
rendered together take four times as long as one after another.
"""

_LIVEZ = "/livez"

_PROBED = {_LIVEZ, "/readyz", "/metrics"}


def init_app(app: APIFlask, store: Store) -> None:
    """Put admission in front of the application."""
    limits: Limits = app.extensions["deniable-limits"]
    app.wsgi_app = Admission(app, app.wsgi_app, limits, RightsLookup(store, limits))  # type: ignore[method-assign]


def kind_of(environ: WSGIEnvironment) -> RequestKind:
    """The kind that a request counts as; every other request counts as a page."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if method == "POST" and _ANSWERING.fullmatch(path):
        # By its type alone: the body of a batch is not read before there is a place for it.
        return BATCHES if environ.get("CONTENT_TYPE", "").lower().startswith("application/x-ndjson") else REPORTS
    if path in _PROBED:
        return PROBES
    if method != "OPTIONS" and _COMPUTED.fullmatch(path):
        return RESULTS
    return PAGES


class Admission:
    """A WSGI layer that admits requests which are within the limits or bear a right."""

    def __init__(self, app: APIFlask, wsgi_app: WSGIApplication, limits: Limits, rights: RightsLookup) -> None:
        self._app = app
        self._wsgi_app = wsgi_app
        self._limits = limits
        self._rights = rights
        self._turns = {kind: threading.Semaphore(AT_A_TIME) for kind in (PAGES, PROBES)}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        kind = kind_of(environ)
        # Reports never take turns: they are what the collector is for.
        if not self._takes_a_turn(kind, environ):
            return self._serve(kind, environ, start_response)
        with self._turns[kind]:
            return self._serve(kind, environ, start_response)

    def _takes_a_turn(self, kind: RequestKind, environ: WSGIEnvironment) -> bool:
        """Whether a request waits for its turn: only reads do, and not ``/livez``, which must always answer."""
        return kind in self._turns and environ["REQUEST_METHOD"] in ("GET", "HEAD") and environ["PATH_INFO"] != _LIVEZ

    def _serve(self, kind: RequestKind, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            try:
                self._limits.admit(environ, kind, partial(self._rights.of_head, environ, kind))
            except TooMany:
                # Only now, with an empty bucket, is a look-up worth its cost: junk is refused without it.
                right = self._rights.of(environ, kind)
                if right is None:
                    raise
                self._limits.admit_by(right, environ, kind)
        except (TooMany, NoSlot) as refusal:
            headers = [("Retry-After", str(refusal.wait))]
            status = problems.status_of(refusal)
            return problems.answer(self._app, environ, start_response, status, str(refusal), headers)
        return self._wsgi_app(environ, start_response)


class RightsLookup:
    """Looks up the right that a request bears, with which it is admitted beyond the limit of its network."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._survey = lru_cache(maxsize=256)(store.survey)  # a published survey never changes; a missing one raises
        self._limits = limits
        self._one_at_a_time = threading.Lock()

    def of_head(self, environ: WSGIEnvironment, kind: RequestKind) -> bytes | None:
        """The right in the head of a request, or None; the body is not read."""
        header = environ.get("HTTP_AUTHORIZATION", "")
        with self._one_at_a_time:
            try:
                if header.startswith(_BEARER):
                    token = header.removeprefix(_BEARER)
                    return token.encode() if valid_token(self._store, token) else None
                return self._of_credential(environ["PATH_INFO"], header) if header and kind is REPORTS else None
            except DeniableError:  # a malformed request bears no right
                return None

    def _of_credential(self, path: str, header: str) -> bytes | None:
        survey_id, what = _ANSWERING.fullmatch(path).groups()  # type: ignore[union-attr]
        if (invitation := invitation_hash(header)) is not None:
            return self._of_hash(survey_id, invitation)
        # A token lets a report count; a request for a token bears an invitation.
        tokens = self._survey(survey_id).tokens if what == "reports" else None  # a sealed report says no right
        token = token_in(header)
        if tokens is None or token is None or not re.fullmatch(tokens.pattern, token) or not tokens.verifies(token):
            return None
        return token.encode()

    def of(self, environ: WSGIEnvironment, kind: RequestKind) -> bytes | None:
        """The right that a request bears in its head or its body, or None; the body can be read again.

        Raises
        ------
        TooMany, NoSlot
            See `HeldSlot.take`.
        """
        right = self.of_head(environ, kind)
        if right is not None or kind is not REPORTS or not (body := self._body(environ)):
            return right
        survey_id, what = _ANSWERING.fullmatch(environ["PATH_INFO"]).groups()  # type: ignore[union-attr]
        if what == "sealed":  # to open it costs more than to refuse it
            return None
        with self._one_at_a_time:
            try:
                return self._of_report(survey_id, body) if what == "reports" else self._of_request(survey_id, body)
            except DeniableError:  # a malformed request bears no right
                return None

    def _body(self, environ: WSGIEnvironment) -> bytes:
        length = environ.get("CONTENT_LENGTH", "")
        # isdigit alone accepts digits of other scripts; chunked bodies have no length and bear no right.
        if not (length.isascii() and length.isdigit() and len(length) < 6 and int(length) <= MAX_BYTES):
            return b""
        with self._limits.receiving(environ):
            body: bytes = environ["wsgi.input"].read(int(length))
        # The routes behind read the same body again.
        environ["wsgi.input"] = io.BytesIO(body)
        return body

    def _of_report(self, survey_id: str, body: bytes) -> bytes | None:
        survey = self._survey(survey_id)
        if survey.access == "open":
            return None
        credential = parse_report(body, survey).credential  # which checks the signature of a token
        if credential is None:
            return None
        return self._of_invitation(survey_id, credential) if survey.access == "invited" else credential.encode()

    def _of_request(self, survey_id: str, body: bytes) -> bytes | None:
        content: Any = strict_json.loads(body, ReportError, "body")
        invitation = content.get("invitation") if isinstance(content, dict) else None
        return self._of_invitation(survey_id, invitation) if isinstance(invitation, str) else None

    def _of_invitation(self, survey_id: str, invitation: str) -> bytes | None:
        return self._of_hash(survey_id, hash_of(invitation)) if is_invitation(invitation) else None

    def _of_hash(self, survey_id: str, invitation: str) -> bytes | None:
        return invitation.encode() if self._store.is_invited(survey_id, invitation) else None
