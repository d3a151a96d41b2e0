"""The Python client by a relay that cannot read: that of a place, and any relay of Oblivious HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import urllib3
from apiflask import APIFlask
from click.testing import CliRunner

from deniable import CollectorError, ParameterError, Survey, SurveyError
from deniable.errors import MessageError
from deniable_client import Client, Memory, UndeliveredReport
from deniable_client.answer.command import answer as answer_command
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_transport.oblivious.encapsulation import KeyConfiguration, encode_keys
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.in_process import ended
from tools.rig.places import cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.serving import running
from tools.rig.surveys import Clock

ANSWERS = {"affair": "yes", "religious": "not"}


def tap(app: APIFlask) -> list[tuple[str, bytes]]:
    """Every request to an application from now on: its path, and its head and body."""
    seen: list[tuple[str, bytes]] = []
    inner = app.wsgi_app

    def tapped(environ: Any, start_response: Any) -> Any:
        import io

        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        head = repr(sorted((key, str(value)) for key, value in environ.items() if key.isupper()))
        seen.append((environ["PATH_INFO"], head.encode() + body))
        return inner(environ, start_response)

    app.wsgi_app = tapped  # type: ignore[method-assign]
    return seen


@pytest.fixture
def collector(tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
    (tmp_path / "keys").mkdir()
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys")
    with ended(create_app(tmp_path / "test.db", clock, settings)) as collector:
        yield collector


def invited(collector: APIFlask, folder: Path, places: tuple[str, ...]) -> tuple[Survey, str]:
    """A sealed survey with blind tokens that this collector signs, and an invitation to it."""
    base = replace(unlinkable_survey(results="batches"), opens=None, closes=None)
    survey = sealed_survey(folder / "keys", base, places=places)
    (invitation,) = publish_to(collector.extensions["deniable"]["store"], survey, 1)
    return survey, invitation


@contextmanager
def any_relay(gateway: str) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A relay as RFC 9458 has it, which knows nothing of Deniable; gives its URL, and what it saw."""
    seen: list[tuple[str, bytes]] = []
    http = urllib3.PoolManager()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.headers["Content-Type"], str(self.headers).encode() + body))
            passed = http.request("POST", gateway, body=body, headers={"Content-Type": "message/ohttp-req"})
            self.send_response(passed.status)
            self.send_header("Content-Type", passed.headers["Content-Type"])
            self.send_header("Content-Length", str(len(passed.data)))
            self.end_headers()
            self.wfile.write(passed.data)

        def log_message(self, *_arguments: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield f"http://{address}/relay", seen


@pytest.mark.slow
def test_a_place_sees_no_invitation_and_the_collector_nobody(collector: APIFlask, tmp_path: Path, clock: Clock) -> None:
    at_collector = tap(collector)
    with served(collector) as url:
        token = create_token(collector.extensions["deniable"]["store"], "place", "relay")
        with place_in_process(tmp_path, clock, 1, None, {url: token}) as place, served(place) as origin:
            at_place = tap(place)
            survey, invitation = invited(collector, tmp_path, (origin,))
            client = Client(url, place=origin, memory=Memory(tmp_path / "memory"))
            client.answer(client.survey(survey.id), ANSWERS, invitation=invitation)
            cut(place, survey, 1)
            relay_of(place).round()
            assert collector.extensions["deniable"]["store"].waiting(survey) == {None: 1}
            assert not [path for path, said in at_place if invitation.encode() in said]
            assert [path for path, _ in at_place if path.endswith("/tokens")] == []
            # The gateway asks the collector's own route, in its own process, with what was in the request.
            assert [path.rpartition("/")[2] for path, said in at_collector if invitation.encode() in said] == ["tokens"]


@pytest.mark.slow
def test_any_relay_can_stand_between_for_documents_tokens_and_reports(
    collector: APIFlask, tmp_path: Path, clock: Clock
) -> None:
    survey, invitation = invited(collector, tmp_path, ())
    with served(collector) as url:
        gateway = f"{url}/api/v1/surveys/{survey.id}/gateway"
        keys = urllib3.request("GET", gateway).data
        at_collector = tap(collector)
        with any_relay(gateway) as (relay, at_relay):
            client = Client("https://collector.example", relay=relay, keys=keys)
            client.answer(client.survey(survey.id), ANSWERS, invitation=invitation)
            assert collector.extensions["deniable"]["store"].waiting(survey) == {None: 1}
            assert {kind for kind, _ in at_relay} == {"message/ohttp-req"}
            *asked, _ = [len(said) for _, said in at_relay]
            assert len(asked) == 3
            assert len(set(asked)) == 1, "documents, states and tokens look the same; a report with a token is longer"
            assert invitation.encode() not in b"".join(said for _, said in at_relay)
            assert {path for path, _ in at_collector if path.endswith("/gateway")}
            shown = CliRunner().invoke(answer_command, [f"{url}/s/{survey.id}", "--relay", relay])
            assert "--relay: must be given together with --relay-keys" in shown.output
            _keys_of_one_person_are_found_out(url, relay, survey, keys)


def _keys_of_one_person_are_found_out(url: str, relay: str, survey: Survey, keys: bytes) -> None:
    assert survey.sealed
    # The private half of another week is at the gateway, too: it opens, and the survey says that it is not that one.
    other = KeyConfiguration(1, bytes.fromhex(survey.sealed.keys[0]))
    with pytest.raises((SurveyError, CollectorError)):
        Client(url, relay=relay, keys=encode_keys([other])).survey(survey.id)
    swapped = replace(survey, sealed=replace(survey.sealed, keys=survey.sealed.keys[::-1]))
    from deniable_transport.oblivious.pinned import check_pinned

    with pytest.raises(SurveyError, match="must publish the key by which it was fetched"):
        check_pinned(swapped, KeyConfiguration(0, bytes.fromhex(survey.sealed.keys[0])))
    with pytest.raises(ParameterError, match="relay: must be somebody else's"):
        Client(url, relay=f"{url}/api/v1/surveys/{survey.id}/gateway", keys=keys)
    for wrong in (None, b"", keys[:-1]):
        with pytest.raises(MessageError, match="key"):
            Client(url, relay=relay, keys=wrong)


@pytest.mark.slow
def test_a_relay_that_answers_something_else_loses_nothing(
    collector: APIFlask, tmp_path: Path, clock: Clock, survey: Survey
) -> None:
    sealed = sealed_survey(tmp_path / "keys", places=())
    collector.extensions["deniable"]["store"].publish(sealed)
    with served(collector) as url:
        gateway = f"{url}/api/v1/surveys/{sealed.id}/gateway"
        keys = urllib3.request("GET", gateway).data
        with any_relay(f"{url}/livez") as (elsewhere, _), any_relay(gateway) as (relay, _):
            client = Client(url, relay=elsewhere, keys=keys, memory=Memory(tmp_path / "memory"), retries=0)
            with pytest.raises(CollectorError):
                client.survey(sealed.id)
            fetched = Client(url, relay=relay, keys=keys).survey(sealed.id)
            with pytest.raises(UndeliveredReport):
                client.answer(fetched, {"affair": "no"})
            back = Client(url, relay=relay, keys=keys, memory=Memory(tmp_path / "memory"))
            assert [each.state for each in back.resend()] == ["sent"]
            with pytest.raises(SurveyError, match="is not sealed"):
                back.check(survey)
