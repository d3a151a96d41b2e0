"""API tokens: ``dn_`` and 32 random bytes, kept only as their SHA-256, shown once, scoped, expiring."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from flask import current_app, g, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Forbidden, Unauthorized

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.store import NotFound, Store, TokenRow

SCOPES = ("publish", "operate", "metrics", "read", "relay")
"""Scopes of API tokens.

``publish``: publish surveys, list and close one's own, read their results. ``operate``: the same for all surveys.
``metrics``: read ``/metrics``. ``read``: read the results of surveys that need a token for it, of all or of some.
``relay``: pass on sealed reports, as a place does.
"""

INCLUDED = {"operate": ("publish", "read"), "publish": ("read",)}
"""Scopes that a scope includes."""

_ALLOWS = {
    "publish": "publishes surveys, manages those that it published, and reads their results",
    "operate": "publishes surveys, manages all, and reads their results",
    "metrics": "reads /metrics alone",
    "read": "reads results alone",
    "relay": "passes on sealed reports alone",
}
"""What a token of a scope may do, in the sentence of a refusal."""

DEFAULT_DAYS = 90
"""Default lifetime of a token, in days."""


@dataclass(frozen=True)
class Token:
    """A valid token, by name and scope.

    Attributes
    ----------
    surveys : tuple of str
        Ids of the surveys whose results alone a token of scope ``read`` reads; empty if it reads those of all.
    """

    name: str
    scope: str
    surveys: tuple[str, ...] = ()

    def includes(self, scope: str) -> bool:
        """Whether the token may do what a scope allows."""
        return scope == self.scope or scope in INCLUDED.get(self.scope, ())

    def owns(self, owner: str | None) -> bool:
        """Whether the token may list, close and read a survey of that owner; None: published on the server itself."""
        return self.scope == "operate" or owner == self.name

    def reads(self, survey_id: str, owner: str | None) -> bool:
        """Whether the token may read the results of a survey of that owner."""
        if self.scope == "read":
            return not self.surveys or survey_id in self.surveys
        return self.includes("read") and self.owns(owner)


class TokenError(DeniableError):
    """A token that cannot be made or found."""


class NotPublic(Unauthorized):
    """The refusal of a request without a token for results that need one; people get a page of their own."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(
            "Results of this survey are not public. Programs read them with the header 'Authorization: Bearer dn_...' "
            "and a token of scope 'read', people with 'deniable estimate --token'.",
            www_authenticate=_challenge("read"),
        )
        self.survey = survey


def create_token(
    store: Store, name: str, scope: str = "publish", days: int = DEFAULT_DAYS, surveys: Sequence[str] = ()
) -> str:
    """Make a token and return it; it cannot be shown again.

    Parameters
    ----------
    surveys : sequence of str
        Ids of the surveys whose results alone a token of scope ``read`` reads; by default all.

    Raises
    ------
    TokenError
        If there is no such scope or survey, if the number of days is out of range, if the name is taken, or if surveys
        are given with another scope.
    """
    if scope not in SCOPES:
        raise TokenError(f"scope: must be one of {', '.join(SCOPES)}, got {scope!r}")
    if surveys and scope != "read":
        raise TokenError(f"survey: only a token of scope 'read' is for certain surveys, got scope {scope!r}")
    if not 1 <= days <= 3650:
        raise TokenError(f"days: must be 1 to 3650, got {days}")
    for each in surveys:
        try:
            store.survey(each)
        except NotFound:
            raise TokenError(f"survey: there is none with the id {each!r} in this database") from None
    # The prefix lets scanners of repositories find leaked tokens.
    token = "dn_" + secrets.token_urlsafe(32)
    expires = store.today() + datetime.timedelta(days=days)
    if not store.add_token(
        TokenRow(_digest(token), name, scope, expires.isoformat(), " ".join(dict.fromkeys(surveys)))
    ):
        raise TokenError(f"name: there is a token {name!r} already; revoke it first or take another name")
    return token


def revoke_token(store: Store, name: str) -> None:
    """Remove a token, which is invalid from now on."""
    if not store.remove_token(name):
        raise TokenError(f"name: there is no token {name!r}")


