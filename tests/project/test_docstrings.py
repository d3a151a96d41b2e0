"""Docstrings are read by themselves, in an editor or by `help`: none may need the line above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("shared/deniable", "shared/deniable_transport", "shared/deniable_commands"),
    *("shared/deniable_statistics", "shared/deniable_research"),
    *("client/deniable_client", "server/deniable_server", "tools"),
)

DANGLING = re.compile(r"(The same\b|Of |Those\b|Likewise\b|As `|So many\b|Whoever\b|Whatever\b|Whom\b|Them\b)")
"""Beginnings that refer to something that does not stand beside a docstring."""

STARTS = re.compile(rf"""["'\\\\]\s*{DANGLING.pattern}""")
"""Where a string may begin so: only files with such a place are parsed."""


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The docstrings of modules, classes and functions, and those below constants and attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            match statement:
                case ast.Expr(ast.Constant(str()) as text):
                    yield text


@pytest.mark.parametrize("package", PACKAGES)
def test_every_docstring_can_be_read_by_itself(package: str) -> None:
    dangling = [
        f"{path.relative_to(ROOT)}:{text.lineno}: {str(text.value).strip().splitlines()[0]}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if STARTS.search(source := path.read_text(encoding="utf-8"))
        for text in docstrings(ast.parse(source))
        if DANGLING.match(str(text.value).strip())
    ]
    assert dangling == []


def test_constants_and_functions_are_looked_at() -> None:
    source = 'LIMIT = 5\n"""Of the name."""\ndef f():\n    """The same."""\n'
    assert STARTS.search(source)
    assert STARTS.search('r"""\n    Of the name."""')
    tree = ast.parse(source)
    assert [text.value for text in docstrings(tree)] == ["Of the name.", "The same."]
