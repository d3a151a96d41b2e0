"""This collector beside an earlier version of it, in one run: ``python -m tools.bench.versions``.

``record.csv`` names the earlier version, what the ratios to it were when they were recorded, and the least that they
may be. The earlier version is built from this repository once and kept under ``.venv``; it runs with the same
dependencies, so that a ratio tells of our code alone. ``--against`` takes another commit or tag, which is measured and
not judged; ``--record`` adds what was measured to the record, whose last line names the version that is compared with
from then on.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import urllib3

from deniable.table import format_table
from tools.bench.load import NO_ID, load
from tools.rig.collectors import free_port, wait_until_answered

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("record.csv")
KEPT = ROOT / ".venv" / "bench-versions"

ROUNDS = 15
SECONDS = 0.6
CONNECTIONS = 16
BATCH, BATCHES = 1000, 8

PUBLISH = """
import json, sys
from pathlib import Path
from deniable import Report, read_survey
from deniable_client.demo.people import survey_file
try:
    from deniable_server.store.sqlite.store import SqliteStore
except ImportError:
    from deniable_server.store import Store as SqliteStore
text = Path(survey_file()).read_bytes()
surveys = [read_survey(text), read_survey(text.replace(b'title = "', b'title = "In batches: ', 1))]
store = SqliteStore(Path(sys.argv[1]))
for survey in surveys:
    store.publish(survey)
store.close()
report = Report(sys.argv[2], None, {"affair": 1, "religious": 3, "rate_marriage": 2})
print(json.dumps([*(survey.id for survey in surveys), report.encode().decode()]))
"""
"""Run by each version: its own formats of a survey and of a report. Batches go to a survey of their own, because what
they cost depends on how many single reports wait beside them, and the faster version has more of these."""


@dataclass(frozen=True)
class Entry:
    """A ratio of rates that was measured: this version's to the earlier one's. More than 1 is faster."""

    date: str
    version: str
    against: str
    figure: str
    ratio: float
    least: float


@dataclass(frozen=True)
class Served:
    """A collector of some version, with the demo's survey, once for single reports and once for batches."""

    port: int
    survey: str
    survey_of_batches: str
    report: str


def reports_of(survey: str) -> str:
    """The path that takes a survey's reports."""
    return f"/api/v1/surveys/{survey}/reports"


def single_reports(served: Served) -> float:
    """Durable single reports a second over 16 connections."""
    done = load(served.port, reports_of(served.survey), CONNECTIONS, SECONDS, served.report)
    assert set(done["statuses"]) == {201}, done
    return float(done["requests"] / done["seconds"])


def batches(served: Served) -> float:
    """Reports a second in durable batches: the median of several, since a pause of the disk is as long as one."""
    headers = {"Content-Type": "application/x-ndjson"}
    rates = []
    with urllib3.HTTPConnectionPool("127.0.0.1", served.port) as http:
        for _ in range(BATCHES):
            lines = "\n".join(served.report.replace(NO_ID, os.urandom(16).hex()) for _ in range(BATCH))
            path = reports_of(served.survey_of_batches)
            started = time.perf_counter()
            answer = http.request("POST", path, body=lines, headers=headers, retries=False)
            rates.append(BATCH / (time.perf_counter() - started))
            assert answer.json()["stored"] == BATCH, answer.data
    return statistics.median(rates)


def estimates(served: Served) -> float:
    """Estimates a second, over HTTP."""
    return asked(served, f"/api/v1/surveys/{served.survey}/estimates")


def page(served: Served) -> float:
    """Pages of a survey a second."""
    return asked(served, f"/s/{served.survey}")


def asked(served: Served, path: str) -> float:
    """Answers a second to 40 requests, one after the other."""
    with urllib3.HTTPConnectionPool("127.0.0.1", served.port) as http:
        started = time.perf_counter()
        for _ in range(40):
            assert http.request("GET", path, retries=False).status == 200, path
        return 40 / (time.perf_counter() - started)


FIGURES: Mapping[str, Callable[[Served], float]] = {
    "single reports": single_reports,
    "batches": batches,
    "estimates": estimates,
    "page": page,
}


