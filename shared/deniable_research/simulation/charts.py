"""The chart of a simulation: bias and coverage of every published figure, with their Monte Carlo errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable_research.pictures import FAINT_INK, STYLES, tidy
from deniable_research.simulation.figures import SimulationRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 200
"""Beyond this a chart is a wall."""

BOUND = 2
"""Lines are this many Monte Carlo standard errors to either side."""


def simulation_chart(rows: Sequence[SimulationRow]) -> Figure:
    """Bias in standard errors of the estimate, and coverage, a line for each of the first `MOST_ROWS` figures."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    shown = list(rows[:MOST_ROWS])
    figure = Figure(figsize=(9, 1.3 + 0.26 * len(shown)), layout="constrained")
    biases, coverages = figure.subplots(1, 2, sharey=True)
    for place, row in enumerate(shown):
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
    biases.set_yticks(range(len(shown)), [_name(row) for row in shown])
    biases.set_ylim(len(shown) - 0.4, -0.6)
    biases.set_xlim(min(-0.5, biases.get_xlim()[0]), max(0.5, biases.get_xlim()[1]))
    coverages.set_xlim(min(0.85, coverages.get_xlim()[0]), 1.005)
    coverages.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    tidy(biases, "Bias")
    tidy(coverages, "Coverage")
    biases.set_xlabel("bias, in standard errors of the estimate")
    coverages.set_xlabel(f"intervals that hold the truth (wanted: {100 * shown[0].conf_level:g} %)")
    for axes in (biases, coverages):
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _name(row: SimulationRow) -> str:
    name = f"{row.question}: {row.option or row.statistic}"
    if row.cohort:
        name += f" ({row.cohort})"
    return name if len(name) <= 45 else name[:44] + "\u2026"
