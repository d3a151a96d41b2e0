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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError
from deniable.table import printable
from deniable_statistics.published.printed_numbers import number, percent

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

MARGIN = 0.08
"""Room beside the outermost figures, as a part of their range: bars that touch the end of an axis look cut off."""

LEAST_TICKS, MOST_TICKS = 4, 7
"""Numbers of labels that a logarithmic axis should have: enough to tell values between them, and not so many powers of
10 that they touch each other. Over more powers than that, some are left out, and fewer labels are enough."""

MOST_LOG = math.log(1e6)
"""Natural logarithm of the largest value on a logarithmic axis; its negative is that of the smallest. Arrows point
beyond."""

WIDTH, LABELS, EDGE = 6.5, 2.3, 0.1
"""Widths of a chart, of its labels and of its margins, in inches: as wide as a page, so letters keep their size."""

INDENT = 0.12
"""Indentation of the names of series below their heading, in inches."""

LINE, BELOW = 0.18, 0.45
"""Heights of a line of 10 pt text, and of the tick labels below an axis, in inches."""

_TITLE_COLUMNS, _LABEL_COLUMNS, _TICK_COLUMNS = 61, 24, 9

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
        """Ends of the axis: the range of all finite numbers and of `within`, with a margin."""
        if self.fixed is not None:
            return self.fixed.low, self.fixed.high
        figures = [(mark.estimate, mark.low, mark.high, *(mark.robust or ())) for mark in self.marks]
        known = [each for figure in figures for each in figure if each is not None and math.isfinite(each)]
        known += self.within or ()
        if self.log:
            # On a logarithmic axis the margin is a part of the range of logarithms.
            known = [math.log(each) for each in known if each > 0]
        low, high = min(known), max(known)
        margin = MARGIN * (high - low) or 0.5
        if not self.log:
            return low - margin, high + margin
        return math.exp(max(low, -MOST_LOG) - margin), math.exp(min(high, MOST_LOG) + margin)

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
        return LINE * len(self.label) + 0.06


def _lines(panel: Panel) -> list[_Line]:
    found = list(panel.lines)
    has_headings = any(mark is None for _, mark, _ in found)
    return [
        _Line(
            wrapped(text, _LABEL_COLUMNS),
            mark,
            STYLES[series % len(STYLES)][0],
            INDENT if has_headings and mark is not None else 0.0,
        )
        for text, mark, series in found
    ]


def interval_chart(panels: Sequence[Panel], most: int = MOST_LINES) -> Figure:
    """Draw panels below each other.

    Parameters
    ----------
    panels : sequence of Panel
    most : int

    Raises
    ------
    ParameterError
        If there is nothing to draw, or more than ``most`` figures.
    """
    from matplotlib.figure import Figure

    figures = sum(len(panel.marks) for panel in panels)
    if not 0 < figures <= most:
        raise ParameterError(f"chart: must have 1 to {most} figures, got {figures}")
    laid_out = [(panel, wrapped(panel.title, _TITLE_COLUMNS), _lines(panel)) for panel in panels]
    heights = [
        LINE * len(title) + 0.14 + sum(line.height for line in lines) + 0.08 + BELOW + LINE * bool(panel.axis)
        for panel, title, lines in laid_out
    ]
    figure = Figure(figsize=(WIDTH, sum(heights) + EDGE), facecolor="white")
    top = figure.get_figheight() - EDGE / 2
    for (panel, title, lines), height in zip(laid_out, heights, strict=True):
        _draw(figure, panel, title, lines, top)
        top -= height
    return figure


