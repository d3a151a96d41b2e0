"""The preview: the respondents' own page of a survey file, on this computer alone, and the bench beside it.

It has no store: a reply that somebody sends from it is answered as a collector would answer, and thrown away.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apiflask import APIFlask
from flask import Response, jsonify, make_response, render_template, request, send_file
from werkzeug.exceptions import Forbidden, HTTPException, NotFound
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Response as AnyResponse

from deniable import Survey, __version__
from deniable.access.issuer import Issuer
from deniable.errors import DeniableError
from deniable_server.authors.bench import bench
from deniable_server.authors.draft import Draft
from deniable_server.edge.heads import CONTENT_SECURITY_POLICY, Heads, SecurityHeaders
from deniable_server.language import catalogues, client_folder, language_of, words
from deniable_server.signing import PrivateKey
from deniable_server.web.embedding import in_templates
from deniable_server.web.pages import serve_client
from deniable_statistics.authoring.outlook import RESPONDENTS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

BENCH_POLICY = CONTENT_SECURITY_POLICY.replace("connect-src 'self'", "connect-src 'self'; frame-src 'self'")
"""The collector's policy; the page frames the preview, and nothing that a respondent's page leads to."""

FRAMED_POLICY = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
"""The policy of the respondents' page, which the bench may frame."""

PORT = 8100
"""Where it is by default, if nothing else listens there."""

WAIT_SECONDS = 20.0
"""Time after which the page asks anew whether the file changed, in seconds."""

MOST_PEOPLE, LEAST_EPSILON, MOST_EPSILON = 10_000_000, 0.05, 16.0
"""What the page may ask figures for; the epsilons are of the whole survey, in nats."""

OPEN = "open"
STATES: dict[str, tuple[str, str, int]] = {
    OPEN: ("open", "open", 201),
    "early": ("early", "open", 410),
    "closed": ("closed", "open", 410),
    "used": ("open", "used", 409),
    "unknown": ("open", "unknown", 403),
    "receipt": ("open", "open", 201),
    "waiting": ("open", "open", 500),
    "late": ("open", "open", 410),
    "refused": ("open", "open", 422),
}
"""What a collector would say of a survey, of an invitation, and with which status of a reply, in each state."""

DETAILS = {403: "not invited", 409: "used before", 410: "closed", 422: "not taken", 500: ""}

_BLINDED = re.compile(r"[0-9a-f]{512}")


def create_preview(path: Path) -> APIFlask:
    """The application that previews a file.

    Parameters
    ----------
    path : Path
        The author's TOML. It is read whenever it is asked about, and never written.
    """
    app = APIFlask(
        "deniable_server",
        spec_path=None,
        docs_path=None,
        template_folder="web/templates",
        static_folder=None,  # type: ignore[arg-type]  # Flask takes None for no folder
    )
    app.json.compact = True  # type: ignore[attr-defined]
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.config["MAX_CONTENT_LENGTH"] = 64 * 1024
    app.jinja_env.globals |= {"version": __version__, **in_templates()}
    draft = Draft(path)
    _serve_bench(app, draft)
    _serve_survey(app, draft)
    serve_client(app)
    app.register_error_handler(DeniableError, lambda error: _problem(str(error), 422))
    app.register_error_handler(HTTPException, lambda error: _problem(str(error.description), error.code or 500))
    app.wsgi_app = LocalHosts(app.wsgi_app)  # type: ignore[method-assign]  # wrapping it is how Flask says to do this
    app.wsgi_app = Heads(app.wsgi_app)  # type: ignore[method-assign]  # here too
    app.wsgi_app = SecurityHeaders(app.wsgi_app)  # type: ignore[method-assign]  # and here
    return app


def _serve_bench(app: APIFlask, draft: Draft) -> None:
    """The page with the bench, its script and style, and its figures."""
    folder = client_folder() / "bench" / "dist"
    style = (Path(__file__).parents[1] / "web" / "bench.css").read_bytes()
    static = Path(__file__).parents[1] / "web" / "static"

    @app.get("/")
    def bench_page() -> Response:
        """The page."""
        response = make_response(render_template("bench.html", file=draft.path.name))
        response.headers["Content-Security-Policy"] = BENCH_POLICY
        return _fresh(response)

    @app.get("/bench/<any('bench.js', 'frame.js'):name>")
    def bench_script(name: str) -> Response:
        """A script of the page, or of the page that it frames."""
        return _fresh(send_file(folder / name, mimetype="text/javascript"))

    @app.get("/bench/bench.css")
    def bench_style() -> Response:
        """The style of the page beyond that of all pages."""
        return _fresh(Response(style, mimetype="text/css"))

    @app.get("/bench/figures")
    def figures() -> Response:
        """All that the bench shows, for a number of respondents and an epsilon."""
        respondents = int(_number("respondents", RESPONDENTS, 2, MOST_PEOPLE))
        epsilon = _number("epsilon", None, LEAST_EPSILON, MOST_EPSILON)
        return _fresh(jsonify(bench(draft.look(), respondents, epsilon)))

    @app.get("/bench/changes")
    def changes() -> Response:
        """The revision of the file as soon as it is another one."""
        revision = int(_number("revision", 0, 0, 10**9))
        return _fresh(jsonify({"revision": draft.wait(revision, WAIT_SECONDS).revision}))

    @app.get("/static/icon.png")
    @app.get("/favicon.ico", endpoint="favicon")
    def icon() -> Response:
        """The icon."""
        return send_file(static / "icon.png")


