"""The private keys that open sealed reports: a folder with a file for each week, outside the database.

In a database a key would stand in its log, its free pages and its backups; a file of its own can be overwritten and
removed. So back the folder up nowhere: what was sealed to a lost key is lost, and what was sealed to a destroyed key
can be opened by nobody.
"""

from __future__ import annotations

import datetime
import json
import logging
import os
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from deniable.errors import DeniableError, ReportError, SurveyClosed
from deniable.survey.document import Survey
from deniable.survey.sealed import LATE_DAYS, WEEK, info_of

Private = EllipticCurvePrivateKey | X25519PrivateKey

SUFFIX = ".key"
DYING = ".destroyed"
"""The suffix of a file that is being overwritten: no key any more, also where that was broken off."""

LOGGER = logging.getLogger("deniable")


class KeysMissing(DeniableError):
    """The keys of a survey are not in the folder that this collector was given, or it was given none."""


@dataclass(frozen=True)
class SealingKey:
    """The private key of one week.

    Attributes
    ----------
    public : str
        As a survey publishes it, in hexadecimal.
    first : datetime.date
        The first day of its week.
    private : EllipticCurvePrivateKey or X25519PrivateKey
        It never shows in a ``repr``.
    """

    public: str
    first: datetime.date
    private: Private = field(repr=False)

    @classmethod
    def generate(cls, first: datetime.date, kind: str = "p256") -> SealingKey:
        """A fresh key for the week that begins on a day."""
        private: Private = X25519PrivateKey.generate() if kind == "x25519" else generate_private_key(SECP256R1())
        return cls(_public(private), first, private)

    @property
    def destroyed_on(self) -> datetime.date:
        """The day on which it is destroyed."""
        return self.first + WEEK + datetime.timedelta(days=LATE_DAYS)

    def open(self, ciphertext: bytes, survey_id: str) -> bytes:
        """What was sealed to this key for a survey.

        Raises
        ------
        ReportError
            If it was sealed to another key, for another survey, or was changed on the way.
        """
        kem = KEM.X25519 if isinstance(self.private, X25519PrivateKey) else KEM.P256
        try:
            suite = Suite(kem, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
            return suite.decrypt(ciphertext, self.private, info_of(survey_id))
        except (InvalidTag, ValueError):
            raise ReportError("sealed report: must be sealed to a key of this survey, and unchanged") from None

    def write(self, folder: Path) -> None:
        """Put the key into a file of its own, which nobody but this user may read."""
        der = self.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        content = {"first": self.first.isoformat(), "public": self.public, "private": der.hex()}
        path = folder / f"{self.first}-{self.public[-16:]}{SUFFIX}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        _flush(folder)

    @classmethod
    def read(cls, path: Path) -> SealingKey:
        """Read a key from its file.

        Raises
        ------
        KeysMissing
            If the file holds none.
        """
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
            private = load_der_private_key(bytes.fromhex(content["private"]), None)
            if isinstance(private, EllipticCurvePrivateKey | X25519PrivateKey):
                key = cls(_public(private), datetime.date.fromisoformat(content["first"]), private)
                if key.public == content["public"]:
                    return key
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise KeysMissing(f"{path.name}: must be a sealing key as 'deniable sealing keys' writes it")


class SealingKeys:
    """The keys in a folder.

    Parameters
    ----------
    folder : Path or None
        None for a collector that was given none, which opens nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._keys: dict[str, tuple[Path, SealingKey]] = {}
        self._day: datetime.date | None = None  # the last one that was believed
        self._read()

    @property
    def are_given(self) -> bool:
        """Whether this collector was given a folder of keys."""
        return self._folder is not None

    def open(self, survey: Survey, sealed: bytes) -> bytes:
        """The report in one sealed report of a survey, without its padding.

        Raises
        ------
        ReportError
            If it does not open.
        SurveyClosed
            If its key was destroyed.
        KeysMissing
            If the key is not here, and it is not time yet to destroy it.
        """
        assert survey.sealed is not None, "its route looked"
        number = sealed[0]
        if number >= len(survey.sealed.keys):
            raise ReportError("sealed report: must begin with the number of a key of the survey")
        key = self.key_of(survey, number)
        return survey.sealed.unpad(key.open(sealed[1:], survey.id))

    def key_of(self, survey: Survey, number: int) -> SealingKey:
        """The key of a number, which the survey publishes.

        Raises
        ------
        SurveyClosed
            If it was destroyed.
        KeysMissing
            If it is not here, and it is not time yet to destroy it.
        """
        assert survey.sealed is not None, "its caller looked"
        public = survey.sealed.keys[number]
        found = self._keys.get(public)  # nearly always there, and threads need not wait for each other
        if found is not None:
            return found[1]
        with self._lock:
            if public not in self._keys:
                self._read()  # keys of a survey that was published after the start
            if public in self._keys:
                return self._keys[public][1]
        if survey.sealed.destroyed_on(number) <= datetime.datetime.now(datetime.UTC).date():
            raise SurveyClosed(f"survey {survey.id}: the key of that week was destroyed; seal to the key of this week")
        raise KeysMissing(f"survey {survey.id}: its keys are not here; give the collector their folder: --sealing-keys")

    def destroy_old(self, today: datetime.date) -> list[datetime.date]:
        """Destroy the keys whose time is over, also those of surveys that nobody published; return their first days.

        Parameters
        ----------
        today : datetime.date
            A day that is believed: a clock that runs ahead must not destroy a key that is needed.
        """
        with self._lock:
            self._day = max(today, self._day or today)
            self._read()
            over = [(path, key) for path, key in self._keys.values() if key.destroyed_on <= today]
            for path, key in over:
                self._destroy(path, key, today)
        return sorted(key.first for _, key in over)

    def _destroy(self, path: Path, key: SealingKey, today: datetime.date) -> None:
        _destroy(path)
        self._keys.pop(key.public, None)
        if today - key.destroyed_on > datetime.timedelta(days=1):
            LOGGER.warning(
                "sealing: the key of the week of %s was there until %s, and had to be destroyed on %s; if it was, "
                "somebody has brought it back from a copy: destroy that, too",
                key.first,
                today,
                key.destroyed_on,
            )

    def every(self) -> list[SealingKey]:
        """All keys, by week."""
        with self._lock:
            self._read()
            return sorted((key for _, key in self._keys.values()), key=lambda key: (key.first, key.public))

    def _read(self) -> None:
        if self._folder is None:
            return
        if not self._folder.is_dir():
            raise KeysMissing(f"{self._folder}: must be the folder that 'deniable sealing keys' made")
        for path in self._folder.glob(f"*{DYING}"):  # a process ended while it was overwritten
            with suppress(FileNotFoundError):
                _overwrite(path)
        known = {path for path, _ in self._keys.values()}
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if path not in known:
                key = SealingKey.read(path)
                if self._day and key.destroyed_on <= self._day:  # it came after the others of its week were destroyed
                    self._destroy(path, key, self._day)
                else:
                    self._keys[key.public] = path, key


def _public(private: Private) -> str:
    if isinstance(private, X25519PrivateKey):
        return private.public_key().public_bytes_raw().hex()
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint).hex()


def _destroy(path: Path) -> None:
    """Overwrite the file of a key and remove it. On disks that write elsewhere than asked, removal alone has to do."""
    dying = path.with_suffix(DYING)
    with suppress(FileNotFoundError):  # another collector that shares the folder was first
        path.rename(dying)
        _overwrite(dying)


def _overwrite(path: Path) -> None:
    with open(path, "r+b") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(0)
        file.write(secrets.token_bytes(length))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
    _flush(path.parent)


def _flush(folder: Path) -> None:
    """Have the names in a folder on the disk, where a system can do that."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
