"""What every store promises, shown of each: `deniable_server.store.interface.Store` states it.

Tests of what only one of them does stand in files of their own. A store that is added is added to
`tests.support.stores.KINDS`, and has to pass all of this.
"""

from __future__ import annotations

import datetime
import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import psycopg
import pytest

from deniable import Report, Survey, Tally, read_survey, tally_reports
from deniable.access.invitation import hash_of, new_invitation
from deniable_client import randomize
from deniable_server.access.tokens import Token, TokenError, create_token, find_token, valid_token
from deniable_server.store import NotFound, StoreUnavailable, TokenRow, Verdict, counts
from deniable_server.store.postgresql import store as postgresql_store
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import pending_table, reports_table
from deniable_server.writing.writer import Writer
from tests.support.drawn_questions import shared_survey
from tests.support.folding import go_to, live, reports, survey, take, take_together, tallied, wait_until_folded
from tests.support.marks import long
from tests.support.postgresql import postgresql, template
from tests.support.stores import Place, place, rows
from tests.support.threads import at_once
from tools.rig.access import invited_survey, key_number, report_for, unlinkable_survey
from tools.rig.surveys import FIVE_TYPES, Clock, person

__all__ = ["live", "place", "postgresql", "survey", "tallied", "template"]


@pytest.fixture
def store(place: Place) -> Iterator[SqlStore]:
    """A store of each kind, with nothing in it."""
    with place.opened() as opened:
        yield opened


def report(number: int, **changes: int) -> Report:
    return Report(f"{number:032x}", None, {"affair": number % 2, "religious": number % 4} | changes)


def recount(store: SqlStore, survey: Survey) -> dict[str | None, Tally]:
    return tally_reports(store.reports(survey), survey)


def test_surveys_are_counted_and_one_that_is_closed_still_counts(store: SqlStore, survey: Survey) -> None:
    assert store.number_of_surveys() == 0
    store.publish(survey)
    store.publish(replace(survey, title="Another one"))
    store.publish(survey)
    store.close_survey(survey.id)
    assert store.number_of_surveys() == 2


def test_tallies_equal_a_recount_of_the_rows(store: SqlStore, place: Place, live: Survey) -> None:
    survey = live
    store.publish(survey)
    for start in range(0, 500, 50):
        people = [randomize(survey, {"affair": "no", "religious": "fairly"}, "web") for _ in range(start % 7)]
        store.store_reports([(survey, [*people, *map(report, range(start, start + 50))])])
    assert store.tallies(survey) == recount(store, survey)
    assert store.state(survey.id).reports == sum(tally.n for tally in recount(store, survey).values())
    store.settle()
    assert store.tallies(survey) == recount(store, survey)
    assert place.findings() == ()


def test_outcomes_are_in_the_order_of_the_reports_even_within_one_transaction(store: SqlStore, live: Survey) -> None:
    survey = live
    store.publish(survey)
    other = replace(survey, title="Another one")
    store.publish(other)
    submissions = [
        (survey, [report(1), report(2), report(1)]),
        (other, [report(1)]),
        (survey, [report(1, affair=0), report(3)]),
        (other, [report(1), report(4)]),
    ]
    assert store.store_reports(submissions) == [
        [Verdict.STORED, Verdict.STORED, Verdict.KNOWN],
        [Verdict.STORED],
        [Verdict.CONFLICT, Verdict.STORED],
        [Verdict.KNOWN, Verdict.STORED],
    ]
    assert store.tallies(survey) == recount(store, survey)


def test_failed_batch_leaves_nothing(store: SqlStore, live: Survey) -> None:
    survey = live
    store.publish(survey)
    broken = Report("f" * 32, None, {"affair": None, "religious": 0})
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)):
        store.store_reports([(survey, [report(1)]), (survey, [broken])])
    assert store.state(survey.id).reports == 0
    assert list(store.reports(survey)) == []
    assert store.store_reports([(survey, [report(1)])]) == [[Verdict.STORED]]


