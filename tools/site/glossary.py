"""Terms of the glossary become links where a page uses them first.

A term is a heading of docs/glossary.md. Further words for it stand in its first line, as in *also: noisy report*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

PAGE = "glossary"
UNLINKED = ("names/", "changes", "references", "look-up", "index", PAGE)
"""Pages without such links: generated ones, lists, and the glossary itself. Beginnings of their names."""

EVERYDAY = {"draw", "place", "release", "support", "wave"}
"""Terms that are also words of every day: of these, only the further words become links."""


def terms(page: str) -> dict[str, str]:
    """Each word that becomes a link, in lower case, to the heading where it is explained.

    Parameters
    ----------
    page : str
        The Markdown of the glossary.

    Examples
    --------
    >>> terms("## Report\\n\\n*also: noisy report, reply*\\n\\nWhat leaves the device.\\n\\n## Draw\\n\\nA")
    {'report': 'Report', 'noisy report': 'Report', 'reply': 'Report'}
    """
    found: dict[str, str] = {}
    for heading, also in re.findall(r"^## (.+)\n+(?:\*also: (.+)\*\n)?", page, re.MULTILINE):
        words = [word.strip() for word in also.split(",")] if also else []
        if heading.lower() not in EVERYDAY:
            words.insert(0, heading)
        found |= {word.lower(): heading for word in words}
    return found


def pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the words, also with the s of a plural, the longest one first.

    >>> pattern_of(["report", "noisy report"]).findall("Noisy reports, reporting, a report")
    [('Noisy report', 's'), ('report', '')]
    """
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(s?)\b", re.IGNORECASE)


def link_terms(doctree: Any, headings: dict[str, str], address_of: dict[str, str]) -> None:
    """Put links into a page.

    Parameters
    ----------
    doctree : docutils.nodes.document
        The page; changed in place.
    headings : dict of str to str
        What `terms` returns.
    address_of : dict of str to str
        The address of each heading, from this page.
    """
    from docutils import nodes

    pattern, linked = pattern_of(headings), set[str]()
    for text in list(doctree.findall(nodes.Text)):
        if _is_apart(text):
            continue
        parts: list[Any] = []
        end = 0
        for found in pattern.finditer(str(text)):
            heading = headings[found[1].lower()]
            if heading in linked:
                continue
            linked.add(heading)
            parts.append(nodes.Text(str(text)[end : found.start()]))
            parts.append(nodes.reference("", found[0], refuri=address_of[heading], internal=True, classes=["term"]))
            end = found.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(str(text)[end:])])


def _is_apart(text: Any) -> bool:
    """Whether a text is code, a heading or a link already."""
    from docutils import nodes

    apart = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.Invisible, nodes.thead)
    node = text.parent
    while node is not None:
        if isinstance(node, apart):
            return True
        node = node.parent
    return False


def on_page(app: Any, doctree: Any, docname: str) -> None:
    """Sphinx's event `doctree-resolved`."""
    from docutils import nodes

    if docname.startswith(UNLINKED) or docname.endswith("/index"):
        return
    page = app.env.get_doctree(PAGE)
    base = app.builder.get_relative_uri(docname, PAGE)
    sections = {section[0].astext(): section["ids"][0] for section in page.findall(nodes.section)}
    headings = terms(app.env.doc2path(PAGE).read_text(encoding="utf-8"))
    link_terms(doctree, headings, {heading: f"{base}#{sections[heading]}" for heading in headings.values()})


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-resolved", on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
