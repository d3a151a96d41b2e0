"""The one chart of estimates with their intervals: panels below each other, a line for each figure.

The collector draws it for downloads, commands write it to files, and notebooks show it. matplotlib is imported by the
functions that draw, so that programs which draw nothing start without it.
"""

from __future__ import annotations

import functools
import io
import math
import re
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError
from deniable.table import printable
from deniable_statistics.published.picture_size import ANY_SIZE, DPI, FONT_SIZE, PictureSize
from deniable_statistics.published.printed_numbers import number, percent
from deniable_statistics.published.ticks import axis_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT_INK, GRID = "#24292f", "#57606a", "#d8dee4"
"""Colours of text, of secondary text and of grids."""

STYLES: tuple[tuple[str, Any], ...] = (
    ("#0b6e99", "-"),
    ("#c2571a", (0, (6, 2))),
    ("#5a7d2a", "-."),
    ("#8a4f9e", (0, (3, 2))),
    ("#a4343a", (0, (1, 1.5))),
)
"""Colours and dashes of lines; the dashes are for readers who cannot distinguish the colours."""

MOST_LINES = 300
"""Largest number of lines of a chart; the table and the CSV have all figures."""

MARGIN = 0.04
"""Room beside the outermost ticks, as a part of their range: markers and arrows there reach beyond them."""

MOST_LOG = math.log(1e6)
"""Natural logarithm of the largest value on a logarithmic axis; its negative is that of the smallest. Arrows point
beyond."""

WIDTH, LABELS, EDGE, RIGHT = 6.5, 2.3, 0.1, 0.3
"""Widths of a chart, of its labels, of its margins and of the space right of an axis, in inches; as wide as a page."""

WIDEST_LABELS = 0.42
"""Largest part of the width of a chart that its labels take, so that a narrow one has an axis beside them."""

INDENT = 0.12
"""Indentation of the names of series below their heading, in inches."""

LINE, BELOW, BETWEEN = 0.18, 0.25, 0.2
"""Heights of a line of 10 pt text, of the tick labels below an axis, and between two panels, in inches."""

LETTER, BOLD_LETTER, TIGHT_LETTER = 0.0917, 0.1033, 0.085
"""Widths of a narrow letter of 10 pt with room to spare, in inches: those of other viewers may be wider. The last one
is for long texts, in which wide and narrow letters balance."""

_TICK_COLUMNS = 9

_SPACES = re.compile(r"[\s]+")

_one_at_a_time = threading.Lock()  # matplotlib's font cache and the filter of warnings are shared by all threads


@dataclass(frozen=True)
class Axis:
    """A fixed axis over all possible values, whatever the estimates are; `is_percent` is how its ticks are written.

    An axis of differences has 0 in its middle, as that of a scale from -2 to 2 has, whose means it is not.
    """

    low: float = 0.0
    high: float = 1.0
    is_percent: bool = False
    is_of_differences: bool = False

    def ticks(self) -> Iterator[tuple[float, str]]:
        """The value and the label of a tick at each quarter; a label may be empty."""
        for place in range(5):
            value = self.low + (self.high - self.low) * place / 4
            if self.is_percent:
                # Differences of shares are percentage points, which are no percent.
                text = percent(value, 0) if self.low >= 0 else number(100 * value)
            else:
                text = number(value, 3 if place == 2 else 9)
            named = place in (0, 2, 4) and columns(text) <= _TICK_COLUMNS
            yield value, text if named else ""


SHARES = Axis(is_percent=True)


@dataclass(frozen=True)
class Mark:
    """One figure with its interval, whose ends may be infinite, and with a robust interval if there is one.

    On a fixed axis `point`, the most likely possible value, is drawn instead of the estimate, unless it is None. `said`
    is what stands beside it as text, and `weak` whether it is drawn in grey, as a figure that nobody should quote.
    """

    line: str
    estimate: float | None
    low: float
    high: float
    series: str | None = None
    robust: tuple[float, float] | None = None
    point: float | None = None
    said: str = ""
    weak: bool = False


