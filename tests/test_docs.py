"""The documents: generated pages are fresh, links lead somewhere. Their examples run as doctests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import make_docs
from deniable import read_survey

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_generated_pages_are_what_the_generator_writes() -> None:
    for name, content in make_docs.pages().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == content, f"run: make docs ({name})"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_survey_of_the_readme_can_be_published() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert [question.id for question in read_survey(text).questions] == ["affair", "religious"]


def test_files_that_documents_name_exist() -> None:
    for document in DOCUMENTS:
        for name in re.findall(
            r"`((?:shared|server|client|tests|docs)/[\w./-]+)`", document.read_text(encoding="utf-8")
        ):
            assert (ROOT / name).exists(), f"{document.name} names {name}"
