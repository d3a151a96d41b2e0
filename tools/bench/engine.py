"""Many rows through an engine: the time beside SQL written by hand, the memory, and whether every count is right.

python -m tools.bench.engine             writes 100,000,000 rows to a temporary folder
python -m tools.bench.engine 2000000     fewer
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deniable import KAry, TwoCoin
from deniable_research.engine import EngineReports, open_source
from deniable_research.engine.sources import MEMORY
from deniable_research.files import Layout, RandomizedColumn, cross, estimate_shares
from deniable_statistics.designs.of_mechanisms import design_of
from tools.bench.apart import apart, peak_megabytes

COHORTS = ("east", "north", "south", "web", "west")
COINS, FIVE = TwoCoin("1/2", "1/2"), KAry.from_epsilon(5, 1)
LAYOUT = Layout(
    (
        RandomizedColumn("affair", "affair", design_of(COINS), ("no", "yes"), (0.0, 1.0)),
        RandomizedColumn("party", "party", design_of(FIVE), tuple("abcde")),
    ),
    cohort="cohort",
)
PIECE = 5_000_000
ROUNDS = 3


def write(folder: Path, rows: int, in_pieces_of: int = PIECE) -> np.ndarray[Any, Any]:
    """Write rows in pieces; how many there are of each, shape (cohorts, 2, 5)."""
    import pyarrow
    from pyarrow import parquet

    chance, counts = np.random.default_rng(1), np.zeros((len(COHORTS), 2, 5), dtype=np.int64)
    for piece, start in enumerate(range(0, rows, in_pieces_of)):
        size = min(in_pieces_of, rows - start)
        cohort, affair, party = (chance.integers(0, k, size, dtype=np.int8) for k in counts.shape)
        places = (cohort.astype(np.int64) * 2 + affair) * 5 + party
        counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)
        labels = pyarrow.DictionaryArray.from_arrays(pyarrow.array(cohort), pyarrow.array(COHORTS))
        table = pyarrow.table({"cohort": labels, "affair": affair, "party": party})
        parquet.write_table(table, folder / f"{piece:03}.parquet")
    return counts


def ours(folder: str) -> tuple[dict[str, Any], float]:
    """Shares by cohort of both questions and their crosstab; the counts behind them, and the seconds."""
    started = time.perf_counter()
    reports = EngineReports(open_source(folder), LAYOUT)
    found: dict[str, Any] = {}
    for (name,), table in reports.apart(["affair", "party"], "cohort"):
        estimate_shares(table, [name], by="cohort")
        found[name] = [[*table.estimate(name, people).counts] for _, people in table.cohorts("cohort")]
    together = reports.together(["affair", "party"])
    cross(together, ["affair", "party"])
    found["both"] = [
        [together.count(together.reports["affair"].equal(a) & together.reports["party"].equal(b)) for b in range(5)]
        for a in range(2)
    ]
    return found, time.perf_counter() - started


def by_hand(folder: str) -> tuple[dict[str, Any], float]:
    """The counts by three queries of our own."""
    import duckdb

    started = time.perf_counter()
    connection = duckdb.connect(config={"memory_limit": MEMORY})
    rows = f"FROM read_parquet('{folder}/**/*.parquet')"
    found: dict[str, Any] = {name: [[0] * size for _ in COHORTS] for name, size in (("affair", 2), ("party", 5))} | {
        "both": [[0] * 5, [0] * 5]
    }
    for name in ("affair", "party"):
        for cohort, value, count in connection.execute(
            f"SELECT cohort, {name}, count(*) {rows} GROUP BY ALL"
        ).fetchall():
            found[name][COHORTS.index(cohort)][value] = count
    for a, b, count in connection.execute(f"SELECT affair, party, count(*) {rows} GROUP BY ALL").fetchall():
        found["both"][a][b] = count
    return found, time.perf_counter() - started


def measured(how: Callable[[str], tuple[dict[str, Any], float]], folder: str) -> dict[str, Any]:
    """Counts, the shortest time of some, and the highest memory of this process in megabytes."""
    runs = [how(folder) for _ in range(ROUNDS)]
    return {"counts": runs[-1][0], "seconds": min(seconds for _, seconds in runs), "megabytes": peak_megabytes()}


def main(rows: int) -> None:
    """Measure, print, and fail if a count is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        counts = write(Path(folder), rows)
        expected = {
            "affair": counts.sum(axis=2).tolist(),
            "party": counts.sum(axis=1).tolist(),
            "both": counts.sum(axis=0).tolist(),
        }
        size = sum(each.stat().st_size for each in Path(folder).iterdir())
        sql, engine = (apart("tools.bench.engine", how, folder) for how in ("by_hand", "ours"))
    print(f"{rows:,} rows of Parquet, {size / 2**20:,.0f} MB")
    for name, found in (("SQL by hand", sql), ("deniable", engine)):
        right = "every count right" if found["counts"] == expected else "COUNTS WRONG"
        print(f"{name}: {found['seconds']:.2f} s, at most {found['megabytes']:,.0f} MB of memory, {right}")
    print(f"ratio of times {engine['seconds'] / sql['seconds']:.2f}")
    if not sql["counts"] == engine["counts"] == expected:
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("ours", "by_hand"):
        print(json.dumps(measured({"ours": ours, "by_hand": by_hand}[sys.argv[1]], sys.argv[2])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 100_000_000)
