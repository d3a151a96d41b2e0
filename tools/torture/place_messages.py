"""Messages that are no sealed reports, and the order in which those that are arrive."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from deniable import Report
from deniable_client.sealing import seal
from deniable_server.app import create_app
from deniable_server.sealing import SealingKeys
from deniable_server.settings import Settings
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.rig.in_process import ended
from tools.rig.places import box_of, cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

SEALED = {"Content-Type": "application/octet-stream"}
ENCAPSULATED = {"Content-Type": "message/ohttp-req"}


def place_messages(short: bool) -> str:
    """Mutated, truncated, replayed, foreign and wrongly padded messages: none is stored, none is an error of ours.

    Each is sent to the collector, to its gateway, and to a place, which passes on what has the right length.
    """
    many = 300 if short else 20_000
    dice = random.Random(9458)
    statuses: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, clock = Path(name), Clock()
        survey = sealed_survey(folder / "keys", places=())
        other = sealed_survey(folder / "keys", replace(survey, title="Other", sealed=None))
        settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
        app = stack.enter_context(ended(create_app(folder / "test.db", clock, settings)))
        store = app.extensions["deniable"]["store"]
        store.publish(survey)
        client = app.test_client()
        url = stack.enter_context(served(app))
        place = stack.enter_context(place_in_process(folder, clock, 200, None, {url: None}))
        at_place = place.test_client()
        path = f"/api/v1/surveys/{survey.id}"

        def send(message: bytes) -> int:
            return client.post(f"{path}/sealed", data=message, headers=SEALED).status_code

        def send_elsewhere(message: bytes) -> list[int]:
            ways = [(client, f"{path}/gateway", ENCAPSULATED)]
            ways += [(at_place, f"/via/{url.partition('://')[2]}{path}/sealed", SEALED)]
            return [http.post(way, data=message, headers=head).status_code for http, way, head in ways]

        assert survey.sealed
        good = [seal(survey, Report(f"{n:032x}", None, {"affair": n % 2}).encode(), clock()) for n in range(20)]
        assert [send(each) for each in good] == [201] * len(good)
        longer = replace(survey, sealed=replace(survey.sealed, size=survey.sealed.size + 64))
        for number in range(many):
            each = dice.choice(good)
            at = dice.randrange(len(each))
            kinds: list[Callable[[], bytes]] = [
                lambda each=each, at=at: each[:at] + bytes([each[at] ^ 1 << dice.randrange(8)]) + each[at + 1 :],
                lambda each=each, at=at: each[:at],
                lambda each=each: each,  # a replay
                lambda: seal(other, b"{}", clock()),
                lambda: seal(longer, b"{}", clock()),
                lambda: seal(survey, dice.randbytes(20).hex().encode(), clock()),
                lambda at=at: dice.randbytes(at),
            ]
            is_replay = number % len(kinds) == 2
            message = kinds[number % len(kinds)]()
            status = send(message)
            assert status == 200 if is_replay else 400 <= status < 500, (number, status)
            at_gateway, kept = send_elsewhere(message)
            assert 400 <= at_gateway < 500, (number, at_gateway)
            # A place opens nothing: what has the right length and names a key of the survey may be a report.
            may_be = len(message) == len(good[0]) and message[0] < len(survey.sealed.keys)
            assert kept in (200, 201) if may_be else 400 <= kept < 500, (number, kept)
            statuses[status] = statuses.get(status, 0) + 1
        cut(place, survey, 200, is_last=True)
        relay_of(place).round()
        assert box_of(place).leaving() == []
        with store._snapshot(survey) as db:
            (stored,) = db.execute(f"SELECT count(*) FROM pending_{survey.id}").fetchone()
        assert stored == len(good), stored
        keys: SealingKeys = app.extensions["deniable-sealing"]
        keys.destroy_old(survey.sealed.destroyed_on(2))
        assert {send(each) for each in good} <= {410, 503}, "what was captured opens no more"
    told = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    return (
        f"{many} messages that are none, to a collector, its gateway and a place: {told}; "
        "stored twice 0, errors of ours 0; after their keys' end none opens"
    )


def place_order(short: bool) -> str:
    """The rank correlation between arrival at the place and leaving it, within batches and over them."""
    batches, size = (2, 200) if short else (10, 200)
    within, overall, gone = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        survey = sealed_survey(Path(name) / "keys")
        box = Letterbox(Path(name) / "place.db")
        box._db.execute("PRAGMA synchronous = OFF")  # the order is measured, not the disk
        slot = box.add(survey, "https://collector.example")
        for number in range(batches * size):
            box.put(slot, number.to_bytes(4))
            gone += box.cut(slot, size, stay=size)
        box.cut(slot, size, is_last=True)
        # Batches have random names; the later one leaves, the later its first possible report came.
        found = [[int.from_bytes(message) for message in batch.messages] for batch in box.batches()]
        box.close()
    for left in found:
        assert len(left) == size
        within.append(spearmanr(range(size), left).statistic)
        overall.append(sorted(left))
    assert gone == batches - 1, "the last one leaves when the survey is over"
    mean = float(np.mean(within))
    # Under chance the mean of so many correlations has the standard error 1 / sqrt(199 batches), for ten .022; it is
    # more than 5.3 of them away from 0 less often than once in five million runs.
    assert abs(mean) < 5.3 / np.sqrt((size - 1) * batches), mean
    together = sorted(itertools.chain(*overall))
    assert together == list(range(batches * size))
    spread = sorted(part[-1] - part[0] + 1 for part in overall)
    return (
        f"{batches} batches of {size}: mean rank correlation within batches {mean:+.3f}, largest "
        f"{max(map(abs, within)):.3f}; the reports of a batch came among {spread[0]:,} to {spread[-1]:,} in a row"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"place-messages": place_messages, "place-order": place_order}
