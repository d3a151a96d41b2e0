"""The chart of a results page: an image, so the page needs no script and the figure goes into a paper."""

from __future__ import annotations

import functools
import io
import threading
import warnings
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from deniable import EstimateRow, Survey

COLOURS = ("#0b6e99", "#c2571a", "#5a7d2a", "#8a4f9e", "#a4343a", "#57606a", "#b58900", "#2b8a83")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
MOST_ROWS = 600
"""Beyond this a chart is a wall; the table and the CSV have everything."""

_one_at_a_time = threading.Lock()  # matplotlib's font cache and the filter of warnings are shared by all threads


def can_draw(rows: Sequence[EstimateRow]) -> bool:
    """Whether there are shares to draw, and not too many. Means stand in the table."""
    return 0 < sum(row.statistic == "share" for row in rows) <= MOST_ROWS


@functools.lru_cache(maxsize=64)
def estimates_chart(survey: Survey, rows: tuple[EstimateRow, ...], form: str = "svg") -> bytes:
    """Draw every share with its interval, a panel for each question.

    Parameters
    ----------
    survey : Survey
    rows : tuple of EstimateRow
        As `deniable.estimate` gives them; `can_draw` says whether they fit.
    form : {"svg", "png"}
    """
    shares = [row for row in rows if row.statistic == "share"]
    cohorts = list(dict.fromkeys(row.cohort for row in shares))
    questions = [question for question in survey.questions if question.has_shares]
    options = [len(question.options) for question in questions]
    row_height = 0.30 + 0.12 * (len(cohorts) - 1)
    heights = [count * row_height + 0.85 for count in options]
    settings: Any = {
        "font.size": 10,
        "svg.fonttype": "none",
        "svg.hashsalt": survey.id,  # the same numbers give the same bytes
        "text.parse_math": False,  # a dollar in a question is a dollar
    }
    with _one_at_a_time, mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts that this machine has not
        figure = Figure(figsize=(8, sum(heights) + 0.4), layout="constrained")
        grid = {"height_ratios": heights}
        panels = figure.subplots(len(options), 1, squeeze=False, sharex=True, gridspec_kw=grid)[:, 0]
        shown = [row.estimate for row in shares if row.estimate is not None]
        panels[0].set_xlim(min([0, *shown]) - 0.03, max([1, *shown]) + 0.03)
        for panel, question in zip(panels, questions, strict=True):
            mine = [row for row in shares if row.question == question.id]
            _draw_question(panel, question.text, question.options, mine, cohorts)
        drawn = io.BytesIO()
        figure.savefig(drawn, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return drawn.getvalue()


def _draw_question(
    panel: Axes, text: str, options: Sequence[str], rows: Sequence[EstimateRow], cohorts: Sequence[str | None]
) -> None:
    step = 0.6 / max(len(cohorts), 1)
    for cohort, group in groupby(rows, key=attrgetter("cohort")):
        place = cohorts.index(cohort)
        offset = (place - (len(cohorts) - 1) / 2) * step
        colour = COLOURS[place % len(COLOURS)]
        for y, row in enumerate(group):
            if row.estimate is None:
                continue
            panel.plot(
                [row.conf_low, row.conf_high], [y + offset] * 2, color=colour, linewidth=2.5, alpha=0.55, zorder=2,
                solid_capstyle="butt",
            )  # fmt: skip
            label = (cohort or "no cohort") if y == 0 and len(cohorts) > 1 else None
            marker = MARKERS[place % len(MARKERS)]
            panel.plot(
                row.estimate, y + offset, marker, color=colour, markersize=6, zorder=3, label=label, clip_on=False
            )
    panel.set_title(shorten(text, 90), loc="left", fontsize=10.5, fontweight="bold")
    panel.set_yticks(range(len(options)), [shorten(option, 40) for option in options])
    panel.invert_yaxis()
    panel.set_ylim(len(options) - 0.4, -0.6)
    panel.axvline(0, color="#57606a", linewidth=0.8, zorder=1)
    panel.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    panel.grid(axis="x", color="#d8dee4", linewidth=0.8)
    panel.tick_params(axis="y", length=0)
    panel.tick_params(axis="x", labelbottom=True)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    if len(cohorts) > 1:
        panel.legend(loc="lower right", frameon=False, fontsize=8)


def shorten(text: str, longest: int) -> str:
    """One line of at most ``longest`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "\u2026"
