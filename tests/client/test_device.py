"""The rules of docs/device.md: both clients do what a small model says, whatever fails."""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from deniable import BudgetError, CollectorError, Report, SurveyError
from deniable_client import Memory, UnusableMemory, parse_link
from deniable_client.link import collector_url, origin_of, way_by
from deniable_client.memory_file import MemoryFile
from tests.support.marks import long
from tests.support.vectors import vectors
from tools import programs
from tools.rig import device_model
from tools.rig.device_model import PLACES, SURVEYS, Model

RUNNER = Path(__file__).parents[1] / "web" / "run-device.js"


class Crash(Exception):
    """The process died after its memory was written."""


class FailedDraw(Exception):
    """The draw did not come to a report."""


class FaultyFile(MemoryFile):
    """A file whose disk is full, or whose process dies, when it is told so."""

    fault: str | None = None

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with super().transaction() as db:
            yield db
            if self.fault == "write":
                raise self.unusable("disk full")
        if self.fault == "crash":
            raise Crash


def outcome(path: Path, step: dict[str, Any]) -> dict[str, Any]:
    """What a step comes to on the memory in a file; each step is a process of its own."""
    today = datetime.date.fromisoformat(step.get("day", "2026-11-25"))
    memory = Memory(path, today=lambda: today, word=iter(step.get("words", [])).__next__)
    file = FaultyFile(path)
    file.fault = step.get("fault")
    memory._file = file
    survey = SURVEYS[step["survey"]]
    collector = step.get("collector", "")

    def draw() -> Report:
        if step["report"] is None:
            raise FailedDraw
        return Report(step["report"]["id"], step["report"]["cohort"], step["report"]["values"])

    try:
        if step["act"] == "sent":
            memory.mark(survey.id, collector, "sent")
            return {"result": None}
        if step["act"] == "ask":
            return {"result": list(memory.asked(survey, lambda: step["drawn"]))}
        if step["act"] == "look":
            told = memory.told(survey, collector)
            kept = memory.recall(survey.id, collector)
            return {
                "result": [
                    kept and kept.report.decode(),
                    kept is not None and kept.state == "sent",
                    round(told.collector * 1e6),
                    round(told.device * 1e6),
                    told.has_told,
                    told.is_same,
                ]
            }
        return {"result": memory.once(survey, collector, draw).encode().decode()}
    except BudgetError:
        return {"error": "budget"}
    except UnusableMemory:
        return {"error": "memory"}
    except FailedDraw:
        return {"error": "draw"}
    except Crash:
        return {"error": "crash"}


@pytest.mark.parametrize("number", range(8))
def test_memory_does_what_the_vectors_say(number: int, tmp_path: Path) -> None:
    content = vectors("memory")
    assert content["surveys"] == [each.document.decode() for each in SURVEYS]
    for step in content["sequences"][number]:
        assert outcome(tmp_path / "memory.db", step) == step["expect"], step


def test_questions_have_the_keys_of_the_vectors() -> None:
    assert vectors("memory")["keys"] == [each.keys for each in SURVEYS]


@pytest.mark.parametrize("vector", vectors("ledger"), ids=lambda vector: vector["name"])
def test_ledger_takes_what_the_vectors_say(vector: dict[str, Any], tmp_path: Path) -> None:
    for step in vector["steps"]:
        assert outcome(tmp_path / "memory.db", step) == step["expect"], step


@pytest.mark.parametrize("vector", vectors("links"), ids=lambda vector: vector["link"])
def test_links_are_read_as_the_vectors_say(vector: dict[str, Any]) -> None:
    expected = None if "python" in vector.get("refused by", []) else vector["read"]
    try:
        link = parse_link(vector["link"])
    except SurveyError:
        assert expected is None
    else:
        found = {"collector": link.collector, "survey": link.survey, "cohort": link.cohort}
        assert found | {"origin": origin_of(link.collector)} == expected
        assert collector_url(link.collector) == link.collector


def test_a_link_by_a_place_holds_the_place_and_the_link_of_the_survey() -> None:
    own = f"https://collector.example/surveys/s/{'b' * 26}#cohort=web"
    link = parse_link(f"HTTPS://Place.example:443/#{own}")
    assert link == replace(parse_link(own), place="https://place.example")
    assert way_by("https://place.example", link.collector) == "https://place.example/via/collector.example/surveys"


@pytest.mark.parametrize("place", ["https://place.example/path", "ftp://place.example", "", "https://place..example"])
def test_a_link_by_a_place_that_is_no_origin_is_refused(place: str) -> None:
    with pytest.raises(SurveyError) as caught:
        parse_link(f"{place}/#https://collector.example/s/{'b' * 26}")
    assert str(caught.value) == f"place: must be like https://place.example, got {place!r}"


