"""A folder of many reports out of a collector's file: rows a second beside a bare SELECT, memory, the first byte.

python -m tools.bench.export             3,000,000 reports as Parquet
python -m tools.bench.export 300000      fewer
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from deniable import KAry, Question, Survey, TwoCoin
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import report_of, reports_table
from deniable_statistics.data.folder import write_folder
from deniable_statistics.data.manifest import FORMATS
from tools.bench.apart import apart, peak_megabytes

COHORTS = ("east", "north", "south", "web", "west")
SURVEY = Survey(
    "Many reports",
    (
        Question("affair", "yes-no", "Ever?", ("no", "yes"), TwoCoin("1/2", "1/2")),
        Question("party", "choice", "Which party?", tuple("abcde"), KAry.from_epsilon(5, 1)),
    ),
    cohorts=COHORTS,
)
BATCH = 50_000
ROUNDS = 3
"""Each way is measured so often, in turns; the shortest counts."""


def fill(path: Path, n: str) -> dict[str, float]:
    """Make a database with so many reports, any value as likely as any other."""
    import numpy as np  # not where memory is measured

    chance = np.random.default_rng(1)
    with closing(SqliteStore(path)) as store:
        store.publish(SURVEY)
        for start in range(0, int(n), BATCH):
            size = min(BATCH, int(n) - start)
            ids = [chance.bytes(16).hex() for _ in range(size)]
            columns = [chance.integers(0, k, size).tolist() for k in (len(COHORTS), 2, 5)]
            rows = [
                (each, COHORTS[cohort], affair, party)
                for each, cohort, affair, party in zip(ids, *columns, strict=True)
            ]
            store.store_reports([(SURVEY, [report_of(SURVEY, row) for row in rows])])
        store.close_survey(SURVEY.id)
        return {"rows": store.release_of(SURVEY.id)}


def export(path: Path, form: str) -> dict[str, float]:
    """Export all reports: seconds, seconds to the first byte of a row, and bytes."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(path)) as store:
        to, started = Path(folder) / "out", time.perf_counter()
        first: list[float] = []
        is_over = threading.Event()

        def look() -> None:
            while not first and not is_over.is_set():
                if any(each.stat().st_size > 4 for each in Path(folder).rglob("part-*")):  # more than Parquet's mark
                    first.append(time.perf_counter() - started)
                time.sleep(0.001)

        looking = threading.Thread(target=look)
        looking.start()
        with store.released(SURVEY) as released:
            made = write_folder(SURVEY, released.rows, to, form)
        seconds = time.perf_counter() - started
        is_over.set()
        looking.join()
        size = sum(each.stat().st_size for each in to.rglob("*") if each.is_file())
        return {"seconds": seconds, "first": first[0], "bytes": size, "rows": made.rows}


def select(path: Path, _form: str) -> dict[str, float]:
    """Read the same rows in the same order, and do nothing with them."""
    with closing(SqliteStore(path)) as store:
        started, n = time.perf_counter(), 0
        for _ in store.db.execute(f"SELECT * FROM {reports_table(SURVEY)} ORDER BY id"):
            n += 1
        return {"seconds": time.perf_counter() - started, "rows": n}


def measured(name: str, path: Path, form: str) -> dict[str, float]:
    """One export in a process of its own, with its highest memory in megabytes."""
    found: dict[str, float] = apart("tools.bench.export", name, str(path), form)
    return found


def main(n: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.db"
        measured("fill", path, str(n))  # elsewhere too: a process begins with the highest memory of the one before it
        print(f"{n:,} reports in a file of {path.stat().st_size / 2**20:,.0f} MB")
        for form in FORMATS:
            runs = [(measured("export", path, form), measured("select", path, form)) for _ in range(ROUNDS)]
            ours, bare = (min((run[way] for run in runs), key=lambda each: each["seconds"]) for way in (0, 1))
            if not ours["rows"] == bare["rows"] == n:
                sys.exit(f"{form}: {ours['rows']:.0f} rows of {n}")
            print(
                f"{form}: {ours['seconds']:.1f} s, {n / ours['seconds']:,.0f} rows a second, first byte of rows after "
                f"{ours['first']:.2f} s, {ours['bytes'] / 2**20:,.0f} MB, at most {ours['megabytes']:,.0f} MB of "
                f"memory; a bare SELECT {bare['seconds']:.1f} s and {bare['megabytes']:,.0f} MB: "
                f"{ours['seconds'] / bare['seconds']:.1f} times its time"
            )


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("export", "fill", "select"):
        result = {"export": export, "fill": fill, "select": select}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
        print(json.dumps(result | {"megabytes": peak_megabytes()}))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 3_000_000)
