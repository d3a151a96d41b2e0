"""The pages: ``/s/<id>`` to answer, ``/s/<id>/results`` to read. None of them ever sees an answer."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import adler32

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, redirect, render_template, request, send_file
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as AnyResponse

from deniable import EstimateRow, Survey, __version__
from deniable.access.words import ONE_REPORT
from deniable.privacy.ceiling import weakness
from deniable_server.access.tokens import require_reader
from deniable_server.edge.delivery import counted
from deniable_server.language import client_folder, translated
from deniable_server.results import drawing
from deniable_server.results.query import EstimatesQuery
from deniable_server.results.service import figure, get_results, points_of_fakes
from deniable_server.store import SurveyState
from deniable_server.web.api import get_store
from deniable_server.web.embedding import client_files, survey_page
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.published.columns import WHERE_IT_APPLIES, name_of_option

pages = APIBlueprint("pages", __name__, enable_openapi=False, static_folder="static", static_url_path="/static")


PROTECTION = (
    "From what one person sent, nobody can be sure what is true for that person.",
    "What one person sent is a hint, not proof.",
    "It is little protection: what one person sent tells much about that person's true answers.",
)

CLIENT_TYPES = {".js": "text/javascript", ".json": "application/json"}


def init_app(app: APIFlask, contact: str | None) -> None:
    """Serve the pages and the browser client; the home page says whom to ask about this collector."""
    app.config["CONTACT"] = contact
    app.jinja_env.globals["version"] = __version__
    app.jinja_env.globals["one_report"] = ONE_REPORT
    app.jinja_env.filters["figure"] = figure
    app.jinja_env.filters["name_of_option"] = name_of_option
    app.jinja_env.globals["where_it_applies"] = WHERE_IT_APPLIES
    app.jinja_env.filters["protection"] = protection
    app.jinja_env.filters["fakes"] = points_of_fakes
    app.jinja_env.globals["drawing_of"] = drawing.drawing
    app.jinja_env.globals["headlines_of"] = drawing.headlines
    app.register_blueprint(pages)

    serve_client(app)


def serve_client(app: APIFlask) -> None:
    """Serve the style sheet of every page and the files of the browser client."""
    files = client_files()
    style = style_sheet()

    @app.get("/static/pages.css")
    @app.doc(hide=True)
    def pages_css() -> AnyResponse:
        """The style sheet of every page."""
        response = Response(style, mimetype="text/css")
        response.add_etag()
        response.headers["Cache-Control"] = "no-cache"
        return response.make_conditional(request)

    @app.get("/client/<path:name>")
    @app.doc(hide=True)
    def client_module(name: str) -> Response:
        """A file of the browser client, byte for byte as it was reviewed and as its published hash says."""
        if name not in files:
            raise NotFound
        file = files[name]
        kind = CLIENT_TYPES[file.path.suffix]
        # Compressed once at the start, with a fixed time, instead of for every request.
        if file.gzipped is None or not request.accept_encodings.quality("gzip"):
            response = send_file(file.path, mimetype=kind, conditional=True, max_age=0)
        else:
            # Another tag than that of the plain file: a cache must not mix the two.
            tag = f"{adler32(file.gzipped):08x}-gzip"
            response = send_file(BytesIO(file.gzipped), mimetype=kind, conditional=True, max_age=0, etag=tag)
            response.content_encoding = "gzip"
        if file.gzipped is not None:
            response.vary.add("Accept-Encoding")
        # Other sites embed the element as a module, which browsers fetch with CORS.
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response


def style_sheet() -> bytes:
    """The design system of the browser client, and what the pages have beyond it."""
    own = Path(__file__).parent / "pages.css"
    return (client_folder() / "design.css").read_bytes() + own.read_bytes()


@pages.get("/")
def home() -> Response:
    """The start page: a field for a link, and what this server is, for whom, and who runs it."""
    contact: str | None = current_app.config["CONTACT"]
    return translated("home.html", contact=contact, contact_link=link_to(contact))


@pages.get("/device")
def device() -> Response:
    """The page on what a browser remembers of the surveys of this collector. The script reads it; nothing is sent."""
    return translated("device.html")


@pages.get("/s/<survey_id>")
def answer(survey_id: str) -> Response:
    """The page where people answer."""
    return survey_page("answer.html", survey_id)


@pages.get("/s/<survey_id>/results")
@pages.input(EstimatesQuery, location="query", arg_name="query")
def results(survey_id: str, query: EstimatesQuery) -> Response:
    """The page with a survey's results."""
    state = get_store().state(survey_id)
    require_reader(state.survey)
    today = get_store().today()
    said = {
        "notice": notice(state),
        "not_open_because": state.not_open_because(today),
        "more_may_wait": state.more_may_wait(today),
        "is_hidden": state.hidden_because is not None,
    }

    def render() -> str:
        n, rows = get_results().estimates(survey_id, query)
        rows_of: dict[str, list[EstimateRow]] = {question.id: [] for question in state.survey.questions}
        for row in rows:
            rows_of[row.question].append(row)
        return render_template(
            "results.html",
            **said,
            survey=state.survey,
            n=n,
            rows_of=rows_of,
            methods=sorted({row.method for row in rows}),
            query=query,
            chosen=query_string(query),
            has_headlines=query.method == DEFAULT_METHOD and query.confidence >= drawing.LEAST_LEVEL,
            has_drawings=n > 0 and len(rows) <= drawing.MOST_ROWS,
            has_chart=n > 0 and drawing.can_draw(rows),
        )

    # Rendered once for all readers until results or the given sentences change.
    return counted(Response(get_results().page(survey_id, query, tuple(said.values()), render)))


@pages.get("/s/<survey_id>/results.<any(svg, png):form>")
@pages.input(EstimatesQuery, location="query", arg_name="query")
def chart(survey_id: str, form: str, query: EstimatesQuery) -> Response:
    """The chart of the results page."""
    require_reader(get_store().survey(survey_id))
    n, rows = get_results().estimates(survey_id, query)
    if not n or not drawing.can_draw(rows):
        raise NotFound
    image = get_results().chart(survey_id, query, form, rows)
    response = Response(image, mimetype="image/svg+xml" if form == "svg" else "image/png")
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'"  # as matplotlib writes
    )
    return response


@pages.get("/favicon.ico")
def favicon() -> AnyResponse:
    """Redirect to the icon, which browsers request for every page."""
    return redirect("/static/icon.png", 301)


def link_to(contact: str | None) -> str | None:
    """The address behind a contact, if it is one of mail or of the web."""
    if contact and re.fullmatch(r"[^\s@:/]+@[^\s@:/]+", contact):
        return f"mailto:{contact}"
    return contact if contact and re.fullmatch(r"https://\S+", contact) else None


def notice(state: SurveyState) -> str | None:
    """A sentence on when results change, for their readers; None if there is nothing to say."""
    if state.hidden_because:
        return f"{state.hidden_because[0].upper()}{state.hidden_because[1:]}."
    if more := state.more_may_wait(get_store().today()):
        sentence = f"{more[0].upper()}{more[1:]}."
        return f"{sentence} Results stand still in between, so that nobody can watch single reports arrive."
    return None


def protection(survey: Survey) -> str:
    """The sentence on the privacy of respondents on the results page, by the strength of the noise."""
    return PROTECTION[weakness(survey)]


def query_string(query: EstimatesQuery) -> str:
    """The query string of links, without defaults; it starts with a question mark unless it is empty."""
    from urllib.parse import urlencode

    chosen: dict[str, Any] = query.model_dump(exclude_defaults=True)
    return f"?{urlencode(chosen)}" if chosen else ""
