"""The issuer of a survey's blind tokens, and their content: RFC 9577 and RFC 9578, token type 0x0002."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

from deniable.access.blind_rsa import SIZE, PublicKey
from deniable.access.hosts import check_origin
from deniable.errors import SurveyError, describe

TOKEN_TYPE = bytes([0, 2])
"""Token type 0x0002, Blind RSA (2048-bit), of RFC 9578."""

NONCE = 32
"""Length of a nonce, in bytes."""

TOKEN_DIGITS = 2 * (len(TOKEN_TYPE) + NONCE + 32 + 32 + SIZE)
"""Length of a token in hexadecimal digits: type, nonce, challenge digest, key id and signature."""

COLLECTOR = "collector"
"""The issuer name in challenges where the collector itself signs."""

_KEY = re.compile(r"(?:[0-9a-f]{2})+")


@dataclass(frozen=True)
class Issuer:
    """The issuer that signs the blind tokens of a survey.

    Attributes
    ----------
    key : str
        The public key, a SubjectPublicKeyInfo in hexadecimal. It signs for this survey alone.
    url : str or None
        The issuer's address, like ``"https://issuer.example"``; None where the collector signs. ``http://`` is allowed
        for an issuer on the same machine alone.
    """

    key: str
    url: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not _KEY.fullmatch(self.key):
            raise SurveyError(f"issuer.key: must be lower-case hexadecimal digits, got {describe(self.key)}")
        try:
            self.public  # noqa: B018  # reads it
        except SurveyError as error:
            raise SurveyError(f"issuer.{error}") from None
        if self.url is not None:
            check_origin(self.url, "issuer.url", who="an issuer", danger="read invitations and use them")

    @cached_property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey.parse(bytes.fromhex(self.key))

    @property
    def key_id(self) -> bytes:
        """SHA-256 of the public key, 32 bytes: the key id in tokens."""
        # token_key_id, RFC 9578, section 6.1: SHA-256 of the encoded public key.
        return hashlib.sha256(bytes.fromhex(self.key)).digest()

    @property
    def name(self) -> str:
        """The issuer name in challenges: host and port, or ``collector``."""
        return COLLECTOR if self.url is None else self.url.split("/")[2]


@dataclass(frozen=True)
class Tokens:
    """The tokens of one survey, in hexadecimal.

    Attributes
    ----------
    issuer : Issuer
    document : bytes
        The published survey, to whose bytes the tokens are bound.
    """

    issuer: Issuer
    document: bytes

    @cached_property
    def challenge(self) -> bytes:
        """The TokenChallenge of RFC 9577, section 2.1.1: bound to the survey's bytes, and to no origin."""
        # token_type || issuer_name<1..2^16-1> || redemption_context<0..32> || origin_info<0..2^16-1>, the last one
        # empty.
        name = self.issuer.name.encode("ascii")
        context = hashlib.sha256(self.document).digest()
        return TOKEN_TYPE + len(name).to_bytes(2) + name + bytes([len(context)]) + context + bytes(2)

    @cached_property
    def _bound(self) -> bytes:
        # challenge_digest || token_key_id, which every token of the survey holds after its nonce.
        return hashlib.sha256(self.challenge).digest() + self.issuer.key_id

    def message(self, nonce: bytes) -> bytes:
        """The signed part of a token: type, nonce, challenge digest and key id (RFC 9578, section 6.1)."""
        return TOKEN_TYPE + nonce + self._bound

    def token(self, nonce: bytes, signature: bytes) -> str:
        """A token, as a report carries it."""
        return (self.message(nonce) + signature).hex()

    @cached_property
    def pattern(self) -> str:
        """A regular expression of the tokens of this survey; it does not check the signature."""
        # Type and binding in full: a token of another survey or key fails here, before any arithmetic.
        return f"{TOKEN_TYPE.hex()}[0-9a-f]{{{2 * NONCE}}}{self._bound.hex()}[0-9a-f]{{{2 * SIZE}}}"

    def verifies(self, token: str) -> bool:
        """Whether a text that fits the pattern was signed by the issuer."""
        raw = bytes.fromhex(token)
        return self.issuer.public.verifies(raw[:-SIZE], raw[-SIZE:])


def nonce_of(token: str) -> bytes:
    """The nonce of a token."""
    return bytes.fromhex(token)[len(TOKEN_TYPE) :][:NONCE]


def report_id(nonce: bytes) -> str:
    """The report id that belongs to a nonce: its first half, so that a token is spent by storing its report."""
    # 16 of 32 bytes: the other half stays unknown to whoever sees the id alone.
    return nonce[:16].hex()
