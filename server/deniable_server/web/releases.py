"""Releases: the page and the calls on the log of a survey, and one archive of everything about a survey."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, jsonify, render_template, request

from deniable.release.merkle import leaf_hash
from deniable.release.record import ReleaseRecord
from deniable_server.access.tokens import require_reader
from deniable_server.edge.delivery import counted
from deniable_server.edge.heads import OPEN_TO_ALL_ORIGINS
from deniable_server.language import language_of, words
from deniable_server.results.drawing import Labels
from deniable_server.results.service import get_results
from deniable_server.store import NotFound, SurveyState
from deniable_server.store.release_log import ReleaseRow
from deniable_server.web import schemas
from deniable_server.web.api import BASE, NOT_PUBLIC, TOO_MANY, UNAVAILABLE, get_store
from deniable_server.web.embedding import Pages

releases = APIBlueprint("releases", __name__, tag="API")


def init_app(app: APIFlask) -> None:
    """Serve the log of releases."""
    app.register_blueprint(releases)


@releases.after_request
def allow_other_origins(response: Response) -> Response:
    """Let pages of other sites verify releases, too."""
    if request.path.startswith(BASE):
        response.headers.extend(OPEN_TO_ALL_ORIGINS)
    return response


def _rows_of(survey_id: str) -> tuple[SurveyState, list[ReleaseRow]]:
    state = get_store().state(survey_id)
    require_reader(state.survey)
    return state, get_results().releases.rows(state)


@releases.get(f"{BASE}/surveys/<survey_id>/releases")
@releases.output(schemas.Releases)
@releases.doc(responses={401: NOT_PUBLIC, 404: "no such survey", 429: TOO_MANY, 503: UNAVAILABLE})
def list_releases(survey_id: str) -> Response:
    """List releases.

    The log of a survey: its signed head, and of each release the number, the leaf hash in the Merkle tree (RFC 9162)
    and the signature. `deniable verify` checks all of it; [verifying.md](verifying.md) says how.
    """
    state, rows = _rows_of(survey_id)
    log = get_results().releases
    head, signature = log.head(state.survey, rows)
    document: dict[str, Any] = {
        "survey": survey_id,
        "key": log.key.raw.hex(),
        "key_id": log.key.key_id,
        "head": head.encode().decode("ascii"),
        "head_signature": signature,
        "releases": [
            {"number": row.number, "leaf": leaf_hash(row.record.encode()).hex(), "signature": row.signature}
            for row in rows
        ],
    }
    response = jsonify(document)
    response.headers["Cache-Control"] = "no-cache"
    return counted(response)


@releases.get(f"{BASE}/surveys/<survey_id>/releases/<int:number>")
@releases.doc(responses={200: "the record", 401: NOT_PUBLIC, 404: "no such release", 429: TOO_MANY, 503: UNAVAILABLE})
def fetch_release(survey_id: str, number: int) -> Response:
    """Fetch a release.

    The record of a release, byte for byte as it was signed: survey, number, day, tallies, and the SHA-256 of the
    noisy reports as `reports.csv` held them then.
    """
    _, rows = _rows_of(survey_id)
    if not 1 <= number <= len(rows):
        raise NotFound(f"release: must be one of the {len(rows)} of this survey, got {number}")
    response = Response(rows[number - 1].record, mimetype="application/json")
    # A release never changes; a private one is kept by nobody between.
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@releases.get("/s/<survey_id>/releases")
@releases.doc(hide=True)
def releases_page(survey_id: str) -> Response:
    """The page of all releases of a survey."""
    state, rows = _rows_of(survey_id)
    language = language_of(request.accept_languages)
    records = [ReleaseRecord.parse(row.record.encode()) for row in rows]
    shown = [
        {"record": record, "leaf": leaf_hash(record.encode()).hex(), "new": dict(_new(before, record))}
        for before, record in zip([None, *records], records, strict=False)
    ]
    pages: Pages = current_app.extensions["deniable-pages"]
    page = render_template(
        "releases.html",
        words=words(language),
        labels=Labels(words(language)),
        survey=state.survey,
        releases=shown[::-1],
        key=get_results().releases.key.key_id,
        base=pages.mark,
    )
    response = counted(Response(pages.filled(page.encode())))
    response.headers["Cache-Control"] = "private, no-cache"  # it names the host that was asked
    response.vary.add("Accept-Language")
    return response


def _new(before: ReleaseRecord | None, record: ReleaseRecord) -> Iterator[tuple[str | None, int]]:
    """How many replies of each cohort a release has more than the one before it."""
    for cohort, tally in record.tallies.items():
        known = before.tallies[cohort].n if before is not None and cohort in before.tallies else 0
        if tally.n > known:
            yield cohort, tally.n - known
