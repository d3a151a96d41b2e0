"""A place among collectors that mean ill, and among faults: what one of them does is nobody else's loss."""

from __future__ import annotations

import gzip
import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.serving import make_server

from deniable import CollectorError, Report, ReportError, Survey
from deniable.access.issuer import Issuer
from deniable.survey.sealed import WEEK
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.place import calls, collectors, relay
from deniable_server.place.collectors import BatchOutcome
from deniable_server.settings import Settings
from deniable_server.store.errors import StoreFull, StoreUnavailable
from deniable_server.store.sqlite.letterbox import Letterbox, SealedBatch, slot_of
from tools.rig.access import unlinkable_survey
from tools.rig.in_process import ended
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.places import FIRST, box_of, cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.serving import running
from tools.rig.surveys import Clock

SEALED = {"Content-Type": "application/octet-stream"}
DRIP = 0.02
"""Seconds between two bytes of an answer that never ends."""

LONGEST = 20 * DRIP
"""For how many seconds the place waits for it."""

OURS, THEIRS = "https://collector.example", "https://other.example"


def report(number: int) -> bytes:
    return Report(f"{number:032x}", None, {"affair": 1}).encode()


def test_another_collector_of_the_same_survey_gets_nothing_and_closes_nothing(tmp_path: Path, clock: Clock) -> None:
    """A published survey is public: whoever serves its very bytes, and is first at the place, must gain nothing."""
    survey = sealed_survey(tmp_path / "keys")
    folders = [tmp_path / name for name in ("true", "hostile")]
    settings = [
        Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys"),
        Settings(rate_limit=None),
    ]
    for folder in folders:
        folder.mkdir()
    with (
        ended(create_app(folders[0] / "test.db", clock, settings[0])) as true,
        ended(create_app(folders[1] / "test.db", clock, settings[1])) as hostile,
        served(true) as url,
        served(hostile) as hostile_url,
    ):
        store, other = (app.extensions["deniable"]["store"] for app in (true, hostile))
        store.publish(survey)
        other.publish(survey)
        other.close_survey(survey.id)
        allowed = {url: create_token(store, "place", "relay"), hostile_url: create_token(other, "place", "relay")}
        with place_in_process(tmp_path, clock, 2, collectors=allowed) as place:
            ways = [f"/via/{each.partition('://')[2]}/api/v1/surveys/{survey.id}" for each in (hostile_url, url)]
            http = place.test_client()
            states = [http.get(f"{way}/state").get_json()["state"] for way in ways]
            assert states == ["closed", "open"]
            for way, numbers in zip(ways, ([1, 2, 3, 4], [5, 6, 7, 8]), strict=True):
                for number in numbers:
                    message = seal(survey, report(number), clock())
                    assert http.post(f"{way}/sealed", data=message, headers=SEALED).status_code == 201
            relay_of(place).round()
            assert store.waiting(survey) == {None: 2}
            assert {slot.collector for slot in box_of(place).slots()} == set(allowed)


def test_a_file_with_one_slot_for_a_survey_is_brought_up_to_date(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path / "keys")
    path = tmp_path / "place.db"
    box = Letterbox(path)
    slot = box.add(survey, OURS)
    for number in range(5):
        box.put(slot, bytes([number]))
    box.cut(slot, 3)
    box.close()
    with closing(sqlite3.connect(path)) as db:  # as versions before this one wrote it
        db.execute("UPDATE surveys SET id = ?", [survey.id])
        for table in ("waiting", "leaving"):
            db.execute(f"UPDATE {table} SET survey = ?", [survey.id])
        db.execute("PRAGMA user_version = 0")
        db.commit()
    for _ in range(2):
        box = Letterbox(path)
        ((name, found, collector, waiting),) = box.slots()
        assert (name, found, collector, waiting) == (slot, survey, OURS, 2)
        assert box.put(slot, bytes([0]))
        assert [len(batch.messages) for batch in box.batches()] == [3]
        box.close()


