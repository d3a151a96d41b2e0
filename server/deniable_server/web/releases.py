"""Releases: the page and the calls on the log of a survey, and one archive of everything about a survey."""

from __future__ import annotations

import tempfile
from http import HTTPStatus
from typing import IO, Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, jsonify, render_template, request, send_file

from deniable_server.access.tokens import require_reader
from deniable_server.edge.delivery import is_known, tagged
from deniable_server.edge.heads import OPEN_TO_ALL_ORIGINS
from deniable_server.edge.limits import REPORTS_A_REQUEST, get_limits
from deniable_server.language import language_of_query, translated, words
from deniable_server.results import archive
from deniable_server.results.drawing import Labels
from deniable_server.results.file_columns import FILES, METHOD_LABELS
from deniable_server.results.query import EstimatesQuery
from deniable_server.results.releases import reports_file
from deniable_server.results.service import get_results
from deniable_server.store import NotFound, SurveyState
from deniable_server.store.release_log import ReleaseRow
from deniable_server.web import schemas
from deniable_server.web.api import (
    BASE,
    NOT_PUBLIC,
    NOT_THIS_READER,
    TOO_MANY,
    UNAVAILABLE,
    UNCHANGED,
    get_store,
    tag_of,
)
from deniable_server.web.citing import Citation
from deniable_server.web.embedding import Pages
from deniable_server.web.pages import link_to
from deniable_server.web.rehearsals import file_name, mark_of, staged
from deniable_statistics.release.merkle import leaf_hash

