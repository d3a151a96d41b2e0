"""Report spaces: what a report of one question may be, and which options it supports.

Code that reads, counts, stores or simulates reports asks the space, so a new mechanism with one of these spaces needs
no change there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.errors import ReportError, describe

ReportValue = int | str
"""A report of one question: a number, or a text of characters 0 and 1, one for each option."""

Value = ReportValue | None
"""The value of a question in a report: a `ReportValue`, or None where the device did not ask it."""


Count = int | float
"""A number of reports; real where reports have weights."""


class ReportField(ABC):
    """The field of a question in a report: its possible values, and the options that each supports."""

    json_type: ClassVar[type[int] | type[str]]
    """The type of a value in JSON, in a database and in Python."""

    size: int
    """Number of options that a report can support."""

    @property
    @abstractmethod
    def described(self) -> str:
        """The possible values in words, for error messages."""

    @abstractmethod
    def __contains__(self, report: object) -> bool:
        """Whether the design can have made this report."""

    @abstractmethod
    def supports(self, report: Any) -> tuple[int, ...]:
        """The numbers of the options that a report supports."""

    @property
    def longest(self) -> int:
        """Number of bytes of the longest report, as JSON."""
        return self.size + 2  # of a text, in its quotation marks

    def check(self, report: object, subject: str) -> Any:
        """Return the report if the design can have made it.

        Raises
        ------
        ReportError
            If it cannot; ``subject`` opens the message.
        """
        if report not in self:
            raise ReportError(f"{subject}: report must be {self.described}, got {describe(report)}")
        return report


class ReportSpace(ReportField):
    """All reports that a design can make, and which of ``size`` options each of them supports."""

    supports_one: ClassVar[bool]
    """Whether every report supports exactly one option, so that the counts of supports are those of the reports."""

    labels: tuple[str, ...] = ()
    """Names of the reports, where data may use names."""

    first: int = 0
    """The report that supports the first option, where reports are numbers."""

    is_drawn: ClassVar[bool] = False
    """Whether a report is about some boxes only, which the device draws."""

    share_of_pairs: float = 1.0
    """The share of reports about two given boxes. Where it is 0, the association of two boxes is not identified."""

    def supporting(self, counts: Sequence[Count]) -> Sequence[Count]:
        """The counts that support an answer, out of the counts of all supports."""
        return counts

    @abstractmethod
    def from_text(self, text: str) -> ReportValue | None:
        """The report that a cell of a table holds; None where it holds none."""


@dataclass(frozen=True)
class Numbers(ReportSpace):
    """Reports are the whole numbers of a range, and each supports one option: the first the 0th, and so on."""

    range: range
    labels: tuple[str, ...] = ()

    json_type = int
    supports_one = True

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.range)

    @property
    def first(self) -> int:  # type: ignore[override]
        return self.range.start

    @property
    def described(self) -> str:
        return f"an integer in [{self.range.start}, {self.range.stop})"

    def __contains__(self, report: object) -> bool:
        # isinstance would let True pass for 1.
        return type(report) is int and report in self.range

    @property
    def longest(self) -> int:
        return max(len(str(self.range.start)), len(str(self.range.stop - 1)))

    def supports(self, report: int) -> tuple[int, ...]:
        return (report - self.range.start,)

    def from_text(self, text: str) -> int | None:
        return self.range.start + self.labels.index(text) if text in self.labels else None


class Texts(ReportSpace):
    """Reports are texts of ``size`` characters 0 and 1; each 1 supports an option."""

    json_type = str
    supports_one = False

    def supports(self, report: str) -> tuple[int, ...]:
        return tuple(option for option, bit in enumerate(report) if bit == "1")

    def from_text(self, text: str) -> str | None:
        # Exports write the b, so that no program reads a number; spreadsheets drop zeros in front all the same.
        report = text.removeprefix("b").zfill(self.size)
        return report if report in self else None

    def of_box(self, report: str, box: int) -> int | None:
        """The value of one tick box in a report: 1 or 0, or None where the report is not about it."""
        return int(report[box])


@dataclass(frozen=True)
class Bits(Texts):
    """Reports are texts of ``size`` characters: 1 where the report supports the option, 0 elsewhere.

    ``ones`` is how many characters are 1; None where any number may be.
    """

    size: int
    ones: int | None = None

    @property
    def described(self) -> str:
        exactly = "" if self.ones is None else f", {self.ones} of them 1"
        return f"a text of {self.size} characters 0 or 1{exactly}"

    def __contains__(self, report: object) -> bool:
        return (
            isinstance(report, str)
            and len(report) == self.size
            # str.isdigit would take the digits of other scripts too.
            and not set(report) - {"0", "1"}
            and self.ones in (None, report.count("1"))
        )


@dataclass(frozen=True)
class DrawnBits(Texts):
    """Reports are texts of two characters for each of ``k`` boxes, ``drawn`` of which were drawn.

    ``01`` is a drawn box that is reported as ticked, ``10`` one that is not, ``00`` a box that was not drawn. So the
    report supports option ``2 box + 1``, or ``2 box``, or neither.
    """

    k: int
    drawn: int

    is_drawn = True

    @property
    def size(self) -> int:  # type: ignore[override]
        return 2 * self.k

    @property
    def described(self) -> str:
        return f"a text of {self.k} pairs 00, 01 or 10, {self.drawn} of them not 00"

    def __contains__(self, report: object) -> bool:
        if not isinstance(report, str) or len(report) != self.size:
            return False
        pairs = [report[at : at + 2] for at in range(0, self.size, 2)]
        return set(pairs) <= {"00", "01", "10"} and self.k - pairs.count("00") == self.drawn

    @property
    def share_of_pairs(self) -> float:  # type: ignore[override]
        # Of comb(k, s) draws comb(k - 2, s - 2) hold two given boxes: s (s - 1) / (k (k - 1)).
        return self.drawn * (self.drawn - 1) / (self.k * (self.k - 1))

    def supporting(self, counts: Sequence[Count]) -> Sequence[Count]:
        """The counts of the ticked boxes."""
        return counts[1::2]

    def of_box(self, report: str, box: int) -> int | None:
        return {"00": None, "10": 0, "01": 1}[report[2 * box : 2 * box + 2]]


@dataclass(frozen=True)
class OptionalField(ReportField):
    """The field of a question that only some devices ask: a report, or None for "not asked".

    One more support counts the devices that asked.
    """

    of: ReportSpace

    @property
    def json_type(self) -> type[int] | type[str]:  # type: ignore[override]
        return self.of.json_type

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.of.size + 1

    @property
    def described(self) -> str:
        return f"{self.of.described}, or null"

    @property
    def longest(self) -> int:
        return max(self.of.longest, len("null"))

    def __contains__(self, report: object) -> bool:
        return report is None or report in self.of

    def supports(self, report: Any) -> tuple[int, ...]:
        return () if report is None else (*self.of.supports(report), self.of.size)
