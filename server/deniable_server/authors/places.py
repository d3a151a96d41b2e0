"""Where in an author's file a sentence about it belongs: the line of the key, or of the question, that it names."""

from __future__ import annotations

import re

_LINE = re.compile(r"\bline (\d+)\b")
_SUBJECT = re.compile(r"(?:questions?|grid) '([a-z][a-z0-9_]{0,39})'")
_SECTION = re.compile(r"section '([^']+)'")
_GROUP = re.compile(r"group '([a-z][a-z0-9_]{0,39})'")
_NUMBERED = re.compile(r"question (\d+):")
_TABLE = re.compile(r"\s*\[")


def line_of(source: str, sentence: str) -> int | None:
    """The line, counted from 1, that a sentence about a survey's file is about; None if it names nothing in it.

    Examples
    --------
    >>> source = 'title = "T"\\n[[questions]]\\nid = "q"\\ntype = "yes-no"\\nepsilon = 9'
    >>> line_of(source, "question 'q': epsilon must be at most 4 on this device, the survey asks for 9")
    5
    >>> line_of(source, "survey: is not TOML: Expected '=' after a key (at line 2, column 3)")
    2
    >>> line_of(source, "the whole survey: protects little") is None
    True
    """
    lines = source.split("\n")
    if found := _LINE.search(sentence):
        return min(int(found[1]), len(lines))
    start = _start(lines, sentence)
    # Of the keys of this table that the sentence names, the first one named.
    said = sentence if start is None else sentence.partition(": ")[2]
    named = (_key(lines, start or 0, word) for word in re.findall(r"[a-z_]+", said))
    return next((line for line in named if line is not None), None if start is None else start + 1)


def question_lines_of(source: str) -> dict[str, int]:
    """The line of each question's id."""
    found: dict[str, int] = {}
    for number, line in enumerate(source.split("\n"), start=1):
        if match := re.match(r"""\s*id\s*=\s*["']([^"']+)["']""", line):
            found.setdefault(match[1], number)
    return found


def excerpt(source: str, line: int, around: int = 2) -> list[dict[str, object]]:
    """The lines around a line, each with its number and text."""
    lines = source.split("\n")
    first, last = max(1, line - around), min(len(lines), line + around)
    return [{"number": number, "text": lines[number - 1][:200]} for number in range(first, last + 1)]


def _start(lines: list[str], sentence: str) -> int | None:
    """The index of the line with which the table begins that a sentence names."""
    if found := _SUBJECT.search(sentence):
        line = _line_of_id(question_lines_of("\n".join(lines)), found[1])
        # The id may stand anywhere in its table.
        return None if line is None else _head(lines, line - 1)
    if found := _SECTION.search(sentence):
        named = re.compile(rf"\s*heading\s*=.*{re.escape(found[1])}")
        place = next((place for place, line in enumerate(lines) if named.match(line)), None)
        return None if place is None else _head(lines, place)
    if found := _GROUP.search(sentence):
        named = re.compile(rf"\s*\[\s*groups\s*\.\s*{found[1]}\s*\]")
        return next((place for place, line in enumerate(lines) if named.match(line)), None)
    if found := _NUMBERED.search(sentence):
        heads = [
            place
            for place, line in enumerate(lines)
            if re.match(r"\s*\[\[\s*(sections\s*\.\s*)?questions\s*\]\]", line)
        ]
        return heads[int(found[1]) - 1] if int(found[1]) <= len(heads) else None
    return None


def _line_of_id(places: dict[str, int], name: str) -> int | None:
    """The line of a question's id; of an item of a grid that of the grid, whose id it begins with."""
    while name not in places and "_" in name:
        name = name.rpartition("_")[0]
    return places.get(name)


def _head(lines: list[str], place: int) -> int:
    return next((each for each in range(place, -1, -1) if _TABLE.match(lines[each])), 0)


def _key(lines: list[str], start: int, key: str) -> int | None:
    """The line of a key of the table that begins at ``start``, which for the survey itself is the top of the file."""
    named = re.compile(rf"\s*{re.escape(key)}\s*=")
    for place in range(start, len(lines)):
        if place > start and _TABLE.match(lines[place]):
            return None
        if named.match(lines[place]):
            return place + 1
    return None
