"""Rows of one person put together: trials of an experiment, rounds, events, repeated instruments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from deniable.errors import ReportError
from deniable_research.hosts.records import Record


def by_column(records: Sequence[Record], column: str, subject: str) -> list[list[Record]]:
    """The records of each person, whom a column names.

    Raises
    ------
    ReportError
        If a record has nothing in that column: nobody knows whose it is.
    """
    found: dict[str, list[Record]] = {}
    for record in records:
        if column not in record:
            number = sum(column not in each for each in records)
            raise ReportError(
                f"{subject}: column {column!r} must say in every row whose it is, got nothing in {number} of "
                f"{len(records)} rows"
            )
        found.setdefault(record[column], []).append(record)
    return list(found.values())


def by_restarts(records: Sequence[Record], counter: str, subject: str) -> list[list[Record]]:
    """The records of each person, where a counter begins anew with the next one.

    >>> [len(each) for each in by_restarts([{"i": "0"}, {"i": "2"}, {"i": "0"}], "i", "x.csv")]
    [2, 1]
    """
    found: list[list[Record]] = []
    last: float | None = None
    for record in records:
        try:
            number = float(record[counter])
        except (KeyError, ValueError):
            raise ReportError(
                f"{subject}: must have a number in {counter!r} in every row, by which people are told apart; or name "
                "the column that says whose each row is with --person"
            ) from None
        # A counter that does not rise has begun anew, for the next person.
        if last is None or number <= last:
            found.append([])
        found[-1].append(record)
        last = number
    return found


@dataclass(frozen=True)
class People:
    """One record for each person.

    Attributes
    ----------
    records : list of Record
    repeated : Counter of str
        How many people gave different values of one answer, by its name.
    """

    records: list[Record]
    repeated: Counter[str] = field(default_factory=Counter)


def whole(people: Iterable[Sequence[Record]], is_answer: Callable[[str], bool]) -> People:
    """Put the rows of each person together.

    All answers stay: a second, different one of the same name is called ``name_2``. Of everything else stays what is
    the same in all rows of every person; the time of a trial, for one, is left out.

    >>> found = whole([[{"arm": "a", "rt": "3", "q": "1"}, {"arm": "a", "rt": "4", "q": "0"}]], {"q"}.__contains__)
    >>> found.records, found.repeated
    ([{'arm': 'a', 'q': '1', 'q_2': '0'}], Counter({'q': 1}))
    """
    every = [_different(rows) for rows in people]
    varying = {name for texts in every for name, each in texts.items() if len(each) > 1 and not is_answer(name)}
    found = People([])
    for texts in every:
        record: Record = {}
        for name, each in texts.items():
            # What differs between rows of one person and is no answer describes the row, such as a time or a round.
            if name not in varying:
                record[name] = each[0]
                # A question that was answered twice has two replies, and which one counts is not decided here.
                record |= {f"{name}_{number}": text for number, text in enumerate(each[1:], start=2)}
                found.repeated[name] += len(each) > 1
        found.records.append(record)
    return People(found.records, +found.repeated)


def _different(rows: Iterable[Record]) -> dict[str, list[str]]:
    """The different texts of each field, in the order in which they came."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, text in row.items():
            found.setdefault(name, {})[text] = None
    return {name: list(texts) for name, texts in found.items()}
