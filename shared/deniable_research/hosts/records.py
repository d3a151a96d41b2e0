"""Files of records: JSON, JSON Lines and CSV, each record as texts by the names of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deniable.errors import ReportError
from deniable_research.files.coded import CodedColumn
from deniable_research.files.reading import cell_text, read_columns

Record = dict[str, str]
"""One record: texts by field, without those that are empty."""

JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt")
"""Suffixes of files that may hold JSON; JATOS writes ``.txt``."""


def is_json(path: Path) -> bool:
    """Whether a file holds JSON, by its name and its first character."""
    if path.suffix.lower() not in JSON_SUFFIXES:
        return False
    with path.open("rb") as file:
        start = file.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start[:1] in (b"[", b"{")


def json_objects(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON: of one value, or of one a line; lists within lists are one list.

    Raises
    ------
    ReportError
        If the file is not JSON, or holds something else than objects.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ReportError(f"{path.name}: must be UTF-8 text, byte {problem.start} is not") from None
    found: list[dict[str, Any]] = []
    for value in _values(content, path.name):
        _collect(value, found, path.name)
    return found


def _values(content: str, name: str) -> list[Any]:
    """The values of a text: the whole of it, or one a line."""
    try:
        return [_parsed(content)]
    except json.JSONDecodeError as problem:
        whole = problem
    lines = [line for line in content.splitlines() if line.strip()]
    try:
        return [_parsed(line) for line in lines] if len(lines) > 1 else _refuse(name, whole)
    except json.JSONDecodeError:
        return _refuse(name, whole)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError("is nested too deeply", "", 0) from None


def _refuse(name: str, problem: json.JSONDecodeError) -> list[Any]:
    # The decoder's own message names a place and never what stands there.
    raise ReportError(f"{name}: is not JSON: {problem.msg} (line {problem.lineno})") from None


def _collect(value: Any, found: list[dict[str, Any]], name: str) -> None:
    if isinstance(value, dict):
        found.append(value)
    elif isinstance(value, list):
        for each in value:
            _collect(each, found, name)
    else:
        raise ReportError(f"{name}: must hold objects of JSON, one for each record, got something else")


def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The fields of an object as texts; those of objects within it by ``outer.inner``, lists of texts in one text.

    A truth value is a word, as CSV files of these tools have it: no report is one, so a question of the tool itself
    that has the name of ours is not taken for it.

    >>> dict(flat({"a": 1.0, "b": {"c": True}, "d": ["x", "y"], "e": None, "f": [{"g": 2}]}))
    {'a': '1', 'b.c': 'true', 'd': 'x; y', 'f.1.g': '2'}
    """
    for key, each in value.items():
        name = f"{prefix}{key}"
        if isinstance(each, dict):
            yield from flat(each, f"{name}.")
        elif isinstance(each, list) and any(isinstance(item, (dict, list)) for item in each):
            yield from flat({str(place): item for place, item in enumerate(each, start=1)}, f"{name}.")
        elif isinstance(each, list):
            yield name, "; ".join(filter(None, map(_text, each)))
        elif text := _text(each):
            yield name, text


def _text(value: Any) -> str | None:
    return json.dumps(value) if isinstance(value, bool) else cell_text(value)


def csv_records(path: Path, delimiter: str | None = None) -> list[Record]:
    """The rows of a table as records; a line that repeats the header, as in files put together, is left out."""
    columns = read_columns(path, delimiter)
    rows = zip(*(list(column) for column in columns.values()), strict=True)
    header = tuple(columns)
    return [{name: cell for name, cell in zip(header, row, strict=True) if cell} for row in rows if row != header]


def columns_of(records: Iterable[Record]) -> dict[str, CodedColumn[str]]:
    """Records as columns; a record has nothing in a field that it lacks."""
    every = list(records)
    names = dict.fromkeys(name for record in every for name in record)
    return {name: CodedColumn.of([record.get(name) for record in every]) for name in names}