def valid_token(store: Store, token: str) -> Token | None:
    """The token of any scope, if it is known and has not expired; hashes are compared in constant time."""
    today = store.today().isoformat()
    # Days are no secret; the digests are compared in constant time.
    rows = [row for row in store.tokens() if row.expires_on >= today]
    digest = _digest(token)
    found = [row for row in rows if hmac.compare_digest(row.sha256, digest)]  # all of them, found or not
    return Token(found[0].name, found[0].scope, tuple(found[0].surveys.split())) if found else None


def find_token(store: Store, token: str, scope: str) -> Token | None:
    """The token, if it is valid and may do what the scope allows."""
    found = valid_token(store, token)
    return found if found and found.includes(scope) else None


def require_token(scope: str = "publish") -> Token:
    """The token of the request, which may do what the scope allows.

    Without a valid token the request is refused with 401, with one of another scope with 403, of a place with 401.
    """
    scopes = [scope, *(wide for wide, narrow in INCLUDED.items() if scope in narrow)]
    header = f"the header 'Authorization: Bearer dn_...' with a token of scope {' or '.join(map(repr, scopes))}"
    token = _bearer()
    if not token:
        raise Unauthorized(f"Needs {header}.", www_authenticate=_challenge(scope))
    found = _valid_or_refused(scope)
    if not found.includes(scope):
        sentence = f"{_may(found)}. This needs {header}."
        if scope == "relay":
            # A place takes 403 for the refusal of a single report, which it would not send again with another token.
            raise Unauthorized(sentence, www_authenticate=_challenge(scope))
        raise Forbidden(sentence)
    return found


def may_read(store: Store, survey: Survey, token: str) -> bool:
    """Whether a token, or without one anybody, may read the results of a survey."""
    if survey.readers == "public":
        return True
    found = valid_token(store, token)
    return found is not None and found.reads(survey.id, store.owner(survey.id))


def is_owner(store: Store, survey: Survey) -> bool:
    """Whether the request carries the token that published a survey, or one of scope ``operate``."""
    token = _bearer()
    found = find_token(store, token, "publish") if token else None
    return found is not None and found.owns(store.owner(survey.id))


def is_reader(survey: Survey) -> bool:
    """Whether the request may read the results of a survey."""
    return may_read(_store(), survey, _bearer())


def require_reader(survey: Survey) -> None:
    """Refuse the request unless it may read the results of a survey: without a valid token with 401, else with 403."""
    if is_reader(survey):
        return
    if not _bearer():
        raise NotPublic(survey)
    # Only who holds a valid token learns more: what that token may do, and never which other tokens there are.
    token = _valid_or_refused("read")
    g.survey, g.refused_reader = survey.id, True
    raise Forbidden(
        f"{_may(token)}. The results of this survey need a token of scope 'read' that includes it, "
        "the token that published it, or one of scope 'operate'."
    )


def _valid_or_refused(scope: str) -> Token:
    """The token of the request, which has one; an unknown, revoked or expired one is refused with 401."""
    found = valid_token(_store(), _bearer())
    if not found:
        # One sentence for all three, so that a refusal does not say whether a token was ever valid.
        raise Unauthorized("This token is unknown, revoked or expired.", www_authenticate=_challenge(scope))
    g.token = found
    return found


def _may(token: Token) -> str:
    number = len(token.surveys)
    allows = f"reads the results of {number} survey{'s' * (number > 1)} alone" if number else _ALLOWS[token.scope]
    return f"The token {token.name!r} of scope {token.scope!r} {allows}"


def _challenge(scope: str) -> WWWAuthenticate:
    return WWWAuthenticate("bearer", {"realm": "deniable", "scope": scope})


def _store() -> Store:
    store: Store = current_app.extensions["deniable"]["store"]
    return store


def _bearer() -> str:
    """The token in the request's Authorization header; empty if there is none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if kind == "Bearer" else ""


def _digest(token: str) -> str:
    # No slow hash: 256 random bits cannot be guessed.
    return hashlib.sha256(token.encode()).hexdigest()
