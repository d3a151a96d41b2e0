"""Invitations: secrets of 128 bits that a link carries behind its #, and the hashes that collectors keep of them."""

from __future__ import annotations

import hashlib
import os
import re

INVITATION = "[0-9a-f]{32}"
"""A regular expression of an invitation: 128 random bits."""


def new_invitation() -> str:
    """A fresh invitation, 32 hexadecimal digits. Everybody who has it can answer with it."""
    return os.urandom(16).hex()


def is_invitation(text: str) -> bool:
    """Whether a text has the form of an invitation.

    >>> is_invitation("00" * 16), is_invitation("0x" * 16)
    (True, False)
    """
    return re.fullmatch(INVITATION, text) is not None


def hash_of(invitation: str) -> str:
    """The SHA-256 of an invitation's bytes, in hexadecimal: all that is kept of it.

    >>> hash_of("00" * 16)
    '374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb'
    """
    # An unsalted hash is enough: 128 random bits cannot be guessed, and a database that leaks lets nobody in.
    return hashlib.sha256(bytes.fromhex(invitation)).hexdigest()
