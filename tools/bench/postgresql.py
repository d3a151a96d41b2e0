"""Reports over PostgreSQL with one collector and with two, beside SQLite, a bare Flask route, and a bare COPY.

All of them run at once and take turns, so that they meet the same noise of the machine. On a machine with two
processors, load, collectors and PostgreSQL share these: two collectors cannot be faster than one there.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import psycopg
import urllib3

from deniable import Report, Survey, read_survey
from deniable.table import format_table
from deniable_client.demo.people import survey_file
from deniable_server.serving import spare_the_collector_of_garbage
from deniable_server.store.postgresql.store import PostgresqlStore
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import reports_table, rows_from
from tools.bench.ingest import ROUNDS, ask, bare_server
from tools.bench.storage import BATCH, invented, timed
from tools.rig.collectors import Collector, running_collector
from tools.rig.postgresql import Postgresql, running_postgresql
from tools.torture.storage_kill import named

BATCHES = 21

TWO = "PostgreSQL, two collectors"


def singles(server: Postgresql) -> list[tuple[str, ...]]:
    """Single reports a second, over 16 connections to each collector."""
    survey = read_survey(Path(survey_file()).read_bytes())
    path = f"/api/v1/surveys/{survey.id}/reports"
    with ExitStack() as running:
        folders = [Path(running.enter_context(tempfile.TemporaryDirectory())) for _ in range(4)]
        one, two = server.new(), server.new()
        collectors: dict[str, list[Collector]] = {
            "SQLite": [running.enter_context(running_collector(folders[0]))],
            "PostgreSQL, one collector": [running.enter_context(running_collector(folders[1], "--db", named(one)))],
            TWO: [running.enter_context(running_collector(folder, "--db", named(two))) for folder in folders[2:]],
        }
        for store in (SqliteStore(folders[0] / "test.db"), PostgresqlStore(one), PostgresqlStore(two)):
            store.publish(survey)
            store.close()
        ports = {"bare Flask route": [running.enter_context(bare_server())]}
        for name, some in collectors.items():
            ports[name] = [urllib3.util.parse_url(each.url).port or 0 for each in some]
        rates: dict[str, list[float]] = {name: [] for name in ports}
        threads = running.enter_context(ThreadPoolExecutor(2))
        for number in range(ROUNDS + 1):
            for name in sorted(ports, reverse=bool(number % 2)):
                asked = list(threads.map(lambda port: ask(port, path), ports[name]))
                assert all(set(done["statuses"]) == {"201"} for done in asked), asked
                if number:  # the first round warms up
                    rates[name].append(sum(done["requests"] / done["seconds"] for done in asked))
    bare = rates["bare Flask route"]
    return [
        (
            f"single reports, {name}",
            f"{statistics.median(rate) / 1e3:.2f} k/s",
            f"{statistics.median(ours / base for ours, base in zip(rate, bare, strict=True)):.2f}",
        )
        for name, rate in rates.items()
    ]


def batches(server: Postgresql) -> list[tuple[str, ...]]:
    """Batches of 1,000, durable, counted and folded, beside a bare COPY and a bare `executemany` of the same rows."""
    survey = read_survey(Path(survey_file()).read_bytes())
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        address = server.new()
        stores: dict[str, SqlStore] = {
            "SQLite, store and fold": opened.enter_context(closing(SqliteStore(folder / "ours.db"))),
            "PostgreSQL, store and fold": opened.enter_context(closing(PostgresqlStore(server.new()))),
            TWO: opened.enter_context(closing(PostgresqlStore(address))),
        }
        other = opened.enter_context(closing(PostgresqlStore(address)))
        bare_file = opened.enter_context(closing(SqliteStore(folder / "bare.db")))
        bare = opened.enter_context(closing(PostgresqlStore(server.new())))
        for store in (*stores.values(), bare_file, bare):
            store.publish(survey)
        raw = opened.enter_context(psycopg.connect(bare.address.url, options="-csearch_path=deniable"))
        threads = opened.enter_context(ThreadPoolExecutor(2))
        spare_the_collector_of_garbage()  # as the collector does
        names = ["bare COPY", "bare executemany, PostgreSQL", "bare executemany, SQLite", *stores]
        seconds: dict[str, list[float]] = {name: [] for name in names}
        dice = random.Random(1)
        for _ in range(BATCHES):
            reports = [invented(survey, dice) for _ in range(BATCH)]
            rows, half = rows_from(survey, reports), BATCH // 2
            others = rows_from(survey, [invented(survey, dice) for _ in range(BATCH)])
            both = dict.fromkeys(stores.values(), reports) | {stores[TWO]: reports[:half], other: reports[half:]}
            seconds["bare COPY"].append(timed(partial(copy, raw, survey, rows)))
            seconds["bare executemany, PostgreSQL"].append(timed(partial(insert, raw, survey, others)))
            seconds["bare executemany, SQLite"].append(timed(partial(insert_into_file, bare_file, survey, rows)))
            for name, store in stores.items():
                asked = [(store, both[store])] + ([(other, both[other])] if name == TWO else [])
                seconds[name].append(timed(lambda asked=asked: list(threads.map(partial(take, survey), asked))))
        for name, store in stores.items():
            seconds[name].append(timed(store.settle))
    cost = {name: sum(each) / BATCHES for name, each in seconds.items()}  # with what settling costs
    return [
        (f"batches of {BATCH}, {name}", f"{BATCH / each / 1e3:.1f} k/s", f"{cost['bare COPY'] / each:.2f}")
        for name, each in cost.items()
    ]


def copy(raw: psycopg.Connection[tuple[object, ...]], survey: Survey, rows: Sequence[Sequence[object]]) -> None:
    """A bare COPY in a transaction of its own."""
    with raw.transaction(), raw.cursor() as cursor, cursor.copy(f"COPY {reports_table(survey)} FROM STDIN") as copying:
        for row in rows:
            copying.write_row(row)
    raw.commit()


def insert(raw: psycopg.Connection[tuple[object, ...]], survey: Survey, rows: Sequence[Sequence[object]]) -> None:
    """A bare `executemany` in a transaction of its own."""
    marks = ", ".join(["%s"] * (2 + len(survey.questions)))
    with raw.transaction(), raw.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {reports_table(survey)} VALUES ({marks})", rows)
    raw.commit()


def insert_into_file(store: SqliteStore, survey: Survey, rows: Sequence[Sequence[object]]) -> None:
    """A bare `executemany` into a SQLite file."""
    marks = ", ".join("?" * (2 + len(survey.questions)))
    with store._transaction() as db:
        db.conn.executemany(f"INSERT INTO {reports_table(survey)} VALUES ({marks})", rows)


def take(survey: Survey, asked: tuple[SqlStore, Sequence[Report]]) -> None:
    """What a collector does."""
    store, reports = asked
    store.store_reports([(survey, reports)])


def several() -> list[tuple[str, ...]]:
    """All of it, over one server."""
    with running_postgresql() as server:
        return [*singles(server), *batches(server)]


if __name__ == "__main__":
    print(format_table(("collector", "rate", "ratio"), several(), right={"rate", "ratio"}))
