"""Sections and grids of a survey's file, spelled out: the plain questions, and how they are arranged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import SurveyError, describe, shown
from deniable.survey.arrangement import STEM_END, Block
from deniable.survey.order import ORDER_KEYS, RandomOrder, order_from
from deniable.survey.texts import DEFAULT, MAX_TEXT, check_text, publish_text, read_text
from deniable_statistics.authoring.look_alikes import refuse_look_alikes
from deniable_statistics.authoring.toml_tables import refuse_unknown, required

SECTION_KEYS = ("heading", "text", *ORDER_KEYS, "ask_if", "questions")

GRID = "grid"
"""The type of a table that stands for several questions; no published question has it."""

_GRID_OWN = ("id", "type", "text", "items", *ORDER_KEYS)
_GRID_NOISE = ("epsilon", "draw", "want")
_GRID_COMMON = ("help", "group", "ask_if", "options", "lo", "hi", "stars", "ends", "labels", "goal", "other", "decline")
GRID_KEYS = (*_GRID_OWN, *_GRID_NOISE, *_GRID_COMMON)
"""Keys of a grid: its own, those of the noise that its items share, and those that each of them has."""

MAX_ITEM = 200
"""Longest item of a grid, in characters, since it is shown beside its options."""

Written = Mapping[str, Any]


@dataclass(frozen=True)
class Spelled:
    """A survey's file with plain questions alone.

    Attributes
    ----------
    questions : list of mapping
        The tables of the questions; the items of a grid are questions each.
    groups : mapping of str to mapping
        The epsilon that the items of each grid share, by the grid's id.
    arrangement : Block or None
        Sections, grids and random orders.
    """

    questions: list[Written]
    groups: dict[str, Written]
    arrangement: Block | None


def spelled_out(written: Written) -> Spelled:
    """Spell out the sections and grids of a survey's file.

    Raises
    ------
    SurveyError
        If a section or a grid is not valid; its questions are not looked at.
    """
    found = Spelled([], {}, None)
    loose = _tables(written, "questions", "questions") if "questions" in written else []
    # Sections stand behind the questions outside of them, wherever the file has these.
    sections = _tables(written, "sections", "sections") if "sections" in written else []
    if not loose and not sections:
        raise SurveyError("questions: must be one or more tables [[questions]], also in [[sections]]")
    parts = (*_parts(loose, found), *(_section(each, n, found) for n, each in enumerate(sections, start=1)))
    # A heading may return on purpose, so equal ones pass; one that is only nearly equal is a slip.
    refuse_look_alikes(dict.fromkeys(each.heading for each in parts if isinstance(each, Block)), "sections: headings")
    root = Block(parts, order=_order(written, "survey"))
    return Spelled(found.questions, found.groups, root if root.is_needed else None)


def _tables(written: Written, key: str, where: str, spelled: str | None = None) -> list[Written]:
    tables = written.get(key)
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
        raise SurveyError(f"{where}: must be one or more tables [[{spelled or key}]]")
    return tables


def _order(written: Written, where: str) -> RandomOrder | None:
    return order_from(written.get, where)


def _section(written: Written, number: int, found: Spelled) -> Block:
    heading = read_text(written.get("heading"), f"section {number}: heading")
    where = f"section {str(heading)!r:.60}" if heading else f"section {number}"
    refuse_unknown(written, SECTION_KEYS, where)
    tables = _tables(written, "questions", f"{where}: questions", "sections.questions")
    if "ask_if" in written:
        tables = [{**each, "ask_if": _joined(written["ask_if"], each.get("ask_if"), where)} for each in tables]
    text = read_text(written.get("text"), f"{where}: text")
    if heading is None and text is None and "order" not in written:
        raise SurveyError(f"{where}: must have a heading, a text or an order")
    return Block(tuple(_parts(tables, found)), heading, text, _order(written, where))  # type: ignore[arg-type]


def _joined(of_section: object, of_question: object, where: str) -> object:
    """The condition of a section, and where its question has one the two together."""
    if not isinstance(of_section, str):
        raise SurveyError(f'{where}: ask_if must be a condition such as "smokes = yes", got {shown(of_section)}')
    # What is no condition is refused when the question is read.
    return f"({of_section}) and ({of_question})" if isinstance(of_question, str) else of_question or of_section


def _parts(tables: Sequence[Written], found: Spelled) -> list[str | Block]:
    """The parts of a block, whose questions are added to those that were found."""
    parts: list[str | Block] = []
    for each in tables:
        is_grid = each.get("type") == GRID
        items = _items(each, found) if is_grid else [each]
        found.questions.extend(items)
        # A missing id is named by whoever reads the question.
        ids = tuple(str(item.get("id")) for item in items)
        parts.extend([Block(ids, order=_order(each, f"grid {ids[0]!r}"), is_grid=True)] if is_grid else ids)
    return parts


def _items(grid: Written, found: Spelled) -> list[Written]:
    """The questions of a grid, which share an epsilon: its own, or that of its group or of the survey."""
    name = required(grid, "id", "grid")
    where = f"grid {name!r:.60}"
    refuse_unknown(grid, GRID_KEYS, where)
    stem = read_text(required(grid, "text", where), f"{where}: text")
    check_text(stem, f"{where}: text", MAX_TEXT)
    items = required(grid, "items", where)
    if not isinstance(items, dict) or len(items) < 2:
        raise SurveyError(
            f'{where}: items must be at least 2, each with its name, like {{ police = "the police", courts = '
            f'"the courts" }}, got {describe(items)}'
        )
    if "epsilon" in grid:
        if "group" in grid:
            raise SurveyError(f"{where}: must have either epsilon or group")
        found.groups[name] = {key: grid[key] for key in _GRID_NOISE if key in grid}
    elif given := [key for key in _GRID_NOISE if key in grid]:
        raise SurveyError(f"{where}: {given[0]} needs epsilon, which the items share")
    refuse_look_alikes((read_text(text, f"{where}: items") for text in items.values()), f"{where}: items")
    common = {key: grid[key] for key in _GRID_COMMON if key in grid}
    common |= {"type": _type_of(grid, where)} | ({"group": name} if "epsilon" in grid else {})
    return [
        common | {"id": f"{name}_{item}", "text": _with_stem(stem, text, f"{where}: item {item!r:.60}")}
        for item, text in items.items()
    ]


def _type_of(grid: Written, where: str) -> str:
    """The type of the questions of a grid, by the keys that say what people choose from."""
    named = {"options": "choice", "lo": "scale", "stars": "rating"}
    found = [key for key in named if key in grid]
    if len(found) > 1:
        raise SurveyError(f"{where}: must have either {found[0]} or {found[1]}")
    return named[found[0]] if found else "yes-no"


def _with_stem(stem: object, item: object, where: str) -> str | dict[str, str]:
    """The text of an item's question: the stem, a line break, and the item, in each language."""
    read = read_text(item, where)
    check_text(read, where, MAX_ITEM)
    stems, items = (_by_language(each) for each in (stem, read))
    if any(STEM_END in each for each in items.values()):
        raise SurveyError(f"{where}: must be on one line")
    if missing := sorted(stems.keys() ^ items.keys()):
        raise SurveyError(f"{where}: must be in the same languages as the text of its grid, which {missing[0]} is not")
    joined = {language: f"{stems[language]}{STEM_END}{items[language]}" for language in stems}
    return joined if len(joined) > 1 else joined[DEFAULT]


def _by_language(text: object) -> dict[str, str]:
    assert isinstance(text, str)
    forms = publish_text(text)
    return forms if isinstance(forms, dict) else {DEFAULT: forms}
