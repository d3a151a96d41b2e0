"""Flipped bits and lost disks: every flip that changes a row is found, and a backup holds every row."""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from deniable import Survey, read_survey
from deniable.errors import DeniableError
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.command_line import run_cli
from tools.rig.surveys import FIVE_TYPES, person

SURVEY = replace(read_survey(FIVE_TYPES), cohorts=("paper", "web"))


def flips(short: bool) -> str:
    """Flip one bit at a time anywhere in a database, and compare what SQLite then reads with what `inspect` says."""
    wanted = 12 if short else 200
    dice = random.Random(1948)
    with tempfile.TemporaryDirectory() as folder:
        path = fill(Path(folder) / "test.db", people=300 if short else 1000)
        whole = path.read_bytes()
        before = everything(path)
        assert before is not None
        assert inspect(path).findings == ()
        tried = changed = found = 0
        while changed < wanted:
            bit = dice.randrange(8 * len(whole))
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            tried += 1
            if everything(path) != before:
                changed += 1
                found += is_found(path)
                assert found == changed, f"a flip of bit {bit % 8} of byte {bit // 8} changed a row and was not found"
        path.write_bytes(whole)
        assert inspect(path).findings == ()
    return f"{tried} bits flipped in {len(whole)} bytes, {changed} of them changed a row, {found} of those found"


def restore(short: bool) -> str:
    """Back up while reports come in, lose the disk, restore, and send everything again."""
    sent = [randomize(SURVEY, person(n), "web") for n in range(600 if short else 20_000)]
    with tempfile.TemporaryDirectory() as folder:
        lost, copy = Path(folder) / "lost.db", Path(folder) / "copy.db"
        with closing(SqliteStore(lost)) as store:
            store.publish(SURVEY)
            store.store_reports([(SURVEY, sent[: len(sent) // 2])])
            store.settle()
            stop = threading.Event()
            acknowledged = list(sent[: len(sent) // 2])

            def go_on() -> None:
                with closing(SqliteStore(lost)) as other:
                    for report in sent[len(sent) // 2 :]:
                        if stop.is_set():
                            return
                        other.store_reports([(SURVEY, [report])])
                        acknowledged.append(report)

            writer = threading.Thread(target=go_on)
            writer.start()
            while len(acknowledged) < len(sent) // 2 + 50:
                time.sleep(0.001)
            backed_up_from = len(acknowledged)
            back_up(lost, copy)
            stop.set()
            writer.join()
        os.remove(lost)
        checked = run_cli("check", "--db", str(copy))
        assert checked.returncode == 0, checked.stderr
        copy.rename(lost)
        with closing(SqliteStore(lost)) as store:
            restored = {report.id: report for report in store.reports(SURVEY)}
            assert backed_up_from <= len(restored) <= len(acknowledged)
            assert all(restored[report.id] == report for report in acknowledged[: len(restored)])
            (again,) = store.store_reports([(SURVEY, sent)])
            assert [outcome.value for outcome in again].count("known") == len(restored)
            assert store.state(SURVEY.id).reports == len(sent)
            store.settle()
        assert inspect(lost).findings == ()
    return (
        f"{len(restored)} rows in a backup of {backed_up_from} to {len(acknowledged)} acknowledged while it ran, all "
        "restored, checksum equal, 0 counted twice afterwards"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"flips": flips, "restore": restore}


def fill(path: Path, people: int) -> Path:
    """A database with a survey of either retention, folded and pending reports, and tokens."""
    surveys: list[Survey] = [SURVEY, replace(SURVEY, retention="tallies")]
    with closing(SqliteStore(path)) as store:
        for survey in surveys:
            store.publish(survey, "ada")
            for some in (people, 50):  # the second lot stays pending
                cohorts = (None, *survey.cohorts)
                reports = [randomize(survey, person(n), cohorts[n % 3]) for n in range(some)]
                store.store_reports([(survey, reports)])
                store.settle()
        create_token(store, "ada")
        create_token(store, "grace", days=30)
    return path


def everything(path: Path) -> dict[str, list[str]] | None:
    """Every row of every table as SQLite reads them, or None when it cannot."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            queries = {table: f"SELECT * FROM [{table}]" for table in tables}
            queries["sqlite_master"] = "SELECT type, name, tbl_name, sql FROM sqlite_master"  # not where its pages are
            return {table: sorted(map(repr, connection.execute(query))) for table, query in queries.items()}
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def is_found(path: Path) -> bool:
    """Whether somebody who checks a database learns that something is wrong."""
    try:
        return bool(inspect(path).findings)
    except DeniableError:
        return True