@dataclass(frozen=True)
class Panel:
    """Figures on one axis.

    Attributes
    ----------
    title : str
    axis : str
        Label of the axis.
    marks : tuple of Mark
        Figures; those of one line and different series are drawn below each other.
    share : bool
        Whether the axis is in percent.
    within : tuple of two floats or None
        Range that the axis shows at least.
    reference : float
        Value at which a line is drawn, if it is on the axis.
    log : bool
        Whether the axis is logarithmic; then all figures are above 0, and ends of intervals are at least 0.
    fixed : Axis or None
        Fixed axis instead; arrows mark figures and intervals that reach beyond it.
    digits : tuple of two str
        The decimal point and the mark between thousands of the ticks of a fixed axis.
    """

    title: str
    axis: str
    marks: tuple[Mark, ...]
    share: bool = True
    within: tuple[float, float] | None = (0.0, 1.0)
    reference: float = 0.0
    log: bool = False
    fixed: Axis | None = None
    digits: tuple[str, str] = (".", ",")

    def ticks(self) -> Iterator[tuple[float, str]]:
        """The ticks of the fixed axis, as the reader writes numbers."""
        assert self.fixed is not None
        marks = str.maketrans({".": self.digits[0], ",": self.digits[1]})
        return ((value, text.translate(marks)) for value, text in self.fixed.ticks())

    @functools.cached_property
    def limits(self) -> tuple[float, float]:
        """Ends of a fixed axis, otherwise the range of all finite numbers and of `within`."""
        if self.fixed is not None:
            return self.fixed.low, self.fixed.high
        figures = [(mark.estimate, mark.low, mark.high, *(mark.robust or ())) for mark in self.marks]
        known = [each for figure in figures for each in figure if each is not None and math.isfinite(each)]
        known += self.within or ()
        if self.log:
            known = [min(max(each, math.exp(-MOST_LOG)), math.exp(MOST_LOG)) for each in known if each > 0]
        low, high = min(known), max(known)
        if low < high:
            return low, high
        # An axis needs some range around a single number.
        return (low / 1.5, high * 1.5) if self.log else (low - 0.5, high + 0.5)

    @property
    def lines(self) -> Iterator[tuple[str, Mark | None, int]]:
        """Labels from top to bottom, each with its mark and the number of its series.

        Where there are several series, the name of a line is a heading above them, without a mark.
        """
        series = list(dict.fromkeys(mark.series for mark in self.marks))
        for name in dict.fromkeys(mark.line for mark in self.marks):
            if series != [None]:
                yield name, None, 0
            for mark in (mark for mark in self.marks if mark.line == name):
                yield (name if series == [None] else mark.series or "none"), mark, series.index(mark.series)

    def beyond(self, mark: Mark) -> tuple[bool, bool]:
        """Whether a figure or its interval reaches beyond the left and the right end of the axis."""
        if mark.estimate is None:
            return False, False
        low, high = self.limits
        slack = 1e-9 * (high - low)  # an estimate of 1 + 2e-16 is not beyond 1
        # Negated comparisons, so that NaN, the end of an interval that could not be computed, also reaches beyond.
        return (
            not min(mark.low, mark.estimate) >= low - slack,
            not max(mark.high, mark.estimate) <= high + slack,
        )


@dataclass(frozen=True)
class _Line:
    """A label of one or more lines of text, with its mark; a heading has no mark."""

    label: tuple[str, ...]
    mark: Mark | None
    colour: str
    indent: float

    @property
    def height(self) -> float:
        """Height in inches, for letters of 10 pt."""
        return LINE * len(self.label) + 0.06


