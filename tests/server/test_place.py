"""A place: what it keeps, passes on and refuses, and what the collector behind it takes."""

from __future__ import annotations

import datetime
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from apiflask import APIFlask
from werkzeug.test import TestResponse

from deniable import CollectorError, Report, Survey
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.place.app import SIZE
from deniable_server.place.collectors import BatchOutcome
from deniable_server.place.pages import write_folder
from deniable_server.place.relay import BatchRelay
from deniable_server.settings import Settings
from deniable_server.store.sqlite.letterbox import Letterbox
from deniable_server.web.api import MAX_BATCH_BYTES
from tests.support.batches import sizes_of_batches
from tools.rig.in_process import ended
from tools.rig.places import box_of, cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import TODAY, Clock
from tools.torture import place_kill, place_matcher, place_messages

SEALED = {"Content-Type": "application/octet-stream"}


def report(number: int, value: int = 1) -> bytes:
    return Report(f"{number:032x}", None, {"affair": value}).encode()


class Rehearsal(NamedTuple):
    """Two institutions: a collector that serves a sealed survey, and a place at which it is answered."""

    collector: APIFlask
    url: str
    place: APIFlask
    survey: Survey
    clock: Clock

    def sealed(self, number: int, value: int = 1) -> bytes:
        return seal(self.survey, report(number, value), self.clock())

    def send(self, message: bytes, survey: Survey | None = None) -> TestResponse:
        where = f"/via/{self.url.partition('://')[2]}/api/v1/surveys/{(survey or self.survey).id}/sealed"
        return self.place.test_client().post(where, data=message, headers=SEALED)

    def send_directly(self, message: bytes, token: str | None = None) -> TestResponse:
        headers = SEALED | ({"Authorization": f"Bearer {token}"} if token else {})
        where = f"/api/v1/surveys/{self.survey.id}/sealed"
        return self.collector.test_client().post(where, data=message, headers=headers)

    def round(self) -> None:
        relay_of(self.place).round()

    def arrived(self) -> list[str]:
        """Ids of the reports at the collector, in the order of its table of pending ones."""
        with self.collector.extensions["deniable"]["store"]._snapshot(self.survey) as db:
            return [
                row[0]
                for kind in ("pending", "reports")
                for row in db.execute(f"SELECT id FROM {kind}_{self.survey.id}").fetchall()
            ]


@contextmanager
def rehearsal(folder: Path, survey: Survey, clock: Clock, size: int = 5) -> Iterator[Rehearsal]:
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
    with ended(create_app(folder / "collector.db", clock, settings)) as collector, served(collector) as url:
        store = collector.extensions["deniable"]["store"]
        store.publish(survey)
        token = create_token(store, "place", "relay")
        with place_in_process(folder, clock, size, collectors={url: token}) as place:
            yield Rehearsal(collector, url, place, survey, clock)


@pytest.fixture
def both(tmp_path: Path, clock: Clock) -> Iterator[Rehearsal]:
    with rehearsal(tmp_path, sealed_survey(tmp_path / "keys"), clock) as both:
        yield both


@pytest.mark.slow
def test_batches_leave_when_they_are_full_and_the_last_one_when_the_survey_is_over(both: Rehearsal) -> None:
    for number in range(12):
        answer = both.send(both.sealed(number))
        assert (answer.status_code, answer.json) == (201, {"status": "stored"})
    both.round()
    # As many as a batch has stay: whoever comes last leaves with no fewer.
    assert len(both.arrived()) == 5
    assert [waiting for *_, waiting in box_of(both.place).slots()] == [7]
    assert both.survey.closes
    both.clock.today = both.survey.closes + datetime.timedelta(days=1)
    assert both.send(both.sealed(99)).status_code == 410
    both.round()
    assert sorted(both.arrived()) == [f"{number:032x}" for number in range(12)]
    assert box_of(both.place).leaving() == []


