"""Workbooks of XLSForm that today's `pyxform` refuses, and that older versions and other tools took: mended first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from deniable_server.authors.importing.imported_questions import LeftOut

Row = MutableMapping[str, Any]


def mended(book: Any) -> list[LeftOut]:
    """Let a workbook repeat codes of options, number questions of one name, and let it calculate nothing.

    Parameters
    ----------
    book : pyxform.xls2json_backends.DefinitionData
        The rows of its sheets, which are changed.

    Returns
    -------
    list of LeftOut
        The questions whose names were changed.
    """
    settings = dict(book.settings[0]) if book.settings else {}
    # Options of one code stay two options: a survey knows them by their texts.
    book.settings = [settings | {"allow_choice_duplicates": "yes"}]
    book.settings_header = [{**(book.settings_header or [{}])[0], "allow_choice_duplicates": None}]
    for row in book.survey or ():
        if _computes_nothing(row):
            # Conditions may name it, so it stays, with an empty text.
            row["calculation"] = "''"
            book.survey_header = [{**(book.survey_header or [{}])[0], "calculation": None}]
    return list(_renamed(book.survey or ()))


def _computes_nothing(row: Row) -> bool:
    sources = ("calculation", "bind::calculate", "default", "trigger")
    return _cell(row, "type")[1] == "calculate" and not any(_cell(row, source)[1] for source in sources)


def _renamed(rows: Sequence[Row]) -> Iterator[LeftOut]:
    taken: list[set[str]] = [set()]
    for row in rows:
        kind = _cell(row, "type")[1].lower().replace("_", " ")
        if kind.startswith("end ") and len(taken) > 1:
            taken.pop()
            continue
        is_group = kind.startswith("begin ")
        key, name = _cell(row, "name")
        if name and name.lower() in taken[-1]:
            row[key] = free_name(name, taken[-1])
            if not is_group and kind != "note":
                yield LeftOut(name, f"its name, which another one has too; it is called {row[key]} now")
        taken[-1].add(str(row.get(key, "")).lower())
        if is_group:
            taken.append(set())


def free_name(name: str, taken: set[str]) -> str:
    """A name with the first number behind it that is not taken.

    >>> free_name("age", {"age", "age_2"})
    'age_3'
    """
    number = 2
    while f"{name}_{number}".lower() in taken:
        number += 1
    return f"{name}_{number}"


def _cell(row: Mapping[str, Any], column: str) -> tuple[str, str]:
    """The header of a column as this workbook writes it, and what stands there."""
    key = next((each for each in row if each.strip().lower() == column), column)
    return key, str(row.get(key) or "").strip()
