"""A copy of many reports from SQLite to PostgreSQL and back, killed again and again on both ways."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.location import Location
from deniable_server.store import Store, database_at, open_store
from deniable_server.store.sql_store import SqlStore
from tools.rig.postgresql import running_postgresql
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture.storage_kill import named

BATCH = 1000


def copy(short: bool) -> str:
    """Copy there and back; each way is killed at random moments, and goes on until it has arrived."""
    reports, kills = (3000, 3) if short else (300_000, 20)
    dice = random.Random(1974)
    survey = read_survey(FIVE_TYPES)
    surveys = [survey, replace(survey, retention="tallies")]
    with running_postgresql() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places: list[Location] = [folder / "first.db", server.new(), folder / "last.db"]
        with closing(open_store(places[0])) as store:
            _fill(store, surveys, reports)
        wanted = _content(places[0], surveys)
        said = []
        beside: list[Location] = [server.new(), folder / "beside.db"]
        for (source, target), other in zip(pairwise(places), beside, strict=True):
            killed, seconds = _copy_under_kills(source, target, other, kills, dice)
            findings = database_at(target).inspect().findings
            assert not findings, f"{target}: {findings}"
            assert _content(target, surveys) == wanted, f"{target}: is not what was copied"
            said.append(f"in {seconds:.0f} s, or under {killed} kills")
        assert all(n == reports for n, _ in wanted)
    return (
        f"{reports} reports, twice: to PostgreSQL {said[0]}; back {said[1]}; checksums and tallies equal, nothing twice"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"copy": copy}


def _fill(store: Store, surveys: Sequence[Survey], reports: int) -> None:
    for survey in surveys:
        store.publish(survey)
        for first in range(0, reports, BATCH):
            sent: list[Report] = [randomize(survey, person(first + number)) for number in range(BATCH)]
            store.store_reports([(survey, sent)])
    store.settle()


def _content(place: Location, surveys: Sequence[Survey]) -> list[tuple[int, object]]:
    """For each survey how many reports it has, and the checksum of all that is stored of it."""
    with closing(open_store(place)) as store:
        assert isinstance(store, SqlStore)
        shown = [sum(tally.n for tally in store.tallies(survey).values()) for survey in surveys]
        with store._snapshot(*surveys) as db:
            return list(zip(shown, [db.checksum(survey.id) for survey in surveys], strict=True))


def _copy_under_kills(
    source: Location, target: Location, beside: Location, kills: int, dice: random.Random
) -> tuple[int, float]:
    """How often it was killed while it copied, and how long a run takes that nobody kills."""
    started = time.monotonic()
    subprocess.run(_command(source, beside), check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    killed = 0
    for number in range(kills):
        process = subprocess.Popen(_command(source, target), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds * (dice.uniform(0.1, 0.9) if number else 0.5))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        _, complaint = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), complaint.decode()
    assert killed, "every copy was through before it could be killed"
    subprocess.run(_command(source, target), check=True, stdout=subprocess.DEVNULL)
    return killed, seconds


def _command(source: Location, target: Location) -> list[str]:
    return [sys.executable, "-m", "deniable", "copy", named(source), named(target)]
