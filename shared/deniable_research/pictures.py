"""Charts that commands write to files, in one style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.installing import install_hint
from deniable_statistics.published.charts import FAINT_INK, GRID, INK, STYLES, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def save_picture(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a chart and write it, as .svg or .png; the same chart gives the same bytes.

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
    """A title in bold on the left, faint lines to read values by, no frame above and on the right."""
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


__all__ = ["FAINT_INK", "INK", "STYLES", "save_picture", "tidy"]
