"""The demo, whole: 6,366 people through the real path."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest
import urllib3

from deniable import Survey
from deniable_client.demo.command import _wait_until_ready, collector, free_port, show_table
from deniable_client.demo.people import choose, everybody, true_shares
from deniable_commands.browser import SCREENS, open_page
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.command_line import run_cli


def test_people_are_those_of_the_magazine(demo_survey: Survey) -> None:
    people = everybody(demo_survey)
    assert len(people) == 6366
    shares = true_shares(people, demo_survey)
    assert shares["affair", "yes"] == pytest.approx(2053 / 6366)
    assert shares["religious", "fairly"] == pytest.approx(2422 / 6366)
    assert shares["rate_marriage", "very good"] == pytest.approx(2684 / 6366)


def test_fewer_people_are_drawn_and_more_come_twice(demo_survey: Survey) -> None:
    people = everybody(demo_survey)
    assert len(choose(people, 100)) == 100
    assert len(choose(people, 13_000)) == 13_000


class Starting:
    """A collector's process that takes a while, and perhaps ends."""

    returncode = 3

    def __init__(self, lives: int) -> None:
        self.looks, self.lives = 0, lives

    def poll(self) -> int | None:
        self.looks += 1
        return self.returncode if self.looks > self.lives else None


def test_it_waits_for_its_collector_as_long_as_that_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = urllib3.exceptions.HTTPError("connection refused")
    monkeypatch.setattr("urllib3.request", Mock(side_effect=[*[refused] * 10_000, Mock(status=200)]))
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    _wait_until_ready("http://127.0.0.1:1", Starting(lives=20_000))  # type: ignore[arg-type]
    monkeypatch.setattr("urllib3.request", Mock(side_effect=refused))
    with pytest.raises(click.ClickException, match="stopped with status 3"):
        _wait_until_ready("http://127.0.0.1:1", Starting(lives=20))  # type: ignore[arg-type]


def test_no_number_of_its_table_is_a_negative_zero(
    demo_survey: Survey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"question": "rate_marriage", "option": "very poor", "estimate": -0.0003, "conf_low": -0.0, "conf_high": 0.02}
    people = everybody(demo_survey)
    assert show_table(demo_survey, people, {"estimates": [row], "n": len(people)}, tmp_path)
    said = capsys.readouterr().out
    assert re.search(r"very poor +1\.6 % +0\.0 % +0\.0 to 2\.0 %", said), said


def test_the_log_is_shown_only_where_the_collector_does_not_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 100)
    with pytest.raises(click.ClickException, match="stopped with status"), collector(tmp_path / "x.db", None, "demo"):
        pass
    assert "x.db" in capsys.readouterr().err


@pytest.mark.slow
def test_whole_demo(tmp_path: Path, demo_survey: Survey) -> None:
    database = tmp_path / "demo.db"
    done = run_cli("demo", "--exit", "--db", str(database))
    assert done.returncode == 0, done.stderr
    assert '{"time"' not in done.stdout + done.stderr
    assert "6,366 reports stored" in done.stdout
    assert len(re.findall(r"(?:yes|no)$", done.stdout, re.MULTILINE)) == 11
    store = SqliteStore(database)
    tally = store.tallies(demo_survey)[None]
    store.close()
    assert tally.n == 6366
    result = demo_survey.question("affair").mechanism.estimate(tally.counts["affair"])
    # The respondents are fixed, so only the coins vary: 5.2 of these standard errors are 5.9 of the coins'.
    # Beyond them: a probability below 1e-8.
    assert abs(result.share[1] - 2053 / 6366) < 5.2 * result.std_error[1]


def test_demo_refuses_to_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_text("precious")
    done = run_cli("demo", "--exit", "--db", str(path))
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert path.read_text() == "precious"


def test_a_port_that_is_used_is_named_and_8000_is_given_up_for_a_free_one(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = f"--port {port}: must be free on 127.0.0.1, something listens there already"
        with pytest.raises(click.ClickException, match=re.escape(sentence)), collector(tmp_path / "x.db", port, "demo"):
            pass
        assert free_port() != port


@pytest.mark.parametrize(("screen", "opened"), [({}, []), ({"DISPLAY": ":0"}, ["xdg-open", "http://127.0.0.1:1/"])])
def test_a_browser_is_asked_for_where_there_is_a_screen_and_what_it_says_is_not_shown(
    screen: dict[str, str], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def start(command: list[str], **how: Any) -> None:
        asked.extend(command)
        assert how["stdout"] == how["stderr"] == subprocess.DEVNULL

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(subprocess, "Popen", start)
    for name in SCREENS:
        monkeypatch.delenv(name, raising=False)
    for name, value in screen.items():
        monkeypatch.setenv(name, value)
    open_page("http://127.0.0.1:1/")
    assert asked == opened
