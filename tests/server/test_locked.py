"""What commands say of a database that another program keeps locked, and who served it last."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deniable import Survey, __version__
from deniable.errors import DeniableError
from deniable_server.store.sqlite import connection, letterbox, lock
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.letterbox import Letterbox
from deniable_server.store.sqlite.lock import Lock, last_server
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import free_port
from tools.rig.command_line import CommandLine, run_cli

NAME = f"deniable {__version__}, process {os.getpid()}"
EARLIER = "deniable 9.8.7, process 65\n"
LOCKED = "another program has locked it (SQLITE_BUSY)"


@pytest.fixture(autouse=True)
def without_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WAIT_MS", 1)
    monkeypatch.setattr("deniable_server.store.sqlite.integrity.WAIT_MS", 1)


@pytest.fixture
def database(tmp_path: Path, survey: Survey) -> Path:
    path = tmp_path / "test.db"
    with closing(SqliteStore(path)) as store:
        store.publish(survey)
    return path


@contextmanager
def locked(path: Path, mode: str) -> Iterator[None]:
    """Keep a database locked as another program does: its writes, or everything."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if mode == "everything":
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN IMMEDIATE")
        yield


def write(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.try_to_write()


def backed_up(path: Path) -> None:
    back_up(path, path.with_name("copy.db"))


@pytest.mark.parametrize(
    ("act", "mode"),
    [(write, "writes"), (SqliteStore, "everything"), (inspect, "everything"), (backed_up, "everything")],
)
def test_the_cause_and_the_way_out_are_named(act: Callable[[Path], object], mode: str, database: Path) -> None:
    with locked(database, mode), pytest.raises(DeniableError) as refused:
        act(database)
    sentence = str(refused.value)
    assert LOCKED in sentence
    assert "database is locked" not in sentence
    assert sentence.endswith("wait until it is done or stop it, and try again")
    act(database)  # and then it works


def test_the_collector_is_named_where_it_is_known(database: Path) -> None:
    with Lock(database) as right, locked(database, "writes"):
        right.begin()
        with pytest.raises(DeniableError) as refused:
            write(database)
    assert str(refused.value).endswith(f"try again. Its last known collector: {NAME}")


def test_a_collector_that_starts_is_named_to_others_and_not_to_itself(database: Path) -> None:
    lock.lock_path(database).write_text(EARLIER)
    with Lock(database), locked(database, "writes"):
        with pytest.raises(DeniableError, match=r"Its last known collector: deniable 9\.8\.7, process 65$"):
            write(database)
        started = run_cli("serve", "--db", str(database), "--port", str(free_port()))
        assert f"stop that one first (last known: {NAME})" in started.stderr
    lock.lock_path(database).write_text(f"{EARLIER}held by deniable 9.9, process 66\n")
    with locked(database, "writes"), pytest.raises(DeniableError, match=r"collector: deniable 9\.9, process 66$"):
        write(database)


def test_commands_say_so(database: Path, survey: Survey) -> None:
    with locked(database, "everything"):
        for arguments in (("survey", "list"), ("estimate", survey.id), ("check",)):
            assert LOCKED in CommandLine().refused(*arguments, "--db", database)


def test_a_collector_is_not_ready_meanwhile(database: Path) -> None:
    with closing(SqliteStore(database)) as store:
        assert store.not_ready_because(0) is None
    with locked(database, "everything"):
        assert store._unusable_because() == "Another program has locked the database (SQLITE_BUSY)."


def test_the_database_of_a_place_is_not_taken_for_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letterbox, "WAIT_SECONDS", 0)
    path = tmp_path / "place.db"
    Letterbox(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DeniableError, match="another program has locked it"):
            Letterbox(path)


def test_versions_are_named_where_they_differ(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("INSERT INTO _sqlite_migrations VALUES (99, 'deniable', '99 later', '')")
    lock.lock_path(database).write_text(EARLIER)
    for command in (
        ("check", "--db", database),
        ("serve", "--db", database, "--port", free_port()),
        ("copy", database, database.with_name("copy.db")),
    ):
        assert (
            f"use that version (this is deniable {__version__}; last known collector of this database: "
            "deniable 9.8.7, process 65)\n"
        ) in run_cli(*map(str, command)).stderr
        assert lock.lock_path(database).read_text() == EARLIER


def test_a_collector_that_was_killed_while_it_started_is_not_the_last_one(database: Path) -> None:
    for before, server in (("", None), (EARLIER, EARLIER.strip())):
        lock.lock_path(database).write_text(f"{before}held by deniable 1.2.3, process 7\n")
        assert last_server(database) == server
        with Lock(database):
            assert last_server(database) == server
        assert lock.lock_path(database).read_text() == before


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff\xfe", b"deniable <script>, process 1\n", b"deniable 1, process 2\n" * 9),
        b"held by deniable 1, process 2\ndeniable 1, process 2\n",
    ],
)
def test_what_is_no_name_is_not_shown(content: bytes, database: Path) -> None:
    lock.lock_path(database).write_bytes(content)
    assert last_server(database) is None


def test_a_name_is_written_anew_by_each_collector_that_accepted_the_database(database: Path) -> None:
    assert last_server(database) is None
    earlier = "deniable 1.2.3.dev100000000, process 100000000"
    lock.lock_path(database).write_text(f"{earlier}\n")
    with Lock(database) as right:
        assert last_server(database) == earlier
        with pytest.raises(DeniableError, match=f"stop that one first \\(last known: {NAME.replace('+', '.')}"):
            Lock(database)
        right.begin()
        assert last_server(database) == NAME
        with pytest.raises(DeniableError, match=f"stop that one first \\(last known: {NAME.replace('+', '.')}"):
            Lock(database)
    assert last_server(database) == NAME
