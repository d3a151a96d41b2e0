"""The Authorization header of reports: a collector learns the right of a request before it reads the body.

A collector reads only a few bodies of one address at a time. A request with a right of its own does not wait for those
of its neighbours, so the right must be known before the body is read: the header names the hash of an invitation, or a
token, both of which stand in the body as well.
"""

from __future__ import annotations

import base64
import binascii
import re

from deniable.access.invitation import hash_of, is_invitation

_INVITATION = re.compile(r"Invitation ([0-9a-f]{64})")

_TOKEN = re.compile(r'PrivateToken token="?([A-Za-z0-9_=-]{1,512})"?')
"""A token in a header, in the form of RFC 9577, section 2.2."""


def authorization_of(credential: str) -> str:
    """The ``Authorization`` header of a request with a credential: an invitation or a token, in hexadecimal.

    >>> authorization_of("00" * 16)
    'Invitation 374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb'
    >>> authorization_of("0002ff")
    'PrivateToken token="AAL_"'
    """
    if is_invitation(credential):
        # The hash, because heads end up in logs of proxies, and an invitation in a log could be used.
        return f"Invitation {hash_of(credential)}"
    return f'PrivateToken token="{base64.urlsafe_b64encode(bytes.fromhex(credential)).decode()}"'


def invitation_hash(header: str) -> str | None:
    """The hash of the invitation that a header names, or None."""
    found = _INVITATION.fullmatch(header)
    return found and found[1]


def token_in(header: str) -> str | None:
    """The token that a header bears, in hexadecimal, or None.

    >>> token_in('PrivateToken token="AAL_"'), token_in("PrivateToken token=AAL"), token_in("Bearer AAL_")
    ('0002ff', None, None)
    """
    found = _TOKEN.fullmatch(header)
    try:
        # RFC 4648, section 5: the padding is part of the token and must be there.
        return base64.urlsafe_b64decode(found[1]).hex() if found else None
    except binascii.Error:
        return None
