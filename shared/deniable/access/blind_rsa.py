"""Blind RSA signatures, RFC 9474: what whoever holds a public key can do.

The variant is RSABSSA-SHA384-PSS-Deterministic with keys of 2048 bits and the exponent 65537, which RFC 9578 asks for.
Its messages hold 32 random bytes of their own, so they are not randomised again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from deniable.errors import SurveyError

BITS = 2048
SIZE = BITS // 8
"""Bytes of a modulus, a blinded message and a signature, where the key is of `BITS` bits."""

EXPONENT = 65537
SALT = HASH = 48
"""Bytes of a salt, and of a SHA-384."""

_BEFORE = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202"
    "a11a301806092a864886f70d010108300b0609608648016503040202a20302013003"
    "82010f003082010a0282010100"
)
"""SubjectPublicKeyInfo up to the modulus: RSASSA-PSS with SHA-384, MGF1 of it, and 48 bytes of salt."""

_AFTER = bytes.fromhex("0203010001")


class Blinded(NamedTuple):
    """A blinded message, and what takes the blinding off again."""

    message: bytes
    inverse: int


@dataclass(frozen=True)
class PublicKey:
    """A public key for blind signatures.

    Attributes
    ----------
    modulus : int
        Odd. Keys of surveys have exactly 2048 bits, as `parse` checks; what is computed takes any multiple of 8.
    """

    modulus: int

    @classmethod
    def parse(cls, der: bytes) -> PublicKey:
        """Read a SubjectPublicKeyInfo as RFC 9578 (section 8.2.2) has it.

        Raises
        ------
        SurveyError
            If it is not such a key, or of another size or exponent.
        """
        modulus = int.from_bytes(der[len(_BEFORE) : -len(_AFTER)])
        if modulus.bit_length() != BITS or modulus % 2 == 0 or cls(modulus).der != der:
            raise SurveyError("key: must be an RSASSA-PSS key of 2048 bits with SHA-384 and the exponent 65537")
        return cls(modulus)

    @property
    def der(self) -> bytes:
        """The SubjectPublicKeyInfo, 342 bytes."""
        return _BEFORE + self.modulus.to_bytes(SIZE) + _AFTER

    @property
    def size(self) -> int:
        """Bytes of the modulus, a blinded message and a signature."""
        return self.modulus.bit_length() // 8

    def blind(
        self,
        message: bytes,
        salt: bytes | None = None,
        below: Callable[[int], int] = secrets.randbelow,
    ) -> Blinded:
        """Hide a message from whoever is to sign it (RFC 9474, section 4.2).

        Parameters
        ----------
        message : bytes
        salt : bytes, optional
            48 random bytes.
        below : callable
            A uniform whole number below the one given.

        Raises
        ------
        SurveyError
            If the message, or the number drawn, has a factor in common with the modulus. With the product of two large
            primes that never happens. With a modulus made of small ones the blinded message keeps such a factor, so
            that whoever made it could know the message again (the "invalid input" of the standard).
        """
        encoded = int.from_bytes(encode(message, os.urandom(SALT) if salt is None else salt, self.size))
        factor = below(self.modulus)
        if gcd(encoded * factor, self.modulus) != 1:
            raise SurveyError("key: must be a product of large primes; this one has small factors, and hides nothing")
        blinded = encoded * pow(factor, EXPONENT, self.modulus) % self.modulus
        return Blinded(blinded.to_bytes(self.size), pow(factor, -1, self.modulus))

    def finalize(self, message: bytes, blind_signature: bytes, inverse: int) -> bytes | None:
        """Take the blinding off a signature (RFC 9474, section 4.4); None if it does not sign the message.

        What does not is not to be used or sent: a key that was made to be dishonest could tell devices apart by it.
        """
        signature = (int.from_bytes(blind_signature) * inverse % self.modulus).to_bytes(self.size)
        return signature if self.verifies(message, signature) else None

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether this is a signature of the message (RSASSA-PSS-VERIFY of RFC 8017)."""
        number = int.from_bytes(signature)
        if len(signature) != self.size or number >= self.modulus:
            return False
        encoded = pow(number, EXPONENT, self.modulus).to_bytes(self.size)
        masked, digest = encoded[: -HASH - 1], encoded[-HASH - 1 : -1]
        salt = _xor(masked, _mask(digest, len(masked)))[-SALT:]
        return hmac.compare_digest(encode(message, salt, self.size), encoded)


def encode(message: bytes, salt: bytes, size: int = SIZE) -> bytes:
    """EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, to one bit less than so many bytes have."""
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    padded = bytes(size - HASH - SALT - 2) + b"\x01" + salt
    masked = bytearray(_xor(padded, _mask(digest, len(padded))))
    masked[0] &= 0x7F
    return bytes(masked) + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 of RFC 8017, appendix B.2.1."""
    blocks = (hashlib.sha384(seed + counter.to_bytes(4)).digest() for counter in range(-(-length // HASH)))
    return b"".join(blocks)[:length]


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left) ^ int.from_bytes(right)).to_bytes(len(left))