IN_MEMORY = 8 * 2**20
"""Largest archive that is held in memory, in bytes."""

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
@releases.doc(
    responses={
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such survey",
        429: TOO_MANY,
        503: UNAVAILABLE,
    }
)
def list_releases(survey_id: str) -> Response:
    """List releases.

    The log of a survey consists of its signed head and, for each release, the number, the leaf hash in the Merkle tree
    (RFC 9162) and the signature. `deniable verify` checks all of it; [verifying.md](verifying.md) describes how.
    """
    state, rows = _rows_of(survey_id)
    log = get_results().releases
    head, signature = log.head(state.survey, rows)
    document: dict[str, Any] = {
        "survey": survey_id,
        "rehearsal": staged() is not None,
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
    return tagged(response)


@releases.get(f"{BASE}/surveys/<survey_id>/releases/<number>")
@releases.doc(
    responses={
        200: "the record",
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such release",
        429: TOO_MANY,
        503: UNAVAILABLE,
    }
)
def fetch_release(survey_id: str, number: str) -> Response:
    """Fetch a release.

    The record of a release, byte for byte as it was signed: survey, number, day, tallies, and the SHA-256 of the
    noisy reports as they were in `reports.csv` at that time.
    """
    _, rows = _rows_of(survey_id)
    found = next((row for row in rows if str(row.number) == number), None)
    if found is None:
        raise NotFound(f"release: must be one of the {len(rows)} of this survey")
    response = Response(found.record, mimetype="application/json")
    # A release never changes; a private one is kept by nobody between.
    response.headers["Cache-Control"] = "private, no-cache"
    return tagged(response)


@releases.get(f"{BASE}/surveys/<survey_id>/archive.zip")
@releases.doc(
    responses={
        200: "a ZIP file",
        304: UNCHANGED,
        401: NOT_PUBLIC,
        403: NOT_THIS_READER,
        404: "no such survey",
        429: TOO_MANY,
        503: UNAVAILABLE,
    }
)
def fetch_archive(survey_id: str) -> Response:
    """Download everything in one archive.

    It contains the survey, its noisy reports, its estimates and the records of its releases. It also has a README, a
    codebook (Markdown and DDI), scripts in R, Stata, SPSS and Python that recompute the estimates, and one for
    regressions in R. Citations, a SQLite file with all tables and a description as a data package (Frictionless) are
    in it, too. All of it is in one folder, `SURVEY-ID`. The same release always has the same bytes.
    """
    state, rows = _rows_of(survey_id)
    pages: Pages = current_app.extensions["deniable-pages"]
    # All that an archive holds is of a release, of the days that it names, and of the address that citations name.
    dates = get_results().dates(state, get_results().releases.record(state))
    tag = tag_of(survey_id, state.release, len(rows), *dates.columns.values(), pages.base)
    if is_known(tag):
        response = Response(status=HTTPStatus.NOT_MODIFIED)
        response.set_etag(tag)
        response.headers["Cache-Control"] = "private, no-cache"
        return response
    limits = get_limits()
    limits.charge(request.environ, max(0, state.release) // REPORTS_A_REQUEST + 1)
    place = limits.sending(request.environ)
    place.take()
    try:
        file = _archive(state, rows)
    except BaseException:
        place.give_back()
        raise
    size = file.tell()
    file.seek(0)
    response = send_file(
        file, "application/zip", as_attachment=True, download_name=f"{file_name(survey_id)}.zip", etag=False
    )
    response.direct_passthrough = False  # which would not call what is to be called when it was sent
    response.content_length = size
    response.headers["Cache-Control"] = "private, no-cache"
    if request.authorization is None:
        response.set_etag(tag)
    response.call_on_close(file.close)
    response.call_on_close(place.give_back)
    return response


def _archive(state: SurveyState, rows: list[ReleaseRow]) -> IO[bytes]:
    """The archive of a survey as a file that is open at its end."""
    survey, results = state.survey, get_results()
    pages: Pages = current_app.extensions["deniable-pages"]
    shown = results.releases.shown(state)
    kind = staged()
    citation = Citation(survey, shown, pages.base, results.dates(state, shown.record), kind)
    everybody = EstimatesQuery.model_validate({})
    estimates = {"estimates.csv": results.text(state, everybody, "csv")}
    if survey.cohorts:
        by_cohort = EstimatesQuery.model_validate({"by": "cohort"})
        estimates["estimates-by-cohort.csv"] = results.text(state, by_cohort, "csv")
    _, found = results.estimates(survey, everybody)
    texts = {
        "CITATION.cff": citation.cff,
        "citation.bib": citation.bibtex,
        "methods.txt": citation.methods + "\n",
        "methods.tex": citation.methods_in_tex + "\n",
        "methods.bib": citation.works_in_bibtex,
        **({f"{kind.upper()}.txt": f"{mark_of(kind)}\n"} if kind else {}),
        **{f"releases/{row.number}.json": row.record for row in rows},
        **dict(archive.recipes(survey, found)),
    }
    # Beyond some megabytes on the disk; it is gone when it is closed.
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    about = {
        "survey": survey.id,
        "title": citation.title,
        "release": f"{citation.number or ''}",
        **citation.dates.columns,
        "url": citation.url,
        "cite": citation.text,
        "sample": str(survey.sample or ""),
        "license": citation.license.cited if citation.license else "",
        "methods": citation.methods,
    }
    content = archive.Content(
        estimates, results.files_about(survey, citation.title if kind else None), texts, about, FILES[0].labels
    )
    try:
        with get_store().released(survey) as released:
            archive.write(file, file_name(survey.id), survey, reports_file(survey, released), content)
    except BaseException:
        file.close()
        raise
    return file


@releases.get("/columns")
@releases.doc(hide=True)
def columns_page() -> Response:
    """What the columns of all files of results mean; they are English, as their names are."""
    return translated("columns.html", files=FILES, methods=METHOD_LABELS)


@releases.get("/s/<survey_id>/releases")
@releases.doc(hide=True)
def releases_page(survey_id: str) -> Response:
    """The page of all releases of a survey, rendered once for all readers of a language until there is another one."""
    state = get_store().state(survey_id)
    require_reader(state.survey)
    query, results = request.query_string.decode("latin-1"), get_results()
    language = language_of_query(query, request.accept_languages)
    # Links go on in the language that was asked for, and say none where the browser says it.
    asked = language if "lang" in request.args else None
    pages: Pages = current_app.extensions["deniable-pages"]
    newest = results.releases.newest(state)
    is_live = newest is None and state.survey.results == "live" and state.standing(get_store().today()) != "closed"

    contact = current_app.config["CONTACT"]

    def rendered() -> str:
        shown = results.releases.summaries(state)
        return render_template(
            "releases.html",
            words=words(language),
            labels=Labels(words(language)),
            survey=state.survey,
            lang=asked,
            releases=[
                {"release": each, "new": each.new_since(before)}
                for before, each in zip([None, *shown], shown, strict=False)
            ][::-1],
            key=results.releases.key.key_id,
            base=pages.mark,
            is_live=is_live,
            contact=contact,
            contact_link=link_to(contact),
        )

    # A survey whose results were live has its first release when it closes, and no other number moves then.
    saying = ("releases.html", language, asked, newest and newest.number, is_live)
    kept = results.page(survey_id, EstimatesQuery.model_validate({}), saying, rendered)
    response = Response(pages.filled(kept))
    response.headers["Cache-Control"] = "private, no-cache"  # it names the host that was asked
    response.vary.add("Accept-Language")
    return tagged(response)
