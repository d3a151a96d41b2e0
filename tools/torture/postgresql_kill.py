"""Two collectors on one PostgreSQL, of which one, or the server itself, is killed under load, again and again."""

from __future__ import annotations

import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import urllib3

from deniable import read_survey
from deniable_client import randomize
from deniable_server.location import Address
from deniable_server.store import database_at
from deniable_server.store.postgresql.store import PostgresqlStore
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.rig.postgresql import Postgresql, name_of, running_postgresql
from tools.rig.surveys import FIVE_TYPES, person
from tools.torture.storage_kill import SENDERS, Load, compare, end, start

COLLECTORS = 2


def kill_collector(short: bool) -> str:
    """Rounds of kill -9 of one of two collectors, in turn, while both take reports and fold every 50 ms."""
    rounds = 2 if short else 100
    dice = random.Random(1974)
    with at_work() as (_, address, collectors, load, begin):
        for number in range(rounds):
            mortal = number % COLLECTORS
            load.run(*collectors, seconds=dice.uniform(0.1, 0.8))
            end(collectors[mortal], signal.SIGKILL)
            time.sleep(dice.uniform(0, 0.2))  # the other one goes on, with locks and rows of the dead one around
            load.stop()
            look(address, load, f"after kill {number + 1}")
            collectors[mortal] = begin(mortal)
        return finish(address, collectors, load, f"{rounds} rounds of kill -9 of one of {COLLECTORS} collectors")


def kill_server(short: bool) -> str:
    """Rounds of kill -9 of PostgreSQL with all its processes; both collectors live on and find it again."""
    rounds = 2 if short else 30
    dice = random.Random(1974)
    with at_work() as (server, address, collectors, load, _):
        for number in range(rounds):
            load.run(*collectors, seconds=dice.uniform(0.2, 0.8))
            server.kill()
            time.sleep(dice.uniform(0, 0.2))
            load.stop()
            server.restart()
            look(address, load, f"after kill {number + 1}")
        return finish(address, collectors, load, f"{rounds} rounds of kill -9 of PostgreSQL under two collectors")


def fail_over(short: bool) -> str:
    """Rounds of kill -9 of a primary that every commit waits for its standby of, which becomes the next primary."""
    rounds = 1 if short else 10
    dice = random.Random(1974)
    sent = again = 0
    for _ in range(rounds):
        with running_postgresql() as primary:
            first, load = published(primary)
            with primary.standby() as standby:
                hosts = ",".join(each.socket for each in (primary, standby))
                address = Address(
                    f"postgresql://postgres@/{name_of(first)}?host={hosts}&target_session_attrs=read-write"
                )
                with collecting(address) as (collectors, _):
                    load.run(*collectors, seconds=dice.uniform(0.5, 2))
                    primary.kill()
                    time.sleep(dice.uniform(0, 0.5))
                    standby.promote()
                    time.sleep(dice.uniform(0.5, 2))  # senders go on, and collectors find the next primary
                    load.stop()
                    finish(address, collectors, load, "")
                    sent, again = sent + len(load.sent), again + load.again
    return (
        f"{rounds} fail-overs to a synchronous standby, {sent} reports sent, {again} sent again: "
        "acknowledged and lost 0, counted twice 0, tallies equal a recount"
    )


def both_at_once(short: bool) -> str:
    """Every report to both collectors at once, from 50 senders: each counts once."""
    n, senders = 200 if short else 20_000, 50
    with at_work() as (_, address, collectors, load, _):
        survey = load.surveys[0]
        sent = [randomize(survey, person(number)) for number in range(n)]
        told: Counter[tuple[str, int]] = Counter()
        lock = threading.Lock()

        def send(collector: Collector, mine: slice) -> None:
            pool = urllib3.PoolManager(retries=False, timeout=PATIENCE)
            url = f"{collector.url}/api/v1/surveys/{survey.id}/reports"
            for report in sent[mine]:
                status = 503
                while status in (429, 503):
                    headers = {"Content-Type": "application/json"}
                    status = pool.request("POST", url, body=report.encode(), headers=headers).status
                with lock:
                    told[report.id, status] += 1

        each = senders // COLLECTORS
        threads = [
            threading.Thread(target=send, args=(collector, slice(number, None, each)))
            for number in range(each)
            for collector in collectors
        ]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - started
        assert told == Counter({(report.id, status): 1 for report in sent for status in (200, 201)}), "once each"
        load.sent = {report.id: (survey, report) for report in sent}
        load.acknowledged = set(load.sent)
        look(address, load, "at the end")
    return (
        f"{senders} senders, {COLLECTORS} collectors, the same {n} reports to both at once: each stored once and known "
        f"once, {COLLECTORS * n / seconds:.0f} requests a second; tallies equal a recount"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {
    "postgresql-kill-collector": kill_collector,
    "postgresql-kill-server": kill_server,
    "postgresql-fail-over": fail_over,
    "postgresql-both-at-once": both_at_once,
}

Begin = Callable[[int], Collector]


@contextmanager
def at_work() -> Iterator[tuple[Postgresql, Address, list[Collector], Load, Begin]]:
    """A server, its database with two surveys, collectors over it, senders, and how to begin a collector again."""
    with running_postgresql() as server:
        address, load = published(server)
        with collecting(address) as (collectors, begin):
            yield server, address, collectors, load, begin


def published(server: Postgresql) -> tuple[Address, Load]:
    """A new database with two surveys, and senders of reports to them."""
    survey = read_survey(FIVE_TYPES)
    load = Load([survey, replace(survey, retention="tallies")])
    address = server.new()
    with closing(PostgresqlStore(address)) as store:
        for each in load.surveys:
            store.publish(each)
    return address, load


@contextmanager
def collecting(address: Address) -> Iterator[tuple[list[Collector], Begin]]:
    """Collectors over a database, and how to begin one again."""
    with tempfile.TemporaryDirectory() as folder:

        def begin(number: int) -> Collector:
            return start(address, log=Path(folder) / f"log{number}")

        collectors: list[Collector] = []
        try:
            for number in range(COLLECTORS):
                collectors.append(begin(number))
            yield collectors, begin
        finally:
            for collector in collectors:
                with suppress(AssertionError):  # it has ended already
                    end(collector, signal.SIGKILL)


def look(address: Address, load: Load, when: str) -> None:
    """Compare what is in the database with its checksums, with what was sent and with what was acknowledged."""
    findings = database_at(address).inspect().findings
    assert not findings, f"{when}: {findings}"
    with closing(PostgresqlStore(address)) as store:
        compare(store, load, when)


def finish(address: Address, collectors: list[Collector], load: Load, what: str) -> str:
    """Send again whatever was not acknowledged, stop in good order, and look once more."""
    load.run(*collectors, only_again=True)
    load.stop()
    for collector in collectors:
        end(collector, signal.SIGTERM)
    look(address, load, "at the end")
    counted = sum(collectors[0].reports(each) for each in load.surveys)
    assert len(load.acknowledged) == len(load.sent) == counted, (len(load.sent), counted)
    return (
        f"{what} with {SENDERS} senders, {len(load.sent)} reports sent, {load.again} sent again: "
        "acknowledged and lost 0, counted twice 0, tallies equal a recount each time"
    )
