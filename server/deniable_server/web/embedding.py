"""The embedded browser client: bundles with their integrity hashes, and a page that other sites may frame."""

from __future__ import annotations

import gzip
import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, make_response, render_template, request
from jinja2 import Environment
from markupsafe import Markup, escape

from deniable import Survey
from deniable_server.edge.heads import CONTENT_SECURITY_POLICY
from deniable_server.language import catalogues, client_folder, in_apostrophes, language_of, words
from deniable_server.results.cache import ResultCache
from deniable_server.web.api import get_store

embedding = APIBlueprint("embedding", __name__, enable_openapi=False)

FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors *; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The policy of other pages, except that any site may frame this one; it cannot look into the frame."""


MOST_KEPT = 16 * 2**20
"""Size of the cache of rendered pages, in bytes."""


def bundles() -> dict[str, str]:
    """The ``integrity`` attribute of each bundle, which browsers compare with its bytes before they run it."""
    return _hashes("integrity")


def plugins() -> dict[str, str]:
    """The ``integrity`` attribute of each plugin for a tool that stores answers itself."""
    return _hashes("hosts")


def _hashes(kind: str) -> dict[str, str]:
    manifest = json.loads((client_folder() / "dist" / "manifest.json").read_text(encoding="utf-8"))
    hashes: dict[str, str] = manifest[kind]
    return hashes


class ClientFile(NamedTuple):
    """A file of the browser client and, for a bundle, its bytes in the format of gzip."""

    path: Path
    gzipped: bytes | None


def client_files() -> dict[str, ClientFile]:
    """Files of the browser client by their path under ``/client/``: modules, bundles, catalogues of translations."""
    root = client_folder()
    # Every module by its own name, so that what is reviewed can be loaded and compared.
    modules = [*root.glob("*.js"), *root.glob("mechanisms/*.js"), *root.glob("catalogues/*.js*")]
    files = {path.relative_to(root).as_posix(): ClientFile(path, None) for path in modules}
    files["manifest.json"] = ClientFile(root / "dist" / "manifest.json", None)
    for name in (*bundles(), *(f"hosts/{name}" for name in plugins())):
        path = root / "dist" / name
        files[name] = ClientFile(path, gzipped(path.read_bytes()))
    return files


@cache
def gzipped(content: bytes) -> bytes:
    """A file of the client in the format of gzip, compressed once in a process, however many applications it makes."""
    return gzip.compress(content, mtime=0)  # a fixed time in the header: the same bytes and ETag after every start


@cache
def pictures() -> Markup:
    """The pictures of screens of few words, which stand in the element of each page, because its script has none."""
    template = Path(__file__).parent / "templates" / "pictures.html"
    return Markup(Environment(autoescape=True).from_string(template.read_text(encoding="utf-8")).render())  # noqa: S704


def picture(name: str) -> Markup:
    """One of them, for a page without an element."""
    (found,) = (line for line in pictures().splitlines() if f'slot="{name}"' in line)
    return Markup(found)  # noqa: S704


def script_of(survey: Survey) -> str:
    """The bundle of a survey's page: that of places, which can seal, where reports are sealed and no place is named."""
    return "deniable-place.js" if survey.sealed and not survey.places else "deniable.js"


def in_templates() -> dict[str, Any]:
    """What the templates of pages with an element name beside what each page brings; English is the default."""
    return {
        "bundles": bundles(),
        "script_of": script_of,
        "in_apostrophes": in_apostrophes,
        "pictures": pictures,
        "picture": picture,
        "words": words("en"),
        "tongues": [words(language) for language in catalogues()],
    }


def init_app(app: APIFlask, public_url: str | None) -> None:
    """Give templates the hashes of bundles and English as the default language; register the page for frames."""
    app.extensions["deniable-pages"] = Pages(public_url)
    app.jinja_env.globals |= in_templates()
    app.register_blueprint(embedding)


@embedding.get("/embed/<survey_id>")
def frame(survey_id: str) -> Response:
    """The survey alone, for a frame on a page of another site."""
    return survey_page("frame.html", survey_id, FRAME_POLICY)


def survey_page(template: str, survey_id: str, policy: str = CONTENT_SECURITY_POLICY) -> Response:
    """A page with a survey in it, and the words around it in the language that the browser asks for.

    So nothing more has to be fetched before the first question. The client trusts neither and checks both by their
    hashes; for another language it fetches the catalogue.
    """
    # The page works in every language; this one saves the first request for sentences.
    language = language_of(request.accept_languages)
    survey = get_store().survey(survey_id)
    pages: Pages = current_app.extensions["deniable-pages"]
    # Nothing in it is secret, and of a request only the host stands in it: so its length tells nobody anything.
    is_packed = request.accept_encodings.quality("gzip") > 0
    response = make_response((pages.packed if is_packed else pages.page)(template, survey, language))
    if is_packed:
        response.content_encoding = "gzip"
    response.vary.add("Accept-Encoding")
    response.headers["Content-Security-Policy"] = with_issuer(policy, survey)
    response.headers["Cache-Control"] = "private, no-cache"  # it names the host that was asked
    response.vary.add("Accept-Language")
    return response


class Pages:
    """A cache of pages with a survey in them: each is rendered once, in some milliseconds, for all host names.

    Parameters
    ----------
    public_url : str or None
        The public address of this collector; None for the host name of each request.
    """

    mark = secrets.token_hex(16)
    """Random placeholder for the collector's address in a cached page, which no survey can contain."""

    def __init__(self, public_url: str | None) -> None:
        self._public_url = public_url
        self._kept = ResultCache(MOST_KEPT)

    def page(self, template: str, survey: Survey, language: str) -> bytes:
        """The page of a survey for the request that is served."""
        name = template, survey.id, language
        page: bytes | None = self._kept.get(name)
        if page is None:
            page = render_template(
                template, survey=survey, catalogue=catalogues()[language], words=words(language), base=self.mark
            ).encode()
            self._kept.put(name, page, len(page))
        return self.filled(page)

    def packed(self, template: str, survey: Survey, language: str) -> bytes:
        """The page in the format of gzip, which is a third as long, kept for each address of this collector."""
        name = template, survey.id, language, self.base
        packed: bytes | None = self._kept.get(name)
        if packed is None:
            packed = gzip.compress(self.page(template, survey, language), mtime=0)
            self._kept.put(name, packed, len(packed))
        return packed

    @property
    def base(self) -> str:
        """The address of this collector, for the request that is served."""
        return (self._public_url or request.host_url).rstrip("/")

    def filled(self, page: bytes) -> bytes:
        """A cached page with the address of this collector, for the request that is served."""
        # Escaped: the host is what the client sent, and it goes into HTML.
        return page.replace(self.mark.encode(), escape(self.base).encode())


def with_issuer(policy: str, survey: Survey) -> str:
    """A policy that lets a page reach the issuer of its survey; `Issuer` has checked that the URL is safe here."""
    if survey.issuer is None or survey.issuer.url is None:
        return policy
    return policy.replace("connect-src 'self'", f"connect-src 'self' {survey.issuer.url}")
