"""Plants every fault in a copy of its client, audits the copy, and prints what was caught."""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from deniable.errors import DeniableError
from deniable_client.audit.forms import FORMS
from deniable_client.audit.histories import HISTORIES
from deniable_client.audit.judge import Bench
from deniable_client.audit.release import integrity
from deniable_client.audit.second_look import look_again_in_browser, look_again_in_python
from deniable_client.audit.shipped import (
    BLOCK,
    Target,
    audit_forms,
    audit_installed,
    audit_shipped,
    check_promises,
    check_races,
)
from tools.planted.faults import FAULTS, Fault
from tools.planted.filtered import FILTERED
from tools.planted.formed import FORMED
from tools.planted.fresh import FRESH, OTHERS
from tools.planted.mutations import MUTATIONS
from tools.planted.rare import RARE
from tools.planted.second import SECOND
from tools.planted.targets import FIRST, SECOND_SCRIPT, PlantedTarget, target_of
from tools.planted.third import THIRD
from tools.programs import node_command
from tools.rig.collectors import running_collector

ROOT = Path(__file__).parents[2]
WEB = ROOT / "client" / "deniable_web"
FAILURE = 1e-6
SECOND_LOOK = 96
"""Sessions of a fault from which on the pairs that differ most are lived again at the end."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.planted", description=__doc__)
    parser.add_argument("words", nargs="*", help="plant the faults whose family, client and name hold one of these")
    parser.add_argument("--sessions", type=int, help="most sessions for each fault, instead of the fault's own")
    parser.add_argument("--fresh", action="store_true", help="plant those that were written before the audit was read")
    parser.add_argument("--second", action="store_true", help="plant those of a second person who had not read it")
    parser.add_argument("--third", action="store_true", help="plant those of an insider, most of them written before")
    parser.add_argument("--others", action="store_true", help="plant others of the same kinds")
    parser.add_argument("--mutations", action="store_true", help="plant mutations of the mechanisms")
    parser.add_argument("--firefox", action="store_true", help="audit faults of the browser in Firefox")
    parser.add_argument("--rare", action="store_true", help="plant those that show in one of 100 who answer Yes")
    chosen = parser.parse_args(arguments)
    lists = {"fresh": FRESH, "second": SECOND, "third": THIRD, "others": OTHERS, "mutations": MUTATIONS, "rare": RARE}
    named = next((each for each in lists if getattr(chosen, each)), None)
    faults = [
        each
        for each in (lists[named] if named else (*FAULTS, *FILTERED, *FORMED))
        if not chosen.words or any(word in f"{each.family} {each.client} {each.name}" for word in chosen.words)
        if not (chosen.firefox and each.client == "python")
    ]
    caught: dict[tuple[str, str], list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector:
        targets = {kind: target_of(collector, kind) for kind in sorted({each.access for each in faults})}
        for fault in faults:
            start, before = time.monotonic(), _cpu()
            most, kind = chosen.sessions or fault.sessions, "firefox" if chosen.firefox else "chromium"
            found = audited(fault, targets[fault.access], most, kind)
            caught[fault.family, fault.client].append(found is not None)
            shown = "MISSED" if found is None else found[:110]
            print(
                f"{fault.family:<10}{fault.client:<8}{fault.name:<44}{time.monotonic() - start:5.0f} s"
                f"{_cpu() - before:5.0f} s CPU  {shown}",
                flush=True,
            )
    for (family, client), results in sorted(caught.items()):
        print(f"{family:<10}{client:<8}{sum(results)} of {len(results)}")
    total = [each for results in caught.values() for each in results]
    print(f"together  {sum(total)} of {len(total)}")
    return 0


def _cpu() -> float:
    """Seconds of CPU that this process and those that it has started and seen end took so far."""
    return sum(os.times()[:4])


def audited(fault: Fault, target: Target, most: int, kind: str = "chromium") -> str | None:
    """The first thing that an audit of the planted copy names; None where so many sessions name nothing.

    People come in rounds, and no more come once something was named.
    """
    dice, seen = random.Random(), Bench(lambda session, trace: ())
    with tempfile.TemporaryDirectory() as name:
        run, again = _runner(fault, target, Path(name), dice, kind)
        for sessions, histories in rounds(fault, most):
            try:
                bench, names = run(sessions, histories)
            except DeniableError as error:  # the client did not get to its end, which an audit reports as a failure too
                return f"stopped: {error}"
            seen = Bench(bench.expect, seen.blocks + bench.blocks)
            if suspects := seen.suspects(FAILURE):
                return f"{suspects[0].observable} ({suspects[0].sessions} of {suspects[0].of})"
            if names:
                return f"names looked up: {', '.join(sorted(names))}"
        if most >= SECOND_LOOK:
            again(seen)
            if seen.again.returned:
                return f"lived again: {seen.again.returned[0].feature} (p = {seen.again.returned[0].p:.1g})"
        if fault.client != "python" and not fault.histories:
            planted = _planted(fault, target, Path(name))
            promises, races = (check(planted, dice=dice, kind=kind) for check in (check_promises, check_races))
            return next(iter((*promises, *races)), None)
    return None


Run = Callable[[int, Collection[str]], tuple[Bench, set[str]]]


def _runner(
    fault: Fault, target: Target, folder: Path, dice: random.Random, kind: str
) -> tuple[Run, Callable[[Bench], None]]:
    """What lets people answer through the planted client, and what looks again at the pairs that differ most."""
    if fault.client == "python":
        environment = python_with([fault], folder)

        def answer(n: int, histories: Collection[str]) -> tuple[Bench, set[str]]:
            return audit_installed(target, n, dice=dice, environment=environment, histories=histories), set()

        return answer, lambda bench: look_again_in_python(target, bench, FAILURE, dice=dice, environment=environment)
    planted = _planted(fault, target, folder)

    def use(n: int, histories: Collection[str]) -> tuple[Bench, set[str]]:
        if is_in_form(fault):
            return audit_forms(planted, n, dice=dice, browsers=1, ways=histories, kind=kind)
        return audit_shipped(planted, n, dice=dice, browsers=1, histories=histories, kind=kind)

    return use, lambda bench: look_again_in_browser(planted, bench, FAILURE, dice=dice, kind=kind)


def is_in_form(fault: Fault) -> bool:
    """Whether a fault is of the element that holds one question."""
    return any(each in FORMS for each in fault.histories)


def _planted(fault: Fault, target: Target, folder: Path) -> PlantedTarget:
    """The target with scripts that have the fault."""
    scripts = scripts_with(fault, Path(tempfile.mkdtemp(dir=folder)))
    return PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, scripts)


def rounds(fault: Fault, most: int) -> Iterator[tuple[int, Collection[str]]]:
    """How many people come in each round, and with which histories: at first a block, in the end as many as before.

    A fault that names no history is looked for in all: a block of each, then in the shares of an audit.
    """
    done = 0
    for history in HISTORIES if not fault.histories else ():
        yield BLOCK, (history,)
        done += BLOCK
    while done < most:
        next_round = min(max(done, BLOCK), most - done)
        yield next_round, fault.histories or HISTORIES
        done += next_round


def python_with(faults: Sequence[Fault], folder: Path) -> dict[str, str]:
    """The environment of a Python that has a copy with these faults."""
    paths = []
    for package in ("shared/deniable", "client/deniable_client"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        paths.append(str((folder / package).parent))
    for fault in faults:
        plant(fault, folder)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def scripts_with(fault: Fault, folder: Path) -> dict[str, bytes]:
    """The scripts that are made of sources with the fault, or what is shipped with the fault in it or behind it."""
    if fault.client == "bundle" and fault.file:
        return _changed(fault)
    names = ("deniable-question.js",) if is_in_form(fault) else (FIRST, SECOND_SCRIPT)
    if fault.client == "bundle":
        return {names[0]: (WEB / "dist" / names[0]).read_bytes() + b"\n" + fault.new.encode() + b"\n"}
    copy = folder / "client" / "deniable_web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    (copy / "node_modules").symlink_to(WEB / "node_modules")
    (copy.parent / "hosts").symlink_to(WEB.parent / "hosts")  # which the build looks at too
    plant(fault, folder)
    subprocess.run([*node_command(), "build.mjs"], cwd=copy, check=True)
    return {name: (copy / "dist" / name).read_bytes() for name in names}


def _changed(fault: Fault) -> dict[str, bytes]:
    """A shipped bundle in which a pattern is replaced: names of variables there change with every build.

    Where it is the second script of a survey, the first one holds its hash.
    """
    text, times = re.subn(fault.old, fault.new, (ROOT / fault.file).read_text(encoding="utf-8"))
    if times != 1:
        raise SystemExit(f"{fault.file}: must hold the pattern of the fault {fault.name!r} once, got {times} times")
    name, script = Path(fault.file).name, text.encode()
    if name != SECOND_SCRIPT:
        return {name: script}
    reviewed = integrity((ROOT / fault.file).read_bytes()).encode()
    first = (WEB / "dist" / FIRST).read_bytes().replace(reviewed, integrity(script).encode())
    return {name: script, FIRST: first}


def plant(fault: Fault, folder: Path) -> None:
    """Put the fault into the copy."""
    for file, old, new in ((fault.file, fault.old, fault.new), *fault.also):
        path = folder / file
        text = path.read_text(encoding="utf-8")
        if old not in text:
            raise SystemExit(f"{file}: must hold what the fault {fault.name!r} replaces; the sources have moved on")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
