"""What files, logs and backups hold of who was invited and who has answered."""

from __future__ import annotations

import logging
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deniable import Survey
from deniable.access.invitation import hash_of, new_invitation
from deniable_server.access.tokens import create_token
from deniable_server.store import Verdict, invitations
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.access import (
    Access,
    Purchase,
    ask,
    bought,
    invited_survey,
    key_number,
    post,
    publish,
    publish_to,
    report_for,
    send,
    store_one,
    survey_with,
)
from tools.rig.surveys import Clock
from tools.torture.storage_disk import read_elsewhere


@pytest.mark.slow
@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_nothing_that_is_kept_or_said_holds_a_secret_of_a_person(
    access: Access, http: FlaskClient, store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    survey = survey_with(access)
    publish(store, survey, "ada")
    token = create_token(store, "ada")
    made = [new_invitation() for _ in range(4)]
    hashes = list(map(hash_of, made))
    post(http, survey, "invitations", {"hashes": hashes}, token)
    post(http, survey, "invitations/unused", {"hashes": hashes}, token)
    post(http, survey, "invitations", {"hashes": [made[0]]}, token)
    secrets = list(made)
    for invitation in made[:3]:
        credential = invitation
        if access == "unlinkable":
            purchase = Purchase(survey, invitation)
            signature = ask(http, survey, purchase).json["signature"]
            credential = purchase.token(signature)
            secrets += [purchase.blinded, signature, credential, purchase.nonce.hex()[32:]]
            ask(http, survey, Purchase(survey, invitation))
        assert send(http, survey, report_for(survey, credential)).status_code == 201
        send(http, survey, report_for(survey, credential))
    send(http, survey, replace(report_for(survey, credential), id="0" * 32))
    assert any(record.getMessage() == "operator" for record in caplog.records)
    said = "\n".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    said += http.get("/metrics", headers={"Authorization": f"Bearer {create_token(store, 'p', 'metrics')}"}).text
    said += http.get(f"/api/v1/surveys/{survey.id}/reports.csv").text + http.get(f"/s/{survey.id}/results").text
    for secret in [*secrets, *hashes]:
        assert secret not in said
    store.settle()
    back_up(store.path, store.path.with_name("copy.db"))
    for path in store.path.parent.iterdir():
        content = read_elsewhere(path)
        for secret in secrets:
            assert secret.encode() not in content, path
            assert bytes.fromhex(secret) not in content, path


@pytest.mark.slow
@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_pages_tell_which_invitations_are_used_and_not_in_which_order(
    access: Access, tmp_path: Path, clock: Clock
) -> None:
    """The table of invitations is the same byte for byte whoever came first, and when who was invited."""
    dice = random.Random(7)
    survey = survey_with(access, results="batches")
    made = [f"{dice.getrandbits(128):032x}" for _ in range(600)]
    used = {each: f"{dice.getrandbits(256):064x}" for each in made[:120]}
    pages = []
    for number in range(3):
        with closing(SqliteStore(tmp_path / f"{number}.db", clock)) as store:
            publish(store, survey)
            order = dice.sample(made, len(made))
            store.add_invitations(survey.id, map(hash_of, order[:400]))
            came = dice.sample(sorted(used), len(used))
            for invitation in came[:40]:
                use(store, survey, invitation, used[invitation])
            store.settle()
            store.add_invitations(survey.id, map(hash_of, order))
            for invitation in came:
                use(store, survey, invitation, used[invitation])
            assert store.settle()
            assert store.unused_invitations(survey.id)[:2] == (600, 480)
            pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            assert inspect(store.path).findings == ()
    assert len(pages[0]) > 10
    assert pages[0] == pages[1] == pages[2]


def test_pages_of_many_invitations_tell_no_order_once_the_survey_is_closed(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable_server.store.sqlite.fold.WRITTEN_ANEW_AT_REST", 50)
    dice = random.Random(7)
    survey = invited_survey(results="batches")
    made = [f"{dice.getrandbits(128):032x}" for _ in range(600)]
    open_pages, closed_pages = [], []
    for number in range(2):
        with closing(SqliteStore(tmp_path / f"{number}.db", clock)) as store:
            publish(store, survey)
            order = dice.sample(made, len(made))
            for start in range(0, 600, 40):
                store.add_invitations(survey.id, map(hash_of, order[start : start + 40]))
            assert store.settle()
            open_pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            store.close_survey(survey.id)
            closed_pages.append(leaves_with(read_elsewhere(store.path), [hash_of(each) for each in made]))
            assert inspect(store.path).findings == ()
    assert open_pages[0] != open_pages[1]  # what closing is needed for
    assert closed_pages[0] == closed_pages[1]


def test_invitations_count_where_a_database_is_looked_at_in_little_time(store: SqliteStore) -> None:
    survey = invited_survey()
    publish_to(store, survey, 30)
    assert inspect(store.path, most_rows=29).unread == (survey.id,)
    assert inspect(store.path, most_rows=30).unread == ()


def use(store: SqliteStore, survey: Survey, invitation: str, message: str) -> None:
    """Use an invitation that was added, for a report or for a message."""
    if survey.issuer:
        assert store.issue(survey.id, hash_of(invitation), message) in (
            Verdict.STORED,
            Verdict.KNOWN,
            Verdict.UNINVITED,
        )
    else:
        report = report_for(survey, invitation)
        assert store_one(store, report, survey) in (Verdict.STORED, Verdict.SPENT, Verdict.UNINVITED)


def leaves_with(content: bytes, hashes: list[str]) -> set[bytes]:
    """Pages of tables that hold one of these hashes, and no page but those holds any: each hash stands there once."""
    wanted = [each.encode() for each in hashes]
    found = set()
    for start in range(0, len(content), 4096):
        page = content[start : start + 4096]
        if any(each in page for each in wanted):
            assert page[0] in (2, 10), "a page that is free, or no page of a table without rowids"
            # Of an inner page the numbers of its children say where in the file they are, and nothing else may differ.
            found.add(page if page[0] == 10 else b"".join(each for each in wanted if each in page))
    for each in wanted:
        assert content.count(each) == 1
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE invitations_{0} SET state = '1' WHERE hash = (SELECT max(hash) FROM invitations_{0} WHERE state = '0')",
        "UPDATE invitations_{0} SET state = '0' WHERE hash = (SELECT max(hash) FROM invitations_{0} WHERE state = '1')",
        "DELETE FROM invitations_{0} WHERE hash = (SELECT max(hash) FROM invitations_{0})",
        "INSERT INTO invitations_{0} VALUES ('0', '0')",
    ],
)
def test_change_of_an_invitation_is_found(store: SqliteStore, statement: str) -> None:
    survey = invited_survey()
    for invitation in publish_to(store, survey, 6)[:3]:
        store_one(store, report_for(survey, invitation), survey)
    assert inspect(store.path).findings == ()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute(statement.format(survey.id))
    (finding,) = inspect(store.path).findings
    assert "checksum differs" in finding


