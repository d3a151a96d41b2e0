"""Slips in a survey's file that is not TOML: what a message says beside the words of Python's parser."""

from __future__ import annotations

import datetime
import re

CURLY_QUOTES = frozenset("\u201c\u201d\u201e\u2018\u2019\u201a\xab\xbb")

STRANGE_SPACES = re.compile("[\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
"""Spaces that look like one and are none in TOML; pages and word processors write them."""

DAY_FIRST = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
"""A date with its day first, or its month."""

_WAYS_OUT = {
    "Invalid date": "a date is a day that exists, such as 2026-02-28",
    "Invalid statement": 'a line is key = value, such as title = "Exams"; JSON and YAML are other formats',
    "Cannot declare": "a table in single brackets stands once; tables of a list have two, such as [[questions]]",
    "Invalid value": 'a text stands in quotes, like "this"; true and false have small letters',
    "Illegal character": 'a text ends with a quote on its own line, or stands in three: """like this"""',
    "Expected '=' after": "a line is key = value",
    "Unclosed array": "a list has commas between its values, and ends with ]",
    "Unclosed inline table": 'languages have commas between them: { default = "Yes", de = "Ja" }',
    "Invalid initial character": 'all languages stand on one line: { default = "Yes", de = "Ja" }',
    "Unterminated string": "a text ends with the quotes with which it begins",
    "Unescaped": "a backslash in a text is written twice",
    "Expected newline": "each key has a line of its own",
    "Expected ']": "a table has as many brackets behind its name as before it, such as [[questions]]",
}
"""What to do, by the beginning of what `tomllib` says."""


def sentence_about(source: str, said: str) -> str:
    """The sentence of an error about a file that is not TOML, which names the line.

    Parameters
    ----------
    source : str
        The file.
    said : str
        What `tomllib` says of it, with the line.

    Examples
    --------
    >>> print(sentence_about("title  Exams", "Expected '=' after a key (at line 1, column 7)"))
    survey: is not TOML: Expected '=' after a key (at line 1, column 7); a line is key = value
    """
    place = re.search(r"\(at line (\d+)", said)
    lines = source.split("\n")
    if place and 1 <= (number := int(place[1])) <= len(lines):
        line = lines[number - 1]
        if slip := _usual_slip(line):
            return f"survey, line {number}: {slip}"
        if said.startswith("Cannot overwrite") and (key := re.match(r"\s*([\w-]+)\s*=", line)):
            return f"survey: is not TOML: {said}; {key[1]!r} stands twice in its table"
    way = next((way for start, way in _WAYS_OUT.items() if said.startswith(start)), None)
    return f"survey: is not TOML: {said}" + (f"; {way}" if way else "")


def _usual_slip(line: str) -> str | None:
    """What a line must be that is a common slip; None if it looks like none of them."""
    # Within straight quotes curly ones are text.
    if set(re.sub(r'"[^"]*"', "", line)) & CURLY_QUOTES:
        return 'must have straight quotes around texts, like "this", not curly ones'
    if STRANGE_SPACES.search(re.sub(r'"[^"]*"', "", line)):
        return "must have plain spaces around keys and =, got another kind of space, as pages have them; type it anew"
    if found := re.search(rf"=\s*({DAY_FIRST.pattern})", line):
        return f"must write a date as {year_first(found[1])}, not {found[1]}"
    if found := re.search(r"=\s*([-+]?\d+),(\d+)\s*(?:#|$)", line):
        return f"must write a decimal point, {found[1]}.{found[2]}, not a comma"
    return None


def year_first(written: str) -> str:
    """A date in the form of TOML; an example of that form if day and month are ambiguous."""
    found = DAY_FIRST.fullmatch(written)
    assert found is not None
    day, month, year = (int(part) for part in found.groups())
    try:
        # With slashes some authors write the month first, so an ambiguous date is not guessed.
        if "/" in written and day <= 12 and day != month:
            raise ValueError
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return "year-month-day, such as 2026-11-20"
