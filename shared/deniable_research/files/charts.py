"""Charts of estimates with their intervals: a panel for each subject, a line for each figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError
from deniable_research.files.correcting import CORRECTED
from deniable_research.files.rows import ComparisonRow, CrosstabRow
from deniable_research.pictures import FAINT_INK, STYLES, tidy
from deniable_statistics.published.published_rows import EstimateRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from deniable_research.files.models import FittedModel
    from deniable_research.files.predicting import PredictionRow

MOST_LINES = 300
"""Beyond this a chart is a wall; the table and the CSV have everything."""

MOST_LOG = math.log(1e6)
"""Logarithmic axes end there to either side; arrows point beyond."""

MARKERS = ("o", "s", "D", "^", "v")


@dataclass(frozen=True)
class Mark:
    """One figure: where it stands, its interval, whose ends may be infinite, and the robust one if there is one."""

    line: str
    estimate: float
    low: float
    high: float
    series: str | None = None
    robust: tuple[float, float] | None = None


@dataclass(frozen=True)
class Panel:
    """Figures on one axis.

    Attributes
    ----------
    title : str
    axis : str
        What the axis measures.
    marks : tuple of Mark
        Marks of one line and different series stand side by side.
    share : bool
        Whether the axis is in percent.
    within : tuple of two floats or None
        What the axis shows at least.
    reference : float
        Where a line is drawn, if the axis comes there.
    log : bool
        Whether the axis is logarithmic; all figures are then above 0, ends of intervals at least 0.
    """

    title: str
    axis: str
    marks: tuple[Mark, ...]
    share: bool = True
    within: tuple[float, float] | None = (0.0, 1.0)
    reference: float = 0.0
    log: bool = False


def share_panels(rows: Iterable[EstimateRow]) -> list[Panel]:
    """A panel for the shares of each question, and one for each mean; cohorts are series."""
    subjects: dict[tuple[str, str], list[Mark]] = {}
    for row in rows:
        if row.estimate is not None:
            name = f"{row.option}, corrected" if row.statistic == CORRECTED else row.option or "mean"
            robust = None if row.robust_low is None or row.robust_high is None else (row.robust_low, row.robust_high)
            mark = Mark(name, row.estimate, row.conf_low, row.conf_high, row.cohort, robust)
            subjects.setdefault((row.question, "mean" if row.statistic == "mean" else "share"), []).append(mark)
    return [
        Panel(question, "share", tuple(marks))
        if statistic == "share"
        else Panel(f"{question}: mean", "mean", tuple(marks), False, None)
        for (question, statistic), marks in subjects.items()
    ]


def comparison_panels(rows: Sequence[ComparisonRow]) -> list[Panel]:
    """A panel for each measure."""
    titles = {
        "difference": "difference of shares",
        "trend": "slope of the share",
        "mean difference": "difference of means",
        "ratio": "ratio of shares",
    }
    panels = []
    for measure, title in titles.items():
        marks = []
        for row in rows:
            if row.measure == measure and row.estimate is not None and row.estimate == row.estimate:
                assert row.conf_low is not None
                assert row.conf_high is not None
                between = "/" if measure == "ratio" else "\u2212"
                line = ": ".join(filter(None, (row.option, f"{row.first} {between} {row.second}")))
                marks.append(Mark(line, row.estimate, row.conf_low, row.conf_high))
        if marks:
            share = measure in ("difference", "trend")
            equal = 1.0 if measure == "ratio" else 0.0
            panels.append(Panel(f"{rows[0].question}: {title}", title, tuple(marks), share, (equal, equal), equal))
    return panels


def crosstab_panels(rows: Sequence[CrosstabRow]) -> list[Panel]:
    """A panel for each answer to the first question, or to the one that is given; a third question is series."""
    panels: dict[str, list[Mark]] = {}
    for row in rows:
        answers = {row.first: row.first_option, row.second: row.second_option}
        if row.third is not None:
            answers[row.third] = row.third_option
        if row.measure not in ("joint", "conditional") or row.estimate is None or math.isnan(row.estimate):
            continue
        assert row.conf_low is not None
        assert row.conf_high is not None
        head = row.given or row.first
        line, *series = [f"{name}: {answer}" for name, answer in answers.items() if name != head]
        title = f"{'among ' if row.given else ''}{head}: {answers[head]}"
        mark = Mark(line, row.estimate, row.conf_low, row.conf_high, series[0] if series else None)
        panels.setdefault(title, []).append(mark)
    axis = f"share among people with each answer to {rows[0].given}" if rows[0].given else "share of all people"
    return [Panel(name, axis, tuple(marks)) for name, marks in panels.items()]


def term_panels(models: Sequence[FittedModel], odds_ratios: bool = False) -> list[Panel]:
    """The forest plot of regressions: a line for each term of the outcome, a series for each model."""
    marks = []
    for place, model in enumerate(models, start=1):
        series = f"({place}) {model.formula}" if len(models) > 1 else None
        for row in model.odds_ratios if odds_ratios else model.effect_rows:
            if math.isfinite(row.estimate) and (row.estimate > 0 or not odds_ratios):
                marks.append(Mark(row.term, row.estimate, row.conf_low, row.conf_high, series))
    title = models[0].formula if len(models) == 1 else f"{len(models)} models"
    equal = 1.0 if odds_ratios else 0.0
    title += ": odds ratios" if odds_ratios else ""
    axis = (
        "odds ratio" if odds_ratios else "log odds ratio" if all(each.is_of_odds for each in models) else "coefficient"
    )
    return [Panel(title, axis, tuple(marks), share=False, within=(equal, equal), reference=equal, log=odds_ratios)]


def prediction_panels(rows: Sequence[PredictionRow]) -> list[Panel]:
    """A panel for each setting of shares, effects or differences; truths of a choice are series."""
    panels: dict[str, list[Mark]] = {}
    several = len({row.option for row in rows}) > 1
    for row in rows:
        if not math.isfinite(row.estimate):
            continue
        if row.measure == "share":
            title, line = "average shares", row.setting or "people as they are"
        else:
            title = {"difference": "differences of average shares"}.get(row.measure, "average marginal effects")
            title += f" at {row.setting}" if row.setting else ""
            line = row.variable or ""
            line += f": {row.first} \u2212 {row.second}" if row.first is not None else ", for each unit"
        title = title if several else f"{row.option}: {title}"
        mark = Mark(line, row.estimate, row.conf_low, row.conf_high, row.option if several else None)
        panels.setdefault(title, []).append(mark)
    within = (0.0, 1.0) if rows[0].measure == "share" else (0.0, 0.0)
    axes = {"share": "average share", "difference": "difference of average shares"}
    axis = axes.get(rows[0].measure, "average marginal effect on the share")
    return [Panel(title, axis, tuple(marks), within=within) for title, marks in panels.items()]


def interval_chart(panels: Sequence[Panel]) -> Figure:
    """Draw panels below each other.

    Raises
    ------
    ParameterError
        If there is nothing to draw, or more than `MOST_LINES` figures.
    """
    from matplotlib.figure import Figure

    figures = sum(len(panel.marks) for panel in panels)
    if not 0 < figures <= MOST_LINES:
        raise ParameterError(f"chart: must have 1 to {MOST_LINES} figures, got {figures}")
    heights = [1.05 + _height(panel) for panel in panels]
    figure = Figure(figsize=(8, sum(heights) + 0.2), layout="constrained")
    grid: dict[str, Any] = {"height_ratios": heights}
    every = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw=grid)[:, 0]
    explained = None
    for axes, panel in zip(every, panels, strict=True):
        _draw(axes, panel)
        series = _names(panel)[1]
        if len(series) > 1 and series != explained:  # once is enough
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
            explained = series
    return figure


def _names(panel: Panel) -> tuple[list[str], list[str | None]]:
    lines = list(dict.fromkeys(mark.line for mark in panel.marks))
    return lines, list(dict.fromkeys(mark.series for mark in panel.marks))


def _height(panel: Panel) -> float:
    lines, series = _names(panel)
    return len(lines) * (0.3 + 0.14 * (len(series) - 1))


def _draw(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

    lines, series = _names(panel)
    low, high = _limits(panel)
    step = 0.6 / len(series)
    named = set()
    for mark in panel.marks:
        place = series.index(mark.series)
        y = lines.index(mark.line) + (place - (len(series) - 1) / 2) * step
        colour = STYLES[place % len(STYLES)][0]
        ends = [max(mark.low, low), min(mark.high, high)]
        axes.plot(ends, [y] * 2, color=colour, linewidth=2.5, alpha=0.55, solid_capstyle="butt", zorder=2)
        if mark.robust is not None:
            axes.plot(mark.robust, [y] * 2, color=colour, linewidth=1, marker="|", markersize=6, zorder=2)
        for end, limit, arrow in ((mark.low, low, "<"), (mark.high, high, ">")):
            if not low <= end <= high:
                axes.plot(limit, y, arrow, color=colour, markersize=6, alpha=0.55, clip_on=False)
        label = (mark.series or "none") if len(series) > 1 and mark.series not in named else None
        named.add(mark.series)
        marker = MARKERS[place % len(MARKERS)]
        axes.plot(mark.estimate, y, marker, color=colour, markersize=6, zorder=3, label=label, clip_on=False)
    if panel.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(low, high)
    axes.set_yticks(range(len(lines)), [_short(line, 40) for line in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    if low <= panel.reference <= high:
        axes.axvline(panel.reference, color=FAINT_INK, linewidth=1, zorder=1)
    if panel.share:
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0 if high - low > 0.04 else 1))
    tidy(axes, _short(panel.title, 90))
    axes.set_xlabel(_short(panel.axis, 90))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, pad=7)
    axes.spines["left"].set_visible(False)


def _limits(panel: Panel) -> tuple[float, float]:
    """What the axis shows: every finite number and the least of the panel, with a margin."""
    figures = [(mark.estimate, mark.low, mark.high, *(mark.robust or ())) for mark in panel.marks]
    ends = [each for figure in figures for each in figure if math.isfinite(each)]
    ends += panel.within or ()
    if panel.log:
        ends = [math.log(each) for each in ends if each > 0]
    low, high = min(ends), max(ends)
    margin = 0.04 * (high - low) or 0.5
    if not panel.log:
        return low - margin, high + margin
    return math.exp(max(low, -MOST_LOG) - margin), math.exp(min(high, MOST_LOG) + margin)


def _short(text: str, longest: int) -> str:
    line = " ".join(text.split()).replace("$", r"\$")  # a dollar in a name is a dollar
    return line if len(line) <= longest else line[: longest - 1] + "\u2026"
