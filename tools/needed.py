"""How many lines of ``deniable`` client and server need: ``python -m tools.needed [PYTEST'S ARGUMENTS...]``.

Runs the tests of both sides, and notes each function of ``shared/deniable`` that is called while a function of the
client or the server waits for it, in this process and in those that it starts. What only a test calls does not count.
A function counts whole, with its docstring; what stands outside of functions counts for each module that either side
imports. Blank lines do not.

Who waits says what it is for. Collector and devices need the one part; commands, the demo and the auditor, which
authors and researchers run, the other.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT / "shared" / "deniable"
TESTS = ["tests/client", "tests/server", "-q", "-m", "not (browser or fuzz or long or r or simulation or slow)"]
NOTES = "NEEDED_NOTES"
"""Setting of the environment that names the file to which every process adds what it has seen."""

BOTH, COMMANDS, NOBODY = "collector and devices", "commands besides", "neither"
SIDES = {
    "client/deniable_client/audit": COMMANDS,
    "client/deniable_client/demo": COMMANDS,
    "client/deniable_client/rehearsal": COMMANDS,
    "client/deniable_client": "devices",
    "server/deniable_server/commands/serve.py": "collector",
    "server/deniable_server/authors": COMMANDS,
    "server/deniable_server/commands": COMMANDS,
    "server/deniable_server": "collector",
}
"""Who waits, by place; the first that fits. Of several that wait the commands count, which call the others."""

WATCH_TOO = "from tools.needed import watch\nwatch()\n"

IMPORT = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
ours = ("deniable", "deniable_transport", "deniable_commands", "deniable_statistics")
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.split(".")[0] in ours]))
"""


class Watch:
    """A profiler's function, which writes down the code of ``deniable`` that is called and who waits for it."""

    def __init__(self, notes: Path) -> None:
        self._notes = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._known: defaultdict[CodeType, set[str]] = defaultdict(set)
        self._sides: dict[str, str | None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or self._side(code.co_filename) != "shared":
            return
        waiting = {self._side(each.f_code.co_filename) for each in _callers(frame)}
        side = next((each for each in (COMMANDS, "devices", "collector") if each in waiting), None)
        if side and side not in self._known[code]:
            self._known[code].add(side)
            os.write(self._notes, f"{json.dumps([code.co_filename, code.co_firstlineno, side])}\n".encode())

    def _side(self, file: str) -> str | None:
        if file not in self._sides:
            path = Path(file).resolve()
            self._sides[file] = "shared" if path.is_relative_to(SHARED) else side_of(path)
        return self._sides[file]


def _callers(frame: FrameType) -> Iterator[FrameType]:
    caller = frame.f_back
    while caller:
        yield caller
        caller = caller.f_back


def watch() -> None:
    """Watch this process from here on."""
    watching = Watch(Path(os.environ[NOTES]))
    threading.setprofile(watching)
    sys.setprofile(watching)


def run(arguments: list[str]) -> tuple[int, dict[Path, dict[int, set[str]]]]:
    """Run pytest; its exit status, and by file and first line who waited for what was called."""
    seen: defaultdict[Path, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(WATCH_TOO, encoding="utf-8")
        notes = Path(folder) / "notes"
        path = os.pathsep.join([folder, str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        settings = os.environ | {"PYTHONPATH": path, NOTES: str(notes)}
        status = subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=settings, check=False)
        for file, first, side in map(json.loads, notes.read_text(encoding="utf-8").splitlines()):
            seen[Path(file).resolve()][first].add(side)
    return status.returncode, dict(seen)


def side_of(path: Path) -> str | None:
    """Whose a file is; None if it is of neither side."""
    return next((side for place, side in SIDES.items() if path.is_relative_to(ROOT / place)), None)


def imported(sides: Collection[str]) -> set[Path]:
    """The modules of the packages that both sides share that are loaded once all modules of these sides are."""
    names = []
    for package in (ROOT / "client" / "deniable_client", ROOT / "server" / "deniable_server"):
        for path in sorted(package.rglob("*.py")):
            if side_of(path) in sides and path.name != "__main__.py":
                parts = path.relative_to(package.parent).with_suffix("").parts
                names.append(".".join(parts).removesuffix(".__init__"))
    output = subprocess.run([sys.executable, "-c", IMPORT, *names], check=True, capture_output=True).stdout
    return {Path(file).resolve() for file in json.loads(output)}


def functions(tree: ast.AST) -> Iterator[tuple[str, int, int]]:
    """The functions and methods of a module with their first and last lines; not those within functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield node.name, first, node.end_lineno or node.lineno
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", first, last) for name, first, last in functions(node))


def report(seen: dict[Path, dict[int, set[str]]]) -> None:
    """Print lines by room, and the functions that only commands call, or nobody."""
    loaded, loaded_by_commands = imported({"collector", "devices"}), imported(set(SIDES.values()))
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    places: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for path in sorted(SHARED.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        counts = [bool(line.strip()) for line in text.splitlines()]
        room = rooms[path.relative_to(SHARED).parts[0]]
        outside = sum(counts)
        for name, first, last in functions(ast.parse(text)):
            size = sum(counts[first - 1 : last])
            sides = {side for line, each in seen.get(path, {}).items() if first <= line <= last for side in each}
            whose = BOTH if sides - {COMMANDS} else COMMANDS if sides else NOBODY
            room[whose] += size
            places[whose].append((size, f"{path.relative_to(SHARED)}: {name}"))
            outside -= size
        room[BOTH if path in loaded else COMMANDS if path in loaded_by_commands else NOBODY] += outside
    columns = (BOTH, COMMANDS, NOBODY)
    print(f"\n{'room':20}", *(f"{each:>22}" for each in columns))
    for name, row in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]:
        print(f"{name:20}", *(f"{row[each]:22}" for each in columns))
    for whose in (COMMANDS, NOBODY):
        print(f"\nFunctions of {whose}:")
        for size, place in sorted(places[whose], key=lambda each: (-each[0], each[1])):
            print(f"{size:5} {place}")


def main(arguments: list[str]) -> int:
    status, seen = run(arguments or TESTS)
    report(seen)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