def _draw(figure: Figure, panel: Panel, title: Sequence[str], lines: Sequence[_Line], top: float) -> None:
    """Draw a panel below that height, in inches from the bottom of the figure."""
    total = figure.get_figheight()
    body = sum(line.height for line in lines) + 0.08
    floor = top - LINE * len(title) - 0.14 - body

    def write(texts: Sequence[str], y: float, bold: bool, indent: float = 0.0) -> None:
        text = "\n".join(map(_plain, texts))
        weight = "bold" if bold else "normal"
        figure.text((EDGE + indent) / WIDTH, y / total, text, color=INK, va="top", linespacing=1.25, fontweight=weight)

    write(title, top, True)
    room = WIDTH - LABELS - 0.3
    axes = figure.add_axes((LABELS / WIDTH, floor / total, room / WIDTH, body / total))
    low, high = panel.limits
    _draw_axis(axes, panel, low, high)
    axes.set_ylim(0, body)
    # Figures grow upwards from their lower left corner, lines are read downwards.
    y = body - 0.04
    for line in lines:
        write(line.label, floor + y, line.mark is None, line.indent)
        if line.mark is not None and line.mark.estimate is not None:
            _draw_mark(axes, panel, line.mark, y - LINE / 2, line.colour)
        y -= line.height


def _draw_axis(axes: Axes, panel: Panel, low: float, high: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

    if panel.log:
        axes.set_xscale("log")
        ticks = _log_ticks(low, high)
        axes.xaxis.set_major_locator(FixedLocator(ticks) if ticks else MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        # Otherwise 2, 3, 4 and so on are labelled, too, and overlap.
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif panel.share:
        digits = 0 if high - low > 0.04 else 1
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: percent(x, digits)))
    margin = 0.0
    if panel.fixed is not None:
        margin = 0.04 * (high - low)  # room for the arrows beside a range that is shown to its ends
        named = list(panel.ticks())
        axes.set_xticks([value for value, _ in named], [text for _, text in named])
    elif not panel.log:
        axes.locator_params(axis="x", nbins=7)  # more labels would touch each other
    axes.set_xlim(low - margin, high + margin)
    axes.set_yticks([])
    axes.set_xlabel(_plain(panel.axis))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if panel.fixed is None and low <= panel.reference <= high:
        axes.axvline(panel.reference, color=FAINT_INK, linewidth=1, zorder=1)


def _log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: the coarsest of round numbers that are enough; none if the range is too short.

    >>> _log_ticks(0.4, 9.2), _log_ticks(0.9, 6.1), _log_ticks(0.02, 40), _log_ticks(0.9, 1.2)
    ([0.5, 1.0, 2.0, 5.0], [1.0, 1.5, 2.0, 3.0, 5.0], [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0], [])
    >>> _log_ticks(0.00011, 9000)
    [0.01, 1.0, 100.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    # Of many powers of 10 some are left out, but never 1.
    apart = math.ceil((last - first) / MOST_TICKS)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        powers = [power for power in range(first, last + 1) if power % apart == 0]
        # Through its text a tick is the float nearest to 0.3, and not 3 times that nearest to 0.1.
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [each for each in ticks if low <= each <= high]
        # Between powers that are left out, steps would be uneven.
        if len(found) >= LEAST_TICKS or apart > 1:
            return found
    return []


def _draw_mark(axes: Axes, panel: Panel, mark: Mark, y: float, colour: str) -> None:
    assert mark.estimate is not None
    low, high = panel.limits
    ends = [min(max(mark.low, low), high), max(min(mark.high, high), low)]
    axes.plot(ends, [y] * 2, color=colour, linewidth=3, alpha=0.55, solid_capstyle="butt", zorder=2, clip_on=False)
    if mark.robust is not None:
        axes.plot(mark.robust, [y] * 2, color=colour, linewidth=1, marker="|", markersize=6, zorder=2)
    # Not clipped: half of a marker at an end lies beyond the axis.
    arrow = functools.partial(axes.plot, color=colour, markersize=6, alpha=0.55, clip_on=False)
    for is_beyond, edge, shape in zip(panel.beyond(mark), axes.get_xlim(), "<>", strict=True):
        if is_beyond:
            arrow(edge, y, shape)
    point = mark.estimate if panel.fixed is None else mark.point
    if point is not None:
        axes.plot(point, y, "o", color=colour, markersize=6, zorder=3, clip_on=False)


def _plain(text: str) -> str:
    """A text with its dollar signs escaped, which would begin a formula of matplotlib."""
    return text.replace("$", r"\$")


def render(draw: Callable[[], Figure], form: str, salt: str = "deniable", dots: int = 200) -> bytes:
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
    """
    import matplotlib as mpl

    drawn = io.BytesIO()
    settings: Any = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42}
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
