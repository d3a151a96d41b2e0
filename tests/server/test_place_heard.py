"""What collectors hear of visits at a place: a question in a minute for each survey, whatever they do."""

from __future__ import annotations

import base64
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deniable import CollectorError, Survey
from deniable_server.edge.limits import Rate
from deniable_server.place import collectors, heard
from deniable_server.place.heard import FAILED, FRESH, CollectorSurvey, HeardSurveys
from deniable_server.store import NotFound
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.places import place_in_process, sealed_survey
from tools.rig.surveys import Clock

OURS = "https://collector.example"


class Heard:
    """What a place has heard, with a clock, and all that its collectors were asked."""

    def __init__(self, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.asked: list[tuple[str, str]] = []
        self.surveys = HeardSurveys(lambda: self.now)
        self.failure: Exception | None = None
        self.answer = survey
        self.goes_on = threading.Event()
        self.goes_on.set()
        monkeypatch.setattr(collectors, "fetch_survey", self._fetch)
        monkeypatch.setattr(collectors, "state_of", self._tell)

    def _fetch(self, _: str, survey_id: str, *, is_allowed: bool) -> Survey:
        assert isinstance(is_allowed, bool)
        self.asked.append(("survey", survey_id))
        assert self.goes_on.wait(PATIENCE)
        if self.failure:
            raise self.failure
        return self.answer

    def _tell(self, _: str, survey_id: str, *, is_allowed: bool) -> str:
        assert isinstance(is_allowed, bool)
        self.asked.append(("state", survey_id))
        assert self.goes_on.wait(PATIENCE)
        return "closed"

    def visit(self, survey_id: str, collector: str = OURS, is_allowed: bool = True) -> str | None:
        """Somebody opens a survey."""
        key = CollectorSurvey(collector, survey_id)
        self.surveys.survey(key, is_allowed)
        return self.surveys.state(key, is_allowed)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Heard:
    return Heard(sealed_survey(tmp_path / "keys"), monkeypatch)


def test_a_collector_hears_of_a_visit_at_most_once_a_minute_for_each_survey(place: Heard) -> None:
    for _ in range(180):
        place.now += 1
        place.visit("a")
        place.visit("b")
    for survey_id in "ab":
        assert place.asked.count(("survey", survey_id)) == 1
        assert place.asked.count(("state", survey_id)) == 3


def test_a_collector_that_serves_very_many_surveys_has_none_forgotten_sooner(
    place: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be asked for a survey anew whenever somebody opens it, and so hear of each visit at its second."""
    monkeypatch.setattr(heard, "MOST_SURVEYS", 5)
    place.visit("a")
    refused = 0
    for second in range(int(FRESH) - 1):
        place.now += 1
        for number in range(10):  # its own requests at the place
            try:
                place.visit(f"{second} {number}")
            except CollectorError as error:
                refused += "too many surveys" in str(error)
        place.visit("a")
    assert place.asked.count(("survey", "a")) == 1
    assert place.asked.count(("state", "a")) == 1
    assert refused > 500
    place.visit("a", "https://other.example")  # whoever fills their room takes it from nobody
    place.now += FRESH
    assert place.visit("later") == "closed", "and has room again in time"


def test_documents_that_are_remembered_have_bounded_size(place: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    length = len(place.answer.document)
    monkeypatch.setattr(heard, "MOST_BYTES", 3 * length)
    for number in range(20):
        place.visit(str(number))
        assert sum(len(each.survey.document) for each in place.surveys._heard.values()) <= 3 * length
        place.now += FRESH


@pytest.mark.parametrize("domains", [1, 40])
def test_strangers_share_one_room_and_take_none_of_others(place: Heard, domains: int) -> None:
    place.visit("a")
    taken = 0
    for number in range(400):
        try:
            place.visit(str(number), f"https://name{number}.evil{number % domains}.example", is_allowed=False)
            taken += 1
        except CollectorError:
            pass
    assert taken == (20 if domains == 1 else 200)
    for number in range(50):
        place.visit(f"own {number}")
    assert place.asked.count(("survey", "a")) == 1


def test_who_comes_at_the_same_moment_waits_for_one_answer(place: Heard) -> None:
    place.goes_on.clear()
    said: list[str | None] = []
    visitors = [threading.Thread(target=lambda: said.append(place.visit("a"))) for _ in range(8)]
    for visitor in visitors:
        visitor.start()
    wait_until(lambda: sum(turn.users for turn in place.surveys._turns.values()) == 8, "all of them wait")
    place.goes_on.set()
    for visitor in visitors:
        visitor.join()
    assert place.asked == [("survey", "a"), ("state", "a")]
    assert len(said) == 8
    assert place.surveys._turns == {}
    assert place.visit("a") == "closed"


def test_those_who_wait_for_a_collector_are_bounded(place: Heard) -> None:
    place.goes_on.clear()
    waiting = [threading.Thread(target=lambda: place.visit("a")) for _ in range(32)]
    for each in waiting:
        each.start()
    wait_until(lambda: sum(turn.users for turn in place.surveys._turns.values()) == 32, "all of them wait")
    with pytest.raises(CollectorError, match="too many others"):
        place.visit("b")
    place.goes_on.set()
    for each in waiting:
        each.join()
    assert place.visit("b") == "closed"


@pytest.mark.parametrize("failure", [NotFound("none"), CollectorError("away")])
def test_a_collector_that_refuses_a_survey_is_not_asked_for_it_at_each_visit(place: Heard, failure: Exception) -> None:
    place.failure = failure
    for _ in range(50):
        with pytest.raises(type(failure)):
            place.visit("a")
    assert place.asked == [("survey", "a")]
    place.now += FAILED
    place.failure = None
    assert place.visit("a") == "closed"


def test_surveys_that_do_not_exist_take_no_room(place: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heard, "MOST_FAILURES", 100)
    place.failure = NotFound("none")
    for number in range(1000):
        with pytest.raises(NotFound):
            place.visit(str(number))
    assert len(place.surveys._failures) == 100
    place.failure = None
    assert place.visit("a") == "closed"


def test_an_address_asks_a_collector_for_few_surveys_that_there_are_not(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collector counts all requests of a place together: one address must not use them up for everybody."""
    asked: list[str] = []

    def fetch(_: str, survey_id: str, **__: object) -> Survey:
        asked.append(survey_id)
        raise NotFound("there is none")

    monkeypatch.setattr(collectors, "fetch_survey", fetch)
    with place_in_process(tmp_path, clock, collectors={OURS: None}) as app:
        limits = app.extensions["deniable-limits"]
        limits._rate, limits._now = Rate.parse("300/minute"), lambda: 1000.0
        http = app.test_client()
        statuses = [
            http.get(f"/via/collector.example/api/v1/surveys/{b32(number)}/state").status_code for number in range(300)
        ]
        assert statuses == [404] * 100 + [429] * 200
        assert len(asked) == 100
        other = {"REMOTE_ADDR": "203.0.113.9"}
        path = f"/via/collector.example/api/v1/surveys/{b32(1000)}/state"
        assert http.get(path, environ_overrides=other).status_code == 404


def b32(number: int) -> str:
    """An address of a survey."""
    return base64.b32encode(number.to_bytes(16)).decode().lower().rstrip("=")


VISITS = """
import socket, sys, threading, time
from deniable_server import logs
from deniable_server.place import collectors

ODD = b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n odd: \\r\\nno colon here\\r\\n\\r\\n{}"

def serve(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()

def answer(connection):
    while connection.recv(65536):
        time.sleep(0.05)
        connection.sendall(ODD)

logs.configure()
listener = socket.create_server(("127.0.0.1", 0), backlog=100)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
url = f"http://127.0.0.1:{listener.getsockname()[1]}"
visits = [threading.Thread(target=collectors.state_of, args=(url, "a"), kwargs={"is_allowed": True}) for _ in range(40)]
for each in visits:
    each.start()
for each in visits:
    each.join()
logs.log("this is written")
"""


def test_visits_at_the_same_moment_or_with_odd_answers_are_not_logged() -> None:
    """A library that warns of them would tell the second of each, at the wish of a collector."""
    done = subprocess.run([sys.executable, "-c", VISITS], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "this is written" in done.stderr
