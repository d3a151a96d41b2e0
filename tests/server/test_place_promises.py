"""What docs/place.md promises its two institutions where something goes wrong, each row of its table."""

from __future__ import annotations

import datetime
import logging
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from apiflask import APIFlask

from deniable import Report, Survey
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token, revoke_token
from deniable_server.app import create_app
from deniable_server.place.app import SIZE
from deniable_server.place.relay import BatchRelay
from deniable_server.settings import Settings
from deniable_server.store.sqlite.letterbox import Letterbox, slot_of
from deniable_server.store.sqlite.lock import Lock
from tests.support.batches import sizes_of_batches
from tools.rig.access import invite, invited_survey, report_for
from tools.rig.command_line import CommandLine
from tools.rig.in_process import ended
from tools.rig.places import box_of, cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

SEALED = {"Content-Type": "application/octet-stream"}
DENIABLE = CommandLine()
DAY = datetime.timedelta(days=1)


class Both:
    """A collector and a place, each with a clock of its own."""

    def __init__(self, folder: Path, survey: Survey) -> None:
        self.folder = folder
        self.survey = survey
        self.clocks = Clock(), Clock()
        self.collector: APIFlask
        self.place: APIFlask
        self.url = ""

    def send(self, number: int) -> int:
        """The status of a sealed report at the place."""
        assert self.survey.sealed
        message = seal(self.survey, Report(f"{number:032x}", None, {"affair": 1}).encode(), self.clocks[1]())
        where = f"/via/{self.url.partition('://')[2]}/api/v1/surveys/{self.survey.id}/sealed"
        return self.place.test_client().post(where, data=message, headers=SEALED).status_code

    def pass_on(self) -> None:
        """Make one batch of all that waits, and try what was not acknowledged."""
        cut(self.place, self.survey, 100, is_last=True)
        relay_of(self.place).round()

    def arrived(self) -> int:
        """Number of reports at the collector."""
        return sum(self.store.waiting(self.survey).values())

    def kept(self) -> int:
        """Number of sealed reports at the place."""
        box = box_of(self.place)
        return sum(slot.waiting for slot in box.slots()) + sum(len(each.messages) for each in box.batches())

    @property
    def store(self):  # type: ignore[no-untyped-def]
        return self.collector.extensions["deniable"]["store"]


@contextmanager
def both_of(folder: Path, survey: Survey, size: int = 5) -> Iterator[Both]:
    both = Both(folder, survey)
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
    with (
        ended(create_app(folder / "collector.db", both.clocks[0], settings)) as both.collector,
        served(both.collector) as both.url,
    ):
        both.store.publish(survey)
        token = create_token(both.store, "place", "relay")
        with place_in_process(folder, both.clocks[1], size, collectors={both.url: token}) as both.place:
            yield both


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    with both_of(tmp_path, sealed_survey(tmp_path / "keys")) as both:
        yield both


def test_a_token_that_has_ended_holds_up_everything_and_loses_nothing(
    both: Both, caplog: pytest.LogCaptureFixture
) -> None:
    revoke_token(both.store, "place")
    assert [both.send(number) for number in range(3)] == [201] * 3
    with caplog.at_level(logging.INFO):
        both.pass_on()
    (said,) = (vars(record)["details"] for record in caplog.records if "could not be passed on" in record.getMessage())
    assert said["reason"].endswith("answered a batch with status 401")
    assert (both.arrived(), both.kept()) == (0, 3)
    box_of(both.place).allow(both.url, create_token(both.store, "place again", "relay"))
    both.pass_on()
    assert (both.arrived(), both.kept()) == (3, 0)


@pytest.mark.parametrize(("days", "arrives"), [(2, True), (3, False)])
def test_a_collector_takes_the_last_batch_for_two_days(tmp_path: Path, days: int, arrives: bool) -> None:
    with both_of(tmp_path, sealed_survey(tmp_path / "keys")) as both:
        assert both.survey.closes
        assert both.send(1) == 201
        for clock in both.clocks:
            clock.today = both.survey.closes + days * DAY
        assert both.send(2) == 410
        both.pass_on()
        assert (both.arrived(), both.kept()) == (int(arrives), 0)


