"""Plants every fault in a copy of its client, audits the copy, and prints what was caught."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from deniable.errors import DeniableError
from deniable_client.audit.shipped import Target, audit_installed, audit_shipped
from tools.planted.faults import FAULTS, Fault
from tools.planted.filtered import FILTERED
from tools.planted.targets import PlantedTarget, target_of
from tools.programs import node_command
from tools.rig.collectors import running_collector

ROOT = Path(__file__).parents[2]
WEB = ROOT / "client" / "deniable_web"
FAILURE = 1e-6


def main(arguments: list[str]) -> int:
    sessions = int(arguments[arguments.index("--sessions") + 1]) if "--sessions" in arguments else None
    words = [each for each in arguments if not each.startswith("--") and not each.isdigit()]
    chosen = [
        each
        for each in (*FAULTS, *FILTERED)
        if not words or any(word in f"{each.family} {each.client} {each.name}" for word in words)
    ]
    caught: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector:
        targets = {kind: target_of(collector, kind) for kind in sorted({each.access for each in chosen})}
        for fault in chosen:
            start = time.monotonic()
            found = audited(fault, targets[fault.access], sessions)
            caught[fault.family].append(found is not None)
            shown = "MISSED" if found is None else found[:110]
            print(
                f"{fault.family:<10}{fault.client:<8}{fault.name:<44}{time.monotonic() - start:5.0f} s  {shown}",
                flush=True,
            )
    for family, results in caught.items():
        print(f"{family:<10}{sum(results)} of {len(results)}")
    total = [each for results in caught.values() for each in results]
    print(f"together  {sum(total)} of {len(total)}")
    return 0


def audited(fault: Fault, target: Target, sessions: int | None) -> str | None:
    """The first thing that an audit of the planted copy names; None where it names nothing."""
    dice = random.Random()
    n = sessions or fault.sessions
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            if fault.client == "python":
                bench = audit_installed(
                    target, n, dice=dice, environment=python_with([fault], folder), histories=fault.histories
                )
                names: set[str] = set()
            else:
                script = bundle_with(fault, folder)
                planted = PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, script)
                bench, names = audit_shipped(planted, n, dice=dice, browsers=1, histories=fault.histories)
        except DeniableError as error:  # the client did not get to its end, which an audit reports as a failure too
            return f"stopped: {error}"
        suspects = bench.suspects(FAILURE)
    if suspects:
        return f"{suspects[0].observable} ({suspects[0].sessions} of {suspects[0].of})"
    return f"names looked up: {', '.join(sorted(names))}" if names else None


def python_with(faults: Sequence[Fault], folder: Path) -> dict[str, str]:
    """The environment of a Python that has a copy with these faults."""
    paths = []
    for package in ("shared/deniable", "client/deniable_client"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        paths.append(str((folder / package).parent))
    for fault in faults:
        plant(fault, folder)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def bundle_with(fault: Fault, folder: Path) -> bytes:
    """The bundle that is made of sources with the fault, or the one that is shipped with the fault behind it."""
    if fault.client == "bundle":
        return (WEB / "dist" / "deniable.js").read_bytes() + b"\n" + fault.new.encode() + b"\n"
    copy = folder / "client" / "deniable_web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    (copy / "node_modules").symlink_to(WEB / "node_modules")
    (copy.parent / "hosts").symlink_to(WEB.parent / "hosts")  # which the build looks at too
    plant(fault, folder)
    subprocess.run([*node_command(), "build.mjs"], cwd=copy, check=True)
    return (copy / "dist" / "deniable.js").read_bytes()


def plant(fault: Fault, folder: Path) -> None:
    """Put the fault into the copy."""
    path = folder / fault.file
    text = path.read_text(encoding="utf-8")
    if fault.old not in text:
        raise SystemExit(f"{fault.file}: must hold what the fault {fault.name!r} replaces; the sources have moved on")
    path.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
