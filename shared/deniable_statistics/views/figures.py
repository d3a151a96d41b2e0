"""Figures: where everything stands in them, and SVG of it, written without a drawing library.

They are for pages, files, paper and screen readers alike; `deniable_server.results.painted` makes PNG and PDF of the
same shapes. A figure is one column of lines. Each line has its label and its value in words, and below both a point
with its interval, so that nothing has to be read off an axis and nothing is hidden beside a narrow screen: at 390
pixels the labels are still 12 pixels high. Where many groups are compared, all three stand in one row, at half of the
height, and a page shows each answer as a figure of its own, several of which stand beside each other on a wide screen.
On a page colours are classes of its style sheet, which has those of dark screens too. A file is always light, and says
everything in attributes: LibreOffice and other programs for documents do not follow style sheets.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import NamedTuple, TypeAlias

from deniable.table import printable
from deniable_statistics.published.charts import SHARES, Axis, Mark, Panel, columns, wrapped

WIDTH = 400
"""Width of a figure, in its own units, which are pixels where it is not scaled."""

MARGIN = 14.0
"""Room on either side of an axis, for the arrows of intervals that reach beyond."""

COLUMN = 0.56
"""Approximate width of a narrow letter, in parts of the font size; see `charts.columns`."""

BOLD = 0.64
"""Approximate width of a bold letter, in parts of the font size."""

MOST_SPACIOUS = 12
"""Largest number of intervals of groups with their labels above them; with more, each group is one row."""

ROW_SIZE = 14
"""Size of the letters in such a row."""

LEAST_RADIUS = 2.0
"""Least radius of a point, which is a third of an interval's height."""

WIDEST_LABEL, LEAST_TRACK = 136.0, 75.0
"""Largest width of the labels beside an axis, where they are broken into lines, and least width of that axis."""

FONTS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif"
"""The fonts of a figure that stands alone, the first one that there is."""

PAPER, INK, QUIET, WEAK_INK = "#fff", "#24292f", "#57606a", "#656d76"
"""Colours of paper, texts, texts around the figure, and texts beside what is too weak to be quoted.

An image is always light: on a white page of somebody else it would be a black box wherever the reader's system is dark.
"""

MARK, WEAK_MARK = "#0b6e99", "#8c959f"
"""Colours of points, intervals and arrows."""


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


ARROW = 12.0
"""Room for an arrow beside an axis."""


class Track(NamedTuple):
    """Where an axis stands across a figure: its ends, and how wide the labels beside it are; 0 if they are above."""

    left: float = MARGIN
    right: float = WIDTH - MARGIN
    labels: float = 0.0

    def place(self, axis: Axis, value: float) -> float:
        """The position of a value; values beyond the axis are at its end."""
        inside = min(max(value, axis.low), axis.high)
        return round(self.left + (self.right - self.left) * (inside - axis.low) / (axis.high - axis.low), 2)


WHOLE = Track()
"""An axis across the whole figure."""


def track_of(panel: Panel) -> Track:
    """Where the axis of a panel stands: between labels and values, if it has many groups and there is room for them."""
    series = list(dict.fromkeys(mark.series for mark in panel.marks if mark.series is not None))
    directions = {is_rtl(each) for each in series}
    if not has_multiples(panel) or len(directions) != 1:
        return WHOLE
    letter = COLUMN * ROW_SIZE
    labels = min(max(map(columns, series)) * letter, WIDEST_LABEL)
    values = max(columns(mark.said) for mark in panel.marks) * letter
    before, behind = (values, labels) if directions.pop() else (labels, values)
    found = Track(round(4 + before + ARROW, 1), round(WIDTH - 4 - behind - ARROW, 1), labels)
    return found if found.right - found.left >= LEAST_TRACK else WHOLE


ENDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
"""Parts of what is possible at which a short axis may end; shares take the fifths only."""


def grouped(panel: Panel) -> Panel:
    """A panel whose axis is short; it ends at the next of `ENDS` of what is possible above all that it shows.

    An axis of shares begins at 0, and one of differences reaches as far below 0 as above it. Where an interval reaches
    beyond what is possible, the axis ends there, so arrows say the same.
    """
    whole = panel.fixed
    if whole is None or (whole != SHARES and not whole.is_of_differences):
        return panel
    drawn = [mark for mark in panel.marks if mark.estimate is not None]
    ends = [end for mark in drawn for end in (mark.high, mark.point or 0.0)]
    if whole.low:
        ends = [*map(abs, ends), *(-mark.low for mark in drawn)]
    parts = (part * whole.high for part in ENDS if whole.is_of_differences or part >= 0.2)
    last = next((part for part in parts if all(end <= part for end in ends)), whole.high)
    return replace(panel, fixed=replace(whole, low=-last if whole.low else whole.low, high=last))