def test_what_waits_when_a_survey_is_closed_by_hand_is_lost_in_the_end_and_the_log_says_so(
    both: Both, caplog: pytest.LogCaptureFixture
) -> None:
    assert both.survey.closes
    assert both.send(1) == 201
    both.store.close_survey(both.survey.id)
    with caplog.at_level(logging.INFO):
        both.pass_on()
    assert "a batch was refused: its survey is closed" in [record.getMessage() for record in caplog.records]
    assert (both.arrived(), both.kept()) == (0, 1)
    both.clocks[1].today = both.survey.closes + 3 * DAY
    relay_of(both.place).round()
    assert (both.arrived(), both.kept()) == (0, 0)


def test_a_collector_whose_clock_runs_ahead_for_a_while_loses_nothing(both: Both) -> None:
    assert [both.send(number) for number in range(3)] == [201] * 3
    both.clocks[0].today += 400 * DAY
    both.pass_on()
    assert (both.arrived(), both.kept()) == (0, 3)
    both.clocks[0].today -= 400 * DAY
    relay_of(both.place).round()
    assert (both.arrived(), both.kept()) == (3, 0)


def test_a_survey_that_ends_by_its_number_of_replies_stores_as_many(tmp_path: Path) -> None:
    survey = replace(sealed_survey(tmp_path / "keys"), closes_at=3)
    with both_of(tmp_path, survey) as both:
        assert [both.send(number) for number in range(5)] == [201] * 5
        both.pass_on()
        assert (both.arrived(), both.kept()) == (3, 0)


def test_what_a_copy_of_the_place_brings_back_counts_once(tmp_path: Path) -> None:
    with both_of(tmp_path, sealed_survey(tmp_path / "keys")) as both:
        for number in range(4):
            both.send(number)
        shutil.copy(tmp_path / "place.db", tmp_path / "copy.db")
        both.pass_on()
        assert (both.arrived(), both.kept()) == (4, 0)
        token = box_of(both.place).collectors()[both.url]
        copy = Letterbox(tmp_path / "copy.db")
        assert [slot.waiting for slot in copy.slots()] == [4]
        copy.allow(both.url, token)
        copy.cut(slot_of(both.survey.id, both.url), 100, is_last=True)
        BatchRelay(copy, 5, both.clocks[1]).round()
        assert copy.batches() == []
        copy.close()
        assert both.arrived() == 4


def test_a_place_whose_clock_runs_ahead_passes_on_and_goes_on_once_it_is_set(both: Both) -> None:
    assert both.survey.closes
    assert [both.send(number) for number in range(6)] == [201] * 6
    both.clocks[1].today = both.survey.closes + DAY
    assert both.send(6) == 410
    for _ in range(2):  # the second finds an empty slot of a survey that seems to be over
        relay_of(both.place).round()
    assert (both.arrived(), both.kept(), box_of(both.place).slots()) == (6, 0, [])
    both.clocks[1].today = both.survey.closes - DAY
    assert [both.send(number) for number in range(6, 9)] == [201] * 3
    relay_of(both.place).round()
    assert (both.arrived(), both.kept()) == (6, 3), "fewer than twice a batch wait"
    both.clocks[1].today = both.survey.closes + DAY
    relay_of(both.place).round()
    assert (both.arrived(), both.kept()) == (9, 0)


def test_a_place_whose_clock_is_behind_takes_what_the_collector_refuses_later(both: Both) -> None:
    assert both.survey.closes
    both.clocks[1].today = both.survey.closes
    assert both.send(1) == 201
    both.clocks[0].today = both.survey.closes + 3 * DAY
    both.pass_on()
    assert (both.arrived(), both.kept()) == (0, 1)
    both.clocks[1].today = both.survey.closes + 3 * DAY
    relay_of(both.place).round()
    assert (both.arrived(), both.kept()) == (0, 0)