def test_a_slot_is_removed_once_its_survey_is_over_and_all_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    assert survey.closes
    box = Letterbox(tmp_path / "place.db")
    box.put(box.add(survey, OURS), b"1")
    today = [survey.closes]
    passing = relay.BatchRelay(box, 5, lambda: today[0], delay=0.0)
    away: list[Exception] = [CollectorError("away")]

    def deliver(*_: object, **__: object) -> BatchOutcome:
        if away:
            raise away.pop()
        return BatchOutcome(1, 0, 0)

    monkeypatch.setattr(relay, "deliver", deliver)
    kept = []
    for days in (0, 1, 1, 1):
        today[0] = survey.closes.fromordinal(survey.closes.toordinal() + days)
        passing.round()
        kept.append((len(box.slots()), len(box.leaving())))
    assert kept == [(1, 0), (1, 1), (1, 0), (0, 0)]
    box.close()


def test_a_write_that_fails_is_said_to_everybody_whose_message_was_in_it(tmp_path: Path) -> None:
    box = Letterbox(tmp_path / "place.db")
    slot = box.add(sealed_survey(tmp_path / "keys"), OURS)
    outcomes: list[object] = []

    def put(number: int) -> None:
        try:
            outcomes.append(box.put(slot, bytes([number])))
        except StoreUnavailable as error:
            outcomes.append(type(error))

    senders = [threading.Thread(target=put, args=(number,)) for number in range(5)]
    with box._one_at_a_time:
        for sender in senders:
            sender.start()
        wait_until(lambda: len(box._queue) == len(senders), "all messages wait for the disk")
        (tmp_path / "place.db").write_bytes(b"x" * 8192)  # an error of another class than that of a full disk
    for sender in senders:
        sender.join()
    assert outcomes == [StoreUnavailable] * len(senders)


def test_a_collector_that_does_not_answer_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    for collector in (OURS, THEIRS):
        for number in range(4):
            box.put(box.add(survey, collector), bytes([number]))
        box.cut(slot_of(survey.id, collector), 2)
    goes_on, delivered = threading.Event(), []

    def deliver(_: Survey, collector: str, __: object, messages: tuple[bytes, ...], **___: object) -> BatchOutcome:
        if collector == THEIRS:
            assert goes_on.wait(PATIENCE)
        delivered.append(collector)
        return BatchOutcome(len(messages), 0, 0)

    monkeypatch.setattr(relay, "deliver", deliver)
    passing = relay.BatchRelay(box, 5, lambda: survey.closes, delay=0.0)  # type: ignore[arg-type,return-value]
    passing._begin()
    wait_until(lambda: [collector for _, collector in box.leaving()] == [THEIRS] * 2, "the other one has its batches")
    passing._begin()  # who is busy is not asked twice
    assert delivered == [OURS] * 2
    goes_on.set()
    passing.round()
    assert delivered == [OURS] * 2 + [THEIRS] * 2
    assert box.leaving() == []


def test_slow_collectors_that_nobody_allowed_hold_up_none_that_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    strangers = [f"https://a{number % 3}.evil{number // 3}.example/b" for number in range(36)]
    box.allow(OURS, None)
    for collector in [*strangers, OURS]:
        box.put(box.add(survey, collector), b"m")
        box.cut(slot_of(survey.id, collector), 1)
    goes_on, delivered = threading.Event(), []

    def deliver(_: Survey, collector: str, __: object, messages: tuple[bytes, ...], **___: object) -> BatchOutcome:
        if collector != OURS:
            assert goes_on.wait(PATIENCE)
        delivered.append(collector)
        return BatchOutcome(len(messages), 0, 0)

    monkeypatch.setattr(relay, "deliver", deliver)
    passing = relay.BatchRelay(box, 5, lambda: survey.closes, delay=0.0)  # type: ignore[arg-type,return-value]
    for _ in range(3):
        passing._begin()
    wait_until(lambda: delivered == [OURS], "the one that was allowed has its batch")
    wait_until(lambda: OURS not in passing._busy, "and its thread has ended")
    assert len(passing._busy) == relay.MOST_AT_ONCE // 2
    assert len({collector.split(".")[1] for collector in passing._busy}) == relay.MOST_AT_ONCE // 2
    goes_on.set()
    for _ in strangers:  # more rounds than are needed
        passing.round()
    assert box.leaving() == []
    assert sorted(delivered) == sorted([*strangers, OURS])
    box.close()


