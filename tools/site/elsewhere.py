"""Links from a document to Markdown beside docs/, which is no page of the site, become the name of that file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def named(text: str, page: Path, docs: Path) -> str:
    """A page whose links to Markdown outside of the folder name the file instead.

    >>> docs = Path("/clone/docs")
    >>> named("As [here](../deploy/onion.md) and [there](place.md).", docs / "a.md", docs)
    'As here (`deploy/onion.md`) and [there](place.md).'
    """

    def one(found: re.Match[str]) -> str:
        target = (page.parent / found[2]).resolve()
        if target.is_relative_to(docs):
            return found[0]
        return f"{found[1]} (`{target.relative_to(docs.parent)}`)"

    return re.sub(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+\.md)(?:#[^)]*)?\)", one, text)


def on_source(app: Any, docname: str, content: list[str]) -> None:
    """Sphinx's event `source-read`."""
    content[0] = named(content[0], Path(app.env.doc2path(docname)), Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", on_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
