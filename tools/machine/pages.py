"""The blocks of pages that change a machine, and doing what they say there."""

from __future__ import annotations

import datetime
import re
import textwrap
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from tools.machine.debian import ROOT, Machine
from tools.tutorials import blocks_of, commands_of

SETTINGS = "set -a; . /etc/deniable/environment; set +a"
"""What the pages say to run first in a shell."""

INSTALLS = re.compile(r"\b(pip install|apt-get)\b")
"""Lines that take the network of the machine outside."""


def page(name: str) -> str:
    """A page of the documents."""
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


class Block(NamedTuple):
    """Lines that are run in one shell, and lines that they are shown to print."""

    name: str
    lines: list[str]
    shown: list[str]


def marked(page: str) -> list[Block]:
    """The blocks of a tutorial that change a machine.

    >>> marked("<!-- machine -->\\n```console\\n$ curl x\\n{}\\n```\\n")
    [Block(name='curl x', lines=['curl x'], shown=['{}'])]
    """
    found = []
    for block in blocks_of(page):
        if "machine" in block.notes:
            commands = commands_of(block)
            shown = [line for _, text in commands for line in text.splitlines()]
            found.append(Block(commands[0][0], [line for line, _ in commands], shown))
    return found


def section(page: str, heading: str) -> list[Block]:
    """The blocks for a shell below a heading, but for those about containers.

    >>> section("## A\\n```sh\\nls  # all\\n```\\n```sh\\ndocker ps\\n```\\n## B\\n```sh\\npwd\\n```\\n", "A")
    [Block(name='ls  # all', lines=['ls  # all'], shown=[])]

    Parentheses of a subshell are left out: `follow` runs lines of one block in several shells, each of which ends at
    the first error.
    """
    text = below(page, f"## {heading}")
    blocks = [each.splitlines() for each in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]
    blocks = [[line for line in lines if line not in ("(", ")")] for lines in blocks]
    return [Block(lines[0], lines, []) for lines in blocks if "docker" not in lines[0]]


def below(page: str, heading: str) -> str:
    """What stands below a heading, until the next one of its level or a higher one.

    >>> below("## A\\na\\n### B\\nb\\n#### C\\nc\\n## D\\nd\\n", "### B")
    'b\\n#### C\\nc'
    """
    level = len(heading.partition(" ")[0])
    # Lines that begin with one # are comments of a shell, beside the title.
    return re.split(rf"\n#{{2,{level}}} ", f"\n{page}".split(f"\n{heading}\n")[1])[0]


def follow(
    machine: Machine, blocks: Sequence[Block], prelude: str = "", typed: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Run blocks in their order, and print how long each one takes, and what it says; return all that was printed.

    Parameters
    ----------
    prelude : str
        What the shell of a reader has run before.
    typed : mapping
        What a reader types in the place of what stands on the page, beside the day.

    Raises
    ------
    RuntimeError
        If a line fails, or does not print what the page shows.
    """
    today = f"{datetime.datetime.now(tz=datetime.UTC):%F}"
    everything = ""
    for block in blocks:
        began, printed = time.monotonic(), ""
        for outside, lines in groupby(block.lines, lambda line: bool(INSTALLS.search(line))):
            script = "\n".join([prelude, *lines])
            for shown, meant in {"2026-12-20": today, **typed}.items():
                script = script.replace(shown, meant)
            printed += machine.run(script, outside=outside)
        print(f"{time.monotonic() - began:6.1f} s  {block.name}", flush=True)
        print(textwrap.indent("\n".join(printed.splitlines()[-12:]), " " * 10), flush=True)
        if missing := [line for line in block.shown if line not in printed]:
            raise RuntimeError(f"{block.name}: must print {missing}, got:\n{printed}")
        everything += printed
    return everything


def expect(found: object, wanted: object) -> None:
    """Raise a RuntimeError unless the machine has what it must have."""
    if found != wanted:
        raise RuntimeError(f"the machine: must have {wanted!r}, got {found!r}")
