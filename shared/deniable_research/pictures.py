"""Charts that commands write to files, in one style."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from deniable.installing import install_hint
from deniable.output import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#24292f"
FAINT_INK = "#57606a"

STYLES: tuple[tuple[str, Any], ...] = (
    ("#0b6e99", "-"),
    ("#c2571a", (0, (6, 2))),
    ("#5a7d2a", "-."),
    ("#8a4f9e", (0, (3, 2))),
    ("#a4343a", (0, (1, 1.5))),
)
"""Colour and dashes of lines; dashes, for who tells colours apart badly."""


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
        render(path, draw, path.suffix[1:])
    except OSError as error:
        raise click.ClickException(f"{path.name}: cannot be written: {error.strerror}") from None


def render(target: Path | BinaryIO, draw: Callable[[], Figure], form: str) -> None:
    """Draw a chart into a file, in the one style; texts of an .svg are made `printable`, so that it is XML."""
    import matplotlib as mpl

    drawn = io.BytesIO()
    settings: Any = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "deniable"}
    with mpl.rc_context(settings), warnings.catch_warnings():
        if form == "svg":
            warnings.filterwarnings("ignore", message="Glyph")  # whoever shows it has other fonts
        draw().savefig(drawn, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    content = drawn.getvalue()
    if form == "svg":
        content = printable(content.decode("utf-8", "surrogatepass")).encode()
    if isinstance(target, Path):
        target.write_bytes(content)
    else:
        target.write(content)


def tidy(axes: Axes, title: str) -> None:
    """A title in bold on the left, faint lines to read values by, no frame above and on the right."""
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axes.grid(color="#d8dee4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
