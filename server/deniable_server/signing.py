"""Blind RSA signatures, RFC 9474: what whoever holds the private key does."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from deniable.access.blind_rsa import BITS, EXPONENT, PublicKey


class SigningFault(Exception):
    """A signature came out wrong, as after a fault of the machine; it was not told to anybody."""


@dataclass(frozen=True)
class PrivateKey:
    """A private key of 2048 bits with the exponent 65537.

    Attributes
    ----------
    pem : str
        PKCS#8. It never shows in a ``repr``.
    """

    pem: str = field(repr=False)

    @classmethod
    def generate(cls) -> PrivateKey:
        """A fresh key."""
        key = rsa.generate_private_key(EXPONENT, BITS)
        return cls(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii"))

    @classmethod
    def parse(cls, pem: str) -> PrivateKey:
        """Read a key.

        Raises
        ------
        ValueError
            If it is not a private key, or of another kind or size.
        """
        key = cls(pem)
        if key.public.modulus.bit_length() != BITS or key._numbers.public_numbers.e != EXPONENT:
            raise ValueError("private key: must be of RSA with 2048 bits and the exponent 65537")
        return key

    @cached_property
    def _numbers(self) -> rsa.RSAPrivateNumbers:
        key = load_pem_private_key(self.pem.encode("ascii"), None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError("private key: must be of RSA")
        return key.private_numbers()

    @cached_property
    def public(self) -> PublicKey:
        """The public half."""
        return PublicKey(self._numbers.public_numbers.n)

    @property
    def key_id(self) -> str:
        """SHA-256 of the public half, in hexadecimal: what tokens name it by."""
        return hashlib.sha256(self.public.der).hexdigest()

    def can_sign(self, blinded: bytes) -> bool:
        """Whether this is a blinded message for a key of this modulus."""
        modulus = self.public.modulus
        return len(blinded) == -(-modulus.bit_length() // 8) and 0 < int.from_bytes(blinded) < modulus

    def blind_sign(self, blinded: bytes, below: Callable[[int], int] = secrets.randbelow) -> bytes:
        """Sign a blinded message (RFC 9474, section 4.3).

        What is raised to the private exponent is the message times a random number, so that the time says nothing of
        the key. The signature is compared with the message before anybody gets it: one that a fault spoilt, computed
        by way of the primes, would give them away.

        Parameters
        ----------
        blinded : bytes
            As long as the modulus, 256 bytes; see `can_sign`.
        below : callable
            A uniform whole number below the one given.

        Raises
        ------
        ValueError
            If it is not such a message.
        SigningFault
            If what came out is not a signature of it.
        """
        if not self.can_sign(blinded):
            raise ValueError("blinded message: must be below the modulus of the key, and not 0")
        numbers, modulus = self._numbers, self.public.modulus
        factor = 0
        while gcd(factor, modulus) != 1:  # almost always the first one will do
            factor = below(modulus)
        message = int.from_bytes(blinded)
        hidden = message * pow(factor, EXPONENT, modulus) % modulus
        of_p, of_q = pow(hidden, numbers.dmp1, numbers.p), pow(hidden, numbers.dmq1, numbers.q)
        signed = of_q + numbers.q * ((of_p - of_q) * numbers.iqmp % numbers.p)
        signature = signed * pow(factor, -1, modulus) % modulus
        if pow(signature, EXPONENT, modulus) != message:
            raise SigningFault("blind signature: came out wrong and was not given away; the machine may be faulty")
        return signature.to_bytes(len(blinded))
