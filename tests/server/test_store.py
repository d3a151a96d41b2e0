"""The store and its writer: durable, idempotent, and without a column that could tell on anybody."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable import DeniableError, Report, Survey, Tally, tally_reports
from deniable_server.store import StoreBusy, StoreDamaged, StoreFull, Verdict
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.writing.writer import SubmissionFuture, Writer
from tools.rig.patience import PATIENCE, wait_until
from tools.torture import storage_full, storage_kill

ALLOWED_COLUMNS = {
    "surveys": ["id", "document", "published_on", "closed_on"],
    "totals": ["survey", "cohort", "n"],
    "tallies": ["survey", "cohort", "question", "option", "n"],
    "tokens": ["sha256", "name", "scope", "expires_on", "surveys"],
    "tokens_copy": ["sha256", "name", "scope", "expires_on", "surveys"],
    "checksums": ["survey", "checksum"],
    "unsorted": ["survey"],
    "owners": ["survey", "token"],
    "public_urls": ["survey", "url"],  # the collector's, which its author named
    "agenda": ["survey", "day"],
    "releases": ["survey", "number", "record", "signature"],  # a record has a day
    "release_keys": ["name", "private"],
    "signing_keys": ["key_id", "private", "survey", "reissue"],
    "calendar": ["believed", "doubted_since", "latest"],  # days
    "_sqlite_migrations": ["id", "migration_set", "name", "applied_at"],  # of sqlite-utils; the last is left empty
}


def report(number: int, **changes: Any) -> Report:
    return Report(f"{number:032x}", None, {"affair": number % 2, "religious": number % 4} | changes)


def recount(store: SqliteStore, survey: Survey) -> dict[str | None, Tally]:
    return tally_reports(store.reports(survey), survey)


def test_tables_have_the_allowed_columns_and_no_others(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    tallied = replace(survey, retention="tallies", access="invited")
    store.publish(tallied)
    columns = {table.name: [column.name for column in table.columns] for table in store.db.tables}
    row = ["id", "cohort", "affair", "religious"]
    assert columns == ALLOWED_COLUMNS | {
        f"pending_{survey.id}": row,
        f"reports_{survey.id}": row,
        f"pending_{tallied.id}": row,
        f"reports_{tallied.id}": ["id"],
        f"invitations_{tallied.id}": ["hash", "state"],  # no key, number or place of a report
    }
    assert {each["applied_at"] for each in store.db.table("_sqlite_migrations").rows} == {""}


def test_commits_reach_the_disk(store: SqliteStore) -> None:
    settings = {name: store.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "secure_delete")}
    assert settings == {"synchronous": 2, "secure_delete": 1}
    assert store.db.journal_mode == "wal"


def test_writer_stores_together_what_waits_together(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    sizes: list[int] = []
    first_waits, go_on = threading.Event(), threading.Event()
    original = store.store_reports

    def slow(batch: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Verdict]]:
        sizes.append(len(batch))
        first_waits.set()
        go_on.wait(PATIENCE)
        return original(batch)

    store.store_reports = slow  # type: ignore[assignment]
    writer = Writer(store)
    threads = [threading.Thread(target=writer.submit, args=(survey, [report(n)])) for n in range(20)]
    threads[0].start()
    assert first_waits.wait(PATIENCE)
    for thread in threads[1:]:
        thread.start()
    wait_until(lambda: writer.waiting() == 19, "all the others wait")
    go_on.set()
    for thread in threads:
        thread.join()
    writer.stop()
    assert sizes == [1, 19]
    assert store.state(survey.id).reports == 20


@pytest.mark.parametrize("error", [None, StoreFull("full")])
def test_those_who_wait_wake_one_after_the_other(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch, error: StoreFull | None
) -> None:
    """Woken all at once they would wait once more, for the interpreter's lock; and nobody is forgotten."""
    store.publish(survey)
    writer = Writer(store)
    woken_by: list[str] = []
    original = SubmissionFuture.wake

    def wake(answer: SubmissionFuture) -> None:
        woken_by.append(threading.current_thread().name)
        original(answer)

    def fail(*_arguments: object) -> list[list[Verdict]]:
        assert error
        raise error

    monkeypatch.setattr(SubmissionFuture, "wake", wake)
    if error:
        monkeypatch.setattr(store, "store_reports", fail)
    answers = [SubmissionFuture() for _ in range(5)]
    writer._store_together([(survey, [report(n)], answer) for n, answer in enumerate(answers)])
    assert woken_by == ["MainThread"]
    for answer in answers:
        if error:
            with pytest.raises(StoreFull):
                answer.get()
        else:
            assert answer.get() == [Verdict.STORED]
    assert len(woken_by) == 5
    writer.stop()


