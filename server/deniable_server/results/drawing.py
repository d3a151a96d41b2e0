"""The charts within a results page: one SVG for each question, in the colours of the page, with selectable text.

Positions on the axis are in percent and heights in ``em``, so that a chart fits every width and font size without a
script. A point never lies outside its interval; an arrow stands for an interval that reaches beyond the axis.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deniable import EstimateRow, Question
from deniable_statistics.designs.of_mechanisms import level_values, mean_values
from deniable_statistics.published.charts import SHARES, Axis, Mark, Panel, columns, wrapped
from deniable_statistics.published.columns import WHERE_IT_APPLIES, name_of_option
from deniable_statistics.published.leading import most_frequent

LINE = 1.3
"""Height of a line of text, in em."""

MOST_ROWS = 600
"""Largest number of intervals that a page draws; the table and the CSV have all of them."""

_WIDEST_BESIDE = 11  # characters that fit beside the axis on a telephone 320 px wide
_WIDEST_ABOVE = 30  # characters that fit above the axis there
_MARGIN = 4.0  # percent of the width on either side of the axis, for the arrows


def can_draw(rows: Sequence[EstimateRow]) -> bool:
    """Whether there is something to draw, and not too much."""
    return 0 < len(rows) <= MOST_ROWS


def place(axis: Axis, value: float) -> float:
    """The position of a value, in percent of the width; values beyond the axis are at its end."""
    inside = min(max(value, axis.low), axis.high)
    return round(_MARGIN + (100 - 2 * _MARGIN) * (inside - axis.low) / (axis.high - axis.low), 3)


@dataclass(frozen=True)
class PlacedMark:
    """A point with its interval, in percent of the width; `left` and `right` are whether it reaches beyond that end."""

    low: float
    high: float
    point: float | None
    left: bool
    right: bool


@dataclass(frozen=True)
class Label:
    """Lines of text; `rtl` is whether they run from right to left."""

    lines: tuple[str, ...]
    rtl: bool


@dataclass(frozen=True)
class Line:
    """A line of a chart: a label at height `y`, and a mark at `mark_y` except where it is a heading."""

    label: Label
    y: float
    mark: PlacedMark | None = None
    mark_y: float = 0.0
    heading: bool = False


@dataclass(frozen=True)
class PlacedPanel:
    """Lines above one axis, from `top` to `bottom`; the axis starts at `start` percent of the width."""

    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    top: float
    bottom: float
    start: float


@dataclass(frozen=True)
class Drawing:
    """A chart: its panels, and its height in em."""

    panels: tuple[PlacedPanel, ...]
    height: float


def axis_of(question: Question, statistic: str) -> Axis:
    """The axis of a statistic: 0 to 100 % for shares, the range of possible numbers for means."""
    values = mean_values(question) or level_values(question)
    if statistic != "mean" or values is None:
        return SHARES
    return Axis(min(values), max(values))


def shown_point(row: EstimateRow, axis: Axis) -> float | None:
    """The value to show: the most likely possible one, or the nearest end of its interval.

    It is None if there is no estimate, or if the whole interval is impossible. A value can lie outside its interval by
    a little, because all shares are fitted together and each interval is computed alone.
    """
    if row.feasible is None or row.conf_low > axis.high or row.conf_high < axis.low:
        return None
    return min(max(row.feasible, row.conf_low, axis.low), row.conf_high, axis.high)


def panels_of(question: Question, rows: Sequence[EstimateRow]) -> list[Panel]:
    """The panels of one question: its shares and its mean, for everybody or for each cohort.

    A question with a filter has a panel of its shares among those to whom it applies.
    """
    by_cohort = any(row.cohort is not None for row in rows)
    found = []
    for statistic in ("share", "among", "mean"):
        axis = axis_of(question, statistic)
        marks = tuple(
            Mark(
                name_of_option(row),
                row.estimate,
                row.conf_low,
                row.conf_high,
                (row.cohort or "no cohort") if by_cohort else None,
                point=shown_point(row, axis),
            )
            for row in rows
            if row.statistic == statistic
        )
        if marks:
            found.append(Panel(str(question.text), "", marks, fixed=axis))
    return found


def placed(mark: Mark, panel: Panel) -> PlacedMark | None:
    """A mark with its position; None if there is no estimate."""
    if mark.estimate is None or panel.fixed is None:
        return None
    point = None if mark.point is None else place(panel.fixed, mark.point)
    return PlacedMark(place(panel.fixed, mark.low), place(panel.fixed, mark.high), point, *panel.beyond(mark))


def drawing(question: Question, rows: Sequence[EstimateRow]) -> Drawing | None:
    """The chart of one question; None if it has no estimates.

    Parameters
    ----------
    question : Question
    rows : sequence of EstimateRow
        Rows of this question, for everybody or for each cohort.
    """
    if not any(row.estimate is not None for row in rows):
        return None
    panels: list[PlacedPanel] = []
    top = 0.0
    for panel in panels_of(question, rows):
        panels.append(_place_panel(panel, top))
        top = panels[-1].bottom + 2.2
    return Drawing(tuple(panels), round(top, 3))


def _place_panel(panel: Panel, top: float) -> PlacedPanel:
    """A panel whose lines begin ``top`` em below the top of the chart."""
    assert panel.fixed is not None
    found = list(panel.lines)
    by_cohort = any(mark is None for _, mark, _ in found)
    beside = all(columns(text) <= _WIDEST_BESIDE for text, mark, _ in found if mark is not None)
    lines: list[Line] = []
    # Rounded only in the output, since rounding errors would add up over a long chart.
    y = top
    for text, mark, _ in found:
        label = Label(wrapped(text, _WIDEST_ABOVE), is_rtl(text))
        if mark is None:
            y += 0.4 if lines else 0.0
            lines.append(Line(label, _round(y), heading=True))
            y += LINE * len(label.lines) + 0.1
        else:
            above = 0 if beside else LINE * len(label.lines)
            lines.append(Line(label, _round(y), placed(mark, panel), _round(y + above + LINE / 2)))
            y += above + LINE + (0.15 if beside else 0.3) + (0.0 if by_cohort else 0.1)
    ticks = tuple((place(panel.fixed, value), text) for value, text in panel.fixed.ticks())
    bottom = y + (0.4 if by_cohort else 0.0)
    return PlacedPanel(tuple(lines), ticks, _round(top), _round(bottom), 30.0 if beside else 0.0)


def is_rtl(text: str) -> bool:
    """Whether the first letter that has a direction runs from right to left, as ``dir=auto`` decides."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((each != "L" for each in directions if each in ("L", "R", "AL")), False)