@contextmanager
def dripping(first: bytes) -> Iterator[tuple[str, threading.Event]]:
    """A collector that answers a byte at a time for as long as somebody listens; says when nobody does any more."""
    left = threading.Event()

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(first)
            try:
                while not left.wait(DRIP):
                    connection.sendall(b"x")
            except OSError:
                left.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", left
        thread.join(PATIENCE)


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["head", "body", "body without an end"],
)
def test_an_answer_that_drips_ends_in_time(first: bytes) -> None:
    with dripping(first) as (url, left):
        with pytest.raises(CollectorError, match=r"in time|broke off"):
            calls.call("GET", f"{url}/api/v1/surveys/a", None, {}, timeout=LONGEST, may_be_inside=True)
        assert left.wait(PATIENCE), "and the connection is closed"


def test_a_survey_leads_its_place_to_no_issuer_on_the_place_s_own_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(method: str, url: str, *_: object, **__: object) -> calls.Answer:
        asked.append(url)
        return calls.Answer(200, b"{}", "")

    monkeypatch.setattr(collectors, "call", answer)
    base = unlinkable_survey()
    assert base.issuer
    for url, collector, is_asked in (
        ("http://127.0.0.1:8002", OURS, False),
        ("http://[::1]", OURS, False),
        ("https://localhost", OURS, False),
        ("https://issuer.example", OURS, True),
        ("http://127.0.0.1:8002", "http://127.0.0.1:8000", True),  # two on one machine, as in a rehearsal
    ):
        survey = sealed_survey(tmp_path / "keys", replace(base, issuer=Issuer(base.issuer.key, url)))
        with pytest.raises(CollectorError if is_asked else ReportError):
            collectors.sign(survey, collector, b"{}")
        assert bool(asked) is is_asked
        asked.clear()


def test_a_key_that_is_missing_holds_up_what_was_sealed_to_it_alone(tmp_path: Path, clock: Clock) -> None:
    """A batch has reports of two weeks, and the key of the first was left on another machine."""
    survey = sealed_survey(tmp_path / "keys")
    (path,) = (tmp_path / "keys").glob(f"{FIRST}-*")
    away = path.rename(tmp_path / path.name)
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys")
    with ended(create_app(tmp_path / "test.db", clock, settings)) as collector, served(collector) as url:
        store = collector.extensions["deniable"]["store"]
        store.publish(survey)
        allowed = {url: create_token(store, "place", "relay")}
        with place_in_process(tmp_path, clock, 4, collectors=allowed) as place:
            way = f"/via/{url.partition('://')[2]}/api/v1/surveys/{survey.id}/sealed"
            for number in range(4):
                message = seal(survey, report(number), FIRST + (number % 2) * WEEK)
                assert place.test_client().post(way, data=message, headers=SEALED).status_code == 201
            cut(place, survey, 4)
            relay_of(place).round()
            assert (store.waiting(survey), len(box_of(place).leaving())) == ({None: 2}, 1)
            away.rename(path)
            relay_of(place).round()
            assert (store.waiting(survey), len(box_of(place).leaving())) == ({None: 4}, 0)


def test_a_batch_is_told_apart_by_its_bytes_alone(tmp_path: Path) -> None:
    """The same message in the slots of two collectors is two; twice in one it is one, also on its way."""
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    slots = [box.add(survey, collector) for collector in (OURS, THEIRS)]
    assert [box.put(slot, b"m") for slot in (*slots, *slots)] == [False, False, True, True]
    box.cut(slots[0], 1)
    assert box.put(slots[0], b"m")
    (batch,) = box.batches()
    assert (batch.collector, batch.messages) == (OURS, (b"m",))
    assert isinstance(batch, SealedBatch)
    box.close()


