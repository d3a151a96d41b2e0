"""What commands that change a database leave in the operators' log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from deniable import read_survey
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

DENIABLE = CommandLine()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_LOG", str(tmp_path / "operators.log"))
    monkeypatch.setenv("SUDO_USER", "ada")
    return tmp_path / "operators.log"


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_every_command_that_changes_a_database_leaves_a_line(log: Path, tmp_path: Path) -> None:
    file, database, other = tmp_path / "survey.toml", tmp_path / "test.db", tmp_path / "other.db"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1), access="invited"), encoding="utf-8")
    survey, here = read_survey(file.read_bytes()).id, ("--db", database)
    DENIABLE.ok("survey", "publish", file, *here)
    token = DENIABLE.ok("token", "create", "clerk", *here).strip()
    links = DENIABLE.ok("invite", survey, "-n", 3, *here)
    DENIABLE.ok("token", "revoke", "clerk", *here)
    DENIABLE.refused("token", "revoke", "nobody", *here)
    DENIABLE.ok("issuer", "key", *here)
    DENIABLE.ok("survey", "close", survey, *here)
    DENIABLE.ok("copy", database, other)
    for reading in (
        ["survey", "list"],
        ["token", "list"],
        ["check"],
        ["estimate", survey],
        ["invite", "unused", survey],
    ):
        DENIABLE.ok(*reading, *here)
    found = lines(log)
    about = [{key: each[key] for key in each.keys() - {"time", "level", "event", "user", "database"}} for each in found]
    assert about == [
        {"call": "publish_survey", "survey": survey, "outcome": "done"},
        {"call": "create_token", "token": "clerk", "scope": "publish", "days": 90, "outcome": "done"},
        {"call": "add_invitations", "survey": survey, "invitations": 3, "outcome": "done"},
        {"call": "revoke_token", "token": "clerk", "outcome": "done"},
        {"call": "revoke_token", "token": "nobody", "outcome": "failed"},
        {"call": "issuer_key", "outcome": "done"},
        {"call": "close_survey", "survey": survey, "outcome": "done"},
        {"call": "copy", "source": str(database), "outcome": "done"},
    ]
    assert {(each["event"], each["level"], each["user"]) for each in found} == {("operator", "info", "ada")}
    assert [each["database"] for each in found] == [str(database)] * 7 + [str(other)]
    written = log.read_text(encoding="utf-8")
    assert token not in written
    assert "invitation=" not in written
    assert not any(link.rpartition("=")[2] in written for link in links.split() if "http" in link)
    assert log.stat().st_mode & 0o777 == 0o600


def test_lines_go_to_standard_error_unless_it_is_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_LOG", raising=False)
    SqliteStore(tmp_path / "test.db").close()
    done = DENIABLE.run("token", "create", "ada", "--db", tmp_path / "test.db")
    assert done.stdout.startswith("dn_")
    assert json.loads(done.stderr)["call"] == "create_token"


def test_nothing_is_changed_where_the_log_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_LOG", str(tmp_path / "nowhere" / "operators.log"))
    sentence = DENIABLE.refused("issuer", "key", "--db", tmp_path / "test.db")
    assert sentence == f"Error: DENIABLE_LOG: must be a file that can be written, got: {os.strerror(2)}\n"
    assert not (tmp_path / "test.db").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file on a full disk, as Linux has it")
def test_a_log_whose_disk_is_full_does_not_hide_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = ("--db", tmp_path / "test.db")
    SqliteStore(tmp_path / "test.db").close()
    DENIABLE.ok("token", "create", "ada", *here)
    monkeypatch.setenv("DENIABLE_LOG", "/dev/full")
    for outcome in ("was done all the same", "failed, too"):  # the second time there is nothing to revoke
        sentence = DENIABLE.refused("token", "revoke", "ada", *here)
        assert sentence.endswith(f"got: {os.strerror(28)}; revoke_token {outcome}\n")
