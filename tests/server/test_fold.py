"""Pending reports and their fold: what is counted when, what is kept, and what the files tell."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pkgutil import resolve_name
from typing import Literal

import pytest

from deniable import Survey, read_survey, tally_reports
from deniable_client import randomize
from deniable_server.store import StoreUnavailable, Verdict, counts
from deniable_server.store.sqlite import fold
from deniable_server.store.sqlite.connection import truncate_log
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import reports_table
from tests.support.folding import go_to, live, reports, survey, take, take_together, tallied
from tests.support.stores import rows
from tools.rig.surveys import FIVE_TYPES, Clock, person
from tools.torture import storage_clock, storage_disk, storage_machine
from tools.torture.storage_disk import PAGE, read_elsewhere

__all__ = ["live", "survey", "tallied"]


def test_large_tables_take_sorted_rows_and_are_written_anew_at_closing(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "WRITTEN_ANEW", 250)
    monkeypatch.setattr(fold, "LOAD", 250)
    store.publish(survey)
    sent = reports(survey, 900)
    for start in range(0, 900, 300):
        take(store, survey, sent[start : start + 300])
        store.settle()
    store.close_survey(survey.id)
    assert sorted(sent, key=lambda each: each.id) == list(store.reports(survey))
    assert store.tallies(survey) == tally_reports(sent, survey)
    assert not store.db.table("anew").exists()


def test_log_is_empty_after_settling_unless_somebody_reads(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 1))
    log = store.path.with_name("test.db-wal")
    assert store.settle()
    assert log.stat().st_size == 0
    reader = sqlite3.connect(store.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM surveys").fetchone()
    take(store, survey, reports(survey, 1))
    assert not store.settle()
    assert log.stat().st_size > 0
    reader.close()
    assert truncate_log(store.db, store.path)
    assert log.stat().st_size == 0


def test_nothing_is_written_when_nothing_came(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 10))
    store.settle()
    before = store.db.conn.total_changes
    store.settle()
    assert store.db.conn.total_changes == before


@pytest.mark.parametrize("retention", ["reports", "tallies"])
def test_batch_of_200_never_waits(store: SqliteStore, survey: Survey, retention: Literal["reports", "tallies"]) -> None:
    survey = replace(survey, retention=retention)
    store.publish(survey)
    sent = reports(survey, 200, "web")
    assert take_together(store, survey, sent) == [Verdict.STORED] * 200
    assert rows(store, survey) == (0, 200)
    assert store.tallies(survey) == counts.stored(store.db, survey) == tally_reports(sent, survey)
    assert inspect(store.path).findings == ()
    assert take_together(store, survey, reports(survey, 199)) == [Verdict.STORED] * 199
    assert rows(store, survey) == (199, 200)


def test_rows_of_a_batch_are_counted_like_those_of_a_table_for_every_question_type(store: SqliteStore) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("a", "b"), release=50, results="batches")
    store.publish(survey)
    sent = [randomize(survey, person(n), (None, "a", "b")[n % 3]) for n in range(300)]
    take_together(store, survey, sent)
    assert counts.stored(store.db, survey) == tally_reports(sent, survey)
    assert inspect(store.path).findings == ()


@pytest.mark.parametrize("retention", ["reports", "tallies"])
@pytest.mark.parametrize(
    "step",
    [
        "sqlite.connection.SqliteConnection.insert",
        "sqlite.fold._remember_to_sort",
        "counts.of_rows",
        "counts.add",
        "checksum.sum_of",
        "checksum.change",
    ],
)
def test_batch_that_fails_after_any_step_leaves_nothing(
    store: SqliteStore,
    survey: Survey,
    retention: Literal["reports", "tallies"],
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = replace(survey, retention=retention)
    store.publish(survey)
    take_together(store, survey, reports(survey, 30))
    assert store.settle()
    files = store.path.read_bytes()
    original = resolve_name(f"deniable_server.store.{step}")

    def fails(*values: object) -> None:
        original(*values)
        raise sqlite3.OperationalError("disk I/O error")

    sent = reports(survey, 250)
    with monkeypatch.context() as patched:
        patched.setattr(f"deniable_server.store.{step}", fails)
        with pytest.raises(StoreUnavailable):
            take_together(store, survey, sent)
    assert rows(store, survey) == (30, 0)
    assert inspect(store.path).findings == ()
    assert store.settle()
    assert store.path.read_bytes() == files
    assert take_together(store, survey, sent) == [Verdict.STORED] * 250


@pytest.mark.slow
def test_rows_of_batches_are_written_anew_once_there_is_no_load(
    store: SqliteStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "WRITTEN_ANEW", 500)
    monkeypatch.setattr(fold, "LOAD", 500)
    store.publish(survey)
    store.settle()
    take_together(store, survey, reports(survey, 400))
    store.settle()
    assert are_written_anew(store, survey)  # a small table always is
    for _ in range(2):
        take_together(store, survey, reports(survey, 500))
        store.settle()
        assert not are_written_anew(store, survey)
    store.settle()
    assert are_written_anew(store, survey)
    take_together(store, survey, reports(survey, 499))
    store.settle()
    assert are_written_anew(store, survey)
    before = store.db.conn.total_changes
    store.settle()
    assert store.db.conn.total_changes == before


@pytest.mark.slow
def test_rows_of_batches_are_written_anew_after_a_crash(store: SqliteStore, survey: Survey) -> None:
    store.publish(survey)
    take_together(store, survey, reports(survey, 300))
    take_together(store, survey, reports(survey, 300))
    assert not are_written_anew(store, survey)
    with closing(SqliteStore(store.path, store.today)) as restarted:
        assert restarted.settle()
        assert are_written_anew(restarted, survey)
    with closing(SqliteStore(store.path, store.today)) as restarted:
        before = restarted.db.conn.total_changes
        assert restarted.settle()
        assert restarted.db.conn.total_changes == before


@pytest.mark.slow
@pytest.mark.parametrize("by", ["hand", "calendar"])
def test_rows_of_batches_are_written_anew_by_whoever_meets_the_closed_survey_whatever_their_number(
    store: SqliteStore, survey: Survey, clock: Clock, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "WRITTEN_ANEW", 100)
    monkeypatch.setattr(fold, "WRITTEN_ANEW_AT_REST", 100)
    store.publish(survey)
    take_together(store, survey, reports(survey, 300))
    take_together(store, survey, reports(survey, 300))
    assert store.settle()
    assert not are_written_anew(store, survey)
    with closing(SqliteStore(store.path, clock)) as restarted:  # after a crash, say
        if by == "hand":
            monkeypatch.setattr(restarted, "_settle", lambda *_, **__: None)  # killed while it closed
            restarted.close_survey(survey.id)
        else:
            go_to(restarted, clock, datetime.date(2026, 12, 20))
        clock.today = datetime.date(2026, 12, 21)
    with closing(SqliteStore(store.path, clock)) as restarted:
        assert restarted.settle()
        assert are_written_anew(restarted, survey)


def are_written_anew(store: SqliteStore, survey: Survey) -> bool:
    """Whether the pages of folded rows are those of another file whose rows came one by one, the last first."""
    kept = store.db.execute(f"SELECT * FROM {reports_table(survey)} ORDER BY id DESC").fetchall()
    assert truncate_log(store.db, store.path)
    path = store.path.with_name("other.db")
    with closing(SqliteStore(path, store.today)) as other:
        other.publish(survey)
        for row in kept:
            other.db.insert(reports_table(survey), [row])
        fold.sort_reports(other.db, survey)
        truncate_log(other.db, path)
        leaves = [set(leaves_with(read_elsewhere(each), [row[0] for row in kept])) for each in (store.path, path)]
    path.unlink()
    return leaves[0] == leaves[1]


def leaves_with(content: bytes, ids: list[str]) -> Iterator[bytes]:
    """Leaf pages that hold one of these ids."""
    wanted = set(ids)
    for start in range(0, len(content), PAGE):
        page = content[start : start + PAGE]
        if page[0] == 10 and any(storage_disk.places(page, wanted)):
            yield page


@pytest.mark.slow
def test_files_tell_no_order() -> None:
    storage_disk.forensics(short=True)


@pytest.mark.fuzz
def test_killed_at_any_statement_it_loses_and_doubles_nothing() -> None:
    storage_machine.machine(short=True)


@pytest.mark.slow
def test_clock_set_back_and_forth() -> None:
    storage_clock.clock(short=True)


@pytest.mark.slow
def test_replayed_report_counts_once() -> None:
    storage_clock.replays(short=True)
