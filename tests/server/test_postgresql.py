"""What only the store over PostgreSQL does: durability, roles, what its files tell, and what others do beside it."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from psycopg import errors
from psycopg_pool import PoolTimeout

from deniable import Report, Survey, SurveyError, read_survey, tally_reports
from deniable.errors import DeniableError
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.location import Address
from deniable_server.settings import Settings, settings_from
from deniable_server.store import (
    StoreDamaged,
    StoreForbidden,
    StoreFull,
    StoreUnavailable,
    Verdict,
    counts,
    database_at,
)
from deniable_server.store.interface import utc_today
from deniable_server.store.postgresql import connection, durability, fold, migrations, roles
from deniable_server.store.postgresql.connection import SCHEMA, PostgresqlConnection
from deniable_server.store.postgresql.errors import in_our_words
from deniable_server.store.postgresql.store import CONNECTIONS, PostgresqlStore
from deniable_server.store.tables import invitations_table, pending_table, reports_table
from tests.support.postgresql import postgresql, template
from tests.support.stores import rows
from tests.support.threads import at_once
from tools.rig.access import invite, invited_survey, post_survey, report_for
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.postgresql import Postgresql, running_postgresql
from tools.rig.surveys import SURVEY, Clock
from tools.torture import postgresql_kill
from tools.torture.storage_disk import places, rank_correlation

__all__ = ["postgresql", "template"]

pytestmark = pytest.mark.slow


@pytest.fixture
def survey() -> Survey:
    """The survey with results that change with every release."""
    return replace(read_survey(SURVEY), results="batches")


@pytest.fixture
def address(postgresql: Postgresql, template: str) -> Iterator[Address]:
    """A database with our tables."""
    address = postgresql.new(like=template)
    yield address
    postgresql.drop(address)


@pytest.fixture
def store(address: Address, clock: Clock) -> Iterator[PostgresqlStore]:
    """Its store."""
    with closing(PostgresqlStore(address, clock)) as opened:
        yield opened


@contextmanager
def sql(address: Address) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(address.url, autocommit=True, options="-csearch_path=deniable") as connection:
        yield connection


def reports(survey: Survey, n: int, cohort: str | None = None) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}, cohort) for _ in range(n)]


def take(store: PostgresqlStore, survey: Survey, sent: list[Report], together: int = 7) -> None:
    for start in range(0, len(sent), together):
        some = sent[start : start + together]
        assert store.store_reports([(survey, some)]) == [[Verdict.STORED] * len(some)]


@pytest.fixture(scope="module")
def own() -> Iterator[Postgresql]:
    """A server whose configuration tests may change, if they leave it as it was."""
    with running_postgresql() as server:
        yield server


def configure(admin: psycopg.Connection[Any], setting: str, value: str) -> None:
    """Change a setting of a whole server, and wait until it holds for new connections."""
    admin.execute(f"ALTER SYSTEM SET {setting} = {value}")
    admin.execute("SELECT pg_reload_conf()")
    wait_until(lambda: admin.execute(f"SHOW {setting}").fetchone() == (value,), f"{setting} is {value}")


class TestDurability:
    @pytest.mark.parametrize("setting", durability.NEEDED)
    def test_refuses_to_start_with_a_setting_off(self, own: Postgresql, clock: Clock, setting: str) -> None:
        address = own.new()
        with own.admin() as admin:
            configure(admin, setting, "off")
            with pytest.raises(StoreUnavailable, match=f"must run with {setting} on, got off"):
                PostgresqlStore(address, clock)
            configure(admin, setting, "on")

    def test_acknowledges_nothing_once_a_setting_is_turned_off(
        self, own: Postgresql, survey: Survey, clock: Clock
    ) -> None:
        with closing(PostgresqlStore(own.new(), clock)) as store:
            store.publish(survey)
            (first, second) = reports(survey, 2)
            take(store, survey, [first])
            for value in ("off", "on"):
                with own.admin() as admin:
                    configure(admin, "fsync", value)
                if value == "off":
                    wait_for_reload(store, "fsync is off")
                    with pytest.raises(StoreUnavailable, match="must run with fsync on"):
                        store.store_reports([(survey, [second])])
                    with pytest.raises(StoreUnavailable, match="must run with fsync on"):
                        store.try_to_write()
            wait_for_reload(store, None)
            take(store, survey, [second])

    def test_no_change_of_the_configuration_takes_it_away(self, store: PostgresqlStore, address: Address) -> None:
        """Each connection keeps the value that it began with."""
        with store._transaction() as db:
            ((source,),) = db.execute("SELECT source FROM pg_settings WHERE name = 'synchronous_commit'").fetchall()
        assert source == "session"

    def test_warns_of_what_writes_down_who_came_when(self, postgresql: Postgresql) -> None:
        noted = {"track_commit_timestamp": "on", "log_statement": "all", "log_min_duration_statement": "0"}
        with running_postgresql(**noted) as server:
            told = database_at(server.new()).warnings()
        assert [each.split()[1] for each in told] == [
            "track_commit_timestamp",
            "log_statement",
            "log_min_duration_statement",
        ]
        address = postgresql.new()
        assert database_at(address).warnings() == []
        postgresql.drop(address)

    def test_is_not_ready_without_its_server_and_is_again_by_itself(self, survey: Survey, clock: Clock) -> None:
        with running_postgresql() as server:
            app = create_app(server.new(), clock, Settings(rate_limit=None, fold_seconds=86_400))
            http: FlaskClient = app.test_client()
            store: PostgresqlStore = app.extensions["deniable"]["store"]
            store.publish(survey)
            url = f"/api/v1/surveys/{survey.id}/reports"
            first, second = (each.encode() for each in reports(survey, 2))
            assert http.post(url, data=first, content_type="application/json").status_code == 201
            assert http.get("/readyz").status_code == 200
            assert "deniable_disk_free_bytes" not in metrics(http, store)
            server.kill()
            answer = http.get("/readyz")
            assert (answer.status_code, answer.json["detail"]) == (
                503,
                "The database cannot be used: PoolTimeout.",
            )
            server.restart()
            assert http.get("/readyz").status_code == 200
            assert http.post(url, data=first, content_type="application/json").status_code == 200
            assert http.post(url, data=second, content_type="application/json").status_code == 201
            app.extensions["deniable"]["writer"].stop()
            store.close()

    def test_is_not_ready_while_its_database_is_read_only(
        self, store: PostgresqlStore, survey: Survey, address: Address
    ) -> None:
        store.publish(survey)
        (sent,) = reports(survey, 1)
        with sql(address) as connection:
            database = connection.info.dbname
            connection.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'deniable' AND datname = current_database()"
            )
            assert store.not_ready_because(0) == "The database is read-only."
            with pytest.raises(StoreUnavailable, match="ReadOnlySqlTransaction"):
                store.store_reports([(survey, [sent])])
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
        wait_for_reload(store, None)

        def is_taken() -> bool:
            """As a device that sends again: a connection of before may refuse once, and is dropped with all others."""
            with suppress(StoreUnavailable):
                take(store, survey, [sent])
                return True
            return False

        wait_until(is_taken, "a report is taken by the database that can be written again")


def wait_for_reload(store: PostgresqlStore, reason: str | None) -> None:
    """Until all connections of the pool have read the configuration again, each in its own time.

    The pool hands them out in turn, so that as many equal answers in a row as it has connections are those of all.
    """
    expected = reason and f"The database cannot be used: {reason}."

    def is_told_by_all() -> bool:
        return all(store.not_ready_because(0) == expected for _ in range(CONNECTIONS))

    wait_until(is_told_by_all, f"all connections tell {expected!r}")


def metrics(http: FlaskClient, store: PostgresqlStore) -> str:
    token = create_token(store, "prometheus", "metrics")
    return http.get("/metrics", headers={"Authorization": f"Bearer {token}"}).text


class TestRest:
    def test_tells_no_order_of_arrival(
        self, store: PostgresqlStore, survey: Survey, postgresql: Postgresql, address: Address
    ) -> None:
        """What is at rest lies in the order of ids, with one transaction number, in files that hold each id once."""
        store.publish(survey)
        sent = []
        for _ in range(3):
            sent += reports(survey, 210)
            take(store, survey, sent[-210:])
            store.settle()
        late = reports(survey, 150)
        take(store, survey, late)
        store.settle()
        assert rows(store, survey) == (150, 630)
        for table, arrived in ((reports_table(survey), sent), (pending_table(survey), late)):
            ids = [each.id for each in arrived]
            with sql(address) as connection:
                lie = connection.execute(f"SELECT id, xmin::text FROM {table} ORDER BY ctid").fetchall()
                connection.execute("CHECKPOINT")
                ((path, index),) = connection.execute(
                    f"SELECT pg_relation_filepath('{table}'), pg_relation_filepath('{table}_pkey')"
                ).fetchall()
            assert [each for each, _ in lie] == sorted(ids)
            assert len({number for _, number in lie}) == 1
            for name, most in ((path, 0), (index, 20)):  # an index has a copy of a key where two pages meet
                found = dict(places((postgresql.folder / str(name)).read_bytes(), set(ids)))
                copies = sum(1 for _ in places((postgresql.folder / str(name)).read_bytes(), set(ids))) - len(ids)
                assert 0 <= copies <= most
                position = [found[each] for each in ids]
                assert abs(rank_correlation(position, range(len(ids)))) < 0.3  # 5 standard errors of 300 would be .29
        assert len(list(store.reports(survey))) == 630

    def test_has_a_log_that_tells_it(
        self, store: PostgresqlStore, survey: Survey, postgresql: Postgresql, address: Address
    ) -> None:
        """As docs/postgresql.md says: write-ahead log, archives and replicas hold reports in the order of arrival."""
        store.publish(survey)
        sent = reports(survey, 200)
        take(store, survey, sent, together=1)
        store.settle()
        ids = [each.id for each in sent]
        log = b"".join(path.read_bytes() for path in sorted((postgresql.folder / "pg_wal").glob("0*")))
        first: dict[str, int] = {}
        for each, place in places(log, set(ids)):
            first.setdefault(each, place)
        position = [first[each] for each in ids if each in first]
        assert len(position) > 190  # some stand across two pages of the log
        assert rank_correlation(position, range(len(position))) > 0.99

    def test_of_invitations_tells_not_who_came_when(self, store: PostgresqlStore, address: Address) -> None:
        survey = invited_survey(results="batches")
        store.publish(survey)
        made = invite(store, survey, 60)
        take(store, survey, [report_for(survey, each) for each in made[:40]], together=1)
        with sql(address) as connection:
            query = f"SELECT hash, xmin::text FROM {invitations_table(survey)} ORDER BY ctid"
            before = connection.execute(query).fetchall()
            assert before != sorted(before, key=lambda row: str(row[0])), "PostgreSQL moves rows that change"
            store.settle()
            after = connection.execute(query).fetchall()
        assert [row[0] for row in after] == sorted(str(row[0]) for row in after)
        assert len({row[1] for row in after}) == 1
        assert store.inspect().findings == ()

    def test_comes_later_where_somebody_reads_for_long(
        self, store: PostgresqlStore, survey: Survey, address: Address
    ) -> None:
        """As pg_dump does. Reports and folds go on; files are written anew when it has ended."""
        store.publish(survey)
        sent = reports(survey, 300)
        take(store, survey, sent)
        tables = f"{pending_table(survey)}, {reports_table(survey)}"
        with sql(address) as reader:
            reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            reader.execute(f"LOCK TABLE {tables} IN ACCESS SHARE MODE")
            assert reader.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone() == (300,)
            store.settle()
            assert store.tallies(survey) == tally_reports(sent, survey)
            more = reports(survey, 200)
            take(store, survey, more)
            store.settle()
            assert store.state(survey.id).reports == 500
            assert reader.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone() == (300,)
            with store._snapshot() as db:
                assert fold.unsorted(db, survey) == ["reports"]
        store.settle()
        with sql(address) as connection:
            lie = connection.execute(f"SELECT id, xmin::text FROM {reports_table(survey)} ORDER BY ctid").fetchall()
        assert [each for each, _ in lie] == sorted(each.id for each in sent + more)
        assert len({number for _, number in lie}) == 1
        assert store.inspect().findings == ()


class TestSeveralCollectors:
    def test_take_reports_while_one_of_them_folds(
        self, store: PostgresqlStore, survey: Survey, address: Address, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.publish(survey)
        take(store, survey, reports(survey, 200))
        halfway, go_on = threading.Event(), threading.Event()
        original = counts.add

        def slow(*arguments: object) -> None:
            original(*arguments)  # type: ignore[arg-type]
            halfway.set()
            assert go_on.wait(PATIENCE)

        monkeypatch.setattr(counts, "add", slow)
        folding = threading.Thread(target=store.settle)
        folding.start()
        assert halfway.wait(PATIENCE)
        with closing(PostgresqlStore(address, clock)) as other:
            meanwhile = reports(survey, 20)
            take(other, survey, meanwhile)
            assert other.settle(), "one folds, the other does not wait for it"
            assert other.state(survey.id).reports == 0
            go_on.set()
            folding.join()
            assert rows(other, survey) == (20, 200)
            assert other.store_reports([(survey, meanwhile)]) == [[Verdict.KNOWN] * 20]
            assert other.inspect().findings == ()

    def test_tell_of_what_another_one_released(
        self, store: PostgresqlStore, survey: Survey, address: Address, clock: Clock
    ) -> None:
        told: list[Survey] = []
        store.on_release = told.append
        store.publish(survey)
        take(store, survey, reports(survey, 200))
        with closing(PostgresqlStore(address, clock)) as other:
            other.settle()
        assert told == []
        for _ in range(2):
            store.settle()
            assert told == [survey]

    def test_start_at_once_over_an_empty_database(self, postgresql: Postgresql, clock: Clock) -> None:
        address = postgresql.new()
        assert at_once(*[lambda: PostgresqlStore(address, clock).close()] * 6) == []
        assert database_at(address).inspect().findings == ()
        postgresql.drop(address)

    def test_are_not_held_up_by_one_that_was_frozen(
        self, store: PostgresqlStore, survey: Survey, address: Address, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The server ends its transaction, so the survey is free again."""
        monkeypatch.setattr("deniable_server.store.postgresql.connection.IDLE_SECONDS", 1)
        store.publish(survey)
        with closing(PostgresqlStore(address, clock)) as other:
            held, stored = threading.Event(), threading.Event()
            failed: list[Exception] = []

            def freeze() -> None:
                try:
                    with other._transaction() as db:
                        other._hold(db, survey)
                        held.set()
                        stored.wait(PATIENCE)
                except StoreUnavailable as error:
                    failed.append(error)

            frozen = threading.Thread(target=freeze)
            frozen.start()
            assert held.wait(PATIENCE)
            take(store, survey, reports(survey, 1))  # which waits for the server to end what is frozen
            stored.set()
            frozen.join()
            assert len(failed) == 1


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE reports_{0} SET religious = (religious + 1) % 4 WHERE id = (SELECT max(id) FROM reports_{0})", "rows"),
        ("DELETE FROM reports_{0} WHERE id = (SELECT max(id) FROM reports_{0})", "rows"),
        ("DELETE FROM pending_{0}", "rows"),
        ("UPDATE tallies SET n = n + 1 WHERE survey = '{0}' AND option = 1", "rows"),
        ("UPDATE surveys SET closed_on = '2026-12-01' WHERE id = '{0}'", "rows"),
        ("UPDATE surveys SET document = document || ' '::bytea WHERE id = '{0}'", "document"),
        ("DELETE FROM checksums WHERE survey = '{0}'", "rows"),
        ("UPDATE owners SET token = 'grace' WHERE survey = '{0}'", "rows"),
        ("UPDATE migrations SET name = 'other'", "migrations"),
        ("ALTER TABLE reports_{0} RENAME COLUMN affair TO other", "is not defined"),
        ("ALTER TABLE pending_{0} DROP CONSTRAINT pending_{0}_pkey", "is not defined"),
        ("ALTER TABLE owners ADD COLUMN came_at timestamptz", "is not defined"),
        ("DROP TABLE pending_{0}", "is not defined"),
    ],
)
def test_every_change_is_found(
    store: PostgresqlStore, survey: Survey, address: Address, statement: str, finding: str
) -> None:
    store.publish(survey, "ada")
    take(store, survey, reports(survey, 210), together=105)
    store.settle()
    take(store, survey, reports(survey, 20), together=20)
    assert database_at(address).inspect().findings == ()
    with sql(address) as connection:
        connection.execute(statement.format(survey.id))
    found = database_at(address).inspect().findings
    assert any(finding in each for each in found), found


