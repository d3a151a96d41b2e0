"""Pending reports and their fold: what is counted when, what is kept, and what the files tell."""

from __future__ import annotations

import datetime
import sqlite3
from dataclasses import replace

import pytest

from conftest import FIVE_TYPES, Clock, person
from deniable import Report, Survey, Tally, read_survey, tally_reports
from deniable_client import randomize
from deniable_server.store import Outcome, Store, counts, fold
from deniable_server.store.connection import truncate_log
from deniable_server.store.integrity import inspect
from deniable_server.store.tables import pending_table, reports_table
from deniable_server.writer import Writer
from torture import storage_clock, storage_disk, storage_machine


def reports(survey: Survey, n: int, cohort: str | None = None) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}, cohort) for _ in range(n)]


def take(store: Store, survey: Survey, sent: list[Report]) -> list[Outcome]:
    return store.store_reports([(survey, each) for each in sent])


def rows(store: Store, survey: Survey) -> tuple[int, int]:
    """Rows that are pending, and rows that are folded."""
    tables = (pending_table(survey), reports_table(survey))
    pending, folded = (store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)
    return pending, folded


@pytest.fixture
def tallied(survey: Survey) -> Survey:
    """The survey with its rows dropped once they are counted."""
    return replace(survey, retention="tallies")


def test_reports_wait_until_there_are_200(store: Store, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 199))
    store.settle()
    assert rows(store, survey) == (199, 0)
    take(store, survey, reports(survey, 1))
    store.settle()
    assert rows(store, survey) == (0, 200)


def test_tallies_grow_in_the_fold_and_estimates_count_what_waits(store: Store, survey: Survey) -> None:
    store.publish(survey)
    sent = reports(survey, 210, "web") + reports(survey, 30)
    take(store, survey, sent)
    assert counts.folded(store.db, survey) == 0
    assert store.tallies(survey) == tally_reports(sent, survey)
    store.settle()
    assert counts.folded(store.db, survey) == 240
    assert store.tallies(survey) == tally_reports(sent, survey)
    more = reports(survey, 50, "paper") + reports(survey, 3, "web")
    take(store, survey, more)
    assert store.tallies(survey) == tally_reports(sent + more, survey)
    assert store.state(survey.id).reports == 293


def test_counts_by_sql_are_those_of_the_reports_for_every_question_type(store: Store) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("a", "b"))
    store.publish(survey)
    sent = [randomize(survey, person(n), (None, "a", "b")[n % 3]) for n in range(300)]
    take(store, survey, sent)
    assert counts.count(store.db, survey, pending_table(survey)) == tally_reports(sent, survey)


def test_closing_folds_however_few(store: Store, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 3))
    store.close_survey(survey.id)
    assert rows(store, survey) == (0, 3)
    assert store.state(survey.id).reports == 3


def test_last_day_folds_however_few_and_a_clock_set_back_opens_again(
    store: Store, survey: Survey, clock: Clock
) -> None:
    store.publish(survey)
    (first, second) = reports(survey, 2)
    take(store, survey, [first])
    clock.today = datetime.date(2026, 12, 21)
    store.settle()
    assert rows(store, survey) == (0, 1)
    clock.today = datetime.date(2026, 12, 20)
    assert take(store, survey, [first, second]) == [Outcome.KNOWN, Outcome.STORED]