def test_writer_stores_what_waits_before_it_stops(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    writer = Writer(store)
    threads = [threading.Thread(target=writer.submit, args=(survey, [report(n)])) for n in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.stop()
    assert store.state(survey.id).reports == 30


def test_writer_refuses_more_than_it_will_hold(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    monkeypatch.setattr("deniable_server.writing.writer.MOST_WAITING", 1)
    blocked, go_on = threading.Event(), threading.Event()
    original = store.store_reports

    def slow(batch: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Verdict]]:
        blocked.set()
        go_on.wait(PATIENCE)
        return original(batch)

    monkeypatch.setattr(store, "store_reports", slow)
    writer = Writer(store)
    threads = [threading.Thread(target=writer.submit, args=(survey, [report(n)])) for n in range(2)]
    threads[0].start()
    assert blocked.wait(PATIENCE)
    threads[1].start()
    wait_until(writer.waiting, "the second one waits")
    with pytest.raises(StoreBusy, match="send the same report again"):
        writer.submit(survey, [report(3)])
    go_on.set()
    for thread in threads:
        thread.join()
    writer.stop()
    assert store.state(survey.id).reports == 2
    with pytest.raises(StoreBusy, match="is stopping"):
        writer.submit(survey, [report(3)])


def test_writer_takes_a_batch_of_any_size_when_nothing_waits(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    monkeypatch.setattr("deniable_server.writing.writer.MOST_WAITING", 10)
    writer = Writer(store)
    assert writer.submit(survey, list(map(report, range(100)))) == [Verdict.STORED] * 100
    writer.stop()


def test_writer_logs_once_that_it_cannot_settle_and_once_that_it_can_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reasons: Iterator[str | None] = iter(["full", "full", "full", "gone", None, None])
    all_were_given = threading.Event()

    def settle() -> bool:
        reason = next(reasons, "none left")
        if reason == "none left":
            all_were_given.set()
        elif reason:
            raise StoreFull(reason)
        return True

    monkeypatch.setattr(store, "settle", settle)
    with caplog.at_level("INFO", "deniable"):
        writer = Writer(store, fold_seconds=0.001)
        assert all_were_given.wait(PATIENCE)
        writer.stop()
    assert [record.getMessage() for record in caplog.records] == [
        "fold: put off, full",
        "fold: put off, gone",
        "fold: done again",
    ]


@pytest.mark.parametrize("content", [b"this is no database, and long enough to be looked at" * 10])
def test_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(DeniableError, match=r"notes\.txt: cannot be opened"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeniableError, match="cannot be opened"):
        SqliteStore(tmp_path / "missing" / "test.db")


def test_damaged_page_is_one_sentence(tmp_path: Path, survey: Survey) -> None:
    path = tmp_path / "test.db"
    today = survey.opens
    assert today
    with closing(SqliteStore(path, lambda: today)) as store:
        store.publish(survey)
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = store.db.execute(query, [f"reports_{survey.id}"]).fetchone()
        (size,) = store.db.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)
    sentence = r"database test\.db: is damaged .*; stop the collector"
    with closing(SqliteStore(path, lambda: today)) as store, pytest.raises(StoreDamaged, match=sentence):
        store.store_reports([(survey, [report(1)])])


@pytest.mark.slow
def test_killed_collector_has_everything_that_it_acknowledged() -> None:
    storage_kill.kill(short=True)


@pytest.mark.slow
def test_full_disk_refuses_and_recovers_by_itself() -> None:
    storage_full.full(short=True)
