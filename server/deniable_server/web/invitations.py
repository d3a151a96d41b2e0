"""Invitations and blind signatures over HTTP."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Set
from functools import lru_cache
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, jsonify, request

from deniable import NotInvited, ReportConflict, ReportError, Survey, SurveyError
from deniable.access.blind_rsa import SIZE
from deniable.access.invitation import hash_of, is_invitation
from deniable.errors import DeniableError
from deniable.wire import strict_json
from deniable_server.access.inviting import MOST_HASHES
from deniable_server.edge.limits import get_limits
from deniable_server.signing import PrivateKey
from deniable_server.store import NotFound, Store, Verdict
from deniable_server.web import schemas
from deniable_server.web.api import (
    BASE,
    OF_BODIES,
    TOO_MANY,
    UNAVAILABLE,
    allow_other_origins,
    closed,
    fresh_json,
    get_store,
    read_body,
    require_owner,
)

MAX_HASHES = 1024 * 1024
"""Largest body with hashes, in bytes: room for `MOST_HASHES`."""

MAX_REQUEST = 4 * 1024
"""Largest body with an invitation and a blinded message, in bytes; it needs less than 600."""

OF_OWNERS = {401: "no valid token", 403: "belongs to another token, or a token of another scope", 404: "no such survey"}
OF_HASHES = {**OF_BODIES, 422: "not hashes, or a survey without invitations here"}

_BLINDED = re.compile(rf"[0-9a-f]{{{2 * SIZE}}}")

_SIGNS_FOR_OTHERS = "deniable-signs-for-others"

_one_signature_at_a_time = threading.Lock()
"""A signature takes some milliseconds during which no other thread runs."""

invitations = APIBlueprint("invitations", __name__, url_prefix=BASE, tag="API")
tokens = APIBlueprint("signing", __name__, url_prefix=BASE, tag="API")


def init_app(app: APIFlask, signs_for_others: bool = False) -> None:
    """Register the routes of invitations and signatures.

    Parameters
    ----------
    signs_for_others : bool
        Whether this is an issuer, which signs for surveys of other collectors; their authors invite in its file.
    """
    app.extensions[_SIGNS_FOR_OTHERS] = signs_for_others
    app.register_blueprint(tokens)
    if not signs_for_others:
        app.register_blueprint(invitations)


invitations.after_request(allow_other_origins)
tokens.after_request(allow_other_origins)


@invitations.post("/surveys/<survey_id>/invitations")
@invitations.output(schemas.InvitationsAdded, status_code=201)
@invitations.doc(
    responses={
        **OF_OWNERS,
        **OF_HASHES,
        429: TOO_MANY,
        503: UNAVAILABLE,
        507: "disk full",
    }
)
def add_invitations(survey_id: str) -> tuple[dict[str, int], int]:
    """Invite people.

    Takes the SHA-256 of the 16 bytes of each invitation, up to 10,000 of them. Only the author and the invited people
    know the invitations themselves. Those that were added before stay as they are, used or not. Needs the token that
    published the survey, or one of scope `operate`.
    """
    store = require_owner(survey_id, "inviting people")
    hashes = _hashes(_content(MAX_HASHES, {"hashes"}, SurveyError))
    if not hashes:
        raise SurveyError("hashes: must be at least one, got none")
    return store.add_invitations(survey_id, hashes)._asdict(), 201


@invitations.post("/surveys/<survey_id>/invitations/unused")
@invitations.output(schemas.InvitationsUnused)
@invitations.doc(responses={**OF_OWNERS, **OF_HASHES, 429: TOO_MANY, 503: UNAVAILABLE})
def unused_invitations(survey_id: str) -> dict[str, Any]:
    """Ask who has not answered.

    Returns how many people were invited, and how many have not used their invitation. Given up to 10,000 hashes, it
    also returns which of them are unused, unless results are live: together with live results, this would reveal whose
    noisy report came when. Needs the token that published the survey, or one of scope `operate`.
    """
    store = require_owner(survey_id, "asking about invitations")
    content = _content(MAX_HASHES, {"hashes"}, SurveyError, may_lack=True)
    return store.unused_invitations(survey_id, _hashes(content) if content else None)._asdict()


@invitations.post("/surveys/<survey_id>/invitations/state")
@invitations.output(schemas.InvitationStanding)
@invitations.doc(responses={404: "no such survey", **OF_HASHES, 429: TOO_MANY, 503: UNAVAILABLE})
def invitation_state(survey_id: str) -> Response:
    """Ask whether an invitation was used.

    Takes the SHA-256 of the invitation's 16 bytes. Clients send the hash of their own link's invitation before anybody
    answers, so that nobody answers in vain. The call changes nothing. If results are live, the response is always
    `untold`: together with live results, the state would reveal whose noisy report came when.
    """
    content = _content(MAX_REQUEST, {"hash"}, SurveyError)
    return fresh_json({"state": get_store().invitation_state(survey_id, content["hash"])})


@tokens.post("/surveys/<survey_id>/tokens")
@tokens.output(schemas.Signature)
@tokens.doc(
    responses={
        403: "no invitation of this survey",
        404: "no such survey, or its tokens are signed elsewhere",
        409: "the invitation was used for another token",
        410: "closed, or not yet open",
        **OF_BODIES,
        422: "not an invitation and a blinded message, or a survey without blind tokens",
        429: TOO_MANY,
        503: UNAVAILABLE,
        507: "disk full: send the same request again later",
    }
)
def sign(survey_id: str) -> Response:
    """Get a token signed.

    Signs a blinded message (RFC 9474) once for each invitation; the same message gets the same signature again. The
    signer cannot recognise the token that a device makes from it. With `Authorization: Invitation` and the SHA-256 of
    the invitation, a request is accepted beyond the rate limit of its network.
    """
    store = get_store()
    survey = store.survey(survey_id)
    key = _key_of(store, survey)
    content = _content(MAX_REQUEST, {"invitation", "blinded"}, ReportError)
    invitation, blinded = content["invitation"], content["blinded"]
    if not isinstance(invitation, str) or not is_invitation(invitation):
        raise ReportError("invitation: must be 32 lower-case hexadecimal digits")
    if not isinstance(blinded, str) or not _BLINDED.fullmatch(blinded):
        raise ReportError(f"blinded: must be {2 * SIZE} lower-case hexadecimal digits")
    message = bytes.fromhex(blinded)
    # RFC 9474, section 4.3: a blinded message is an integer below the modulus.
    if not key.can_sign(message):  # before the invitation is used for it
        raise ReportError("blinded: must be below the modulus of the survey's key, and not 0")
    # Used before it is signed: a crash in between costs nothing, since the same message is signed again.
    # The store keeps hashes alone: a copied database holds no invitation that works.
    outcome = store.issue(survey_id, hash_of(invitation), hashlib.sha256(message).hexdigest())
    if outcome is Verdict.UNINVITED:
        raise NotInvited("invitation: must be one of this survey")
    if outcome is Verdict.SPENT:
        raise ReportConflict("invitation: was used for another token")
    if outcome is Verdict.CLOSED:
        raise closed(store, survey, "gives no tokens")
    # A signature costs as much as several reports.
    get_limits().charge(request.environ, 1)
    with _one_signature_at_a_time:
        response = jsonify({"signature": key.blind_sign(message).hex()})
    # The report that spends the token must not come over the same connection.
    response.headers["Connection"] = "close"
    return response


_parsed = lru_cache(maxsize=256)(PrivateKey.parse)


def _key_of(store: Store, survey: Survey) -> PrivateKey:
    if survey.issuer is None:
        raise ReportError(f"survey {survey.id}: has no blind tokens, its access is {survey.access!r}")
    # A collector signs for surveys that name no issuer; an issuer for those that do.
    if survey.issuer.url and not current_app.extensions[_SIGNS_FOR_OTHERS]:
        raise NotFound(f"tokens: those of this survey are signed at {survey.issuer.url}")
    key = store.signing_key(survey)
    if key is None:
        raise NotFound("tokens: those of this survey are not signed here")
    return _parsed(key)


def _content(limit: int, keys: Set[str], error: type[DeniableError], may_lack: bool = False) -> dict[str, Any]:
    """The object in the body, which has these keys, or may have none of them."""
    content = strict_json.loads(read_body(limit, "application/json"), error, "body")
    # Exact keys: a misspelt one would ask about all invitations instead of some.
    if not isinstance(content, dict) or (content.keys() != keys and not (may_lack and not content)):
        or_none = " or {}" if may_lack else ""
        raise error(f"body: must be an object with {' and '.join(sorted(keys))}{or_none}")
    return content


def _hashes(content: dict[str, Any]) -> list[str]:
    """The hashes in a body; each of them is checked where it is stored or looked up."""
    hashes = content["hashes"]
    if not isinstance(hashes, list) or len(hashes) > MOST_HASHES:
        raise SurveyError(f"hashes: must be a list of at most {MOST_HASHES:,}")
    return hashes
