"""A database that is replaced under a running collector: nothing is acknowledged that is lost, nothing is damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from deniable import Report, Survey
from deniable_server.store import StoreReplaced, Verdict
from deniable_server.store.sqlite import database_files
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore


def report(number: int) -> Report:
    return Report(f"{number:032x}", None, {"affair": number % 2, "religious": number % 4})


def store_some(store: SqliteStore, survey: Survey, *numbers: int) -> None:
    for number in numbers:
        assert store.store_reports([(survey, [report(number)])]) == [[Verdict.STORED]]


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def remove_log(path: Path) -> None:
    beside(path, "-wal").unlink()


def remove_index(path: Path) -> None:
    beside(path, "-shm").unlink()


def replace_log(path: Path) -> None:
    beside(path, "-wal").unlink()
    beside(path, "-wal").touch()


def remove_all(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        beside(path, suffix).unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def in_its_place(path: Path) -> None:
    os.replace(path.with_name("copy.db"), path)


def in_its_place_without_the_log(path: Path) -> None:
    remove_all(path)
    path.with_name("copy.db").rename(path)


def let_the_clock_of_the_file_system_go_on(folder: Path, elsewhere: Path) -> None:
    """Wait until what happens now gets a later time than the last change of a folder."""
    while elsewhere.stat().st_ctime_ns <= folder.stat().st_ctime_ns:
        (elsewhere / "clock").touch()
        (elsewhere / "clock").unlink()


EVERY_WAY = (remove_log, remove_index, replace_log, remove_all, move_away, in_its_place, in_its_place_without_the_log)


@pytest.mark.parametrize("interfere", EVERY_WAY)
def test_nothing_is_acknowledged_and_the_restored_file_stays_whole(
    store: SqliteStore, survey: Survey, interfere: Callable[[Path], None]
) -> None:
    store.publish(survey)
    store_some(store, survey, 1, 2)
    copy = store.path.with_name("copy.db")
    back_up(store.path, copy)
    before = copy.read_bytes()
    store_some(store, survey, 3)
    interfere(store.path)
    for number in (4, 5):
        with pytest.raises(StoreReplaced, match="replaced or removed while it was in use"):
            store.store_reports([(survey, [report(number)])])
    with pytest.raises(StoreReplaced):
        store.settle()
    refused: list[Exception] = []

    def from_a_new_thread() -> None:
        try:
            store.state(survey.id)
        except StoreReplaced as error:
            refused.append(error)

    thread = threading.Thread(target=from_a_new_thread)
    thread.start()
    thread.join()
    assert len(refused) == 1
    restored = interfere in (in_its_place, in_its_place_without_the_log)
    if restored:
        assert store.path.read_bytes() == before
        with closing(SqliteStore(store.path, store.today)) as again:  # the next collector, while the old one still runs
            assert inspect(store.path).findings == ()
            assert {each.id for each in again.reports(survey)} == {report(1).id, report(2).id}
            store_some(again, survey, 3)
            assert inspect(store.path).findings == ()


@pytest.mark.parametrize("interfere", [remove_log, remove_index, replace_log, move_away])
def test_what_was_acknowledged_is_still_there_after_a_crash(
    tmp_path: Path, survey: Survey, interfere: Callable[[Path], None]
) -> None:
    """The connections are never closed here: that is what a kill would leave on the disk."""
    store = SqliteStore(tmp_path / "test.db", lambda: survey.opens)  # type: ignore[arg-type,return-value]  # it has a day
    store.publish(survey)
    store_some(store, survey, 1, 2, 3)
    interfere(store.path)
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(4)])])
    found = tmp_path / ("elsewhere.db" if interfere is move_away else "test.db")
    crashed = tmp_path / "crashed.db"
    shutil.copyfile(found, crashed)
    if interfere is replace_log:  # somebody else's log is not ours to judge; ours was written into it by nobody
        store.close()
        shutil.copyfile(found, crashed)
    with closing(SqliteStore(crashed, store.today)) as again:
        assert {each.id for each in again.reports(survey)} == {report(n).id for n in (1, 2, 3)}
    assert inspect(crashed).findings == ()
    store.close()


@pytest.mark.parametrize("interfere", EVERY_WAY)
def test_in_a_folder_that_was_left_alone_only_the_database_is_looked_at(
    store: SqliteStore,
    survey: Survey,
    interfere: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    store.publish(survey)
    back_up(store.path, store.path.with_name("copy.db"))
    looks: list[str | Path] = []

    def identity(name: str | Path) -> database_files.Identity | None:
        looks.append(name)
        return original(name)

    original = database_files.identity
    monkeypatch.setattr(database_files, "identity", identity)
    store_some(store, survey, 1)
    assert len(looks) == 6, "three names, before the commit and after it, while the folder has just changed"
    let_the_clock_of_the_file_system_go_on(store.path.parent, tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setattr(database_files, "REST_NS", 0)
    store_some(store, survey, 2)
    looks.clear()
    store_some(store, survey, 3, 4, 5)
    assert looks == 6 * [str(store.path)], "before each commit and after it"
    times = store.path.parent.stat()
    interfere(store.path)
    os.utime(store.path.parent, ns=(times.st_atime_ns, times.st_mtime_ns))  # as programs do that restore a backup
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(6)])])


def test_nobody_trusts_a_look_that_is_not_over(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    store_some(store, survey, 1)
    monkeypatch.setattr(database_files, "REST_NS", 0)
    remove_log(store.path)
    original = database_files.identity
    connection = store.db.conn  # a probe looks through it while its own thread commits
    assert isinstance(connection, database_files.FileConnection)
    refused: list[StoreReplaced] = []

    def identity(name: str | Path) -> database_files.Identity | None:
        if str(name).endswith("-wal"):
            monkeypatch.setattr(database_files, "identity", original)
            try:
                connection.refuse_replaced()
            except StoreReplaced as error:
                refused.append(error)
        return original(name)

    monkeypatch.setattr(database_files, "identity", identity)
    with pytest.raises(StoreReplaced):
        connection.refuse_replaced()
    assert len(refused) == 1


def link_to_another_file(link: Path, copy: Path) -> None:
    link.with_name("new").symlink_to(copy)
    link.with_name("new").replace(link)


def link_to_another_folder(link: Path, copy: Path) -> None:
    link_to_another_file(link.parent, copy.parent)


@pytest.mark.parametrize("interfere", [link_to_another_file, link_to_another_folder])
def test_a_link_that_leads_to_another_database_stops_it(
    tmp_path: Path, survey: Survey, interfere: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link.db"
    if interfere is link_to_another_folder:
        (tmp_path / "current").symlink_to(tmp_path / "first")
        link = tmp_path / "current" / "test.db"
    else:
        link.symlink_to(tmp_path / "first" / "test.db")
    monkeypatch.setattr(database_files, "REST_NS", 0)
    with closing(SqliteStore(link, lambda: survey.opens)) as store:  # type: ignore[arg-type,return-value]  # it has one
        store.publish(survey)
        store_some(store, survey, 1, 2)
        copy = tmp_path / "second" / "test.db"
        back_up(link, copy)
        before = copy.read_bytes()
        store_some(store, survey, 3)
        interfere(link, copy)
        with pytest.raises(StoreReplaced):
            store.store_reports([(survey, [report(4)])])
        assert copy.read_bytes() == before
    assert inspect(tmp_path / "first" / "test.db").findings == ()
    with closing(SqliteStore(tmp_path / "first" / "test.db", lambda: survey.opens)) as first:  # type: ignore[arg-type,return-value]
        assert {each.id for each in first.reports(survey)} == {report(n).id for n in (1, 2, 3)}


def test_a_database_that_is_another_one_in_a_folder_that_did_not_change_is_noticed(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a file is mounted over it, which changes nothing of the folder."""
    store.publish(survey)
    monkeypatch.setattr(database_files, "REST_NS", 0)
    store_some(store, survey, 1, 2)
    original = database_files.identity
    monkeypatch.setattr(database_files, "identity", lambda name: (0, 0) if Path(name) == store.path else original(name))
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(3)])])


