"""Sealed reports over HTTP: from devices, where the survey names no place, and from places, many at once."""

from __future__ import annotations

import logging
import threading
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import current_app, g, request

from deniable import Report, ReportError, Survey, parse_report
from deniable_server.access.tokens import require_token
from deniable_server.edge.limits import get_limits
from deniable_server.sealing import KeysMissing, SealingKeys
from deniable_server.store import Store, Verdict
from deniable_server.web.api import (
    BASE,
    MAX_BATCH_BYTES,
    NOT_A_RELAY,
    OF_BODIES,
    TOO_MANY,
    UNAVAILABLE,
    allow_other_origins,
    get_store,
    read_body,
    refusal_of,
    submit,
)

SEALED = "application/octet-stream"

HOUR = 3600.0
"""Seconds between two looks for keys that have to be destroyed."""

LOGGER = logging.getLogger("deniable")

sealed = APIBlueprint("sealed", __name__, url_prefix=BASE, tag="API")
sealed.after_request(allow_other_origins)


def init_app(app: APIFlask, store: Store, keys: SealingKeys) -> None:
    """Serve the route; where there are keys, destroy each when its time is over."""
    app.extensions["deniable-sealing"] = keys
    app.register_blueprint(sealed)
    if keys.are_given:
        destroy_old_keys(store, keys)  # before anything is opened: a copy of the folder may have brought some back
        threading.Thread(target=_destroy_hourly, args=(store, keys), name="deniable-sealing", daemon=True).start()


@sealed.post("/surveys/<survey_id>/sealed")
@sealed.doc(
    responses={
        200: "already known, and counted once; or the results of several reports",
        201: "stored: on disk",
        401: NOT_A_RELAY,
        403: "no invitation or token of this survey, although it requires one",
        404: "no such survey",
        409: "another report has this id, or has used the invitation",
        410: "closed, or not yet open, or sealed to a key that was destroyed",
        **OF_BODIES,
        415: "not application/octet-stream",
        422: "not sealed reports of this survey",
        429: TOO_MANY,
        503: UNAVAILABLE,
        507: "disk full: send the same request again later",
    }
)
def take_sealed(survey_id: str) -> tuple[dict[str, Any], int]:
    """Send sealed reports.

    One sealed report, or several of them concatenated: all have the length that the survey determines. Each consists
    of the number of a key of the survey, the encapsulated key and the ciphertext (HPKE, RFC 9180, base mode). It
    contains a report like any other, which counts once. If a survey names places, this needs a token of scope `relay`.
    """
    store = get_store()
    survey = store.survey(survey_id)
    if survey.sealed is None:
        raise ReportError(f"survey {survey_id}: its reports are not sealed")
    if survey.places:
        require_token("relay")
    body = read_body(MAX_BATCH_BYTES, SEALED)
    parts = survey.sealed.split(body)
    g.survey = survey.id
    if len(parts) == 1:
        return _take_one(store, survey, parts[0])
    with get_limits().batching(request.environ):
        return _take_many(store, survey, parts), 200


def _take_one(store: Store, survey: Survey, part: bytes) -> tuple[dict[str, Any], int]:
    (outcome,) = submit(survey, [_opened(survey, part)])
    if refusal := refusal_of(outcome, store, survey):
        raise refusal
    return {"status": outcome.value}, 201 if outcome is Verdict.STORED else 200


def _take_many(store: Store, survey: Survey, parts: list[bytes]) -> dict[str, Any]:
    """Store what opens in one transaction; a number says how much does not. Which ones is told to nobody."""
    reports: list[Report] = []
    missing: KeysMissing | None = None
    for part in parts:
        try:
            reports.append(_opened(survey, part))
        except KeysMissing as error:
            missing = error
        except ReportError:  # of which a place can know nothing, and must not learn more
            continue
    outcomes = submit(survey, reports) if reports else []
    if missing is not None:  # what opens is stored; the batch comes again, until the key is here or its time is over
        raise missing
    # A collector that says no to all of them is closed: the place keeps them, and says so to its operator.
    if outcomes and all(each is Verdict.CLOSED for each in outcomes):
        refusal = refusal_of(Verdict.CLOSED, store, survey)
        assert refusal is not None, "closed is one"
        raise refusal
    stored, known = outcomes.count(Verdict.STORED), outcomes.count(Verdict.KNOWN)
    refused = len(parts) - stored - known
    get_limits().charge(request.environ, refused)
    return {"stored": stored, "known": known, "refused": refused}


def _opened(survey: Survey, part: bytes) -> Report:
    keys: SealingKeys = current_app.extensions["deniable-sealing"]
    return parse_report(keys.open(survey, part), survey)


def _destroy_hourly(store: Store, keys: SealingKeys) -> None:
    wait = threading.Event()
    while True:
        wait.wait(HOUR)
        destroy_old_keys(store, keys)


def destroy_old_keys(store: Store, keys: SealingKeys) -> None:
    """Destroy the keys whose time is over; what stands in the way is logged, and the next round tries again."""
    try:
        for first in keys.destroy_old(store.believed_day()):
            LOGGER.info("sealing: the key of the week of %s was destroyed", first)
    except Exception as error:  # a disk or a database that is away for a while must not end the thread
        LOGGER.warning("sealing: keys whose time is over could not be destroyed: %s", error)
    finally:
        store.leave()  # a connection that lies open for an hour would hold a database that was replaced
