"""What ``python -m tools.prepared`` makes is what pytest and hypothesis read: both may change with their versions."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc
from hypothesis.configuration import storage_directory

from tools import prepared


def test_tests_are_compiled_where_pytest_looks_for_them_with_their_assertions_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "test_one.py"
    path.write_text("def test_one():\n    assert sum([1, 2]) == 3\n", encoding="utf-8")
    prepared.rewrite(path)
    compiled = tmp_path / "__pycache__" / f"test_one{PYC_TAIL}"
    code = _read_pyc(path, compiled)
    assert code is not None
    assert "@pytest_ar" in code.co_names
    before = compiled.stat().st_mtime_ns
    prepared.rewrite(path)
    assert compiled.stat().st_mtime_ns == before, "what is compiled is left as it is"
    path.write_text("def test_one():\n    pass\n", encoding="utf-8")
    assert _read_pyc(path, compiled) is None, "what is out of date is not read"


def test_all_tests_and_their_fixtures_are_compiled_so_and_helpers_are_not() -> None:
    found = set(prepared.rewritten())
    assert {Path(__file__), Path(__file__).parents[1] / "conftest.py"} <= found
    assert Path(__file__).parents[1] / "support" / "marks.py" not in found


def test_constants_are_kept_for_hypothesis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "module.py"
    path.write_text("LIMIT = 4711\n", encoding="utf-8")
    prepared.read_constants(path)
    name = hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()[:16]
    assert "4711" in (storage_directory("constants").path / name).read_text(encoding="utf-8")