def test_closing_in_another_process_counts_at_once(store: SqlStore, place: Place, survey: Survey) -> None:
    store.publish(survey)
    with place.opened() as other:
        other.close_survey(survey.id)
    assert store.store_reports([(survey, [report(1)])]) == [[Verdict.CLOSED]]


def test_reports_wait_until_there_are_200(store: SqlStore, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 199))
    store.settle()
    assert rows(store, survey) == (199, 0)
    take(store, survey, reports(survey, 1))
    store.settle()
    assert rows(store, survey) == (0, 200)


def test_tallies_grow_in_the_fold_and_live_estimates_count_what_waits(store: SqlStore, live: Survey) -> None:
    store.publish(live)
    sent = reports(live, 210, "web") + reports(live, 30)
    take(store, live, sent)
    assert rows(store, live) == (240, 0)
    assert store.tallies(live) == tally_reports(sent, live)
    store.settle()
    assert rows(store, live) == (0, 240)
    assert store.tallies(live) == tally_reports(sent, live)
    more = reports(live, 50, "paper") + reports(live, 3, "web")
    take(store, live, more)
    assert store.tallies(live) == tally_reports(sent + more, live)
    assert store.state(live.id).reports == store.release_of(live.id) == 293


@pytest.mark.slow
def test_counts_by_sql_are_those_of_the_reports_for_every_question_type(store: SqlStore) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("a", "b"))
    store.publish(survey)
    sent = [randomize(survey, person(n), (None, "a", "b")[n % 3]) for n in range(300)]
    take(store, survey, sent)
    with store._snapshot(survey) as db:
        assert counts.count(db, survey, pending_table(survey)) == tally_reports(sent, survey)


def test_closing_folds_however_few(store: SqlStore, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 3))
    store.close_survey(survey.id)
    assert rows(store, survey) == (0, 3)
    assert store.state(survey.id).reports == 3


def test_last_day_folds_however_few_and_a_clock_set_back_opens_again(
    store: SqlStore, survey: Survey, clock: Clock
) -> None:
    store.publish(survey)
    (first, second) = reports(survey, 2)
    take(store, survey, [first])
    go_to(store, clock, datetime.date(2026, 12, 21))
    assert rows(store, survey) == (0, 1)
    clock.today = datetime.date(2026, 12, 20)
    assert take(store, survey, [first, second]) == [Verdict.KNOWN, Verdict.STORED]


