"""The interface of connections, over which both databases run the same SQL.

The placeholder of a value is ``?``. Names of tables and columns are ours or checked identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Cursor(Protocol):
    """The rows that a query found."""

    @property
    def rowcount(self) -> int:
        """Number of rows that were written."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left, one after the other."""


class Connection(Protocol):
    """A connection within a transaction."""

    def execute(self, query: str, values: Sequence[object] = (), /) -> Cursor:
        """Run one statement."""

    def stream(self, query: str, values: Sequence[object] = (), /) -> Iterator[Any]:
        """Iterate over the rows of a query without holding them all."""

    def rows_with(
        self, columns: str, table: str, key: str, wanted: Iterable[str], *, lock: bool = False
    ) -> Iterable[Any]:
        """Some columns of the rows with the wanted keys, in the order of keys.

        With ``lock`` nobody else changes these rows before the transaction has ended.
        """

    def insert(self, table: str, rows: Sequence[Sequence[object]]) -> int:
        """Insert the rows whose keys a table does not have, in order; return the number of inserted rows."""

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""

    def checksum(self, survey_id: str) -> int | None:
        """The checksum of a survey; None if there is none, or if it was damaged so that it is not a number."""

    def start_checksum(self, survey_id: str, total: int) -> None:
        """Begin the checksum of a survey."""

    def change_checksum(self, survey_id: str, difference: int) -> None:
        """XOR a difference into the checksum of a survey; nothing happens if the survey has none."""
