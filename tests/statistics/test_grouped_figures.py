"""Figures of many groups: a row for each, whose parts never meet, and an axis that hides nothing."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from deniable_statistics.published.charts import SHARES, Axis, Mark, Panel, columns
from deniable_statistics.views.figures import (
    COLUMN,
    MOST_SPACIOUS,
    ROW_SIZE,
    WEAK_MARK,
    WHOLE,
    WIDTH,
    Arrow,
    Caption,
    Letters,
    MarkShapes,
    Point,
    Stroke,
    figure,
    grouped,
    laid_out,
    multiples,
    track_of,
)
from deniable_statistics.views.view_row import POSSIBLE_DIFFERENCES

CAPTION = Caption("Which?")
ARABIC = "\u0643\u0644\u064a\u0629"


def panel_of(groups: list[str], options: int = 10, said: str = "18 % (12 to 24)", high: float = 0.24) -> Panel:
    marks = tuple(
        Mark(f"Option {option}", 0.18, 0.12, high, group, point=0.18, said=said)
        for option in range(options)
        for group in groups
    )
    return Panel("Which?", "", marks, fixed=SHARES)


def span(letters: Letters) -> tuple[float, float]:
    """From where to where a text reaches at most."""
    width = columns(letters.text) * COLUMN * letters.size
    is_at_left = (letters.anchor == "start") != letters.is_rtl
    return (letters.x, letters.x + width) if is_at_left else (letters.x - width, letters.x)


@pytest.mark.parametrize(
    "groups",
    [
        ["Arts", "Law", "Economics and management", "Medicine"],
        ["A" * 60, "b"],
        [ARABIC, f"{ARABIC} {ARABIC} {ARABIC} {ARABIC} {ARABIC}"],
        ["\u6587\u5b66\u90e8" * 9, "\u6cd5"],
    ],
    ids=["long words", "no blank", "from right to left", "wide letters"],
)
def test_labels_intervals_and_values_of_a_row_stand_beside_each_other(groups: list[str]) -> None:
    panel = panel_of(groups)
    track = track_of(panel)
    assert track.labels > 0
    layout = laid_out([panel], CAPTION, alone=False)
    marks = [each for each in layout.parts if isinstance(each, MarkShapes)]
    assert len(marks) == len(panel.marks)
    for mark in marks:
        (interval,) = (each for each in mark.shapes if isinstance(each, Stroke))
        (point,) = (each for each in mark.shapes if isinstance(each, Point))
        assert track.left <= interval.x1 < point.x < interval.x2 <= track.right
        assert point.radius < interval.x2 - point.x  # an interval is seen beside its point
        for text in (each for each in mark.shapes if isinstance(each, Letters)):
            first, last = span(text)
            assert 0 <= first <= last <= WIDTH
            assert last < track.left - 11 + 1 or first > track.right + 11 - 1, text  # room for an arrow


def test_many_groups_take_half_of_the_height() -> None:
    panel = panel_of(["Arts", "Law", "Medicine", "Sciences", "Engineering", "Theology"])
    rows, above = (laid_out([panel], CAPTION, alone=False, track=track).y for track in (None, WHOLE))
    assert rows < 0.6 * above


def test_few_groups_and_values_that_leave_no_room_have_their_labels_above() -> None:
    groups = ["Arts", "Law", "Medicine"]
    assert track_of(panel_of(groups, MOST_SPACIOUS // 3)) is WHOLE
    assert track_of(panel_of(groups, MOST_SPACIOUS // 3 + 1)) is not WHOLE
    assert track_of(panel_of(groups, said="too few replies to say anything of these people")) is WHOLE
    assert track_of(panel_of(["Arts", ARABIC])) is WHOLE
    alone = panel_of(groups)
    assert track_of(replace(alone, marks=tuple(replace(each, series=None) for each in alone.marks))) is WHOLE


@pytest.mark.parametrize(("high", "last"), [(0.2, 0.2), (0.2001, 0.4), (0.6, 0.6), (0.81, 1.0), (1.2, 1.0)])
def test_a_short_axis_of_shares_begins_at_0_and_holds_every_interval(high: float, last: float) -> None:
    panel = panel_of(["Arts", "Law"], high=high)
    assert grouped(panel).fixed == Axis(0.0, last, is_percent=True)
    layout = laid_out([panel], CAPTION, alone=False)
    arrows = [shape for part in layout.parts if isinstance(part, MarkShapes) for shape in part.shapes]
    # An arrow still says that an interval reaches beyond what is possible, and nothing else.
    assert any(isinstance(each, Arrow) for each in arrows) == (high > 1)
    ticks = [each.text for each in layout.parts if isinstance(each, Letters) and each.kind == "quiet"]
    assert ticks == ["0 %", f"{50 * last:.0f} %", f"{100 * last:.0f} %"]


@pytest.mark.parametrize(
    ("low", "high", "last"),
    [
        (0.01, 0.05, 0.05),
        (-0.08, -0.01, 0.1),
        (0.1, 0.2, 0.2),
        (-0.39, 0.1, 0.4),
        (-0.2, 0.61, 0.8),
        (-0.81, 0.1, 1.0),
        (-1.2, 0.1, 1.0),
        (0.1, 1.3, 1.0),
    ],
)
def test_a_short_axis_of_differences_reaches_as_far_below_0_as_above(low: float, high: float, last: float) -> None:
    panel = panel_of(["north \u2212 south", "Law \u2212 Arts"], high=high)
    marks = tuple(replace(mark, low=low, estimate=(low + high) / 2, point=(low + high) / 2) for mark in panel.marks)
    panel = replace(panel, marks=marks, fixed=POSSIBLE_DIFFERENCES)
    assert grouped(panel).fixed == replace(POSSIBLE_DIFFERENCES, low=-last, high=last)
    layout = laid_out([panel], CAPTION, alone=False)
    arrows = [shape for part in layout.parts if isinstance(part, MarkShapes) for shape in part.shapes]
    assert any(isinstance(each, Arrow) for each in arrows) == (high > 1 or low < -1)
    ticks = [each.text for each in layout.parts if isinstance(each, Letters) and each.kind == "quiet"]
    assert ticks == [f"\u2212{100 * last:.0f}", "0", f"{100 * last:.0f}"]


def test_a_short_axis_of_differences_of_means_has_their_unit() -> None:
    panel = panel_of(["north \u2212 south", "Law \u2212 Arts"], high=0.7)
    panel = replace(panel, fixed=Axis(-4.0, 4.0, is_of_differences=True), share=False)
    assert grouped(panel).fixed == Axis(-0.8, 0.8, is_of_differences=True)


def test_few_differences_have_a_short_axis_too_and_means_of_a_scale_around_0_have_not() -> None:
    panel = panel_of(["north \u2212 south"], 1, high=0.07)
    marks = tuple(replace(mark, low=-0.02, estimate=0.03, point=0.03) for mark in panel.marks)
    differences = replace(panel, marks=marks, fixed=POSSIBLE_DIFFERENCES)
    for axis, ends in ((POSSIBLE_DIFFERENCES, ["\u221210", "0", "10"]), (Axis(-2.0, 2.0), ["\u22122", "0", "2"])):
        layout = laid_out([replace(differences, fixed=axis)], CAPTION, alone=False)
        assert [each.text for each in layout.parts if isinstance(each, Letters) and each.kind == "quiet"] == ends


def test_an_axis_of_numbers_is_never_cut() -> None:
    panel = replace(panel_of(["Economics and management", "Law"]), fixed=Axis(0.0, 1e7), share=False)
    assert grouped(panel) is panel
    layout = laid_out([panel], CAPTION, alone=False)
    ticks = [each for each in layout.parts if isinstance(each, Letters) and each.kind == "quiet"]
    assert [each.text for each in ticks] == ["0", "10000000"]


def test_each_answer_is_a_figure_of_its_own_with_the_same_axis() -> None:
    panel = panel_of(["Arts", "<Law>"], 7)
    root = ElementTree.fromstring(multiples(panel, CAPTION, "q"))
    svg = "{http://www.w3.org/2000/svg}"
    figures = root.findall(f"{svg}svg")
    assert len(figures) == 7
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids)) == 14
    assert [each.findtext(f"{svg}title") for each in figures] == [f"Which? \u2013 Option {n}" for n in range(7)]
    grids = {
        tuple(line.get("x1") for line in each.iter(f"{svg}line") if line.get("class") == "grid") for each in figures
    }
    assert len(grids) == 1
    assert sum(each.text == "<Law>" for each in root.iter(f"{svg}text")) == 7
    assert ROW_SIZE * 350 / WIDTH > 12  # pixels of letters where a page is 390 wide


@pytest.mark.parametrize("weak", [False, True])
def test_a_file_says_in_attributes_how_it_looks(weak: bool) -> None:
    """LibreOffice follows no style sheet of a figure: its texts were white there, and all points black."""
    svg = "{http://www.w3.org/2000/svg}"
    mark = replace(panel_of(["Arts"], options=1).marks[0], weak=weak, low=-0.1)
    tree = ElementTree.fromstring(figure([Panel("Which?", "", (mark,), fixed=SHARES)], CAPTION))
    assert tree.find(f"{svg}style") is None
    assert tree.get("font-family")
    drawn = [each for each in tree.iter() if each.tag in (f"{svg}{name}" for name in ("text", "circle", "path"))]
    assert all(each.get("fill", "").startswith("#") and each.get("stroke") is None for each in drawn)
    assert all(each.get("stroke", "").startswith("#") for each in tree.iter(f"{svg}line"))
    (interval,) = (each for each in tree.iter(f"{svg}line") if each.get("class") == "interval")
    assert (interval.get("stroke") == WEAK_MARK) == weak


def test_lines_of_the_grid_end_before_letters() -> None:
    svg = "{http://www.w3.org/2000/svg}"
    panel = panel_of(["Arts", ARABIC], options=2)
    parts = list(ElementTree.fromstring(figure([panel], CAPTION)).iter())
    for before, text in itertools.pairwise(parts):
        if text.tag != f"{svg}text" or text.get("class") == "quiet":
            continue
        assert before.tag == f"{svg}rect", text.text
        left, width = float(before.attrib["x"]), float(before.attrib["width"])
        assert 0 <= left < left + width <= WIDTH
        assert any(abs(float(text.attrib["x"]) - end) < 0.1 for end in (left, left + width))


@pytest.mark.parametrize("half", [0.001, 0.008, 0.017, 0.05, 0.2])
def test_an_interval_is_seen_beside_its_point_however_short_it_is(half: float) -> None:
    mark = Mark("no time", 0.35, 0.35 - half, 0.35 + half, point=0.35, said="35 %")
    (shapes,) = (
        each.shapes
        for each in laid_out([Panel("Q", "", (mark,), fixed=SHARES)], CAPTION).parts
        if isinstance(each, MarkShapes)
    )
    (interval,) = (each for each in shapes if isinstance(each, Stroke))
    (point,) = (each for each in shapes if isinstance(each, Point))
    assert point.radius == 2 or point.x + point.radius <= interval.x2 - 2
