"""Places, and the sealed surveys that are answered at them."""

from __future__ import annotations

import datetime
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from apiflask import APIFlask
from werkzeug.serving import make_server

from deniable import Survey, read_survey
from deniable.survey.sealed import WEEK, Sealed, padded_size
from deniable_server.place.app import PlaceSettings, create_place
from deniable_server.place.relay import BatchRelay
from deniable_server.sealing import SealingKey
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.rig.serving import running
from tools.rig.surveys import TODAY, Clock

ORIGIN = "https://place.example"

QUESTION = """
title = "T"
closes = 2026-12-06
[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair?"
truth = "1/2"
"""

FIRST = TODAY - datetime.timedelta(days=1)
"""The first day of the first key of `sealed_survey`."""


def sealed_survey(
    folder: Path,
    survey: Survey | None = None,
    places: tuple[str, ...] = (ORIGIN,),
    kind: str = "p256",
    weeks: int = 3,
    first: datetime.date = FIRST,
) -> Survey:
    """A survey whose keys are in a folder; by default of one question, and answered at `ORIGIN`."""
    folder.mkdir(exist_ok=True)
    keys = [SealingKey.generate(first + number * WEEK, kind) for number in range(weeks)]
    for key in keys:
        key.write(folder)
    plain = replace(
        survey or read_survey(QUESTION), opens=None, closes=first + weeks * WEEK - datetime.timedelta(days=1)
    )
    sealed = Sealed(first, tuple(key.public for key in keys), padded_size(plain.longest_report))
    return replace(plain, sealed=sealed, places=places)


@contextmanager
def served(app: APIFlask, host: str = "127.0.0.1") -> Iterator[str]:
    """An application on a port of this machine; gives its URL."""
    with running(make_server(host, 0, app, threaded=True)) as place:
        yield f"http://{host}:{place.rpartition(':')[2]}"


@contextmanager
def place_in_process(
    folder: Path,
    clock: Clock,
    size: int = 5,
    origin: str | None = ORIGIN,
    collectors: Mapping[str, str | None] | None = None,
) -> Iterator[APIFlask]:
    """A place in this process, which passes on only when its `relay_of` is told to make a round."""
    path = folder / "place.db"
    box = Letterbox(path)
    for url, token in (collectors or {}).items():
        box.allow(url, token)
    box.close()
    app = create_place(PlaceSettings(path, origin=origin, size=size, pause=1e6, delay=0.0), clock)
    # What outlives a loss of power is tested by processes of their own, which are killed.
    box = box_of(app)
    with box._one_at_a_time:
        box._db.execute("PRAGMA synchronous = OFF")
    try:
        yield app
    finally:
        relay_of(app).stop()
        box_of(app).close()


def relay_of(app: APIFlask) -> BatchRelay:
    """What passes on in a place."""
    relay: BatchRelay = app.extensions["deniable-relay"]
    return relay


def box_of(app: APIFlask) -> Letterbox:
    """The letterbox of a place."""
    box: Letterbox = app.extensions["deniable-letterbox"]
    return box


def cut(app: APIFlask, survey: Survey, size: int, is_last: bool = False) -> int:
    """Make batches of what waits at a place for a survey, of its one collector, and let none stay; their number."""
    (slot,) = (slot for slot in box_of(app).slots() if slot.survey.id == survey.id)
    return box_of(app).cut(slot.name, size, is_last=is_last)


def loopback_names(number: int) -> list[str]:
    """Addresses of this machine that browsers and clients take for so many hosts."""
    names = [f"127.0.0.{last}" for last in range(1, number + 1)]
    for name in names:
        with socket.socket() as attempt:
            attempt.bind((name, 0))
    return names
