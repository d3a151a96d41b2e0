"""The notebook of the documents runs from end to end and shows what its cells give."""

from __future__ import annotations

import json

import pytest

from tools.make_notebook import NOTEBOOK, executed, text_of


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert text_of(executed(json.loads(text))) == text, "run: make docs"
