"""Charts that commands write to files, in one style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.installing import install_hint
from deniable_statistics.published.charts import FAINT_INK, GRID, INK, STYLES, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


def save_picture(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a chart and write it as SVG, PNG or PDF, by the suffix of the path; the same chart gives the same bytes.

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
        path.write_bytes(render(draw, path.suffix[1:]))
    except OSError as error:
        raise click.ClickException(f"{path.name}: cannot be written: {error.strerror}") from None


def tidy(axes: Axes, title: str) -> None:
    """Give a chart a bold title on the left and a faint grid, and take away its frame above and on the right."""
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)  # the grid is to read values by, and must not cross them
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def label_in_percent(axis: Axis) -> None:
    """Write the ticks of an axis of shares as whole percents."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))


__all__ = ["FAINT_INK", "INK", "STYLES", "label_in_percent", "save_picture", "tidy"]
