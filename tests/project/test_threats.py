"""The tables of docs/protection.md: what they say is shown by tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/protection.md").read_text(encoding="utf-8")
NONE = "there is none"
NUMBER = r"\((\d+)\)"


def rows(heading: str) -> list[list[str]]:
    """The cells of a table, by the beginning of its heading; without heading and rule."""
    _, found, rest = PAGE.partition(f"\n{heading}")
    assert found, heading
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in rest.split("\n\n")[0].split("\n")[2:]
    ]


def notes() -> dict[str, str]:
    """The notes below the table of two institutions, by their numbers."""
    return dict(re.findall(r"^(\d+)\. (.+)$", PAGE.partition("## Two institutions")[2].partition("\n## ")[0], re.M))


def is_there(name: str) -> bool:
    """Whether a file, or a test in one, exists."""
    path, _, test = name.partition("::")
    file = ROOT / path
    return file.exists() and (not test or f"\ndef {test}(" in file.read_text(encoding="utf-8"))


def test_every_cell_of_two_institutions_names_tests_that_exist() -> None:
    table, known = rows("| who |"), notes()
    assert len(table) >= 11
    named = {number for row in table for cell in row for number in re.findall(NUMBER, cell)}
    assert named == set(known), "every number has a note, and every note is named"
    for who, *cells in table:
        assert len(cells) == 4
        for cell in cells:
            assert cell == NONE or re.search(NUMBER, cell), f"{who}: {cell!r} names no test"
    for number, note in known.items():
        tests = re.findall(r"`(tests/[\w./]+::\w+)`", note)
        assert tests, f"note {number} names no test"
        assert [each for each in tests if not is_there(each)] == [], f"note {number}"


def test_every_attacker_has_a_test_that_exists() -> None:
    for attacker, attempt, _, shown in rows("| attacker |"):
        named = re.findall(r"`((?:tests|tools)/[\w./]+(?:::\w+)?|make \w+)`", shown)
        assert named, f"{attacker}, {attempt}: names no test"
        assert [each for each in named if not each.startswith("make ") and not is_there(each)] == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    assert is_there("tests/project/test_threats.py::test_a_test_that_is_not_there_is_noticed")
    assert not is_there("tests/project/test_threats.py::test_of_nothing")
    assert not is_there("tests/project/none.py")