def test_a_flood_that_fills_the_disk_leaves_room_for_batches_to_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk without room for a journal keeps everything for good: nothing can leave, and so nothing is deleted."""
    survey = sealed_survey(tmp_path / "keys")
    pages, page_size = 160, 4096
    box = Letterbox(tmp_path / "place.db", reserve=50 * page_size)
    box._db.execute("PRAGMA synchronous = OFF")
    box._db.execute(f"PRAGMA max_page_count = {pages}")
    slot = box.add(survey, OURS)

    def usage(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=pages * page_size - (tmp_path / "place.db").stat().st_size)

    monkeypatch.setattr("deniable_server.store.sqlite.letterbox.shutil.disk_usage", usage)
    number = 0
    for _ in range(2):
        with suppress(StoreFull):
            while True:
                number += 1
                box.put(slot, number.to_bytes(3) * 300)
        rounds = 0
        while box.slots()[0].waiting >= 20:
            rounds += 1
            with suppress(StoreFull):  # the collector is away, and more batches are made than there is room for
                while box.cut(slot, 10, stay=10):
                    pass
            assert usage(tmp_path).free >= 10 * page_size, "for the journal, without which nothing can be deleted"
            for batch in box.batches():
                box.acknowledged(batch)
        assert rounds < 10
    assert number > 400, "the file was filled twice"
    box.close()


def test_a_batch_that_cannot_be_made_holds_up_no_other_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    for collector in (OURS, THEIRS):
        for number in range(4):
            box.put(box.add(survey, collector), bytes([number]))
    box.cut(slot_of(survey.id, THEIRS), 2, stay=2)
    delivered: list[str] = []

    def deliver(_: Survey, collector: str, __: object, messages: tuple[bytes, ...], **___: object) -> BatchOutcome:
        delivered.append(collector)
        return BatchOutcome(len(messages), 0, 0)

    def cut(slot: str, *_: object, **__: object) -> int:
        raise StoreFull("the disk is full")

    monkeypatch.setattr(relay, "deliver", deliver)
    with monkeypatch.context() as patch:
        patch.setattr(box, "cut", cut)
        passing = relay.BatchRelay(box, 2, lambda: survey.closes, delay=0.0)  # type: ignore[arg-type,return-value]
        passing.round()
    assert delivered == [THEIRS], "what is on its way goes on, and makes room"
    passing.round()
    assert delivered == [THEIRS, OURS]
    box.close()


def test_whoever_sends_does_not_wait_for_all_batches_of_a_flood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    slot = box.add(survey, OURS)
    for number in range(60):
        box.put(slot, number.to_bytes(2))
    come: list[int] = []
    moves = box._move

    def move(*arguments: Any) -> None:
        if not come:  # somebody comes while the first batch is made
            sender = threading.Thread(target=lambda: come.append(box.put(slot, b"late")))
            senders.append(sender)
            sender.start()
            wait_until(lambda: box._queue, "it waits for the disk")
            come.append(-1)
        moves(*arguments)
        between.append(len(box._queue))

    senders: list[threading.Thread] = []
    between: list[int] = []
    monkeypatch.setattr(box, "_move", move)
    before = box._write

    def write(act: Any) -> Any:
        result = before(act)
        if senders and senders[0].is_alive():
            senders[0].join()  # the disk is nobody's now
        return result

    monkeypatch.setattr(box, "_write", write)
    assert box.cut(slot, 5, stay=5) == 11
    assert come == [-1, False], "kept before the second batch was made"
    assert between == [1] + [0] * 10
    box.close()


INSIDE = ["127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1", "::1", "fd00::1", "::ffff:127.0.0.1", "0.0.0.0"]


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_into_the_place_s_own_network_is_not_called(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's name may have any address, and another one a moment later."""
    connected: list[str] = []
    monkeypatch.setattr(calls, "addresses_of", lambda _host, _port: ["192.0.43.8", address])
    monkeypatch.setattr(calls, "create_connection", lambda where, *_: connected.append(where))
    with pytest.raises(CollectorError, match="nobody takes connections there"):
        calls.call("GET", "https://evil.example/api/v1/surveys/a", None, {})
    assert connected == []


