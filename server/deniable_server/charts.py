"""The figure of a survey's results for a paper or a talk: an image to download. The page itself has `drawing`."""

from __future__ import annotations

import functools
import io
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable import EstimateRow, Question, Survey
from deniable.access.words import ONE_REPORT
from deniable_server import drawing
from deniable_server.drawing import Mark, axis_of, mark, ticks, wrapped

INK, FAINT = "#1f2328", "#d0d7de"
INTERVAL = "#6ea8c4"

# In inches: the width of all, of the labels, the height of a line of 10 points, and of the line below all.
WIDTH, LABELS, LINE, FOOT = 8.0, 2.9, 0.18, 0.25

_one_at_a_time = threading.Lock()  # matplotlib's font cache and the filter of warnings are shared by all threads


@functools.lru_cache(maxsize=64)
def estimates_chart(survey: Survey, rows: tuple[EstimateRow, ...], form: str = "svg") -> bytes:
    """Draw every share and mean with its interval, a panel for each question.

    Every axis is fixed: 0 to 100 %, or the numbers that can be answered. What reaches beyond is an arrow, and a point
    is the most likely possible value, so that a cohort of six looks like one and stretches nothing.

    Parameters
    ----------
    survey : Survey
    rows : tuple of EstimateRow
        As `deniable.estimate` gives them; `drawing.can_draw` says whether they fit.
    form : {"svg", "png"}
    """
    panels = list(_panels(survey, rows))
    height = sum(panel.height for panel in panels) + 0.1 + FOOT
    settings: Any = {
        "font.size": 10,
        "svg.fonttype": "none",
        "svg.hashsalt": survey.id,  # the same numbers give the same bytes
        "text.parse_math": False,  # a dollar in a question is a dollar
    }
    with _one_at_a_time, mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts that this machine has not
        figure = Figure(figsize=(WIDTH, height), facecolor="white")
        top = height - 0.05
        for panel in panels:
            panel.draw(figure, top)
            top -= panel.height
        about = f"Access {survey.access}: {ONE_REPORT[survey.access]}"
        figure.text(0.1 / WIDTH, FOOT / height, about, color=INK, fontsize=8, va="top")
        drawn = io.BytesIO()
        figure.savefig(drawn, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return drawn.getvalue()


@dataclass(frozen=True)
class _Line:
    """A label of some lines of text, and its mark; a heading has none."""

    label: tuple[str, ...]
    mark: Mark | None
    heading: bool = False

    @property
    def height(self) -> float:
        return LINE * len(self.label) + 0.06


@dataclass(frozen=True)
class _Panel:
    """The shares, or the mean, of one question."""

    title: tuple[str, ...]
    lines: tuple[_Line, ...]
    axis: drawing.Axis

    @property
    def above(self) -> float:
        return LINE * len(self.title) + 0.14

    @property
    def body(self) -> float:
        return sum(line.height for line in self.lines) + 0.08

    @property
    def height(self) -> float:
        return self.above + self.body + 0.45

    def draw(self, figure: Figure, top: float) -> None:
        """Draw it below that height, in inches from the bottom of the figure."""
        total = figure.get_figheight()
        write = functools.partial(figure.text, color=INK, va="top", linespacing=1.25)
        write(0.1 / WIDTH, top / total, "\n".join(self.title), fontweight="bold")
        floor = top - self.above - self.body
        place = (LABELS / WIDTH, floor / total, (WIDTH - LABELS - 0.3) / WIDTH, self.body / total)
        axes = figure.add_axes(place)
        axes.set_xlim(0, 100)
        axes.set_ylim(0, self.body)
        named = list(ticks(self.axis))
        axes.set_xticks([each for each, _ in named], [text for _, text in named], color=INK)
        axes.set_yticks([])
        axes.grid(axis="x", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(axis="x", length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        y = self.body - 0.04
        for line in self.lines:
            text = "\n".join(line.label)
            write(0.1 / WIDTH, (floor + y) / total, text, fontweight="bold" if line.heading else "normal")
            if line.mark is not None:
                _draw_mark(axes, line.mark, y - LINE / 2)
            y -= line.height


def _panels(survey: Survey, rows: Sequence[EstimateRow]) -> list[_Panel]:
    return [
        _Panel(wrapped(question.text, 76), tuple(_lines(question, mine)), axis_of(question, statistic))
        for question in survey.questions
        for statistic in ("share", "mean")
        if (mine := [row for row in rows if (row.question, row.statistic) == (question.id, statistic)])
    ]


def _lines(question: Question, rows: Sequence[EstimateRow]) -> list[_Line]:
    by_cohort = any(row.cohort is not None for row in rows)
    lines = []
    for option in dict.fromkeys(row.option for row in rows):
        name = wrapped(option or "mean", 30)
        if by_cohort:
            lines.append(_Line(name, None, heading=True))
        for row in (row for row in rows if row.option == option):
            label = wrapped(row.cohort or "no cohort", 30) if by_cohort else name
            lines.append(_Line(label, mark(row, axis_of(question, row.statistic))))
    return lines


def _draw_mark(axes: Axes, drawn: Mark, y: float) -> None:
    axes.plot([drawn.low, drawn.high], [y, y], color=INTERVAL, linewidth=4, solid_capstyle="butt", clip_on=False)
    if drawn.point is not None:
        axes.plot(drawn.point, y, "o", color=INK, markersize=6, clip_on=False)
    if drawn.left:
        axes.plot(1.2, y, "<", color=INK, markersize=5, clip_on=False)
    if drawn.right:
        axes.plot(98.8, y, ">", color=INK, markersize=5, clip_on=False)
