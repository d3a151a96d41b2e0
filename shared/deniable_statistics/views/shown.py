"""What results show of an estimate: a value that is possible, and whether its interval is narrow enough to be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from deniable.survey.question import Question
from deniable_statistics.designs.of_mechanisms import level_values, mean_values
from deniable_statistics.published.charts import SHARES, Axis
from deniable_statistics.published.published_rows import EstimateRow
from deniable_statistics.published.width import TOO_WIDE


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


def widest(axis: Axis, is_difference: bool = False) -> float:
    """The width of the widest interval that may be quoted, in units of the axis: 30 points, or 30 % of a mean's range.

    >>> widest(SHARES), widest(Axis(-1.0, 1.0), is_difference=True)
    (0.3, 0.3)

    Parameters
    ----------
    axis : Axis
    is_difference : bool
        Whether the axis is that of differences, which is twice as long as that of what is compared.
    """
    return 2 * TOO_WIDE * (axis.high - axis.low) / (2 if is_difference else 1)


def is_wide(low: float, high: float, axis: Axis, is_difference: bool = False) -> bool:
    """Whether an interval, as far as it is possible, is too wide for a figure; see `widest`."""
    # A bool of Python, which JSON can hold: ends of intervals may be numpy's.
    return bool(min(high, axis.high) - max(low, axis.low) > widest(axis, is_difference))


def is_weak(row: EstimateRow, axis: Axis) -> bool:
    """Whether the reports are too few to say anything in a number: there is no estimate, or its interval is too wide.

    Pages, figures and the command line all use this rule, so that none quotes what another one refuses to.
    """
    return row.estimate is None or is_wide(row.conf_low, row.conf_high, axis)


def quoted_intervals(rows: Iterable[EstimateRow], axis: Axis) -> list[tuple[float, float]]:
    """The intervals of the rows that are quoted, as far as they are possible."""
    return [
        (max(row.conf_low, axis.low), min(row.conf_high, axis.high))
        for row in rows
        if not is_weak(row, axis) and shown_point(row, axis) is not None
    ]


class Spoken(NamedTuple):
    """A value and the ends of its interval as people read them, without a sign of percent."""

    value: str
    low: str
    high: str


MOST_DIGITS = 4
"""Largest number of digits after the point in a sentence, however narrow an interval is."""


def common_digits(intervals: Iterable[tuple[float, float]], scale: float = 1.0) -> int:
    """The digits after the point that all these intervals allow: numbers that stand together have one style.

    >>> common_digits([(0.12, 0.20), (0.0, 0.032)], 100), common_digits([(0.011, 0.032)], 100), common_digits([])
    (0, 1, 0)
    """
    return min((_digits(scale * (high - low)) for low, high in intervals), default=0)


def _digits(width: float) -> int:
    return 0 if width >= 4 else min(math.ceil(-math.log10(max(width, 1e-9) / 4)), MOST_DIGITS)


def spoken(
    value: float, low: float, high: float, scale: float = 1.0, digits: int | None = None, is_difference: bool = False
) -> Spoken:
    """A value and its interval in as many digits as the interval allows, its ends rounded outwards.

    So the stated interval contains the computed one, and is at least four units of its last digit wide. Where numbers
    stand together, ``digits`` are their `common_digits`. A difference whose interval excludes 0 is called certain, so
    it and the ends of its interval have as many digits as it takes to see that.

    >>> spoken(0.15, 0.0812, 0.2149, 100)
    Spoken(value='15', low='8', high='22')
    >>> spoken(-0.04, -1.31, 1.2)
    Spoken(value='0.0', low='\u22121.4', high='1.2')
    >>> spoken(0.073, 0.0028, 0.144, 100, is_difference=True)
    Spoken(value='7', low='0.2', high='15')
    >>> spoken(0.0041, 0.0002, 0.08, 100, 0, is_difference=True), spoken(0.0041, -0.07, 0.08, 100, is_difference=True)
    (Spoken(value='0.4', low='0.02', high='8'), Spoken(value='0', low='\u22127', high='8'))
    """
    digits = _digits(scale * (high - low)) if digits is None else digits
    excludes_0 = is_difference and not low <= 0 <= high
    places = range(digits, (MOST_DIGITS if excludes_0 else digits) + 1)
    nearest = (f"{round(scale * value, each) + 0.0:.{each}f}" for each in places)
    down = (_outwards(math.floor, scale * low, each) for each in places)
    up = (_outwards(math.ceil, scale * high, each) for each in places)
    zero = f"{0:.{digits}f}"
    # The first text that is no zero.
    return Spoken(*(next(filter(float, texts), zero).replace("-", "\u2212") for texts in (nearest, down, up)))


def _outwards(end: Callable[[float], int], value: float, digits: int) -> str:
    """A number rounded down or up."""
    unit = 10.0**digits
    # 1e-9: an 8.000000001 from floating point is not rounded up to 9.
    whole = end(value * unit + (1e-9 if end is math.floor else -1e-9))
    return f"{round(whole / unit, digits) + 0.0:.{digits}f}"