@dataclass(frozen=True)
class _Layout:
    """Where the parts of a chart stand, in inches, and how many letters they take.

    Attributes
    ----------
    width : float
    labels : float
        Width of the column of labels, with the margin on its left.
    size : PictureSize
    gap : float
        Height that each line gets in addition, so that the chart has the height that was asked for.
    """

    width: float
    labels: float
    size: PictureSize
    gap: float = 0.0

    @classmethod
    def of(cls, panels: Sequence[Panel], size: PictureSize) -> _Layout:
        """The layout for these panels, whose labels get no more room than they need where room is scarce."""
        width, _ = size.inches(WIDTH, 0.0)
        wanted, most = LABELS * size.scale, WIDEST_LABELS * width
        if wanted > most:
            longest = max(columns(text) + 2 * (mark is not None) for panel in panels for text, mark, _ in panel.lines)
            wanted = min(most, EDGE + LETTER * size.scale * (longest + 1))
        return cls(width, wanted, size)

    @property
    def room(self) -> float:
        """Width of an axis."""
        return self.width - self.labels - RIGHT * max(self.size.scale, 1.0)

    def fitting(self, inches: float, letter: float = LETTER) -> float:
        """How many narrow letters stand side by side in a width."""
        return inches / (letter * self.size.scale)

    def title(self, panel: Panel) -> tuple[str, ...]:
        return wrapped(panel.title, self.fitting(self.width - 2 * EDGE, BOLD_LETTER))

    def axis(self, panel: Panel) -> tuple[str, ...]:
        """The lines of the label below an axis, which stands in the middle of it, and so reaches beyond both ends."""
        beside = self.width - self.labels - self.room - EDGE / 2
        return wrapped(panel.axis, self.fitting(self.room + 2 * beside, TIGHT_LETTER)) if panel.axis else ()

    def lines(self, panel: Panel) -> list[_Line]:
        """The lines of a panel."""
        found = list(panel.lines)
        has_headings = any(mark is None for _, mark, _ in found)
        lines = []
        for text, mark, series in found:
            indent = INDENT * self.size.scale if has_headings and mark is not None else 0.0
            label = wrapped(text, self.fitting(self.labels - EDGE - indent))
            lines.append(_Line(label, mark, STYLES[series % len(STYLES)][0], indent))
        return lines

    def above(self, panel: Panel) -> float:
        """Height of the title of a panel."""
        return (LINE * len(self.title(panel)) + 0.14) * self.size.scale

    def body(self, panel: Panel) -> float:
        """Height of the axis of a panel."""
        lines = self.lines(panel)
        return (sum(line.height for line in lines) + 0.08) * self.size.scale + self.gap * len(lines)

    def height(self, panel: Panel) -> float:
        """Height of a panel with its title and the texts below its axis."""
        return self.above(panel) + self.body(panel) + (BELOW + LINE * len(self.axis(panel))) * self.size.scale

    @property
    def between(self) -> float:
        """Height between two panels."""
        return BETWEEN * self.size.scale

    def stretched(self, panels: Sequence[Panel]) -> _Layout:
        """The layout with the height that was asked for.

        Raises
        ------
        ParameterError
            If that is less than the texts need.
        """
        least = sum(map(self.height, panels)) + self.between * (len(panels) - 1) + EDGE
        self.size.check_height(least)
        _, wanted = self.size.inches(0.0, least)
        return replace(self, gap=(wanted - least) / sum(len(self.lines(panel)) for panel in panels))


def interval_chart(panels: Sequence[Panel], most: int = MOST_LINES, size: PictureSize = ANY_SIZE) -> Figure:
    """Draw panels below each other.

    Parameters
    ----------
    panels : sequence of Panel
    most : int
    size : PictureSize
        The chart is as wide as a page and as high as its lines need, unless it asks for something else.

    Raises
    ------
    ParameterError
        If there is nothing to draw, more than ``most`` figures, or too little height for them.
    """
    from matplotlib.figure import Figure

    figures = sum(len(panel.marks) for panel in panels)
    if not 0 < figures <= most:
        raise ParameterError(f"chart: must have 1 to {most} figures, got {figures}")
    layout = _Layout.of(panels, size).stretched(panels)
    heights = [layout.height(panel) for panel in panels]
    total = sum(heights) + layout.between * (len(panels) - 1) + EDGE
    figure = Figure(figsize=(layout.width, total), facecolor="white")
    top = figure.get_figheight() - EDGE / 2
    for panel, height in zip(panels, heights, strict=True):
        _draw(figure, panel, layout, top)
        top -= height + layout.between
    return figure