@pytest.mark.parametrize("people", [1, 4, 5, 6, 9, 10, 11, 14, 15, 19, 40, 41, 44])
def test_no_batch_is_smaller_than_it_is_said_unless_fewer_answered_in_all(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, people: int
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    assert survey.closes
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    slot = box.add(survey, "https://collector.example")
    sizes = sizes_of_batches(monkeypatch)
    relay = BatchRelay(box, 5, clock, delay=0.0)
    for number in range(people):
        box.put(slot, bytes([number]))
        relay.round()
    clock.today = survey.closes + datetime.timedelta(days=1)
    relay.round()
    assert sum(sizes) == people
    assert min(sizes) >= min(5, people)
    assert max(sizes) < 10
    box.close()


def test_batches_of_long_reports_are_smaller_so_that_collectors_take_them(tmp_path: Path, clock: Clock) -> None:
    survey = sealed_survey(tmp_path / "keys")
    assert survey.sealed
    box = Letterbox(tmp_path / "place.db")
    relay = BatchRelay(box, 10_000, clock)
    for size in (128, 1024, 10_240, 16_384):
        sealed = replace(survey.sealed, size=size)
        largest = 2 * relay._size_for(replace(survey, sealed=sealed)) - 1
        assert largest * sealed.length <= MAX_BATCH_BYTES < (largest + 3) * sealed.length
    default = BatchRelay(box, SIZE, clock)
    assert default._size_for(replace(survey, sealed=replace(survey.sealed, size=10_240))) == SIZE
    box.close()


def test_a_full_batch_is_held_for_a_random_time_and_drawn_from_all_that_wait_then(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    slot = box.add(survey, "https://collector.example")
    monkeypatch.setattr("deniable_server.place.relay._random", random.Random(42))
    left: list[tuple[float, int]] = []
    now = 0.0

    def deliver(
        _survey: Survey, _collector: str, _token: str | None, batch: tuple[bytes, ...], **_: object
    ) -> BatchOutcome:
        left.append((now, len(batch)))
        return BatchOutcome(len(batch), 0, 0)

    monkeypatch.setattr("deniable_server.place.relay.deliver", deliver)
    relay = BatchRelay(box, 3, clock, delay=100.0, now=lambda: now)
    for second in range(400):
        now = float(second)
        if second % 200 in (0, 5, 10, 15, 20, 25):
            box.put(slot, second.to_bytes(2))
        relay.round()
    # Twice a batch at 25, and with those that stayed at 210 seconds.
    assert [size for _, size in left] == [3, 3, 3]
    held = [when - since for (when, _), since in zip(left[:2], (25.0, 210.0), strict=True)]
    assert all(0 < each <= 101 for each in held)
    assert held[0] != held[1]
    box.close()


@pytest.mark.slow
def test_a_collector_with_places_takes_no_direct_report(both: Rehearsal) -> None:
    direct = both.collector.test_client().post(f"/api/v1/surveys/{both.survey.id}/reports", json={})
    assert direct.status_code == 422
    assert "are taken at https://place.example" in direct.json["detail"]
    assert both.send_directly(both.sealed(1)).status_code == 401
    reader = create_token(both.collector.extensions["deniable"]["store"], "reader", "read")
    assert both.send_directly(both.sealed(1), reader).status_code == 401
    assert both.arrived() == []


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_or_doubled_whatever_breaks_off(both: Rehearsal) -> None:
    messages = [both.sealed(number) for number in range(5)]
    for message in messages:
        both.send(message)
    assert both.send(messages[0]).json == {"status": "known"}
    cut(both.place, both.survey, 5)
    (batch,) = box_of(both.place).batches()
    assert both.send(messages[0]).json == {"status": "known"}
    token = box_of(both.place).collectors()[both.url]
    # The collector stored it, and its answer never came.
    answers = [both.send_directly(b"".join(batch.messages), token).json for _ in range(2)]
    assert answers == [{"stored": 5, "known": 0, "refused": 0}, {"stored": 0, "known": 5, "refused": 0}]
    both.round()
    assert box_of(both.place).leaving() == []
    assert len(both.arrived()) == 5
    # Sent again, sealed anew, as a device does that lost the answer of the place.
    for number in range(5):
        assert both.send(both.sealed(number)).status_code == 201
    cut(both.place, both.survey, 5)
    both.round()
    assert len(both.arrived()) == 5


@pytest.mark.slow
def test_a_collector_that_is_away_gets_the_batch_when_it_is_back(tmp_path: Path, clock: Clock) -> None:
    survey = sealed_survey(tmp_path / "keys")
    with rehearsal(tmp_path, survey, clock) as both:
        assert both.send(both.sealed(0)).status_code == 201  # the place knows the survey from now on
        come_back = away_until_called(both)
        for number in range(1, 5):
            assert both.send(both.sealed(number)).status_code == 201
        cut(both.place, both.survey, 5)
        both.round()
        assert len(box_of(both.place).leaving()) == 1
        come_back()
        both.round()
        assert len(both.arrived()) == 5


def away_until_called(both: Rehearsal) -> Callable[[], None]:
    """Let the collector be away, until what this returns is called."""
    box = box_of(both.place)
    token = box.collectors()[both.url]
    box.allow(both.url, "dn_none")  # which it refuses
    return lambda: box.allow(both.url, token)


def test_a_collector_that_is_away_for_a_day_loses_nothing_and_is_not_asked_all_the_time(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day of rounds, one in two minutes; the survey's last day ends while the collector is away."""
    survey = replace(sealed_survey(tmp_path / "keys"), closes=clock.today)
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    slot = box.add(survey, "https://collector.example")
    messages = [number.to_bytes(2) for number in range(7)]
    for message in messages:
        box.put(slot, message)
    asked: list[tuple[bytes, ...]] = []
    is_back = False

    def deliver(
        _survey: Survey, _collector: str, _token: str | None, batch: tuple[bytes, ...], **_: object
    ) -> BatchOutcome:
        asked.append(batch)
        if not is_back:
            raise CollectorError("https://collector.example: cannot be reached")
        return BatchOutcome(len(batch), 0, 0)

    monkeypatch.setattr("deniable_server.place.relay.deliver", deliver)
    relay = BatchRelay(box, 5, clock, pause=120.0, delay=0.0)
    rounds = 24 * 30
    for number in range(rounds):
        clock.today = TODAY + datetime.timedelta(days=2 * number // rounds)
        relay.round()
    assert sum(len(batch.messages) for batch in box.batches()) == len(messages)
    tried = len(asked)
    assert tried <= (rounds + rounds / 2) / 2 + 20, "each once in four minutes, the second for half the day"
    is_back = True
    for _ in range(6):
        relay.round()
    assert box.leaving() == []
    assert sorted(message for batch in asked[tried:] for message in batch) == messages, "all of them, each once"
    box.close()


@pytest.mark.slow
def test_what_a_place_keeps_is_of_one_length_and_says_nothing(both: Rehearsal, tmp_path: Path) -> None:
    messages = [both.sealed(number, value) for number in range(3) for value in (0, 1)]
    assert len({len(message) for message in messages}) == 1
    for message in messages[:4]:
        both.send(message)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("place.db*"))
    for number in range(2):
        assert f"{number:032x}".encode() not in kept
    assert b'affair":' not in kept.replace(both.survey.document, b"")
    with sqlite3.connect(tmp_path / "place.db") as db:
        columns = {name for (name,) in db.execute("SELECT p.name FROM sqlite_schema s, pragma_table_info(s.name) p")}
    assert columns == {"url", "token", "id", "collector", "document", "survey", "hash", "message", "batch", "position"}


def test_the_order_within_a_batch_is_that_of_chance(tmp_path: Path) -> None:
    """Two hundred messages: chance alone makes a correlation of 0.4 or more in less than one of a million runs."""
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    slot = box.add(survey, "https://collector.example")
    box._db.execute("PRAGMA synchronous = OFF")  # the order is tested, not the disk
    for number in range(200):
        box.put(slot, number.to_bytes(2))
    assert box.cut(slot, 200) == 1
    (batch,) = box.batches()
    box.close()
    assert abs(np.corrcoef(range(200), [int.from_bytes(each) for each in batch.messages])[0, 1]) < 0.4


def test_few_that_are_left_go_with_the_last_whole_batch(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    slot = box.add(survey, "https://collector.example")
    for number in range(7):
        box.put(slot, bytes([number]))
    assert box.cut(slot, 5, is_last=True) == 1
    assert [len(batch.messages) for batch in box.batches()] == [7]
    box.close()


PUTTING = """
import sys
from pathlib import Path
from deniable_server.store.sqlite.letterbox import Letterbox
box = Letterbox(Path(sys.argv[1]))
number = int(sys.argv[2])
while True:
    box.put("survey", number.to_bytes(4))
    print(number, flush=True)
    number += 1
    if number % 7 == 0:
        box.cut("survey", 5)
"""


@pytest.mark.slow
def test_a_killed_place_has_lost_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "place.db"
    acknowledged: list[int] = []
    for _ in range(2):
        start = len(acknowledged)
        command = [sys.executable, "-c", PUTTING, str(path), str(start)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for line in process.stdout:
                acknowledged.append(int(line))
                if len(acknowledged) == start + 16:
                    process.send_signal(signal.SIGKILL)
    with sqlite3.connect(path) as db:
        kept = [
            message for (message,) in db.execute("SELECT message FROM waiting UNION ALL SELECT message FROM leaving")
        ]
    assert len(set(kept)) == len(kept)
    assert set(acknowledged) <= {int.from_bytes(each) for each in kept}


@pytest.mark.slow
def test_damaged_messages_are_refused_and_none_is_stored_twice(both: Rehearsal, tmp_path: Path) -> None:
    chance = random.Random(42)
    good = both.sealed(0)
    other = sealed_survey(tmp_path / "keys", replace(both.survey, title="Other", sealed=None, places=()))
    token = box_of(both.place).collectors()[both.url]
    foreign = seal(other, report(7), both.clock())
    assert both.send_directly(good, token).status_code == 201
    for number in range(60):
        at = chance.randrange(len(good))
        message = {
            0: good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1 :],
            1: good[:at],
            2: good + chance.randbytes(1 + at % 5),
            3: chance.randbytes(len(good)),
            4: foreign,
            5: bytes([number % 3]) + chance.randbytes(len(good) - 1),
        }[number % 6]
        # A place opens nothing: what has the right length may be a report.
        at_place = both.send(message).status_code
        assert at_place in ((200, 201) if len(message) == len(good) and message[0] < 3 else (413, 422))
        assert 400 <= both.send_directly(message, token).status_code < 500
        assert len(both.arrived()) == 1
    assert both.send_directly(good, token).json == {"status": "known"}
    both.round()
    assert len(both.arrived()) == 1, "what does not open counts for nobody"


@pytest.mark.slow
def test_who_sees_one_side_alone_pairs_nobody() -> None:
    assert "both together pair 24 of 24" in place_matcher.place_matcher(short=True)


@pytest.mark.long
def test_a_place_and_its_collector_are_killed_under_load() -> None:
    assert "lost 0, counted twice 0" in place_kill.place_kill(short=True)


@pytest.mark.long
def test_messages_that_are_none_and_the_order_of_batches() -> None:
    assert "stored twice 0, errors of ours 0" in place_messages.place_messages(short=True)
    assert "2 batches of 200" in place_messages.place_order(short=True)


@pytest.mark.slow
def test_a_place_serves_the_collectors_that_it_was_given_and_sealed_surveys_alone(
    both: Rehearsal, survey: Survey, tmp_path: Path
) -> None:
    here = both.url.partition("://")[2]
    client = both.place.test_client()
    both.collector.extensions["deniable"]["store"].publish(survey)
    elsewhere = sealed_survey(tmp_path / "keys", places=("https://other.example",))
    both.collector.extensions["deniable"]["store"].publish(elsewhere)
    for where, address in (
        ("evil.example", both.survey.id),
        ("127.0.0.1:1", both.survey.id),
        (f"{here}/prefix", both.survey.id),
        ("user@collector.example", both.survey.id),
        (here, survey.id),
        (here, elsewhere.id),
        (here, "a" * 26),
        (here, "nothing"),
    ):
        assert client.get(f"/via/{where}/api/v1/surveys/{address}").status_code == 404, where
    found = client.get(f"/via/{here}/api/v1/surveys/{both.survey.id}")
    assert (found.status_code, found.data) == (200, both.survey.document)
    assert client.get(f"/via/{here}/api/v1/surveys/{both.survey.id}/state").json == {"state": "open"}


def test_the_page_of_a_place_sets_nothing_and_runs_one_script(tmp_path: Path, clock: Clock) -> None:
    with place_in_process(tmp_path, clock) as app:
        client = app.test_client()
        page = client.get("/", headers={"Accept-Language": "de"})
        assert page.data.count(b"<script") == 1
        assert b'integrity="sha384-' in page.data
        assert b'lang="de"' in page.data
        assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
        for path in ("/", "/client/deniable-place.js", "/client/catalogues/fr.json", "/place.css", "/livez", "/none"):
            assert "Set-Cookie" not in client.get(path).headers, path
        written = write_folder(tmp_path / "folder")
        for name in written[1:]:
            assert client.get(f"/{name}").data == (tmp_path / "folder" / name).read_bytes()
