"""The letterbox of a place: sealed reports that wait for others, and batches that wait for their collector.

A message is kept under the hash of its bytes in tables that SQLite orders by it. A ciphertext is random, and so is its
hash. Within a page SQLite puts rows one behind the other as they come; so what waits is written anew, in the order of
hashes, and then the file tells no order of arrival. It holds no address and no time, and nothing in it can be opened
here.

Each collector of a survey has a slot of its own. A survey's document is public, so that another collector may serve the
very same one; it must get nothing that people sent to the first, and keep nothing from it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from deniable import Survey, parse_survey
from deniable_server.store.errors import StoreFull, StoreUnavailable
from deniable_server.store.sqlite.errors import in_use, is_in_use

T = TypeVar("T")

_VERSION = 1

WAIT_SECONDS = 5
"""How long a place waits for another program that has locked its file."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS collectors (url TEXT PRIMARY KEY, token TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS surveys (id TEXT PRIMARY KEY, collector TEXT NOT NULL, document BLOB NOT NULL)
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (survey TEXT, hash BLOB, message BLOB NOT NULL, PRIMARY KEY (survey, hash))
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leaving (batch BLOB, position INTEGER, survey TEXT NOT NULL, hash BLOB NOT NULL,
    message BLOB NOT NULL, PRIMARY KEY (batch, position)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS leaving_by_hash ON leaving (survey, hash);
"""

RESERVE = 32 * 2**20
"""Bytes of the disk that no message takes.

A batch of 4 MiB that leaves, and is deleted, needs as many for its rows, and two or three times that for the journal.
"""

MOST_WRITTEN_ANEW = 8 * 2**20
"""Bytes of a slot beyond which it is not written anew: in a flood, which leaves soon, that would hold up everybody."""

_random = secrets.SystemRandom()

_KEPT = """
SELECT id, 0 FROM surveys
UNION ALL SELECT survey, sum(length(message)) FROM waiting GROUP BY survey
UNION ALL SELECT survey, sum(length(message)) FROM leaving GROUP BY survey
"""

_LEAVING = """
WITH RECURSIVE each(batch) AS (
    SELECT min(batch) FROM leaving
    UNION ALL SELECT (SELECT min(batch) FROM leaving WHERE leaving.batch > each.batch) FROM each WHERE batch IS NOT NULL
)
SELECT each.batch, surveys.collector FROM each JOIN leaving ON leaving.batch = each.batch AND leaving.position = 0
JOIN surveys ON surveys.id = leaving.survey ORDER BY each.batch
"""
"""Goes from batch to batch by the primary key: while a collector is away for a day, their messages are many."""


_SLOTS = """
UPDATE waiting SET survey = survey || ' ' || (SELECT collector FROM surveys WHERE id = waiting.survey);
UPDATE leaving SET survey = survey || ' ' || (SELECT collector FROM surveys WHERE id = leaving.survey);
UPDATE surveys SET id = id || ' ' || collector;
"""
"""Brings files up to date in which a survey had one slot, that of whoever was first to serve it."""


def slot_of(survey_id: str, collector: str) -> str:
    """The name of the slot for a survey of a collector, under which its messages are kept."""
    return f"{survey_id} {collector}"


class Slot(NamedTuple):
    """The slot for a survey of a collector, and how many messages wait in it for others."""

    name: str
    survey: Survey
    collector: str
    waiting: int


@dataclass(frozen=True)
class SealedBatch:
    """Sealed reports of one survey in random order.

    Attributes
    ----------
    name : bytes
        A random name, which the place alone knows.
    survey : Survey
    collector : str
    messages : tuple of bytes
    """

    name: bytes
    survey: Survey
    collector: str
    messages: tuple[bytes, ...] = field(repr=False)


class _Letter:
    """A message on its way to the disk, and what became of it."""

    __slots__ = ("error", "is_known", "is_settled", "message", "slot", "survey")

    def __init__(self, slot: str, message: bytes, survey: Survey | None) -> None:
        self.slot = slot
        self.message = message
        self.survey = survey
        self.is_settled = False
        self.is_known = False
        self.error: Exception | None = None


class Letterbox:
    """The SQLite file of a place.

    Parameters
    ----------
    path : Path
        The file, which is made if it is missing, readable for this user alone.
    reserve : int
        See `RESERVE`.
    """

    def __init__(self, path: Path, reserve: int = RESERVE) -> None:
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._path = path
        self._reserve = reserve
        self._one_at_a_time = threading.Lock()
        self._queue_lock = threading.Lock()
        self._queue: list[_Letter] = []
        self._surveys: dict[str, Survey] = {}  # by slot; bounded as slots are
        self._kept: dict[str, int] | None = None  # bytes of messages by slot, counted when first asked for
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=WAIT_SECONDS)
            # What is acknowledged is on the disk, and what is deleted is overwritten, in the journal too.
            for pragma in ("journal_mode = TRUNCATE", "synchronous = FULL", "secure_delete = ON"):
                self._db.execute(f"PRAGMA {pragma}")
            self._db.executescript(_SCHEMA)
            self._transact(_bring_up_to_date)
            # Those of a process that was killed, too.
            self._as_they_came = {slot for (slot,) in self._db.execute("SELECT id FROM surveys")}
        except sqlite3.DatabaseError as error:
            if is_in_use(error):
                raise in_use(path) from None
            raise StoreUnavailable(f"{path.name}: must be the database of a place: {error}", str(error)) from None

    def close(self) -> None:
        """Close the file."""
        with self._one_at_a_time:
            self._db.close()

    def allow(self, collector: str, token: str | None) -> None:
        """Serve a collector from now on, and pass its reports on with this token."""
        self._write(lambda db: db.execute("INSERT OR REPLACE INTO collectors VALUES (?, ?)", [collector, token]))

    def forget(self, collector: str) -> bool:
        """Serve a collector no more; return whether it was served."""
        return self._write(lambda db: db.execute("DELETE FROM collectors WHERE url = ?", [collector]).rowcount > 0)

    def collectors(self) -> dict[str, str | None]:
        """The collectors that are served, and the token for each."""
        return self._write(lambda db: dict(db.execute("SELECT url, token FROM collectors ORDER BY url").fetchall()))

    def add(self, survey: Survey, collector: str) -> str:
        """Have a slot for a survey of a collector; return its name.

        It keeps the document, without which its messages could not be passed on after a restart.
        """
        slot = slot_of(survey.id, collector)
        with self._one_at_a_time:
            self._transact(lambda db: _make(db, slot, survey))
            self._surveys[slot] = survey
            if self._kept is not None:
                self._kept.setdefault(slot, 0)
        return slot

    def slots(self) -> list[Slot]:
        """Every slot."""
        count = "(SELECT count(*) FROM waiting WHERE survey = id)"
        query = f"SELECT id, collector, {count} FROM surveys ORDER BY id"

        def read(db: sqlite3.Connection) -> list[Slot]:
            rows = db.execute(query).fetchall()
            return [Slot(name, self._survey(db, name), collector, count) for name, collector, count in rows]

        return self._write(read)

    def kept(self) -> dict[str, int]:
        """Bytes of the messages that each slot holds, those that wait and those on their way; 0 of an empty one."""
        with self._one_at_a_time:
            return dict(self._counted())

    def remove(self, slot: str) -> bool:
        """Remove a slot, unless something is in it or has not been acknowledged; return whether it was removed."""
        used = "(SELECT 1 FROM waiting WHERE survey = ?1 UNION ALL SELECT 1 FROM leaving WHERE survey = ?1)"
        query = f"DELETE FROM surveys WHERE id = ?1 AND NOT EXISTS {used}"
        with self._one_at_a_time:
            is_removed = self._transact(lambda db: db.execute(query, [slot]).rowcount > 0)
            if is_removed:
                self._forget(slot)
        return is_removed

    def discard(self, slot: str) -> None:
        """Remove a slot with all that is in it, which nobody can open any more."""

        def discard(db: sqlite3.Connection) -> None:
            for table, column in (("waiting", "survey"), ("leaving", "survey"), ("surveys", "id")):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", [slot])

        with self._one_at_a_time:
            self._transact(discard)
            self._forget(slot)

    def _forget(self, slot: str) -> None:
        self._surveys.pop(slot, None)
        if self._kept is not None:
            self._kept.pop(slot, None)

    def _survey(self, db: sqlite3.Connection, slot: str) -> Survey:
        """The survey of a slot, whose document is read once; who calls holds the lock."""
        if slot not in self._surveys:
            ((document,),) = db.execute("SELECT document FROM surveys WHERE id = ?", [slot])
            self._surveys[slot] = parse_survey(document)
        return self._surveys[slot]

    def _counted(self) -> dict[str, int]:
        """Bytes of messages by slot; who calls holds the lock, and adds what comes and goes."""
        if self._kept is None:
            kept: dict[str, int] = {}
            for slot, size in self._transact(lambda db: db.execute(_KEPT).fetchall()):
                kept[slot] = kept.get(slot, 0) + size
            self._kept = kept
        return self._kept

    def put(self, slot: str, message: bytes, survey: Survey | None = None) -> bool:
        """Keep a message; it is on the disk when this returns. Return whether this very message was there already.

        All that wait while the disk is busy are written in one transaction, by whoever comes next. The slot is made in
        the same one where a survey is given: somebody may have removed an empty slot a moment ago.

        Raises
        ------
        StoreFull
            If the disk takes no more.
        """
        letter = _Letter(slot, message, survey)
        with self._queue_lock:
            self._queue.append(letter)
        with self._one_at_a_time:
            if not letter.is_settled:
                with self._queue_lock:
                    letters, self._queue = self._queue, []
                self._keep(letters)
        if letter.error is not None:
            raise letter.error
        return letter.is_known

    def _keep(self, letters: Sequence[_Letter]) -> None:
        def keep(db: sqlite3.Connection) -> None:
            self._check_reserve(db, self._reserve)
            for letter in letters:
                if letter.survey is not None:
                    _make(db, letter.slot, letter.survey)
                digest = hashlib.sha256(letter.message).digest()
                leaving = "SELECT 1 FROM leaving WHERE survey = ? AND hash = ?"
                letter.is_known = db.execute(leaving, [letter.slot, digest]).fetchone() is not None
                if not letter.is_known:
                    row = [letter.slot, digest, letter.message]
                    letter.is_known = db.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?)", row).rowcount == 0

        failure: Exception | None = None
        try:
            self._transact(keep)
            self._note(letters)
        except Exception as error:  # whatever it is, nobody's message is on the disk, and everybody must hear so
            failure = error
        for letter in letters:
            letter.error, letter.is_settled = failure, True

    def _check_reserve(self, db: sqlite3.Connection, reserve: int) -> None:
        """Raise a StoreFull where somebody would take what others need later: a full disk would stay full.

        A message leaves room for batches to be made, and these leave room for some to be deleted.
        """
        ((unused,),) = db.execute("PRAGMA freelist_count")
        ((size,),) = db.execute("PRAGMA page_size")
        if shutil.disk_usage(self._path.absolute().parent).free + unused * size < reserve:
            raise StoreFull("The place's disk is full; send the same again later.")

    def _note(self, letters: Sequence[_Letter]) -> None:
        for letter in letters:
            self._as_they_came.add(letter.slot)
            if letter.survey is not None:
                self._surveys[letter.slot] = letter.survey
            if self._kept is not None:
                self._kept[letter.slot] = self._kept.get(letter.slot, 0) + len(letter.message) * (not letter.is_known)

    def write_anew(self) -> None:
        """Write what waits in the slots to which something came since, in the order of hashes."""
        with self._one_at_a_time:
            came, kept = sorted(self._as_they_came), self._counted()
        for slot in came:
            if kept.get(slot, 0) <= MOST_WRITTEN_ANEW:
                with self._one_at_a_time:
                    self._transact(lambda db, slot=slot: _write_anew(db, slot))  # type: ignore[misc]
                    self._as_they_came.discard(slot)

    def cut(self, slot: str, size: int, stay: int = 0, is_last: bool = False) -> int:
        """Make batches of what waits, in random order; return their number.

        Parameters
        ----------
        size : int
            Number of messages in a batch.
        stay : int
            Number of messages that stay behind, at least.
        is_last : bool
            Whether the survey is over, so that nothing stays: the last batch has what is left, fewer than twice as
            many, and fewer than ``size`` only where fewer wait in all.
        """

        query = "SELECT hash FROM waiting WHERE survey = ?"
        hashes = [digest for (digest,) in self._write(lambda db: db.execute(query, [slot]).fetchall())]
        # Which ones leave together, and in which order, depends on chance alone.
        _random.shuffle(hashes)
        whole = max(0, len(hashes) - (size if is_last else stay)) // size * size
        batches = [hashes[start : start + size] for start in range(0, whole, size)]
        if is_last and whole < len(hashes):
            batches.append(hashes[whole:])
        # A transaction each: after a flood they are hundreds, and whoever sends must not wait for all of them.
        for batch in batches:
            self._write(lambda db, batch=batch: self._move(db, slot, batch))  # type: ignore[misc]
        return len(batches)

    def _move(self, db: sqlite3.Connection, slot: str, hashes: Sequence[bytes]) -> None:
        self._check_reserve(db, self._reserve // 2)
        name = secrets.token_bytes(16)
        db.executemany(
            "INSERT INTO leaving SELECT ?, ?, survey, hash, message FROM waiting WHERE survey = ? AND hash = ?",
            [(name, position, slot, digest) for position, digest in enumerate(hashes)],
        )
        db.executemany("DELETE FROM waiting WHERE survey = ? AND hash = ?", [(slot, each) for each in hashes])

    def leaving(self) -> list[tuple[bytes, str]]:
        """The names of the batches that no collector has acknowledged, and whose they are."""
        return self._write(lambda db: db.execute(_LEAVING).fetchall())

    def batch(self, name: bytes) -> SealedBatch | None:
        """A batch, or None if it was acknowledged."""
        query = "SELECT survey, message FROM leaving WHERE batch = ? ORDER BY position"

        def read(db: sqlite3.Connection) -> SealedBatch | None:
            rows = db.execute(query, [name]).fetchall()
            if not rows:
                return None
            slot: str = rows[0][0]
            collector = slot.partition(" ")[2]
            return SealedBatch(name, self._survey(db, slot), collector, tuple(message for _, message in rows))

        return self._write(read)

    def batches(self) -> list[SealedBatch]:
        """All batches that no collector has acknowledged."""
        return [batch for name, _ in self.leaving() if (batch := self.batch(name))]

    def acknowledged(self, batch: SealedBatch) -> None:
        """Delete a batch that its collector has on its disk."""
        slot = slot_of(batch.survey.id, batch.collector)
        with self._one_at_a_time:
            self._transact(lambda db: db.execute("DELETE FROM leaving WHERE batch = ?", [batch.name]))
            if self._kept is not None and slot in self._kept:
                self._kept[slot] -= sum(map(len, batch.messages))

    def _write(self, act: Callable[[sqlite3.Connection], T]) -> T:
        with self._one_at_a_time:
            return self._transact(act)

    def _transact(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Do something within a transaction, which is on the disk when this returns."""
        try:
            with closing(self._db.cursor()) as cursor:
                cursor.execute("BEGIN IMMEDIATE")
                try:
                    result = act(self._db)
                except BaseException:
                    if self._db.in_transaction:  # SQLite itself has ended it where a disk is full
                        cursor.execute("ROLLBACK")
                    raise
                cursor.execute("COMMIT")
                return result
        except sqlite3.DatabaseError as error:
            with suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            if "full" in str(error):
                raise StoreFull("The place's disk is full; send the same again later.") from None
            raise StoreUnavailable(
                "The place's database is not available; send the same again later.",
                getattr(error, "sqlite_errorname", str(error)),
            ) from None


def _make(db: sqlite3.Connection, slot: str, survey: Survey) -> None:
    row = [slot, slot.partition(" ")[2], survey.document]
    db.execute("INSERT OR IGNORE INTO surveys VALUES (?, ?, ?)", row)


def _write_anew(db: sqlite3.Connection, slot: str) -> None:
    rows = db.execute("SELECT survey, hash, message FROM waiting WHERE survey = ? ORDER BY hash", [slot]).fetchall()
    db.execute("DELETE FROM waiting WHERE survey = ?", [slot])
    db.executemany("INSERT INTO waiting VALUES (?, ?, ?)", rows)


def _bring_up_to_date(db: sqlite3.Connection) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version < _VERSION:
        for statement in _SLOTS.strip().splitlines():
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {_VERSION}")
