"""The pages: the home page, ``/s/<id>`` to answer, and the browser client. None of them ever sees an answer."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from zlib import adler32

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, redirect, request, send_file
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as AnyResponse

from deniable import __version__
from deniable_server.language import client_folder, translated
from deniable_server.web.embedding import client_files, gzipped, survey_page

pages = APIBlueprint("pages", __name__, enable_openapi=False, static_folder="static", static_url_path="/static")


CLIENT_TYPES = {".js": "text/javascript", ".json": "application/json"}


def init_app(app: APIFlask, contact: str | None) -> None:
    """Serve the pages and the browser client; the home page says whom to ask about this collector."""
    app.config["CONTACT"] = contact
    app.jinja_env.globals["version"] = __version__
    app.register_blueprint(pages)

    serve_client(app)


def serve_client(app: APIFlask) -> None:
    """Serve the style sheet of every page and the files of the browser client."""
    files = client_files()
    style = style_sheet()
    packed = gzipped(style)

    @app.get("/static/pages.css")
    @app.doc(hide=True)
    def pages_css() -> AnyResponse:
        """The style sheet of every page."""
        is_packed = request.accept_encodings.quality("gzip") > 0
        response = Response(packed if is_packed else style, mimetype="text/css")
        if is_packed:
            response.content_encoding = "gzip"
        response.vary.add("Accept-Encoding")
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


@pages.get("/favicon.ico")
def favicon() -> AnyResponse:
    """Redirect to the icon, which browsers request for every page."""
    return redirect("/static/icon.png", 301)


def link_to(contact: str | None) -> str | None:
    """The address behind a contact, if it is one of mail or of the web."""
    if contact and re.fullmatch(r"[^\s@:/]+@[^\s@:/]+", contact):
        return f"mailto:{contact}"
    return contact if contact and re.fullmatch(r"https://\S+", contact) else None
