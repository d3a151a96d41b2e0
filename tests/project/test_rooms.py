"""The rooms of the tests: what each may load, and that the first three work where only what is shared is."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
ROOMS = ("deniable", "statistics", "research", "client", "server", "browser", "project")
SERVER = ("apiflask", "deniable_server", "flask", "granian", "prometheus_client", "pydantic_settings", "sqlite_utils")
DRIVERS = ("playwright",)


@functools.cache
def imported(path: Path) -> tuple[str, ...]:
    """Every module that a file imports, wherever it stands in it, and every name that may be one."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def file_of(name: str) -> Path | None:
    """The file of ours behind a dotted name, if it is one: `tests.support.surveys.person` is in `surveys.py`."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        path = ROOT.joinpath(*parts[:length]).with_suffix(".py")
        if parts[0] in ("tests", "tools") and path.is_file():
            return path
    return None


def needed(room: str) -> dict[str, Path]:
    """All that the tests of a room import, by themselves or through helpers and tools; and where."""
    waiting = [TESTS / "conftest.py", *(TESTS / room).glob("*.py")]
    seen: set[Path] = set()
    found: dict[str, Path] = {}
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imported(path):
            found[name] = path
            if ours := file_of(name):
                waiting.append(ours)
    return found


def test_every_test_stands_in_a_room() -> None:
    assert {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")} == set(ROOMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "without"),
    [
        ("deniable", SERVER + DRIVERS),
        ("statistics", SERVER + DRIVERS),
        ("research", SERVER + DRIVERS),
        ("server", DRIVERS),
        ("project", DRIVERS),
    ],
)
def test_rooms_import_no_more_than_they_need(room: str, without: tuple[str, ...]) -> None:
    for name, path in needed(room).items():
        assert name.split(".")[0] not in without, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_rooms_share_by_way_of_support_only(room: str) -> None:
    for path in (TESTS / room).glob("*.py"):
        for name in imported(path):
            top, *rest = name.split(".")
            if top == "tests":
                assert rest[0] in ("support", room), f"{path.relative_to(ROOT)} imports {name}"


def test_helpers_import_no_tests_and_tools_not_even_helpers() -> None:
    for folder, allowed in ((TESTS / "support", {"support"}), (ROOT / "tools", set())):
        for path in folder.rglob("*.py"):
            for name in imported(path):
                top, *rest = name.split(".")
                assert top != "tests" or rest[0] in allowed, f"{path.relative_to(ROOT)} imports {name}"


IMPORT = """
import importlib.util
import sys
from pathlib import Path
sys.modules.update(dict.fromkeys(sys.argv[1].split(",")))  # None: whoever imports it gets an ImportError
sys.path.insert(0, ".")
paths = [path for room in ("deniable", "statistics", "research") for path in Path("tests", room).glob("test_*.py")]
for number, path in enumerate(paths):
    spec = importlib.util.spec_from_file_location(f"test_{number}", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
print(len(paths))
"""


@pytest.mark.long
@pytest.mark.slow
def test_rooms_without_a_side_are_imported_where_flask_and_browsers_are_missing() -> None:
    command = [sys.executable, "-c", IMPORT, ",".join(SERVER + DRIVERS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert int(done.stdout) > 80


def test_what_is_fast_leaves_out_every_marker() -> None:
    """And nothing else: a test that belongs to no marker runs each time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = [each.partition(":")[0] for each in project["tool"]["pytest"]["ini_options"]["markers"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f'-m "not ({" or ".join(markers)})"' in makefile


OWN_BOUND = re.compile(
    r"timeout=\d|settimeout\(\d|\.(?:wait|join)\(\d|(?:monotonic|time|perf_counter)\(\) \+ \d|default_timeout\(\d"
)


def test_tests_wait_by_one_patience_and_measure_no_time() -> None:
    """What a test holds to seconds of its own fails on a busy machine: see `tools.rig.patience`."""
    files = [*TESTS.rglob("*.py"), *(ROOT / "tools" / "rig").rglob("*.py")]
    files.remove(Path(__file__))
    own = {
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if OWN_BOUND.search(line)
    }
    assert own == set()


def test_own_bounds_are_found() -> None:
    for line in ("process.wait(5)", "expect(page).to_be(timeout=15_000)", "until = time.monotonic() + 60"):
        assert OWN_BOUND.search(line)
    assert not OWN_BOUND.search("process.wait(PATIENCE)")
