"""Keys of an audit's own: with them it signs the tokens, and opens the sealed reports, of the copies that it asks."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable.access.blind_rsa import PublicKey
from deniable.survey.sealed import WEEK, info_of

WEEKS = 2
"""Keys of a copy's sealed reports: that of the week before and that of this one, so that its number matters."""

POINT = 65
"""Length of an encapsulated key of P-256, in bytes."""


class NotSealed(Exception):
    """What came is not sealed to the key of this week."""


@dataclass(frozen=True)
class Opened:
    """A sealed report that was opened.

    Attributes
    ----------
    padded : bytes
        The report and the zeros behind it.
    ephemeral : str
        The encapsulated key, in hexadecimal; chance of the device, which no two sealed reports have in common.
    """

    padded: bytes
    ephemeral: str


class _Rsa(NamedTuple):
    """The numbers of a private key of RSA; those of its two primes make the private operation four times as fast."""

    n: int
    p: int
    q: int
    d_p: int
    d_q: int
    q_inverse: int

    def power(self, number: int) -> int:
        """The private operation, by the Chinese remainder theorem (RFC 8017, section 5.1.2)."""
        of_p, of_q = pow(number, self.d_p, self.p), pow(number, self.d_q, self.q)
        return of_q + (of_p - of_q) * self.q_inverse % self.p * self.q


class AuditKeys:
    """Made when they are first needed, and kept nowhere; they can be handed to other processes of the audit."""

    @cached_property
    def _signing(self) -> _Rsa:
        made = rsa.generate_private_key(65537, 2048).private_numbers()
        return _Rsa(made.public_numbers.n, made.p, made.q, made.dmp1, made.dmq1, made.iqmp)

    @cached_property
    def _secrets(self) -> tuple[int, ...]:
        """The private half of each key that opens sealed reports."""
        made = (ec.generate_private_key(ec.SECP256R1()) for _ in range(WEEKS))
        return tuple(each.private_numbers().private_value for each in made)

    @property
    def _opening(self) -> tuple[ec.EllipticCurvePrivateKey, ...]:
        return tuple(ec.derive_private_key(each, ec.SECP256R1()) for each in self._secrets)

    @cached_property
    def _powers(self) -> dict[int, int]:
        """Results by number: the two people of a pair have the same token, signed by the stand-in and by the audit."""
        return {}

    @property
    def issuer(self) -> dict[str, str]:
        """The issuer of a copy, as surveys publish it."""
        return {"key": PublicKey(self._signing.n).der.hex()}

    def sealed(self, size: int) -> dict[str, Any]:
        """The keys of a copy, as surveys publish them; the last one is that of today."""
        points = [
            key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint).hex() for key in self._opening
        ]
        return {"first": _first().isoformat(), "keys": points, "size": size}

    @property
    def last_day(self) -> str:
        """The last day of the last key."""
        return (_first() + WEEKS * WEEK - datetime.timedelta(days=1)).isoformat()

    def power(self, number: int) -> int:
        """The private operation of RSA."""
        if number not in self._powers:
            self._powers[number] = self._signing.power(number)
        return self._powers[number]

    def sign(self, blinded: bytes) -> bytes:
        """The blind signature of a message, as an issuer gives it."""
        # 256 bytes: the length of the modulus of 2048 bits.
        return self.power(int.from_bytes(blinded) % self._signing.n).to_bytes(256)

    def open(self, survey: str, body: bytes) -> Opened:
        """A sealed report of a survey, by its address. Raises `NotSealed`."""
        # The first byte is the number of the week, counted from 0; any other key would be the wrong one today.
        if not body or body[0] != WEEKS - 1:
            raise NotSealed("sealed report: must name the key of this week")
        suite = Suite(KEM.P256, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
        try:
            padded = suite.decrypt(body[1:], self._opening[-1], info_of(survey))
        except (InvalidTag, ValueError):
            raise NotSealed("sealed report: must be sealed to the key of this week, for this survey") from None
        return Opened(padded, body[1 : 1 + POINT].hex())


def _first() -> datetime.date:
    # So that today lies in the last week, and the keys before it must be left alone.
    return datetime.datetime.now(datetime.UTC).date() - (WEEKS - 1) * WEEK
