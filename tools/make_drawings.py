"""Draw the pictures of docs/drawings.md: ``python -m tools.make_drawings`` writes them, and a test compares."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "drawings"
INK, QUIET, LINE, PAPER, CARD = "#1f2328", "#57606a", "#8c959f", "#ffffff", "#f6f8fa"
TRUE, NOISY = "#0b5d82", "#c2571a"
"""Colours of true answers and of noisy reports, as in docs/who-sees-what.svg."""


def drawing(width: int, height: int, title: str, description: str, *parts: str) -> str:
    """An SVG on paper of its own, so that it reads alike on light and dark pages."""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
            ' font-family="system-ui, sans-serif" font-size="15" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title>',
            f'<desc id="d">{escape(description)}</desc>',
            f'<rect width="{width}" height="{height}" rx="14" fill="{PAPER}"/>',
            *parts,
            "</svg>\n",
        )
    )


def text(
    x: float, y: float, words: str, colour: str = INK, anchor: str = "start", size: int = 15, bold: bool = False
) -> str:
    """A line of text."""
    weight = ' font-weight="700"' if bold else ""
    style = f'fill="{colour}" text-anchor="{anchor}" font-size="{size}"{weight}'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, *lines: str, stroke: str = LINE, fill: str = CARD) -> str:
    """A box with lines of text in its middle, the first of them bold."""
    top = y + height / 2 - 10 * (len(lines) - 1) + 5
    words = [
        text(x + width / 2, top + 20 * n, line, INK, "middle", 13 if n else 14, bold=n == 0)
        for n, line in enumerate(lines)
    ]
    style = f'rx="10" fill="{fill}" stroke="{stroke}" stroke-width="1.5"'
    frame = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {style}/>'
    return "\n".join((frame, *words))


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str = QUIET) -> str:
    """An arrow from a point to another."""
    angle = math.atan2(y2 - y1, x2 - x1)
    head = " ".join(
        f"{x2 - 10 * math.cos(angle + turn):.1f},{y2 - 10 * math.sin(angle + turn):.1f}" for turn in (0.5, -0.5)
    )
    return (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="2" fill="none"/>'
        f'<polygon points="{x2:g},{y2:g} {head}" fill="{colour}"/>'
    )


def way() -> str:
    """The way of an answer, station by station."""
    return drawing(
        960,
        300,
        "The way of an answer",
        "On the device: survey fetched and compared with its hash, epsilon checked, answer given, chance mixed in. "
        "At the collector: report checked, waiting, folded, counted. Researchers: estimate from the counts.",
        text(30, 40, "Respondent's device", TRUE, bold=True, size=17),
        text(480, 40, "Collector", NOISY, bold=True, size=17),
        text(770, 40, "Everybody", INK, bold=True, size=17),
        f'<rect x="20" y="55" width="410" height="225" rx="12" fill="none" stroke="{TRUE}" stroke-dasharray="5 5"/>',
        f'<rect x="465" y="55" width="265" height="225" rx="12" fill="none" stroke="{NOISY}" stroke-dasharray="5 5"/>',
        box(40, 75, 170, 64, "Survey", "is its hash right?"),
        box(240, 75, 170, 64, "Epsilon", "does the ledger allow?"),
        box(40, 190, 170, 64, "Answer", "ends here", stroke=TRUE, fill=PAPER),
        box(240, 190, 170, 64, "Chance", "drawn once, then kept", stroke=NOISY, fill=PAPER),
        arrow(210, 107, 238, 107),
        arrow(325, 139, 150, 188),
        arrow(210, 222, 238, 222),
        box(485, 190, 225, 64, "Report waits", "no time, no order, no address", stroke=NOISY, fill=PAPER),
        arrow(410, 222, 483, 222, NOISY),
        box(485, 75, 225, 64, "200 of a cohort: release", "sorted, added to the tally", stroke=NOISY, fill=PAPER),
        arrow(597, 190, 597, 141, NOISY),
        box(765, 75, 175, 64, "Estimate", "chance taken out again"),
        arrow(710, 107, 763, 107),
        box(765, 190, 175, 64, "Interval", "with what chance cost"),
        arrow(852, 139, 852, 188),
    )


def hundred() -> str:
    """What chance does to 100 people who did it and 100 who did not, at epsilon 1."""
    keep = round(100 * math.e / (1 + math.e))

    def people(x: float, truth: str, yes: int) -> Iterator[str]:
        yield text(x, 45, truth, INK, bold=True, size=17)
        for n in range(100):
            row, column = divmod(n, 10)
            fill = NOISY if n < yes else PAPER
            yield f'<circle cx="{x + 10 + 30 * column}" cy="{75 + 24 * row}" r="8" fill="{fill}" stroke="{NOISY}"/>'
        yield text(x, 330, f"{yes} send yes, {100 - yes} send no", QUIET)

    return drawing(
        760,
        400,
        "Two hundred people at epsilon 1",
        f"Of 100 people who did it, {keep} send yes. Of 100 who did not, {100 - keep} send yes.",
        *people(40, "100 people who did it", keep),
        *people(420, "100 people who did not", 100 - keep),
        text(40, 360, "Filled: the report says yes. A single yes may stand in either field.", INK, size=14),
        text(40, 380, "How many there are says which field it is.", INK, size=14),
    )


def steps() -> str:
    """Results move in steps of a release while replies come in one by one."""
    left, bottom, unit, people = 80, 290, 2.6, 640
    came = [(day, people * (1 - math.exp(-day / 60))) for day in range(0, 241, 4)]
    path = " ".join(f"{left + unit * day:.1f},{bottom - 0.36 * n:.1f}" for day, n in came)
    shown, released = [f"{left},{bottom}"], 0
    for day, n in came:
        if n - released >= 200:
            shown.append(f"{left + unit * day:.1f},{bottom - 0.36 * released:.1f}")
            released = int(n)
            shown.append(f"{left + unit * day:.1f},{bottom - 0.36 * released:.1f}")
    end = left + unit * 240
    shown += [f"{end:.1f},{bottom - 0.36 * released:.1f}", f"{end:.1f},{bottom - 0.36 * came[-1][1]:.1f}"]
    return drawing(
        800,
        350,
        "Results move in steps",
        "A smooth line of replies that come in, and a staircase of replies that results show: a step at each release "
        "of 200, and the rest at closing.",
        f'<path d="M{left} 40V{bottom}H{end + 40:g}" stroke="{LINE}" stroke-width="1.5" fill="none"/>',
        f'<polyline points="{path}" fill="none" stroke="{QUIET}" stroke-width="2" stroke-dasharray="4 4"/>',
        f'<polyline points="{" ".join(shown)}" fill="none" stroke="{NOISY}" stroke-width="3"/>',
        text(left + 10, 55, "replies", QUIET),
        text(end, bottom + 28, "the survey closes", QUIET, "end"),
        text(left, bottom + 28, "it opens", QUIET),
        text(190, 110, "that have come", QUIET, size=14),
        text(330, 235, "that results show: a step for each release", NOISY, size=14),
    )


def rooms() -> str:
    """The folder tree is the threat model."""
    return drawing(
        960,
        330,
        "Rooms of the program",
        "Three rooms above: the client, where answers exist; the collector, where only reports exist; research, before "
        "and after. They import from what is shared below, and never from each other.",
        box(30, 40, 280, 90, "client/", "answers exist here", "browser and Python", stroke=TRUE, fill=PAPER),
        box(340, 40, 280, 90, "server/", "only reports exist here", "it never randomises", stroke=NOISY, fill=PAPER),
        box(650, 40, 280, 90, "deniable_research", "before and after", "plans, files, models"),
        box(185, 175, 745, 52, "deniable_statistics", "numbers from numbers"),
        box(30, 260, 900, 52, "deniable", "what respondent and collector must agree on: mechanisms, surveys, reports"),
        arrow(100, 130, 100, 258),
        arrow(480, 130, 480, 173),
        arrow(790, 130, 790, 173),
        arrow(557, 227, 557, 258),
        text(322, 92, "✕", QUIET, "middle"),
        text(635, 92, "✕", QUIET, "middle"),
    )


def drawings() -> dict[str, str]:
    """Name to SVG."""
    return {"way.svg": way(), "hundred.svg": hundred(), "steps.svg": steps(), "rooms.svg": rooms()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, svg in drawings().items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
