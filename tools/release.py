"""Make the files of a release and try each one as a stranger would: ``python -m tools.release``, or ``make release``.

The Python packages are built twice, from two fresh clones in folders of different names, and must be the same byte
for byte. So must two packs of each npm package. Then the wheel is installed in clean environments of each Python, with
the smallest and with the full extras, and used. A Python that this machine neither has nor can get is named, and the
release is not complete unless ``--without`` names it too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.programs import node_command, node_environment, npm_command

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = {"smallest": "", "collector": "[server]", "full": "[server,postgresql,research,files,engine]"}
"""The two ends of what people install, and a collector. `audit` brings a driver of browsers, and no code of ours."""

MOST_ROOM = {"smallest": 25, "collector": 200}
"""Largest size of an environment beyond pip, in megabytes: `docs/installing.md` states them."""

USES = {
    "smallest": ["answer --help", "risk --epsilon 1", "--help"],
    "collector": ["demo --respondents 300 --exit"],
    "full": ["plan --epsilon 1 --share 0.1", "demo --respondents 300 --exit"],
}
"""What an installed wheel must do, command by command."""

NODE_USE = """
import { MECHANISMS } from "deniable";
import manifest from "deniable/manifest.json" with { type: "json" };
if (MECHANISMS.size < 6 || !manifest.integrity["deniable.js"].startsWith("sha384-")) throw new Error("incomplete");
console.log("works");
"""


class Unfinished(Exception):
    """Something is wrong with the release."""


def run(command: Sequence[str], folder: Path = ROOT, **environment: str) -> str:
    """What a command prints; an error with all of that if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unfinished(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def sha256(path: Path) -> str:
    """The hash of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compared(first: Path, second: Path) -> dict[str, str]:
    """The hashes of the files of a folder, which another folder must have too.

    Raises
    ------
    Unfinished
        If the folders hold other names or other bytes.
    """
    one, two = ({path.name: sha256(path) for path in sorted(folder.iterdir())} for folder in (first, second))
    if one != two or not one:
        raise Unfinished(f"two builds differ: {sorted(set(one.items()) ^ set(two.items()))}")
    return one


def build_python(commit: str, scratch: Path) -> Path:
    """The folder with sdist and wheel of a commit, built twice."""
    moment = run(["git", "show", "--no-patch", "--format=%ct", commit]).strip()
    made = []
    for name in ("one", "another-one"):
        clone, to = scratch / name / "deniable", scratch / f"{name}-dist"
        run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)])
        run(["git", "checkout", "--quiet", "--detach", commit], clone)
        settings = {"SOURCE_DATE_EPOCH": moment, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
        run([sys.executable, "-m", "build", "--outdir", str(to), str(clone)], ROOT, **settings)
        made.append(to)
    for name, digest in compared(*made).items():
        print(f"{name}: the same twice, {megabytes(made[0] / name):.1f} MB, sha256 {digest}")
    return made[0]


def megabytes(path: Path) -> float:
    """How large a file is, or everything in a folder.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes(1_500_000)), file.flush()
    ...     megabytes(Path(file.name))
    1.5
    """
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file() and not each.is_symlink()]
    return sum(each.stat().st_size for each in files) / 1e6


def interpreter(version: str) -> str | None:
    """A Python of a version: the system's, pyenv's, or one that uv has or brings."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}")))]
    for path in filter(None, found):
        # A shim of pyenv is there for versions that are not chosen, and fails.
        if subprocess.run([path, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0:
            return path
    uv = [sys.executable, "-m", "uv", "python"]
    if subprocess.run([*uv, "install", "--quiet", version], capture_output=True, check=False).returncode:
        return None
    return run([*uv, "find", "--managed-python", version]).strip()


@dataclass(frozen=True)
class Installed:
    """A wheel in a clean environment.

    Attributes
    ----------
    python, kind : str
        The version, and which of `EXTRAS`.
    install, start : float
        Seconds to install it, and until ``deniable --help`` has ended.
    room : float
        How large the environment is in megabytes, pip left out.
    """

    python: str
    kind: str
    install: float
    start: float
    room: float

    def __str__(self) -> str:
        return (
            f"Python {self.python}, {self.kind}: installed in {self.install:.0f} s, {self.room:.1f} MB beyond pip, "
            f"--help in {self.start:.2f} s"
        )


def install(wheel: Path, version: str, path: str, kind: str, scratch: Path) -> Installed:
    """Install a wheel in a clean environment, and use it in an empty folder."""
    environment, desk = scratch / f"{version}-{kind}", scratch / f"{version}-{kind}-desk"
    desk.mkdir()
    run([path, "-m", "venv", str(environment)])
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    started = time.monotonic()
    run([*pip, "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), f"{wheel}{EXTRAS[kind]}"], desk)
    seconds = time.monotonic() - started
    run([*pip, "check"], desk)
    deniable = str(environment / "bin" / "deniable")
    run([deniable, "--help"], desk)  # the first start compiles
    started = time.monotonic()
    run([deniable, "--help"], desk)
    start = time.monotonic() - started
    for words in USES[kind]:
        run([deniable, *words.split()], desk)
    packages = next((environment / "lib").glob("python*")) / "site-packages"
    for each in packages.glob("pip*"):
        shutil.rmtree(each)
    found = Installed(version, kind, seconds, start, megabytes(packages))
    print(found, flush=True)
    if found.room > MOST_ROOM.get(kind, math.inf):
        raise Unfinished(f"{kind}: must take at most {MOST_ROOM[kind]} MB beyond pip, got {found.room:.1f} MB")
    return found


def pack_npm(folder: Path, scratch: Path) -> Path:
    """The pack of an npm package, made twice, installed in a clean project and imported there."""
    path = node_environment()["PATH"]
    made = []
    for name in ("one-npm", "another-npm"):
        to = scratch / name
        to.mkdir()
        run([*npm_command(), "pack", "--silent", "--pack-destination", str(to)], folder, PATH=path)
        made.append(to)
    ((name, digest),) = compared(*made).items()
    project = scratch / "project"
    project.mkdir()
    (project / "package.json").write_text('{"name": "stranger", "private": true, "type": "module"}')
    run([*npm_command(), "install", "--silent", "--offline", str(made[0] / name)], project, PATH=path)
    said = run([*node_command(), "--input-type=module", "--eval", NODE_USE], project, PATH=path).strip()
    if said != "works":
        raise Unfinished(f"{name}: must work in a clean project, said {said!r}")
    print(f"{name}: the same twice, {megabytes(made[0] / name):.1f} MB, sha256 {digest}, imported in a clean project")
    return made[0] / name


def bill_of_materials(environment: Path, to: Path) -> None:
    """What an environment holds, as CycloneDX 1.6."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", str(environment / "bin" / "python")]
    run([*command, "--output-reproducible", "--spec-version", "1.6", "--of", "JSON", "--output-file", str(to)])
    components = json.loads(to.read_text(encoding="utf-8"))["components"]
    print(f"{to.name}: {len(components)} components")


def release(to: Path, pythons: Sequence[str], without: Sequence[str]) -> None:
    """Make and try everything, and put it into a folder."""
    if run(["git", "status", "--porcelain"]).strip():
        raise Unfinished("the tree has changes that no commit holds")
    commit = run(["git", "rev-parse", "HEAD"]).strip()
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    missing = []
    with tempfile.TemporaryDirectory(prefix="deniable-release-") as folder:
        scratch = Path(folder)
        dist = build_python(commit, scratch)
        packs = [pack_npm(path.parent, scratch) for path in public_packages()]
        (wheel,) = dist.glob("*.whl")
        for version in pythons:
            path = interpreter(version)
            if path is None:
                missing.append(version)
                continue
            for kind in EXTRAS:
                install(wheel, version, path, kind, scratch)
                if kind == "full" and not (to / "sbom.cdx.json").exists():
                    bill_of_materials(scratch / f"{version}-{kind}", to / "sbom.cdx.json")
                shutil.rmtree(scratch / f"{version}-{kind}")
        for made in (*dist.iterdir(), *packs):
            shutil.copy(made, to)
    lines = [f"{sha256(path)}  {path.name}" for path in sorted(to.iterdir())]
    (to / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{to}: {', '.join(path.name for path in sorted(to.iterdir()))}")
    if untried := sorted(set(missing) - set(without)):
        raise Unfinished(
            f"Python {', '.join(untried)}: is not here, and uv cannot bring it; try there, or --without it"
        )
    if missing:
        print(f"Not tried, because it cannot be had here: Python {', '.join(missing)}")


def public_packages() -> list[Path]:
    """The package.json of every npm package that is meant for others."""
    found = sorted((ROOT / "client").glob("*/package.json"))
    return [path for path in found if not json.loads(path.read_text(encoding="utf-8")).get("private")]


def main(arguments: Sequence[str]) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    parser.add_argument("--pythons", nargs="+", default=PYTHONS)
    parser.add_argument("--without", nargs="*", default=(), help="versions that need not be tried here")
    asked = parser.parse_args(arguments)
    try:
        release(asked.to, asked.pythons, asked.without)
    except Unfinished as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
