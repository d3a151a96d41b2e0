"""Sealing of reports on the device (HPKE, RFC 9180), to the key of the week that the survey publishes."""

from __future__ import annotations

import datetime

from deniable.errors import CollectorError
from deniable.installing import install_hint
from deniable.survey.document import Survey
from deniable.survey.sealed import info_of


def seal(survey: Survey, report: bytes, today: datetime.date | None = None) -> bytes:
    """A report as it is sent: the number of its key, the encapsulated key, the ciphertext.

    Each call gives other bytes, of one length whatever the report says.

    Raises
    ------
    CollectorError
        If `cryptography`, which seals, is not installed; nothing was sent.
    """
    sealed = survey.sealed
    assert sealed is not None, "whoever calls this looked"
    try:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    except ModuleNotFoundError:
        raise CollectorError(
            f"survey {survey.id}: sealing its reports needs cryptography; nothing was sent; {install_hint('sealed')}"
        ) from None
    number = sealed.week(today or datetime.datetime.now(datetime.UTC).date())
    raw = bytes.fromhex(sealed.keys[number])
    padded, info = sealed.pad(report), info_of(survey.id)
    if len(raw) == 32:
        made = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM).encrypt(
            padded, X25519PublicKey.from_public_bytes(raw), info
        )
    else:
        point = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), raw)
        made = Suite(KEM.P256, KDF.HKDF_SHA256, AEAD.AES_128_GCM).encrypt(padded, point, info)
    return bytes([number]) + made
