"""The page of findings: what was looked at, what was found, how small a leak would have been found."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass
from xml.etree import ElementTree  # written, never read

WIDTH = 100


@dataclass(frozen=True)
class AuditPart:
    """One part of an audit.

    Attributes
    ----------
    name : str
    looked : str
        What was looked at, and how small a leak it would have shown.
    faults : tuple of str
    """

    name: str
    looked: str
    faults: tuple[str, ...] = ()


MOST = 12
"""Most faults of a part that a page shows; files hold all of them."""


def as_text(parts: list[AuditPart]) -> str:
    """One page for people."""
    lines: list[str] = []
    for part in parts:
        lines += [f"{'FAILED' if part.faults else 'passed'}  {part.name}", *_wrapped(part.looked)]
        for fault in part.faults[:MOST]:
            lines += _wrapped(f"* {fault}")
        if len(part.faults) > MOST:
            lines += _wrapped(f"* and {len(part.faults) - MOST:,} more; --json writes all of them")
        lines.append("")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=True)


def as_json(parts: list[AuditPart]) -> str:
    """All of it for programs."""
    content = {"passed": not any(part.faults for part in parts), "parts": [asdict(part) for part in parts]}
    return json.dumps(content, indent=2) + "\n"


def as_junit(parts: list[AuditPart]) -> str:
    """All of it in the form that build servers read: a test case for each part."""
    failed = sum(bool(part.faults) for part in parts)
    suite = ElementTree.Element("testsuite", name="deniable audit", tests=str(len(parts)), failures=str(failed))
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
