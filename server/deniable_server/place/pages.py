"""The page of a place, and the files of the browser client: the same bytes by the server and in a folder."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from deniable_server.language import catalogues, in_apostrophes, words
from deniable_server.web.embedding import FRAME_POLICY, bundles, client_files, pictures
from deniable_server.web.pages import style_sheet

POLICY = FRAME_POLICY
"""Any site may frame the page of a place, and none can look into it. It reaches nobody but the place."""

PREFIXES = ("catalogues/",)
SCRIPT = "deniable-place.js"
NAMES = (SCRIPT, "deniable-answering.js", "manifest.json")
"""The files of the browser client that a place serves: two scripts, their hashes, and the sentences."""


@cache
def page(language: str = "en") -> str:
    """The page on which people answer; it holds no survey, which stands behind the # of its address.

    The sentences of the language stand in it, so that only the survey has to be fetched before the first question.
    """
    said = words(language)
    about = "".join(_about(words(each)) for each in catalogues())
    integrity = bundles()[SCRIPT]
    return f"""<!doctype html>
<html lang="{said["lang"]}" dir="{said["dir"]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Deniable</title>
<link rel="stylesheet" href="/place.css">
<script type="module" src="/client/{SCRIPT}" integrity="{integrity}" blocking="render"></script>
</head>
<body class="narrow">
<main>
<noscript>
<div class="card stack"><h1>{escape(said["needsScript"])}</h1><p>{escape(said["allowScripts"])}</p></div>
</noscript>
<deniable-survey place catalogue='{in_apostrophes(catalogues()[language])}'>{pictures()}</deniable-survey>
</main>
<footer>
{about}</footer>
</body>
</html>
"""


def _about(said: dict[str, str]) -> str:
    """What stands at the foot of the page, in one language."""
    return f"""<details class="about" lang="{said["lang"]}" dir="{said["dir"]}">
<summary>{escape(said["scriptFold"])}</summary>
<p>{escape(said["scriptHash"])}</p>
<p class="client" dir="ltr"><a href="/client/{SCRIPT}">{SCRIPT}</a> {bundles()[SCRIPT]}</p>
</details>
"""


def files() -> dict[str, bytes]:
    """The files that belong to the page, by their path without the first slash."""
    client = {
        f"client/{name}": file.path.read_bytes()
        for name, file in client_files().items()
        if name in NAMES or (name.startswith(PREFIXES) and name.endswith(".json"))
    }
    return {"place.css": style_sheet(), **client}


def write_folder(folder: Path) -> list[str]:
    """Write the page and its files into a folder for any web server; return their names."""
    written = {"index.html": page().encode(), **files()}
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(written)
