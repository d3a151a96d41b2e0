"""The blind token of one person: made here, signed by an issuer who never sees it, spent with a report.

The request is kept before the issuer is asked, and sent again until it is signed: an issuer signs one message for an
invitation, as often as it comes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from deniable.access.blind_rsa import SIZE, BlindedMessage
from deniable.access.issuer import NONCE, Tokens
from deniable.errors import CollectorError, NotInvited
from deniable.survey.document import Survey


@dataclass(frozen=True)
class UnsignedToken:
    """A token without its signature: the request to the issuer, and what completes it.

    Attributes
    ----------
    nonce : bytes
        32 random bytes, the first half of which is the id of the report that the token lets count. The issuer sees
        none of them.
    blinded : BlindedMessage
        The blinded message that the issuer signs, and the inverse of its blinding factor.
    """

    nonce: bytes = field(repr=False)
    blinded: BlindedMessage = field(repr=False)

    @classmethod
    def new(cls, survey: Survey) -> UnsignedToken:
        """A fresh token without a signature, from the system's secure source."""
        tokens = tokens_of(survey)
        nonce = os.urandom(NONCE)
        # Blinded before anybody sees it: the signature that comes back fits a message that the issuer never saw.
        return cls(nonce, tokens.issuer.public.blind(tokens.message(nonce)))

    def encode(self) -> str:
        """The form in which a memory keeps it, in hexadecimal."""
        return (self.nonce + self.blinded.message + self.blinded.inverse.to_bytes(SIZE)).hex()

    @classmethod
    def parse(cls, text: str) -> UnsignedToken:
        """Read what `encode` wrote; a ValueError if it is something else."""
        raw = bytes.fromhex(text)
        if len(raw) != NONCE + 2 * SIZE:
            raise ValueError("token request: must be of another length")
        return cls(raw[:NONCE], BlindedMessage(raw[NONCE:-SIZE], int.from_bytes(raw[-SIZE:])))

    def token(self, survey: Survey, blind_signature: bytes) -> str:
        """The token, as a report carries it.

        Raises
        ------
        CollectorError
            If the signature does not sign it. Such a token is never used: an issuer that signs with other keys could
            know devices again by it.
        """
        tokens = tokens_of(survey)
        # Unblinds and verifies: a signature by another key would mark this device.
        signature = tokens.issuer.public.finalize(tokens.message(self.nonce), blind_signature, self.blinded.inverse)
        if signature is None:
            raise CollectorError(
                f"issuer {tokens.issuer.name}: must sign with the key of survey {survey.id}, got a signature that does "
                "not verify; no answer was sent, and a token made of it would not be safe to use"
            )
        return tokens.token(self.nonce, signature)


def tokens_of(survey: Survey) -> Tokens:
    """The blind tokens of a survey, which must have some."""
    if survey.tokens is None:
        raise NotInvited(f"survey {survey.id}: has no blind tokens, its access is {survey.access!r}")
    return survey.tokens
