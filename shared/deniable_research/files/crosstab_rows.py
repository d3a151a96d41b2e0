"""The rows of a crosstab: its cells, the test of independence, the odds ratio and the correlation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.wire.space import Count
from deniable_research.files.result_rows import CrosstabRow
from deniable_statistics.intervals import Interval
from deniable_statistics.joint import Correlation, Independence
from deniable_statistics.sampling import t_two_sided

Floats = NDArray[np.float64]


class CrosstabCells(NamedTuple):
    """Estimates of the cells of a crosstab: arrays with an axis for each column, as long as its answers.

    Attributes
    ----------
    share, std_error, low, high : ndarray of float
        Joint or conditional shares, their standard errors, and the ends of their confidence intervals.
    feasible : ndarray of float or None
        The most likely shares in [0, 1]; None where they were not searched.
    """

    share: Floats
    std_error: Floats
    low: Floats
    high: Floats
    feasible: Floats | None = None


class Odds(Protocol):
    """An odds ratio with its interval."""

    @property
    def odds_ratio(self) -> float: ...
    def confidence_interval(self, confidence_level: float = 0.95) -> Interval: ...


def about_columns(names: Sequence[str], n: Count, level: float, df_error: float | None) -> CrosstabRow:
    """A row with the fields that all rows about these columns share; `df_error` under a sampling design only."""
    third = names[2] if len(names) > 2 else None
    return CrosstabRow("", names[0], second=names[1], third=third, n=n, conf_level=level, df_error=df_error)


def cell_rows(
    about: CrosstabRow, options: Sequence[Sequence[str]], cells: CrosstabCells, given: str | None
) -> Iterator[CrosstabRow]:
    """A row for each combination of answers; those of the last column vary fastest."""
    for place in np.ndindex(cells.share.shape):
        labels = [each[at] for each, at in zip(options, place, strict=True)]
        yield replace(
            about,
            measure="joint" if given is None else "conditional",
            first_option=labels[0],
            second_option=labels[1],
            third_option=labels[2] if len(labels) > 2 else None,
            given=given,
            estimate=float(cells.share[place]),
            std_error=float(cells.std_error[place]),
            conf_low=float(cells.low[place]),
            conf_high=float(cells.high[place]),
            feasible=None if cells.feasible is None else float(cells.feasible[place]),
        )


def independence_row(about: CrosstabRow, test: Independence, note: str | None = None) -> CrosstabRow:
    """The test of independence: chi-squared with `df` degrees of freedom, or F under a sampling design."""
    # Rao and Scott: F with df and df (degrees of freedom of the errors) degrees of freedom.
    error = None if about.df_error is None else test.df * about.df_error
    return replace(
        about,
        measure="independence",
        statistic=test.statistic,
        df=test.df,
        p_value=test.p_value,
        note=note,
        df_error=error,
    )


def odds_row(about: CrosstabRow, odds: Odds) -> CrosstabRow:
    """The odds ratio of a two-by-two table, with its interval."""
    low, high = odds.confidence_interval(about.conf_level)
    return replace(about, measure="odds ratio", estimate=odds.odds_ratio, conf_low=low, conf_high=high)


def correlation_row(about: CrosstabRow, found: Correlation) -> CrosstabRow:
    """The correlation of two columns that stand for numbers, with Student's test that it is 0."""
    low, high = found.confidence_interval(about.conf_level)
    statistic = found.correlation / found.std_error if found.std_error else math.nan
    return replace(
        about,
        measure="correlation",
        estimate=found.correlation,
        std_error=found.std_error,
        conf_low=low,
        conf_high=high,
        statistic=statistic,
        p_value=t_two_sided(statistic, found.df),
        note=found.note,
    )
