"""Links on paper: a page of A4 with codes to cut out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import segno
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from deniable.errors import ParameterError

A_PAGE = 8
"""Number of links on a page, in two columns."""

SENTENCE = "Your device mixes chance into your answers before it sends them. This code lets one person take part, once."

OPEN_SENTENCE = "Your device mixes chance into your answers before it sends them. Please take part once."
"""`SENTENCE` for a survey that is open to everybody who has its link."""

MOST_CHARACTERS = 180
"""Longest sentence, in characters: it has to fit beside a code and under a long title."""

MOST_OF_A_LINK = 400
"""Longest link, in characters: it fills eight lines below the code, which cameras can still read."""

_TEMPLATES = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True)


def sheet_page(title: str, links: Sequence[str], sentence: str = SENTENCE) -> str:
    """An HTML page for A4: each link as a QR code and in small print, under the survey's title.

    Nothing on a card tells whose it is, and the page loads nothing.

    Raises
    ------
    ParameterError
        If the sentence is longer than `MOST_CHARACTERS`, or a link than `MOST_OF_A_LINK`.
    """
    if len(sentence) > MOST_CHARACTERS:
        got = len(sentence)
        raise ParameterError(f"sentence: must have {MOST_CHARACTERS} characters at most to fit a card, got {got}")
    longest = max(map(len, links), default=0)
    if longest > MOST_OF_A_LINK:
        raise ParameterError(
            f"sheet: links must have {MOST_OF_A_LINK} characters at most to fit a card, got {longest}; "
            "a shorter cohort or --public-url makes them shorter"
        )
    cards = [(link, _code(link)) for link in links]
    pages = [cards[start : start + A_PAGE] for start in range(0, len(cards), A_PAGE)]
    return _TEMPLATES.get_template("sheet.html").render(title=title, sentence=sentence, pages=pages)


def _code(link: str) -> Markup:
    """A link as a QR code, drawn as SVG."""
    # Level M corrects 15 % of damage, enough for a printed sheet.
    drawn: str = segno.make(link, micro=False, error="m").svg_inline(border=4, omitsize=True)
    return Markup(drawn)  # noqa: S704  # paths of squares, in which nothing of the link stands as text
