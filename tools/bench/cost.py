"""What a collector costs: processor seconds, disk and memory for each million reports, folds and sorting included.

python -m tools.bench.cost           single reports for 20 seconds a collector, and 200,000 in batches
python -m tools.bench.cost 60        for 60 seconds

Collectors run one after the other, each in processes of its own, and only these are counted, with PostgreSQL's where
there is one: not who sends. Counts of processor time bear a busy machine better than rates do.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import urllib3

from deniable import Survey, read_survey
from deniable.table import format_table
from deniable_client.demo.people import survey_file
from deniable_server.location import Address
from deniable_server.store import open_store
from deniable_server.writing.writer import FOLD_SECONDS
from tools.bench.ingest import ask
from tools.bench.storage import BATCH, invented
from tools.rig.collectors import Collector, running_collector
from tools.rig.postgresql import Postgresql, name_of, running_postgresql
from tools.torture.storage_kill import named

MILLION = 1_000_000
SECONDS = 20.0
BATCHES = 200
QUIET_SECONDS = FOLD_SECONDS + 2
"""A collector that has used no processor for so long has nothing left to fold."""

HEADER = ("per million reports", "reports", "CPU seconds", "written", "log", "on disk", "memory")


@dataclass(frozen=True)
class Used:
    """What processes have used so far.

    Attributes
    ----------
    cpu : float
        Seconds, of the user and of the system.
    written : int
        Bytes in their calls that write: log and tables together. What the disk makes of them depends on its blocks.
    """

    cpu: float
    written: int


def used(roots: Sequence[int]) -> Used:
    """Processor time and bytes written of these processes and all that they started; of ended ones the time alone."""
    cpu, written = 0.0, 0
    for root in roots:
        parent = psutil.Process(root)
        for each in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # it ended just now
                cpu += sum(each.cpu_times()[:4])  # user, system, and both of children that have ended
                written += each.io_counters().write_chars
    return Used(cpu, written)


def memory(root: int) -> int:
    """Bytes that a collector's processes hold, at the most that each has held."""
    parent = psutil.Process(root)
    return 1024 * sum(
        int(line.split()[1])
        for each in (parent, *parent.children(recursive=True))
        for line in Path(f"/proc/{each.pid}/status").read_text("utf-8").splitlines()
        if line.startswith("VmHWM")
    )


def wait_until_quiet(roots: Sequence[int]) -> None:
    """Wait until reports are folded and sorted."""
    last, since = used(roots).cpu, time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(0.5)
        now = used(roots).cpu
        if now - last > 0.05:
            last, since = now, time.monotonic()


def singly(seconds: float) -> Callable[[Collector, Survey], int]:
    """Send single reports over 16 connections for so long; how many."""

    def send(collector: Collector, survey: Survey) -> int:
        port, sent = urllib3.util.parse_url(collector.url).port or 0, 0
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            done = ask(port, f"/api/v1/surveys/{survey.id}/reports")
            assert set(done["statuses"]) == {"201"}, done
            sent += done["requests"]
        return sent

    return send


def in_batches(collector: Collector, survey: Survey) -> int:
    """Send NDJSON of 1,000 reports again and again; how many reports."""
    http, dice = urllib3.PoolManager(), random.Random(1)
    for _ in range(BATCHES):
        body = b"\n".join(invented(survey, dice).encode() for _ in range(BATCH))
        answer = http.request(
            "POST",
            f"{collector.url}/api/v1/surveys/{survey.id}/reports",
            body=body,
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert answer.json()["stored"] == BATCH, answer.data
    return BATCHES * BATCH


def cost(name: str, send: Callable[[Collector, Survey], int], server: Postgresql | None = None) -> tuple[str, ...]:
    """One row: a collector that starts, takes reports, and folds them."""
    survey = read_survey(Path(survey_file()).read_bytes())
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        address = server.new() if server else folder / "test.db"
        flags = ["--db", named(address)] if server else []
        with running_collector(folder, *flags) as collector:
            store = open_store(address)
            store.publish(survey)
            store.close()
            roots = [collector.process.pid]
            if server:
                roots.append(server.server.get_postmaster_info().process.pid)
            wait_until_quiet(roots)
            before, size, log = used(roots), stored(address, server), logged(server)
            reports = send(collector, survey)
            wait_until_quiet(roots)
            after, held = used(roots), memory(collector.process.pid)
            log = logged(server) - log
        on_disk = stored(address, server) - size  # after a collector has ended in good order
    scale = MILLION / reports
    return (
        name,
        f"{reports:,}",
        f"{scale * (after.cpu - before.cpu):.0f}",
        megabytes(scale * (after.written - before.written)),
        megabytes(scale * log) if server else "",
        megabytes(scale * on_disk),
        megabytes(held),
    )


def stored(address: Address | Path, server: Postgresql | None) -> int:
    """Bytes of the database."""
    if isinstance(address, Path):
        return sum(each.stat().st_size for each in address.parent.glob(f"{address.name}*"))
    assert server is not None
    with server.admin() as admin:
        return int(admin.execute("SELECT pg_database_size(%s)", [name_of(address)]).fetchone()[0])


def logged(server: Postgresql | None) -> int:
    """Bytes of PostgreSQL's log so far."""
    if server is None:
        return 0
    with server.admin() as admin:
        return int(admin.execute("SELECT pg_current_wal_lsn() - '0/0'").fetchone()[0])


def megabytes(size: float) -> str:
    """A size, in millions of bytes."""
    return f"{size / 1e6:,.0f} MB"


def costs(seconds: float = SECONDS) -> list[tuple[str, ...]]:
    """Single reports and batches, over both databases."""
    singles = singly(seconds)
    rows = [cost("SQLite, single reports", singles), cost(f"SQLite, batches of {BATCH}", in_batches)]
    with running_postgresql() as server:
        rows += [
            cost("PostgreSQL, single reports", singles, server),
            cost(f"PostgreSQL, batches of {BATCH}", in_batches, server),
        ]
    return rows


if __name__ == "__main__":
    found = costs(float(sys.argv[1]) if sys.argv[1:] else SECONDS)
    print(format_table(HEADER, found, right=HEADER[1:]))