def test_a_public_name_is_looked_up_once_and_called_at_that_address(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    connected: list[tuple[str, int]] = []

    def look(host: str, _: int) -> list[str]:
        looked.append(host)
        return ["192.0.43.8"] if len(looked) == 1 else ["127.0.0.1"]

    def connect(where: tuple[str, int], *_: object, **__: object) -> None:
        connected.append(where)
        raise ConnectionRefusedError

    monkeypatch.setattr(calls, "addresses_of", look)
    monkeypatch.setattr(calls, "create_connection", connect)
    with pytest.raises(CollectorError, match="nobody takes connections there"):
        calls.call("GET", "https://rebinding.example/api/v1/surveys/a", None, {})
    assert looked == ["rebinding.example"]
    assert connected == [("192.0.43.8", 443)]


def test_only_what_the_operator_named_may_be_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[bool] = []

    def answer(*_: object, may_be_inside: bool, **__: object) -> calls.Answer:
        inside.append(may_be_inside)
        return calls.Answer(200, b'{"state": "open", "stored": 2, "known": 0, "refused": 0, "signature": "aa"}', "")

    monkeypatch.setattr(collectors, "call", answer)
    base = unlinkable_survey()
    assert base.issuer
    survey = sealed_survey(tmp_path / "keys", replace(base, issuer=Issuer(base.issuer.key, "https://issuer.example")))
    for is_allowed in (True, False):
        collectors.state_of(OURS, "a", is_allowed=is_allowed)
        collectors.deliver(survey, OURS, None, (b"1", b"2"), is_allowed=is_allowed)
    assert inside == [True, True, False, False]
    # A collector on the internet, though it was allowed, leads to no issuer inside; one inside may.
    for addresses, is_allowed, wanted in (
        (["192.0.43.8"], True, False),
        (["10.0.0.5"], True, True),
        (["10.0.0.5"], False, False),
    ):
        monkeypatch.setattr(collectors, "addresses_of", lambda _host, _port, found=addresses: found)
        collectors.sign(survey, OURS, b"{}", is_allowed=is_allowed)
        assert inside.pop() is wanted


def test_an_answer_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    reached: list[str] = []

    def redirect(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        reached.append(environ["PATH_INFO"])
        start_response("302 Found", [("Location", "/secret"), ("Content-Length", "0")])
        return []

    survey = sealed_survey(tmp_path / "keys")
    with running(make_server("127.0.0.1", 0, redirect, threaded=True)) as where:
        url = f"http://{where}"
        assert collectors.state_of(url, survey.id, is_allowed=True) is None
        for act in (
            lambda: collectors.fetch_survey(url, survey.id, is_allowed=True),
            lambda: collectors.deliver(survey, url, None, (b"1", b"2"), is_allowed=True),
            lambda: collectors.pass_in(survey, url, "dn_secret", b"x", is_allowed=True),
        ):
            with pytest.raises(CollectorError, match="302"):
                act()
    assert "/secret" not in reached
    assert len(reached) == 4


@pytest.mark.parametrize(
    "said",
    [
        {"stored": 1, "known": 0, "refused": 0},
        {"stored": 3, "known": -1, "refused": 0},
        {"stored": True, "known": 1, "refused": 0},
        {"stored": 2.0, "known": 0, "refused": 0},
        {"stored": 2, "known": 0},
        [2, 0, 0],
        None,
    ],
)
def test_a_batch_of_which_half_is_acknowledged_is_sent_again_as_a_whole(
    said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    slot = box.add(survey, OURS)
    for number in range(4):
        box.put(slot, bytes([number]))
    sent: list[bytes] = []
    answers = [said, {"stored": 0, "known": 2, "refused": 0}]

    def answer(_: str, __: str, body: bytes, *___: object, **____: object) -> calls.Answer:
        sent.append(body)
        return calls.Answer(200, json.dumps(answers.pop(0)).encode(), "application/json")

    monkeypatch.setattr(collectors, "call", answer)
    passing = relay.BatchRelay(box, 2, lambda: survey.closes, delay=0.0)  # type: ignore[arg-type,return-value]
    passing.round()
    assert len(box.leaving()) == 1
    passing.round()
    assert sent == [sent[0]] * 2, "the same, in the same order"
    assert box.leaving() == []
    box.close()


def test_of_an_answer_without_end_no_more_is_read_than_is_wanted_and_nothing_is_unpacked(tmp_path: Path) -> None:
    sent: list[int] = []
    bomb = gzip.compress(bytes(10**7))

    def endless(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        if environ["PATH_INFO"].endswith("/state"):
            start_response("200 OK", [("Content-Encoding", "gzip"), ("Content-Length", str(len(bomb)))])
            yield bomb
            return
        start_response("200 OK", [("Content-Type", "application/json")])
        for number in range(1000):
            sent.append(number)
            yield bytes(2**16)

    survey = sealed_survey(tmp_path / "keys")
    with running(make_server("127.0.0.1", 0, endless, threaded=True)) as where:
        url = f"http://{where}"
        with pytest.raises(CollectorError, match="status 200"):
            collectors.fetch_survey(url, survey.id, is_allowed=True)
        with pytest.raises(CollectorError, match="status 200"):
            collectors.deliver(survey, url, None, (b"1", b"2"), is_allowed=True)
        assert collectors.state_of(url, survey.id, is_allowed=True) is None
        answer = calls.call("GET", f"{url}/api/v1/surveys/a/state", None, {}, may_be_inside=True)
        assert answer.data == bomb
    assert len(sent) < 500, "the connection was closed"
