"""Figures as PNG and PDF: the shapes of `deniable_statistics.views.figures`, drawn by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deniable.table import printable
from deniable_statistics.published.charts import Panel, render
from deniable_statistics.views.figures import (
    INK,
    MARK,
    PAPER,
    QUIET,
    WEAK_INK,
    WEAK_MARK,
    WIDTH,
    Arrow,
    Caption,
    FigureLayout,
    Letters,
    MarkShapes,
    Point,
    Shape,
    Stroke,
    laid_out,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS_AN_INCH = 72
"""Units of a figure in an inch: they are points, so letters have the size on paper that they are written with."""

DOTS_AN_INCH = 360
"""Pixels of a PNG in an inch: a figure of 400 units is 2,000 pixels wide."""

MOST_PIXELS = 25_000_000
"""Largest PNG, 100 megabytes while it is drawn; a longer figure has fewer pixels in an inch."""

_SIDES = {"start": "left", "middle": "center", "end": "right"}
_OTHER_WAY = {"start": "right", "middle": "center", "end": "left"}


def painted(panels: Sequence[Panel], caption: Caption, form: str, salt: str) -> bytes:
    """A figure that stands alone as PNG or PDF.

    Parameters
    ----------
    panels, caption
        As `deniable_statistics.views.figures.figure` takes them.
    form : {"png", "pdf"}
    salt : str
        Makes equal figures of one survey equal bytes.
    """
    layout = laid_out(panels, caption)
    width, height = WIDTH / UNITS_AN_INCH, layout.y / UNITS_AN_INCH
    dots = min(DOTS_AN_INCH, math.floor(math.sqrt(MOST_PIXELS / (width * height))))
    return render(lambda: _drawn(layout), form, salt, dots)


def _drawn(layout: FigureLayout) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / UNITS_AN_INCH, layout.y / UNITS_AN_INCH), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1), frameon=False)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(layout.y, 0)  # downwards, as the shapes are
    axes.set_axis_off()
    for part in layout.parts:
        shapes, weak = (part.shapes, part.weak) if isinstance(part, MarkShapes) else ([part], False)
        for shape in shapes:
            _draw(axes, shape, weak)
    return figure


def _draw(axes: Axes, shape: Shape, weak: bool) -> None:
    colour = WEAK_MARK if weak else MARK
    match shape:
        case Stroke("grid", x1, x2, y1, y2):
            axes.plot([x1, x2], [y1, y2], color=INK, linewidth=1, alpha=0.2, zorder=1)
        case Stroke(_, x1, x2, y1, y2):
            axes.plot([x1, x2], [y1, y2], color=colour, linewidth=6, alpha=0.5, solid_capstyle="butt", zorder=2)
        case Arrow(x, y, to_left):
            axes.fill([x, x, x - 8 if to_left else x + 8], [y - 5, y + 5, y], color=colour, linewidth=0, zorder=2)
        case Point(x, y, radius):
            axes.plot([x], [y], "o", color=colour, markersize=2 * radius, markeredgewidth=0, zorder=3)
        case Letters():
            _write(axes, shape, weak)


def _write(axes: Axes, letters: Letters, weak: bool) -> None:
    from matplotlib.patheffects import Stroke as Outline

    # A dollar sign would begin a formula of matplotlib.
    text = printable(letters.text).replace("$", r"\$")
    look: dict[str, Any] = {
        "fontsize": letters.size,
        "fontweight": "bold" if letters.kind == "strong" else "normal",
        "horizontalalignment": (_OTHER_WAY if letters.is_rtl else _SIDES)[letters.anchor],
        "verticalalignment": "baseline",
    }
    # Lines of the grid end before letters. Their outline is a shape of its own: what has one is no text in a PDF.
    outline = [Outline(linewidth=3, foreground=PAPER)]
    axes.text(letters.x, letters.y, text, color=PAPER, zorder=4, path_effects=outline, **look)
    ink = WEAK_INK if weak else QUIET if letters.kind == "quiet" else INK
    axes.text(letters.x, letters.y, text, color=ink, zorder=5, **look)