def test_pg_dump_is_a_backup_that_can_be_looked_at(
    store: PostgresqlStore, survey: Survey, postgresql: Postgresql, address: Address, tmp_path: Path
) -> None:
    """By the command that `deniable backup` says."""
    store.publish(survey)
    sent = reports(survey, 230, "web")
    take(store, survey, sent)
    store.settle()
    dump = tmp_path / "backup.dump"
    with pytest.raises(DeniableError, match="pg_dump") as refused:
        database_at(address).back_up(dump)
    command = shlex.split(str(refused.value).partition(": pg_dump")[2].partition(";")[0])
    subprocess.run([postgresql.bin / "pg_dump", *command], check=True)
    restored = postgresql.new()
    subprocess.run([postgresql.bin / "pg_restore", "--exit-on-error", "--dbname", restored.url, dump], check=True)
    assert database_at(restored).inspect().findings == ()
    with closing(PostgresqlStore(restored, store.today)) as again:
        assert again.tallies(survey) == tally_reports(sent, survey)
        assert again.store_reports([(survey, sent[:1])]) == [[Verdict.KNOWN]]
    postgresql.drop(restored)


def test_looking_at_a_database_changes_nothing(postgresql: Postgresql) -> None:
    address = postgresql.new()
    with pytest.raises(DeniableError, match="is empty; name another one with --db or DENIABLE_DB"):
        database_at(address).inspect()
    with sql(address) as connection:
        assert connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'deniable'").fetchone() == (0,)
    postgresql.drop(address)


