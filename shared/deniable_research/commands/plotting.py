"""The option ``--plot``, apart from options that load numpy: ``deniable risk`` runs without it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.exact import number_hint
from deniable_commands.files import NEW_FILE
from deniable_commands.numbers import Number
from deniable_statistics.published.picture_size import PictureSize

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of the files that a chart can be written to."""


def plot_option(drawn: str) -> Callable[[Any], Any]:
    """The option ``--plot FILE``, whose help says what is drawn; the command gets the path as ``picture``."""
    return click.option(
        "--plot",
        "picture",
        metavar="FILE",
        type=NEW_FILE,
        callback=_checked,
        help=f"Draw {drawn}, as .svg, .png or .pdf.",
    )


class Measure(Number):
    """A number of some unit, which may stand behind it: 85 and 85mm are the same width."""

    def __init__(self, unit: str, example: str) -> None:
        super().__init__()
        self.unit, self.example = unit, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        text = str(value).strip()
        try:
            return float(text.removesuffix(self.unit))
        except ValueError:
            hint = number_hint(text)
            self.fail(f"must be a number of {self.unit}, such as {self.example}, got {text!r:.40}{hint}", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The unit in capitals."""
        return self.unit.upper()


@dataclass(frozen=True, kw_only=True)
class AskedSize:
    """The values of `size_options`; None for what was not asked.

    Attributes
    ----------
    width, height : float or None
        In mm.
    font_size : float or None
        In points.
    dpi : int or None
    """

    width: float | None
    height: float | None
    font_size: float | None
    dpi: int | None

    @property
    def size(self) -> PictureSize:
        """The size of the chart."""
        return PictureSize(self.width, self.height, self.font_size, self.dpi)


size_options: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--width",
        type=Measure("mm", "85"),
        help="Width of the plot, 50 to 420 mm; by default 165, or more for panels side by side. A column of a journal "
        "has about 85, a page 170 to 180.",
    ),
    click.option(
        "--height",
        type=Measure("mm", "60"),
        help="Height of the plot, 20 to 1200 mm; by default what its lines need.",
    ),
    click.option(
        "--font-size",
        type=Measure("pt", "8"),
        help="Size of the letters in the plot, 5 to 24 points; by default 10.",
    ),
    click.option(
        "--dpi",
        type=click.INT,
        metavar="NUMBER",
        help="Resolution of a plot in .png, 50 to 1200 pixels in an inch; by default 200.",
    ),
)
"""The options of the size of a chart, which go with ``--plot``; their values are those of `PictureSize`."""


def _checked(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    # Before the command computes anything: a chart is drawn last, and its name may be wrong.
    if path is not None and path.suffix not in PICTURES:
        raise click.BadParameter(f"must end in .svg, .png or .pdf, got {path.name!r}")
    return path
