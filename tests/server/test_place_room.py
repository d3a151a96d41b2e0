"""The room of collectors at a place: who fills theirs takes it from nobody, and nothing acknowledged is given up."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from apiflask import APIFlask

from deniable import CollectorError, Survey
from deniable_server.edge.limits import Slots
from deniable_server.place import calls, collectors, room
from deniable_server.place.room import OF_ALL, OF_ONE, Room, check_room
from deniable_server.store.errors import StoreFull
from deniable_server.store.sqlite.letterbox import Letterbox, slot_of
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.places import box_of, place_in_process, sealed_survey
from tools.rig.surveys import Clock

SEALED = {"Content-Type": "application/octet-stream"}
OURS = "https://collector.example"


def slot(host: int, survey: int, path: str = "") -> str:
    return slot_of(f"survey{survey}", f"https://name{survey}.host{host}.example{path}")


def filled(host: int, most: int = 10_000) -> dict[str, int]:
    """As many surveys of a domain, under many names and paths, as it may have while it is alone."""
    kept: dict[str, int] = {}
    for number in range(most):
        name = slot(host, number, "/path" if number % 2 else "")
        try:
            check_room(kept, name, (), 0)
        except StoreFull:
            break
        kept[name] = 0
    return kept


def test_a_collector_that_was_allowed_has_the_disk_and_many_surveys() -> None:
    kept = {slot_of(str(number), OURS): 10**12 for number in range(room.MOST_SURVEYS)}
    check_room(kept, slot_of("0", OURS), [OURS], 10**9)
    with pytest.raises(StoreFull, match="at most 1000 surveys of a collector; send the same again later"):
        check_room(kept, slot_of("new", OURS), [OURS], 1)
    check_room(kept, slot_of("new", "https://other.example"), [OURS, "https://other.example"], 1)


def test_a_domain_that_nobody_allowed_has_its_room_whatever_names_and_paths_it_has() -> None:
    kept = filled(1)
    assert len(kept) == OF_ONE.surveys
    check_room(kept, slot(1, 0), (), OF_ONE.size)
    with pytest.raises(StoreFull, match="has no room for more reports of a collector that it was not given"):
        check_room(kept, slot(1, 0), (), OF_ONE.size + 1)
    kept[slot(1, 0)] = OF_ONE.size
    with pytest.raises(StoreFull):
        check_room(kept, slot(1, 2), (), 1)
    check_room(kept, slot(2, 0), (), 1)


def test_greedy_domains_leave_room_to_a_new_one_and_to_those_that_were_allowed() -> None:
    kept: dict[str, int] = {}
    for host in range(9):
        for number in range(OF_ALL.surveys):
            name = slot(host, number)
            try:
                check_room(kept, name, (), OF_ALL.size // 1000)
            except StoreFull:
                break
            kept[name] = OF_ALL.size // 1000
    assert len(kept) < OF_ALL.surveys
    assert sum(kept.values()) < OF_ALL.size
    check_room(kept, slot(99, 0), (), 1)
    check_room(kept, slot_of("0", OURS), [OURS], 10**12)


def test_what_is_kept_is_counted_as_it_comes_and_goes(tmp_path: Path) -> None:
    chance = random.Random(42)
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    box._db.execute("PRAGMA synchronous = OFF")
    names = [slot_of(survey.id, f"https://{number}.example") for number in range(4)]
    assert box.kept() == {}
    for _ in range(300):
        name = chance.choice(names)
        match chance.randrange(6):
            case 0 | 1 | 2:
                box.put(name, chance.randbytes(1) * chance.randrange(1, 4), survey)
            case 3:
                box.cut(name, 3)
            case 4 if batches := box.batches():
                box.acknowledged(chance.choice(batches))
            case 5 if chance.random() < 0.2:
                box.discard(name)
            case _:
                box.remove(name)
        kept = box.kept()
        box._kept = None
        assert box.kept() == kept, "as counted anew"
        assert set(kept) == {each.name for each in box.slots()}
    assert kept
    box.close()


@contextmanager
def serving_any(
    folder: Path, clock: Clock, surveys: list[Survey], monkeypatch: pytest.MonkeyPatch
) -> Iterator[APIFlask]:
    """A place that serves any collector, of which each has all the surveys."""
    found = {survey.id: survey for survey in surveys}
    monkeypatch.setattr(collectors, "fetch_survey", lambda _collector, survey_id, **_: found[survey_id])
    with place_in_process(folder, clock, collectors={OURS: None}) as app:
        app.extensions["deniable-place"]._serves_any = True
        yield app


def send(app: APIFlask, survey: Survey, host: str, number: int) -> int:
    assert survey.sealed
    message = bytes([0]) + number.to_bytes(survey.sealed.length - 1)
    answer = app.test_client().post(f"/via/{host}/api/v1/surveys/{survey.id}/sealed", data=message, headers=SEALED)
    if answer.status_code == 507:
        assert "send the same again later" in answer.json["detail"]
        assert answer.headers["Retry-After"] == "60"
    return answer.status_code


def test_a_place_that_is_full_of_strangers_refuses_them_and_takes_what_is_for_its_own_collector(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sealed_survey(tmp_path / "keys")
    surveys = [replace(first, title=str(number)) for number in range(4)]
    assert first.sealed
    monkeypatch.setattr(room, "OF_ONE", Room(3, 5 * first.sealed.length))
    with serving_any(tmp_path, clock, surveys, monkeypatch) as app:
        box = box_of(app)
        statuses = [send(app, survey, "evil.example", 1) for survey in surveys]
        assert statuses == [201, 201, 201, 507], "three surveys"
        assert [send(app, surveys[0], "evil.example", number) for number in range(2, 5)] == [201, 201, 507]
        assert send(app, surveys[3], "good.example", 1) == 201
        assert send(app, surveys[3], "collector.example", 1) == 201
        # What the stranger's collector acknowledged makes room: an empty slot is given up for another one.
        box.cut(slot_of(surveys[1].id, "https://evil.example"), 1)
        (batch,) = box.batches()
        box.acknowledged(batch)
        assert send(app, surveys[3], "evil.example", 1) == 201
        assert slot_of(surveys[1].id, "https://evil.example") not in box.kept()
        kept = sum(box.kept().values())
        # Weeks later the keys are destroyed, and so nobody loses anything by it.
        clock.today = first.sealed.destroyed_on(2)
        later = sealed_survey(tmp_path / "later", first=clock.today)
        monkeypatch.setattr(collectors, "fetch_survey", lambda _collector, _id, **_: later)
        assert send(app, later, "evil.example", 1) == 201
        assert sum(box.kept().values()) < kept
        # What is for the collector that was allowed takes no room of theirs, and stays: the clock may be wrong.
        assert {(each.survey.id, each.collector) for each in box.slots()} == {
            (later.id, "https://evil.example"),
            (surveys[3].id, OURS),
        }


def test_an_empty_slot_that_was_given_up_a_moment_ago_is_made_again_with_the_message(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path / "keys")
    box = Letterbox(tmp_path / "place.db")
    name = box.add(survey, OURS)
    assert box.remove(name)
    assert not box.put(name, b"m", survey)
    assert [(each.name, each.waiting) for each in box.slots()] == [(name, 1)]
    assert not box.remove(name)
    box.close()


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_collector_whose_surveys_never_come_holds_up_itself_alone(
    monkeypatch: pytest.MonkeyPatch, is_allowed: bool
) -> None:
    goes_on = threading.Event()
    asked: list[str] = []

    def answer(_: str, url: str, *__: object, **___: object) -> calls.Answer:
        asked.append(url)
        if "slow" in url:
            assert goes_on.wait(PATIENCE)
        return calls.Answer(200, b'{"state": "open"}', "application/json")

    monkeypatch.setattr(collectors, "call", answer)
    monkeypatch.setattr(collectors, "_calls" if is_allowed else "_calls_of_strangers", Slots(total=12, most=6))

    def ask(number: int) -> str | None:
        return collectors.state_of(f"https://name{number}.{host}.example", "a", is_allowed=is_allowed)

    def fetch() -> None:
        collectors.fetch_survey(f"https://name0.{host}.example/other", "a", is_allowed=is_allowed)

    # Names of one stranger share their places, those of collectors that were allowed are many.
    host, names = "slow", 1 if is_allowed else 6
    threads = [threading.Thread(target=ask, args=(number % names,)) for number in range(6)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(asked) == 6, "all of them ask")
    with pytest.raises(CollectorError, match=r"name0\.slow\.example/other: is asked by too many others now"):
        fetch()
    assert collectors.state_of("https://collector.example", "a", is_allowed=is_allowed) == "open"
    assert collectors.state_of("https://collector.example", "a", is_allowed=not is_allowed) == "open"
    goes_on.set()
    for thread in threads:
        thread.join()
    assert ask(0) == "open"
