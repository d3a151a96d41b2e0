"""Where reports rest: SQLite through sqlite-utils.

`Store` is used from many threads; each has its own connection. Reports are written by one thread only, the
`deniable_server.writer`. No column of any table holds an address, a user agent or a time of day.
"""

from __future__ import annotations

import datetime
import enum
import functools
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from deniable import Report, Survey, Tally, parse_survey, tally_reports
from deniable.errors import DeniableError

SCHEMA = """
CREATE TABLE IF NOT EXISTS surveys (
    id TEXT PRIMARY KEY,
    document BLOB NOT NULL,
    published_on TEXT NOT NULL,
    closed_on TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS totals (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tallies (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    question TEXT NOT NULL,
    option INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort, question, option)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tokens (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    expires_on TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
"""In `totals` and `tallies` the empty cohort stands for reports without one."""

WAIT_MS = 10_000
"""How long one process waits for another one's transaction."""


class NotFound(DeniableError, LookupError):
    """There is no such survey here."""


class StoreBusy(Exception):
    """More reports are waiting than the collector will hold in memory."""


class Outcome(enum.Enum):
    """What became of a report."""

    STORED = "stored"
    KNOWN = "known"
    """The same report was stored before; it counts once."""
    CONFLICT = "conflict"
    """Another report was stored under this id before."""
    CLOSED = "closed"


@dataclass(frozen=True)
class SurveyState:
    """A survey and what became of it in this store."""

    survey: Survey
    published_on: str
    closed_on: str | None
    reports: int

    def not_open_because(self, today: datetime.date) -> str | None:
        """Why the survey takes no reports on that day, or None when it does."""
        if self.closed_on:
            return f"it was closed on {self.closed_on} (UTC)"
        return self.survey.not_open_because(today)


def utc_today() -> datetime.date:
    """The day by which surveys open and close."""
    return datetime.datetime.now(datetime.UTC).date()