@pytest.mark.parametrize("results", ["live", "batches"])
def test_reports_come_out_once_and_sorted_even_when_a_fold_comes_between(
    store: SqlStore, survey: Survey, results: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable_server.store.sql_store.AT_A_TIME", 7)
    survey = replace(survey, results=results)
    store.publish(survey)
    sent = sorted(reports(survey, 430), key=lambda each: each.id)
    take(store, survey, sent[::2])
    store.settle()
    if results == "live":
        take(store, survey, sent[1::2][:115])
        shown = sorted(sent[::2] + sent[1::2][:115], key=lambda each: each.id)
    else:
        shown = sent[::2]
    reading = store.reports(survey)
    read = [next(reading) for _ in range(50)]
    take(store, survey, reports(survey, 200))
    store.settle()
    read += reading
    assert [each for each in read if each in shown] == shown
    assert len({each.id for each in read}) == len(read)


def test_tallies_keep_ids_only_and_only_until_closing(store: SqlStore, place: Place, tallied: Survey) -> None:
    store.publish(tallied)
    sent = reports(tallied, 250)
    take(store, tallied, sent)
    assert take(store, tallied, [replace(sent[0], cohort="web")]) == [Verdict.CONFLICT]
    store.settle()
    with store._snapshot(tallied) as db:
        kept = db.execute(f"SELECT * FROM {reports_table(tallied)} ORDER BY id").fetchall()
    assert kept == sorted((each.id,) for each in sent)
    assert list(store.reports(tallied)) == []
    other = replace(sent[0], cohort="web")
    assert take(store, tallied, [sent[0], other]) == [
        Verdict.KNOWN,
        Verdict.KNOWN,
    ]  # of its content nothing was kept
    assert store.tallies(tallied) == tally_reports(sent, tallied)
    store.close_survey(tallied.id)
    assert rows(store, tallied) == (0, 0)
    assert store.tallies(tallied) == tally_reports(sent, tallied)
    assert store.state(tallied.id).reports == 250
    assert place.findings() == ()


def test_ids_outlive_the_last_day_by_a_week_and_then_the_survey_stays_closed(
    store: SqlStore, tallied: Survey, clock: Clock
) -> None:
    store.publish(tallied)
    take(store, tallied, reports(tallied, 5))
    go_to(store, clock, datetime.date(2026, 12, 27))
    assert rows(store, tallied) == (0, 5)
    assert store.state(tallied.id).closed_on is None
    go_to(store, clock, datetime.date(2026, 12, 28))
    assert rows(store, tallied) == (0, 0)
    assert store.state(tallied.id).closed_on == "2026-12-28"


def test_writer_folds_what_a_killed_collector_left(store: SqlStore, survey: Survey) -> None:
    store.publish(survey)
    take(store, survey, reports(survey, 300))
    Writer(store).stop()
    assert rows(store, survey) == (0, 300)


def test_writer_folds_on_its_timer_and_when_much_came(
    store: SqlStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    writer = Writer(store, fold_seconds=0.02)
    for _ in range(2):
        writer.submit(survey, reports(survey, 100))
    wait_until_folded(store, survey, 200)
    writer.stop()
    monkeypatch.setattr("deniable_server.writing.writer.MOST_PENDING", 250)
    writer = Writer(store, fold_seconds=3600)
    for n in (125, 124):
        writer.submit(survey, reports(survey, n))
    assert rows(store, survey) == (249, 200)
    writer.submit(survey, reports(survey, 1))
    wait_until_folded(store, survey, 450)
    writer.stop()


def test_fold_that_fails_is_put_off_and_nobody_notices(
    store: SqlStore, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(survey)
    original = store.settle

    def fails() -> bool:
        raise StoreUnavailable("disk I/O error", "of a test")

    monkeypatch.setattr(store, "settle", fails)
    writer = Writer(store, fold_seconds=0.001)
    assert writer.submit(survey, reports(survey, 200)) == [Verdict.STORED] * 200
    assert writer.is_running
    monkeypatch.setattr(store, "settle", original)
    wait_until_folded(store, survey, 200)
    writer.stop()


def test_empty_survey_has_empty_tallies(store: SqlStore, survey: Survey) -> None:
    store.publish(survey)
    store.settle()
    assert store.tallies(survey) == {}
    assert sum(store.tallies(survey).values(), Tally.empty(survey)) == Tally.empty(survey)


@pytest.mark.slow
@pytest.mark.parametrize("retention", ["reports", "tallies"])
def test_batch_with_known_ids_has_the_outcomes_that_its_reports_have_alone(
    store: SqlStore, place: Place, survey: Survey, retention: Literal["reports", "tallies"]
) -> None:
    survey = replace(survey, retention=retention, results="live")
    store.publish(survey)
    folded, pending, new = reports(survey, 200), reports(survey, 50), reports(survey, 200)
    take_together(store, survey, folded)
    store.settle()
    take_together(store, survey, pending)
    assert rows(store, survey) == (50, 200)

    def changed(some: Report) -> Report:
        return replace(some, cohort="web")

    batch = [new[0], changed(new[0]), folded[0], changed(folded[1]), pending[0], changed(pending[1]), *new]
    of_folded = Verdict.CONFLICT if retention == "reports" else Verdict.KNOWN
    first = [
        Verdict.STORED,
        Verdict.CONFLICT,
        Verdict.KNOWN,
        of_folded,
        Verdict.KNOWN,
        Verdict.CONFLICT,
        Verdict.KNOWN,
    ]
    assert take_together(store, survey, batch) == first + [Verdict.STORED] * 199
    assert sum(rows(store, survey)) == 450
    assert take_together(store, survey, new) == [Verdict.KNOWN] * 200
    assert store.tallies(survey) == tally_reports(folded + pending + new, survey)
    assert place.findings() == ()


def test_published_once_and_belongs_to_whoever_published_it(store: SqlStore, survey: Survey) -> None:
    assert store.publish(survey, "ada")
    assert not store.publish(survey, "grace")
    assert store.owner(survey.id) == "ada"
    other = replace(survey, title="Another one")
    assert store.publish(other)
    assert store.owner(other.id) is None
    assert [state.survey for state in store.states("ada")] == [survey]
    assert {state.survey.id for state in store.states()} == {survey.id, other.id}
    assert store.survey(survey.id).document == survey.document


def test_survey_that_is_not_there_is_not_found(store: SqlStore, survey: Survey) -> None:
    for ask in (store.survey, store.state, store.release_of, store.close_survey):
        with pytest.raises(NotFound, match="none at this address"):
            ask(survey.id)
    with pytest.raises(NotFound, match="none at this address"):
        store.store_reports([(survey, [report(1)])])


def test_results_of_a_survey_that_shows_them_once_closed(store: SqlStore, survey: Survey) -> None:
    survey = replace(survey, results="closed")
    store.publish(survey)
    sent = reports(survey, 250)
    take(store, survey, sent)
    store.settle()
    assert (store.release_of(survey.id), store.tallies(survey), list(store.reports(survey))) == (-1, {}, [])
    store.close_survey(survey.id)
    assert (store.release_of(survey.id), store.tallies(survey)) == (250, tally_reports(sent, survey))
    assert list(store.reports(survey)) == sorted(sent, key=lambda each: each.id)


def test_drawn_questions_may_be_left_out(store: SqlStore, place: Place, live: Survey) -> None:
    drawn = shared_survey(4, 2.0, draw=2, results="live")
    store.publish(drawn)
    sent = [randomize(drawn, {question.id: "yes" for question in drawn.questions}) for _ in range(50)]
    take(store, drawn, sent)
    assert store.tallies(drawn) == tally_reports(sent, drawn)
    store.close_survey(drawn.id)
    assert list(store.reports(drawn)) == sorted(sent, key=lambda each: each.id)
    assert place.findings() == ()


def test_tokens_are_kept_by_hash_and_forgotten(store: SqlStore, place: Place) -> None:
    token = create_token(store, "ada", "operate", days=3)
    create_token(store, "grace")
    found = find_token(store, token, "publish")
    assert found is not None
    assert (found.name, found.scope) == ("ada", "operate")
    ada = TokenRow(hashlib.sha256(token.encode()).hexdigest(), "ada", "operate", "2026-11-28", "")
    assert store.tokens()[0] == ada
    assert not store.add_token(ada._replace(sha256="0" * 64))
    assert store.remove_token("ada")
    assert not store.remove_token("ada")
    assert find_token(store, token, "publish") is None
    assert [row.name for row in store.tokens()] == ["grace"]
    assert place.findings() == ()


def test_a_token_for_certain_surveys_is_kept_with_them(
    store: SqlStore, place: Place, survey: Survey, tallied: Survey
) -> None:
    for each in (survey, tallied):
        store.publish(each)
    token = create_token(store, "rita", "read", surveys=[survey.id, tallied.id, survey.id])
    assert store.tokens()[0].surveys == f"{survey.id} {tallied.id}"
    assert valid_token(store, token) == Token("rita", "read", (survey.id, tallied.id))
    with pytest.raises(TokenError, match=f"there is none with the id '{'a' * 26}' in this database"):
        create_token(store, "eve", "read", surveys=[survey.id, "a" * 26])
    with pytest.raises(TokenError, match="only a token of scope 'read' is for certain surveys, got scope 'publish'"):
        create_token(store, "eve", surveys=[survey.id])
    assert [row.name for row in store.tokens()] == ["rita"]
    assert place.findings() == ()


def test_no_column_holds_a_time_an_address_or_an_agent(store: SqlStore, survey: Survey, tallied: Survey) -> None:
    invited = invited_survey()
    for each in (survey, tallied, invited):
        store.publish(each)
    row = {"id", "cohort", *(question.id for question in survey.questions)}
    with store._snapshot(survey, tallied, invited) as db:
        for each, kept in ((survey, row), (tallied, {"id"})):
            assert _columns(db.execute(f"SELECT * FROM {pending_table(each)}")) == row
            assert _columns(db.execute(f"SELECT * FROM {reports_table(each)}")) == kept
        assert _columns(db.execute(f"SELECT * FROM invitations_{invited.id}")) == {"hash", "state"}


def _columns(cursor: object) -> set[str]:
    return {column[0] for column in cursor.description}  # type: ignore[attr-defined]  # as every driver has it


class TestInvitations:
    def test_let_one_report_count(self, store: SqlStore, place: Place) -> None:
        survey = invited_survey()
        store.publish(survey)
        mine, yours, nobodys = (new_invitation() for _ in range(3))
        assert store.add_invitations(survey.id, [hash_of(mine), hash_of(yours)]) == (2, 0)
        assert store.add_invitations(survey.id, [hash_of(mine)]) == (0, 1)
        assert store.is_invited(survey.id, hash_of(mine))
        assert not store.is_invited(survey.id, hash_of(nobodys))
        assert not store.is_invited(survey.id, mine), "an invitation is named by its hash"
        with pytest.raises(NotFound):
            store.is_invited("a" * 26, hash_of(mine))
        first = report_for(survey, mine)
        assert take_together(store, survey, [first, first]) == [Verdict.STORED, Verdict.KNOWN]
        assert take_together(store, survey, [report_for(survey, mine)]) == [Verdict.SPENT]
        assert take_together(store, survey, [report_for(survey, nobodys)]) == [Verdict.UNINVITED]
        both = [report_for(survey, yours), report_for(survey, yours)]
        assert take_together(store, survey, both) == [Verdict.STORED, Verdict.SPENT]
        assert store.unused_invitations(survey.id)[:2] == (2, 0)
        assert store.is_invited(survey.id, hash_of(mine)), "a used invitation is one"
        assert place.findings() == ()
        store.close_survey(survey.id)
        assert store.state(survey.id).reports == 2
        assert place.findings() == ()

    def test_say_who_has_not_answered_unless_results_are_live(self, store: SqlStore) -> None:
        for results in ("batches", "live"):
            survey = invited_survey(results=results)
            store.publish(survey)
            mine, yours = new_invitation(), new_invitation()
            store.add_invitations(survey.id, [hash_of(mine), hash_of(yours)])
            take_together(store, survey, [report_for(survey, mine)])
            unused = store.unused_invitations(survey.id, [hash_of(mine), hash_of(yours)])
            assert unused == (2, 1, None if results == "live" else [hash_of(yours)])

    def test_have_one_blinded_message_signed_and_more_where_that_is_allowed(
        self, store: SqlStore, place: Place
    ) -> None:
        key, survey = key_number(0), unlinkable_survey()
        store.add_key(key)
        assert store.signing_key(survey) is None
        store.publish(survey)
        assert store.signing_key(survey) == key.pem
        mine = hash_of(new_invitation())
        store.add_invitations(survey.id, [mine])
        messages = [f"{n:064x}" for n in range(1, 4)]
        told = [store.issue(survey.id, mine, message) for message in (messages[0], messages[0], messages[1])]
        assert told == [Verdict.STORED, Verdict.KNOWN, Verdict.SPENT]
        assert store.issue(survey.id, "0" * 64, messages[0]) is Verdict.UNINVITED
        store.set_reissue(survey.id, 1)
        told = [store.issue(survey.id, mine, message) for message in (*messages, messages[0])]
        assert told == [Verdict.KNOWN, Verdict.STORED, Verdict.SPENT, Verdict.KNOWN]
        assert place.findings() == ()
        store.close_survey(survey.id)
        assert store.issue(survey.id, mine, messages[0]) is Verdict.CLOSED


class TestTwoAtOnce:
    """Two stores over one database, as two collectors have, or a collector and a command."""

    @pytest.fixture(autouse=True)
    def one_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All collectors change the same part of a checksum, as two of them do now and then."""
        monkeypatch.setattr(postgresql_store, "PARTS", 1)

    @pytest.mark.slow
    def test_count_the_same_reports_once(self, place: Place, live: Survey) -> None:
        with place.opened() as one, place.opened() as other:
            one.publish(live)
            sent = reports(live, 2000)
            told: dict[int, list[Verdict]] = {}

            def send(number: int, store: SqlStore, order: int) -> None:
                pieces = [sent[start : start + 50] for start in range(0, len(sent), 50)][::order]
                found = [take_together(store, live, piece) for piece in pieces][::order]
                told[number] = [outcome for outcomes in found for outcome in outcomes]
                store.leave()

            threads = [threading.Thread(target=send, args=(n, (one, other)[n], (1, -1)[n])) for n in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for outcomes in zip(told[0], told[1], strict=True):
                assert sorted(each.value for each in outcomes) == ["known", "stored"]
            for store in (one, other):
                assert store.tallies(live) == tally_reports(sent, live)
            one.settle()
            assert other.tallies(live) == tally_reports(sent, live)
            assert place.findings() == ()

    @pytest.mark.slow
    @pytest.mark.parametrize("attempt", [0, 1, long(2), long(3), 4])
    def test_close_exactly(self, place: Place, survey: Survey, attempt: int) -> None:
        """Whatever was acknowledged is counted; once closing returns nothing is acknowledged any more."""
        with place.opened() as one, place.opened() as other:
            one.publish(survey)
            closed = threading.Event()
            stored: set[str] = set()
            late: list[Verdict] = []

            def send() -> None:
                while not closed.is_set():
                    sent = reports(survey, 3)
                    outcomes = take_together(one, survey, sent)
                    stored.update(each.id for each, what in zip(sent, outcomes, strict=True) if what is Verdict.STORED)
                late.extend(take_together(one, survey, reports(survey, 3)))
                one.leave()

            thread = threading.Thread(target=send)
            thread.start()
            while len(stored) < 30 * attempt:
                assert thread.is_alive()
                time.sleep(0.001)  # a loop without it keeps the sender from running
            other.close_survey(survey.id)
            counted = {each.id for each in other.reports(survey)}
            closed.set()
            thread.join()
            assert late == [Verdict.CLOSED] * 3
            assert counted == stored
            assert other.state(survey.id).reports == len(stored)

    @pytest.mark.slow
    def test_fold_while_reports_come_and_readers_see_whole_releases(self, place: Place, live: Survey) -> None:
        with place.opened() as one, place.opened() as other, place.opened() as reader:
            one.publish(live)
            done = threading.Event()
            failed: list[BaseException] = []
            sent = reports(live, 600)  # three releases

            def settle() -> None:
                try:
                    while not done.is_set():
                        other.settle()
                except BaseException as error:
                    failed.append(error)
                finally:
                    other.leave()

            def read() -> None:
                last = 0
                try:
                    while not done.is_set():
                        n = sum(tally.n for tally in reader.tallies(live).values())
                        assert n >= last, "reports vanished for a moment"
                        last = n
                        ids = [each.id for each in reader.reports(live)]
                        assert len(ids) == len(set(ids)) >= n
                except BaseException as error:
                    failed.append(error)
                finally:
                    reader.leave()

            threads = [threading.Thread(target=settle), threading.Thread(target=read)]
            for thread in threads:
                thread.start()
            for start in range(0, len(sent), 10):
                assert take_together(one, live, sent[start : start + 10]) == [Verdict.STORED] * 10
                assert take_together(one, live, sent[start : start + 1]) == [Verdict.KNOWN]
            done.set()
            for thread in threads:
                thread.join()
            assert not failed, failed
            one.settle()
            assert one.tallies(live) == recount(one, live) == tally_reports(sent, live)
            assert place.findings() == ()

    @pytest.mark.slow
    def test_spend_one_invitation_once(self, place: Place) -> None:
        survey = invited_survey()
        with place.opened() as one, place.opened() as other:
            one.publish(survey)
            invitations = [new_invitation() for _ in range(200)]
            one.add_invitations(survey.id, map(hash_of, invitations))
            told: dict[int, list[Verdict]] = {}

            def send(number: int, store: SqlStore) -> None:
                mine = [report_for(survey, each) for each in invitations[:: (1, -1)[number]]]
                found = [take_together(store, survey, mine[start : start + 10]) for start in range(0, 200, 10)]
                told[number] = [outcome for outcomes in found for outcome in outcomes][:: (1, -1)[number]]
                store.leave()

            assert at_once(lambda: send(0, one), lambda: send(1, other)) == []
            for outcomes in zip(told[0], told[1], strict=True):
                assert sorted(each.value for each in outcomes) == ["spent", "stored"]
            assert one.unused_invitations(survey.id)[:2] == (200, 0)
            one.close_survey(survey.id)
            assert other.state(survey.id).reports == 200
            assert place.findings() == ()

    @pytest.mark.slow
    def test_sign_one_message_for_an_invitation(self, place: Place) -> None:
        survey = unlinkable_survey()
        with place.opened() as one, place.opened() as other:
            one.add_key(key_number(0))
            one.publish(survey)
            invitations = [hash_of(new_invitation()) for _ in range(60)]
            one.add_invitations(survey.id, invitations)
            told: dict[int, list[Verdict]] = {}

            def ask(number: int, store: SqlStore) -> None:
                told[number] = [store.issue(survey.id, each, f"{number + 1:064x}") for each in invitations]
                store.leave()

            assert at_once(lambda: ask(0, one), lambda: ask(1, other)) == []
            for outcomes in zip(told[0], told[1], strict=True):
                assert sorted(each.value for each in outcomes) == ["spent", "stored"]
            assert place.findings() == ()


def test_survey_closes_with_the_number_of_reports_that_it_takes(store: SqlStore, place: Place, survey: Survey) -> None:
    limited = replace(survey, closes_at=250, title="Closes at 250")
    store.publish(limited)
    taken = store.store_reports([(limited, [report(n) for n in range(240)]), (survey_of_one(store), [report(1)])])
    assert {each for some in taken for each in some} == {Verdict.STORED}
    store.settle()  # 240 were enough for a release, so they are folded
    last = [report(n) for n in (*range(235, 245), *range(600, 620))]
    (verdicts,) = store.store_reports([(limited, last)])
    # Known ones take no room.
    assert verdicts == [Verdict.KNOWN] * 5 + [Verdict.STORED] * 10 + [Verdict.CLOSED] * 15
    assert store.state(limited.id).standing(store.today()) == "closed"
    assert store.store_reports([(limited, [report(999)])]) == [[Verdict.CLOSED]]
    store.settle()
    assert store.state(limited.id).reports == 250
    assert store.tallies(limited) == recount(store, limited)
    assert place.findings() == ()


def survey_of_one(store: SqlStore) -> Survey:
    """Another survey, to which reports come in the same transaction."""
    made = read_survey(FIVE_TYPES)
    only = replace(made, questions=made.questions[:1], title="Beside it")
    store.publish(only)
    return only


def test_senders_that_come_together_send_no_report_too_many(place: Place, survey: Survey) -> None:
    limited = replace(survey, closes_at=30, title="Closes at 30")
    with place.opened() as first, place.opened() as second:
        first.publish(limited)

        verdicts: list[Verdict] = []

        def send(number: int) -> None:
            store = (first, second)[number % 2]
            for n in range(20):
                (found,) = store.store_reports([(limited, [report(20 * number + n)])])
                verdicts.extend(found)

        assert at_once(*(partial(send, number) for number in range(4))) == []
        assert verdicts.count(Verdict.STORED) == 30
        assert verdicts.count(Verdict.CLOSED) == 50
        first.settle()
        assert first.state(limited.id).reports == 30
    assert place.findings() == ()
