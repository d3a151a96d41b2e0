"""The store over a PostgreSQL database."""

from __future__ import annotations

import datetime
import secrets
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool

from deniable import Report, Survey
from deniable.errors import DeniableError
from deniable_server.location import Address
from deniable_server.store.errors import StoreForbidden, StoreUnavailable, empty_database, older_version
from deniable_server.store.folding import forget_ids
from deniable_server.store.integrity import Inspection
from deniable_server.store.interface import HIDDEN, utc_today
from deniable_server.store.postgresql import durability, fold, migrations, pending, roles
from deniable_server.store.postgresql.connection import (
    FOLDS_PART,
    PARAMETERS,
    PARTS,
    SCHEMA,
    WAIT_SECONDS,
    PostgresqlConnection,
    configure,
    connect,
    refuse_others,
)
from deniable_server.store.postgresql.errors import AGAIN, in_our_words
from deniable_server.store.postgresql.integrity import inspect
from deniable_server.store.postgresql.tables import create_tables
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import tables_of
from deniable_server.store.verdict import Verdict

T = TypeVar("T")

CONNECTIONS = 12
"""Largest number of connections of one collector; requests wait for a free one, the writer needs one."""

TRIES = 20
"""Largest number of tries of a transaction that conflicts with another collector's, which succeeds each time."""

RECONNECT_SECONDS = 5
"""Time for which the pool tries to reconnect by itself, in seconds; after that the next request tries."""

PROBE_SECONDS = 3
"""Timeout of ``/readyz`` for a connection, in seconds."""