class Store:
    """The collector's database.

    Parameters
    ----------
    path : Path or str
        The SQLite file; made when missing.
    today : callable
        The day by which surveys open and close.
    """

    def __init__(self, path: Path | str, today: Callable[[], datetime.date] = utc_today) -> None:
        self.path = Path(path)
        self.today = today
        self._threads = threading.local()
        self._parse = functools.lru_cache(maxsize=256)(parse_survey)
        self.db.conn.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")

    @property
    def db(self) -> Database:
        """This thread's connection."""
        if not hasattr(self._threads, "db"):
            self._threads.db = connect(self.path)
        db: Database = self._threads.db
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._threads, "db"):
            self._threads.db.close()
            del self._threads.db

    def publish(self, survey: Survey) -> bool:
        """Keep a survey for ever; whether it is new."""
        row = {"id": survey.id, "document": survey.document, "published_on": self.today().isoformat()}
        with self._transaction() as db:
            if next(db.table("surveys").rows_where("id = ?", [survey.id], select="id"), None):
                return False
            db.table("surveys").insert(row)
            types = {int: "INTEGER", str: "TEXT"}
            columns = "".join(
                f", [{question.id}] {types[question.mechanism.report_type]} NOT NULL" for question in survey.questions
            )
            db.execute(
                f"CREATE TABLE {table_of(survey)} (id TEXT PRIMARY KEY, cohort TEXT{columns}) STRICT, WITHOUT ROWID"
            )
        return True

    def survey(self, survey_id: str) -> Survey:
        """The survey of that address."""
        return self.state(survey_id).survey

    def state(self, survey_id: str) -> SurveyState:
        """The survey of that address, whether it is closed, and how many reports it has."""
        for state in self._states("WHERE surveys.id = ?", [survey_id]):
            return state
        raise NotFound("survey: there is none at this address")

    def states(self) -> list[SurveyState]:
        """Every survey here, in the order of publication."""
        return list(self._states("ORDER BY published_on, surveys.id", []))

    def close_survey(self, survey_id: str) -> SurveyState:
        """Take no more reports for a survey, from the next transaction on."""
        with self._transaction() as db:
            db.execute(
                "UPDATE surveys SET closed_on = ? WHERE id = ? AND closed_on IS NULL",
                [self.today().isoformat(), survey_id],
            )
        return self.state(survey_id)

    def store_reports(self, batch: Sequence[tuple[Survey, Report]]) -> list[Outcome]:
        """Store reports in one durable transaction, and say of each what became of it.

        When this returns, what it calls stored is on disk. When it raises, nothing of the batch is.
        """
        outcomes: list[Outcome] = []
        new: dict[str, tuple[Survey, list[Report]]] = {}
        with self._transaction() as db:
            is_open = {
                survey.id: self.state(survey.id).not_open_because(self.today()) is None
                for survey in {survey.id: survey for survey, _ in batch}.values()
            }
            for survey, report in batch:
                outcome = self._insert(db, survey, report) if is_open[survey.id] else Outcome.CLOSED
                outcomes.append(outcome)
                if outcome is Outcome.STORED:
                    new.setdefault(survey.id, (survey, []))[1].append(report)
            for survey, reports in new.values():
                self._add_to_tallies(db, survey, reports)
        return outcomes

    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        """Supports by cohort, from the tallies alone: the cost does not grow with the number of reports."""
        with self._snapshot() as db:
            sizes = dict(db.execute("SELECT cohort, n FROM totals WHERE survey = ?", [survey.id]).fetchall())
            counted = db.execute(
                "SELECT cohort, question, option, n FROM tallies WHERE survey = ?", [survey.id]
            ).fetchall()
        supports: dict[tuple[str, str, int], int] = {
            (cohort, question, option): n for cohort, question, option, n in counted
        }
        return {
            cohort or None: Tally(
                n,
                {
                    question.id: tuple(
                        supports.get((cohort, question.id, option), 0) for option in range(question.mechanism.k)
                    )
                    for question in survey.questions
                },
            )
            for cohort, n in sizes.items()
        }

    def reports(self, survey: Survey) -> Iterator[Report]:
        """Every stored report in the order of its random id."""
        names = [question.id for question in survey.questions]
        for report_id, cohort, *values in self.db.execute(f"SELECT * FROM {table_of(survey)} ORDER BY id"):
            yield Report(report_id, cohort, dict(zip(names, values, strict=True)))

    def _states(self, where: str, values: list[str]) -> Iterator[SurveyState]:
        query = (
            "SELECT surveys.id, document, published_on, closed_on, "
            "(SELECT coalesce(sum(n), 0) FROM totals WHERE survey = surveys.id) FROM surveys "
        )
        for survey_id, document, published_on, closed_on, reports in self.db.execute(query + where, values).fetchall():
            yield SurveyState(self._parse(document, survey_id), published_on, closed_on, reports)

    def _insert(self, db: Database, survey: Survey, report: Report) -> Outcome:
        row = [report.id, report.cohort, *(report.values[question.id] for question in survey.questions)]
        marks = ", ".join("?" * len(row))
        added = db.execute(f"INSERT INTO {table_of(survey)} VALUES ({marks}) ON CONFLICT DO NOTHING", row)
        if added.rowcount:
            return Outcome.STORED
        stored = db.execute(f"SELECT * FROM {table_of(survey)} WHERE id = ?", [report.id]).fetchone()
        return Outcome.KNOWN if list(stored) == row else Outcome.CONFLICT

    def _add_to_tallies(self, db: Database, survey: Survey, reports: Sequence[Report]) -> None:
        totals: Counter[tuple[str, str]] = Counter()
        supports: Counter[tuple[str, str, str, int]] = Counter()
        for cohort, tally in tally_reports(reports, survey).items():
            totals[survey.id, cohort or ""] += tally.n
            for question, counts in tally.counts.items():
                for option, n in enumerate(counts):
                    supports[survey.id, cohort or "", question, option] += n
        db.conn.executemany(
            "INSERT INTO totals VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            [(*key, n) for key, n in totals.items()],
        )
        db.conn.executemany(
            "INSERT INTO tallies VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            [(*key, n) for key, n in supports.items() if n],
        )

    @contextmanager
    def _transaction(self) -> Iterator[Database]:
        """A transaction that holds the write lock from its start, so that what it reads cannot change under it."""
        with self._between("BEGIN IMMEDIATE") as db:
            yield db

    @contextmanager
    def _snapshot(self) -> Iterator[Database]:
        """A transaction whose reads all see the same state."""
        with self._between("BEGIN") as db:
            yield db

    @contextmanager
    def _between(self, begin: str) -> Iterator[Database]:
        db = self.db
        db.conn.execute(begin)
        try:
            yield db
            db.conn.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


def connect(path: Path) -> Database:
    """Open the database so that a commit is on the disk when it returns."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT_MS / 1000)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    except sqlite3.DatabaseError as error:
        raise DeniableError(f"database {path}: cannot be opened: {error}") from None
    if (journal, synchronous) != ("wal", 2):  # read back: a stored report must mean a report on disk
        raise DeniableError(f"database {path}: must run with WAL and synchronous FULL, got {journal}, {synchronous}")
    return Database(connection)


def table_of(survey: Survey) -> str:
    """The table of a survey's reports. An address is letters and digits, so the name needs no quotes."""
    return f"reports_{survey.id}"
