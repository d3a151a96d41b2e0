"""A database that is not there: commands do not make another one, and who makes one says so."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from deniable.errors import DeniableError
from deniable_server.location import Address
from deniable_server.store import open_store
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.postgresql import postgresql
from tests.support.stores import KINDS
from tools.rig.collectors import running_collector
from tools.rig.command_line import CommandLine
from tools.rig.postgresql import Postgresql
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

__all__ = ["postgresql"]

DENIABLE = CommandLine()


@pytest.fixture(params=[pytest.param(kind, marks=() if kind == "sqlite" else pytest.mark.slow) for kind in KINDS])
def nothing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | Address]:
    """The location of a database that is empty or does not exist, of each kind in turn."""
    if request.param == "sqlite":
        yield tmp_path / "new.db"
        return
    server: Postgresql = request.getfixturevalue("postgresql")
    address = server.new()
    try:
        yield address
    finally:
        server.drop(address)


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """The lines of the log about databases, each with the database that it names."""
    return [(record.getMessage(), getattr(record, "details", {}).get("database", "")) for record in caplog.records]


def named(place: Path | Address) -> str:
    return place.url if isinstance(place, Address) else str(place)


def test_only_who_may_make_a_database_makes_one_and_the_log_says_so_once(
    nothing: Path | Address, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "deniable")
    for _ in range(2):  # a refusal leaves nothing that the next one would take for a database
        with pytest.raises(DeniableError, match=r"is empty|does not exist"):
            open_store(nothing, clock, may_make=False)
    assert events(caplog) == []
    with closing(open_store(nothing, clock)) as store:
        assert store.is_new
    assert events(caplog) == [("created a new database", str(nothing))]
    for may_make in (True, False):
        with closing(open_store(nothing, clock, may_make=may_make)) as store:
            assert not store.is_new
    assert len(events(caplog)) == 1


def test_a_token_is_made_where_a_collector_is_and_nowhere_else(nothing: Path | Address, clock: Clock) -> None:
    said = DENIABLE.refused("token", "create", "ada", "--db", named(nothing))
    assert "dn_" not in said
    assert "does not exist" in said or "is empty" in said
    if isinstance(nothing, Address):
        with psycopg.connect(nothing.url) as connection:
            assert connection.execute("SELECT to_regclass('deniable.tokens')").fetchone() == (None,)
    else:
        assert not nothing.exists()
    open_store(nothing, clock).close()
    assert DENIABLE.ok("token", "create", "ada", "--db", named(nothing)).startswith("dn_")


def test_who_publishes_into_a_new_database_hears_it(nothing: Path | Address, tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1), organiser="O"), encoding="utf-8")
    said = f"Created a new database: {nothing}.\n"
    assert said in DENIABLE.run("survey", "publish", file, "--db", named(nothing)).stderr
    assert said not in DENIABLE.run("survey", "publish", file, "--db", named(nothing)).stderr


@pytest.mark.parametrize("content", [b"", None])
def test_a_file_without_tables_is_not_the_database_of_a_collector(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "empty.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DeniableError, match="is empty" if content is not None else "does not exist"):
        SqliteStore(path, may_make=False)
    assert path.exists() == (content is not None)


@pytest.mark.slow
def test_a_collector_whose_database_is_gone_says_in_its_log_that_it_made_a_new_one(tmp_path: Path) -> None:
    database = tmp_path / "test.db"
    for is_new in (True, False):
        with running_collector(tmp_path) as collector:
            printed = collector.log.read_text(encoding="utf-8").splitlines()
        made = [json.loads(line) for line in printed if "created a new database" in line]
        assert [(each["event"], each["level"], each["database"]) for each in made] == (
            [("created a new database", "info", str(database))] if is_new else []
        )
        (said,) = [line for line in printed if line.startswith("Collector on ")]
        assert f"with the {'new ' * is_new}database {database}" in said


@pytest.mark.slow
def test_a_collector_that_migrates_its_database_says_so_in_its_log(tmp_path: Path) -> None:
    database = tmp_path / "test.db"
    SqliteStore(database).close()
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("DELETE FROM _sqlite_migrations WHERE CAST(name AS INTEGER) > 9")
        db.execute("DROP TABLE public_urls")
    with running_collector(tmp_path) as collector:
        printed = collector.log.read_text(encoding="utf-8").splitlines()
    (line,) = [json.loads(each) for each in printed if "database migrated" in each]
    assert (line["from"], line["to"]) == ("9 releases", "11 surveys of tokens")


@pytest.mark.slow
def test_a_collector_with_an_address_that_people_cannot_use_warns_at_its_start(tmp_path: Path) -> None:
    flags = ("--public-url", "http://survey.uni.example/ask")
    with running_collector(tmp_path, *flags) as collector:
        printed = collector.log.read_text(encoding="utf-8")
    assert "Warning: links start with http://survey.uni.example/ask, without TLS" in printed
    assert "below the path /ask pages find neither their script nor their style" in printed
