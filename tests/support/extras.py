"""``deniable`` as it is where only some of its extras are installed: modules of all the others cannot be imported."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.rig.patience import PATIENCE

PROGRAM = """
import json, sys
from click.testing import CliRunner
from deniable_commands.main import main
results = [CliRunner().invoke(main, each, prog_name="deniable", terminal_width=100) for each in json.load(sys.stdin)]
print(json.dumps([(each.exit_code, each.output) for each in results]))
"""


def with_extras(extras: Sequence[str]) -> dict[str, str]:
    """Variables for a Python, and all that it starts, to have these extras and no others."""
    brought = {"deniable", *_brought(extras)}
    hidden = {name for name, owners in _modules().items() if not brought.intersection(map(canonicalize_name, owners))}
    folder = str(Path(__file__).with_name("hiding"))
    return os.environ | {"PYTHONPATH": folder, "HIDDEN": ",".join(sorted(hidden))}


def results_with(extras: Sequence[str], lines: Sequence[Sequence[str]], folder: Path) -> list[tuple[int, str]]:
    """Exit code and output of each command line, all in one process that has these extras."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(lines), cwd=folder, env=with_extras(extras),
        capture_output=True, text=True, check=True, timeout=PATIENCE * len(lines),
    )  # fmt: skip
    return [(code, output) for code, output in json.loads(done.stdout.splitlines()[-1])]


@functools.cache
def _modules() -> Mapping[str, Sequence[str]]:
    """The distributions of every module, for which the lists of files of all of them are read."""
    return packages_distributions()


def _brought(extras: Sequence[str]) -> Iterator[str]:
    """The distributions that ``pip install '.[extras]'`` brings, the project's own among them."""
    waiting, seen = [("deniable", extra) for extra in ("", *extras)], set()
    while waiting:
        wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        name, extra = wanted
        yield canonicalize_name(name)
        try:
            needed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # it is for other systems
            continue
        for each in needed:
            if not each.marker or each.marker.evaluate({"extra": extra}):
                waiting += [(each.name, part) for part in ("", *each.extras)]
