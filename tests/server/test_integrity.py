"""Databases that are not what was written, copies of databases, and databases of other versions."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlite_utils import Database

from deniable import DeniableError, Report, Survey, address, tally_reports
from deniable_commands.main import main
from deniable_server.access.tokens import create_token, find_token, revoke_token
from deniable_server.store import StoreDamaged, StoreFull, StoreUnavailable, Verdict, counts
from deniable_server.store.integrity import refuse_damaged
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.errors import in_our_words
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import free_port
from tools.rig.command_line import run_cli
from tools.torture import storage_damage


def report(number: int, cohort: str | None = None) -> Report:
    return Report(f"{number * 7919:032x}", cohort, {"affair": number % 2, "religious": number % 4})


@pytest.fixture
def filled(tmp_path: Path, survey: Survey) -> Path:
    """A database with folded and pending reports of a survey that keeps rows and of one that does not."""
    path = tmp_path / "filled.db"
    with closing(SqliteStore(path, lambda: survey.opens)) as store:  # type: ignore[arg-type,return-value]  # it has a day
        for each in (survey, replace(survey, retention="tallies")):
            store.publish(each, "ada")
            store.store_reports([(each, [report(n, "web") for n in range(300)])])
            store.settle()
            store.store_reports([(each, list(map(report, range(300, 320))))])
        store.settle()
        create_token(store, "ada")
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def deniable(*arguments: str) -> Result:
    """A command in this process; an error that is no sentence is raised here."""
    done = CliRunner().invoke(main, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_sound_database_has_no_finding(filled: Path) -> None:
    inspection = inspect(filled)
    assert (inspection.surveys, inspection.reports, inspection.findings) == (2, 640, ())


def test_checksum_can_be_computed_by_anybody(filled: Path, survey: Survey) -> None:
    """From the documented form of rows, without a line of the store."""
    with closing(sqlite3.connect(filled)) as connection:
        rows = [["survey", *connection.execute("SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id])
                 .fetchone()]]  # fmt: skip
        rows += [
            ["owner", *row] for row in connection.execute("SELECT token FROM owners WHERE survey = ?", [survey.id])
        ]
        rows += [
            ["total", *row] for row in connection.execute("SELECT cohort, n FROM totals WHERE survey = ?", [survey.id])
        ]
        tallies = "SELECT cohort, question, option, n FROM tallies WHERE survey = ?"
        rows += [["tally", *row] for row in connection.execute(tallies, [survey.id])]
        for table in ("pending", "reports"):
            rows += [["report", *row] for row in connection.execute(f"SELECT * FROM {table}_{survey.id}")]
        (stored,) = connection.execute("SELECT checksum FROM checksums WHERE survey = ?", [survey.id]).fetchone()
    found = 0
    for row in rows:
        found ^= int(hashlib.sha256(ascii((survey.id, *row)).encode()).hexdigest(), 16)
    assert stored == f"{found:064x}"


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE reports_{0} SET religious = (religious + 1) % 4 WHERE id = (SELECT max(id) FROM reports_{0})", "rows"),
        ("UPDATE reports_{0} SET cohort = NULL WHERE id = (SELECT max(id) FROM reports_{0})", "rows"),
        ("DELETE FROM reports_{0} WHERE id = (SELECT max(id) FROM reports_{0})", "rows"),
        ("INSERT INTO reports_{0} VALUES ('" + "f" * 32 + "', NULL, 1, 1)", "rows"),
        ("DELETE FROM pending_{0}", "rows"),
        ("UPDATE pending_{0} SET affair = 1 - affair", "rows"),
        ("UPDATE tallies SET n = n + 1 WHERE survey = '{0}' AND option = 1", "rows"),
        ("UPDATE totals SET n = n - 1 WHERE survey = '{0}'", "rows"),
        ("UPDATE surveys SET closed_on = '2026-12-01' WHERE id = '{0}'", "rows"),
        ("UPDATE surveys SET published_on = '2025-12-01' WHERE id = '{0}'", "rows"),
        ("UPDATE surveys SET document = CAST(document || ' ' AS BLOB) WHERE id = '{0}'", "document"),
        ("DELETE FROM checksums WHERE survey = '{0}'", "rows"),
        ("UPDATE checksums SET checksum = 'x' WHERE survey = '{0}'", "rows"),
        ("UPDATE owners SET token = 'grace' WHERE survey = '{0}'", "rows"),
        ("DELETE FROM owners", "rows"),
        ("INSERT INTO public_urls VALUES ('{0}', 'https://elsewhere.example')", "rows"),
        ("DELETE FROM tokens_copy", "tokens: a row differs"),
        ("UPDATE _sqlite_migrations SET applied_at = 'now'", "_sqlite_migrations"),
        ("DROP TRIGGER tokens_added", "tokens_added: is not defined"),
        ("ALTER TABLE reports_{0} RENAME COLUMN affair TO other", "is not defined"),
        ("INSERT INTO totals VALUES ('nobody', '', 1)", "names no survey"),
        ("DROP TABLE pending_{0}", "no such table"),
    ],
)
def test_every_change_is_found(filled: Path, survey: Survey, statement: str, finding: str) -> None:
    change(filled, statement.format(survey.id))
    inspection = inspect(filled)
    assert any(finding in each for each in inspection.findings), inspection.findings
    with pytest.raises(StoreDamaged, match="is damaged"):
        refuse_damaged(filled, inspect(filled))


def test_tallies_that_are_no_recount_are_found_even_with_a_true_checksum(filled: Path, survey: Survey) -> None:
    with closing(SqliteStore(filled)) as store:
        counted = tally_reports([report(1)], survey)
        with store._transaction() as db:
            counts.add(db, survey, counted)
    assert inspect(filled).findings == (f"survey {survey.id}: its tallies are not a recount of its reports",)


def test_tokens_have_a_second_copy_that_follows_them(store: SqliteStore) -> None:
    token = create_token(store, "ada")
    create_token(store, "grace")
    revoke_token(store, "grace")
    store.db.execute("UPDATE tokens SET expires_on = '2030-01-01'")
    assert [each.name for each in store.tokens()] == ["ada"]
    assert find_token(store, token, "publish")
    assert inspect(store.path).findings == ()


def test_only_small_surveys_are_looked_at_when_there_is_little_time(filled: Path, survey: Survey) -> None:
    inspection = inspect(filled, most_rows=400)
    assert (inspection.surveys, inspection.reports, len(inspection.unread)) == (1, 320, 1)


@pytest.mark.slow
def test_check_says_what_it_found(filled: Path, survey: Survey) -> None:
    done = run_cli("check", "--db", str(filled))
    assert (done.returncode, done.stdout) == (
        0,
        f"{filled}: sound, 2 surveys, 640 released reports\n",
    )
    change(filled, f"DELETE FROM pending_{survey.id}")
    again = deniable("check", "--db", str(filled))
    assert again.exit_code == 1
    assert "its rows are not those that were written" in again.stdout
    assert "put a backup in its place" in again.stderr


def test_serve_refuses_a_damaged_database(filled: Path, survey: Survey) -> None:
    change(filled, f"DELETE FROM pending_{survey.id}")
    done = deniable("serve", "--port", str(free_port()), "--db", str(filled))
    assert done.exit_code == 1
    assert "is damaged" in done.stderr


def test_torn_file_is_one_sentence(filled: Path) -> None:
    filled.write_bytes(filled.read_bytes()[:9000])
    for command in (("check",), ("serve", "--port", str(free_port()))):
        done = deniable(*command, "--db", str(filled))
        assert done.exit_code == 1
        assert "database disk image is malformed" in done.output


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFull),
        (sqlite3.SQLITE_CORRUPT, StoreDamaged),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreDamaged),
        (sqlite3.SQLITE_NOTADB, StoreDamaged),
        (sqlite3.SQLITE_BUSY, StoreUnavailable),
        (sqlite3.SQLITE_IOERR_READ, StoreUnavailable),
    ],
)
def test_what_sqlite_says_in_our_words(code: int, error: type[Exception]) -> None:
    problem = sqlite3.OperationalError("words")
    problem.sqlite_errorcode, problem.sqlite_errorname = code, "NAME"
    with pytest.raises(error), in_our_words(Path("test.db")):
        raise problem


def test_backup_holds_everything_and_never_overwrites(filled: Path, tmp_path: Path, survey: Survey) -> None:
    copy = tmp_path / "copy.db"
    done = deniable("backup", str(copy), "--db", str(filled))
    assert (done.exit_code, done.stdout) == (0, f"{copy}: 2 surveys, 640 released reports\n")
    assert copy.stat().st_mode & 0o077 == 0
    assert storage_damage.everything(copy) == storage_damage.everything(filled)
    assert list(tmp_path.glob("*.part")) == []
    with pytest.raises(DeniableError, match="must be a new file"):
        back_up(filled, copy)


def test_no_backup_of_a_damaged_database_and_none_where_it_cannot_be(
    filled: Path, tmp_path: Path, survey: Survey
) -> None:
    with pytest.raises(DeniableError, match="cannot be written: No such file or directory"):
        back_up(filled, tmp_path / "missing" / "copy.db")
    change(filled, f"DELETE FROM pending_{survey.id}")
    with pytest.raises(StoreDamaged, match="there is no backup of it"):
        back_up(filled, tmp_path / "copy.db")
    assert list(tmp_path.glob("copy*")) == []


FIRST_VERSION = """
CREATE TABLE surveys (
    id TEXT PRIMARY KEY,
    document BLOB NOT NULL,
    published_on TEXT NOT NULL,
    closed_on TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE totals (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort)
) STRICT, WITHOUT ROWID;