def test_large_tables_take_sorted_rows_and_are_written_anew_at_closing(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
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


def test_reports_come_out_once_and_sorted_even_when_a_fold_comes_between(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable_server.store.store.AT_A_TIME", 7)
    store.publish(survey)
    sent = sorted(reports(survey, 230), key=lambda each: each.id)
    take(store, survey, sent[::2])
    store.settle()
    take(store, survey, sent[1::2])
    reading = store.reports(survey)
    read = [next(reading) for _ in range(50)]
    take(store, survey, reports(survey, 200))
    store.settle()
    read += reading
    assert [each for each in read if each in sent] == sent
    assert len({each.id for each in read}) == len(read)


def test_tallies_keep_ids_only_and_only_until_closing(store: Store, tallied: Survey) -> None:
    store.publish(tallied)
    sent = reports(tallied, 250)
    take(store, tallied, sent)
    assert take(store, tallied, [replace(sent[0], cohort="web")]) == [Outcome.CONFLICT]
    store.settle()
    assert store.db.execute(f"SELECT * FROM {reports_table(tallied)} ORDER BY id").fetchall() == sorted(
        (each.id,) for each in sent
    )
    assert list(store.reports(tallied)) == []
    other = replace(sent[0], cohort="web")
    assert take(store, tallied, [sent[0], other]) == [Outcome.KNOWN, Outcome.KNOWN]  # of its content nothing was kept
    assert store.tallies(tallied) == tally_reports(sent, tallied)
    store.close_survey(tallied.id)
    assert rows(store, tallied) == (0, 0)
    assert store.tallies(tallied) == tally_reports(sent, tallied)
    assert store.state(tallied.id).reports == 250
    assert inspect(store.path).findings == ()


def test_ids_outlive_the_last_day_by_a_week_and_then_the_survey_stays_closed(
    store: Store, tallied: Survey, clock: Clock
) -> None:
    store.publish(tallied)
    take(store, tallied, reports(tallied, 5))
    clock.today = datetime.date(2026, 12, 27)
    store.settle()
    assert rows(store, tallied) == (0, 5)
    assert store.state(tallied.id).closed_on is None
    clock.today = datetime.date(2026, 12, 28)
    store.settle()
    assert rows(store, tallied) == (0, 0)
    assert store.state(tallied.id).closed_on == "2026-12-28"


def test_writer_folds_what_a_killed_collector_left(store: Store, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 300))
    Writer(store).stop()
    assert rows(store, survey) == (0, 300)


def test_writer_folds_on_its_timer_and_when_much_came(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    writer = Writer(store, fold_seconds=0.02)
    writer.submit(survey, reports(survey, 200))
    wait_until_folded(store, survey, 200)
    writer.stop()
    monkeypatch.setattr("deniable_server.writer.MOST_PENDING", 250)
    writer = Writer(store, fold_seconds=3600)
    writer.submit(survey, reports(survey, 249))
    assert rows(store, survey) == (249, 200)
    writer.submit(survey, reports(survey, 1))
    wait_until_folded(store, survey, 450)
    writer.stop()


def wait_until_folded(store: Store, survey: Survey, n: int) -> None:
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=10)
    while rows(store, survey) != (0, n):
        assert datetime.datetime.now() < deadline


def test_fold_that_fails_is_put_off_and_nobody_notices(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    original = store.settle

    def fails() -> bool:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(store, "settle", fails)
    writer = Writer(store, fold_seconds=0.001)
    assert writer.submit(survey, reports(survey, 200)) == [Outcome.STORED] * 200
    assert writer.is_running
    monkeypatch.setattr(store, "settle", original)
    wait_until_folded(store, survey, 200)
    writer.stop()


def test_log_is_empty_after_settling_unless_somebody_reads(store: Store, survey: Survey) -> None:
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


def test_nothing_is_written_when_nothing_came(store: Store, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 10))
    store.settle()
    before = store.db.conn.total_changes
    store.settle()
    assert store.db.conn.total_changes == before


def test_empty_survey_has_empty_tallies(store: Store, survey: Survey) -> None:
    store.publish(survey)
    store.settle()
    assert store.tallies(survey) == {}
    assert sum(store.tallies(survey).values(), Tally.empty(survey)) == Tally.empty(survey)


def test_files_tell_no_order() -> None:
    storage_disk.forensics(short=True)


def test_killed_at_any_statement_it_loses_and_doubles_nothing() -> None:
    storage_machine.machine(short=True)


def test_clock_set_back_and_forth() -> None:
    storage_clock.clock(short=True)


def test_replayed_report_counts_once() -> None:
    storage_clock.replays(short=True)