@pytest.mark.parametrize("setting", ["client_encoding = 'SQL_ASCII'", "quote_all_identifiers = on"])
def test_what_a_database_sets_for_others_changes_nothing(
    store: PostgresqlStore, address: Address, survey: Survey, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    sent = reports(survey, 210)
    take(store, survey, sent)
    with sql(address) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET {setting}")
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")
    with closing(PostgresqlStore(Address(f"{address.url}&client_encoding=LATIN1"), store.today)) as again:
        again.settle()
        assert again.tallies(survey) == tally_reports(sent, survey)
        assert again.inspect().findings == ()


def test_a_limit_for_statements_of_others_ends_none_of_ours(store: PostgresqlStore, address: Address) -> None:
    with sql(address) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET statement_timeout = '20s'")
    with closing(PostgresqlStore(address, store.today)) as again, again._transaction() as db:
        assert db.execute("SHOW statement_timeout").fetchone() == ("0",)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_is_refused(postgresql: Postgresql, encoding: str) -> None:
    name = f"other_{encoding.lower()}_{os.getpid()}"
    with postgresql.admin() as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(
        DeniableError, match=f"must be encoded in UTF8, is in {encoding}; make one with CREATE DATABASE"
    ):
        PostgresqlStore(postgresql.address(name))
    postgresql.drop(postgresql.address(name))


def test_a_table_that_somebody_holds_is_no_damage(
    store: PostgresqlStore, address: Address, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    monkeypatch.setattr("deniable_server.store.postgresql.connection.WAIT_SECONDS", 0.2)
    with psycopg.connect(address.url) as other:
        other.execute(f"LOCK TABLE {SCHEMA}.{reports_table(survey)} IN ACCESS EXCLUSIVE MODE")
        with closing(PostgresqlStore(address, utc_today)) as looking, pytest.raises(StoreUnavailable):
            looking.inspect()
    assert store.inspect().findings == ()


def test_a_newer_database_is_refused(store: PostgresqlStore, address: Address, clock: Clock) -> None:
    with sql(address) as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'from the future')")
    assert store.not_ready_because(0) == "The database is of a newer version; start that one."
    with pytest.raises(DeniableError, match="got one with step 999 of 4 known here"):
        PostgresqlStore(address, clock)


def test_only_a_collector_that_is_alone_brings_an_older_database_up_to_date(
    store: PostgresqlStore, address: Address, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    steps = (*migrations.STEPS, ("notes", lambda db: db.execute("CREATE TABLE notes (note text)")))
    monkeypatch.setattr(migrations, "STEPS", steps)  # from here on the tables are of an older version
    monkeypatch.setattr(connection, "SECONDS_TO_LEAVE", 0.3)
    for open_it in (lambda: PostgresqlStore(address), lambda: database_at(address).inspect()):
        with pytest.raises(DeniableError, match="is of an older version; 'deniable serve' brings it up to date"):
            open_it()
    with pytest.raises(DeniableError, match="must be used by no collector meanwhile"):
        PostgresqlStore(address, may_update=True)  # `store` stands for the older collector
    with sql(address) as other:
        assert other.execute("SELECT to_regclass('deniable.notes')").fetchone() == (None,)
    store.close()
    with closing(PostgresqlStore(address, may_update=True)) as updated:
        assert [state.survey for state in updated.states()] == [survey]
    with closing(PostgresqlStore(address)) as again:
        assert again.not_ready_because(0) is None


def test_two_collectors_that_start_at_once_bring_an_older_database_up_to_date(
    store: PostgresqlStore, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_notes(db: PostgresqlConnection) -> None:
        db.execute("CREATE TABLE notes (note text)")
        time.sleep(0.5)

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, ("notes", add_notes)))
    monkeypatch.setattr(connection, "SECONDS_TO_LEAVE", 0.3)
    store.close()
    start = threading.Barrier(2)

    def opened() -> str | None:
        start.wait()
        with closing(PostgresqlStore(address, may_update=True)) as mine:
            return mine.not_ready_because(0)

    with ThreadPoolExecutor(2) as both:
        assert [each.result() for each in [both.submit(opened), both.submit(opened)]] == [None, None]


@pytest.mark.parametrize("name", ["xmin", "ctid"])
def test_a_question_cannot_have_the_name_of_a_column_of_postgresql(
    store: PostgresqlStore, survey: Survey, name: str
) -> None:
    question = replace(survey.questions[0], id=name)
    with pytest.raises(SurveyError, match=f"question '{name}': must have another id in PostgreSQL"):
        store.publish(replace(survey, questions=(question, *survey.questions[1:])))
    assert store.states() == []


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (errors.DiskFull, StoreFull),
        (errors.ConfigurationLimitExceeded, StoreFull),  # of temporary files
        (errors.DataCorrupted, StoreDamaged),
        (errors.IndexCorrupted, StoreDamaged),
        (errors.InsufficientPrivilege, StoreForbidden),
        (errors.LockNotAvailable, StoreUnavailable),
        (errors.AdminShutdown, StoreUnavailable),
        (errors.TooManyConnections, StoreUnavailable),
        (errors.IoError, StoreUnavailable),
        (errors.ReadOnlySqlTransaction, StoreUnavailable),
        (errors.IdleInTransactionSessionTimeout, StoreUnavailable),
        (PoolTimeout, StoreUnavailable),
        (errors.DeadlockDetected, errors.DeadlockDetected),  # is run again
    ],
)
def test_what_postgresql_says_in_our_words(problem: type[psycopg.Error], error: type[Exception]) -> None:
    with pytest.raises(error), in_our_words("postgresql://db/x"):
        raise problem("words")


