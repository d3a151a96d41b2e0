"""What several tests of this room read. The room needs no collector and no browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable_research.files import Table, read_layout
from tests.support.alone import neither_collector_nor_browser
from tests.support.analyzing import DATA
from tools.rig.surveys import SURVEY

__all__ = ["neither_collector_nor_browser"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a survey of two questions."""
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def study() -> Table:
    """The study of ``tests/data``."""
    return Table.read(DATA / "study.csv", read_layout((DATA / "study.toml").read_bytes()))
