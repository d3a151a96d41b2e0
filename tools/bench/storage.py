"""What storing costs: beside bare SQLite in the same run, and at 10,000 and at millions of reports."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from deniable import Report, Survey, read_survey
from deniable.survey.document import RELEASE
from deniable_client.demo.people import survey_file
from deniable_server.app import create_app
from deniable_server.serving import spare_the_collector_of_garbage
from deniable_server.settings import Settings
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import reports_table, rows_from
from deniable_server.writing.writer import Writer

BATCH = 1000
ROUNDS = 41
FEW, MANY, MOST = 10_000, 1_000_000, 3_000_000
WAITING = RELEASE // 2
"""Reports that usually wait for a fold."""


def batches() -> list[tuple[str, ...]]:
    """Batches of 1,000, durable and folded, beside a bare `executemany` of the same rows into the same schema."""
    survey = read_survey(Path(survey_file()).read_bytes())
    marks = ", ".join("?" * (2 + len(survey.questions)))
    with tempfile.TemporaryDirectory() as folder:
        bare, ours, served = (SqliteStore(Path(folder) / f"{name}.db") for name in ("bare", "ours", "served"))
        app = create_app(served.path, settings=Settings(rate_limit=None))
        http = app.test_client()
        for store in (bare, ours, served):
            store.publish(survey)
        spare_the_collector_of_garbage()  # as the collector does
        seconds: dict[str, list[float]] = {"bare": [], "store": [], "served": []}
        dice = random.Random(1)
        for _ in range(ROUNDS):
            reports = [invented(survey, dice) for _ in range(BATCH)]
            rows = rows_from(survey, reports)
            lines = b"\n".join(report.encode() for report in reports)

            def insert(rows: Sequence[tuple[object, ...]] = rows) -> None:
                with bare._transaction() as db:
                    db.conn.executemany(f"INSERT INTO {reports_table(survey)} VALUES ({marks})", rows)

            def take(reports: list[Report] = reports) -> None:
                ours.store_reports([(survey, reports)])

            def post(lines: bytes = lines) -> None:
                path = f"/api/v1/surveys/{survey.id}/reports"
                answer = http.post(path, data=lines, content_type="application/x-ndjson")
                assert answer.json["stored"] == BATCH

            for name, run in (("bare", insert), ("store", take), ("served", post)):
                seconds[name].append(timed(run))
        for name, settle in (("store", ours.settle), ("served", app.extensions["deniable"]["writer"].stop)):
            seconds[name].append(timed(settle))
        for store in (bare, ours, served):
            store.close()
    cost = {name: sum(each) / ROUNDS for name, each in seconds.items()}  # with what settling costs
    names = {"bare": "bare executemany", "store": "store and fold", "served": "NDJSON parsed, stored, folded"}
    return [
        (f"{names[name]}, batches of {BATCH}", f"{BATCH / each / 1e3:.1f} k/s", f"{cost['bare'] / each:.2f}")
        for name, each in cost.items()
    ]


def sizes(most: int = MOST) -> list[tuple[str, ...]]:
    """Estimates, memory and disk of a store that grows, in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "tools.bench.storage", str(most)], capture_output=True, check=True)
    at: dict[str, dict[str, float]] = json.loads(done.stdout)
    few, many, last = (at[str(n)] for n in (FEW, min(MANY, most), most))
    return [
        (f"tallies, {FEW} reports", f"{1e3 * few['p50']:.2f} ms", "1.00"),
        (f"tallies, {most} reports", f"{1e3 * last['p50']:.2f} ms", f"{last['p50'] / few['p50']:.2f}"),
        (f"memory, {FEW} reports", f"{few['rss'] / 2**20:.0f} MiB", "1.00"),
        (f"memory, {min(MANY, most)} reports", f"{many['rss'] / 2**20:.0f} MiB", f"{many['rss'] / few['rss']:.2f}"),
        (f"disk, {most} reports", f"{last['bytes']:.1f} B each", f"{last['bytes'] / last['content']:.2f}"),
        ("information in a report: id, values", f"{last['content']:.1f} B each", "1.00"),
    ]


def grow(most: int) -> dict[int, dict[str, float]]:
    """Take reports through the writer, and look at its process on the way."""
    survey = read_survey(Path(survey_file()).read_bytes())
    dice = random.Random(2)
    at = {}
    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "bench.db")) as store:
        store.publish(survey)
        writer = Writer(store, fold_seconds=3600)  # so what waits at the first look waits at every one
        for _ in range(WAITING):
            writer.submit(survey, [invented(survey, dice)])
        for start in range(0, most, FEW):
            for _ in range(FEW // BATCH):
                writer.submit(survey, [invented(survey, dice) for _ in range(BATCH)])
            if (n := start + FEW) in (FEW, MANY, most):
                asked = [timed(lambda: store.tallies(survey)) for _ in range(200)]
                at[n] = {"p50": statistics.median(asked), "rss": memory()}
        writer.stop()
        at[most]["bytes"] = store.path.stat().st_size / (most + WAITING)
        at[most]["content"] = 16 + sum(math.log2(question.mechanism.k) for question in survey.questions) / 8
    return at


def invented(survey: Survey, dice: random.Random) -> Report:
    """A report without a respondent."""
    values = {question.id: dice.randrange(question.mechanism.k) for question in survey.questions}
    return Report(os.urandom(16).hex(), None, values)


def timed(run: Callable[[], object]) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def memory() -> int:
    """Bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    json.dump(grow(int(sys.argv[1])), sys.stdout)