def _serve_survey(app: APIFlask, draft: Draft) -> None:
    """The respondents' page in each state, and what its script asks a collector."""
    at = "/as/<any({}):state>".format(", ".join(f"'{each}'" for each in STATES))
    api = f"{at}/api/v1/surveys/<survey_id>"

    def current(survey_id: str | None = None) -> Survey:
        version = draft.look().version
        if version is None:
            raise NotFound("survey: the file was no survey yet")
        survey = _with_preview_key(version.survey)
        if survey_id not in (None, survey.id):
            raise NotFound("survey: the file has changed")
        return survey

    @app.get(f"{at}/survey")
    def now(state: str) -> AnyResponse:
        """The address of the last sound version, which the page in the frame is loaded from."""
        response = Response(status=302)
        response.headers["Location"] = f"/as/{state}/s/{current().id}"
        return _fresh(response)

    @app.get(f"{at}/s/<survey_id>")
    def answer(state: str, survey_id: str) -> Response:
        """The page where people answer."""
        language = language_of(request.accept_languages)
        page = render_template(
            "preview.html",
            survey=current(survey_id),
            catalogue=catalogues()[language],
            words=words(language),
            base=request.host_url.rstrip("/"),
            prefix=f"/as/{state}",
        )
        response = make_response(page)
        response.headers["Content-Security-Policy"] = FRAMED_POLICY
        return _fresh(response)

    @app.get(f"{api}")
    def document(state: str, survey_id: str) -> Response:
        """The published document."""
        return _fresh(Response(current(survey_id).document, mimetype="application/json"))

    @app.get(f"{api}/state")
    def survey_state(state: str, survey_id: str) -> Response:
        """Whether the survey takes replies."""
        return _fresh(jsonify({"state": STATES[state][0]}))

    @app.post(f"{api}/invitations/state")
    def invitation_state(state: str, survey_id: str) -> Response:
        """Whether the invitation was used."""
        return _fresh(jsonify({"state": STATES[state][1]}))

    @app.post(f"{api}/tokens")
    def sign(state: str, survey_id: str) -> Response:
        """A blind signature, of a key that is this preview's alone."""
        blinded = str((request.get_json(silent=True) or {}).get("blinded", ""))
        if not _BLINDED.fullmatch(blinded) or not _preview_key().can_sign(bytes.fromhex(blinded)):
            return _problem("blinded: must be a blinded message", 422)
        if STATES[state][1] != "open":
            return _problem(DETAILS[STATES[state][2]], STATES[state][2])
        return _fresh(jsonify({"signature": _preview_key().blind_sign(bytes.fromhex(blinded)).hex()}))

    @app.post(f"{api}/reports")
    def take(state: str, survey_id: str) -> Response:
        """The answer to a reply, which is neither read nor kept."""
        status = STATES[state][2]
        return _fresh(make_response({"status": "stored"}, 201)) if status == 201 else _problem(DETAILS[status], status)


@cache
def _preview_key() -> PrivateKey:
    return PrivateKey.generate()


@lru_cache(maxsize=8)
def _with_preview_key(survey: Survey) -> Survey:
    """The survey with a key that this preview can sign tokens with: people read the same, and nobody else is asked."""
    if survey.issuer is None:
        return survey
    return replace(survey, issuer=Issuer(_preview_key().public.der.hex()))


def _number(name: str, default: float | None, least: float, most: float) -> Any:
    """A number of the query within its range."""
    text = request.args.get(name)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise DeniableError(f"{name}: must be a number from {least:g} to {most:g}, got {text!r:.20}")
    return number


def _problem(detail: str, status: int) -> Response:
    return _fresh(make_response({"detail": detail} if detail else {}, status))


def _fresh(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


class LocalHosts:
    """A WSGI layer that answers to names of this computer alone.

    A page elsewhere could give its own name the address 127.0.0.1, and then read the draft as if it were its own.
    """

    def __init__(self, wsgi_app: Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]) -> None:
        self._wsgi_app = wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request."""
        host = environ.get("HTTP_HOST", "").rpartition(":")[0]
        if host not in ("127.0.0.1", "localhost"):
            return Forbidden("host: must be 127.0.0.1 or localhost")(environ, start_response)
        return self._wsgi_app(environ, start_response)


class _Quiet(WSGIRequestHandler):
    """Without a line for every request, which would bury the one with the address."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


def serve_preview(path: Path, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve the preview of a file on 127.0.0.1 until Ctrl-C.

    Parameters
    ----------
    path : Path
    port : int or None
        By default `PORT`, or one that is free.
    ready : callable
        Called with the address once somebody can open it.
    """
    server = preview_server(path, (PORT if _is_free(PORT) else 0) if port is None else port)
    ready(f"http://127.0.0.1:{server.server_port}/")
    try:
        server.serve_forever()
    finally:
        server.server_close()


def _is_free(port: int) -> bool:
    """Whether nothing listens at a port of this computer."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def preview_server(path: Path, port: int) -> BaseWSGIServer:
    """The server of the preview of a file, bound to its port."""
    try:
        server = make_server("127.0.0.1", port, create_preview(path), threaded=True, request_handler=_Quiet)
    except (OSError, SystemExit) as error:
        raise DeniableError(f"--port {port}: must be free on 127.0.0.1, something listens there already") from error
    # Long polls of a closed tab must not keep the process alive.
    server.daemon_threads = True  # type: ignore[attr-defined]  # of the threaded one
    return server
