"""Rosters: an author's list of people as CSV, which never leaves this machine."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import ParameterError
from deniable_server.people.links import invitation_in
from deniable_statistics.published.csv_cells import plain_cell

LINK = "link"
"""The column of personal links."""

MOST_PEOPLE = 100_000
"""Largest number of people in a roster."""

_MAIL = re.compile(r"[^\s@,;:<>()\x00-\x1f]+@[^\s@,;:<>()\x00-\x1f]+")
"""An address of mail as a mail merge takes it: one, without a name, in whatever script."""

_SHOWN = 10
"""Largest number of lines that an error lists."""


@dataclass(frozen=True)
class Roster:
    """A list of people, one row for each.

    Attributes
    ----------
    name : str
        Name of the file, for errors.
    columns : tuple of str
    rows : tuple of tuples of str
    lines : tuple of int
        Line at which each row starts in the file, counted from 1.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> tuple[str, ...]:
        """The cells of a column.

        Raises
        ------
        ParameterError
            If there is no such column.
        """
        if name not in self.columns:
            raise ParameterError(f"{self.name}: must have a column {name!r:.80}, has {', '.join(self.columns)[:200]}")
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def check_people(self, name: str) -> None:
        """Raise a ParameterError unless the cells of a column identify people: none empty, no two that look alike.

        Where most of them are addresses of mail, all must be: nobody is invited whom no letter reaches.
        """
        first: dict[str, int] = {}
        wrong = []
        for line, cell in zip(self.lines, self.column(name), strict=True):
            person = _plain(cell)
            if not person:
                wrong.append(f"line {line} is empty")
            elif person in first:
                wrong.append(f"line {line} repeats line {first[person]}")
            else:
                first[person] = line
        self._refuse(wrong, f"{name}: each row must have one of its own")
        cells = dict(zip(self.lines, self.column(name), strict=True))
        no_mail = [line for line, cell in cells.items() if not _MAIL.fullmatch(cell.strip())]
        if sum("@" in cell for cell in cells.values()) > len(cells) / 2:
            self._refuse(
                [f"line {line} is none" for line in no_mail], f"{name}: must be an address of mail, as in most rows"
            )

    def invitations(self, survey_id: str) -> tuple[str, ...]:
        """The invitations in the column of links.

        Raises
        ------
        ParameterError
            If a cell is not a personal link to that survey, or repeats another; it is named by its line.
        """
        found = [invitation_in(cell, survey_id) for cell in self.column(LINK)]
        self._refuse(
            [f"line {line} has none" for line, each in zip(self.lines, found, strict=True) if each is None],
            f"{LINK}: must be links with an invitation to survey {survey_id}",
        )
        first: dict[str | None, int] = {}
        self._refuse(
            [
                f"line {line} repeats line {first[each]}"
                for line, each in zip(self.lines, found, strict=True)
                # setdefault keeps the first line of an invitation: another line with it is a repetition.
                if first.setdefault(each, line) != line
            ],
            f"{LINK}: each row must have an invitation of its own",
        )
        return tuple(each for each in found if each is not None)

    def _refuse(self, wrong: Sequence[str], expected: str) -> None:
        if wrong:
            more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
            raise ParameterError(f"{self.name}: {expected}; {', '.join(wrong[:_SHOWN])}{more}")


def read_roster(path: Path) -> Roster:
    """Read a list of people: CSV in UTF-8 with a header, separated by commas, semicolons or tabs as the header is.

    An apostrophe that `safe_cell` wrote is taken away, so what this program wrote is read back.

    Raises
    ------
    ParameterError
        If the file is not a CSV file, or a row has more or fewer cells than the header.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name}: must be UTF-8; save it as 'CSV UTF-8'") from None
    except OSError as error:
        raise ParameterError(f"{path.name}: cannot be read: {error.strerror or error}") from None
    try:
        numbered = list(_numbered(text))
    except csv.Error as error:
        why = "a quote opens a cell and none closes it" if "end of data" in str(error) else str(error)
        raise ParameterError(f"{path.name}: must be CSV: {why}") from None
    if not numbered:
        raise ParameterError(f"{path.name}: must have a header and rows, got nothing")
    # Empty lines are gone already, so the first row is the header.
    (_, header), *people = numbered
    columns = tuple(plain_cell(each.strip()) for each in header)
    # A letter and the column of links address columns by name.
    twice = [name for name, n in Counter(columns).items() if n > 1 or not name]
    if twice:
        raise ParameterError(f"{path.name}: columns must have names of their own, got {twice[0]!r:.80} twice or empty")
    for line, row in people:
        if len(row) != len(columns):
            raise ParameterError(f"{path.name}: line {line} must have {len(columns)} cells, got {len(row)}")
    if not 1 <= len(people) <= MOST_PEOPLE:
        raise ParameterError(f"{path.name}: must have 1 to {MOST_PEOPLE:,} rows, got {len(people):,}")
    rows = tuple(tuple(map(plain_cell, row)) for _, row in people)
    return Roster(path.name, columns, rows, tuple(line for line, _ in people))


def _plain(cell: str) -> str:
    """A cell in canonical form: NFKC, without case, invisible characters and repeated spaces."""
    # NFKC before and after folding case, because each can undo the other; Cf are invisible format characters.
    seen = "".join(each for each in unicodedata.normalize("NFKC", cell) if unicodedata.category(each) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def _numbered(text: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold anything, each with the line where it starts."""
    header = text.partition("\n")[0]
    # Spreadsheets of many countries write semicolons: the header shows which separator it is.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True)
    start = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield start, row
        start = reader.line_num + 1
