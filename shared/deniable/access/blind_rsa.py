"""Blind RSA signatures, RFC 9474: the operations of the client and the verifier, who hold the public key.

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
"""Length of a modulus, in bits."""

SIZE = BITS // 8
"""Length of a modulus, a blinded message and a signature, in bytes."""

EXPONENT = 65537
"""The public exponent that RFC 9578 asks for."""

SALT = HASH = 48
"""Length of a salt and of a SHA-384, in bytes."""

_BEFORE = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202"
    "a11a301806092a864886f70d010108300b0609608648016503040202a20302013003"
    "82010f003082010a0282010100"
)
"""SubjectPublicKeyInfo up to the modulus: RSASSA-PSS with SHA-384, MGF1 with SHA-384, and 48 bytes of salt."""

_AFTER = bytes.fromhex("0203010001")


class BlindedMessage(NamedTuple):
    """A blinded message, and the inverse of its blinding factor modulo the key's modulus."""

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
        # Written again and compared, so that no other encoding of the same key is taken.
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
    ) -> BlindedMessage:
        """Blind a message for the signer (RFC 9474, section 4.2).

        Parameters
        ----------
        message : bytes
        salt : bytes, optional
            48 random bytes.
        below : callable
            Draws a uniform whole number below its argument.

        Raises
        ------
        SurveyError
            If the message, or the number drawn, has a factor in common with the modulus. With the product of two large
            primes that never happens. With a modulus made of small ones the blinded message keeps such a factor, so
            that the maker of the key could know the message again (the "invalid input" of the standard).
        """
        # RFC 9474, section 4.2, steps 1 to 3: the encoded message must have no factor in common with the modulus.
        encoded = int.from_bytes(encode(message, os.urandom(SALT) if salt is None else salt, self.size))
        # Step 4: r, uniform below n; one signature for r^e m is r times the signature of m, which is what blinds it.
        factor = below(self.modulus)
        if gcd(encoded * factor, self.modulus) != 1:
            raise SurveyError("key: must be a product of large primes; this one has small factors, and hides nothing")
        # Steps 6 and 7: x = r^e mod n, z = m x mod n. The inverse of r takes the blinding off: (m r^e)^d = m^d r.
        blinded = encoded * pow(factor, EXPONENT, self.modulus) % self.modulus
        return BlindedMessage(blinded.to_bytes(self.size), pow(factor, -1, self.modulus))

    def finalize(self, message: bytes, blind_signature: bytes, inverse: int) -> bytes | None:
        """Take the blinding off a signature (RFC 9474, section 4.4); None if it does not sign the message.

        A signature that does not verify must not be used or sent: a dishonest signer could mark a device by it.
        """
        # RFC 9474, section 4.4, steps 2 to 4: s = z inv mod n, then RSASSA-PSS-VERIFY.
        signature = (int.from_bytes(blind_signature) * inverse % self.modulus).to_bytes(self.size)
        return signature if self.verifies(message, signature) else None

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether this is a signature of the message (RSASSA-PSS-VERIFY of RFC 8017)."""
        number = int.from_bytes(signature)
        # RFC 8017, section 5.2.2: a representative that is not below the modulus is out of range.
        if len(signature) != self.size or number >= self.modulus:
            return False
        encoded = pow(number, EXPONENT, self.modulus).to_bytes(self.size)
        # maskedDB || H || 0xbc, RFC 8017, section 9.1.2; the salt is read from it and the whole encoded anew.
        masked, digest = encoded[: -HASH - 1], encoded[-HASH - 1 : -1]
        salt = _xor(masked, _mask(digest, len(masked)))[-SALT:]
        # Encoding the message with the salt that was found checks every other byte at once.
        return hmac.compare_digest(encode(message, salt, self.size), encoded)


def encode(message: bytes, salt: bytes, size: int = SIZE) -> bytes:
    """EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, with ``emBits = 8 size - 1``."""
    # H = Hash(eight zero bytes || mHash || salt): step 6.
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    # DB = PS || 0x01 || salt: step 8.
    padded = bytes(size - HASH - SALT - 2) + b"\x01" + salt
    masked = bytearray(_xor(padded, _mask(digest, len(padded))))
    # emBits is one less than the modulus has, so the leftmost bit must be 0 (step 11).
    masked[0] &= 0x7F
    return bytes(masked) + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 of RFC 8017, appendix B.2.1."""
    blocks = (hashlib.sha384(seed + counter.to_bytes(4)).digest() for counter in range(-(-length // HASH)))
    return b"".join(blocks)[:length]


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left) ^ int.from_bytes(right)).to_bytes(len(left))
