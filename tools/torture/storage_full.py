"""A disk that takes no more, and then does: what is acknowledged is stored, and nobody restarts anything."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import urllib3

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture.storage_kill import end, start

SECONDS = 5
"""In which a collector must take reports again once there is space."""


def full(short: bool) -> str:
    """Fill the disk under a running collector several times; with a limit on files, in full also with a small disk."""
    within = PATIENCE if short else SECONDS
    said = [f"limit on files: {through_full_disks(limit_of_files, 2 if short else 10, within, 100 if short else 300)}"]
    if not short:
        if os.geteuid() == 0:
            said.append(f"file system of 3 MB: {through_full_disks(small_disk, 10, within, 300)}")
        else:
            said.append("file system of 3 MB: not tried, only root can mount one")
    return "; ".join(said)


SCENARIOS: dict[str, Callable[[bool], str]] = {"full": full}

Switch = Callable[[Collector, bool], None]
"""Makes the disk of a collector full, or gives the space back."""


def through_full_disks(
    disk: Callable[[], Iterator[tuple[Path, Switch]]], times: int, within: float, before: int
) -> str:
    """Send so many, then while the disk is full and after; what was acknowledged is stored and nothing else is."""
    survey = read_survey(FIVE_TYPES)
    slowest, refused = 0.0, 0
    acknowledged: set[str] = set()
    with contextmanager(disk)() as (folder, switch):
        database = folder / "test.db"
        with closing(SqliteStore(database)) as store:
            store.publish(survey)
        collector = start(database)
        try:
            for _ in range(times):
                send(collector, survey, acknowledged, lambda statuses: len(statuses) >= before)
                switch(collector, True)
                statuses = send(collector, survey, acknowledged, lambda statuses: statuses.count(507) >= 20)
                assert set(statuses) <= {201, 507}, set(statuses)
                refused += statuses.count(507)
                switch(collector, False)
                freed = time.monotonic()
                send(collector, survey, acknowledged, lambda statuses: 201 in statuses)
                slowest = max(slowest, time.monotonic() - freed)
            assert slowest <= within, f"took {slowest:.1f} s to recover"
            assert collector.reports(survey) == len(acknowledged)
        finally:
            end(collector, signal.SIGTERM)
        with closing(SqliteStore(database)) as store:
            stored = {report.id for report in store.reports(survey)}
        assert stored == acknowledged, f"{len(acknowledged - stored)} lost, {len(stored - acknowledged)} extra"
        assert inspect(database).findings == ()
    return (
        f"{times} times full, {refused} times 507, wrong 201 0, {len(acknowledged)} stored, "
        f"recovered in at most {slowest:.2f} s"
    )


def send(
    collector: Collector, survey: Survey, acknowledged: set[str], enough: Callable[[list[int]], bool]
) -> list[int]:
    """Send reports until there is enough of something; the statuses."""
    url = f"{collector.url}/api/v1/surveys/{survey.id}/reports"
    pool = urllib3.PoolManager(retries=False, timeout=PATIENCE)
    statuses: list[int] = []
    give_up = time.monotonic() + PATIENCE
    while not enough(statuses):
        assert time.monotonic() < give_up, f"only {statuses[-20:]}"
        report = randomize(survey, person(len(statuses)))
        answer = pool.request("POST", url, body=report.encode(), headers={"Content-Type": "application/json"})
        if answer.status == 201:
            acknowledged.add(report.id)
        elif answer.status == 507:
            assert "disk is full" in json.loads(answer.data)["detail"]
        statuses.append(answer.status)
    return statuses


def limit_of_files() -> Iterator[tuple[Path, Switch]]:
    """No file of the collector may grow beyond what is written there already."""

    def switch(collector: Collector, full: bool) -> None:
        limit = 4096 if full else resource.RLIM_INFINITY
        for process in (collector.process.pid, *children(collector.process.pid)):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder), switch


def small_disk() -> Iterator[tuple[Path, Switch]]:
    """A file system in memory, and a file that takes what is left of it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=True)
        ballast = Path(folder) / "ballast"

        def switch(_collector: Collector, full: bool) -> None:
            if full:
                with ballast.open("wb", buffering=0) as file:
                    try:
                        while file.write(b"\0" * 512):
                            pass
                    except OSError:
                        pass
            else:
                ballast.unlink()

        try:
            yield Path(folder), switch
        finally:
            subprocess.run(["umount", folder], check=True)


def children(pid: int) -> list[int]:
    """Processes that this one started: Granian's worker."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]
