"""What a request says in its head of the right that its body bears, so that a collector can tell before it reads on.

A collector reads few bodies of one address at a time. Whoever bears a right does not wait for those of neighbours, but
that must be known before the body is: by the hash of an invitation, or by a token, which stand in the body as well.
"""

from __future__ import annotations

import base64
import binascii
import re

from deniable.access.invitation import hash_of, is_invitation

_INVITATION = re.compile(r"Invitation ([0-9a-f]{64})")

_TOKEN = re.compile(r'PrivateToken token="?([A-Za-z0-9_=-]{1,512})"?')
"""As RFC 9577, section 2.2 writes it."""


def authorization_of(credential: str) -> str:
    """The ``Authorization`` header of a request with a credential: an invitation or a token, in hexadecimal.

    >>> authorization_of("00" * 16)
    'Invitation 374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb'
    >>> authorization_of("0002ff")
    'PrivateToken token="AAL_"'
    """
    if is_invitation(credential):
        return f"Invitation {hash_of(credential)}"
    return f'PrivateToken token="{base64.urlsafe_b64encode(bytes.fromhex(credential)).decode()}"'


def invitation_hash(header: str) -> str | None:
    """The hash of an invitation that a header names, if it does."""
    found = _INVITATION.fullmatch(header)
    return found and found[1]


def token_in(header: str) -> str | None:
    """The token that a header bears, in hexadecimal, if it does.

    >>> token_in('PrivateToken token="AAL_"'), token_in("PrivateToken token=AAL"), token_in("Bearer AAL_")
    ('0002ff', None, None)
    """
    found = _TOKEN.fullmatch(header)
    try:
        return base64.urlsafe_b64decode(found[1]).hex() if found else None
    except binascii.Error:
        return None
