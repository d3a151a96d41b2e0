"""What ``make mutants`` counts: its rooms are there, and what it leaves out is of a kind that it names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.mutants import ROOMS, Mutant

ROOT = Path(__file__).parents[2]
SIDES = {"deniable": "shared", "deniable_statistics": "shared", "deniable_client": "client"}


def test_every_file_that_is_mutated_or_asked_is_there() -> None:
    for room in ROOMS.values():
        for pattern in room.code:
            assert list((ROOT / SIDES[room.package] / room.package).glob(f"{pattern}.py")), pattern
        for file in room.files():
            assert (ROOT / file).is_file(), file


def mutant(old: str, new: str) -> Mutant:
    functions = []
    for name, body in (("f__mutmut_orig", old), ("f__mutmut_1", new)):
        (function,) = ast.parse(f"def {name}(a, b):\n    {body}").body
        assert isinstance(function, ast.FunctionDef)
        functions.append(function)
    return Mutant("m.f__mutmut_1", *functions)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ('raise E("a: must be b")', 'raise E("XXa: must be bXX")', "words"),
        ('raise E(f"a: must be {b}")', 'raise E(f"A: MUST BE {b}")', "words"),
        ('raise E(f"a: must be {b}")', 'raise E(f"a: must be {a}")', None),
        ('raise E(f"a: must be {b}")', "raise E(None)", None),
        ('return {"a": b}', 'return {"A": b}', None),
        ("return zip(a, b, strict=True)", "return zip(a, b)", "strict"),
        ("return zip(a, b, strict=True)", "return zip(a, None, strict=True)", None),
        ("return other(a, strict=True)", "return other(a)", None),
        ('a.execute("SELECT b FROM c", b)', 'a.execute("select b from c", b)', "case"),
        ('a.execute("SELECT b FROM c", b)', 'a.execute("XXSELECT b FROM cXX", b)', None),
        ('a.execute("SELECT b FROM c", "B")', 'a.execute("SELECT b FROM c", "b")', None),
        ("return a < 1", "return a <= 1", None),
    ],
)
def test_only_what_no_test_should_kill_is_left_out(old: str, new: str, kind: str | None) -> None:
    assert mutant(old, new).kind == kind
    assert mutant(old, new).change == [f"-    {ast.unparse(ast.parse(old))}", f"+    {ast.unparse(ast.parse(new))}"]
