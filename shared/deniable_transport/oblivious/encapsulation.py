"""Requests and responses of Oblivious HTTP (RFC 9458), and the keys to which requests are sealed.

Requests of a survey are sealed to the keys that it publishes, so that its address says which ones these are: nobody can
give one person a key of their own to know them by. The number of the week is the identifier of the key.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import MessageError
from deniable_transport.oblivious.hpke import (
    AEAD,
    KDF,
    KEMS,
    KEY,
    NONCE,
    TAG,
    Context,
    aes_open,
    aes_seal,
    expand,
    extract,
    kem_of,
    setup_receiver,
    setup_sender,
)

if TYPE_CHECKING:
    from deniable_transport.oblivious.hpke import Private

KEYS, REQUEST, RESPONSE = "application/ohttp-keys", "message/ohttp-req", "message/ohttp-res"
"""Media types of key configurations, of requests and of responses (RFC 9458, section 9)."""

PADDED = 1024
"""Requests and responses are padded to a multiple of this number of bytes, so that lengths tell whoever relays them
next to nothing."""

_HEADER = 7


@dataclass(frozen=True)
class KeyConfiguration:
    """A public key of a gateway (section 3.1).

    Attributes
    ----------
    identifier : int
        From 0 to 255.
    public : bytes
        65 bytes of P-256, or 32 of X25519.
    algorithms : tuple of (int, int)
        Pairs of a KDF and an AEAD that the gateway takes.
    """

    identifier: int
    public: bytes
    algorithms: tuple[tuple[int, int], ...] = ((KDF, AEAD),)

    def encode(self) -> bytes:
        """The configuration."""
        pairs = b"".join(kdf.to_bytes(2) + aead.to_bytes(2) for kdf, aead in self.algorithms)
        head = self.identifier.to_bytes(1) + kem_of(self.public).to_bytes(2) + self.public
        return head + len(pairs).to_bytes(2) + pairs

    @classmethod
    def parse(cls, content: bytes) -> KeyConfiguration | None:
        """Read a configuration; None where its KEM is another one than ours.

        Raises
        ------
        MessageError
            If it is none.
        """
        kem = int.from_bytes(content[1:3])
        if len(content) > _HEADER and kem not in KEMS:
            return None
        # One byte of identifier and two of the KEM stand before the public key.
        rest = content[3 + KEMS.get(kem, 0) :]
        size = int.from_bytes(rest[:2])
        # A pair of algorithms is four bytes: two of the KDF, two of the AEAD.
        if len(content) <= _HEADER or not size or size % 4 or len(rest) != 2 + size:
            raise MessageError(
                "key configuration: must be one as RFC 9458 has it, with at least one pair of algorithms"
            )
        numbers = [int.from_bytes(rest[at : at + 2]) for at in range(2, len(rest), 2)]
        return cls(content[0], content[3 : 3 + KEMS[kem]], tuple(zip(numbers[::2], numbers[1::2], strict=True)))

    @property
    def is_usable(self) -> bool:
        """Whether it has the algorithms that are used here."""
        return (KDF, AEAD) in self.algorithms


def encode_keys(configurations: Iterable[KeyConfiguration]) -> bytes:
    """Several configurations, each behind its length (section 3.2)."""
    encoded = [each.encode() for each in configurations]
    return b"".join(len(each).to_bytes(2) + each for each in encoded)


def parse_keys(content: bytes) -> list[KeyConfiguration]:
    """The configurations that can be used here; a MessageError if that is no list of configurations."""
    found = []
    while content:
        size = int.from_bytes(content[:2])
        if len(content) < 2 + size or not size:
            raise MessageError("key configurations: must not end within one of them")
        found.append(KeyConfiguration.parse(content[2 : 2 + size]))
        content = content[2 + size :]
    # A client skips what it does not know, so that a gateway can offer new suites beside old ones.
    return [each for each in found if each and each.is_usable]


@dataclass(frozen=True)
class Encapsulated:
    """A request as it is sent, and what reads the response.

    Attributes
    ----------
    message : bytes
    context : Context
    """

    message: bytes
    context: Context

    def response(self, message: bytes) -> bytes:
        """The binary response in an encapsulated one; a MessageError if it was made for another request."""
        if len(message) < KEY + TAG:
            raise MessageError(f"encapsulated response: must be at least {KEY + TAG} bytes, got {len(message)}")
        return aes_open(*_keys_of_response(self.context, message[:KEY]), message[KEY:])


def encapsulate(configuration: KeyConfiguration, request: bytes, ephemeral: Private | None = None) -> Encapsulated:
    """Seal a binary request to a key of a gateway (section 4.3)."""
    header = configuration.identifier.to_bytes(1) + _algorithms(kem_of(configuration.public))
    # The header is part of what the key schedule is bound to, so that nobody on the way can change it.
    context = setup_sender(configuration.public, _info(header), ephemeral)
    return Encapsulated(header + context.enc + context.seal(request), context)


def decapsulate(message: bytes, private_of: Callable[[int], Private | None]) -> tuple[bytes, Context]:
    """The binary request in an encapsulated one, and the context for its response.

    Parameters
    ----------
    private_of : callable
        The private key of an identifier; None where there is none.

    Raises
    ------
    MessageError
        If it is not sealed to one of these keys, by the algorithms that are used here, or was changed.
    """
    from deniable_transport.oblivious.hpke import public_bytes

    # The first byte of the header is the identifier of the key.
    private = private_of(message[0]) if message else None
    if private is None:
        raise MessageError("encapsulated request: must begin with the identifier of a key of this gateway")
    kem = kem_of(public_bytes(private))
    size = _HEADER + KEMS[kem]
    # Only the suite of the key itself is taken, so that nobody can talk a gateway into a weaker one.
    if message[1:_HEADER] != _algorithms(kem) or len(message) < size + TAG:
        raise MessageError("encapsulated request: must be sealed by the algorithms of its key")
    context = setup_receiver(private, message[_HEADER:size], _info(message[:_HEADER]))
    return context.open(message[size:]), context


def encapsulate_response(context: Context, response: bytes, nonce: bytes | None = None) -> bytes:
    """Seal a binary response to whoever sent the request of this context (section 4.4).

    Parameters
    ----------
    nonce : bytes, optional
        16 bytes, for tests; otherwise random.
    """
    nonce = nonce or secrets.token_bytes(KEY)
    return nonce + aes_seal(*_keys_of_response(context, nonce), response)


def _keys_of_response(context: Context, nonce: bytes) -> tuple[bytes, bytes]:
    secret = context.export(b"message/bhttp response", KEY)  # max(Nn, Nk) is Nk
    # The salt joins the encapsulated key with the nonce of the response, so each response has keys of its own.
    prk = extract(context.enc + nonce, secret)
    return expand(prk, b"key", KEY), expand(prk, b"nonce", NONCE)


def _algorithms(kem: int) -> bytes:
    return b"".join(each.to_bytes(2) for each in (kem, KDF, AEAD))


def _info(header: bytes) -> bytes:
    return b"message/bhttp request\0" + header
