"""Single reports into a real collector beside a bare Flask route under the same server, and estimates of few and many.

The bare route parses the same JSON and stores nothing. Both run at once and take turns, so that both meet the same
noise of the machine; one process asks, over 16 connections.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import flask
import urllib3

from deniable import Report, Survey, read_survey
from deniable.wire.space import Value
from deniable_client.demo.people import survey_file
from deniable_client.sealing import seal
from deniable_server.serving import listen, server
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import free_port, running_collector
from tools.rig.places import sealed_survey

ROUNDS = 7
SECONDS = 3.0
CONNECTIONS = 16
REPORT = Report("0" * 32, None, {"affair": 1, "religious": 3, "rate_marriage": 2}).encode().decode()

SEALED_A_ROUND = 6000
"""Number of sealed reports in a round of `sealed`."""

FEW, MANY = 10_000, 3_000_000


def bare_app(_target: str = "") -> flask.Flask:
    """Flask with one route that does nothing but parse JSON and answer in JSON."""
    app = flask.Flask("bare")

    @app.post("/api/v1/surveys/<survey_id>/reports")
    def take(survey_id: str) -> tuple[dict[str, str], int]:
        flask.request.get_json()
        return {"status": "stored"}, 201

    return app


def ingest() -> list[tuple[str, ...]]:
    """Reports a second of the collector and of the bare route, and the median of their ratios."""
    survey = read_survey(Path(survey_file()).read_bytes())
    path = f"/api/v1/surveys/{survey.id}/reports"
    rates: dict[str, list[float]] = {"collector": [], "bare": []}
    with tempfile.TemporaryDirectory() as folder, running_collector(Path(folder)) as collector, bare_server() as port:
        collector.publish(survey)
        ports = {"collector": urllib3.util.parse_url(collector.url).port or 0, "bare": port}
        for number in range(ROUNDS + 1):
            for name in sorted(ports, reverse=bool(number % 2)):
                done = ask(ports[name], path)
                assert set(done["statuses"]) == {"201"}, done
                if number:  # the first round warms up
                    rates[name].append(done["requests"] / done["seconds"])
    ratio = statistics.median(ours / bare for ours, bare in zip(rates["collector"], rates["bare"], strict=True))
    return [
        ("bare Flask route, single reports", f"{statistics.median(rates['bare']) / 1e3:.2f} k/s", "1.00"),
        (
            "collector, single reports, durable",
            f"{statistics.median(rates['collector']) / 1e3:.2f} k/s",
            f"{ratio:.2f}",
        ),
    ]


def ask(port: int, path: str, report: str = REPORT) -> dict[str, Any]:
    """One round of load from a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("load.py")), str(port), path]
    command += [str(CONNECTIONS), str(SECONDS), report]
    done = subprocess.run(command, capture_output=True, check=True, timeout=10 * SECONDS + 30)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@contextmanager
def bare_server() -> Iterator[int]:
    """The bare route under the collector's server and its settings, in processes of their own; the port."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.bench.ingest", "bare", str(port)], stdout=subprocess.DEVNULL
    )
    try:
        http = urllib3.PoolManager(retries=urllib3.Retry(60, backoff_factor=0.1, backoff_max=0.5))
        http.request("GET", f"http://127.0.0.1:{port}/")
        yield port
    finally:
        process.terminate()
        process.wait(timeout=15)


def sealed() -> list[tuple[str, ...]]:
    """Sealed reports a second of a collector, and the median of their ratios to the bare route.

    Every report is sealed beforehand; the load takes one after another.
    """
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        first = datetime.datetime.now(datetime.UTC).date()
        survey = sealed_survey(folder / "keys", read_survey(Path(survey_file()).read_bytes()), places=(), first=first)
        collector = stack.enter_context(running_collector(folder, "--sealing-keys", str(folder / "keys")))
        collector.publish(survey)
        bare = stack.enter_context(bare_server())
        port = urllib3.util.parse_url(collector.url).port or 0
        ratios, rates = [], []
        for _ in range(ROUNDS):
            done = _send_sealed(folder, port, survey)
            beside = ask(bare, f"/api/v1/surveys/{survey.id}/reports")
            rates.append(done)
            ratios.append(done / (beside["requests"] / beside["seconds"]))
    rate = f"{statistics.median(rates) / 1e3:.2f} k/s"
    return [("collector, single sealed reports, durable", rate, f"{statistics.median(ratios):.2f}")]


def _send_sealed(folder: Path, port: int, survey: Survey) -> float:
    """Send as many sealed reports as one round takes, over `CONNECTIONS` connections; how many a second."""
    assert survey.sealed, "it was made so"
    values: dict[str, Value] = {each.id: 0 for each in survey.questions}
    bodies = folder / "bodies"
    bodies.write_bytes(
        b"".join(seal(survey, Report(os.urandom(16).hex(), None, values).encode()) for _ in range(SEALED_A_ROUND))
    )
    done = ask(port, f"/api/v1/surveys/{survey.id}/sealed", f"@{bodies},{survey.sealed.length}")
    assert set(done["statuses"]) == {"201"}, done
    return float(done["requests"] / done["seconds"])


def estimates() -> list[tuple[str, ...]]:
    """Median milliseconds of an estimate over HTTP from few and from many reports, taking turns."""
    survey = read_survey(Path(survey_file()).read_bytes())
    with tempfile.TemporaryDirectory() as few_in, tempfile.TemporaryDirectory() as many_in:
        for folder, n in ((few_in, FEW), (many_in, MANY)):
            fill(Path(folder) / "test.db", survey, n)
        with running_collector(Path(few_in)) as few, running_collector(Path(many_in)) as many:
            http = urllib3.PoolManager(retries=False)
            times: dict[str, list[float]] = {few.url: [], many.url: []}
            for _ in range(300):
                for url, n in ((few.url, FEW), (many.url, MANY)):
                    started = time.perf_counter()
                    answer = http.request("GET", f"{url}/api/v1/surveys/{survey.id}/estimates")
                    times[url].append(time.perf_counter() - started)
                    assert answer.json()["n"] == n
            p50 = {url: statistics.median(seconds) for url, seconds in times.items()}
    return [
        (f"estimate over HTTP, {FEW:,} reports", f"{1e3 * p50[few.url]:.2f} ms", "1.00"),
        (
            f"estimate over HTTP, {MANY:,} reports",
            f"{1e3 * p50[many.url]:.2f} ms",
            f"{p50[many.url] / p50[few.url]:.2f}",
        ),
    ]


def fill(database: Path, survey: Survey, n: int) -> None:
    """Store so many reports."""
    store = SqliteStore(database)
    store.publish(survey)
    dice = random.Random(n)
    for start in range(0, n, 10_000):
        reports = [
            Report(os.urandom(16).hex(), None, {each.id: dice.randrange(each.mechanism.k) for each in survey.questions})
            for _ in range(min(10_000, n - start))
        ]
        store.store_reports([(survey, reports)])
        if start % 200_000 == 0:
            store.settle()
    store.settle()
    store.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        server(listen("127.0.0.1", int(sys.argv[2]))).serve(target_loader=bare_app)
    else:
        from deniable.table import format_table

        print(format_table(("what", "rate", "ratio"), [*ingest(), *sealed(), *estimates()], right={"rate", "ratio"}))