CREATE TABLE tallies (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    question TEXT NOT NULL,
    option INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort, question, option)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    expires_on TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
"""What collectors made before there were migrations."""


def test_database_of_the_first_version_keeps_everything(tmp_path: Path, survey: Survey) -> None:
    path = tmp_path / "old.db"
    sent = [report(n, "web" if n % 3 else None) for n in range(400)]
    with closing(sqlite3.connect(path)) as old:
        old.executescript(
            FIRST_VERSION + f"CREATE TABLE reports_{survey.id} "
            "(id TEXT PRIMARY KEY, cohort TEXT, [affair] INTEGER NOT NULL, [religious] INTEGER NOT NULL) "
            "STRICT, WITHOUT ROWID"
        )
        old.execute("INSERT INTO surveys VALUES (?, ?, '2026-11-20', NULL)", [survey.id, survey.document])
        rows = [(each.id, each.cohort, *each.values.values()) for each in sent]
        old.executemany(f"INSERT INTO reports_{survey.id} VALUES (?, ?, ?, ?)", rows)
        for cohort, tally in tally_reports(sent, survey).items():
            old.execute("INSERT INTO totals VALUES (?, ?, ?)", [survey.id, cohort or "", tally.n])
            for question, counted in tally.counts.items():
                cells = [(survey.id, cohort or "", question, option, n) for option, n in enumerate(counted)]
                old.executemany("INSERT INTO tallies VALUES (?, ?, ?, ?, ?)", cells)
        old.execute("INSERT INTO tokens VALUES ('aa', 'ada', 'publish', '2027-01-01')")
        old.commit()
    with pytest.raises(DeniableError, match="is of an older version; 'deniable serve' brings it up to date"):
        inspect(path)
    day = survey.opens
    assert day is not None
    with closing(SqliteStore(path, lambda: day, may_update=True)) as store:
        assert list(store.reports(survey)) == sorted(sent, key=lambda each: each.id)
        assert store.tallies(survey) == tally_reports(sent, survey)
        assert [each.name for each in store.tokens()] == ["ada"]
        assert store.store_reports([(survey, [sent[0], report(1000)])]) == [[Verdict.KNOWN, Verdict.STORED]]
    assert inspect(path).findings == ()
    with closing(SqliteStore(path)) as again:
        assert again.state(survey.id).reports == 401


