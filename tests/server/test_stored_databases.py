"""Databases that earlier versions wrote, brought up to date: nothing is lost, and what cannot be read is left alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deniable_server.store import TokenRow, utc_today
from deniable_server.store.database import database_at
from deniable_server.store.sql_store import SqlStore
from tools.rig.command_line import CommandLine

STORED = Path(__file__).parents[1] / "data" / "databases"
DENIABLE = CommandLine()
READ = ["10-public-urls", "9-releases", "8-signing-keys", "7-surveys-of-format-2"]
"""The last four formats that differ from that of this version."""

SAME = "11-surveys-of-tokens"
"""A database of this version's format, with signed releases, that was brought up to date from an earlier one."""


@pytest.fixture
def stored(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "test.db"
    path.write_bytes(gzip.decompress((STORED / f"{request.param}.db.gz").read_bytes()))
    return path


def counted(name: str) -> dict[str, Any]:
    """What the version that wrote a database counted in it."""
    found: dict[str, Any] = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    return found


def found_in(store: SqlStore) -> dict[str, Any]:
    """The same counts, by this version."""
    found = {}
    for state in store.states():
        tallies = store.tallies(state.survey).items()
        about: dict[str, Any] = {
            "tallies": {
                str(cohort): [tally.n, {name: list(n) for name, n in tally.counts.items()}] for cohort, tally in tallies
            }
        }
        if releases := store.releases(state.survey):
            about["releases"] = [
                [row.number, hashlib.sha256(row.record.encode()).hexdigest(), row.signature] for row in releases
            ]
        if state.survey.retention == "reports":
            ids = sorted(report.id for report in store.reports(state.survey))
            about |= {"rows": hashlib.sha256("\n".join(ids).encode()).hexdigest(), "reports": len(ids)}
        found[state.survey.id] = about
    return found


@pytest.mark.parametrize(("stored", "name"), [(name, name) for name in READ], indirect=["stored"], ids=READ)
def test_everything_is_there_after_an_update(stored: Path, name: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(stored)) as db, db:
        db.execute("INSERT INTO tokens VALUES (?, 'rita', 'read', '2099-12-31')", ["a" * 64])
    before = stored.read_bytes()
    for command in (["survey", "list"], ["check"], ["token", "list"]):
        assert "is of an older version" in DENIABLE.refused(*command, "--db", stored)
    assert stored.read_bytes() == before, "a command beside an older collector leaves its file alone"
    assert "of an older version" in DENIABLE.ok("backup", tmp_path / "copy.db", "--db", stored)
    with closing(database_at(stored).open(utc_today, may_update=True)) as store:  # as `deniable serve` does
        assert isinstance(store, SqlStore)
        assert found_in(store) == counted(name)
        assert sorted(sum(store.waiting(state.survey).values()) for state in store.states()) == [0, 20]
        assert sum(state.reports for state in store.states()) == 200 + 220
        assert store.tokens() == [TokenRow("a" * 64, "rita", "read", "2099-12-31", "")], "which reads all surveys"
    assert re.search(r"sound, 2 surveys, 420 released reports", DENIABLE.ok("check", "--db", stored))
    listed = DENIABLE.ok("survey", "list", "--db", stored)
    assert (listed.count("  open  "), listed.count("  closed  ")) == (1, 1)


@pytest.mark.parametrize("stored", ["6-agenda-calendar"], indirect=True)
def test_surveys_of_an_older_format_are_refused_and_left_as_they_are(stored: Path) -> None:
    before = stored.read_bytes()
    said = DENIABLE.refused("serve", "--db", stored, "--port", 18643)
    assert "is of format 1; this version reads format 2" in said
    assert stored.read_bytes() == before


@pytest.mark.parametrize("stored", READ, indirect=True)
def test_commands_leave_the_file_of_a_running_older_collector_alone(stored: Path) -> None:
    """The older collector has the file open, writes before and after, and finds its tables as they were."""
    with closing(sqlite3.connect(stored, isolation_level=None)) as older:
        tables = older.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        migrations = older.execute("SELECT * FROM _sqlite_migrations").fetchall()
        older.execute("UPDATE totals SET n = n + 1")
        for command in (["survey", "list"], ["check"], ["token", "list"]):
            assert "is of an older version" in DENIABLE.refused(*command, "--db", stored)
        older.execute("UPDATE totals SET n = n - 1")
        assert older.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall() == tables
        assert older.execute("SELECT * FROM _sqlite_migrations").fetchall() == migrations


@pytest.mark.parametrize("stored", [SAME], indirect=True)
def test_a_database_of_the_same_format_is_read_as_it_is(stored: Path) -> None:
    listed = DENIABLE.ok("survey", "list", "--db", stored)
    assert (listed.count("  open  "), listed.count("  closed  ")) == (1, 1)
    assert re.search(r"sound, 2 surveys, 420 released reports, 20 waiting", DENIABLE.ok("check", "--db", stored))
    with closing(database_at(stored).open(utc_today)) as store:
        assert isinstance(store, SqlStore)
        assert found_in(store) == counted(SAME)
        first = store.states()[0].survey.id
        assert [(row.name, row.scope, row.surveys) for row in store.tokens()] == [
            ("ada", "read", ""),
            ("rita", "read", first),
        ]
