"""HPKE (RFC 9180) in base mode, with a context that also exports secrets.

Sealed reports are one message to one key, which `cryptography` does as a whole. Oblivious HTTP derives the key of a
response from the context of its request, and that library gives no context. So these are the RFC's own lines on the
library's primitives: DHKEM of P-256 or X25519, HKDF-SHA256, AES-128-GCM. Names are those of the RFC.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from deniable.errors import MessageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    Private = EllipticCurvePrivateKey | X25519PrivateKey

KDF, AEAD = 0x0001, 0x0001
"""Identifiers of HKDF-SHA256 and AES-128-GCM (RFC 9180, sections 7.2 and 7.3)."""

KEMS = {0x0010: 65, 0x0020: 32}
"""Length of a public key in bytes by the identifier of its KEM: P-256 and X25519 (section 7.1)."""

KEY, NONCE, TAG = 16, 12, 16
"""Lengths of AES-128-GCM in bytes: Nk, Nn and Nt."""


@dataclass(frozen=True)
class Context:
    """What sender and recipient share, for one message and any number of exported secrets (section 5.1).

    Attributes
    ----------
    enc : bytes
        The encapsulated key.
    suite : bytes
        The identifiers of the suite, to which every derived secret is bound.
    secret, bound : bytes
        What all others are derived from, and what they are bound to. They never show in a ``repr``.
    """

    enc: bytes
    suite: bytes = field(repr=False)
    secret: bytes = field(repr=False)
    bound: bytes = field(repr=False)

    @property
    def key(self) -> bytes:
        """The key of the one message."""
        return _labeled_expand(self.suite, self.secret, b"key", self.bound, KEY)

    @property
    def nonce(self) -> bytes:
        """The nonce of the one message."""
        return _labeled_expand(self.suite, self.secret, b"base_nonce", self.bound, NONCE)

    def seal(self, plaintext: bytes) -> bytes:
        """The ciphertext of the one message, without associated data."""
        return aes_seal(self.key, self.nonce, plaintext)

    def open(self, ciphertext: bytes) -> bytes:
        """The one message; a MessageError if it was changed, or sealed to another key."""
        return aes_open(self.key, self.nonce, ciphertext)

    def export(self, context: bytes, length: int) -> bytes:
        """A secret of at most 32 bytes that both sides know (section 5.3)."""
        # The exporter secret has Nh bytes: 32 of SHA-256.
        exporter = _labeled_expand(self.suite, self.secret, b"exp", self.bound, 32)
        return _labeled_expand(self.suite, exporter, b"sec", context, length)


def kem_of(public: bytes) -> int:
    """The identifier of the KEM of a public key, by its length."""
    for kem, length in KEMS.items():
        if len(public) == length:
            return kem
    raise MessageError(f"public key: must be {' or '.join(map(str, KEMS.values()))} bytes, got {len(public)}")


def setup_sender(public: bytes, info: bytes, ephemeral: Private | None = None) -> Context:
    """SetupBaseS: a context for one message to a public key.

    Parameters
    ----------
    public : bytes
        65 bytes of P-256, an uncompressed point, or 32 of X25519.
    info : bytes
        What the message is bound to.
    ephemeral : EllipticCurvePrivateKey or X25519PrivateKey, optional
        The ephemeral key, for tests.

    Raises
    ------
    MessageError
        If that is no public key.
    """
    private = ephemeral or _generate(kem_of(public))
    enc = public_bytes(private)
    return _schedule(_decapsulated(private, public, enc, public), enc, kem_of(public), info)


def setup_receiver(private: Private, enc: bytes, info: bytes, public: bytes | None = None) -> Context:
    """SetupBaseR: the context that the sender of an encapsulated key has.

    Parameters
    ----------
    public : bytes, optional
        The public half, where it is known.

    Raises
    ------
    MessageError
        If that is no encapsulated key for this private key.
    """
    public = public or public_bytes(private)
    return _schedule(_decapsulated(private, enc, enc, public), enc, kem_of(public), info)


def public_bytes(private: Private) -> bytes:
    """The public half of a private key, as it is sent."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    if isinstance(private, X25519PrivateKey):
        return private.public_key().public_bytes_raw()
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def aes_seal(key: bytes, nonce: bytes, plaintext: bytes) -> bytes:
    """AES-128-GCM without associated data."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key).encrypt(nonce, plaintext, None)


def aes_open(key: bytes, nonce: bytes, ciphertext: bytes) -> bytes:
    """What `aes_seal` sealed; a MessageError if it was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, ciphertext, None)
    except (InvalidTag, ValueError):
        raise MessageError("ciphertext: must be sealed to this key, and unchanged") from None


def extract(salt: bytes, ikm: bytes) -> bytes:
    """HKDF-Extract with SHA-256 (RFC 5869)."""
    return hmac.digest(salt, ikm, "sha256")


def expand(prk: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand with SHA-256, of one block: at most 32 bytes, the most that anything here takes."""
    assert length <= 32, "one block"
    # RFC 5869, section 2.3: T(1) = HMAC(PRK, info | 0x01), and no further block is needed.
    return hmac.digest(prk, info + b"\1", "sha256")[:length]


def _generate(kem: int) -> Private:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    makers: dict[int, Callable[[], Private]] = {
        0x0010: lambda: generate_private_key(SECP256R1()),
        0x0020: X25519PrivateKey.generate,
    }
    return makers[kem]()


def _decapsulated(private: Private, other: bytes, enc: bytes, recipient: bytes) -> bytes:
    """The shared secret of a key exchange with the public key of the other side (section 4.1)."""
    suite = b"KEM" + kem_of(recipient).to_bytes(2)
    # ExtractAndExpand of section 4.1, bound to both public keys by the context `enc | pkRm`.
    dh = _exchange(private, other)
    prk = _labeled_extract(suite, b"", b"eae_prk", dh)
    return _labeled_expand(suite, prk, b"shared_secret", enc + recipient, 32)


def _exchange(private: Private, public: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDH, SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    try:
        if isinstance(private, X25519PrivateKey):
            return private.exchange(X25519PublicKey.from_public_bytes(public))
        if len(public) != KEMS[0x0010]:  # the library takes compressed points, which HPKE does not know
            raise ValueError
        return private.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), public))
    except ValueError:  # no point of the curve, or one that makes every secret the same
        raise MessageError("encapsulated key: must be a public key of the kind of the recipient's") from None


def _schedule(shared: bytes, enc: bytes, kem: int, info: bytes) -> Context:
    """KeySchedule in base mode (section 5.1)."""
    suite, bound = _bound_to(kem, info)
    return Context(enc, suite, _labeled_extract(suite, shared, b"secret", b""), bound)


@lru_cache(maxsize=256)
def _bound_to(kem: int, info: bytes) -> tuple[bytes, bytes]:
    """The identifiers of the suite, and what secrets are bound to: the same for every report of a survey."""
    suite = b"HPKE" + b"".join(each.to_bytes(2) for each in (kem, KDF, AEAD))
    # Mode 0 is base mode, and psk_id is empty in it.
    bound = b"\0" + _labeled_extract(suite, b"", b"psk_id_hash", b"")
    return suite, bound + _labeled_extract(suite, b"", b"info_hash", info)


def _labeled_extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    return extract(salt, b"HPKE-v1" + suite + label + ikm)


def _labeled_expand(suite: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    # I2OSP(L, 2) stands in front, so that secrets of different lengths have nothing in common.
    return expand(prk, length.to_bytes(2) + b"HPKE-v1" + suite + label + info, length)
