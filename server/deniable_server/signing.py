"""Blind RSA signatures, RFC 9474: the operations of the signer, who holds the private key."""

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
    """A signature came out wrong, as after a hardware fault; nobody was given it."""


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
        """SHA-256 of the public half, in hexadecimal: the key id in tokens."""
        return hashlib.sha256(self.public.der).hexdigest()

    def can_sign(self, blinded: bytes) -> bool:
        """Whether this is a blinded message for a key of this modulus."""
        modulus = self.public.modulus
        return len(blinded) == -(-modulus.bit_length() // 8) and 0 < int.from_bytes(blinded) < modulus

    def blind_sign(self, blinded: bytes, below: Callable[[int], int] = secrets.randbelow) -> bytes:
        """Sign a blinded message (RFC 9474, section 4.3).

        The message is multiplied by a random number before it is raised to the private exponent, so that timing reveals
        nothing about the key. The signature is verified before anybody gets it: a faulty one would reveal the primes.

        Parameters
        ----------
        blinded : bytes
            As long as the modulus, 256 bytes; see `can_sign`.
        below : callable
            Draws a uniform whole number below its argument.

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
        # Base blinding (RFC 9474, section 7.1 on side channels): what is exponentiated is independent of the request.
        while gcd(factor, modulus) != 1:  # almost always the first one will do
            factor = below(modulus)
        message = int.from_bytes(blinded)
        hidden = message * pow(factor, EXPONENT, modulus) % modulus
        # Chinese remainders: half the length twice is about four times as fast as once with d modulo n.
        of_p, of_q = pow(hidden, numbers.dmp1, numbers.p), pow(hidden, numbers.dmq1, numbers.q)
        # Garner: s = s_q + q ((s_p - s_q) q^-1 mod p), with iqmp = q^-1 mod p.
        signed = of_q + numbers.q * ((of_p - of_q) * numbers.iqmp % numbers.p)
        signature = signed * pow(factor, -1, modulus) % modulus
        # Of one faulty half gcd(s^e - m, n) is a prime factor (Boneh, DeMillo and Lipton), so it must never leave.
        if pow(signature, EXPONENT, modulus) != message:
            raise SigningFault("blind signature: came out wrong and was not given away; the machine may be faulty")
        return signature.to_bytes(len(blinded))
