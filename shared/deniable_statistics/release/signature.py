"""Signatures of releases: Ed25519 (RFC 8032), by the package ``cryptography``, which is imported where it is used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class VerifyingKey:
    """The public key of a collector's releases.

    Attributes
    ----------
    raw : bytes
        32 bytes.
    """

    raw: bytes

    @property
    def key_id(self) -> str:
        """SHA-256 of the key, in hexadecimal: what people compare."""
        return hashlib.sha256(self.raw).hexdigest()

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature is that of a message."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True