def test_a_folder_whose_file_system_keeps_no_time_of_changes_is_never_trusted(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Linux shows the root folder of a FAT file system."""
    original = os.stat

    def stat(path: Any, **how: Any) -> os.stat_result:
        status = original(path, **how)
        return os.stat_result(tuple(status), {"st_ctime_ns": 0}) if path == str(store.path.parent) else status

    store.publish(survey)
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        store_some(store, survey, 1, 2)
        remove_log(store.path)
        with pytest.raises(StoreReplaced):
            store.store_reports([(survey, [report(3)])])


def test_a_file_that_comes_back_is_used_again(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    move_away(store.path)
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(1)])])
    store.path.with_name("elsewhere.db").rename(store.path)
    store_some(store, survey, 1)
    assert inspect(store.path).findings == ()


def test_a_replacement_between_write_and_commit_is_not_acknowledged(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    back_up(store.path, store.path.with_name("copy.db"))
    original = store._take

    def late(*arguments: object) -> object:
        outcomes = original(*arguments)  # type: ignore[arg-type]
        in_its_place(store.path)
        return outcomes

    monkeypatch.setattr(store, "_take", late)
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(1)])])
    assert inspect(store.path).findings == ()


def test_other_programs_may_come_and_go(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    for number in range(3):
        store_some(store, survey, number)
        with closing(SqliteStore(store.path, store.today)) as other:
            store_some(other, survey, number + 10)
            other.settle()
        with closing(sqlite3.connect(store.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        inspect(store.path)
    store.settle()
    assert store.state(survey.id).reports == 6


def test_a_link_to_the_database_is_followed_to_its_log(tmp_path: Path, survey: Survey) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "folder" / "test.db")
    with closing(SqliteStore(link, lambda: survey.opens)) as store:  # type: ignore[arg-type,return-value]  # it has a day
        store.publish(survey)
        store_some(store, survey, 1)
        assert beside(tmp_path / "folder" / "test.db", "-wal").stat().st_size > 0
        assert store.settle()
        assert beside(tmp_path / "folder" / "test.db", "-wal").stat().st_size == 0


def test_the_collector_refuses_with_a_sentence_and_is_not_ready(
    http: FlaskClient, store: SqliteStore, survey: Survey
) -> None:
    store.publish(survey)
    back_up(store.path, store.path.with_name("copy.db"))
    in_its_place(store.path)
    body = {"id": "7" * 32, "cohort": None, "values": {"affair": 1, "religious": 3}}
    response = http.post(f"/api/v1/surveys/{survey.id}/reports", json=body)
    assert response.status_code == 503
    assert response.json["detail"] == (
        "The collector's database was replaced while it was in use. Nothing was stored; send the same again later."
    )
    assert int(response.headers["Retry-After"]) >= 1
    response = http.get("/readyz")
    assert (response.status_code, response.json["detail"]) == (
        503,
        "The database, its -wal or its -shm was replaced or removed; put the files in order and restart the collector.",
    )


def test_a_commit_looks_at_its_files_twice_and_asks_little(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look is a call of the system, and each of these and each statement gives up the interpreter's lock."""
    store.publish(survey)
    store_some(store, survey, 1)
    looked: list[str] = []
    statements: list[str] = []
    identity = database_files.identity

    def look(name: str | Path) -> database_files.Identity | None:
        looked.append(str(name))
        return identity(name)

    monkeypatch.setattr(database_files, "identity", look)
    store.db.conn.set_trace_callback(statements.append)
    store_some(store, survey, 2)
    store.db.conn.set_trace_callback(None)
    assert len(looked) == 2 * len(database_files.SUFFIXES)
    assert len(statements) <= 8, statements


def test_an_error_in_a_file_that_was_replaced_is_told_as_that(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)

    def fail(*_arguments: object) -> None:
        in_its_place_without_the_log(store.path)
        raise sqlite3.DatabaseError("database disk image is malformed")

    back_up(store.path, store.path.with_name("copy.db"))
    monkeypatch.setattr(store, "_take", fail)
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(1)])])
    assert inspect(store.path).findings == ()


def test_a_replacement_during_the_commit_is_not_acknowledged(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    back_up(store.path, store.path.with_name("copy.db"))
    store.db.conn.set_trace_callback(lambda statement: in_its_place(store.path) if statement == "COMMIT" else None)
    with pytest.raises(StoreReplaced):
        store.store_reports([(survey, [report(1)])])
    store.db.conn.set_trace_callback(None)
