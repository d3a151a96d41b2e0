"""The record of a release, and the head of the log of a survey's releases: what a collector signs.

Both are JSON in ASCII with sorted keys and without spaces. The bytes that are signed are those that are served, so
nobody has to write them anew in order to check them.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import DeniableError
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire import strict_json
from deniable_statistics.estimates.tally import Tally

RECORD, HEAD = "deniable-release-1", "deniable-log-head-1"
"""The formats of both documents, by which a signature of one can never stand for the other."""


class ReleaseError(DeniableError):
    """A record or a head that is not one, or that does not fit what it is about."""


@dataclass(frozen=True)
class ReleaseRecord:
    """What was released at once: the tallies, and the hash of the noisy rows behind them.

    Attributes
    ----------
    survey : str
        Its address.
    number : int
        Counted from 1.
    released_on : date
    tallies : mapping of cohort to Tally
    rows_sha256 : str or None
        SHA-256 of ``reports.csv`` as it was served then, in hexadecimal; None where a survey keeps only tallies.
    """

    survey: str
    number: int
    released_on: datetime.date
    tallies: Mapping[str | None, Tally]
    rows_sha256: str | None

    @property
    def n(self) -> int:
        """Number of reports."""
        return sum(tally.n for tally in self.tallies.values())

    def encode(self) -> bytes:
        """The bytes that are signed, logged and served."""
        tallies = [
            {
                "cohort": cohort,
                "counts": {question: list(counts) for question, counts in self.tallies[cohort].counts.items()},
                "n": self.tallies[cohort].n,
            }
            # Reports without a cohort come first, so that equal tallies have equal bytes.
            for cohort in sorted(self.tallies, key=lambda cohort: (cohort is not None, cohort or ""))
        ]
        return strict_json.dumps(
            {
                "format": RECORD,
                "n": self.n,
                "number": self.number,
                "released_on": self.released_on.isoformat(),
                "rows_sha256": self.rows_sha256,
                "survey": self.survey,
                "tallies": tallies,
            }
        )

    @classmethod
    def parse(cls, document: bytes) -> ReleaseRecord:
        """Read a record.

        Raises
        ------
        ReleaseError
            If it is not one, or not as `encode` writes it.
        """
        try:
            read = strict_json.loads(document, ReleaseError, "release")
            record = cls(
                str(read["survey"]),
                int(read["number"]),
                datetime.date.fromisoformat(read["released_on"]),
                {each["cohort"]: _tally(each) for each in read["tallies"]},
                read["rows_sha256"],
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReleaseError(f"release: must be a record of a release, got none ({type(error).__name__})") from None
        # One form alone, so that two records with the same content have the same hash.
        if record.encode() != document:
            raise ReleaseError("release: must be written as `encode` writes it, got another form")
        return record


@dataclass(frozen=True)
class LogHead:
    """The state of the log of a survey: how many releases it has, and the root of their Merkle tree."""

    survey: str
    size: int
    root: str

    def encode(self) -> bytes:
        """The bytes that are signed and served."""
        return strict_json.dumps({"format": HEAD, "root": self.root, "size": self.size, "survey": self.survey})

    @classmethod
    def parse(cls, document: bytes) -> LogHead:
        """Read a head.

        Raises
        ------
        ReleaseError
            If it is not one, or not as `encode` writes it.
        """
        try:
            read = strict_json.loads(document, ReleaseError, "log")
            head = cls(str(read["survey"]), int(read["size"]), str(read["root"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReleaseError(f"log: must be a head of a log, got none ({type(error).__name__})") from None
        if head.encode() != document:
            raise ReleaseError("log: must have a head as `encode` writes it, got another form")
        return head


def check_record(record: ReleaseRecord, survey: Survey, number: int) -> None:
    """Raise unless a record can be the release of that number of a survey.

    Raises
    ------
    ReleaseError
        If it names another survey or number, has cohorts or questions that the survey has not, or numbers that no
        replies make.
    """
    if (record.survey, record.number) != (survey.id, number):
        raise ReleaseError(f"release: is release {record.number} of survey {record.survey}")
    if (record.rows_sha256 is None) != (survey.retention == "tallies"):
        raise ReleaseError("release: must have the hash of its rows exactly where the survey keeps rows")
    questions = {each.id: each for each in survey.questions}
    for cohort, tally in record.tallies.items():
        if cohort is not None and cohort not in survey.cohorts:
            raise ReleaseError(f"release: must have cohorts of the survey, got {cohort!r:.80}")
        if set(tally.counts) != set(questions):
            raise ReleaseError("release: must count the questions of the survey, got others")
        if not all(_is_possible(questions[each], counts, tally.n) for each, counts in tally.counts.items()):
            raise ReleaseError("release: has counts that no replies make")


def _is_possible(question: Question, counts: Sequence[int], n: int) -> bool:
    """Whether the reports of ``n`` devices can support options as often as this."""
    if len(counts) != question.reports.size or not all(0 <= count <= n for count in counts):
        return False
    options, asked = question.counted(counts, n)
    if not all(count <= asked for count in options):
        return False
    # Where each report supports one option, the counts are those of all reports.
    return not question.mechanism.reports.supports_one or sum(options) == asked


def rows_hash(pieces: Iterable[bytes]) -> str:
    """SHA-256 of ``reports.csv``, piece by piece, in hexadecimal."""
    # Piece by piece, because a file of reports may be larger than memory.
    total = hashlib.sha256()
    for piece in pieces:
        total.update(piece)
    return total.hexdigest()


def _tally(read: Mapping[str, Any]) -> Tally:
    return Tally(int(read["n"]), {question: tuple(map(int, counts)) for question, counts in read["counts"].items()})
