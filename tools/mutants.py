"""Whether the tests would notice a mistake: ``python -m tools.mutants [ROOM...]``, or ``make mutants``.

mutmut changes one thing at a time in the code on which the promises rest, and runs the tests that reach it. A mutant
that no test kills is printed with what it changes. Those of the `KINDS` are counted apart, because no test should kill
them. Functions under a decorator other than ``classmethod`` cannot be mutated.

Each room has a copy of its own in ``.mutants``. The next run goes on where one was stopped, and asks again about what
survived: tests may have been added since.
"""

from __future__ import annotations

import ast
import copy
import difflib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
WORK = ROOT / ".mutants"
LEAST = 0.9


class Room(NamedTuple):
    """Some code, and the tests that are asked about it."""

    package: str
    code: Sequence[str]
    """Modules of the package, or patterns of them."""

    tests: Sequence[str]
    """Subjects of files in the package's room of ``tests``, or in the one before a slash.

    Of them what ``make test-fast`` runs is asked.
    """

    def files(self) -> list[str]:
        """The files of the tests."""
        own = self.package.removeprefix("deniable_")
        places = [each.rpartition("/") for each in self.tests]
        return [f"tests/{room or own}/test_{subject}.py" for room, _, subject in places]


_MECHANISMS = [
    *("arrays", "drawn_boxes", "edges", "exact", "filters", "first_steps", "guessing", "interface", "longitudinal"),
    *("mechanisms", "piecewise", "privacy", "refusals", "rows", "space", "statistics/selection", "vectors"),
]
_ESTIMATES = ["statistics/estimates", "statistics/tallies", "statistics/targets"]

ROOMS = {
    "exact": Room("deniable", ["exact"], [*_MECHANISMS, "survey"]),
    "spaces": Room("deniable", ["wire/space"], ["drawn_boxes", "groups", "space", "report", "vectors"]),
    "privacy": Room(
        "deniable",
        ["privacy/*"],
        ["privacy", "ceiling", "groups", "guessing", "survey", "vectors", "research/arguments"],
    ),
    "mechanisms": Room("deniable", ["mechanisms/*"], [*_MECHANISMS, *_ESTIMATES, "report", "survey"]),
    "estimation": Room(
        "deniable_statistics",
        [
            "designs/debiasing",
            "designs/feasible",
            "designs/of_mechanisms",
            *(f"estimates/{name}" for name in ["estimate", "fakes", "means"]),
        ],
        [
            *_ESTIMATES,
            *(f"deniable/{name}" for name in ["drawn_boxes", "guessing", "interface", "mechanisms", "piecewise"]),
            *("deniable/rows", "deniable/space", "among", "ask_if", "batched_shares", "channels", "comparison"),
            *("counts", "debiasing", "derived", "fakes", "fakes_asked", "few_reports", "intervals", "joint", "levels"),
            *("mean_among", "misbehaviour", "parts", "respondents", "selection", "research/arguments"),
        ],
    ),
    "device": Room(
        "deniable_client",
        ["device", "user_folder", "frames", "link", "memory", "memory_file", "blind_token"],
        [
            *("access", "answer", "arguments", "device", "drawn_questions", "filters", "frames", "given", "memory"),
            *("waves", "deniable/filters", "deniable/report"),
        ],
    ),
    "access": Room("deniable", ["access/*"], ["access", "report", "survey", "vectors"]),
}
"""What is mutated, by name."""