def has_multiples(panel: Panel) -> bool:
    """Whether a page shows each line of a panel as a figure of its own."""
    return len(panel.marks) > MOST_SPACIOUS and any(mark.series is not None for mark in panel.marks)


class Letters(NamedTuple):
    """A line of text, from its `anchor`: start, middle or end, in the direction of the text."""

    text: str
    x: float
    y: float
    size: float
    kind: str
    anchor: str
    is_rtl: bool = False


class Stroke(NamedTuple):
    """A straight line: of the grid, or an interval."""

    kind: str
    x1: float
    x2: float
    y1: float
    y2: float


class Arrow(NamedTuple):
    """A triangle at an end of the axis, which points to the left or to the right."""

    x: float
    y: float
    to_left: bool


class Point(NamedTuple):
    """A value."""

    x: float
    y: float
    radius: float = 6.0


Shape: TypeAlias = Letters | Stroke | Arrow | Point


class MarkShapes(NamedTuple):
    """What belongs to one value, and whether that is too weak to be quoted."""

    weak: bool
    shapes: Sequence[Shape]


@dataclass
class FigureLayout:
    """Everything in a figure, from top to bottom.

    Attributes
    ----------
    parts : list of Shape or MarkShapes
    y : float
        Where the next line begins, and at last the height of the figure.
    """

    parts: list[Shape | MarkShapes] = field(default_factory=list)
    y: float = 6.0

    def write(self, text: str, size: int, kind: str = "", after: float = 0.0) -> None:
        """Write a text below what stands there, in as many lines as it takes."""
        self.parts.extend(self._written(text, size, kind, WIDTH - 8))
        self.y += after

    def draw(self, panel: Panel, track: Track) -> None:
        """Draw a panel: its grid, and each line with its value in words, its point and its interval."""
        assert panel.fixed is not None
        axis, first = panel.fixed, len(self.parts)
        top = self.y + 2
        has_headings = any(mark is None for _, mark, _ in panel.lines)
        for label, mark, _ in panel.lines:
            if mark is None:
                self.y += 8
                self.write(label, 15, "strong")
            else:
                size = 14 if has_headings else 15
                shapes = self._row(panel, track, label, mark) if track.labels else self._mark(panel, label, mark, size)
                self.parts.append(MarkShapes(mark.weak, [*shapes]))
        # Behind the marks, whose texts must stay readable.
        self.parts[first:first] = self._grid(panel, axis, track, top)
        self.y += 24

    def _written(self, text: str, size: int, kind: str, width: float) -> Iterator[Letters]:
        if not text:
            return
        for line in wrapped(text, width / ((BOLD if kind == "strong" else COLUMN) * size)):
            self.y += 1.3 * size
            yield _letters(line, self.y - 0.3 * size, size, kind, at_end=is_rtl(text))

    def _grid(self, panel: Panel, axis: Axis, track: Track, top: float) -> Iterator[Shape]:
        bottom = self.y + 4
        ticks = list(panel.ticks())
        # Beside labels and values an axis may be too short for three long numbers.
        is_crowded = sum(columns(text) + 1 for _, text in ticks) * COLUMN * 12 > track.right - track.left + 2 * MARGIN
        for value, text in ticks:
            x = track.place(axis, value)
            yield Stroke("grid", x, x, top, bottom)
            # The first and the last label stay within the figure; between labels and values there is room for both.
            anchor = "start" if value == axis.low else "end" if value == axis.high else "middle"
            if not text or (is_crowded and anchor == "middle"):
                continue
            if track.labels:
                yield Letters(text, x, bottom + 15, 12, "quiet", "middle")
            else:
                at = {"start": 6.0, "end": WIDTH - 6.0, "middle": x}[anchor]
                yield Letters(text, at, bottom + 15, 12, "quiet", anchor)

    def _row(self, panel: Panel, track: Track, label: str, mark: Mark) -> Iterator[Shape]:
        """A label, its point with interval, and its value in words, beside each other."""
        start = self.y
        yield from self._written(label, ROW_SIZE, "", track.labels + 1)
        if mark.said:
            yield _letters(mark.said, start + ROW_SIZE, ROW_SIZE, "", at_end=not is_rtl(label))
        # Short intervals are seen beside a small point.
        yield from _shapes(panel, track, mark, start + 0.65 * ROW_SIZE, radius=4)
        self.y += 3

    def _mark(self, panel: Panel, label: str, mark: Mark, size: int) -> Iterator[Shape]:
        """A label, its value in words beside it, or below it where both are too long, and its point with interval."""
        beside = WIDTH - 20 - columns(mark.said) * COLUMN * size
        if columns(label) * COLUMN * size <= beside or beside >= WIDTH / 2:
            start = self.y
            yield from self._written(label, size, "", beside)
            if mark.said:
                yield _letters(mark.said, start + size, size, "", at_end=not is_rtl(label))
        else:
            yield from self._written(label, size, "", WIDTH - 8)
            yield from self._written(mark.said, size, "", WIDTH - 8)
        self.y += 12
        yield from _shapes(panel, WHOLE, mark, self.y - 3)
        self.y += 10  # more than between a label and its bar, so that nobody takes it for the bar of the next one