def test_update_that_fails_leaves_the_old_version(tmp_path: Path, survey: Survey) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FIRST_VERSION)
        old.execute("INSERT INTO surveys VALUES (?, x'00', '2026-11-20', NULL)", [survey.id])
        old.commit()
    with pytest.raises(DeniableError):
        SqliteStore(path, may_update=True)
    with closing(sqlite3.connect(path)) as old:
        assert Database(old).table_names() == ["surveys", "totals", "tallies", "tokens"]


@pytest.mark.parametrize("first", [True, False])
def test_database_with_surveys_of_format_1_is_refused_and_left_as_it_is(
    filled: Path, tmp_path: Path, survey: Survey, first: bool
) -> None:
    document = survey.document.replace(b'"deniable":2', b'"deniable":1')
    older = address(document)
    path = tmp_path / "first.db" if first else filled
    with closing(sqlite3.connect(path)) as db, db:
        if first:  # before there were migrations
            db.executescript(FIRST_VERSION)
        else:
            db.execute("DELETE FROM _sqlite_migrations WHERE name = '7 surveys of format 2'")
        db.execute("INSERT INTO surveys VALUES (?, ?, '2026-11-20', NULL)", [older, document])
    before = content_of(path)
    refusal = (
        f"database .*: must hold surveys that this version reads, got {older}: survey: is of format 1; .* It was left "
        "as it is: close its surveys and take their results with the version that wrote it, and begin another file"
    )
    for attempt in (SqliteStore, inspect):
        with pytest.raises(DeniableError, match=refusal):
            attempt(path)
    with pytest.raises(DeniableError, match=refusal):
        back_up(path, tmp_path / "copy.db")
    done = deniable("serve", "--port", str(free_port()), "--db", str(path))
    assert (done.exit_code, done.stderr.count("is of format 1; this version reads format 2")) == (1, 1)
    assert content_of(path) == before


