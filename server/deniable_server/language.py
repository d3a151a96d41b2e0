"""The sentences of the collector's pages in the language of their reader, from the browser client's words."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from flask import Response, make_response, render_template, request
from markupsafe import Markup
from werkzeug.datastructures import LanguageAccept

PAGE_WORDS = ("pages.json", "results.json")
"""The files with the sentences of the collector's own pages, which no device needs."""


def client_folder() -> Path:
    """The folder of the installed browser client."""
    return Path(str(files("deniable_web")))


@cache
def catalogues() -> dict[str, str]:
    """The catalogues of sentences by language, as the exact text whose hash the browser client knows."""
    folder = client_folder() / "catalogues"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}


def in_apostrophes(text: str) -> Markup:
    """A text, which is JSON, for an attribute in apostrophes: there its quotation marks stand as they are.

    One character in six of a survey's document is one, so browsers get less, and read it sooner, than with references.
    """
    for character, reference in (("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, reference)
    return Markup(text)  # noqa: S704  # all that ends such an attribute is escaped


@cache
def words(language: str) -> dict[str, str]:
    """The sentences of a language by their names: those of the catalogue for devices, and those of the pages alone."""
    sentences: dict[str, str] = json.loads(catalogues()[language])
    for file in PAGE_WORDS:
        pages = json.loads((client_folder() / "words" / file).read_text(encoding="utf-8"))
        sentences |= {name: sentence[language] for name, sentence in pages.items()}
    return sentences


def language_of(accepted: LanguageAccept) -> str:
    """The language of a page for a reader who accepts these languages; English where there is none of them."""
    return accepted.best_match(catalogues(), "en")


def language_of_query(query: str, accepted: LanguageAccept) -> str:
    """The language that a query asks for by ``lang``, as pages of results do, or else that of the browser.

    >>> language_of_query("by=cohort&lang=de", LanguageAccept()), language_of_query("lang=xx", LanguageAccept())
    ('de', 'en')
    """
    # Its end alone is looked for: what else stands in a query is judged elsewhere.
    asked = re.search(r"(?:^|&)lang=([a-z]{2})(?:&|$)", query)
    return asked[1] if asked and asked[1] in catalogues() else language_of(accepted)


def translated(template: str, **values: Any) -> Response:
    """A page of the collector's own in the language that the browser asks for."""
    language = language_of(request.accept_languages)
    response = make_response(
        render_template(template, words=words(language), catalogue=catalogues()[language], **values)
    )
    response.vary.add("Accept-Language")
    return response
