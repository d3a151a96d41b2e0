"""Run docs/analysis.ipynb from the first cell to the last, as a reader would, and write what the cells give into it.

    python -m tools.make_notebook

Cells are run here, one after the other in one namespace, and the value of a last line is shown: that is all that the
notebook uses of Jupyter, whose dozens of packages would be there for nothing else. `tests/project/test_notebook.py`
runs it too and compares. Charts are drawn and left out: their bytes differ between versions of matplotlib.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "docs" / "analysis.ipynb"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs that its cells give now.

    Parameters
    ----------
    notebook : dict
        The JSON of nbformat 4.

    Raises
    ------
    Exception
        Whatever a cell raises.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for place, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] == "code":
            cell = {**cell, "outputs": _outputs("".join(cell["source"]), namespace, place), "execution_count": None}
        cells.append(cell)
    return {**notebook, "cells": cells}


def text_of(notebook: dict[str, Any]) -> str:
    """The file of a notebook."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _outputs(source: str, namespace: dict[str, Any], place: int) -> list[dict[str, Any]]:
    """Run a cell: what it prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {place}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {place}", "eval"), namespace)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None and (data := _shown(value)):
        found.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return found


def _shown(value: Any) -> dict[str, list[str]]:
    if hasattr(value, "_repr_svg_"):
        assert value._repr_svg_().startswith("<?xml")
        return {}
    shown = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        shown["text/html"] = _lines(value._repr_html_())
    return shown


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    NOTEBOOK.write_text(text_of(executed(json.loads(NOTEBOOK.read_text(encoding="utf-8")))), encoding="utf-8")
