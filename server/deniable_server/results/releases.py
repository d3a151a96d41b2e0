"""Numbered releases: each is recorded and signed before somebody sees it, and never changes.

A fold is what makes results change (see `deniable_server.store`). A collector that serves writes the new record into
the log then (`deniable_server.results.ahead`), and the first request does where that did not come to it, so whatever is
shown has a number and a signature. Results that are live change with every reply; they are
numbered once the survey has closed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from deniable import Survey, Tally
from deniable_server.store import NotFound, Store, SurveyState
from deniable_server.store.interface import Release
from deniable_server.store.release_log import ReleaseRow
from deniable_server.store.tables import report_of
from deniable_statistics.published.access_columns import one_report_column
from deniable_statistics.published.csv_cells import csv_lines, report_cells
from deniable_statistics.release.merkle import leaf_hash, root_of
from deniable_statistics.release.record import LogHead, ReleaseRecord, rows_hash
from deniable_statistics.release.signature import VerifyingKey

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Shown:
    """What results show: a release, or what the store shows where that is not numbered.

    Attributes
    ----------
    tallies : mapping of cohort to Tally
    record : ReleaseRecord or None
    is_newest : bool
    """

    tallies: Mapping[str | None, Tally]
    record: ReleaseRecord | None
    is_newest: bool = True

    @property
    def n(self) -> int:
        """Number of reports."""
        return sum(tally.n for tally in self.tallies.values())


@lru_cache(maxsize=64)
def parsed(record: str) -> ReleaseRecord:
    """The record of a release; every request asks for the newest one, which is long where there are many options."""
    return ReleaseRecord.parse(record.encode())


class ReleaseLog:
    """The releases of the surveys in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._key: Ed25519PrivateKey | None = None

    def shown(self, state: SurveyState, number: int | None = None) -> Shown:
        """What results show: the newest release, or the one of that number.

        Raises
        ------
        NotFound
            If there is no release of that number.
        """
        rows = self.rows(state)
        if number is not None:
            if not 1 <= number <= len(rows):
                raise NotFound(f"release: must be one of the {len(rows)} of this survey, got {number}")
            record = parsed(rows[number - 1].record)
            return Shown(record.tallies, record, number == len(rows))
        if self._is_numbered(state) and rows:
            record = parsed(rows[-1].record)
            return Shown(record.tallies, record)
        return Shown(self._store.tallies(state.survey), None)

    def rows(self, state: SurveyState) -> list[ReleaseRow]:
        """The releases of a survey, in order; what results show now is recorded first, where it is not yet."""
        rows = list(self._store.releases(state.survey))
        if not self._is_numbered(state) or self._has(rows, state.reports):
            return rows
        with _one_at_a_time:
            rows = list(self._store.releases(state.survey))
            if not self._has(rows, self._store.release_of(state.survey.id)):
                self._record(state.survey, len(rows) + 1)
                rows = list(self._store.releases(state.survey))
        return rows

    def head(self, survey: Survey, rows: list[ReleaseRow]) -> tuple[LogHead, str]:
        """The head of a survey's log, and its signature in hexadecimal."""
        head = LogHead(survey.id, len(rows), root_of([leaf_hash(row.record.encode()) for row in rows]).hex())
        # Ed25519 draws nothing: whoever asks twice gets the same bytes.
        return head, self._private.sign(head.encode()).hex()

    @property
    def key(self) -> VerifyingKey:
        """The public key of this collector's releases."""
        return VerifyingKey(self._private.public_key().public_bytes_raw())

    @property
    def _private(self) -> Ed25519PrivateKey:
        if self._key is None:
            pem = self._store.release_key(_new_key)
            key = load_pem_private_key(pem.encode("ascii"), None)
            assert isinstance(key, Ed25519PrivateKey), "as `_new_key` makes it"
            self._key = key
        return self._key

    def _is_numbered(self, state: SurveyState) -> bool:
        is_live = state.survey.results == "live" and state.standing(self._store.today()) == "open"
        return state.reports > 0 and not is_live

    @staticmethod
    def _has(rows: list[ReleaseRow], reports: int) -> bool:
        """Whether the newest release is of that many reports, a number that grows with everything that is released."""
        return bool(rows) and parsed(rows[-1].record).n == reports

    def _record(self, survey: Survey, number: int) -> None:
        # Rows and tallies of one snapshot: a fold that comes meanwhile is the next release.
        with self._store.released(survey) as released:
            rows = rows_hash(reports_file(survey, released)) if survey.retention == "reports" else None
            record = ReleaseRecord(survey.id, number, self._store.today(), released.tallies, rows)
        encoded = record.encode()
        self._store.add_release(survey, ReleaseRow(number, encoded.decode("ascii"), self._private.sign(encoded).hex()))


def reports_file(survey: Survey, released: Release) -> Iterator[bytes]:
    """The lines of ``reports.csv``, as `deniable_server.web.api.reports_csv` sends them."""
    yield from (line.encode() for line in csv_lines([reports_header(survey)]))
    rows = (report_of(survey, row) for row in released.rows)
    cells = ([report.id, report.cohort, *report_cells(survey, report)] for report in rows)
    yield from (line.encode() for line in csv_lines(cells))


def reports_header(survey: Survey) -> list[str]:
    """The header of ``reports.csv``."""
    ids = [question.id for question in survey.questions]
    return ["id", "cohort", *ids, one_report_column(ids)]


def _new_key() -> str:
    """A fresh private key, as a PEM."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii")
