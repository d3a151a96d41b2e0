"""The page of findings: what was looked at, what was found, how small a leak would have been found."""

from __future__ import annotations

import json
import math
import os
import textwrap
import time
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree  # written, never read

WIDTH = 100


@dataclass(frozen=True)
class PowerRow:
    """How small a leak of one feature is found, as `contrast.FeaturePower` and `again.RarePower` say it.

    Attributes
    ----------
    feature : str
    pairs : int
    share : float
    shift : float
        Of everybody who gives an answer.
    rare : float
        Of one in 100 of them.
    """

    feature: str
    pairs: int
    share: float
    shift: float
    rare: float


@dataclass(frozen=True)
class AuditPart:
    """One part of an audit.

    Attributes
    ----------
    name : str
    looked : str
        What was looked at, and how small a leak it would have shown.
    faults : tuple of str
    powers : tuple of PowerRow
    lines : tuple of str
        More figures, each in a line of its own.
    """

    name: str
    looked: str
    faults: tuple[str, ...] = ()
    powers: tuple[PowerRow, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spent:
    """What an audit took, in seconds: by the clock, and of processors, with programs that it started.

    Chromium runs each page in a process that nobody waits for, so the system does not tell what these took.
    """

    seconds: float
    processor: float

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        return (
            f"This audit took {minutes} min {seconds} s, and {self.processor:,.0f} s of processor time on "
            f"{os.cpu_count()} processors, without what the pages in a browser took."
        )


class Stopwatch:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._began = time.monotonic(), _processor()

    def read(self) -> Spent:
        """What went by since then."""
        clock, processor = self._began
        return Spent(time.monotonic() - clock, _processor() - processor)


def _processor() -> float:
    """Seconds of processors that this program took so far, with those that it started and that have ended."""
    return sum(os.times()[:4])


MOST = 12
"""Most faults of a part that a page shows; files hold all of them."""


def as_text(parts: list[AuditPart]) -> str:
    """One page for people."""
    lines: list[str] = []
    for part in parts:
        lines += [f"{'FAILED' if part.faults else 'passed'}  {part.name}", *_wrapped(part.looked), *_table(part.powers)]
        for line in part.lines:
            lines += _wrapped(f"- {line}")
        for fault in part.faults[:MOST]:
            lines += _wrapped(f"* {fault}")
        if len(part.faults) > MOST:
            lines += _wrapped(f"* and {len(part.faults) - MOST:,} more; --json writes all of them")
        lines.append("")
    return "\n".join(lines)


def _table(rows: tuple[PowerRow, ...]) -> list[str]:
    """The features that most pairs have."""
    found = [each for each in rows if min(each.shift, each.rare) < math.inf or each.share < 1]
    if not found:
        return []
    shown = sorted(found, key=lambda each: -each.pairs)[:MOST]
    head = f"{'':8}{'':<52}{'pairs':>6}{'share':>8}{'in all':>9}{'in 1 of 100':>13}"
    lines = [
        f"{'':8}{each.feature[:51]:<52}{each.pairs:>6}{'never' if each.share >= 1 else format(each.share, '.0%'):>8}"
        f"{_size(each.shift):>9}{_size(each.rare):>13}"
        for each in shown
    ]
    more = [f"{'':8}and {len(rows) - MOST} more; --json writes all of them"] if len(rows) > MOST else []
    return [head, *lines, *more]


def _size(value: float) -> str:
    return f"{value:.3g}" if value < math.inf else "never"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=True)


def as_json(parts: list[AuditPart], spent: Spent) -> str:
    """All of it for programs."""
    content = {
        "passed": not any(part.faults for part in parts),
        **{name: round(value, 1) for name, value in asdict(spent).items()},
        "parts": [asdict(part) for part in parts],
    }
    # JSON has no infinity: a leak that is never found has no size.
    return json.dumps(_finite(content), indent=2) + "\n"


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(each) for name, each in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(each) for each in content]
    return None if content == math.inf else content


def as_junit(parts: list[AuditPart], spent: Spent) -> str:
    """All of it in the form that build servers read: a test case for each part."""
    failed = sum(bool(part.faults) for part in parts)
    counts = {"tests": str(len(parts)), "failures": str(failed), "time": f"{spent.seconds:.1f}"}
    suite = ElementTree.Element("testsuite", {"name": "deniable audit", **counts})
    for part in parts:
        case = ElementTree.SubElement(suite, "testcase", classname="deniable.audit", name=part.name)
        ElementTree.SubElement(case, "system-out").text = part.looked
        if part.faults:
            failure = ElementTree.SubElement(case, "failure", message=_printable(part.faults[0]))
            failure.text = _printable("\n".join(part.faults))
    return ElementTree.tostring(suite, encoding="unicode") + "\n"


def _printable(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(each if each in "\n\t" or each >= " " else "?" for each in text)
