"""The gateway of a collector, and the relay of a place before it: what is asked, what is seen, what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Report, Survey
from deniable_client.sealing import seal
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_transport.oblivious.binary_http import BinaryRequest, BinaryResponse, parse_response
from deniable_transport.oblivious.encapsulation import Encapsulated, encapsulate, parse_keys
from deniable_transport.oblivious.pinned import configuration_of
from tools.rig.in_process import ended
from tools.rig.places import place_in_process, sealed_survey, served
from tools.rig.surveys import Clock

TYPE = {"Content-Type": "message/ohttp-req"}


class Gateway(NamedTuple):
    """The gateway of one survey, whoever passes requests on to it."""

    http: FlaskClient
    path: str
    survey: Survey
    clock: Clock

    def sealed(self, method: str, rest: str, content: bytes = b"", fields: Any = ()) -> Encapsulated:
        path = f"/api/v1/surveys/{self.survey.id}{rest}"
        request = BinaryRequest(method, "https", "collector.example", path, fields, content)
        return encapsulate(configuration_of(self.survey, self.clock()), request.encode(1024))

    def ask(self, method: str, rest: str, content: bytes = b"", fields: Any = ()) -> BinaryResponse:
        sealed = self.sealed(method, rest, content, fields)
        answer = self.http.post(self.path, data=sealed.message, headers=TYPE)
        assert (answer.status_code, answer.mimetype) == (200, "message/ohttp-res"), answer.data
        assert len(answer.data) % 1024 == 32, "padded, with what is random and the tag"
        return parse_response(sealed.response(answer.data))


@pytest.fixture
def collector(tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
    (tmp_path / "keys").mkdir()
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys")
    with ended(create_app(tmp_path / "test.db", clock, settings)) as collector:
        yield collector


@pytest.fixture
def gateway(collector: APIFlask, tmp_path: Path, clock: Clock) -> Gateway:
    survey = sealed_survey(tmp_path / "keys", places=())
    collector.extensions["deniable"]["store"].publish(survey)
    return Gateway(collector.test_client(), f"/api/v1/surveys/{survey.id}/gateway", survey, clock)


def test_what_is_asked_by_the_gateway_is_answered_as_if_it_came_directly(gateway: Gateway) -> None:
    document = gateway.ask("GET", "")
    assert (document.status, document.content) == (200, gateway.survey.document)
    assert dict(document.fields)["content-type"] == "application/json"
    assert json.loads(gateway.ask("GET", "/state").content) == {"state": "open"}
    report = seal(gateway.survey, Report("11" * 16, None, {"affair": 1}).encode(), gateway.clock())
    for status, said in ((201, "stored"), (200, "known")):
        answer = gateway.ask("POST", "/sealed", report, (("content-type", "application/octet-stream"),))
        assert (answer.status, json.loads(answer.content)) == (status, {"status": said})
    refused = gateway.ask("POST", "/sealed", report[:-1], (("content-type", "application/octet-stream"),))
    assert (refused.status, dict(refused.fields)["content-type"]) == (422, "application/problem+json")


def test_a_gateway_leads_nowhere_else(gateway: Gateway) -> None:
    for method, rest in (
        ("GET", "/reports.csv"),
        ("GET", "/estimates"),
        ("POST", "/reports"),
        ("POST", "/close"),
        ("POST", "/gateway"),
        ("DELETE", ""),
        ("GET", "/../../metrics"),
        ("GET", "/state?x=1"),
    ):
        assert gateway.ask(method, rest).status == 404, (method, rest)
    sealed = encapsulate(configuration_of(gateway.survey, gateway.clock()), b"\7nothing")
    answer = gateway.http.post(gateway.path, data=sealed.message, headers=TYPE)
    assert parse_response(sealed.response(answer.data)).status == 400, "said to the device alone"


def test_what_does_not_open_is_refused_in_the_open(gateway: Gateway, tmp_path: Path) -> None:
    """A thousand messages that are mutated, cut, foreign or made up: 4xx each."""
    chance = random.Random(9458)
    good = gateway.sealed("GET", "/state").message
    other = sealed_survey(tmp_path / "keys", replace(gateway.survey, title="Other", sealed=None))
    foreign = encapsulate(configuration_of(other, gateway.clock()), b"request").message
    for number in range(1000):
        at = chance.randrange(len(good))
        message = {
            0: good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1 :],
            1: good[:at],
            2: good + chance.randbytes(1 + at % 5),
            3: chance.randbytes(at),
            4: good[:7] + chance.randbytes(len(good) - 7),
            5: foreign,
        }[number % 6]
        answer = gateway.http.post(gateway.path, data=message, headers=TYPE)
        assert answer.status_code in (400, 410), (number, answer.data)
        if answer.status_code == 400:
            assert answer.json["type"].endswith("#ohttp-key")
    elsewhere = f"/api/v1/surveys/{other.id}/gateway"
    assert gateway.http.post(elsewhere, data=good, headers=TYPE).status_code == 404
    assert gateway.http.post(gateway.path, data=good, headers={"Content-Type": "text/plain"}).status_code == 415
    assert gateway.http.post(gateway.path, data=bytes(40_000), headers=TYPE).status_code == 413


def test_what_was_captured_opens_no_more_once_its_key_is_destroyed(gateway: Gateway, collector: APIFlask) -> None:
    captured = gateway.sealed("GET", "/state").message
    assert gateway.http.post(gateway.path, data=captured, headers=TYPE).status_code == 200
    assert gateway.survey.sealed
    keys = collector.extensions["deniable-sealing"]
    keys.destroy_old(gateway.survey.sealed.destroyed_on(len(gateway.survey.sealed.keys) - 1))
    assert keys.every() == []
    assert gateway.http.post(gateway.path, data=captured, headers=TYPE).status_code in (410, 503)


def test_keys_are_those_of_the_survey_and_a_survey_without_has_no_gateway(
    gateway: Gateway, collector: APIFlask, survey: Survey
) -> None:
    answer = gateway.http.get(gateway.path)
    assert answer.mimetype == "application/ohttp-keys"
    assert parse_keys(answer.data) == [configuration_of(gateway.survey, gateway.clock())]
    collector.extensions["deniable"]["store"].publish(survey)
    for method in ("GET", "POST"):
        open_to_all = gateway.http.open(f"/api/v1/surveys/{survey.id}/gateway", method=method, headers=TYPE)
        assert open_to_all.status_code == 422


@pytest.mark.slow
def test_a_place_passes_on_what_it_cannot_read(gateway: Gateway, collector: APIFlask, tmp_path: Path) -> None:
    seen: list[tuple[str, bytes]] = []
    inner = collector.wsgi_app

    def tapped(environ: Any, start_response: Any) -> Any:
        if environ["PATH_INFO"].endswith("/gateway"):
            seen.append((repr(sorted((k, v) for k, v in environ.items() if k.startswith("HTTP_"))), b""))
        return inner(environ, start_response)

    collector.wsgi_app = tapped  # type: ignore[method-assign]
    with (
        served(collector) as url,
        place_in_process(tmp_path, gateway.clock, origin=None, collectors={url: None}) as app,
    ):
        path = f"/via/{url.partition('://')[2]}{gateway.path}"
        by_place = gateway._replace(http=app.test_client(), path=path)
        assert by_place.ask("GET", "").content == gateway.survey.document
        keys = by_place.http.get(path)
        assert (keys.mimetype, parse_keys(keys.data)) == (
            "application/ohttp-keys",
            [configuration_of(gateway.survey, gateway.clock())],
        )
        marked = TYPE | {"User-Agent": "browser-of-somebody", "Cookie": "a=somebody", "X-Forwarded-For": "203.0.113.9"}
        good = gateway.sealed("GET", "/state").message
        answer = by_place.http.post(path, data=good, headers=marked)
        assert (answer.status_code, answer.headers.get("Set-Cookie")) == (200, None)
        assert by_place.http.post(path, data=good[:-1], headers=marked).status_code == 400
    assert seen
    assert "somebody" not in repr(seen)
    assert "203.0.113.9" not in repr(seen)
