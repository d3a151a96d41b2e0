"""Single figures on pages of other sites: a page for a frame, and oEmbed, by which such sites find it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, jsonify, request
from markupsafe import escape
from pydantic import ValidationError
from werkzeug.exceptions import NotImplemented as NotSupported

from deniable import Question
from deniable_server.edge.delivery import tagged
from deniable_server.results.query import ViewQuery
from deniable_server.store import NotFound
from deniable_server.web.embedding import Pages
from deniable_server.web.results_pages import ResultsPage, frame_height, frame_of, question_of, refuse_long_page, render

embedded_figures = APIBlueprint("embedded-figures", __name__, enable_openapi=False)

FRAME_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The policy of a figure in a frame, which has no script: any site may frame it, and it can load nothing."""

LEAST_WIDTH, MOST_WIDTH = 320, 560
"""Widths of frames, in pixels."""

LEAST_HEIGHT = 200
"""Least height of a frame, in pixels; what is higher scrolls within it."""

_VIEW = re.compile(r"/s/([a-z2-7]{26})/results/([A-Za-z0-9_-]{1,64})")


def init_app(app: APIFlask) -> None:
    """Serve figures for frames, and tell other sites of them."""
    app.register_blueprint(embedded_figures)


@embedded_figures.get("/s/<survey_id>/results/<question_id>/embed")
@embedded_figures.input(ViewQuery, location="query", arg_name="query")
def framed_figure(survey_id: str, question_id: str, query: ViewQuery) -> Response:
    """The figure of a view, with its table, for a frame on a page of another site."""
    page = ResultsPage(survey_id, query, question_id)
    question = question_of(page, question_id)
    refuse_long_page(page, question)

    def values() -> dict[str, Any]:
        return {"question_id": question.id, "section": page.section(question) if page.shown.n else None}

    waves = tuple((each.state.survey.id, each.state.release) for each in page.waves_shown)
    response = render(page, "figure.html", (question.id, waves), values)
    response.headers["Content-Security-Policy"] = FRAME_POLICY
    return response


@embedded_figures.get("/oembed")
def oembed() -> Response:
    """The frame of a view, as oEmbed 1.0 describes it: https://oembed.com."""
    if request.args.get("format", "json") != "json":
        raise NotSupported("format: must be json")
    page, question = _view_of(request.args.get("url", ""))
    width = max(LEAST_WIDTH, min(MOST_WIDTH, request.args.get("maxwidth", MOST_WIDTH, int)))
    highest = max(LEAST_HEIGHT, request.args.get("maxheight", 10**4, int))
    drawn = page.section(question).figure if page.shown.n else None
    height = min(frame_height(drawn, width), highest)
    pages: Pages = current_app.extensions["deniable-pages"]
    title = f"{page.labels.text(question.text)} \u2013 {page.labels.text(page.survey.title)}"
    document: dict[str, Any] = {
        "version": "1.0",
        "type": "rich",
        "provider_name": "Deniable",
        "provider_url": pages.base,
        "title": title,
        "width": width,
        "height": height,
        "html": frame_of(page, question, width, height).replace(page.base, escape(pages.base)),
        "cache_age": 3600,
    }
    if page.survey.organiser:
        document["author_name"] = page.labels.text(page.survey.organiser)
    response = jsonify(document)
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept-Language")
    return tagged(response)


def _view_of(url: str) -> tuple[ResultsPage, Question]:
    """The view of a question at an address of this collector, or 404, as oEmbed wants it for others."""
    pages: Pages = current_app.extensions["deniable-pages"]
    path, _, asked = url.partition("#")[0].removeprefix(pages.base).partition("?")
    found = _VIEW.fullmatch(path)
    if found is None or not url.startswith(pages.base):
        raise NotFound("url: must be the address of a question's results at this collector")
    try:
        query = ViewQuery.model_validate({name: values[0] for name, values in parse_qs(asked).items()})
    except ValidationError:
        raise NotFound("url: must be the address of a view, got a query that there is not") from None
    page = ResultsPage(found[1], query, found[2])
    return page, question_of(page, found[2])
