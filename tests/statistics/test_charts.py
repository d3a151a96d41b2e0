"""The one chart of intervals, and the tables that are made of columns."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import pytest

from deniable.errors import ParameterError
from deniable_statistics.published.charts import SHARES, Axis, Mark, Panel, interval_chart, render
from deniable_statistics.published.columns import COHORT, Column, ends, figures, text_table

WAVES = Panel(
    "affair",
    "share",
    (
        Mark("no", 0.7, 0.6, 0.8, "2024"),
        Mark("no", 0.6, 0.5, 0.7, None),
        Mark("yes", 0.3, 0.2, 0.4, "2024"),
        Mark("yes", None, math.nan, math.nan, None),
    ),
)


def test_series_stand_below_a_heading_in_the_order_of_the_marks() -> None:
    assert [(text, mark is None, series) for text, mark, series in WAVES.lines] == [
        ("no", True, 0),
        ("2024", False, 0),
        ("none", False, 1),
        ("yes", True, 0),
        ("2024", False, 0),
        ("none", False, 1),
    ]
    figure = interval_chart([WAVES])
    bold = {text.get_text() for text in figure.texts if text.get_fontweight() == "bold"}
    assert bold == {"affair", "no", "yes"}
    indents = {text.get_text(): text.get_position()[0] for text in figure.texts}
    assert indents["2024"] > indents["no"]


@pytest.mark.parametrize(
    ("mark", "beyond"),
    [
        (Mark("a", 0.5, 0.0, 1.0), (False, False)),
        (Mark("a", 1 + 2e-16, 0.9, 1.0), (False, False)),
        (Mark("a", -0.1, 0.0, 0.2), (True, False)),
        (Mark("a", 0.5, -math.inf, math.inf), (True, True)),
        (Mark("a", 0.5, 0.1, math.nan), (False, True)),
        (Mark("a", None, math.nan, math.nan), (False, False)),
    ],
)
def test_what_reaches_beyond_an_axis_is_an_arrow(mark: Mark, beyond: tuple[bool, bool]) -> None:
    panel = Panel("q", "", (mark,), fixed=SHARES)
    assert panel.beyond(mark) == beyond
    (axes,) = interval_chart([panel]).axes
    shapes = [line.get_marker() for line in axes.lines]
    assert ("<" in shapes, ">" in shapes) == beyond
    assert axes.get_xlim() == (-0.04, 1.04)


def test_a_fixed_axis_shows_the_possible_value_and_another_one_the_estimate() -> None:
    mark = Mark("a", -0.1, -0.2, 0.1, point=0.0)
    for fixed, shown in ((SHARES, 0.0), (None, -0.1)):
        (axes,) = interval_chart([Panel("q", "", (mark,), fixed=fixed)]).axes
        assert [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"] == [shown]


def test_ticks_of_an_axis_of_numbers_are_its_ends_and_its_middle() -> None:
    assert list(Axis(1, 7).ticks()) == [(1.0, "1"), (2.5, ""), (4.0, "4"), (5.5, ""), (7.0, "7")]
    assert [text for _, text in Axis(0, 1_234_567_890.5).ticks()][-1] == "", "which is wider than its place"


def test_texts_of_a_chart_are_texts() -> None:
    panel = Panel("costs $5 to $6", "a \x01 b", (Mark("$x_1$", 0.5, 0.4, 0.6),))
    drawn = render(lambda: interval_chart([panel]), "svg").decode()
    texts = re.findall(r">([^<>]+)</text>", drawn)
    assert {"costs $5 to $6", "$x_1$", "a \ufffd b"} <= set(texts)
    assert render(lambda: interval_chart([panel]), "svg").decode() == drawn


def test_a_wall_is_refused() -> None:
    panel = Panel("q", "", tuple(Mark(str(n), 0.5, 0.4, 0.6) for n in range(4)))
    with pytest.raises(ParameterError, match="chart: must have 1 to 3 figures, got 4"):
        interval_chart([panel], most=3)


def test_columns_that_say_nothing_are_left_out() -> None:
    row = SimpleNamespace(statistic="mean", cohort=None, estimate=4.3, std_error=0.12, conf_low=4.0, conf_high=4.6)
    row.conf_level = 0.9
    columns = (Column("who", lambda _row: "all", is_text=True), COHORT, *figures(), Column("robust", ends("robust")))
    row.robust_low = row.robust_high = None
    assert text_table(columns, [row]) == ("who  Estimate    SE   90 % CI  robust\nall       4.3  0.12  4 to 4.6")
    named = SimpleNamespace(**vars(row) | {"cohort": "web", "statistic": "share"})
    assert text_table(columns, [row, named]).splitlines()[2] == ("all  web      430.0 %  12.0 %  400.0 % to 460.0 %")


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.55, 4.4, {"1", "2"}),  # odds ratios of the tutorial
        (1.1, 1.8, {"1.2", "1.4", "1.6"}),
        (0.02, 40.0, {"0.1", "1", "10"}),
        (0.2, 6.0, {"0.2", "0.5", "1", "2", "5"}),
    ],
)
def test_a_logarithmic_axis_has_labels_by_which_it_can_be_read(low: float, high: float, labels: set[str]) -> None:
    panel = Panel("q", "odds ratio", (Mark("a", math.sqrt(low * high), low, high),), False, None, 1.0, log=True)
    figure = interval_chart([panel])
    render(lambda: figure, "svg")
    (axes,) = figure.axes
    first, last = axes.get_xlim()
    shown = [
        tick.get_text()
        for tick, at in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)
        if first <= at <= last
    ]
    assert set(shown) >= labels
    assert len(shown) <= 9
