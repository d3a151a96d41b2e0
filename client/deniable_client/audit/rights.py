"""What reports carry to be counted, in an audit: drawn before there is an answer, as for people."""

from __future__ import annotations

import os
from dataclasses import dataclass

from deniable import Survey
from deniable.access.blind_rsa import SIZE
from deniable.access.issuer import NONCE, TOKEN_TYPE

INVITATION = 16
"""Bytes of an invitation."""


@dataclass(frozen=True)
class Rights:
    """One credential for each report, in hexadecimal: an invitation, or what has the form of a token.

    Attributes
    ----------
    before, after : str
        What all have in common.
    own : bytes
        What each has of its own, one after the other: an invitation, or a nonce.
    size : int
        Bytes of each of these; 0 where reports carry nothing.

    Notes
    -----
    The signature of these tokens is zeros. Nobody who audits has the key, and a client that has its token already looks
    at it no more.
    """

    before: str = ""
    after: str = ""
    own: bytes = b""
    size: int = 0

    @classmethod
    def of(cls, survey: Survey, n: int) -> Rights:
        """Random ones for ``n`` reports."""
        if survey.tokens:
            whole, start = survey.tokens.token(bytes(NONCE), bytes(SIZE)), 2 * len(TOKEN_TYPE)
            return cls(whole[:start], whole[start + 2 * NONCE :], os.urandom(NONCE * n), NONCE)
        size = INVITATION if survey.access == "invited" else 0
        return cls(own=os.urandom(size * n), size=size)

    def __getitem__(self, number: int) -> str | None:
        """The credential of a report."""
        own = self.own[number * self.size : (number + 1) * self.size]
        return f"{self.before}{own.hex()}{self.after}" if own else None
