"""The chart of a simulation: bias and coverage of every published figure, with their Monte Carlo errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable_research.pictures import FAINT_INK, STYLES, check_panels, label_in_percent, lines_of, panels_beside, tidy
from deniable_research.simulation.repeated_figures import SimulationRow
from deniable_statistics.published.picture_size import ANY_SIZE, PictureSize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 200
"""Largest number of rows that a chart shows; the CSV has all of them."""

MOST_PANELS = 24
"""Largest number of tested figures in a chart of power, one panel each."""

LABELS = 0.46
"""Part of the width of a chart of figures that their names take at most."""

FEW_TICKS = 1.8
"""Width of an axis in inches below which it has few ticks, with letters of 10 points."""

BOUND = 2
"""Half length of the lines around a figure, in Monte Carlo standard errors: about a 95 % interval."""


def simulation_chart(rows: Sequence[SimulationRow], size: PictureSize = ANY_SIZE) -> Figure:
    """Bias, in standard errors of the estimate, and coverage of the first `MOST_ROWS` figures, a line for each."""
    from matplotlib.figure import Figure

    shown = list(rows[:MOST_ROWS])
    width, _ = size.inches(9.0, 0.0)
    names = [lines_of(_name(row), LABELS * width) for row in shown]
    # All lines are equally high, so that the longest name has room.
    line = 0.26 + 0.18 * max(name.count("\n") for name in names)
    least = (1.3 + line * len(shown)) * size.scale
    size.check_height(least)
    figure = Figure(figsize=size.inches(width, least), layout="constrained")
    biases, coverages = figure.subplots(1, 2, sharey=True)
    for place, row in enumerate(shown):
        # In standard errors, so that biases of shares and of means stand on one axis.
        spread = row.empirical_se or 1.0
        colour = STYLES[1 if row.statistic == "difference" else 0][0]
        for axes, middle, error in (
            (biases, row.bias / spread, row.bias_error / spread),
            (coverages, row.coverage, row.coverage_error),
        ):
            ends = [middle - BOUND * error, middle + BOUND * error]
            axes.plot(ends, [place] * 2, color=colour, linewidth=2.5, alpha=0.55, solid_capstyle="butt")
            axes.plot(middle, place, "o", color=colour, markersize=5)
    biases.axvline(0, color=FAINT_INK, linewidth=1, zorder=0)
    coverages.axvline(shown[0].conf_level, color=FAINT_INK, linewidth=1, zorder=0)
    biases.set_yticks(range(len(shown)), names)
    biases.set_ylim(len(shown) - 0.4, -0.6)
    # At least half a standard error to either side: Monte Carlo noise must not look like a large bias.
    biases.set_xlim(min(-0.5, biases.get_xlim()[0]), max(0.5, biases.get_xlim()[1]))
    coverages.set_xlim(min(0.85, coverages.get_xlim()[0]), 1.005)
    label_in_percent(coverages.xaxis)
    tidy(biases, "Bias")
    tidy(coverages, "Coverage")
    beside = (1 - LABELS) * width / 2
    biases.set_xlabel(lines_of("bias, in standard errors of the estimate", beside))
    wanted = f"intervals that hold the truth (wanted: {100 * shown[0].conf_level:g} %)"
    coverages.set_xlabel(lines_of(wanted, beside))
    if beside < FEW_TICKS * size.scale:
        for axes in (biases, coverages):
            axes.locator_params(axis="x", nbins=3)
    for axes in (biases, coverages):
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def power_chart(rows: Sequence[SimulationRow], size: PictureSize = ANY_SIZE) -> Figure:
    """Power against the number of respondents, or against epsilon if only that varies; a panel for each tested figure.

    Raises
    ------
    ParameterError
        If nothing is tested, or more than `MOST_PANELS` figures are.
    """
    from matplotlib.figure import Figure

    tested = [row for row in rows if row.rejected is not None and row.option != "Intercept"]
    names = list(dict.fromkeys(row.option or row.statistic for row in tested))
    if not 0 < len(names) <= MOST_PANELS:
        raise ParameterError(f"chart: must have 1 to {MOST_PANELS} tested figures, got {len(names)}")
    by_epsilon = len({row.respondents for row in tested}) == 1 and len({row.epsilon for row in tested}) > 1
    # The division rounds up.
    columns = panels_beside(len(names), size)
    lines = -(-len(names) // columns)
    check_panels(lines, size)
    figure = Figure(figsize=size.inches(4.6 * columns, 0.4 + 3 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        here = [row for row in tested if (row.option or row.statistic) == name]
        _draw_power(axes, here, by_epsilon)
        # Under the null hypothesis the test rejects with the probability 1 - conf_level.
        axes.axhline(1 - here[0].conf_level, color=FAINT_INK, linewidth=1, zorder=0)
        axes.set_ylim(0, 1.02)
        label_in_percent(axes.yaxis)
        axes.set_xlabel("epsilon of each question" if by_epsilon else "respondents")
        tidy(axes, f"power: {name}"[:60].replace("$", r"\$"))
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    return figure


def _draw_power(axes: Axes, rows: Sequence[SimulationRow], by_epsilon: bool) -> None:
    """Draw one curve of power against epsilon, or one against the respondents for each epsilon."""
    series = [None] if by_epsilon else list(dict.fromkeys(row.epsilon for row in rows))
    for place, epsilon in enumerate(series):
        line = [row for row in rows if by_epsilon or row.epsilon == epsilon]
        x = [(row.epsilon or 0.0) if by_epsilon else row.respondents for row in line]
        y = [row.rejected or 0.0 for row in line]
        error = [BOUND * (row.rejected_error or 0.0) for row in line]
        colour, dashes = STYLES[place % len(STYLES)]
        label = None if epsilon is None else f"epsilon {epsilon:g}"
        axes.errorbar(x, y, error, color=colour, linestyle=dashes, marker="o", capsize=2, label=label)
    if len(series) > 1:
        axes.legend(frameon=False, fontsize="small")


def _name(row: SimulationRow) -> str:
    name = f"{row.question}: {row.option or row.statistic}"
    if row.cohort:
        name += f" ({row.cohort})"
    return name if len(name) <= 45 else name[:44] + "\u2026"
