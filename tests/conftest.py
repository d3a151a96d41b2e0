"""What several test files share: surveys, a collector in process, and a real one on a port."""

from __future__ import annotations

import datetime
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3
from apiflask import APIFlask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from deniable import Survey, read_survey
from deniable_client.demo.people import survey_file
from deniable_server import computing
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store import NotFound, Store, counts
from deniable_server.store.tables import pending_table
from tools import CHROMIUM_FLAGS, chromium

TODAY = datetime.date(2026, 11, 25)

SURVEY = """
title = "Life and love, 1974"
opens = 2026-11-20
closes = 2026-12-20
cohorts = ["paper", "web"]
results = "live"           # so that tests count what they have just sent

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair since you married?"
truth = "1/2"

[[questions]]
id = "religious"
type = "choice"
text = "How religious are you?"
options = ["not", "mildly", "fairly", "strongly"]
epsilon = 1.0
"""


FIVE_TYPES = """
title = "Five types"
results = "live"

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair?"
truth = "1/2"

[[questions]]
id = "town"
type = "choice"
text = "Where do you live?"
options = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]
epsilon = 1

[[questions]]
id = "drugs"
type = "ticks"
text = "What have you tried?"
options = ["cannabis", "cocaine", "heroin"]
epsilon = 2

[[questions]]
id = "trust"
type = "scale"
text = "How much do you trust us?"
lo = 1
hi = 7
epsilon = 1
goal = "shares"

[[questions]]
id = "drinks"
type = "number"
text = "How many drinks last week?"
lo = 0
hi = 60
epsilon = 1
"""
"""A survey with a question of each type."""


def person(number: int) -> dict[str, Any]:
    """The true answers of an invented person to `FIVE_TYPES`."""
    return {
        "affair": "yes" if number % 10 < 3 else "no",
        "town": "ABCDEFGHIJ"[min(number % 13, 9)],
        "drugs": [drug for place, drug in enumerate(["cannabis", "cocaine", "heroin"]) if number % (place + 2) == 0],
        "trust": str(1 + number % 7) if number % 3 else "6",
        "drinks": number % 17 if number % 5 else 40,
    }


def distances_in_errors(rows: list[dict[str, Any]], people: list[dict[str, Any]]) -> list[float]:
    """How many standard errors each published estimate is from the truth about these people."""
    found = []
    for row in rows:
        given = [each[row["question"]] for each in people]
        if row["statistic"] == "mean":
            truth = sum(map(float, given)) / len(given)
        else:
            truth = sum(row["option"] in each if isinstance(each, list) else row["option"] == each for each in given)
            truth /= len(given)
        found.append(abs(row["estimate"] - truth) / row["std_error"])
    return found


@pytest.fixture
def survey() -> Survey:
    """A survey of two questions with two cohorts, open from 2026-11-20 to 2026-12-20, with live results."""
    return read_survey(SURVEY)


@pytest.fixture(scope="session")
def demo_survey() -> Survey:
    """The demo's survey: three questions, always open."""
    return read_survey(Path(survey_file()).read_bytes())


@dataclass
class Clock:
    """A day that tests move."""

    today: datetime.date = TODAY

    def __call__(self) -> datetime.date:
        return self.today


@pytest.fixture
def clock() -> Clock:
    """The collector's calendar; stands at `TODAY`."""
    return Clock()


computing.START_SECONDS = 60  # applications here start their process when they need it, on a machine that may be busy


@pytest.fixture
def app(tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
    """A collector in this process, without the limit that tests from one address would soon reach."""
    # Tests settle when they mean to.
    app = create_app(tmp_path / "test.db", clock, Settings(rate_limit=None, fold_seconds=86_400))
    yield app
    app.extensions["deniable"]["writer"].stop()
    app.extensions["deniable"]["store"].close()


@pytest.fixture
def store(app: APIFlask, survey: Survey) -> Store:
    """The store of `app`, once its writer has done what it does when it starts."""
    assert app.extensions["deniable"]["writer"].submit(survey, []) == []
    store: Store = app.extensions["deniable"]["store"]
    return store


@pytest.fixture
def http(app: APIFlask) -> FlaskClient:
    """Requests to `app` without a network."""
    return app.test_client()


@dataclass(frozen=True)
class Collector:
    """A real collector: ``deniable serve`` in a process of its own."""

    url: str
    database: Path
    process: subprocess.Popen[bytes]
    log: Path

    def publish(self, survey: Survey) -> str:
        """Publish a survey; the link where people answer."""
        store = Store(self.database)
        store.publish(survey)
        store.close()
        return f"{self.url}/s/{survey.id}"

    def reports(self, survey: Survey) -> int:
        """How many reports are stored, released or not; none of a survey that is not published yet."""
        store = Store(self.database)
        try:
            store.survey(survey.id)
            (waiting,) = store.db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()
            return counts.folded(store.db, survey) + int(waiting)
        except NotFound:
            return 0
        finally:
            store.close()


@contextmanager
def running_collector(folder: Path, *flags: str) -> Iterator[Collector]:
    """A real collector with a database in that folder; without a limit, unless a flag sets one. Ends with the block."""
    port = free_port()
    log = folder / "log"
    command = [sys.executable, "-m", "deniable", "serve", "--db", str(folder / "test.db"), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--rate-limit", "off", *flags], stdout=output, stderr=subprocess.STDOUT)
    collector = Collector(f"http://127.0.0.1:{port}", folder / "test.db", process, log)
    try:
        wait_until_ready(collector)
        yield collector
    finally:
        process.terminate()
        process.wait(timeout=15)


StartCollector = Callable[..., Collector]


@pytest.fixture(scope="module")
def start_collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartCollector]:
    """Start real collectors, each with a database of its own; they end with the test file."""
    with ExitStack() as started:

        def start(*flags: str) -> Collector:
            return started.enter_context(running_collector(tmp_path_factory.mktemp("collector"), *flags))

        yield start


@pytest.fixture(scope="module")
def collector(start_collector: StartCollector) -> Collector:
    """One real collector for a test file."""
    return start_collector()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A device of its own: nothing is stored in it yet."""
    context = browser.new_context(viewport={"width": 900, "height": 1000}, locale="en-GB")
    context.set_default_timeout(10_000)
    yield context
    context.close()


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as attempt:
        attempt.bind(("127.0.0.1", 0))
        port: int = attempt.getsockname()[1]
        return port


def wait_until_ready(collector: Collector) -> None:
    """Wait until a collector answers, at most 60 seconds."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert collector.process.poll() is None, collector.log.read_text()
        try:
            if urllib3.request("GET", f"{collector.url}/livez", retries=False, timeout=1).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(0.05)
    raise AssertionError(f"no collector within 60 s: {collector.log.read_text()}")


def run_cli(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``deniable`` as a user does."""
    command = [sys.executable, "-m", "deniable", *arguments]
    environment = os.environ | {"COLUMNS": "100"} | settings
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
