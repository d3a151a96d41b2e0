"""Charts that commands write to files, in one style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.installing import install_hint
from deniable_statistics.published.charts import (
    BOLD_LETTER,
    FAINT_INK,
    GRID,
    INK,
    LETTER,
    STYLES,
    render,
    wrapped,
)
from deniable_statistics.published.picture_size import ANY_SIZE, DPI, FONT_SIZE, PictureSize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FORMS = ("svg", "png", "pdf")
"""Formats of pictures, which are also the suffixes of their files."""

TWO_PANELS = 140
"""Least width in mm at which two panels stand side by side, with letters of 10 points."""

LEAST_PANEL = 1.4
"""Least height of a panel in inches, with letters of 10 points: title, axis, and something between them."""

TITLE = 1.05
"""Size of the letters of a title, in parts of those of other texts."""


def check_picture(path: Path, size: PictureSize) -> None:
    """Raise a ParameterError unless a file of this suffix can have a chart, and the resolution that is asked for."""
    form = path.suffix[1:].lower()
    if form not in FORMS:
        raise ParameterError(f"path: must end in .svg, .png or .pdf, got {path.name!r:.80}")
    if size.dpi is not None and form != "png":
        raise ParameterError(f"dpi: must go with a file in .png, which has pixels, got {path.name!r:.80}")


def picture_bytes(path: Path, draw: Callable[[], Figure], size: PictureSize) -> bytes:
    """The bytes of a chart as SVG, PNG or PDF, by the suffix of the path; see `check_picture` for its errors."""
    check_picture(path, size)
    form = path.suffix[1:].lower()
    return render(draw, form, dots=DPI if size.dpi is None else int(size.dpi), points=size.points)


def save_picture(path: Path, draw: Callable[[], Figure], size: PictureSize = ANY_SIZE) -> None:
    """Draw a chart and write it as SVG, PNG or PDF, by the suffix of the path; the same chart gives the same bytes.

    The function that draws makes a figure of this size.

    Raises
    ------
    click.ClickException
        If matplotlib is not installed, or the file cannot be written.
    """
    import click

    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise click.ClickException(f"--plot needs matplotlib; {install_hint('research')}") from None
    try:
        path.write_bytes(picture_bytes(path, draw, size))
    except OSError as error:
        raise click.ClickException(f"{path.name}: cannot be written: {error.strerror}") from None


def tidy(axes: Axes, title: str) -> None:
    """Give a chart a bold title on the left and a faint grid, and take away its frame above and on the right.

    A title that is wider than the axes' part of the figure is broken into lines.
    """
    import matplotlib as mpl

    points = TITLE * mpl.rcParams["font.size"]
    spec = axes.get_subplotspec()
    figure = axes.get_figure()
    assert figure is not None
    wide = figure.bbox.width / figure.dpi / (spec.get_gridspec().ncols if spec else 1)
    # The title begins at the axis, right of the labels of its ticks.
    letters = (wide - 0.07 * points) / (BOLD_LETTER * points / FONT_SIZE)
    axes.set_title("\n".join(wrapped(title, letters)), loc="left", fontsize=points, fontweight="bold")
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)  # the grid is to read values by, and must not cross them
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def check_panels(lines: int, size: PictureSize) -> None:
    """Raise a ParameterError if the height that was asked for is too little for so many panels below each other."""
    size.check_height(LEAST_PANEL * size.scale * lines)


def panels_beside(n: int, size: PictureSize) -> int:
    """How many of so many panels stand side by side: two, if the picture is wide enough for them.

    >>> panels_beside(3, ANY_SIZE), panels_beside(3, PictureSize(width=85)), panels_beside(1, ANY_SIZE)
    (2, 1, 1)
    """
    return min(n, 2 if size.width is None or size.width >= TWO_PANELS * size.scale else 1)


def lines_of(text: str, inches: float) -> str:
    """A text with line breaks, so that it is at most this wide in the letters of a chart."""
    import matplotlib as mpl

    return "\n".join(wrapped(text, max(inches / (LETTER * mpl.rcParams["font.size"] / FONT_SIZE), 8)))


def label_in_percent(axis: Axis) -> None:
    """Write the ticks of an axis of shares as whole percents."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))


__all__ = [
    "FAINT_INK",
    "INK",
    "STYLES",
    "check_panels",
    "check_picture",
    "label_in_percent",
    "lines_of",
    "panels_beside",
    "picture_bytes",
    "save_picture",
    "tidy",
]
