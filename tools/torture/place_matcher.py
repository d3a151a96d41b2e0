"""Who answered what, by all that one of two institutions saw; and by what both saw together.

People buy a token by a place and answer at once, each from an address and a browser of its own: the worst habit that
there is. The collector signs the tokens, too. A matcher has all requests that the collector got, their order and times,
and every file of either side. It pairs tokens with reports.

Where a batch hides its order, whatever a pairing is made of, as many pairs of a batch are right as a random permutation
leaves points in place: about Poisson(1) each. `MOST_RIGHT` or more of two batches come by chance with probability
below 1e-8.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask

from deniable import Report, Survey
from deniable_client.blind_token import UnsignedToken
from deniable_client.device import randomize
from deniable_client.sealing import seal
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.sealing import SealingKeys
from deniable_server.settings import Settings
from deniable_transport.oblivious.binary_http import BinaryRequest, parse_response
from deniable_transport.oblivious.encapsulation import PADDED, REQUEST, encapsulate
from deniable_transport.oblivious.pinned import configuration_of
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.in_process import ended
from tools.rig.places import cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MOST_RIGHT = 18
"""Right pairs of two batches that no pairing may have: Poisson(2) has as many less often than once in 10^11."""


@dataclass
class Tap:
    """All that a collector is sent: path, when, the head, the body."""

    requests: list[tuple[str, float, str, bytes]] = field(default_factory=list)

    def on(self, app: APIFlask) -> None:
        """Read every request before the application does."""
        inner = app.wsgi_app

        def tapped(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            import io

            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            head = repr(sorted((key, str(value)) for key, value in environ.items() if key.isupper()))
            self.requests.append((environ["PATH_INFO"], time.monotonic(), head, body))
            return inner(environ, start_response)

        app.wsgi_app = tapped  # type: ignore[method-assign]

    def of(self, end: str) -> list[tuple[float, bytes]]:
        """When requests to a route came, and their bodies."""
        return [(when, body) for path, when, _, body in self.requests if path.endswith(end)]


def place_matcher(short: bool) -> str:
    """Pair tokens with reports by what the collector saw, by what the place saw, and by both."""
    people = 24 if short else 400
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, clock, tap = Path(name), Clock(), Tap()
        survey = _survey(folder)
        settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
        app = stack.enter_context(ended(create_app(folder / "collector.db", clock, settings)))
        tap.on(app)
        store = app.extensions["deniable"]["store"]
        invitations = publish_to(store, survey, people)
        random.SystemRandom().shuffle(invitations)
        token = create_token(store, "place", "relay")
        url = stack.enter_context(served(app))
        place = stack.enter_context(place_in_process(folder, clock, people // 2, collectors={url: token}))
        reports, messages = [], []
        for number, invitation in enumerate(invitations):
            report, message = _answer(place, url, survey, invitation, number)
            reports.append(report)
            messages.append(message)
            if number % (people // 2) == people // 2 - 1:
                before = _files(folder, "place.db")
                cut(place, survey, people // 2)  # a place itself would wait for more, and mix them among each other
                relay_of(place).round()
        _nothing_of_people_at_the_collector(tap, folder, people)
        _nothing_in_clear_at_the_place(before, reports, invitations)
        assert len({len(message) for message in messages}) == 1, "one length whatever was answered"
        found = _right_pairs(tap, app.extensions["deniable-sealing"], survey, reports)
        assert max(found.values()) < MOST_RIGHT, found
        both = _by_both(tap, survey, messages)
        told = ", ".join(f"by {name} {right}" for name, right in found.items())
    return (
        f"{people} people with tokens in two batches: right pairs {told}; chance gives 2, and {MOST_RIGHT} less often "
        f"than once in 10^11; the place read none; both together pair {both} of {people}, by the ciphertexts"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"place-matcher": place_matcher}


def _survey(folder: Path) -> Survey:
    base = replace(unlinkable_survey(results="batches"), opens=None, closes=None)
    return sealed_survey(folder / "keys", base)


def _answer(place: APIFlask, url: str, survey: Survey, invitation: str, number: int) -> tuple[Report, bytes]:
    """One person: a token, then at once the answer, from an address and a browser that bear a mark."""
    http = place.test_client()
    way = f"/via/{url.partition('://')[2]}/api/v1/surveys/{survey.id}"
    mine: dict[str, Any] = {
        "headers": {"User-Agent": f"browser-{number}-mark", "X-Forwarded-For": f"203.0.113.{number}-mark"},
        "environ_base": {"REMOTE_ADDR": f"198.51.{number // 250}.{number % 250}"},
    }
    unsigned = UnsignedToken.new(survey)
    asked = dumps({"invitation": invitation, "blinded": unsigned.blinded.message.hex()}).encode()
    fields = (("content-type", "application/json"),)
    inner = BinaryRequest("POST", "https", "a.example", f"/api/v1/surveys/{survey.id}/tokens", fields, asked)
    sealed = encapsulate(configuration_of(survey, Clock()()), inner.encode(PADDED))
    mine["headers"]["Content-Type"] = REQUEST
    answered = http.post(f"{way}/gateway", data=sealed.message, **mine)
    signature = loads(parse_response(sealed.response(answered.data)).content)["signature"]
    credential = unsigned.token(survey, bytes.fromhex(signature))
    answers = {"affair": ("yes", "no")[number % 2], "religious": "not"}
    report = randomize(survey, answers, credential=credential)
    message = seal(survey, report.encode(), Clock()())
    mine["headers"]["Content-Type"] = "application/octet-stream"
    assert http.post(f"{way}/sealed", data=message, **mine).status_code == 201
    return report, message


def _files(folder: Path, pattern: str) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{pattern}*")))


def _nothing_of_people_at_the_collector(tap: Tap, folder: Path, people: int) -> None:
    heads = "".join(head for _, _, head, _ in tap.requests)
    kept = _files(folder, "collector.db")
    assert "-mark" not in heads
    assert b"-mark" not in kept
    for number in range(people):
        address = f"198.51.{number // 250}.{number % 250}"
        assert f"'{address}'" not in heads
        assert address.encode() not in kept


def _nothing_in_clear_at_the_place(kept: bytes, reports: list[Report], invitations: list[str]) -> None:
    for report in reports:
        assert report.id.encode() not in kept
        assert bytes.fromhex(report.id) not in kept
        assert report.credential
        assert report.credential.encode() not in kept
    for invitation in invitations:
        assert invitation.encode() not in kept
        assert bytes.fromhex(invitation) not in kept
    assert b"-mark" not in kept
    assert b"198.51." not in kept


def _right_pairs(tap: Tap, keys: SealingKeys, survey: Survey, reports: list[Report]) -> dict[str, int]:
    """How many pairs of tokens and reports are right, by each feature that the collector has of both."""
    assert survey.sealed
    arrived = [
        keys.open(survey, part)[7:39].decode() for _, body in tap.of("/sealed") for part in survey.sealed.split(body)
    ]
    # The n-th token was bought by the n-th person, as the collector knows; whose report is which it would like to know.
    truth = [report.id for report in reports]
    assert sorted(truth) == sorted(arrived)
    bought = [hashlib.sha256(body).digest() for _, body in tap.of("/tokens")]
    assert len(bought) == len(truth)
    half = len(arrived) // 2
    backwards = [*arrived[:half][::-1], *arrived[half:][::-1]]
    by_id = [*sorted(arrived[:half]), *sorted(arrived[half:])]
    ranks = [sorted(part).index(each) for part in (bought[:half], bought[half:]) for each in part]
    by_hash = [by_id[rank + half * (number >= half)] for number, rank in enumerate(ranks)]
    guesses = {"order": arrived, "order backwards": backwards, "order of ids": by_id, "hashes": by_hash}
    return {name: sum(one == other for one, other in zip(truth, guess, strict=True)) for name, guess in guesses.items()}


def _by_both(tap: Tap, survey: Survey, messages: list[bytes]) -> int:
    """How many reports the place's note of each address's ciphertext, and the collector's keys, pair together."""
    assert survey.sealed
    arrived = {part for _, body in tap.of("/sealed") for part in survey.sealed.split(body)}
    return sum(message in arrived for message in messages)
