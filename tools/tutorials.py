"""Run the tutorials of docs/learn/ from an empty folder, and write what their commands print into them.

    python -m tools.tutorials docs/learn/survey.md

A tutorial is read as a person reads it. A block of `console` holds lines that begin with ``$ `` and what they print. A
block that follows a sentence such as "Write `my-survey.toml`:" is a file. Comments of HTML before a block, which
readers do not see, say what happens:

* ``<!-- chance -->``: its numbers differ from run to run;
* ``<!-- goes on -->``: its command runs until the tutorial ends, as in a second terminal;
* ``<!-- stop -->``: somebody stops such commands before it;
* ``<!-- machine -->``: it changes a whole machine, and is run by `tools.machine`;
* ``<!-- r -->``: it needs R.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tools.rig.collectors import free_port
from tools.rig.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "learn"
SHOWN_PORTS = ("8000", "8001")
"""Ports of the pages: the collector's and that of somebody's own site. A run takes free ones, and shows these."""

NOT_RUN = frozenset({"machine"})
"""Notes of blocks that no tutorial runs by itself."""


class Block(NamedTuple):
    """A fenced block of a page.

    Attributes
    ----------
    language : str
    text : str
        Between the fences, with its last line break.
    file : str or None
        The name of the file that it is, if it is one.
    notes : frozenset of str
        What a comment before it says: ``chance``, ``goes on`` and so on.
    start, end : int
        Where the text stands in the page.
    """

    language: str
    text: str
    file: str | None
    notes: frozenset[str]
    start: int
    end: int


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, in order.

    >>> [one] = blocks_of("Write `a.toml`:\\n\\n```toml\\ntitle = 1\\n```\\n")
    >>> one.file, one.text
    ('a.toml', 'title = 1\\n')
    >>> [one] = blocks_of("<!-- chance, long -->\\n```console\\n$ ls\\n```\\n")
    >>> sorted(one.notes), one.file
    (['chance', 'long'], None)
    """
    found = []
    fence = re.compile(r"(?:^<!-- ([\w, ]+) -->\n+)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for each in fence.finditer(page):
        before = page[: each.start()].rstrip()
        named = re.search(r"`([\w./-]+)`[^`\n]*:\Z", before) if each[2] != "console" else None
        notes = frozenset(filter(None, re.split(r",\s*", each[1] or "")))
        found.append(Block(each[2], each[3], named and named[1], notes, each.start(3), each.end(3)))
    return found


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Command lines of a block and what they are shown to print; a line that ends with a backslash goes on.

    >>> [(line, shown)] = commands_of(blocks_of("```console\\n$ echo a \\\\\\n  b\\na b\\n```\\n")[0])
    >>> line, shown
    ('echo a \\\\\\n  b', 'a b\\n')
    """
    found: list[tuple[str, str]] = []
    goes_on = False
    for line in block.text.splitlines(keepends=True):
        if goes_on:
            found[-1] = (found[-1][0] + line, "")
        elif line.startswith("$ "):
            found.append((line.removeprefix("$ "), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
        goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\\n")
    return [(line.removesuffix("\n"), shown) for line, shown in found]


def executed(
    page: str,
    folder: Path,
    leaving_out: frozenset[str] = NOT_RUN,
    variables: Mapping[str, str] = MappingProxyType({}),
    report: Callable[[str], None] = lambda line: None,
) -> str:
    """The page with what its commands print now.

    Parameters
    ----------
    page : str
        Markdown.
    folder : Path
        An empty folder, in which all of it happens.
    leaving_out : frozenset of str
        Blocks with one of these notes stay as they are.
    variables : mapping of str to str
        What the environment of the commands has besides.
    report : callable, optional
        Gets each command line before it runs.

    Raises
    ------
    RuntimeError
        If a command fails, or one that goes on ends or never prints what the page shows.
    """
    ports = Ports({each: str(free_port()) for each in SHOWN_PORTS})
    environment = environment_of(ports) | dict(variables)
    parts, end = [], 0
    with ExitStack() as running:
        for block in blocks_of(page):
            parts += [page[end : block.start]]
            end = block.end
            if block.file:
                path = folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(ports.taken_in(block.text), encoding="utf-8")
            runs = block.language == "console" and not block.notes & leaving_out
            parts.append("".join(_shown(block, folder, ports, environment, running, report)) if runs else block.text)
    return "".join([*parts, page[end:]])


class Ports(dict[str, str]):
    """The port that is taken for each one of the pages.

    >>> ports = Ports({"8000": "40123"})
    >>> ports.taken_in("deniable serve --port 8000"), ports.shown_in("http://127.0.0.1:40123/s")
    ('deniable serve --port 40123', 'http://127.0.0.1:8000/s')
    """

    def taken_in(self, text: str) -> str:
        """A text of the page as it runs."""
        return self._replaced(text, self)

    def shown_in(self, text: str) -> str:
        """What was printed, as the page shows it."""
        return self._replaced(text, {taken: shown for shown, taken in self.items()})

    @staticmethod
    def _replaced(text: str, other: dict[str, str]) -> str:
        pattern = rf"(127\.0\.0\.1:|--port )({'|'.join(other)})\b"
        return re.sub(pattern, lambda found: found[1] + other[found[2]], text)


def _shown(
    block: Block,
    folder: Path,
    ports: Ports,
    environment: dict[str, str],
    running: ExitStack,
    report: Callable[[str], None],
) -> Iterator[str]:
    if "stop" in block.notes:
        running.close()
    for line, shown in commands_of(block):
        report(line)
        run = ports.taken_in(line)
        if "goes on" in block.notes:
            port = next((taken for each, taken in ports.items() if f"--port {each}" in line), ports["8000"])
            _start(
                run,
                folder,
                environment,
                int(port),
                running,
                lambda printed, shown=shown: shown in ports.shown_in(printed),
            )
            printed = shown
        else:
            printed = ports.shown_in(_run(run, folder, environment))
        yield f"$ {line}\n{printed}"


def environment_of(ports: Ports) -> dict[str, str]:
    """What the commands of a tutorial find: the programs of this environment, and nothing of whoever runs them."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("DENIABLE_")}
    return kept | {
        "CLONE": str(ROOT),
        "COLUMNS": "100",
        "DENIABLE_LOG": os.devnull,  # where people type, operators' calls are not logged to the terminal
        "DENIABLE_MEMORY": "memory.json",
        "DENIABLE_PORT": ports["8000"],
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",  # errors and output in the order in which they were written
    }


def _run(line: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{line}: ended with status {done.returncode}:\n{done.stdout}")
    return "".join(f"{each.rstrip()}\n" for each in done.stdout.splitlines())


def _start(
    line: str, folder: Path, environment: dict[str, str], port: int, running: ExitStack, is_right: Callable[[str], bool]
) -> None:
    """Start a command at a terminal of its own, and wait until it takes connections and has printed the right thing."""
    ours, terminal = pty.openpty()
    running.callback(os.close, ours)
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"], cwd=folder, env=environment, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    running.callback(process.wait)
    running.callback(process.terminate)
    said: list[str] = []

    def read_all() -> None:
        # Until the command has ended: a terminal that nobody reads is soon full, and then the command waits for it.
        with suppress(OSError):
            while text := os.read(ours, 65_536):
                said.append(text.decode(errors="replace").replace("\r\n", "\n"))

    threading.Thread(target=read_all, daemon=True).start()

    def ready() -> bool:
        return takes_connections(port) and is_right("".join(said))

    wait_until(lambda: process.poll() is not None or ready(), f"{line} takes connections and says what is shown")
    if process.poll() is not None:
        raise RuntimeError(f"{line}: ended with status {process.returncode}:\n{''.join(said)}")


def takes_connections(port: int) -> bool:
    """Whether something listens at a port of this machine."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def comparable(page: str) -> str:
    """A page in which what differs from run to run is the same: numbers where chance is named, tokens, versions.

    >>> one = "<!-- chance -->\\n```console\\n$ deniable x\\nyes   31.2 %  no\\n```\\n"
    >>> comparable(one) == comparable(one.replace("31.2", " 9.87").replace("  no", "  yes"))
    True
    >>> comparable(one) == comparable(one.replace("31.2 %", "too few reports to say"))
    True
    """
    parts, end = [], 0
    for block in blocks_of(page):
        text = re.sub(r"dn_[\w-]+", "dn_...", block.text)
        text = re.sub(r"sha384-[\w+/=]+", "sha384-...", text)
        if "chance" in block.notes:
            # Whether an interval is narrow enough for a number is chance, too.
            text = re.sub(r"^Too few reports to say: .*\n\n?", "", text, flags=re.MULTILINE)
            text = re.sub(r"(counted): too few to say anything about .*$", r"\1.", text, flags=re.MULTILINE)
            text = text.replace("too few reports to say", "0 %")
            text = re.sub(r"[-\u2212]?\d[\d,.]*", "0", text)
            text = re.sub(r"\b(yes|no)$", "yes", text, flags=re.MULTILINE)
            text = re.sub(r"-{2,}|[ \t]+", " ", text)
        parts += [page[end : block.start], text]
        end = block.end
    return "".join([*parts, page[end:]])


def main(names: list[str]) -> None:
    for name in names or sorted(map(str, FOLDER.glob("*.md"))):
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            leaving_out = NOT_RUN if shutil.which("Rscript") else NOT_RUN | {"r"}
            new = executed(path.read_text(encoding="utf-8"), Path(folder), leaving_out, report=print)
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