CONFIGURATION = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist", "-x"]
pythonpath = ["."]
markers = ["browser", "engines", "fuzz", "long", "r", "simulation", "slow"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = {mutated}
also_copy = ["tests", "tools", "docs", "pyproject.toml", "conftest.py"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = [
    "-m", "not (browser or engines or fuzz or long or r or simulation or slow)",
    "--deselect", "{counts_names}",
]
"""

COUNTS_NAMES = "tests/deniable/test_interface.py::test_a_mechanism_shows_few_names"
"""The test that is not asked, because mutmut adds a name to a class for each mutant of it."""

FRESH = """
# What was kept before a function was changed would hide the change.
import functools
import gc


def pytest_sessionstart():
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper) and getattr(each, "__module__", "").startswith("deniable"):
            each.cache_clear()
"""
"""A ``conftest.py`` of the copy; mutmut asks about a mutant in a fork of the process that ran the tests before."""

ALIVE = (0, 5, 33)
"""What mutmut keeps of a mutant that no test killed, or that no test reached."""


class Mutant(NamedTuple):
    """One mistake that was made on purpose, and that no test noticed."""

    name: str
    old: ast.FunctionDef
    new: ast.FunctionDef

    @property
    def change(self) -> list[str]:
        """The lines that it changes, with - before the old and + before the new ones."""
        old = ast.unparse(self.old).splitlines()
        new = ast.unparse(self.new).replace(self.new.name, self.old.name).splitlines()
        lines = difflib.unified_diff(old, new, n=0, lineterm="")
        return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]

    @property
    def kind(self) -> str | None:
        """The first of the `KINDS` to which it belongs."""
        for kind, (_, blank) in KINDS.items():
            old, new = (blank().visit(copy.deepcopy(each)) for each in (self.old, self.new))
            if [ast.dump(each) for each in (old.args, *old.body)] == [ast.dump(each) for each in (new.args, *new.body)]:
                return kind
        return None


class _WithoutWords(ast.NodeTransformer):
    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                each.value = ""
        return node


class _WithoutStrict(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "zip":
            node.keywords = []
        return node


class _WithoutCase(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("execute", "executemany"):
            for each in node.args[:1]:
                if isinstance(each, ast.Constant):
                    each.value = str(each.value).lower()
        return node


KINDS: dict[str, tuple[str, type[ast.NodeTransformer]]] = {
    "words": ("tests hold what a message must name, not its every letter", _WithoutWords),
    "case": ("SQLite reads its words and the names of tables in either case", _WithoutCase),
    "strict": ("`strict=` of a zip whose sides have one length by construction", _WithoutStrict),
}
"""Mutants that are not counted: why, and what takes the difference out of a function."""


def prepare(name: str) -> Path:
    """Copy what a room mutates and what tests it."""
    work = WORK / name
    for package in (
        "shared/deniable",
        "shared/deniable_transport",
        "shared/deniable_commands",
        "shared/deniable_statistics",
        "shared/deniable_research",
        "client/deniable_client",
    ):
        _copy(ROOT / package, work / "src" / Path(package).name)
    for folder in ("tests", "tools", "docs"):
        _copy(ROOT / folder, work / folder)
    package, code, _ = ROOMS[name]
    files = [f"src/{package}/{each}" + ("" if each.endswith("*") else ".py") for each in code]
    asked = ROOMS[name].files()
    (work / "pyproject.toml").write_text(
        CONFIGURATION.format(mutated=files, tests=asked, counts_names=COUNTS_NAMES), encoding="utf-8"
    )
    (work / "conftest.py").write_text(FRESH, encoding="utf-8")
    return work


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))


def results(work: Path) -> Iterator[tuple[Path, dict[str, int | None]]]:
    """What mutmut keeps of each file: by mutant how its tests ended, None where it was not tried."""
    for file in sorted((work / "mutants" / "src").rglob("*.meta")):
        if found := json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]:
            yield file, found


def forget_survivors(work: Path) -> None:
    """Let mutmut try again what survived."""
    for file, found in results(work):
        content = json.loads(file.read_text(encoding="utf-8"))
        content["exit_code_by_key"] = {name: None if code in ALIVE else code for name, code in found.items()}
        file.write_text(json.dumps(content), encoding="utf-8")


def survivors(file: Path, found: dict[str, int | None]) -> Iterator[Mutant]:
    """The mutants of a file that no test killed."""
    code = file.with_suffix("").read_text(encoding="utf-8")
    functions = {node.name: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)}
    for name in (name for name, code in found.items() if code in ALIVE):
        function = name.rpartition(".")[2]
        original = function.rpartition("__mutmut_")[0] + "__mutmut_orig"
        yield Mutant(name, functions[original], functions[function])


def report(work: Path) -> tuple[int, int]:
    """Print what survived in a room; how many were killed, of how many that count."""
    killed = tried = 0
    for file, found in results(work):
        alive = list(survivors(file, found))
        apart = Counter(mutant.kind for mutant in alive if mutant.kind)
        of_file = sum(code is not None for code in found.values())
        dead, counted = of_file - len(alive), of_file - apart.total()
        killed, tried = killed + dead, tried + counted
        others = "".join(f"; {kind}: {n}" for kind, n in apart.items())
        name = file.relative_to(work / "mutants" / "src").with_suffix("")
        print(f"{name}: {dead} of {counted} killed, {dead / max(counted, 1):.1%}{others}")
        for mutant in alive:
            if mutant.kind is None:
                print(f"  {mutant.name}", *(f"    {line}" for line in mutant.change), sep="\n")
    return killed, tried


def main(rooms: Sequence[str]) -> int:
    """Make the mutants, and say by file how many are killed; 1 where they are fewer than `LEAST` of a room."""
    for name in rooms:
        if name not in ROOMS:
            near = difflib.get_close_matches(name, ROOMS, n=1)
            raise SystemExit(f"room: must be among {', '.join(ROOMS)}, got {name}" + (f"; {near[0]}?" if near else ""))
    failed = 0
    for name in rooms:
        work = prepare(name)
        forget_survivors(work)
        subprocess.run([str(Path(sys.executable).parent / "mutmut"), "run"], cwd=work, check=True)
        killed, tried = report(work)
        print(f"{name}: {killed} of {tried} killed, {killed / max(tried, 1):.1%}")
        failed |= killed < LEAST * tried
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ROOMS)))
