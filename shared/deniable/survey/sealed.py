"""Sealed reports: the collector's keys that a survey publishes, and the places that pass its reports on.

A report is sealed on the device (HPKE, RFC 9180) to the key of the week. The keys stand in the survey, and so in its
address: nobody on the way can give a device another one, and there is nothing more to fetch. The collector destroys
each key `LATE_DAYS` after its week, so that what somebody recorded on the way can then be opened by nobody.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any

from deniable.access.hosts import check_origin
from deniable.errors import ReportError, SurveyError, describe, shown

WEEK = datetime.timedelta(days=7)

LATE_DAYS = 14
"""Days after its week during which a collector still opens reports with a key."""

LATE_BATCHES = datetime.timedelta(days=2)
"""How long after its last day a survey still takes what people sent before, from its places."""

MOST_KEYS = 104
"""Largest number of keys, one a week."""

LEAST_SIZE, MOST_SIZE = 64, 16 * 1024
"""Range of the padded size of a report, in bytes."""

STEP = 64
"""The padded size is a multiple of this number of bytes."""

MOST_PLACES = 10

TAG = 16
"""Length of the authentication tag of a ciphertext, in bytes."""

ENCAPSULATED = {64: 32, 130: 65}
"""Length of the encapsulated key, in bytes, by the number of hexadecimal digits of the public key: X25519 and P-256."""

_KEY = re.compile(r"[0-9a-f]{64}|04[0-9a-f]{128}")


@dataclass(frozen=True)
class Sealed:
    """The keys to which devices seal the reports of a survey.

    Attributes
    ----------
    first : datetime.date
        The first day (UTC) of the week of the first key.
    keys : tuple of str
        A public key for each week, in hexadecimal: 32 bytes of X25519, or an uncompressed point of P-256, 65 bytes.
    size : int
        Number of bytes to which every report is padded, so that all ciphertexts of the survey have one length.
    """

    first: datetime.date
    keys: tuple[str, ...]
    size: int

    def __post_init__(self) -> None:
        if self.first.year > 9000:  # so that every day that is reckoned from it is one
            raise SurveyError(f"sealed.first: must be before the year 9001, got {self.first}")
        if not 1 <= len(self.keys) <= MOST_KEYS:
            raise SurveyError(f"sealed.keys: must be 1 to {MOST_KEYS}, one for each week, got {len(self.keys)}")
        for key in self.keys:
            if not isinstance(key, str) or not _KEY.fullmatch(key):
                raise SurveyError(
                    "sealed.keys: must be public keys of X25519 or P-256 in lower-case hexadecimal digits, got "
                    f"{describe(key)}; 'deniable sealing keys' makes them"
                )
        if len({len(key) for key in self.keys}) > 1:
            raise SurveyError("sealed.keys: must be of one kind, so that all ciphertexts have one length")
        # A key of two weeks could not be destroyed after the first of them.
        if len(set(self.keys)) < len(self.keys):
            raise SurveyError("sealed.keys: must differ from each other")
        if type(self.size) is not int or self.size % STEP or not LEAST_SIZE <= self.size <= MOST_SIZE:
            raise SurveyError(
                f"sealed.size: must be a multiple of {STEP} from {LEAST_SIZE} to {MOST_SIZE}, got {shown(self.size)}"
            )

    @property
    def last(self) -> datetime.date:
        """The last day of the week of the last key."""
        return self.first + len(self.keys) * WEEK - datetime.timedelta(days=1)

    def week(self, today: datetime.date) -> int:
        """The number of the key to which a device seals on a day; before the first week the first, after the last the
        last one.

        >>> sealed = Sealed(datetime.date(2026, 11, 23), ("01" * 32, "02" * 32), 256)
        >>> [sealed.week(datetime.date(2026, 11, day)) for day in (1, 23, 29, 30)]
        [0, 0, 0, 1]
        """
        return min(max((today - self.first) // WEEK, 0), len(self.keys) - 1)

    def destroyed_on(self, number: int) -> datetime.date:
        """The day on which the collector destroys the private half of a key."""
        return self.first + (number + 1) * WEEK + datetime.timedelta(days=LATE_DAYS)

    @property
    def length(self) -> int:
        """Length of a sealed report, in bytes: the number of its key, the encapsulated key, the ciphertext."""
        return 1 + ENCAPSULATED[len(self.keys[0])] + self.size + TAG

    def publish(self) -> dict[str, Any]:
        """The key ``sealed`` of a published survey."""
        return {"first": self.first.isoformat(), "keys": list(self.keys), "size": self.size}

    def pad(self, report: bytes) -> bytes:
        """A report with zero bytes behind it, which no JSON ends with."""
        if len(report) > self.size:
            raise ReportError(f"report: must be at most {self.size} bytes to be sealed, got {len(report)}")
        return report.ljust(self.size, b"\0")

    def unpad(self, padded: bytes) -> bytes:
        """The report in what was opened."""
        if len(padded) != self.size:
            raise ReportError(f"sealed report: must hold {self.size} bytes, got {len(padded)}")
        return padded.rstrip(b"\0")

    def split(self, body: bytes) -> list[bytes]:
        """The sealed reports in a body, one behind the other."""
        if not body or len(body) % self.length:
            raise ReportError(f"sealed reports: must be {self.length} bytes each, got {len(body)} in all")
        return [body[start : start + self.length] for start in range(0, len(body), self.length)]


def info_of(survey_id: str) -> bytes:
    """What a sealed report is bound to: the protocol and the survey's address (HPKE's ``info``)."""
    return b"deniable/1|" + survey_id.encode("ascii")


def padded_size(longest: int) -> int:
    """The size to which reports of at most ``longest`` bytes are padded.

    >>> padded_size(1), padded_size(64), padded_size(65)
    (64, 64, 128)
    """
    return max(LEAST_SIZE, -(-longest // STEP) * STEP)


def check_places(places: object) -> None:
    """Raise a SurveyError unless these are the origins of places: at most `MOST_PLACES`, each of its own."""
    if not isinstance(places, tuple) or len(places) > MOST_PLACES:
        raise SurveyError(f"place: must be a list of at most {MOST_PLACES} addresses, got {describe(places)}")
    for place in places:
        danger = "change the page on which people answer"
        check_origin(place, "place", who="a place", danger=danger, is_exact=True)
    if len(set(places)) < len(places):
        raise SurveyError("place: addresses must differ from each other")
