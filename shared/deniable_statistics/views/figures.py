"""Figures as SVG, written without a drawing library: for pages, files, paper and screen readers alike.

A figure is one column of lines. Each line has its label and its value in words, and below both a point with its
interval, so that nothing has to be read off an axis and nothing is hidden beside a narrow screen: at 390 pixels the
labels are still 12 pixels high. Colours are classes; a file brings its own style sheet, for light, dark and paper, and
a page has one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from deniable.table import printable
from deniable_statistics.published.charts import Axis, Mark, Panel, columns, wrapped

WIDTH = 400
"""Width of a figure, in its own units, which are pixels where it is not scaled."""

MARGIN = 14.0
"""Room on either side of an axis, for the arrows of intervals that reach beyond."""

COLUMN = 0.56
"""Approximate width of a narrow letter, in parts of the font size; see `charts.columns`."""

BOLD = 0.64
"""The same of a bold one."""

STYLE = """\
.figure{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;background:#fff;color:#24292f}
.figure text{fill:currentColor;stroke:#fff;stroke-width:3;paint-order:stroke;stroke-linejoin:round}
.figure .quiet{fill:#57606a}.figure .weak text,.figure text.weak{fill:#656d76}
.figure .strong{font-weight:600}.figure line{stroke:currentColor}.figure .grid{stroke-width:1;opacity:.2}
.figure .interval{stroke:#0b6e99;stroke-width:6;opacity:.5}.figure .point,.figure .arrow{fill:#0b6e99}
.figure .weak .interval{stroke:#8c959f}.figure .weak .point,.figure .weak .arrow{fill:#8c959f}
@media print{.figure{background:#fff;color:#000}.figure text{stroke:#fff}.figure .quiet{fill:#333}}"""
"""The style sheet of a figure that stands alone. The collector's pages have the same rules, and those of dark pages.

An image is always light: on a white page of somebody else it would be a black box wherever the reader's system is dark.
"""


@dataclass(frozen=True)
class Caption:
    """The texts around a figure.

    Attributes
    ----------
    title : str
        The finding, or the question where nothing was found.
    subtitle : str
        Number of replies and dates.
    notes : tuple of str
        Source and method, a paragraph each.
    language, direction : str
        Of these texts.
    description : str
        What a screen reader says of the figure.
    asked : str
        The question, where the title is a finding.
    """

    title: str
    subtitle: str = ""
    notes: tuple[str, ...] = ()
    language: str = "en"
    direction: str = "ltr"
    description: str = ""
    asked: str = ""


def is_rtl(text: str) -> bool:
    """Whether the first letter that has a direction runs from right to left, as ``dir=auto`` decides."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((each != "L" for each in directions if each in ("L", "R", "AL")), False)


def place(axis: Axis, value: float) -> float:
    """The position of a value across the figure; values beyond the axis are at its end."""
    inside = min(max(value, axis.low), axis.high)
    return round(MARGIN + (WIDTH - 2 * MARGIN) * (inside - axis.low) / (axis.high - axis.low), 2)


def figure(panels: Sequence[Panel], caption: Caption, *, alone: bool = True, name: str = "figure") -> str:
    """A figure as SVG.

    Parameters
    ----------
    panels : sequence of Panel
        With fixed axes.
    caption : Caption
    alone : bool
        Whether it is a file of its own, with its style and its caption; within a page the page has both.
    name : str
        Prefix of the ids within the figure, which a page must not have twice.
    """
    paper = _Paper()
    if alone:
        paper.write(caption.title, 20, "strong", after=4)
        paper.write(caption.asked, 15, after=4)
        paper.write(caption.subtitle, 14, "quiet", after=10)
    for number, panel in enumerate(panels):
        if number:
            paper.y += 18
        # One title a panel, but that of a figure stands above all.
        if alone and len(panels) > 1 and panel.title not in (caption.title, caption.asked):
            paper.write(panel.title, 17, "strong", after=6)
        _draw(paper, panel)
    if alone:
        paper.y += 6
        for note in caption.notes:
            paper.write(note, 12, "quiet", after=4)
    return _wrapped_up(paper, caption, alone, name)


def _wrapped_up(paper: _Paper, caption: Caption, alone: bool, name: str) -> str:
    height = round(paper.y + 6, 1)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" direction="ltr" role="img" lang="{caption.language}" '
        f'aria-labelledby="{name}-title {name}-desc">\n'
        f'<title id="{name}-title">{_text(caption.title)}</title>\n'
        f'<desc id="{name}-desc">{_text(caption.description)}</desc>\n'
    )
    style = f"<style>{STYLE}</style>\n" if alone else ""
    # A background of its own, because a page that shows an image gives it none.
    ground = f'<rect class="ground" width="{WIDTH}" height="{height:g}" fill="none"/>\n' if alone else ""
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n' if alone else ""
    return f"{declaration}{head}{style}{ground}{''.join(paper.parts)}</svg>\n"


class _Paper:
    """Lines of text and shapes from top to bottom."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.y = 6.0

    def write(self, text: str, size: int, kind: str = "", after: float = 0.0, width: float = WIDTH - 8) -> None:
        """Write a text below what stands there, in as many lines as it takes."""
        if not text:
            return
        for line in wrapped(text, width / ((BOLD if kind == "strong" else COLUMN) * size)):
            self.y += 1.3 * size
            self.parts.append(_line(line, self.y - 0.3 * size, size, kind, at_end=is_rtl(text)))
        self.y += after


def _draw(paper: _Paper, panel: Panel) -> None:
    assert panel.fixed is not None
    axis, first = panel.fixed, len(paper.parts)
    top = paper.y + 2
    has_headings = any(mark is None for _, mark, _ in panel.lines)
    for label, mark, _ in panel.lines:
        if mark is None:
            paper.y += 8
            paper.write(label, 15, "strong")
        else:
            _draw_mark(paper, panel, axis, label, mark, 15 if not has_headings else 14)
    bottom = paper.y + 4
    grid = []
    for value, text in panel.ticks():
        x = place(axis, value)
        grid.append(f'<line class="grid" x1="{x:g}" x2="{x:g}" y1="{top:g}" y2="{bottom:g}"/>\n')
        if text:
            # The first and the last label stay within the figure.
            anchor = "start" if value == axis.low else "end" if value == axis.high else "middle"
            at = {"start": 2.0, "end": WIDTH - 2.0, "middle": x}[anchor]
            grid.append(
                f'<text class="quiet" x="{at:g}" y="{bottom + 15:g}" font-size="12" text-anchor="{anchor}">'
                f"{_text(text)}</text>\n"
            )
    # Behind the marks, whose texts must stay readable.
    paper.parts[first:first] = grid
    paper.y = bottom + 20


def _draw_mark(paper: _Paper, panel: Panel, axis: Axis, label: str, mark: Mark, size: int) -> None:
    """A label, its value in words beside it, or below it where both are too long, and its point with the interval."""
    kind = "weak" if mark.weak else ""
    paper.parts.append(f'<g class="{kind}">\n' if kind else "<g>\n")
    said_width = columns(mark.said) * COLUMN * size
    rtl = is_rtl(label)
    beside = WIDTH - 20 - said_width
    if columns(label) * COLUMN * size <= beside or beside >= WIDTH / 2:
        start = paper.y
        paper.write(label, size, width=beside)
        if mark.said:
            paper.parts.append(_line(mark.said, start + size, size, "", at_end=not rtl))
    else:
        paper.write(label, size)
        paper.write(mark.said, size)
    paper.y += 12
    paper.parts.extend(_shapes(axis, panel, mark, paper.y - 3))
    paper.parts.append("</g>\n")
    paper.y += 10  # more than between a label and its bar, so that nobody takes it for the bar of the next one


def _shapes(axis: Axis, panel: Panel, mark: Mark, y: float) -> Iterator[str]:
    if mark.estimate is None:
        return
    low, high = place(axis, mark.low), place(axis, mark.high)
    yield f'<line class="interval" x1="{low:g}" x2="{high:g}" y1="{y:g}" y2="{y:g}"/>\n'
    left, right = panel.beyond(mark)
    if left:
        yield f'<path class="arrow" d="M{MARGIN - 3:g} {y - 5:g}v10l-8 -5z"/>\n'
    if right:
        yield f'<path class="arrow" d="M{WIDTH - MARGIN + 3:g} {y - 5:g}v10l8 -5z"/>\n'
    if mark.point is not None:
        yield f'<circle class="point" cx="{place(axis, mark.point):g}" cy="{y:g}" r="6"/>\n'


def _line(text: str, y: float, size: int, kind: str, *, at_end: bool) -> str:
    """One line of text at the left or the right margin, in its own direction."""
    x = WIDTH - 4 if at_end else 4
    # The anchor of a text that runs from right to left is its right end.
    rtl = is_rtl(text)
    anchor = ("start" if rtl else "end") if at_end else ("end" if rtl else "start")
    marks = f' class="{kind}"' if kind else ""
    direction = ' direction="rtl"' if rtl else ""
    at = f'x="{x}" y="{round(y, 1):g}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text{marks} {at}{direction}>{_text(text)}</text>\n"


def _text(text: str) -> str:
    """A text within XML, of characters that XML may hold."""
    return escape(printable(text), quote=False)