def _round(y: float) -> float:
    return round(y, 3)


MOST_HEADLINES = 6
"""Largest number of cohorts for which a question has sentences."""

TOO_WIDE = 0.15
"""Largest half-width of an interval that a sentence gives in numbers, as a share of the axis."""

LEAST_LEVEL = 0.95
"""Lowest confidence level of intervals that are put into sentences."""

TOO_FEW = "too few replies to say"
NONE_AHEAD = "no answer is clearly ahead of the others"
HARDLY_FITS = "the replies hardly fit the design; see the warning below the table"


@dataclass(frozen=True)
class Headline:
    """One sentence about the results of a question; `option` is given if `what` does not imply it."""

    what: str
    cohort: str | None
    option: str | None
    said: str


def headlines(question: Question, rows: Sequence[EstimateRow]) -> list[Headline]:
    """The results of a question in plain words, as far as they are significant.

    A yes-no question has the share of yes, and numbers have their mean, for each cohort; these figures are chosen
    before anybody answers. Other questions have the most frequent answer of everybody, if a comparison of all answers
    identifies it (see `deniable_statistics.published.leading`), but not by cohort, which would be many comparisons. A
    flagged row has no number: its interval is short because the data contradict the design.
    """
    cohorts = list(dict.fromkeys(row.cohort for row in rows))
    # Each sentence may be wrong with probability 0.05: with many of them, one of them probably is.
    if len(cohorts) > MOST_HEADLINES:
        return []
    # Fixed before anybody answered, so that its interval need not allow for a selection.
    fixed = question.kind.headline
    chosen = [row for row in rows if row.statistic == "mean"]
    if fixed is not None:
        chosen = [row for row in rows if row.statistic == "share" and row.option == question.options[fixed]]
    if chosen:
        what = f"Mean {WHERE_IT_APPLIES}" if question.ask_if else "Mean" if fixed is None else "Yes"
        flagged = {row.cohort for row in rows if row.flag}
        return [
            Headline(
                what,
                row.cohort,
                None,
                HARDLY_FITS if row.cohort in flagged else in_words(row, axis_of(question, row.statistic)),
            )
            for row in chosen
            if row.estimate is not None
        ]
    # Most often *does not apply* would lead, which says nothing of the answers.
    most = _most_frequent(question, rows) if cohorts == [None] and not question.ask_if else None
    return [] if most is None else [most]


def _most_frequent(question: Question, rows: Sequence[EstimateRow]) -> Headline | None:
    """The most frequent answer; None without reports, or if misbehaviour or fakes are assumed."""
    if any(row.estimate is None or row.assumed_fake or row.misbehaving for row in rows):
        return None
    what = "Most frequent" if not question.kind.takes_several else "Ticked most often"
    if any(row.flag for row in rows):
        return Headline(what, None, None, HARDLY_FITS)
    found = most_frequent(question.mechanism, rows, rows[0].conf_level)
    if found is None:
        is_wide = any(_is_wide(row.conf_low, row.conf_high, SHARES) for row in rows)
        return Headline(what, None, None, TOO_FEW if is_wide else NONE_AHEAD)
    row = replace(rows[found.option], conf_low=found.interval.low, conf_high=found.interval.high)
    said = in_words(row, SHARES)
    return Headline(what, None, None if said == TOO_FEW else row.option, said)


def _is_wide(low: float, high: float, axis: Axis) -> bool:
    return high - low > 2 * TOO_WIDE * (axis.high - axis.low)


def in_words(row: EstimateRow, axis: Axis) -> str:
    """An estimate in words, such as *about 15 %, between 8 and 22 %*, or that the interval is too wide.

    Ends are rounded outwards, so that the stated interval contains the computed one.
    """
    low, high = max(row.conf_low, axis.low), min(row.conf_high, axis.high)
    point = shown_point(row, axis)
    if point is None:
        return "the interval holds nothing that is possible; look at the table"
    if _is_wide(low, high, axis):
        return TOO_FEW
    scale = 100 if axis is SHARES else 1
    width = scale * (high - low)
    # Digits so that the interval is at least four units of the last digit wide.
    digits = 0 if width >= 4 else math.ceil(-math.log10(max(width, 1e-9) / 4))
    unit = 10.0**digits
    # 1e-9: an 8.000000001 from floating point is not rounded up to 9.
    down = math.floor(scale * low * unit + 1e-9) / unit
    up = math.ceil(scale * high * unit - 1e-9) / unit
    minus = "\u2212"
    about, least, most = (
        f"{round(each, digits) + 0.0:.{digits}f}".replace("-", minus) for each in (scale * point, down, up)
    )
    percent = " %" if scale == 100 else ""
    return f"about {about}{percent}, between {least} and {most}{percent}"
