"""Compile what the tests import, once and on all cores: ``python -m tools.prepared``, before pytest starts its workers.

In a fresh checkout each of four workers would compile every test for itself, with its assertions rewritten, and parse
every module for hypothesis, which tries the constants that it finds there: 8 s of CPU time each. Both libraries keep
what they made beside the files and in ``.hypothesis``, by the hash of the source, so nothing is done twice and nothing
that is out of date is read. Both functions are private; ``tests/project/test_prepared.py`` tells whether they still do
what is needed here.
"""

from __future__ import annotations

import compileall
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _rewrite_test, _write_pyc, get_cache_dir
from hypothesis.internal.constants_ast import constants_from_module

ROOT = Path(__file__).parents[1]

SOURCES = ("shared", "client/deniable_client", "server", "tools")
"""What the tests import from outside of their own folder."""


def main() -> None:
    """Compile everything that is not compiled yet."""
    sources = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    with ProcessPoolExecutor() as pool:
        done = [pool.map(rewrite, rewritten(), chunksize=8), pool.map(read_constants, sources, chunksize=32)]
        for folder in (*SOURCES, "tests/support"):
            compileall.compile_dir(ROOT / folder, quiet=2, workers=1)
        for each in done:
            list(each)  # which raises what they raised


def rewritten() -> Iterator[Path]:
    """The files whose assertions pytest rewrites."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.name == "conftest.py" or path.name.startswith("test_"):
            yield path


def rewrite(path: Path) -> None:
    """Compile a test as pytest does, and keep it where pytest looks for it."""
    folder = get_cache_dir(path)
    folder.mkdir(parents=True, exist_ok=True)
    compiled = folder / f"{path.stem}{PYC_TAIL}"
    if _read_pyc(path, compiled) is None:
        source_hash, code = _rewrite_test(path, cast(Any, None))  # without a configuration: nothing of ours changes it
        _write_pyc(cast(Any, SimpleNamespace(trace=print)), code, source_hash, compiled)


def read_constants(path: Path) -> None:
    """Let hypothesis look for the constants of a module, which it keeps."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    constants_from_module(module)


if __name__ == "__main__":
    main()
