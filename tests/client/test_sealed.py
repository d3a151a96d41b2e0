"""Sealed reports, and the way by a place: both clients against keys in a folder, Python against two institutions."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable import Survey, SurveyError
from deniable_client import Client, Memory, parse_link
from deniable_client.collector_connection import CollectorConnection
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.sealing import SealingKeys
from deniable_server.settings import Settings
from tools import programs
from tools.rig.in_process import ended
from tools.rig.places import cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

ID = "bpn4zq5y7xlxpqd63hsrm4s5ky"

SEAL = """
import { readFileSync } from "node:fs";
import { parseSurvey } from "WEB/index.js";
import { sealReport } from "WEB/sealing.js";
const { document, reports, day } = JSON.parse(readFileSync(0, "utf8"));
const survey = await parseSurvey(new TextEncoder().encode(document));
const sealed = await Promise.all(reports.map((each) => sealReport(survey, each, Date.parse(day))));
console.log(JSON.stringify(sealed.map((each) => Buffer.from(each).toString("hex"))));
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["p256", "x25519"])
def test_what_a_browser_seals_the_collector_opens(tmp_path: Path, clock: Clock, kind: str) -> None:
    survey = sealed_survey(tmp_path, kind=kind)
    reports = [json.dumps({"n": number, "filling": "x" * number}) for number in range(40)]
    web = Path(__file__).parents[2] / "client" / "deniable_web"
    told = {"document": survey.document.decode(), "reports": reports, "day": clock().isoformat()}
    command = [*programs.node_command(), "--input-type=module", "--eval", SEAL.replace("WEB", web.as_uri())]
    done = subprocess.run(command, input=json.dumps(told), capture_output=True, text=True, check=True)
    sealed = [bytes.fromhex(each) for each in json.loads(done.stdout)]
    assert survey.sealed
    assert {len(each) for each in sealed} == {survey.sealed.length}
    keys = SealingKeys(tmp_path)
    assert [keys.open(survey, each).decode() for each in sealed] == reports


def test_a_link_to_a_place_holds_that_of_its_survey() -> None:
    found = parse_link(f"https://place.example/#https://collector.example/s/{ID}#cohort=web")
    assert (found.place, found.collector, found.survey, found.cohort) == (
        "https://place.example",
        "https://collector.example",
        ID,
        "web",
    )
    for wrong in (
        f"https://place.example/path/#https://collector.example/s/{ID}",
        f"nothing/#https://a.example/s/{ID}",
    ):
        with pytest.raises(SurveyError, match="place: must be like"):
            parse_link(wrong)


@pytest.mark.slow
def test_people_answer_at_a_place_and_the_collector_meets_the_place_alone(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keys").mkdir()
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys")
    asked: list[tuple[str, str]] = []
    real = CollectorConnection._request

    def noting(self: CollectorConnection, method: str, path: str, *more: Any, **named: Any) -> Any:
        asked.append((self.collector, path))
        return real(self, method, path, *more, **named)

    monkeypatch.setattr(CollectorConnection, "_request", noting)
    with ended(create_app(tmp_path / "test.db", clock, settings)) as collector, served(collector) as url:
        store = collector.extensions["deniable"]["store"]
        token = create_token(store, "place", "relay")
        with place_in_process(tmp_path, clock, 3, None, {url: token}) as place, served(place) as origin:
            survey = sealed_survey(tmp_path / "keys", places=(origin,))
            store.publish(survey)
            client = Client(url, place=origin)
            for answer in ("yes", "no", "yes"):
                client.answer(client.survey(survey.id), {"affair": answer})
            cut(place, survey, 3)
            relay_of(place).round()
            assert len(store.waiting(survey)) == 1
            assert {where for where, _ in asked} == {f"{origin}/via/{url.partition('://')[2]}"}
            # Without a place, the first one that the survey names is gone by.
            asked.clear()
            direct = Client(url, memory=Memory(tmp_path / "memory"))
            direct.answer(direct.survey(survey.id), {"affair": "no"})
            assert [where for where, path in asked if path.endswith("sealed")] == [f"{origin}/via/{url[7:]}"]
            with pytest.raises(SurveyError, match="is answered at"):
                Client(url, place="https://other.example").check(survey)


def test_what_is_not_sealed_goes_by_no_place(survey: Survey, tmp_path: Path) -> None:
    client = Client("https://collector.example", place="https://place.example")
    with pytest.raises(SurveyError, match="is not sealed"):
        client.check(survey)
    client.check(replace(sealed_survey(tmp_path), places=()))
