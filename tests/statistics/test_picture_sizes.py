"""Charts in the sizes of journals: nothing is cut, no texts overlap, and bars end between the first and last tick."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from deniable.errors import ParameterError
from deniable_statistics.published.charts import SHARES, Mark, Panel, interval_chart, render
from deniable_statistics.published.picture_size import BOUNDS, MM_IN_INCH, PictureSize

NEVER = "Never in the past twelve months, not even once (neither at home nor elsewhere)"
PANELS = [
    Panel(
        "During the past twelve months, how often did you drive a car after more than two glasses of wine?",
        "share among people with each answer to how often they felt that they could not cope",
        (
            Mark(NEVER, 0.3, 0.2, 0.4, "first-year students"),
            Mark(NEVER, 0.35, 0.22, 0.44, "final-year students"),
            Mark("Rechtsschutzversicherungsgesellschaft", 0.9, 0.82, 1.0, "first-year students"),
            Mark("Rechtsschutzversicherungsgesellschaft", 0.02, 0.0, 0.1, "final-year students"),
        ),
    ),
    Panel("income: mean", "mean", (Mark("all", 12345.6, 11000.0, 13900.0),), share=False, within=None),
    Panel(
        "ratios of many powers",
        "odds ratio",
        (Mark("open", 1.0, 0.0, math.inf), Mark("shut", 2.0, 0.0005, 400.0)),
        share=False,
        within=(1.0, 1.0),
        reference=1.0,
        log=True,
    ),
    Panel(
        "small ratios",
        "odds ratio",
        (Mark("a", 1.2, 1.1, 1.3), Mark("b", 1.1, 0.97, 1.25)),
        share=False,
        within=(1.0, 1.0),
        reference=1.0,
        log=True,
    ),
    Panel("small effects", "log odds ratio", (Mark("a", -0.002, -0.0031, 0.0024),), share=False, within=(0.0, 0.0)),
    Panel("possible values", "share", (Mark("a", 0.2, 0.1, 0.3, point=0.2),), fixed=SHARES),
]
SIZES = [
    PictureSize(),
    PictureSize(width=85),
    PictureSize(width=85, font_size=7),
    PictureSize(width=85, height=420, font_size=11),
    PictureSize(width=60, font_size=9),
    PictureSize(width=180, font_size=12),
    PictureSize(font_size=20),
]


def texts_of(figure: Figure) -> list[Text]:
    """The texts that a figure shows, after it was drawn."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call] # matplotlib has no types for it
    return [each for each in figure.findobj(Text) if each.get_visible() and each.get_text().strip()]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_texts_are_neither_cut_nor_overlap(size: PictureSize) -> None:
    figure = interval_chart(PANELS, size=size)
    boxes = [(each.get_text(), each.get_window_extent()) for each in texts_of(figure)]
    assert len(boxes) > 40
    page = figure.bbox
    for text, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert not first.overlaps(second), (one, other)


@pytest.mark.parametrize("size", [PictureSize(), PictureSize(width=85)], ids=str)
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title[:20])
def test_bars_end_between_the_outermost_ticks(panel: Panel, size: PictureSize) -> None:
    (axes,) = interval_chart([panel], size=size).axes
    first, *_, last = axes.get_xticks()
    assert axes.get_xlim()[0] < first
    assert last < axes.get_xlim()[1]
    ends = [end for mark in panel.marks for end in (mark.low, mark.high)]
    for end in ends:
        assert not math.isfinite(end) or end == 0 or first <= end <= last


def test_the_picture_has_the_size_that_was_asked_for() -> None:
    size = PictureSize(width=85, height=60, font_size=8)

    def draw() -> Figure:
        return interval_chart([PANELS[4]], size=size)

    # In points, of which 72 are an inch.
    wide, high = 72 * 85 / MM_IN_INCH, 72 * 60 / MM_IN_INCH
    svg = re.search(r'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"', render(draw, "svg").decode())
    assert svg is not None
    assert [float(each) for each in svg.groups()] == pytest.approx([wide, high], abs=0.01)
    pdf = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", render(draw, "pdf"))
    assert pdf is not None
    assert [float(each) for each in pdf.groups()] == pytest.approx([wide, high], abs=0.01)
    png = render(draw, "png", dots=600)
    # The header of a PNG: width and height in pixels from byte 16 on.
    pixels = [int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")]
    assert pixels == pytest.approx([600 * 85 / MM_IN_INCH, 600 * 60 / MM_IN_INCH], abs=1)


def test_letters_have_the_size_that_was_asked_for() -> None:
    figure = interval_chart(PANELS, size=PictureSize(font_size=8))
    assert {each.get_fontsize() for each in texts_of(figure)} == {8}


def test_a_chart_is_as_high_as_its_lines_need_and_not_lower() -> None:
    least = interval_chart(PANELS, size=PictureSize(width=85)).get_figheight() * MM_IN_INCH
    higher = interval_chart(PANELS, size=PictureSize(width=85, height=least + 50))
    assert higher.get_figheight() * MM_IN_INCH == pytest.approx(least + 50)
    message = f"height: must be at least {math.ceil(least)} mm for this chart with letters of 10 points, got 100"
    with pytest.raises(ParameterError, match=f"^{message}$"):
        interval_chart(PANELS, size=PictureSize(width=85, height=100))


@pytest.mark.parametrize("name", BOUNDS)
def test_measures_have_bounds(name: str) -> None:
    low, high, unit = BOUNDS[name]
    said = name.replace("_", " ")
    for value in (low - 1, high + 1):
        with pytest.raises(ParameterError, match=rf"^{said}: must be from {low:g} to {high:g} {unit}, got {value:g}$"):
            PictureSize(**{name: value})  # type: ignore[arg-type] # dpi is an integer, the others are not
    odd: Any
    for odd in (math.nan, "85", True):
        with pytest.raises(ParameterError, match=rf"^{said}: must be a number of {unit}, got "):
            PictureSize(**{name: odd})


def test_letters_that_are_too_large_for_a_width_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"^width: must be at least 87 mm for letters of 15 points, got 85$"):
        PictureSize(width=85, font_size=15)
    with pytest.raises(ParameterError, match=r"^dpi: must be an integer, got 300.5$"):
        PictureSize(dpi=300.5)  # type: ignore[arg-type] # what a caller without types may give
