"""The log of releases: rows that are only added, and the key that signs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deniable import Survey
from deniable_server.store import checksum
from deniable_server.store.connection import Connection


class ReleaseRow(NamedTuple):
    """A release as it is kept.

    Attributes
    ----------
    number : int
        Counted from 1.
    record : str
        `deniable_statistics.release.record.ReleaseRecord.encode`, in ASCII.
    signature : str
        Ed25519 of the record, in hexadecimal.
    """

    number: int
    record: str
    signature: str


def rows_of(db: Connection, survey: Survey, first: int = 1) -> Sequence[ReleaseRow]:
    """The releases of a survey from a number on, in order; all of them are what its checksum counts."""
    query = "SELECT number, record, signature FROM releases WHERE survey = ? AND number >= ? ORDER BY number"
    found = db.execute(query, [survey.id, first])
    return [ReleaseRow(int(number), record, signature) for number, record, signature in found]


def row_of(db: Connection, survey: Survey, number: int | None = None) -> ReleaseRow | None:
    """The release of that number, by default the newest: records are long, and most readers need one."""
    query = "SELECT number, record, signature FROM releases WHERE survey = ?"
    query += " ORDER BY number DESC LIMIT 1" if number is None else " AND number = ?"
    found = db.execute(query, [survey.id, *([] if number is None else [number])]).fetchone()
    return None if found is None else ReleaseRow(int(found[0]), found[1], found[2])


def add(db: Connection, survey: Survey, row: ReleaseRow) -> bool:
    """Append a release; False, and nothing happens, if another process has appended one of that number."""
    inserted = db.execute(
        "INSERT INTO releases VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number", [survey.id, *row]
    ).fetchone()
    if inserted is None:
        return False
    checksum.change(db, survey, checksum.sum_of(survey, "release", [row]))
    return True


def key(db: Connection) -> str | None:
    """The private key, a PEM, that signs the releases of this database; None if it has none yet."""
    found = db.execute("SELECT private FROM release_keys").fetchone()
    return None if found is None else str(found[0])


def add_key(db: Connection, private: str) -> None:
    """Keep the key, unless there is one."""
    # The one row has a fixed key, so two processes that start together keep one of their keys.
    db.execute("INSERT INTO release_keys VALUES ('ed25519', ?) ON CONFLICT DO NOTHING", [private])
