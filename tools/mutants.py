"""Whether the tests would notice a mistake: ``python -m tools.mutants [ROOM...]``, or ``make mutants``.

mutmut changes one thing at a time in the code on which the promises rest, and runs the tests that reach it. A mutant
that no test kills is printed with what it changes. One that differs only within the text of a message is counted apart:
tests hold what a message must name, not its every letter. Functions under a decorator other than ``classmethod``
cannot be mutated.

It works on a copy in ``.mutants``, and the next run goes on where one was stopped.
"""

from __future__ import annotations

import difflib
import io
import shutil
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
WORK = ROOT / ".mutants"
LEAST = 0.9

ROOMS = {
    "exact": ["deniable/exact.py"],
    "mechanisms": ["deniable/mechanisms/*"],
    "spaces": ["deniable/report/space.py"],
    "privacy": ["deniable/privacy/*"],
    "estimation": [
        "deniable/estimation/debiasing.py",
        "deniable/estimation/estimate.py",
        "deniable/estimation/fakes.py",
        "deniable/estimation/feasible.py",
        "deniable/estimation/means.py",
    ],
    "device": ["deniable_client/device.py", "deniable_client/memory.py"],
}
"""What is mutated, by name."""

TESTS = [
    *("exact", "mechanisms", "vectors", "privacy", "longitudinal", "estimates", "tallies", "targets", "symmetry"),
    *("selection", "report", "survey", "space", "ceiling", "edges"),
]

CONFIGURATION = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist", "-x"]
pythonpath = ["."]
markers = ["browser", "fuzz", "simulation", "slow"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = {mutated}
also_copy = ["tests", "tools", "docs", "pyproject.toml"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-m", "not (simulation or slow or browser)"]
"""


class Mutant(NamedTuple):
    """One mistake that was made on purpose."""

    name: str
    fate: str
    """What mutmut says of it: ``killed``, ``survived``, ``timeout`` and so on."""

    @property
    def file(self) -> str:
        """The file in which it was made."""
        parts = self.name.split(".")
        return "/".join(part for part in parts if "__mutmut" not in part) + ".py"


def prepare(rooms: Sequence[str]) -> None:
    """Copy what is mutated and what tests it."""
    for package in ("shared/deniable", "shared/deniable_research", "client/deniable_client"):
        _copy(ROOT / package, WORK / "src" / Path(package).name)
    for folder in ("tests", "tools", "docs"):
        _copy(ROOT / folder, WORK / folder)
    mutated = [f"src/{pattern}" for room in rooms for pattern in ROOMS[room]]
    tests = [f"tests/deniable/test_{name}.py" for name in TESTS]
    if "device" in rooms:
        tests += ["tests/client/test_device.py", "tests/client/test_memory.py"]
    (WORK / "pyproject.toml").write_text(CONFIGURATION.format(mutated=mutated, tests=tests), encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))


def mutmut(*arguments: str) -> str:
    """What a command of mutmut prints."""
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    return subprocess.run(command, cwd=WORK, capture_output=True, text=True, check=True).stdout


def mutants() -> Iterator[Mutant]:
    """Every mutant that was tried."""
    for line in mutmut("results", "--all", "true").splitlines():
        name, colon, fate = line.strip().partition(": ")
        if colon and "__mutmut_" in name and fate != "not checked":
            yield Mutant(name, fate)


def change(mutant: Mutant) -> list[str]:
    """The lines that a mutant changes, with - before the old and + before the new ones."""
    lines = mutmut("show", mutant.name).splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def is_wording(lines: Sequence[str]) -> bool:
    """Whether a change is within texts alone.

    >>> is_wording(['-    raise E(f"must be {n}")', '+    raise E(f"XXmust be {n}XX")'])
    True
    >>> is_wording(["-a < 1", "+a <= 1"])
    False
    """
    old, new = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    return _without_texts(old) == _without_texts(new)


def _without_texts(code: str) -> list[str]:
    kept = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code.strip()).readline):
            texts = (tokenize.STRING, *(getattr(tokenize, "FSTRING_MIDDLE", -1),))  # since Python 3.12
            kept.append("text" if token.type in texts else token.string)
    except (tokenize.TokenError, IndentationError):
        pass  # part of a statement: what was read of it is compared
    return kept


def main(rooms: Sequence[str]) -> int:
    """Make the mutants, and say by file how many are killed; 1 where they are fewer than `LEAST` of them."""
    for room in rooms:
        if room not in ROOMS:
            near = difflib.get_close_matches(room, ROOMS, n=1)
            raise SystemExit(f"room: must be among {', '.join(ROOMS)}, got {room}" + (f"; {near[0]}?" if near else ""))
    prepare(rooms)
    subprocess.run([str(Path(sys.executable).parent / "mutmut"), "run"], cwd=WORK, check=True)
    by_file = defaultdict(list)
    for mutant in mutants():
        by_file[mutant.file].append(mutant)
    killed = tried = 0
    for file, found in sorted(by_file.items()):
        alive = {mutant: change(mutant) for mutant in found if mutant.fate in ("survived", "no tests")}
        words = {mutant for mutant, lines in alive.items() if is_wording(lines)}
        dead, all_of_it = len(found) - len(alive), len(found) - len(words)
        killed, tried = killed + dead, tried + all_of_it
        print(f"{file}: {dead} of {all_of_it} killed, {dead / max(all_of_it, 1):.0%}; {len(words)} within messages")
        for mutant in alive.keys() - words:
            print(f"  {mutant.name}", *(f"    {line}" for line in alive[mutant]), sep="\n")
    print(f"together: {killed} of {tried} killed, {killed / max(tried, 1):.1%}")
    return int(killed < LEAST * tried)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ROOMS)))