def laid_out(
    panels: Sequence[Panel], caption: Caption, *, alone: bool = True, track: Track | None = None
) -> FigureLayout:
    """Where everything in a figure stands; its parameters are those of `figure`."""
    # Of several below each other on a page, which has room between them, each needs less of its own.
    edge = 6.0 if track is None else 0.0
    layout = FigureLayout(y=edge)
    if alone:
        layout.write(caption.title, 20, "strong", after=4)
        layout.write(caption.asked, 15, after=4)
        layout.write(caption.subtitle, 14, "quiet", after=10)
    for number, panel in enumerate(panels):
        if number:
            layout.y += 18
        # One title a panel, but that of a figure stands above all.
        if alone and len(panels) > 1 and panel.title not in (caption.title, caption.asked):
            layout.write(panel.title, 17, "strong", after=6)
        where = track_of(panel) if track is None else track
        # Differences are small, and shares in few rows are compared with all that is possible.
        is_short = where.labels or (panel.fixed is not None and panel.fixed.is_of_differences)
        layout.draw(grouped(panel) if track is None and is_short else panel, where)
    if alone:
        layout.y += 6
        for note in caption.notes:
            layout.write(note, 12, "quiet", after=4)
    layout.y = round(layout.y + max(edge, 1.0), 1)
    return layout


def multiples(panel: Panel, caption: Caption, name: str) -> str:
    """Each line of a panel with many groups as a figure of its own, for a page, which puts them beside each other.

    Their axes are the same, and stand at the same place. Parameters are those of `figure`.
    """
    track, found = track_of(panel), []
    if track.labels or (panel.fixed is not None and panel.fixed.is_of_differences):
        panel = grouped(panel)
    for number, line in enumerate(dict.fromkeys(mark.line for mark in panel.marks)):
        part = replace(panel, marks=tuple(mark for mark in panel.marks if mark.line == line))
        own = replace(caption, title=f"{caption.title} \u2013 {line}")
        found.append(figure([part], own, alone=False, name=f"{name}-{number}", track=track))
    return f'<div class="multiples">\n{"".join(found)}</div>\n'


