"""Databases of an older version: only a collector that has one to itself brings it up to date."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deniable import Report, Survey
from deniable_server.store import open_store
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import running_collector
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE

DENIABLE = CommandLine()

REFUSAL = (
    "is of an older version; 'deniable serve' brings it up to date: back it up, stop the collector that serves it, and "
    "start 'deniable serve' of this version once"
)


def report(number: int) -> Report:
    return Report(f"{number * 7919:032x}", "web", {"affair": number % 2, "religious": number % 4})


@pytest.fixture
def older(tmp_path: Path, survey: Survey) -> Path:
    """A file as a collector wrote it that knew no signing keys."""
    path = tmp_path / "test.db"
    with closing(SqliteStore(path, lambda: survey.opens)) as store:  # type: ignore[arg-type,return-value]  # it has a day
        store.publish(survey)
        store.store_reports([(survey, [report(n) for n in range(230)])])
        store.settle()
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("signing_keys", "releases", "release_keys"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM _sqlite_migrations WHERE name IN ('8 signing keys', '9 releases')")
    return path


def content_of(path: Path) -> list[str]:
    """Everything that a database holds, as SQL: a copy has it in another order."""
    with closing(sqlite3.connect(path)) as db:
        return sorted(db.iterdump())


OLDER_COLLECTOR = """
import fcntl, sqlite3, sys
lock = open(sys.argv[1] + "-lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
print("serves", flush=True)
for line in sys.stdin:
    db.execute("INSERT INTO pending_" + sys.argv[2] + " VALUES (?, 'web', 1, 1)", [line.strip()])
    print("stored", flush=True)
"""
"""What an older collector does with its file: it holds the lock and stores reports in the tables that it knows."""


@contextmanager
def older_collector(path: Path, survey: Survey) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OLDER_COLLECTOR, str(path), survey.id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "serves\n"
        yield process
    finally:
        process.communicate(timeout=PATIENCE)


def every_command(path: Path, survey: Survey, folder: Path) -> list[tuple[object, ...]]:
    """Every command that opens a database, but for the collector and the backup."""
    file = folder / "survey.toml"
    file.write_text('title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n')
    here = ("--db", path)
    return [
        ("survey", "list", *here),
        ("survey", "publish", file, *here),
        ("survey", "close", survey.id, *here),
        ("estimate", survey.id, *here),
        ("export", survey.id, *here, "--to", folder / "reports.csv"),
        ("export", survey.id, *here, "--to", folder / "parts", "--format", "csv"),
        ("token", "create", "ada", *here),
        ("token", "list", *here),
        ("token", "revoke", "ada", *here),
        ("invite", "unused", survey.id, *here),
        ("issuer", "key", *here),
        ("issuer", "reissue", survey.id, "-n", 1, *here),
        ("check", *here),
        ("copy", path, folder / "copied.db"),
    ]


def test_no_command_brings_an_older_file_up_to_date(older: Path, survey: Survey, tmp_path: Path) -> None:
    before = content_of(older)
    for arguments in every_command(older, survey, tmp_path):
        assert REFUSAL in DENIABLE.refused(*arguments), arguments
        assert content_of(older) == before, arguments


def test_a_collector_that_migrates_a_file_logs_from_what_to_what(older: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(sqlite3.connect(older)) as db, db:
        db.execute("DELETE FROM _sqlite_migrations WHERE CAST(name AS INTEGER) > 9")
        db.execute("DROP TABLE public_urls")
        (last,) = db.execute("SELECT name FROM _sqlite_migrations ORDER BY id DESC LIMIT 1").fetchone()
    caplog.set_level("INFO", "deniable")
    for _ in range(2):  # the second time there is nothing to do
        SqliteStore(older, may_update=True).close()
    (line,) = [record for record in caplog.records if record.getMessage() == "database migrated"]
    assert line.details["database"] == str(older)  # type: ignore[attr-defined]  # given as extra
    assert line.details["from"] == last  # type: ignore[attr-defined]
    assert int(line.details["to"].split()[0]) > int(last.split()[0])  # type: ignore[attr-defined]


def test_an_older_file_is_backed_up_as_it_is(older: Path, tmp_path: Path) -> None:
    before = content_of(older)
    said = DENIABLE.ok("backup", tmp_path / "copy.db", "--db", older)
    assert "1 survey, 230 released reports; of an older version, so their checksums were not compared" in said
    assert content_of(tmp_path / "copy.db") == content_of(older) == before


def test_a_damaged_older_file_has_no_backup(older: Path, tmp_path: Path) -> None:
    with older.open("r+b") as file:
        file.seek(-2048, 2)
        file.write(b"\xff" * 2048)
    assert "is damaged" in DENIABLE.refused("backup", tmp_path / "copy.db", "--db", older)
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.slow
def test_a_running_older_collector_keeps_its_file_to_itself(older: Path, survey: Survey, tmp_path: Path) -> None:
    before = content_of(older)
    with older_collector(older, survey) as process:
        for arguments in every_command(older, survey, tmp_path):
            sentence = DENIABLE.refused(*arguments)
            assert REFUSAL in sentence or "must be served by one collector" in sentence, arguments
        assert "another one serves it; stop that one first" in DENIABLE.refused("serve", "--db", older, "--port", 18642)
        assert content_of(older) == before
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{report(1000).id}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "stored\n"
    change = [line for line in content_of(older) if line not in before]
    assert len(change) == 1, "the older collector's report, and nothing of ours"
    with closing(sqlite3.connect(older)) as db, db:  # its checksum is not simulated above
        db.execute(f"DELETE FROM pending_{survey.id} WHERE id = ?", [report(1000).id])
    with running_collector(tmp_path) as collector:
        assert collector.reports(survey) == 230
        assert "sound, 1 survey, 230 released reports" in DENIABLE.ok("check", "--db", older)


def test_a_new_file_is_made_by_a_command_that_may_come_first(tmp_path: Path) -> None:
    assert "[issuer]" in DENIABLE.ok("issuer", "key", "--db", tmp_path / "new.db")
    with closing(open_store(tmp_path / "new.db", may_make=False)) as store:
        assert store.tokens() == []