class TestAddress:
    def test_that_nobody_answers_at_is_one_sentence_without_the_password(self) -> None:
        with pytest.raises(DeniableError, match=r"database postgresql://ada@127\.0\.0\.1:1/x: cannot be op") as error:
            PostgresqlStore(Address("postgresql://ada:geheim@127.0.0.1:1/x"))
        assert "geheim" not in str(error.value)

    @pytest.mark.parametrize(
        "password", ["ge/heim", "ge@heim", "geheim@1", "1/geheim", "ge?heim/1", "1?geheim/1&=", "1&heim"]
    )
    def test_that_libpq_would_read_otherwise_is_refused_without_any_of_it(self, password: str) -> None:
        for url in (f"postgresql://ada:{password}@127.0.0.1:1/x", f"postgresql://127.0.0.1:1/x?password={password}"):
            with pytest.raises(DeniableError) as error:
                PostgresqlStore(Address(url))
            assert "heim" not in str(error.value)

    @pytest.mark.parametrize("shown", [str, repr])
    def test_is_shown_without_its_password(self, shown: object) -> None:
        for url in (
            "postgresql://ada:geheim@db/x",
            "postgres://ada:ge:heim@db/x?sslmode=require",
            "postgresql://db/x?user=ada&password=geheim",
            "postgresql://:geheim@db/x",
            "postgresql://ada:ge/heim@db/x",
            "postgresql://ada:ge@heim@db/x",
            "postgresql://ada:ge?heim@db/x",
            "postgresql://db/x?user=ada&password=ge&heim=1",
            "postgresql://db/x?pass%77ord=geheim",
            "postgresql://db/x?sslPassword=geheim",
            "postgresql://db/x?oauth_client_secret=geheim",
            " POSTGRESQL://ada:geheim@db/x",
        ):
            for each in (Address(url), Settings(db=Address(url)), database_at(url)):
                assert "heim" not in shown(each)  # type: ignore[operator]
        assert str(Address("postgresql://db/x?host=h&sslmode=require")) == "postgresql://db/x?host=h&sslmode=require"

    @pytest.mark.parametrize(
        "wrong", ["postgresql+psycopg://u:geheim@db/x", "mysql://u:geheim@db/x", "host=db password=geheim"]
    )
    def test_of_another_kind_is_no_file(self, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for arguments in (["check"], ["survey", "list"], ["serve"], ["copy", "x.db"]):
            where = [wrong] if arguments[0] == "copy" else ["--db", wrong]
            message = CommandLine(*arguments).refused(*where)
            assert "database: must be a file, or an address like postgresql://user@host/name" in message
            assert "geheim" not in message
        assert list(tmp_path.iterdir()) == []

    def test_is_a_setting_like_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        url = "postgresql://ada@db/x"
        assert settings_from({"db": url}).db == Address(url)
        monkeypatch.setenv("DENIABLE_DB", url)
        assert settings_from({}).db == Address(url)
        assert settings_from({"db": "survey.db"}).db == Path("survey.db")


class TestRoles:
    @pytest.fixture
    def database(self, postgresql: Postgresql) -> Iterator[Address]:
        """A database in which `roles.sql` was run, with a login for each role: the same name and the process."""
        address = postgresql.new()
        for _ in range(2):  # it can be run again
            subprocess.run(
                [postgresql.bin / "psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", roles.SQL, address.url],
                check=True,
            )
        names = [f"{role}_{os.getpid()}" for role in (roles.OPERATE, roles.INGEST, roles.READ)]
        with postgresql.admin() as admin:
            for name in names:
                admin.execute(f"CREATE ROLE {name} LOGIN")
                admin.execute(f"GRANT {name.rpartition('_')[0]} TO {name}")
        yield address
        postgresql.drop(address)
        with postgresql.admin() as admin:
            for name in names:
                admin.execute(f"DROP ROLE {name}")

    def by(self, database: Address, role: str) -> Address:
        return Address(database.url.replace("postgres@", f"{role}_{os.getpid()}@"))

    def test_have_least_rights(self, database: Address, survey: Survey, clock: Clock) -> None:
        hidden, invited = replace(survey, results="closed"), invited_survey(results="batches")
        with (
            closing(PostgresqlStore(self.by(database, roles.OPERATE), clock)) as operates,
            closing(PostgresqlStore(self.by(database, roles.INGEST), clock)) as ingests,
        ):
            for each in (survey, hidden, invited):
                operates.publish(each)
            (mine,) = invite(operates, invited, 1)
            assert (operates.operates, ingests.operates) == (True, False)
            sent = reports(survey, 210)
            take(ingests, survey, sent)
            take(ingests, hidden, reports(hidden, 210))
            take(ingests, invited, [report_for(invited, mine)])
            assert ingests.store_reports([(survey, sent[:1])]) == [[Verdict.KNOWN]]
            assert ingests.settle()
            ingests.try_to_write()
            assert ingests.not_ready_because(0) is None
            assert rows(ingests, survey) == (210, 0), "somebody else folds"
            operates.settle()
            assert ingests.store_reports([(survey, sent[:1])]) == [[Verdict.KNOWN]]
            assert ingests.tallies(survey) == tally_reports(sent, survey)
            for refused in (
                lambda: ingests.publish(replace(survey, title="Another one")),
                lambda: ingests.close_survey(survey.id),
                lambda: create_token(ingests, "eve"),
                lambda: ingests.add_invitations(invited.id, ["0" * 64]),
            ):
                with pytest.raises(StoreForbidden, match="needs a role with more rights"):
                    refused()
            with sql(self.by(database, roles.INGEST)) as connection:
                for table in (pending_table(survey), reports_table(survey), "surveys", "totals", "tokens"):
                    for statement in (f"DELETE FROM {table}", f"TRUNCATE {table}", f"DROP TABLE {table}"):
                        with pytest.raises(psycopg.errors.InsufficientPrivilege):
                            connection.execute(statement)
                for statement in (
                    f"UPDATE {reports_table(survey)} SET affair = 0",
                    f"UPDATE {pending_table(survey)} SET affair = 0",
                    f"INSERT INTO {reports_table(survey)} VALUES ('x', NULL, 0, 0)",
                    f"INSERT INTO {invitations_table(invited)} VALUES ('x', '0')",
                    "UPDATE tallies SET n = 0",
                    "CREATE TABLE mine (x int)",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(statement)
            with sql(self.by(database, roles.READ)) as connection:
                assert connection.execute(f"SELECT count(*) FROM {reports_table(survey)}").fetchone() == (210,)
                assert connection.execute("SELECT survey, sum(n) FROM totals GROUP BY 1").fetchall() == [
                    (survey.id, 210)
                ], "of a survey whose results come out once it has closed nothing is seen"
                for table in (
                    pending_table(survey),
                    reports_table(hidden),
                    invitations_table(invited),
                    "tokens",
                    "signing_keys",
                    "release_keys",
                    "owners",
                    "public_urls",
                    "checksums",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(f"SELECT * FROM {table}")
                operates.close_survey(hidden.id)
                assert connection.execute(f"SELECT count(*) FROM {reports_table(hidden)}").fetchone() == (210,)
                assert connection.execute("SELECT count(*) FROM totals").fetchone() == (2,)
            assert operates.inspect().findings == ()

    def test_may_be_made_after_the_first_start(
        self, postgresql: Postgresql, template: str, survey: Survey, clock: Clock
    ) -> None:
        address = postgresql.new(like=template)
        with closing(PostgresqlStore(address, clock)) as store:
            store.publish(survey)
        subprocess.run(
            [postgresql.bin / "psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", roles.SQL, address.url],
            check=True,
        )
        name = f"{roles.OPERATE}_{os.getpid()}"
        with postgresql.admin() as admin:
            admin.execute(f"CREATE ROLE {name} LOGIN")
            try:
                url = Address(address.url.replace("postgres@", f"{name}@"))
                with pytest.raises(StoreForbidden, match="belongs to deniable_operate, and this role may not use it"):
                    PostgresqlStore(url, clock)
                admin.execute(f"GRANT {roles.OPERATE} TO {name}")
                with closing(PostgresqlStore(url, clock)) as operates:
                    assert operates.operates
                    assert operates.inspect().findings == ()
                    take(operates, survey, reports(survey, 3))
                    operates.close_survey(survey.id)
            finally:
                admin.execute(f"DROP ROLE {name}")
        with sql(address) as connection:
            query = f"SELECT has_table_privilege('{roles.INGEST}', '{pending_table(survey)}', 'INSERT')"
            assert connection.execute(query).fetchone() == (True,)
        postgresql.drop(address)

    def test_are_enough_where_everybody_else_has_none(self, database: Address, survey: Survey, clock: Clock) -> None:
        with sql(database) as admin:
            admin.execute(f"REVOKE ALL ON DATABASE {admin.info.dbname} FROM PUBLIC")
        with (
            closing(PostgresqlStore(self.by(database, roles.OPERATE), clock)) as operates,
            closing(PostgresqlStore(self.by(database, roles.INGEST), clock)) as ingests,
        ):
            operates.publish(survey)
            take(ingests, survey, reports(survey, 3))
            ingests.try_to_write()
            operates.close_survey(survey.id)
            assert rows(operates, survey) == (0, 3)
        with sql(self.by(database, roles.READ)) as connection:
            assert connection.execute("SELECT sum(n) FROM totals").fetchone() == (3,)
        with sql(database) as admin:
            admin.execute(f"REVOKE TEMPORARY ON DATABASE {admin.info.dbname} FROM {roles.OPERATE}")
        with pytest.raises(StoreForbidden, match=r"may make no temporary ones.*roles\.sql gives the right"):
            PostgresqlStore(self.by(database, roles.OPERATE), clock)

    @pytest.mark.parametrize("lost", ["REVOKE ALL ON surveys FROM {}", "REVOKE INSERT ON unsorted FROM {}"])
    def test_come_back_where_one_was_lost(self, database: Address, survey: Survey, clock: Clock, lost: str) -> None:
        with closing(PostgresqlStore(self.by(database, roles.OPERATE), clock)) as operates:
            operates.publish(survey)
        with sql(database) as admin:
            admin.execute(lost.format(roles.INGEST))
        PostgresqlStore(self.by(database, roles.OPERATE), clock).close()
        with closing(PostgresqlStore(self.by(database, roles.INGEST), clock)) as ingests:
            take(ingests, survey, reports(survey, 1))

    def test_publish_over_http_needs_more_rights(self, database: Address, survey: Survey, clock: Clock) -> None:
        with closing(PostgresqlStore(self.by(database, roles.OPERATE), clock)) as operates:
            token = create_token(operates, "ada")
        app = create_app(self.by(database, roles.INGEST), clock, Settings(rate_limit=None, fold_seconds=86_400))
        answer = post_survey(app.test_client(), survey, token)
        assert answer.status_code == 403
        assert "needs a role with more rights" in answer.json["detail"]
        app.extensions["deniable"]["writer"].stop()
        app.extensions["deniable"]["store"].close()


@pytest.mark.long
def test_killed_collectors_and_a_killed_server_lose_and_double_nothing() -> None:
    postgresql_kill.kill_collector(short=True)
    postgresql_kill.kill_server(short=True)


@pytest.mark.long
def test_a_fail_over_to_a_synchronous_standby_loses_and_doubles_nothing() -> None:
    postgresql_kill.fail_over(short=True)


def test_fifty_senders_to_two_collectors_are_counted_once() -> None:
    postgresql_kill.both_at_once(short=True)