def _draw(figure: Figure, panel: Panel, layout: _Layout, top: float) -> None:
    """Draw a panel below that height, in inches from the bottom of the figure."""
    total, width, scale = figure.get_figheight(), layout.width, layout.size.scale
    body = layout.body(panel)
    floor = top - layout.above(panel) - body

    def write(texts: Sequence[str], y: float, bold: bool, indent: float = 0.0) -> None:
        text = "\n".join(map(_plain, texts))
        at = ((EDGE + indent) / width, y / total)
        weight = "bold" if bold else "normal"
        size = layout.size.points
        figure.text(*at, text, color=INK, va="top", linespacing=1.25, fontweight=weight, fontsize=size)

    write(layout.title(panel), top, True)
    axes = figure.add_axes((layout.labels / width, floor / total, layout.room / width, body / total))
    _draw_axis(axes, panel, layout)
    axes.set_ylim(0, body)
    # Figures grow upwards from their lower left corner, lines are read downwards.
    y = body - 0.04 * scale - layout.gap / 2
    for line in layout.lines(panel):
        write(line.label, floor + y, line.mark is None, line.indent)
        if line.mark is not None and line.mark.estimate is not None:
            _draw_mark(axes, panel, line.mark, y - LINE * scale / 2, line.colour, scale)
        y -= line.height * scale + layout.gap


def _draw_axis(axes: Axes, panel: Panel, layout: _Layout) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

    if panel.log:
        axes.set_xscale("log")
    if panel.fixed is not None:
        named = list(panel.ticks())
    else:
        ticks = _ticks(panel, layout)
        named = list(zip(ticks, _tick_labels(panel, ticks), strict=True))
    ticks, texts = [value for value, _ in named], [text for _, text in named]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter(texts))
    # Otherwise a logarithmic axis labels 2, 3, 4 and so on, too, which overlap.
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(*_padded(panel, min(ticks[0], panel.limits[0]), max(ticks[-1], panel.limits[1])))
    axes.set_yticks([])
    axes.set_xlabel("\n".join(map(_plain, layout.axis(panel))), fontsize=layout.size.points)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", which="both", length=0, labelsize=layout.size.points)
    for spine in axes.spines.values():
        spine.set_visible(False)
    low, high = axes.get_xlim()
    if panel.fixed is None and low <= panel.reference <= high:
        axes.axvline(panel.reference, color=FAINT_INK, linewidth=1, zorder=1)


def _padded(panel: Panel, low: float, high: float) -> tuple[float, float]:
    """The ends of an axis: its outermost ticks, and room beside them; on a logarithmic axis by its logarithms."""
    if not panel.log:
        margin = MARGIN * (high - low)
        return low - margin, high + margin
    factor = (high / low) ** MARGIN
    return low / factor, high * factor


def _ticks(panel: Panel, layout: _Layout) -> list[float]:
    """The ticks of an axis that is not fixed, whose labels do not touch each other."""

    def are_apart(ticks: Sequence[float]) -> bool:
        """Whether the labels of neighbouring ticks stand side by side, with some room between them."""
        places = [math.log(each) if panel.log else each for each in ticks]
        letters = layout.fitting(layout.room) / ((places[-1] - places[0]) * (1 + 2 * MARGIN))
        widths = list(map(columns, _tick_labels(panel, ticks)))
        return all(
            letters * (places[i + 1] - places[i]) >= (widths[i] + widths[i + 1] + 1) / 2 for i in range(len(ticks) - 1)
        )

    return axis_ticks(*panel.limits, are_apart, is_log=panel.log)


def _tick_labels(panel: Panel, ticks: Sequence[float]) -> list[str]:
    """The labels of ticks, all with as many decimals as their step needs; on a logarithmic axis each as it is."""
    if panel.share:
        return [percent(each, 0 if max(ticks) - min(ticks) > 0.04 else 1) for each in ticks]
    if panel.log:
        return [f"{each:g}" for each in ticks]
    digits = max(len(f"{each:.6g}".partition(".")[2]) for each in ticks)
    return [f"{each + 0.0:,.{min(digits, 6)}f}".replace("-", "\u2212") for each in ticks]


