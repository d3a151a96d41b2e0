"""Nothing asks a design what kind it is, but where a sentence says why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deniable.mechanisms import Mechanism
from deniable_statistics import classical
from deniable_statistics.designs.design import Design

ROOT = Path(__file__).parent.parent.parent
OWN = ("shared/deniable/mechanisms/", "shared/deniable_statistics/designs/", "shared/deniable_statistics/classical/")
"""Where kinds are defined."""

REASONS = {
    ("shared/deniable/survey/published.py", "KAry"): "the format of a group's response names one mechanism",
    ("shared/deniable_statistics/authoring/respondents.py", "Piecewise"): "its rows are solved, and need not be again",
    ("shared/deniable_research/simulation/counted_surveys.py", "TickBoxes"): "its counts are binomials",
    ("shared/deniable_research/simulation/counted_surveys.py", "Subset"): "its counts are those of uniform sets",
    ("shared/deniable_research/simulation/counted_surveys.py", "DrawnBoxes"): "its counts are those of drawn boxes",
}
"""What may ask, by file and kind."""

MOST = 5


def kinds() -> set[str]:
    """Names of all classes of designs, mechanisms among them."""
    found: set[Any] = {Mechanism}
    new: set[Any] = {Design, Mechanism}
    while new:
        below = {each for parent in new for each in parent.__subclasses__()}
        new = {each for each in below if each.__module__.startswith("deniable")}
        found |= new
    return {each.__name__ for each in found}


def questions(tree: ast.AST) -> Iterator[ast.AST]:
    """What an object is compared with to learn its kind."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]):
                yield kind
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=[kind]):
                yield kind
            case ast.MatchClass(cls=kind):
                yield kind
            case ast.FunctionDef(decorator_list=decorators, args=ast.arguments(args=[first, *_])):
                if first.annotation and any(ast.unparse(each).endswith(".register") for each in decorators):
                    yield first.annotation


def asked() -> set[tuple[str, str]]:
    """Which files ask for which kinds."""
    known = kinds()
    named = re.compile(rf"\b({'|'.join(sorted(known))})\b")
    found = set()
    for folder in ("shared", "client", "server"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            if not name.startswith(OWN) and named.search(text):  # whatever asks for a kind names it
                for kind in questions(ast.parse(text)):
                    names = {each.id for each in ast.walk(kind) if isinstance(each, ast.Name)}
                    names |= {each.attr for each in ast.walk(kind) if isinstance(each, ast.Attribute)}
                    found |= {(name, each) for each in names & known}
    return found


def test_designs_are_asked_what_they_say_and_not_what_they_are() -> None:
    assert {"KAry", "Mechanism", "DrawnBoxes", "Channel", "Groups"} <= kinds(), classical
    assert asked() == set(REASONS)
    assert len(REASONS) <= MOST


def test_every_way_to_ask_is_found() -> None:
    text = """
isinstance(a, KAry | None)
issubclass(a, (int, mechanisms.Warner))
type(a) is Subset
match a:
    case Channel(matrix=b): pass
@samplers_of.register
def _(mechanism: TickBoxes): pass
"""
    found = sorted(ast.unparse(each) for each in questions(ast.parse(text)))
    assert found == ["(int, mechanisms.Warner)", "Channel", "KAry | None", "Subset", "TickBoxes"]
