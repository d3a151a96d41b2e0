"""The credentials of the reports of an audit; as for people, they are drawn before there is an answer."""

from __future__ import annotations

import os
from dataclasses import dataclass

from deniable import Survey
from deniable.access.blind_rsa import SIZE
from deniable.access.issuer import NONCE, TOKEN_TYPE

INVITATION = 16
"""Length of an invitation, in bytes."""


@dataclass(frozen=True)
class Credentials:
    """One credential for each report, in hexadecimal: an invitation, or a text in the form of a token.

    Attributes
    ----------
    before, after : str
        The texts before and after the random part, which all credentials have in common.
    own : bytes
        The random parts, one after the other: invitations, or nonces of tokens.
    size : int
        Length of each random part in bytes; 0 where reports carry no credential.

    Notes
    -----
    The signatures of these tokens are zeros: an auditor has no key, and a client does not verify a token that it has.
    """

    before: str = ""
    after: str = ""
    own: bytes = b""
    size: int = 0

    @classmethod
    def of(cls, survey: Survey, n: int) -> Credentials:
        """Random credentials for ``n`` reports."""
        if survey.tokens:
            whole, start = survey.tokens.token(bytes(NONCE), bytes(SIZE)), 2 * len(TOKEN_TYPE)
            return cls(whole[:start], whole[start + 2 * NONCE :], os.urandom(NONCE * n), NONCE)
        size = INVITATION if survey.access == "invited" else 0
        return cls(own=os.urandom(size * n), size=size)

    def __getitem__(self, number: int) -> str | None:
        """The credential of a report."""
        own = self.own[number * self.size : (number + 1) * self.size]
        return f"{self.before}{own.hex()}{self.after}" if own else None
