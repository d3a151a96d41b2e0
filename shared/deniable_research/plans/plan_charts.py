"""Charts of plans: of one question against epsilon, and of the questions of a survey side by side."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError
from deniable_research.pictures import FAINT_INK, INK, STYLES, label_in_percent, tidy
from deniable_statistics.planning.plans import EstimandPlan, Plan, PowerPlan, SizePlan, SplitPlan, WidthPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

STEPS = 60
"""Number of epsilons at which a curve is computed, besides its first point."""

EPSILON_RANGE = (0.25, 5.0)
"""Range of epsilon that charts show at least, in nats: from more noise than most surveys accept to nearly none."""

TICKS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20)

DASHES: tuple[Any, ...] = ("-", (0, (1, 1.5)), (0, (5, 2)))

DEVICE, DIRECTLY, CURATOR = "randomised on the device", "asked directly", "trusted curator"

CURVES: dict[type[Plan], dict[str, str]] = {
    SizePlan: {DEVICE: "people", DIRECTLY: "people_directly", CURATOR: "people_curator"},
    WidthPlan: {DEVICE: "half_width_normal", DIRECTLY: "half_width_directly", CURATOR: "half_width_curator"},
    PowerPlan: {DEVICE: "people", DIRECTLY: "people_directly"},
    SplitPlan: {"all questions asked": "people_together", "one drawn for each person": "people_one_each"},
}
"""The figures of each kind of plan that are compared, by their names in the legend."""


def epsilon_chart(plans: Sequence[Plan], options: int = 2) -> Figure:
    """The people, half width or power of one question against epsilon, with the plans as dots.

    Parameters
    ----------
    plans : sequence of plans of one kind
        Each planned share has its own curves, computed for the mechanism with the least noise at each epsilon.
    options : int
        Number of options of the question: 2 for yes or no.

    Notes
    -----
    The chart of a test shows the people that it needs, or its power if the number of respondents was given.

    Curves and dots of half widths are those of normal intervals: near 0 and 1 the expected half width in the table is
    smaller, because published intervals are cut there.

    The curves of a choice have steps where another mechanism becomes the one with the least noise on average over the
    options; for a share far from that average it need not be the best.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    low, high = (
        end(limit, *(plan["epsilon"] for plan in plans)) for end, limit in zip((min, max), EPSILON_RANGE, strict=True)
    )
    # Geometric steps: even on a logarithmic axis.
    epsilons = [low * (high / low) ** (step / STEPS) for step in range(STEPS + 1)]
    curves, colours = _curves(plans[0]), _colours(plans)
    for share, colour in colours.items():
        same = [plan for plan in plans if plan["share"] == share]
        at = functools.cache(
            functools.partial(same[0].at, options=options)
        )  # all curves of a share read the same plans
        for name, dashes in zip(curves.values(), DASHES, strict=False):
            heights = [_or_gap(at, epsilon, name) for epsilon in epsilons]
            axes.plot(epsilons, heights, color=colour, linestyle=dashes, linewidth=2)
        for plan in same:
            # Both ways of a split are answers; of the others only the first curve is planned.
            for name in list(curves.values()) if isinstance(plan, SplitPlan) else [curves[DEVICE]]:
                axes.plot(plan["epsilon"], plan[name], "o", color=colour, markersize=7, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    # Named ticks that stand within the range: those of matplotlib would be powers of ten alone.
    ticks = [tick for tick in TICKS if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("epsilon")
    if _shows_power(plans[0]):
        axes.set_ylim(0, 1)
        label_in_percent(axes.yaxis)
    else:
        axes.set_yscale("log")
        _log_labels(axes.yaxis, _points if isinstance(plans[0], WidthPlan) else _people)
    label, title = _words(plans[0])
    axes.set_ylabel(label)
    tidy(axes, title)
    axes.grid(color="#eef0f3", linewidth=0.6, which="minor", axis="y")
    _legend(axes, colours, list(curves))
    return figure


def survey_chart(plans: Sequence[Plan]) -> Figure:
    """A line from asking directly to randomising for each question of a survey and each planned share.

    Means are left to the table, because each has its own unit.

    Raises
    ------
    ParameterError
        If no plan is for a share.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    # Half widths of means have other units and share no axis with points.
    rows = [plan for plan in plans if isinstance(plan, EstimandPlan) and plan["share"] is not None]
    if not rows:
        raise ParameterError("plot: must have a share to draw, got questions with means only")
    figure = Figure(figsize=(8, 1.6 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    colours = _colours(rows)
    figures = ("people_directly", "people") if isinstance(rows[0], SizePlan) else ("half_width_directly", "half_width")
    for place, plan in enumerate(rows):
        before, after = (plan[name] for name in figures)
        colour = colours[plan["share"]]
        axes.plot([before, after], [place, place], color=colour, linewidth=2, zorder=2)
        axes.plot(before, place, "o", color=colour, markerfacecolor="white", markersize=7, zorder=3)
        axes.plot(after, place, "o", color=colour, markersize=7, zorder=3)
    axes.set_yticks(range(len(rows)), [f"{plan['question']}, {100 * plan['share']:.4g} %" for plan in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if isinstance(rows[0], SizePlan):
        axes.set_xscale("log")
        _log_labels(axes.xaxis, _people)
        axes.set_xlabel(f"people for ±{_points(rows[0]['half_width'])}")
        title = "People needed: asked directly (hollow) and randomised (full)"
    else:
        axes.set_xlim(0, None)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: _points(value)))
        axes.set_xlabel(f"half width of the {100 * rows[0]['conf_level']:g} % interval")
        title = f"{rows[0]['respondents']:,} people: asked directly (hollow) and randomised (full)"
    tidy(axes, title)
    axes.grid(visible=False, axis="y")
    return figure


def _colours(plans: Sequence[Plan]) -> dict[float, str]:
    """A colour for each planned share, in the order of the plans."""
    shares = dict.fromkeys(plan["share"] for plan in plans)
    return {share: STYLES[place % len(STYLES)][0] for place, share in enumerate(shares)}


def _or_gap(at: Callable[[float], Plan], epsilon: float, name: str) -> float:
    """A figure at an epsilon, or NaN, which is not drawn, if integer weights cannot hold it or no sample is enough."""
    try:
        return float(at(epsilon)[name])
    except ParameterError:
        return math.nan


def _shows_power(plan: Plan) -> bool:
    return isinstance(plan, PowerPlan) and plan["respondents"] != plan["people"]


def _curves(plan: Plan) -> dict[str, str]:
    return {DEVICE: "power", DIRECTLY: "power_directly"} if _shows_power(plan) else CURVES[type(plan)]


def _words(plan: Plan) -> tuple[str, str]:
    """The label of the vertical axis, and the title."""
    if isinstance(plan, WidthPlan):
        interval = f"half width of the normal {100 * plan.conf_level:g} % interval"
        return interval, f"How precisely {plan.respondents:,} people tell a share"
    if isinstance(plan, PowerPlan):
        whom = "a known" if plan.cohorts == 1 else "a second cohort's"
        difference = f"a share from {whom} {100 * plan.against:g} %"
        if _shows_power(plan):
            return "power", f"How likely {plan['respondents']:,} people tell {difference}"
        return "people in all", f"People needed to tell {difference} with power {100 * plan.target:g} %"
    within = f"±{_points(plan['half_width'])} ({100 * plan['conf_level']:g} % interval)"
    if isinstance(plan, SplitPlan):
        return "people", f"People needed for {within} in each of {plan.questions} questions"
    return "people", f"People needed for {within}"


def _legend(axes: Axes, colours: dict[float, str], names: Sequence[str]) -> None:
    """Add a legend of dashes, one for each way of asking, and of colours, one for each share."""
    from matplotlib.lines import Line2D

    lines = zip(names, DASHES, strict=False)
    handles = [Line2D([], [], color=INK, linestyle=dashes, linewidth=2, label=name) for name, dashes in lines]
    handles += [
        Line2D([], [], color=colour, marker="o", linestyle="", label=f"share {100 * share:.4g} %")
        for share, colour in colours.items()
    ]
    axes.legend(handles=handles, loc="best", frameon=False, fontsize=9, labelcolor=FAINT_INK)


def _people(value: float) -> str:
    return f"{value:,.0f}"


def _points(value: float) -> str:
    return f"{100 * value:.3g} points"


def _log_labels(axis: Axis, shown: Callable[[float], str]) -> None:
    """Label the powers of ten on a logarithmic axis and, between them, the numbers that start with 2 or 5."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _position: shown(value)))
    axis.set_minor_formatter(FuncFormatter(lambda value, _position: shown(value) if f"{value:e}"[0] in "25" else ""))