def test_steps_back_in_a_path_take_one_folder_each_and_none_above_the_first() -> None:
    assert collector_url("http://a.example/one/two/three/../four") == "http://a.example/one/two/four"
    assert collector_url("http://a.example/one/%2E%2e/./two/.") == "http://a.example/two"
    assert collector_url("http://a.example/../../one") == "http://a.example/one"
    assert origin_of("http://a.example/one/../two/three") == "http://a.example"


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("255.254.253.252", "255.254.253.252"),
        ("1.2.3", "1.2.0.3"),
        ("1.2.65535", "1.2.255.255"),
        ("1.16777215", "1.255.255.255"),
        ("4294967295", "255.255.255.255"),
        ("0x", "0.0.0.0"),
        ("0x.0.0.0X1", "0.0.0.1"),
        ("010.0.0.1", "8.0.0.1"),
        ("256.0.0.1", None),
        ("1.256.0.1", None),
        ("1.2.3.256", None),
        ("1.2.65536", None),
        ("4294967296", None),
        ("1.2.3.4.5", None),
        ("1.2.3.4.0", None),
        ("0.0.0.0", "0.0.0.0"),
        ("1.2.3.08", None),
    ],
)
def test_addresses_of_four_bytes_are_read_in_all_their_forms(written: str, host: str | None) -> None:
    if host is None:
        with pytest.raises(CollectorError, match="collector: must be a URL"):
            collector_url(f"http://{written}")
    else:
        assert collector_url(f"http://{written}") == f"http://{host}"


def test_url_that_readers_could_take_for_two_is_refused() -> None:
    for url in (
        "http://a.example.",
        "http://exämple.org",
        "http://a\\@b.example",
        "http://[fe80::1%25eth0]",
        "ftp://a",
    ):
        with pytest.raises(CollectorError, match="collector: must be a URL"):
            collector_url(url)


@pytest.mark.fuzz
@pytest.mark.parametrize("sequences", [30, long(100)])
def test_random_steps_in_javascript(sequences: int) -> None:
    dice = random.Random(1974)
    lines = [json.dumps([each.document.decode() for each in SURVEYS])]
    lines += [json.dumps(device_model.sequence(dice, 100)) for _ in range(sequences)]
    done = subprocess.run(
        [*programs.node_command(), str(RUNNER)], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == f"steps: {100 * sequences}", done.stdout[:3000] + done.stderr[:2000]


class Device(RuleBasedStateMachine):
    """Processes that share a memory, against the model of the specification."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        self.model = Model()
        self.day = device_model.START
        self.reports: dict[int, set[str]] = {}
        self.values: dict[str, set[Any]] = {}

    @rule(days=st.sampled_from([1, 30, 89, 90, -40, -400]))
    def clock_moves(self, days: int) -> None:
        self.day += datetime.timedelta(days=days)

    @rule(dice=st.randoms(use_true_random=False))
    def step(self, dice: random.Random) -> None:
        step = device_model.some_step(dice, self.day)
        found = outcome(self.path, step)
        assert found == self.model.step(step), step
        if step["act"] == "answer" and "result" in found:
            self.reports.setdefault(step["survey"], set()).add(found["result"])
            values = json.loads(found["result"])["values"]
            for key, names in device_model.units(step["survey"]):
                value = json.dumps([values[name] for name in names])
                if device_model.has_waves(key):
                    key += str(step["survey"])
                self.values.setdefault(key, set()).add(value)

    @rule(dice=st.randoms(use_true_random=False), survey=st.integers(0, len(SURVEYS) - 1))
    def two_at_once(self, dice: random.Random, survey: int) -> None:
        """One draws while another one asks: the second waits for the first, and gets what that kept."""
        for collector in dice.sample(list(PLACES), 2):
            step = {**device_model.some_step(dice, self.day), "survey": survey, "collector": collector}
            if step["act"] != "answer" or step["report"] is None:
                continue
            step["report"] = step["report"] | {"values": device_model.some_values(dice, survey)}
            assert outcome(self.path, step) == self.model.step(step)

    @invariant()
    def holds(self) -> None:
        assert all(len(texts) == 1 for texts in self.reports.values()), "two reports of one survey"
        assert all(len(values) == 1 for values in self.values.values()), "two values of one question"
        self.model.check()

    def teardown(self) -> None:
        self.folder.cleanup()


@pytest.mark.fuzz
@pytest.mark.long
def test_10_000_steps_of_processes_that_share_a_memory() -> None:
    run_state_machine_as_test(
        Device,
        settings=settings(
            max_examples=100,
            stateful_step_count=100,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
