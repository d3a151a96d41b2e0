"""What the file of a place tells whoever takes it: no order, and nothing that was passed on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from deniable import Survey
from deniable_server.place.relay import BatchRelay
from deniable_server.store.sqlite import letterbox
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.rig.places import sealed_survey
from tools.rig.surveys import Clock

OURS = "https://collector.example"
PAGE = 4096


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    return sealed_survey(tmp_path / "keys")


def opened(path: Path) -> Letterbox:
    box = Letterbox(path)
    box._db.execute("PRAGMA synchronous = OFF")
    return box


def pages_of(path: Path, messages: list[bytes]) -> list[list[int]]:
    """Which messages stand in each page of a file, by their numbers, in the order of their bytes there."""
    raw = path.read_bytes()
    found: dict[int, list[tuple[int, int]]] = {}
    for number, message in enumerate(messages):
        assert raw.count(message) == 1, "each is there once, and no copy of it"
        at = raw.find(message)
        found.setdefault(at // PAGE, []).append((at, number))
    return sorted([number for _, number in sorted(page)] for page in found.values())


@pytest.mark.parametrize(("people", "size"), [(12, 210), (300, 210), (60, 6000)])
def test_the_file_is_the_same_in_whatever_order_reports_came(
    tmp_path: Path, survey: Survey, clock: Clock, people: int, size: int
) -> None:
    """SQLite puts rows into a page as they come: twelve reports in one page would tell the order of all."""
    chance = random.Random(42)
    messages = [chance.randbytes(size) for _ in range(people)]
    laid_out, as_they_came = [], []
    for number in range(2):
        path = tmp_path / f"{number}.db"
        box = opened(path)
        slot = box.add(survey, OURS)
        for message in chance.sample(messages, people):
            box.put(slot, message)
        as_they_came.append(pages_of(path, messages) if size < PAGE else [])
        BatchRelay(box, 200, clock).round()
        laid_out.append(pages_of(path, messages) if size < PAGE else places_of(path, messages))
        box.close()
    assert size > PAGE or as_they_came[0] != as_they_came[1], "what is looked for is found"
    assert laid_out[0] == laid_out[1]


def places_of(path: Path, messages: list[bytes]) -> list[int]:
    """The order in which the beginnings of messages that are longer than a page stand in a file."""
    raw = path.read_bytes()
    return sorted(range(len(messages)), key=lambda number: raw.find(messages[number][100:200]))


def test_what_was_killed_is_written_anew_by_who_comes_next(tmp_path: Path, survey: Survey, clock: Clock) -> None:
    messages = [bytes([number]) * 210 for number in range(1, 13)]
    path = tmp_path / "place.db"
    box = opened(path)
    for message in messages:
        box.put(box.add(survey, OURS), message)
    box.close()
    before = pages_of(path, messages)
    box = opened(path)
    BatchRelay(box, 200, clock).round()
    after = pages_of(path, messages)
    assert before == [list(reversed(range(12)))], "the last that came stands first"
    assert after != before
    assert sorted(after[0]) == sorted(before[0])
    box.close()


def test_a_flood_is_not_written_anew_and_what_waits_elsewhere_is(
    tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letterbox, "MOST_WRITTEN_ANEW", 1000)
    box = opened(tmp_path / "place.db")
    flooded, other = box.add(survey, OURS), box.add(survey, "https://other.example")
    for number in range(20):
        box.put(flooded, bytes([number]) * 100)
    box.put(other, b"m")
    box.write_anew()
    assert box._as_they_came == {flooded}
    box.cut(flooded, 15)
    for batch in box.batches():
        box.acknowledged(batch)
    box.write_anew()
    assert box._as_they_came == set()
    assert [slot.waiting for slot in box.slots()] == [5, 1]
    box.close()


def test_what_was_passed_on_stands_nowhere_in_the_file_any_more(tmp_path: Path, survey: Survey) -> None:
    chance = random.Random(7)
    path = tmp_path / "place.db"
    box = opened(path)
    slot = box.add(survey, OURS)
    messages = [chance.randbytes(210) for _ in range(100)]
    for message in messages:
        box.put(slot, message)
    box.write_anew()
    assert box.cut(slot, 40, stay=20) == 2
    for batch in box.batches():
        box.acknowledged(batch)
    raw = b"".join(each.read_bytes() for each in tmp_path.glob("place.db*"))
    pieces = [message[start : start + 16] for message in messages for start in range(0, 192, 16)]
    assert sum(piece in raw for piece in pieces) == 20 * 12, "of those that wait, and of no other a part"
    assert (tmp_path / "place.db-journal").stat().st_size == 0
    box.close()