def _draw_mark(axes: Axes, panel: Panel, mark: Mark, y: float, colour: str, scale: float) -> None:
    assert mark.estimate is not None
    # On a fixed axis a bar ends where the possible values end, and its arrow stands beside it.
    low, high = axes.get_xlim() if panel.fixed is None else panel.limits
    ends = [min(max(mark.low, low), high), max(min(mark.high, high), low)]
    bar, dot = 3 * scale, 6 * scale
    axes.plot(ends, [y] * 2, color=colour, linewidth=bar, alpha=0.55, solid_capstyle="butt", zorder=2, clip_on=False)
    if mark.robust is not None:
        axes.plot(mark.robust, [y] * 2, color=colour, linewidth=scale, marker="|", markersize=dot, zorder=2)
    # Not clipped: half of a marker at an end lies beyond the axis.
    arrow = functools.partial(axes.plot, color=colour, markersize=dot, alpha=0.55, clip_on=False)
    for is_beyond, edge, shape in zip(panel.beyond(mark), axes.get_xlim(), "<>", strict=True):
        if is_beyond:
            arrow(edge, y, shape)
    point = mark.estimate if panel.fixed is None else mark.point
    if point is not None:
        axes.plot(point, y, "o", color=colour, markersize=dot, zorder=3, clip_on=False)


def _plain(text: str) -> str:
    """A text with its dollar signs escaped, which would begin a formula of matplotlib."""
    return text.replace("$", r"\$")


def render(
    draw: Callable[[], Figure], form: str, salt: str = "deniable", dots: int = DPI, points: float = FONT_SIZE
) -> bytes:
    """The bytes of a chart in the common style; equal charts have equal bytes.

    Parameters
    ----------
    draw : function
        Function that makes the figure.
    form : str
        svg, png or pdf; texts of an svg are made `printable`, so that it is XML.
    salt : str
        Salt of the ids within an svg.
    dots : int
        Pixels of a png in an inch.
    points : float
        Size of letters.
    """
    import matplotlib as mpl

    drawn = io.BytesIO()
    settings: Any = {"font.size": points, "svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42}
    with _one_at_a_time, mpl.rc_context(settings), warnings.catch_warnings():
        if form == "svg":
            warnings.filterwarnings("ignore", message="Glyph")  # the viewer has other fonts
        # A date would make the bytes of equal charts differ.
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        # At the default level most of the time of a large png goes into its last 3 %.
        quick: Any = {"pil_kwargs": {"compress_level": 3}} if form == "png" else {}
        draw().savefig(drawn, format=form, dpi=dots, metadata=undated, **quick)
    content = drawn.getvalue()
    return printable(content.decode("utf-8", "surrogatepass")).encode() if form == "svg" else content


@functools.lru_cache(maxsize=4096)  # captions and options stand in many figures
def columns(text: str) -> float:
    """Approximate width of a text, in narrow letters; wide characters of East Asia count as two."""
    return sum(map(_width, text))


# Approximate widths of a sans-serif font, because the viewer's font is unknown.
@functools.lru_cache(maxsize=4096)
def _width(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    if letter in "WM@%\u2014":
        return 1.9
    return 1.4 if letter.isupper() or letter in "mw" else 1


def _is_cased(letters: str) -> bool:
    """Whether these letters are of a script with capitals, whose words are divided with hyphens."""
    return all(letter.lower() != letter.upper() for letter in letters)


def wrapped(text: str, widest: float) -> tuple[str, ...]:
    """A text broken into lines of at most this width; a word that is wider is broken too, with a hyphen.

    >>> wrapped("between 28 and 34 %.", 20), wrapped("Rechtsschutzversicherung", 14), wrapped("http://a.example/s", 9)
    (('between 28 and', '34 %.'), ('Rechtsschutz-', 'versicherung'), ('http://a.', 'example/', 's'))
    """
    lines = [""]
    # A number and its sign of percent are one word.
    for word in _SPACES.sub(" ", text.strip()).replace(" %", "\u00a0%").split(" "):
        joined = f"{lines[-1]} {word}".lstrip()
        if columns(joined) <= widest:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for before, letter in zip(f" {word}", word, strict=False):
            hyphen = "-" if "/" not in word and _is_cased(before + letter) else ""
            # Room for the hyphen is kept, so that a line which ends here has it.
            if lines[-1] and columns(lines[-1] + letter + hyphen) > widest:
                lines[-1] += hyphen
                lines.append("")
            lines[-1] += letter
    return tuple(line.replace("\u00a0", " ") for line in lines)
