"""Sealing: the standard's vectors, the keys in their folder, and their end."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from apiflask import APIFlask
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from deniable import Report, ReportError, Survey, SurveyClosed, SurveyError, parse_survey
from deniable.survey.sealed import LATE_DAYS, WEEK, Sealed
from deniable_client.sealing import seal
from deniable_server.app import create_app
from deniable_server.sealing import KeysMissing, SealingKeys
from deniable_server.settings import Settings
from deniable_server.store.errors import StoreReplaced
from deniable_server.web.sealed import destroy_old_keys
from tests.support.vectors import vectors
from tools.rig.access import survey_with
from tools.rig.command_line import CommandLine
from tools.rig.in_process import ended
from tools.rig.places import FIRST, sealed_survey
from tools.rig.surveys import TODAY, Clock

PLACES = json.loads((Path(__file__).parents[1] / "data" / "place_origins.json").read_text(encoding="utf-8"))
"""Origins of places that both clients take, and those that both refuse."""


@pytest.mark.parametrize("vector", vectors("standards/hpke")["hpke"], ids=lambda vector: str(vector["name"]))
def test_the_library_opens_as_the_standard_says(vector: dict[str, Any]) -> None:
    raw = {name: bytes.fromhex(text) for name, text in vector.items() if name not in ("name", "exports")}
    key, nonce = AESGCM(raw["key"]), raw["base_nonce"]
    assert key.encrypt(nonce, raw["pt"], raw["aad"]) == raw["ct"]
    # The library has no associated data, and neither have our messages: the vector's key and nonce without it.
    ours = key.encrypt(nonce, raw["pt"], None)
    is_x25519 = len(raw["pkRm"]) == 32
    private = (
        X25519PrivateKey.from_private_bytes(raw["skRm"])
        if is_x25519
        else derive_private_key(int.from_bytes(raw["skRm"]), SECP256R1())
    )
    suite = Suite(KEM.X25519 if is_x25519 else KEM.P256, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
    assert suite.decrypt(raw["pkEm"] + ours, private, raw["info"]) == raw["pt"]


def test_a_sealed_survey_keeps_its_bytes_and_one_without_keeps_its_address(tmp_path: Path, survey: Survey) -> None:
    assert b"sealed" not in survey.document
    sealed = sealed_survey(tmp_path, survey)
    assert parse_survey(sealed.document, sealed.id) == sealed
    assert (
        replace(sealed, sealed=None, places=()).document == replace(survey, opens=None, closes=sealed.closes).document
    )
    assert sealed.sealed
    assert sealed.longest_report <= sealed.sealed.size


@pytest.mark.parametrize("access", ["open", "invited", "unlinkable"])
def test_no_report_is_longer_than_the_longest(survey: Survey, access: str, tmp_path: Path) -> None:
    asked = survey if access == "open" else survey_with(access)  # type: ignore[arg-type]
    credential = asked.tokens.token(bytes(32), bytes(256)) if asked.tokens else "ab" * 16 if access != "open" else None
    assert sealed_survey(tmp_path, asked).longest_report == asked.longest_report
    reports = [
        Report("f" * 32, cohort, {"affair": 1, "religious": 3}, credential).encode()
        for cohort in (None, "paper", "web")
    ]
    assert max(map(len, reports)) == asked.longest_report


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path)
    assert survey.sealed
    for change, message in (
        ({"sealed": None}, "place: needs a table"),
        ({"closes": None}, "closes: must be there"),
        ({"closes": survey.sealed.last + WEEK}, "closes: must be there, and at most"),
        ({"opens": FIRST - WEEK}, "opens: must be at least"),
    ):
        with pytest.raises(SurveyError, match=message):
            replace(survey, **change)
    for keys, size in (((), 64), (("00",), 64), (("00" * 32,), 63), (("00" * 32, "00" * 32), 64)):
        with pytest.raises(SurveyError, match="sealed"):
            Sealed(FIRST, keys, size)


def test_places_are_origins_as_browsers_write_them(tmp_path: Path) -> None:
    """`tests/web/sealed.test.js` goes through the same addresses."""
    survey = sealed_survey(tmp_path)
    for place in PLACES["valid"]:
        assert replace(survey, places=(place,)).places == (place,)
    for place, message in PLACES["refused"].items():
        with pytest.raises(SurveyError, match=f"^place: {message}"):
            replace(survey, places=(place,))


@pytest.mark.parametrize("kind", ["p256", "x25519"])
def test_a_key_opens_what_was_sealed_to_it_for_its_survey(tmp_path: Path, kind: str) -> None:
    survey, other = (sealed_survey(tmp_path, places=places, kind=kind) for places in ((), ("https://a.example",)))
    keys = SealingKeys(tmp_path)
    message = seal(survey, b"{}", TODAY + WEEK)
    assert message[0] == 1
    assert survey.sealed
    assert len(message) == survey.sealed.length
    assert keys.open(survey, message) == b"{}"
    for damaged in (message[:-1] + bytes([message[-1] ^ 1]), b"\0" + message[1:], b"\x09" + message[1:]):
        with pytest.raises(ReportError):
            keys.open(survey, damaged)
    with pytest.raises(ReportError):
        keys.open(replace(survey, title="Another", places=other.places), message)


def test_after_its_time_a_key_is_gone_and_what_was_captured_stays_closed(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path)
    captured = [seal(survey, b"{}", FIRST + number * WEEK) for number in range(3)]
    keys = SealingKeys(tmp_path)
    last = FIRST + WEEK + datetime.timedelta(days=LATE_DAYS)
    assert keys.destroy_old(last - datetime.timedelta(days=1)) == []
    (private,) = [path.read_bytes() for path in tmp_path.glob(f"{FIRST}-*")]
    assert keys.destroy_old(last) == [FIRST]
    assert list(tmp_path.glob(f"{FIRST}-*")) == []
    assert private not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for opener in (keys, SealingKeys(tmp_path)):
        with pytest.raises((SurveyClosed, KeysMissing)):
            opener.open(survey, captured[0])
        assert [opener.open(survey, each) for each in captured[1:]] == [b"{}", b"{}"]


def test_a_key_that_a_copy_brings_back_opens_nothing_and_is_not_silent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    survey = sealed_survey(tmp_path)
    captured = seal(survey, b"{}", FIRST)
    copies = {path: path.read_bytes() for path in tmp_path.glob(f"{FIRST}-*")}
    keys = SealingKeys(tmp_path)
    over = FIRST + WEEK + datetime.timedelta(days=LATE_DAYS)
    assert keys.destroy_old(over) == [FIRST]
    assert caplog.text == ""
    for days in (5, 0):  # while the collector runs, also where its clock goes back a little
        keys.destroy_old(over + datetime.timedelta(days=days))
        for path, content in copies.items():
            path.write_bytes(content)
        with pytest.raises((SurveyClosed, KeysMissing)):
            keys.open(survey, captured)
        assert not any(path.exists() for path in copies)
        assert "had to be destroyed on" in caplog.text
        caplog.clear()


def test_a_collector_that_was_killed_while_it_destroyed_a_key_starts_again_and_ends_it(tmp_path: Path) -> None:
    survey = sealed_survey(tmp_path)
    later = seal(survey, b"{}", FIRST + WEEK)
    (path,) = tmp_path.glob(f"{FIRST}-*")
    half = path.rename(path.with_suffix(".destroyed"))
    half.write_bytes(b"\xff" * 40 + half.read_bytes()[40:])
    assert SealingKeys(tmp_path).open(survey, later) == b"{}"
    assert not half.exists()


def test_keys_are_destroyed_once_a_database_that_was_away_is_back(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sealed_survey(tmp_path / "keys", places=())
    keys = SealingKeys(tmp_path / "keys")
    clock.today = FIRST + WEEK + datetime.timedelta(days=LATE_DAYS)
    with ended(create_app(tmp_path / "test.db", clock, Settings(rate_limit=None))) as app:
        store = app.extensions["deniable"]["store"]
        with monkeypatch.context() as patch:
            patch.setattr(store, "believed_day", Mock(side_effect=StoreReplaced("the database: was replaced")))
            destroy_old_keys(store, keys)
        assert "could not be destroyed: the database: was replaced" in caplog.text
        assert len(keys.every()) == 3
        destroy_old_keys(store, keys)
        assert [key.first for key in keys.every()] == [FIRST + WEEK, FIRST + 2 * WEEK]


def test_a_collector_without_the_keys_says_so_and_one_with_them_takes_each_report_once(
    tmp_path: Path, clock: Clock
) -> None:
    survey = sealed_survey(tmp_path / "keys", places=())
    message = seal(survey, Report("00" * 16, None, {"affair": 1}).encode(), clock())

    def send(app: APIFlask) -> int:
        headers = {"Content-Type": "application/octet-stream"}
        return app.test_client().post(f"/api/v1/surveys/{survey.id}/sealed", data=message, headers=headers).status_code

    for folder, statuses in ((None, [503, 503]), (tmp_path / "keys", [201, 200])):
        settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder)
        with ended(create_app(tmp_path / "test.db", clock, settings)) as app:
            app.extensions["deniable"]["store"].publish(survey)
            assert [send(app) for _ in statuses] == statuses


def test_keys_are_made_and_listed_on_the_command_line(tmp_path: Path) -> None:
    command = CommandLine("sealing")
    text = command.ok("keys", "--weeks", "2", "--from", "2026-11-23", "--keys", tmp_path / "keys")
    assert text.startswith("[sealed]\nfirst = 2026-11-23\nkeys = [\n")
    listed = command.ok("list", "--keys", tmp_path / "keys")
    assert "2026-11-23  2026-12-14" in listed
    assert "2026-11-30  2026-12-21" in listed
    assert all(path.stat().st_mode & 0o77 == 0 for path in (tmp_path / "keys").iterdir())
