"""Blind tokens as ``docs/access.md`` names them: RFC 9474 (RSABSSA-SHA384-PSS-Deterministic), RFC 9577 and RFC 9578."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from deniable_client.audit.reference.published import PublishedSurvey, compact

NONCE, SALT, SIZE = 32, 48, 256
"""Lengths of a nonce, of a salt, and of a modulus or signature, in bytes."""

_TYPE = bytes([0, 2])
_EXPONENT = 65537
_DIGEST = hashlib.sha384().digest_size
_AFTER_MODULUS = 5
"""The exponent at the end of a public key: two bytes of type and length, three of the number."""

Power = Callable[[int], int]
"""The private operation of an issuer: a number to the power of the private exponent."""


@dataclass(frozen=True)
class UnsignedToken:
    """A token before it is signed, made of given chance.

    Attributes
    ----------
    survey : PublishedSurvey
    nonce, salt : str
        In hexadecimal.
    factor : int
        What hides the message from the issuer.
    """

    survey: PublishedSurvey
    nonce: str
    salt: str
    factor: int

    @property
    def id(self) -> str:
        """The id of the report that the token lets count."""
        return self.nonce[:32]

    def body(self, invitation: str) -> bytes:
        """What the issuer is sent."""
        n = modulus(self.survey)
        hidden = self._encoded * pow(self.factor, _EXPONENT, n) % n
        blinded = hidden.to_bytes(SIZE, "big").hex()
        return compact({"invitation": invitation, "blinded": blinded}).encode("ascii")

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """What would join the token with its request: what the issuer was shown, and what hides or unhides it."""
        n = modulus(self.survey)
        hidden = self._encoded * pow(self.factor, _EXPONENT, n) % n
        return tuple(each.to_bytes(SIZE, "big") for each in (hidden, self.factor, pow(self.factor, -1, n)))

    def token(self, power: Power) -> str:
        """The token that a report carries, signed by whoever has the private key."""
        return (self._message + power(self._encoded).to_bytes(SIZE, "big")).hex()

    @property
    def _message(self) -> bytes:
        key = bytes.fromhex(self.survey.content["issuer"]["key"])
        challenge = hashlib.sha256(_challenge(self.survey)).digest()
        return _TYPE + bytes.fromhex(self.nonce) + challenge + hashlib.sha256(key).digest()

    @property
    def _encoded(self) -> int:
        return encode(self._message, bytes.fromhex(self.salt))


def modulus(survey: PublishedSurvey) -> int:
    """The modulus of the key that a survey publishes."""
    key = bytes.fromhex(survey.content["issuer"]["key"])
    return int.from_bytes(key[-SIZE - _AFTER_MODULUS : -_AFTER_MODULUS], "big")


def encode(message: bytes, salt: bytes) -> int:
    """EMSA-PSS-ENCODE (RFC 8017, section 9.1.1) to 2047 bits."""
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    room = SIZE - _DIGEST - 1
    block = b"\x01" + salt
    mask = b"".join(
        hashlib.sha384(digest + number.to_bytes(4, "big")).digest() for number in range(room // _DIGEST + 1)
    )
    masked = int.from_bytes(block, "big") ^ int.from_bytes(mask[:room], "big")
    # The leftmost bit of the first byte is none of the 2047.
    masked &= (1 << (8 * room - 1)) - 1
    return int.from_bytes(masked.to_bytes(room, "big") + digest + b"\xbc", "big")


def right_of(credential: str) -> str:
    """What a head says of the credential that a body bears: the hash of an invitation, or a token (RFC 9577, 2.2)."""
    raw = bytes.fromhex(credential)
    if len(raw) == 16:
        return f"Invitation {hashlib.sha256(raw).hexdigest()}"
    return f'PrivateToken token="{base64.urlsafe_b64encode(raw).decode("ascii")}"'


def question_about(invitation: str) -> bytes:
    """What a collector is asked of an invitation before there is a report: its hash."""
    return json.dumps({"hash": hashlib.sha256(bytes.fromhex(invitation)).hexdigest()}, separators=(",", ":")).encode()


def _challenge(survey: PublishedSurvey) -> bytes:
    """The TokenChallenge (RFC 9577, section 2.1.1): bound to the bytes of the survey, and to no origin."""
    url = survey.content["issuer"].get("url")
    name = (url.split("/")[2] if url else "collector").encode("ascii")
    context = hashlib.sha256(survey.document).digest()
    return b"".join((_TYPE, len(name).to_bytes(2, "big"), name, bytes([len(context)]), context, bytes(2)))
