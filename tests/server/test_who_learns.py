"""What each party can learn, where docs/protection.md says that it can: a table must not promise too little either."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from apiflask import APIFlask

from deniable import Report, parse_report
from deniable_client.blind_token import UnsignedToken
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.sealing import SealingKeys
from deniable_server.settings import Settings
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.in_process import ended
from tools.rig.places import place_in_process, sealed_survey, served
from tools.rig.surveys import Clock

ALICE, BOB = "192.0.2.1", "192.0.2.2"
SEALED = "application/octet-stream"


class Seen(NamedTuple):
    """A request as whoever runs the server, or reads its traffic, sees it."""

    address: str
    path: str
    body: bytes


def spy_on(app: APIFlask) -> list[Seen]:
    """Change a server so that it notes what it is sent, and from where."""
    seen: list[Seen] = []
    inner = app.wsgi_app

    def noting(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        seen.append(Seen(environ["REMOTE_ADDR"], environ["PATH_INFO"], body))
        return inner(environ, start_response)

    app.wsgi_app = noting  # type: ignore[method-assign]
    return seen


@contextmanager
def collector_of(folder: Path, clock: Clock) -> Iterator[APIFlask]:
    (folder / "keys").mkdir(exist_ok=True)
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
    with ended(create_app(folder / "test.db", clock, settings)) as app:
        yield app


def ask(app: APIFlask, address: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
    """What a server answers to a device of that address."""
    method = "GET" if body is None else "POST"
    headers = {} if body is None else {"Content-Type": kind}
    environ = {"REMOTE_ADDR": address}
    answer = app.test_client().open(path, method=method, data=body, headers=headers, environ_overrides=environ)
    assert answer.status_code in (200, 201), answer.text
    return answer.data


def test_on_its_own_page_a_collector_that_spies_reads_who_opened_it_and_whose_report_it_is(
    tmp_path: Path, clock: Clock
) -> None:
    """So does whoever reads the traffic in clear; the report is noisy, and all that there is."""
    plain = replace(sealed_survey(tmp_path / "keys", places=()), sealed=None)
    with collector_of(tmp_path, clock) as collector:
        collector.extensions["deniable"]["store"].publish(plain)
        seen = spy_on(collector)
        ask(collector, ALICE, f"/s/{plain.id}")
        for address, value in ((BOB, 0), (ALICE, 1)):
            report = Report(f"{value:032x}", None, {"affair": value}).encode()
            ask(collector, address, f"/api/v1/surveys/{plain.id}/reports", report)
    opened, *sent = seen
    assert (opened.address, opened.path) == (ALICE, f"/s/{plain.id}")
    assert {each.address: json.loads(each.body)["values"]["affair"] for each in sent} == {BOB: 0, ALICE: 1}


def test_of_sealed_reports_traffic_tells_the_sender_alone_and_the_collector_as_much_as_before(
    tmp_path: Path, clock: Clock
) -> None:
    survey = sealed_survey(tmp_path / "keys", places=())
    with collector_of(tmp_path, clock) as collector:
        collector.extensions["deniable"]["store"].publish(survey)
        seen = spy_on(collector)
        for address, value in ((BOB, 0), (ALICE, 1)):
            message = seal(survey, Report(f"{value:032x}", None, {"affair": value}).encode(), clock())
            ask(collector, address, f"/api/v1/surveys/{survey.id}/sealed", message, SEALED)
    assert [each.address for each in seen] == [BOB, ALICE]
    assert len({len(each.body) for each in seen}) == 1
    assert not any(b"affair" in each.body for each in seen)
    keys = SealingKeys(tmp_path / "keys")  # the collector's, or of whoever stole them in their time
    opened = {each.address: parse_report(keys.open(survey, each.body), survey).values["affair"] for each in seen}
    assert opened == {BOB: 0, ALICE: 1}


def test_on_its_own_page_who_collects_and_signs_pairs_tokens_with_reports_by_their_addresses(
    tmp_path: Path, clock: Clock
) -> None:
    survey = replace(unlinkable_survey(), opens=None, closes=None)
    with collector_of(tmp_path, clock) as collector:
        invitations = publish_to(collector.extensions["deniable"]["store"], survey, 2)
        seen = spy_on(collector)
        way = f"/api/v1/surveys/{survey.id}"
        tokens = {}
        for address, invitation in zip((ALICE, BOB), invitations, strict=True):
            unsigned = UnsignedToken.new(survey)
            wish = {"blinded": unsigned.blinded.message.hex(), "invitation": invitation}
            signed = json.loads(ask(collector, address, f"{way}/tokens", json.dumps(wish).encode()))["signature"]
            tokens[address] = unsigned.nonce[:16].hex(), unsigned.token(survey, bytes.fromhex(signed))
        for address in (BOB, ALICE):
            name, token = tokens[address]
            values = {question.id: 0 for question in survey.questions}
            ask(collector, address, f"{way}/reports", Report(name, None, values, token).encode())
    bought = {each.address: json.loads(each.body)["invitation"] for each in seen if each.path.endswith("/tokens")}
    sent = {each.address: json.loads(each.body)["id"] for each in seen if each.path.endswith("/reports")}
    assert bought == dict(zip((ALICE, BOB), invitations, strict=True))
    assert sent == {address: name for address, (name, _) in tokens.items()}


def test_a_place_that_spies_sees_who_sent_which_ciphertext_and_with_the_collector_s_key_what_is_in_it(
    tmp_path: Path, clock: Clock
) -> None:
    survey = sealed_survey(tmp_path / "keys")
    with collector_of(tmp_path, clock) as collector, served(collector) as url:
        store = collector.extensions["deniable"]["store"]
        store.publish(survey)
        with place_in_process(tmp_path, clock, 2, collectors={url: create_token(store, "place", "relay")}) as place:
            at_place, at_collector = spy_on(place), spy_on(collector)
            way = f"/via/{url.partition('://')[2]}/api/v1/surveys/{survey.id}"
            ask(place, ALICE, "/")
            ask(place, ALICE, way)
            for address, value in ((BOB, 0), (ALICE, 1)):
                message = seal(survey, Report(f"{value:032x}", None, {"affair": value}).encode(), clock())
                ask(place, address, f"{way}/sealed", message, SEALED)
    # The path says which survey somebody opens and answers: a place mixes each survey by itself.
    assert [(each.address, survey.id in each.path) for each in at_place] == [
        (ALICE, False),
        (ALICE, True),
        (BOB, True),
        (ALICE, True),
    ]
    sent = [each for each in at_place if each.path.endswith("/sealed")]
    assert len({len(each.body) for each in sent}) == 1
    keys = SealingKeys(tmp_path / "keys")
    opened = {each.address: parse_report(keys.open(survey, each.body), survey).values["affair"] for each in sent}
    assert opened == {BOB: 0, ALICE: 1}, "both together know whose noisy report is whose"
    assert {each.address for each in at_collector} == {"127.0.0.1"}, "the collector alone meets the place"


@pytest.mark.parametrize("value", [0, 1])
def test_a_place_that_holds_one_report_back_reads_it_from_public_results(
    tmp_path: Path, clock: Clock, value: int
) -> None:
    """It passes on enough others for results to be shown, and the one it is curious about after them, as the last."""
    survey = sealed_survey(tmp_path / "keys")
    assert survey.closes
    with collector_of(tmp_path, clock) as collector:
        store = collector.extensions["deniable"]["store"]
        store.publish(survey)
        token = create_token(store, "place", "relay")
        http = collector.test_client()

        def pass_on(*messages: bytes) -> None:
            headers = {"Content-Type": SEALED, "Authorization": f"Bearer {token}"}
            done = http.post(f"/api/v1/surveys/{survey.id}/sealed", data=b"".join(messages), headers=headers)
            assert done.status_code in (200, 201)

        def shown() -> list[int]:
            (tally,) = store.tallies(survey).values()
            return [int(each) for each in tally.counts["affair"]]

        others = [Report(f"{number:032x}", None, {"affair": number % 2}).encode() for number in range(200)]
        pass_on(*(seal(survey, each, clock()) for each in others))
        store.settle()
        before = shown()
        pass_on(seal(survey, Report("ff" * 16, None, {"affair": value}).encode(), clock()))
        store.close_survey(survey.id)
        after = shown()
    assert sum(before) == 200
    assert [late - early for early, late in zip(before, after, strict=True)] == [1 - value, value]
