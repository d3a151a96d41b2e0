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
from werkzeug.exceptions import Unauthorized

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.store import Store, TokenRow

SCOPES = ("publish", "operate", "metrics", "read", "relay")
"""Scopes of API tokens.

``publish``: publish surveys, list and close one's own, read their results. ``operate``: the same for all surveys.
``metrics``: read ``/metrics``. ``read``: read the results of every survey that needs a token for it.
``relay``: pass on sealed reports, as a place does.
"""

INCLUDED = {"operate": ("publish", "read"), "publish": ("read",)}
"""Scopes that a scope includes."""

DEFAULT_DAYS = 90
"""Default lifetime of a token, in days."""


@dataclass(frozen=True)
class Token:
    """A valid token, by name and scope."""

    name: str
    scope: str

    def owns(self, owner: str | None) -> bool:
        """Whether the token may list, close and read a survey of that owner; None: published on the server itself."""
        return self.scope == "operate" or owner == self.name


class TokenError(DeniableError):
    """A token that cannot be made or found."""


def create_token(store: Store, name: str, scope: str = "publish", days: int = DEFAULT_DAYS) -> str:
    """Make a token and return it; it cannot be shown again."""
    if scope not in SCOPES:
        raise TokenError(f"scope: must be one of {', '.join(SCOPES)}, got {scope!r}")
    if not 1 <= days <= 3650:
        raise TokenError(f"days: must be 1 to 3650, got {days}")
    # The prefix lets scanners of repositories find leaked tokens.
    token = "dn_" + secrets.token_urlsafe(32)
    expires = store.today() + datetime.timedelta(days=days)
    if not store.add_token(TokenRow(_digest(token), name, scope, expires.isoformat())):
        raise TokenError(f"name: there is a token {name!r} already; revoke it first or take another name")
    return token


def revoke_token(store: Store, name: str) -> None:
    """Remove a token, which is invalid from now on."""
    if not store.remove_token(name):
        raise TokenError(f"name: there is no token {name!r}")


def find_token(store: Store, token: str, scope: str) -> Token | None:
    """The token, if it is known, has the scope, and has not expired; hashes are compared in constant time."""
    return _find(store, token, [scope, *(wide for wide, narrow in INCLUDED.items() if scope in narrow)])


def _find(store: Store, token: str, scopes: Sequence[str]) -> Token | None:
    today = store.today().isoformat()
    # Scopes and days are no secret; the digests are compared in constant time.
    rows = [row for row in store.tokens() if row.scope in scopes and row.expires_on >= today]
    digest = _digest(token)
    found = [row for row in rows if hmac.compare_digest(row.sha256, digest)]  # all of them, found or not
    return Token(found[0].name, found[0].scope) if found else None


def is_token(store: Store, token: str) -> bool:
    """Whether this is a token of any scope that has not expired."""
    return _find(store, token, SCOPES) is not None


def require_token(scope: str = "publish") -> Token:
    """The token of the request, which is refused with 401 unless it carries one of that scope."""
    token = _bearer()
    found = find_token(current_app.extensions["deniable"]["store"], token, scope) if token else None
    if not found:
        raise Unauthorized(
            f"Needs the header 'Authorization: Bearer dn_...' with a token of scope {scope!r}.",
            www_authenticate=WWWAuthenticate("bearer", {"realm": "deniable", "scope": scope}),
        )
    g.token = found
    return found


def may_read(store: Store, survey: Survey, token: str) -> bool:
    """Whether a token, or without one anybody, may read the results of a survey."""
    if survey.readers == "public":
        return True
    found = find_token(store, token, "read")
    # A token of scope read may read all surveys; that of an author those that it published.
    return found is not None and (found.scope == "read" or found.owns(store.owner(survey.id)))


def is_owner(store: Store, survey: Survey) -> bool:
    """Whether the request carries the token that published a survey, or one of scope ``operate``."""
    token = _bearer()
    found = find_token(store, token, "publish") if token else None
    return found is not None and found.owns(store.owner(survey.id))


def is_reader(survey: Survey) -> bool:
    """Whether the request may read the results of a survey."""
    return may_read(current_app.extensions["deniable"]["store"], survey, _bearer())


def require_reader(survey: Survey) -> None:
    """Refuse the request with 401 unless it may read the results of a survey."""
    if not is_reader(survey):
        raise Unauthorized(
            "Results of this survey are not public. Programs read them with the header 'Authorization: Bearer dn_...' "
            "and a token of scope 'read', people with 'deniable estimate --token'.",
            www_authenticate=WWWAuthenticate("bearer", {"realm": "deniable", "scope": "read"}),
        )


def _bearer() -> str:
    """The token in the request's Authorization header; empty if there is none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if kind == "Bearer" else ""


def _digest(token: str) -> str:
    # No slow hash: 256 random bits cannot be guessed.
    return hashlib.sha256(token.encode()).hexdigest()