@pytest.mark.parametrize(
    ("people", "batches"),
    [(1, [1]), (199, [199]), (200, [200]), (399, [399]), (400, [200, 200]), (401, [200, 201]), (599, [200, 399])],
)
def test_the_last_batches_of_a_survey_with_the_default_size(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, people: int, batches: list[int]
) -> None:
    """All answer on one day; those who came before the last batch was made and after it are in no smaller one."""
    survey = sealed_survey(tmp_path / "keys")
    assert survey.closes
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    slot = box.add(survey, "https://collector.example")
    box._db.executemany(
        "INSERT INTO waiting VALUES (?, ?, ?)", [(slot, bytes([1]) + n.to_bytes(31), b"m") for n in range(people)]
    )
    sizes = sizes_of_batches(monkeypatch)
    relay = BatchRelay(box, SIZE, clock, delay=0.0)
    for day in (survey.closes, survey.closes + DAY):
        clock.today = day
        relay.round()
    assert sorted(sizes) == batches
    box.close()


def test_two_places_never_serve_one_file_and_a_running_one_can_be_told_of_collectors(tmp_path: Path) -> None:
    path = tmp_path / "place.db"
    with Lock(path):
        refused = DENIABLE.refused("place", "serve", "--origin", "https://place.example", "--db", path, "--port", "0x1")
        assert "0x1" in refused
        refused = DENIABLE.refused("place", "serve", "--origin", "https://place.example", "--db", path, "--port", 59999)
        assert "another one serves it" in refused
        assert "is served, without a token" in DENIABLE.ok("place", "allow", "https://collector.example", "--db", path)
        assert "without a token" in DENIABLE.ok("place", "list", "--db", path)
        stopped = DENIABLE.ok("place", "allow", "https://collector.example", "--stop", "--db", path)
        assert stopped == "https://collector.example is served no more.\n"


def test_two_letterboxes_on_one_file_lose_and_double_nothing(tmp_path: Path) -> None:
    """As 'deniable place list' beside a place, or a place that was started twice by other means."""
    survey = sealed_survey(tmp_path / "keys")
    boxes = [Letterbox(tmp_path / "place.db") for _ in range(2)]
    for box in boxes:
        box._db.execute("PRAGMA synchronous = OFF")
    slot = boxes[0].add(survey, "https://collector.example")
    for number in range(40):
        assert not boxes[number % 2].put(slot, number.to_bytes(2), survey)
        assert boxes[(number + 1) % 2].put(slot, number.to_bytes(2), survey)
        if number % 10 == 9:
            boxes[number // 10 % 2].write_anew()
            assert boxes[number // 10 % 2].cut(slot, 2, stay=2) > 0
    batches = boxes[0].batches()
    for number, batch in enumerate(batches):
        boxes[number % 2].acknowledged(batch)
        assert boxes[(number + 1) % 2].batch(batch.name) is None
    left = boxes[1].slots()[0].waiting
    assert sum(len(batch.messages) for batch in batches) + left == 40
    assert len({message for batch in batches for message in batch.messages}) == 40 - left
    for box in boxes:
        box.close()


def test_a_collector_that_floods_isolates_somebody_with_the_chance_that_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person among reports of the collector's own, twice a batch in all: they leave in half of all first batches.

    1,000 times with a fixed seed: 500 within four standard errors, which are 64.
    """
    monkeypatch.setattr("deniable_server.store.sqlite.letterbox._random", random.Random(42))
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    slot = box.add(sealed_survey(tmp_path / "keys"), "https://collector.example")
    moved: list[set[bytes]] = []
    monkeypatch.setattr(box, "_move", lambda _db, _slot, hashes: moved.append(set(hashes)))
    for number in range(10):
        box.put(slot, bytes([number]))
    (somebody,) = box._db.execute("SELECT hash FROM waiting WHERE message = ?", [bytes([7])]).fetchone()
    for _ in range(1000):
        assert box.cut(slot, 5, stay=5) == 1
    assert abs(sum(somebody in batch for batch in moved) - 500) < 64
    box.close()


def test_a_second_reply_by_one_invitation_is_refused_with_its_batch_and_nobody_is_told(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path / "keys", invited_survey(results="batches"))
    with both_of(tmp_path, survey) as both:
        (invitation,) = invite(both.store, survey, 1)
        for _ in range(2):
            message = seal(survey, report_for(survey, invitation).encode(), both.clocks[1]())
            where = f"/via/{both.url.partition('://')[2]}/api/v1/surveys/{survey.id}/sealed"
            answer = both.place.test_client().post(where, data=message, headers=SEALED)
            assert (answer.status_code, answer.json) == (201, {"status": "stored"})
        both.pass_on()
        assert (both.arrived(), both.kept()) == (1, 0)