class PostgresqlStore(SqlStore):
    """A collector's database in PostgreSQL, which other collectors use too.

    Parameters
    ----------
    address : Address
        The database; its tables are made when missing.
    today : callable
        The day by which surveys open and close.
    may_update : bool
        Whether tables that an older version made are brought up to date, while no other collector is connected;
        such a database is refused otherwise.
    may_make : bool
        Whether tables are made where there are none; such a database is refused otherwise.
    may_write : bool
        Whether opening may change anything: make tables, bring them up to date, give rights to roles.

    Raises
    ------
    DeniableError
        If nobody answers there, another version made the tables, or this role may not read them.
    StoreUnavailable
        If the server runs with settings that make a commit no promise.
    """

    def __init__(
        self,
        address: Address,
        today: Callable[[], datetime.date] = utc_today,
        may_update: bool = False,
        may_make: bool = True,
        may_write: bool = True,
    ) -> None:
        super().__init__(str(address), today)
        self.address = address
        # At random: two collectors share a part with probability 1/64, and then merely wait for each other.
        self._part = secrets.randbelow(PARTS)
        self._watched: dict[str, Survey] = {}  # surveys whose next release this collector has something to tell at
        self._told: dict[str, int] = {}
        self.operates = self._bring_up_to_date(may_update, may_make, may_write)
        self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            address.url,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            kwargs=PARAMETERS,
            configure=configure,
            check=ConnectionPool.check_connection,  # after the server was restarted nobody meets a dead connection
            open=True,
            name="deniable",
        )
        self._finalize = weakref.finalize(self, self._pool.close)

    def leave(self) -> None:
        """Do nothing: connections belong to no thread."""

    def close(self) -> None:
        """Close all connections."""
        self._finalize()

    def not_ready_because(self, min_free: int) -> str | None:
        # It answers, may be written, and keeps what it acknowledges.
        query = f"SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', {durability.IN_SQL}"
        try:
            with in_our_words(self.name), self._pool.connection(PROBE_SECONDS) as raw:
                is_standby, is_read_only, *settings = raw.execute(query).fetchone() or (True, True)
                if is_standby:
                    return "The database is a standby, which takes no reports; name the primary."
                if is_read_only:
                    self._pool.drain()  # what connects anew asks anew
                    return "The database is read-only."
                durability.refuse_unsafe(settings)
                applied = migrations.applied(PostgresqlConnection(raw))
        except StoreUnavailable as error:
            return f"The database cannot be used: {error.reason}."
        except DeniableError:
            return "The database is not available."
        if applied != len(migrations.STEPS):
            older = applied < len(migrations.STEPS)
            return f"The database is of {'an older' if older else 'a newer'} version; " + (
                "restart the collector." if older else "start that one."
            )
        return None

    def free_bytes(self) -> int | None:
        """Always None: the disk is that of the database server."""
        return None

    def try_to_write(self) -> None:
        # A page of a table of its own, and a transaction number that is committed.
        with self._transaction() as db:
            db.enter(["probe"])
            db.execute("CREATE TEMP TABLE probe ON COMMIT DROP AS SELECT repeat('-', 8000) AS page")

    def inspect(self, most_rows: int | None = None) -> Inspection:
        """Inspect the database without changing it."""
        with self._snapshot() as db:
            return inspect(db, most_rows, self._snapshot)

    def store_reports(self, submissions: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Verdict]]:
        outcomes = self._again(lambda: super(PostgresqlStore, self).store_reports(submissions))
        for (survey, _), what in zip(submissions, outcomes, strict=True):
            if Verdict.STORED in what and survey.results != "live":
                self._watched[survey.id] = survey
        return outcomes

    def issue(self, survey_id: str, invitation: str, message: str) -> Verdict:
        return self._again(lambda: super(PostgresqlStore, self).issue(survey_id, invitation, message))

    def settle(self) -> bool:
        # Without the rights to fold, somebody else does it.
        done = super().settle() if self.operates else True
        self._tell_of_releases()
        return done

    def _again(self, run: Callable[[], T]) -> T:
        """Run a transaction, and run it again if it conflicted with that of another collector."""
        for _ in range(TRIES):
            try:
                return run()
            except AGAIN:
                continue
        raise StoreUnavailable(f"database {self.name}: other collectors were in the way {TRIES} times", "contention")

    def _tell_of_releases(self) -> None:
        """Call `on_release` for what other collectors released."""
        for survey in list(self._watched.values()):
            release = self.release_of(survey.id)
            if release not in (HIDDEN, self._told.get(survey.id, 0)):
                self._told[survey.id] = release
                del self._watched[survey.id]
                self.on_release(survey)

    def _take_open(
        self,
        db: PostgresqlConnection,  # type: ignore[override]  # its own connections
        survey: Survey,
        reports: Sequence[Report],
    ) -> tuple[list[Verdict], int]:
        outcomes = pending.take(db, survey, reports)
        return outcomes, outcomes.count(Verdict.STORED)

    def _settle(self, survey: Survey, closed_on: str | None, days_over: int) -> None:
        if not self.operates:
            return  # closing needs the rights to fold, and the day after the last one is for collectors that have them
        new = self._arrived.pop(survey.id, 0)
        closed = bool(closed_on) or days_over > 0
        lock = f"fold {survey.id}"
        with self._transaction(FOLDS_PART) as db:
            # Closing must fold now, so it waits; settling leaves a survey to the collector that is at it.
            if closed_on:
                db.hold(lock)
            elif not db.try_to_hold(lock):
                return  # another collector folds it
            has_folded, is_due = fold.fold_due(db, survey, closed, lambda: self._hold(db, survey))
            is_moved = any(fold.may_sort(db, survey, kind, new=0) for kind in fold.unsorted(db, survey))
            self._put_down(db, survey, closed_on, days_over, is_due or (is_moved and not closed_on))
        self._sort(survey, closed_on, closed, new)
        if has_folded or closed:
            self._folded(survey)

    def _sort(self, survey: Survey, closed_on: str | None, closed: bool, new: int) -> None:
        """Rewrite the unsorted tables of a survey, each in a transaction of its own."""
        with self._snapshot() as db:
            kinds = fold.unsorted(db, survey)
        for kind in kinds:
            with self._transaction() as db:
                if not (closed or fold.may_sort(db, survey, kind, new)) or not db.try_to_hold(f"fold {survey.id}"):
                    continue
                if kind == pending.INVITATIONS:
                    self._hold(db, survey)
                if not fold.sort(db, survey, kind, bool(closed_on)):
                    pending.to_do(db, survey)
        if closed_on and survey.retention == "tallies":
            with self._transaction() as db:
                db.hold(f"fold {survey.id}")
                self._hold(db, survey)
                forget_ids(db, survey, fold.empty)
        if closed_on:
            with self._transaction() as db:
                for table in tables_of(survey):
                    roles.grant(db, survey, table, is_closed=True)

    def _create_tables(self, db: PostgresqlConnection, survey: Survey) -> None:  # type: ignore[override]
        create_tables(db, survey)

    def _invitations_moved(self, db: PostgresqlConnection, survey: Survey) -> None:  # type: ignore[override]
        pending.moved(db, survey, pending.INVITATIONS)
        pending.to_do(db, survey)

    def _leave_no_trace(self) -> bool:
        """Do nothing: the server keeps its log for other programs too, and a collector cannot empty it."""
        return True

    def _enter(self, db: PostgresqlConnection, surveys: Iterable[Survey]) -> None:  # type: ignore[override]
        db.enter([f"survey {survey.id}" for survey in surveys] or ["nothing"])

    def _hold(self, db: PostgresqlConnection, survey: Survey) -> None:  # type: ignore[override]
        db.hold(f"survey {survey.id}")

    @contextmanager
    def _transaction(self, part: int | None = None) -> Iterator[PostgresqlConnection]:
        with self._begun("BEGIN ISOLATION LEVEL READ COMMITTED", part) as db:
            yield db

    @contextmanager
    def _alone(self) -> Iterator[PostgresqlConnection]:
        with self._transaction() as db:
            db.hold("operators")
            yield db

    @contextmanager
    def _snapshot(self, *surveys: Survey) -> Iterator[PostgresqlConnection]:
        """A snapshot that begins once no fold is between taking rows from a table and putting them into another one.

        ``TRUNCATE`` and ``DROP`` are seen by transactions that began before them. So the tables are locked first, and
        PostgreSQL takes the snapshot with the first statement after that.
        """
        with self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as db:
            tables = [table for survey in surveys for table in tables_of(survey)]
            if tables:
                db.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE")
            yield db

    @contextmanager
    def _begun(self, begin: str, part: int | None = None) -> Iterator[PostgresqlConnection]:
        with in_our_words(self.name), self._pool.connection() as raw:
            db = PostgresqlConnection(raw, self._part if part is None else part)
            db.execute(begin)
            try:
                yield db
                raw.execute("COMMIT")
            except BaseException as error:
                # A connection that the server has ended can roll nothing back, and need not.
                if not raw.closed:
                    raw.execute("ROLLBACK")
                if isinstance(error, errors.ReadOnlySqlTransaction):
                    self._pool.drain()  # what connects anew asks anew
                raise

    def _bring_up_to_date(self, may_update: bool, may_make: bool, may_write: bool) -> bool:
        """Make the tables, or bring them up to date, if this role may; return whether it may do everything."""
        with in_our_words(self.name), self._alone_if_older() if may_update else nullcontext():
            raw = connect(self.address)
            try:
                return self._prepare(raw, may_update, may_make, may_write)
            finally:
                raw.close()

    @contextmanager
    def _alone_if_older(self) -> Iterator[None]:
        """Raise a DeniableError while others use tables of an older version: they would go on storing reports in them.

        Collectors that start together take turns, by a connection that they do not count as one that uses the tables:
        the first one brings them up to date, and the next finds them so.
        """
        with closing(connect(self.address, "deniable update")) as raw:
            db = PostgresqlConnection(raw)
            db.keep("update")
            if 0 < migrations.applied(db) < len(migrations.STEPS):
                refuse_others(raw, self.name)
            yield

    def _prepare(self, raw: psycopg.Connection[Any], may_update: bool, may_make: bool, may_write: bool) -> bool:
        db = PostgresqlConnection(raw)
        encoding = raw.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise DeniableError(
                f"database {self.name}: must be encoded in UTF8, is in {encoding}; make one with "
                "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
            )
        rights = raw.execute(
            "SELECT pg_has_role(nspowner, 'USAGE'), has_schema_privilege(oid, 'USAGE'), pg_get_userbyid(nspowner) "
            "FROM pg_namespace WHERE nspname = %s",
            [SCHEMA],
        ).fetchone()
        operates, may_look, owner = rights or (True, True, None)
        if not may_look:
            raise StoreForbidden(
                f"database {self.name}: its schema {SCHEMA} belongs to {owner}, and this role may not use it; "
                "roles.sql gives the rights"
            )
        may_fold = raw.execute("SELECT has_database_privilege(current_database(), 'TEMP')").fetchone()
        if operates and may_fold != (True,):
            raise StoreForbidden(
                f"database {self.name}: the role that owns its tables may make no temporary ones, which folds need; "
                "roles.sql gives the right"
            )
        if operates and may_write and (may_make or migrations.applied(db)):
            with raw.transaction():
                db.hold("operators")
                before = migrations.bring_up_to_date(db, self.name, may_update)
                roles.grant_all(db, lambda: self._surveys_and_whether_closed(db))
            migrations.log_steps(self.name, before)
            self.is_new = not before
        elif (applied := migrations.applied(db)) > len(migrations.STEPS):
            raise migrations.newer(self.name, applied)
        elif applied < len(migrations.STEPS):
            raise older_version(self.name) if applied else empty_database(self.name)
        # Read back after a commit: what was set, and not what was asked for.
        durability.refuse_unsafe(raw.execute(f"SELECT {durability.IN_SQL}").fetchone() or ())
        return operates

    def _surveys_and_whether_closed(self, db: PostgresqlConnection) -> Iterator[tuple[Survey, bool]]:
        for survey, closed_on in self._surveys(db, "SELECT id, document, closed_on FROM surveys"):
            yield survey, closed_on is not None