def content_of(path: Path) -> list[str]:
    """Everything that a database holds, as SQL."""
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def test_database_of_a_newer_version_is_refused(filled: Path, tmp_path: Path) -> None:
    row = "INSERT INTO _sqlite_migrations VALUES (99, 'deniable', '9 sealed reports', '')"
    change(filled, row)
    before = filled.read_bytes()
    for attempt in (SqliteStore, inspect):
        with pytest.raises(DeniableError, match="which a newer version wrote; use that version"):
            attempt(filled)
    assert filled.read_bytes() == before
    done = deniable("serve", "--port", str(free_port()), "--db", str(filled))
    assert (done.exit_code, done.stderr.count("9 sealed reports")) == (1, 1)


@pytest.mark.parametrize("name", [os.fsdecode(b"b\xff.db"), "a b%41?#.db"])
def test_whatever_a_file_is_called_it_can_be_looked_at(filled: Path, name: str) -> None:
    odd = filled.rename(filled.with_name(name))
    for path in (odd, Path(f"/{odd}")):
        assert inspect(path).findings == ()


def test_checking_changes_nothing(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "same.db"
    shutil.copy(filled, copy)
    inspect(filled)
    assert filled.read_bytes() == copy.read_bytes()


@pytest.mark.slow
def test_every_flipped_bit_that_changes_a_row_is_found() -> None:
    storage_damage.flips(short=True)


@pytest.mark.slow
def test_restored_backup_has_every_row() -> None:
    storage_damage.restore(short=True)