def build(commit: str) -> Path:
    """The folder of an earlier version without its dependencies: made from its wheel once, then kept."""
    try:
        full = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(f"version {commit}: must be a commit of this repository; a whole clone has it") from None
    folder = KEPT / full
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            source, wheels, part = (Path(temporary) / name for name in ("source", "wheels", "part"))
            source.mkdir()
            archive = subprocess.run(["git", "archive", full], cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
            pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
            constraint = ["--build-constraint", str(ROOT / "constraints.txt")]
            subprocess.run([*pip, "wheel", "--no-deps", *constraint, "-w", str(wheels), str(source)], check=True)
            (wheel,) = wheels.iterdir()
            subprocess.run([*pip, "install", "--no-deps", "--target", str(part), str(wheel)], check=True)
            KEPT.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-r", str(part), str(folder)], check=True)
    return folder


@contextmanager
def serving(code: Path | None, folder: Path) -> Iterator[Served]:
    """A collector of the version in a folder, or of this tree, without limits; ends with the block."""
    environment = os.environ | ({"PYTHONPATH": str(code)} if code else {})
    database, port = folder / "bench.db", free_port()
    published = [sys.executable, "-c", PUBLISH, str(database), NO_ID]
    done = subprocess.run(published, env=environment, cwd=folder, capture_output=True, check=True)
    command = [sys.executable, "-m", "deniable", "serve", "--db", str(database), "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--rate-limit", "off"], env=environment, cwd=folder, stdout=log, stderr=log
        )
    try:
        wait_until_answered(f"http://127.0.0.1:{port}/livez", process, folder / "log")
        yield Served(port, *json.loads(done.stdout))
    finally:
        process.terminate()
        process.wait(timeout=15)


def measure(against: str, rounds: int = ROUNDS) -> tuple[dict[str, float], dict[str, float]]:
    """Medians of this version's rates, and of their ratios to those of an earlier one in the same round."""
    rates: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    ratios: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        ours = stack.enter_context(serving(None, folders[0]))
        theirs = stack.enter_context(serving(build(against), folders[1]))
        for number in range(rounds + 1):
            for figure, rate in FIGURES.items():
                pair = (ours, theirs) if number % 2 else (theirs, ours)
                found = {served.port: rate(served) for served in pair}
                if number:  # the first round warms up
                    rates[figure].append(found[ours.port])
                    ratios[figure].append(found[ours.port] / found[theirs.port])
    return (
        {figure: statistics.median(each) for figure, each in rates.items()},
        {figure: statistics.median(each) for figure, each in ratios.items()},
    )


def read_record(path: Path = RECORD) -> list[Entry]:
    """What was recorded, the oldest first."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Entry(row["date"], row["version"], row["against"], row["figure"], float(row["ratio"]), float(row["least"]))
            for row in csv.DictReader(file)
        ]


def latest(record: Sequence[Entry]) -> dict[str, Entry]:
    """The last entry of each figure against the version that the last line of the record names."""
    return {entry.figure: entry for entry in record if entry.against == record[-1].against}


def complaints(ratios: Mapping[str, float], expected: Mapping[str, Entry]) -> list[str]:
    """A sentence for each figure that fell below the least that the record allows."""
    return [
        f"{figure}: must be at least {entry.least:.2f} of {entry.against}, got {ratios[figure]:.2f}; "
        f"it was {entry.ratio:.2f} on {entry.date}"
        for figure, entry in expected.items()
        if ratios[figure] < entry.least
    ]


def add_to_record(
    against: str, ratios: Mapping[str, float], expected: Mapping[str, Entry], path: Path = RECORD
) -> None:
    """Append what was measured against a version, with the tolerances that hold."""
    today, version = datetime.datetime.now(datetime.UTC).date().isoformat(), git("rev-parse", "--short=7", "HEAD")
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Entry)], lineterminator="\n")
        for figure, entry in expected.items():
            new = Entry(today, version, against, figure, round(ratios[figure], 2), entry.least)
            writer.writerow(asdict(new))


def git(*arguments: str) -> str:
    """What git prints in this repository."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()


def compare(against: str | None = None, rounds: int = ROUNDS, record: bool = False) -> list[str]:
    """Measure, print a table, and say what became slower than the record allows."""
    expected = latest(read_record())
    reference = next(iter(expected.values())).against
    rates, ratios = measure(against or reference, rounds)
    known = expected if against in (None, reference) else {}
    rows = [
        (
            figure,
            f"{rates[figure]:,.0f}/s",
            f"{ratios[figure]:.2f}",
            *((f"{known[figure].ratio:.2f}", f"{known[figure].least:.2f}") if figure in known else ("", "")),
        )
        for figure in FIGURES
    ]
    header = ("collector", "rate", f"to {against or reference}", "recorded", "least")
    print(format_table(header, rows, right=header[1:]))
    if record:
        add_to_record(against or reference, ratios, expected)
    return complaints(ratios, known)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.bench.versions", description=__doc__.split("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="another version than that of the record")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--record", action="store_true", help="add the ratios to the record")
    chosen = parser.parse_args()
    sys.exit("\n".join(compare(chosen.against, chosen.rounds, chosen.record)) or 0)
