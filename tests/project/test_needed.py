"""Which lines of ``deniable`` are counted as needed."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

from deniable.survey.document import address, is_address
from deniable_client.link import parse_link
from tools.needed import SHARED, Watch, functions


def test_what_a_side_calls_is_noted_and_what_a_test_calls_is_not(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    survey = "bpn4zq5y7xlxpqd63hsrm4s5ky"
    before, watching = sys.getprofile(), Watch(notes)
    sys.setprofile(watching)
    try:
        address(b"")
        assert parse_link(f"https://collector.example/s/{survey}").survey == survey
    finally:
        sys.setprofile(before)
    noted = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    place = str(SHARED / "survey" / "document.py")
    assert [place, is_address.__code__.co_firstlineno, "devices"] in noted
    assert [place, address.__code__.co_firstlineno, "devices"] not in noted


def test_functions_have_their_decorators_and_hold_what_is_within_them() -> None:
    text = "class A:\n    @property\n    def b(self):\n        def inner(): ...\n        return inner\n\ndef c(): ...\n"
    assert list(functions(ast.parse(text))) == [("A.b", 2, 5), ("c", 7, 7)]
