"""Size, letters and resolution of a picture, in the units of journals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.errors import ParameterError

MM_IN_INCH = 25.4

FONT_SIZE, DPI = 10.0, 200
"""Size of letters in points and pixels in an inch, unless others are asked for."""

BOUNDS: dict[str, tuple[float, float, str]] = {
    "width": (50, 420, "mm"),
    "height": (20, 1200, "mm"),
    "font_size": (5, 24, "points"),
    "dpi": (50, 1200, "pixels in an inch"),
}
"""Smallest and largest value of each measure, and its unit. The largest width is that of A3."""

MM_A_POINT = 5.8
"""Least width in mm for each point of the letters: below it, labels and an axis do not stand beside each other."""


@dataclass(frozen=True)
class PictureSize:
    """The asked size of a picture; what is None is chosen by the chart.

    Attributes
    ----------
    width, height : float or None
        In mm.
    font_size : float or None
        Size of letters, in points.
    dpi : int or None
        Pixels in an inch, for PNG.

    Raises
    ------
    ParameterError
        If a measure is outside its `BOUNDS`, or the letters are too large for the width.
    """

    width: float | None = None
    height: float | None = None
    font_size: float | None = None
    dpi: int | None = None

    def __post_init__(self) -> None:
        for name, (low, high, unit) in BOUNDS.items():
            value, said = getattr(self, name), name.replace("_", " ")
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ParameterError(f"{said}: must be a number of {unit}, got {value!r:.40}")
            if not low <= value <= high:
                raise ParameterError(f"{said}: must be from {low:g} to {high:g} {unit}, got {value:g}")
        if self.dpi is not None and self.dpi != int(self.dpi):
            raise ParameterError(f"dpi: must be an integer, got {self.dpi:g}")
        if self.width is not None and self.width < MM_A_POINT * self.points:
            raise ParameterError(
                f"width: must be at least {math.ceil(MM_A_POINT * self.points)} mm for letters of {self.points:g} "
                f"points, got {self.width:g}"
            )

    @property
    def points(self) -> float:
        """The size of letters, in points."""
        return FONT_SIZE if self.font_size is None else float(self.font_size)

    @property
    def scale(self) -> float:
        """The size of letters, in parts of the usual one."""
        return self.points / FONT_SIZE

    def inches(self, width: float, height: float) -> tuple[float, float]:
        """The width and the height in inches; those given are for a size that asks for none.

        >>> PictureSize(width=127).inches(6.5, 2.0)
        (5.0, 2.0)
        """
        return (
            width if self.width is None else self.width / MM_IN_INCH,
            height if self.height is None else self.height / MM_IN_INCH,
        )

    def check_height(self, least: float) -> None:
        """Raise a ParameterError if the height that was asked for is below this number of inches."""
        if self.height is not None and self.height < least * MM_IN_INCH - 1e-6:
            raise ParameterError(
                f"height: must be at least {math.ceil(least * MM_IN_INCH)} mm for this chart with letters of "
                f"{self.points:g} points, got {self.height:g}"
            )


ANY_SIZE = PictureSize()