def figure(
    panels: Sequence[Panel],
    caption: Caption,
    *,
    alone: bool = True,
    name: str = "figure",
    track: Track | None = None,
) -> str:
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
    track : Track, optional
        Where axes stand; by default where there is room for them.
    """
    layout = laid_out(panels, caption, alone=alone, track=track)
    height = f"{layout.y:g}"
    fonts = f' font-family="{FONTS}"' if alone else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}"{fonts} direction="ltr" role="img" lang="{caption.language}" '
        f'aria-labelledby="{name}-title {name}-desc">\n'
        f'<title id="{name}-title">{_text(caption.title)}</title>\n'
        f'<desc id="{name}-desc">{_text(caption.description)}</desc>\n'
    )
    # A background of its own, because a page that shows an image gives it none.
    ground = f'<rect class="ground" width="{WIDTH}" height="{height}" fill="{PAPER}"/>\n' if alone else ""
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n' if alone else ""
    drawn = "".join(_as_svg(part, alone) for part in layout.parts)
    return f"{declaration}{head}{ground}{drawn}</svg>\n"


def _shapes(panel: Panel, track: Track, mark: Mark, y: float, radius: float = 6) -> Iterator[Shape]:
    axis = panel.fixed
    if mark.estimate is None or axis is None:
        return
    y = round(y, 2)
    interval = Stroke("interval", track.place(axis, mark.low), track.place(axis, mark.high), y, y)
    yield interval
    # A point reads as a finding, whatever stands beside it; the interval shows how little is known.
    if mark.weak:
        return
    left, right = panel.beyond(mark)
    if left:
        yield Arrow(track.left - 3, y, to_left=True)
    if right:
        yield Arrow(track.right + 3, y, to_left=False)
    if mark.point is not None:
        # An interval of many replies is short, and is seen beside a small point alone.
        seen = max(LEAST_RADIUS, (interval.x2 - interval.x1) / 4)
        yield Point(track.place(axis, mark.point), y, round(min(radius, seen), 2))


def _letters(text: str, y: float, size: int, kind: str, *, at_end: bool) -> Letters:
    """One line of text at the left or the right margin, in its own direction."""
    # The anchor of a text that runs from right to left is its right end.
    rtl = is_rtl(text)
    anchor = ("start" if rtl else "end") if at_end else ("end" if rtl else "start")
    return Letters(text, WIDTH - 4 if at_end else 4, round(y, 1), size, kind, anchor, rtl)


def _as_svg(part: Shape | MarkShapes, alone: bool, weak: bool = False) -> str:
    def look(kind: str) -> str:
        return _attributes(kind, weak) if alone else ""

    match part:
        case MarkShapes(is_weak, shapes):
            inside = "".join(_as_svg(shape, alone, is_weak) for shape in shapes)
            return f'<g class="weak">\n{inside}</g>\n' if is_weak else f"<g>\n{inside}</g>\n"
        case Stroke(kind, x1, x2, y1, y2):
            return f'<line class="{kind}"{look(kind)} x1="{x1:g}" x2="{x2:g}" y1="{y1:g}" y2="{y2:g}"/>\n'
        case Arrow(x, y, to_left):
            return f'<path class="arrow"{look("arrow")} d="M{x:g} {y - 5:g}v10l{"-" if to_left else ""}8 -5z"/>\n'
        case Point(x, y, radius):
            return f'<circle class="point"{look("point")} cx="{x:g}" cy="{y:g}" r="{radius:g}"/>\n'
        case Letters(text, x, y, size, kind, anchor, rtl):
            marks = (f' class="{kind}"' if kind else "") + look(kind)
            direction = ' direction="rtl"' if rtl else ""
            at = f'x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
            written = f"<text{marks} {at}{direction}>{_text(text)}</text>\n"
            # Quiet texts are below the grid.
            return _paper(part) + written if alone and kind != "quiet" else written


def _attributes(kind: str, weak: bool) -> str:
    """How a part of a figure that stands alone looks."""
    colour = WEAK_MARK if weak else MARK
    match kind:
        case "grid":
            return f' stroke="{INK}" opacity=".2"'
        case "interval":
            return f' stroke="{colour}" stroke-width="6" opacity=".5"'
        case "point" | "arrow":
            return f' fill="{colour}"'
    ink = WEAK_INK if weak else QUIET if kind == "quiet" else INK
    return f' fill="{ink}"' + (' font-weight="600"' if kind == "strong" else "")


def _paper(letters: Letters) -> str:
    """Paper behind a line of text, before which lines of the grid end.

    On a page letters have an outline behind them (``paint-order``), which LibreOffice would draw over them.
    """
    width = columns(letters.text) * (BOLD if letters.kind == "strong" else COLUMN) * letters.size
    is_at_left = (letters.anchor == "start") != letters.is_rtl
    left, top = letters.x - (0 if is_at_left else width), letters.y - 0.8 * letters.size
    return f'<rect x="{left:.4g}" y="{top:.5g}" width="{width:.4g}" height="{letters.size:g}" fill="{PAPER}"/>\n'


def _text(text: str) -> str:
    """A text within XML, of characters that XML may hold."""
    return escape(printable(text), quote=False)
