"""Numbered releases: each is recorded and signed before somebody sees it, and never changes.

A fold is what makes results change (see `deniable_server.store`). A collector that serves writes the new record into
the log then (`deniable_server.results.ahead`), and the first request does where that did not come to it, so whatever is
shown has a number and a signature. Results that are live change with every reply; they are
numbered once the survey has closed.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from deniable import Survey, Tally
from deniable_server.results.cache import ResultCache
from deniable_server.store import NoRelease, Store, SurveyState
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
class ShownRelease:
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


@dataclass(frozen=True)
class ReleaseSummary:
    """A release in the list of all: its number, its day, its replies by cohort, and its leaf hash in hexadecimal."""

    number: int
    released_on: datetime.date
    replies: Mapping[str | None, int]
    leaf: str

    @property
    def n(self) -> int:
        """Number of reports."""
        return sum(self.replies.values())

    def new_since(self, before: ReleaseSummary | None) -> dict[str | None, int]:
        """How many replies of each cohort are new since an earlier release."""
        known = {} if before is None else before.replies
        return {cohort: n - known.get(cohort, 0) for cohort, n in self.replies.items() if n > known.get(cohort, 0)}


MOST_SUMMARIES = 4 * 2**20
"""Size of the cache of summaries, in bytes."""


MOST_PARSED = 8 * 2**20
"""Size of the cache of records, in bytes."""

_parsed = ResultCache(MOST_PARSED)


def parsed(record: str) -> ReleaseRecord:
    """The record of a release; every request asks for the newest one, which is long where there are many options."""
    found: ReleaseRecord | None = _parsed.get(record)
    if found is None:
        found = ReleaseRecord.parse(record.encode())
        _parsed.put(record, found, 8 * len(record))  # its text, and about seven bytes of objects for each byte of it
    return found


class ReleaseLog:
    """The releases of the surveys in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._key: Ed25519PrivateKey | None = None
        self._summaries = ResultCache(MOST_SUMMARIES)

    def shown(self, state: SurveyState, number: int | None = None) -> ShownRelease:
        """What results show: the newest release, or the one of that number.

        Raises
        ------
        NoRelease
            If there is no release of that number.
        """
        newest = self.newest(state)
        if number is not None:
            row = self.row(state, number)
            record = parsed(row.record)
            return ShownRelease(record.tallies, record, newest is not None and number == newest.number)
        shown = self._record_of(state, newest)
        return ShownRelease(self._store.tallies(state.survey) if shown is None else shown.tallies, shown)

    def record(self, state: SurveyState) -> ReleaseRecord | None:
        """The record of what results show, which is there before anybody sees it; None where they have no number.

        Where the tallies are not needed: those of results that are live are counted anew for each request.
        """
        return self._record_of(state, self.newest(state))

    def _record_of(self, state: SurveyState, newest: ReleaseRow | None) -> ReleaseRecord | None:
        return parsed(newest.record) if self._is_numbered(state) and newest is not None else None

    def row(self, state: SurveyState, number: int) -> ReleaseRow:
        """The release of that number.

        Raises
        ------
        NoRelease
            If there is none.
        """
        newest = self.newest(state)
        found = self._store.release(state.survey, number)
        if found is None:
            known = 0 if newest is None else newest.number
            is_live = state.survey.results == "live" and not known
            raise NoRelease(f"release: must be one of the {known} of this survey, got {number}", is_live)
        return found

    def rows(self, state: SurveyState, most: int | None = None) -> list[ReleaseRow]:
        """The releases of a survey, in order, of more than ``most`` the newest."""
        newest = self.newest(state)
        if newest is None:
            return []
        first = 1 if most is None else max(1, newest.number - most + 1)
        return list(self._store.releases(state.survey, first))

    def newest(self, state: SurveyState) -> ReleaseRow | None:
        """The newest release of a survey; what results show now is recorded first, where it is not yet."""
        newest = self._store.release(state.survey)
        if not self._is_numbered(state) or self._has(newest, state.reports):
            return newest
        with _one_at_a_time:
            newest = self._store.release(state.survey)
            if not self._has(newest, self._store.release_of(state.survey.id)):
                self._record(state.survey, 1 if newest is None else newest.number + 1)
                newest = self._store.release(state.survey)
        return newest

    def summaries(self, state: SurveyState) -> list[ReleaseSummary]:
        """What the list of releases says of each; a record is read once, because hundreds of them take long."""
        return [self._summary(row) for row in self.rows(state)]

    def _summary(self, row: ReleaseRow) -> ReleaseSummary:
        leaf = leaf_hash(row.record.encode()).hex()
        found: ReleaseSummary | None = self._summaries.get(leaf)
        if found is None:
            record = ReleaseRecord.parse(row.record.encode())
            replies = {cohort: tally.n for cohort, tally in record.tallies.items()}
            found = ReleaseSummary(record.number, record.released_on, replies, leaf)
            self._summaries.put(leaf, found, 200 * (1 + len(replies)))
        return found

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
        return is_numbered(state, self._store.today())

    @staticmethod
    def _has(newest: ReleaseRow | None, reports: int) -> bool:
        """Whether the newest release is of that many reports, a number that grows with everything that is released."""
        return newest is not None and parsed(newest.record).n == reports

    def _record(self, survey: Survey, number: int) -> None:
        # Rows and tallies of one snapshot: a fold that comes meanwhile is the next release.
        with self._store.released(survey) as released:
            rows = rows_hash(reports_file(survey, released)) if survey.retention == "reports" else None
            record = ReleaseRecord(survey.id, number, self._store.today(), released.tallies, rows)
        encoded = record.encode()
        self._store.add_release(survey, ReleaseRow(number, encoded.decode("ascii"), self._private.sign(encoded).hex()))


def is_numbered(state: SurveyState, today: datetime.date) -> bool:
    """Whether what results show on a day has a number: not while they are live, nor before there is anything."""
    is_live = state.survey.results == "live" and state.standing(today) == "open"
    return state.reports > 0 and not is_live


def newest_record(store: Store, state: SurveyState) -> ReleaseRecord | None:
    """The record of the release that results show, without recording one; None where they are live."""
    row = store.release(state.survey) if is_numbered(state, store.today()) else None
    record = None if row is None else parsed(row.record)
    return record if record is not None and record.n == state.reports else None


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