def test_more_reports_than_used_invitations_are_found_even_with_a_true_checksum(store: SqliteStore) -> None:
    survey = invited_survey()
    (mine,) = publish_to(store, survey, 1)
    store_one(store, report_for(survey, mine), survey)
    with store._transaction() as db:
        invitations.change(db, survey, {hash_of(mine): "1"}, {hash_of(mine): "0"})
    (finding,) = inspect(store.path).findings
    assert "more or fewer reports than invitations that are used" in finding


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_backup_knows_who_has_answered(access: Access, store: SqliteStore, http: FlaskClient, clock: Clock) -> None:
    survey = survey_with(access)
    mine, yours = publish_to(store, survey, 2)
    credential = mine if access == "invited" else bought(http, survey, mine)
    assert send(http, survey, report_for(survey, credential)).status_code == 201
    copy = store.path.with_name("copy.db")
    assert back_up(store.path, copy).findings == ()
    assert copy.stat().st_mode & 0o077 == 0
    with closing(SqliteStore(copy, clock)) as restored:
        if access == "invited":
            assert store_one(restored, report_for(survey, mine), survey) is Verdict.SPENT
            assert store_one(restored, report_for(survey, yours), survey) is Verdict.STORED
        else:
            assert restored.issue(survey.id, hash_of(mine), "1" * 64) is Verdict.SPENT
            assert restored.issue(survey.id, hash_of(yours), "1" * 64) is Verdict.STORED
            assert restored.signing_key(survey) == key_number(0).pem
