"""Survey files to begin with: wording of our own for common studies, which authors change as they like."""

from __future__ import annotations

import json
import re
from importlib.resources import files

TEMPLATES = {
    "prevalence": "how common one thing is, by yes or no",
    "substances": "alcohol and other substances, and stress",
    "misconduct": "academic misconduct",
    "harassment": "harassment at work",
    "voting": "voting and turnout",
    "health": "health conditions that people seldom tell",
    "climate": "the climate among employees",
    "community": "an open-source community whose noisy rows are public",
    "classroom": "a classroom demonstration with two coins",
}
"""What each template is for, by its name."""

ASKED = ("title", "organiser", "contact")
"""The keys that an author is asked for, in the order of the file."""


def template(name: str, **given: str) -> str:
    r"""The file of a template, with these of its texts replaced.

    >>> template("classroom", title='Who "copied"?').splitlines()[4]
    'title = "Who \\"copied\\"?"'
    """
    text = (files(__package__) / "templates" / f"{name}.toml").read_text(encoding="utf-8")
    for key, value in given.items():
        # A text of TOML is written as one of JSON; a function, so that no backslash in it means anything.
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        first, *further = _lines_of(key, text)
        # Of a text in several languages the given one is all that there is: nobody translated it.
        text = text.replace(first, line, 1)
        for each in further:
            text = text.replace(f"{each}\n", "", 1)
    return text


def text_of(name: str, key: str) -> str:
    """What a template says for a key, to offer it to its author."""
    text: str = json.loads(_lines_of(key, template(name))[0].partition(" = ")[2])
    return text


def _lines_of(key: str, text: str) -> list[str]:
    """The lines of a template that hold a text, in one language or one for each: the default first."""
    return re.findall(rf'^{key}(?:\.\w+)? = ".*"$', text, re.MULTILINE)
