"""Pictures of plans: against epsilon for one question, side by side for the questions of a survey."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError
from deniable_research.pictures import FAINT_INK, INK, STYLES, tidy
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.plans import Estimand, SizePlan, WidthPlan
from deniable_research.planning.power_plans import PowerPlan, plan_power
from deniable_research.planning.printing import Plan
from deniable_research.planning.splitting import Split, SplitPlan, least_noise, split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

STEPS = 60
SHOWN = (0.25, 5.0)
"""Range of epsilon that charts show: from more noise than nearly anybody asks for to nearly none."""

DASHES: dict[str, Any] = {
    "randomised on the device": "-",
    "trusted curator": (0, (5, 2)),
    "asked directly": (0, (1, 1.5)),
    "all questions asked": "-",
    "one drawn for each person": (0, (5, 2)),
}

Curves = dict[str, Callable[[float], float]]
"""What is compared, each as a function of epsilon."""


def epsilon_chart(plans: Sequence[Plan], options: int = 2) -> Figure:
    """What one question costs against epsilon, with the plans as dots.

    Parameters
    ----------
    plans : sequence of plans of one kind
        Each share that is among them gets its curves, of the mechanism with the least noise.
    options : int
        2 for a yes-no question.

    Notes
    -----
    A test is drawn by the people that it takes; where the number of respondents was given, by their power.

    Curves of half widths are those of normal intervals, and so are the dots: near 0 and 1 the expected half width of
    the table is smaller, because intervals are cut there. Curves of tests are those of the normal approximation.

    Of a choice, curves have steps where another mechanism becomes the one with the least noise over all options, which
    need not be the best for a share far from the average one.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, PercentFormatter

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    known = [plan.epsilon for plan in plans]
    low, high = min(SHOWN[0], *known), max(SHOWN[1], *known)
    epsilons = [low * (high / low) ** (step / STEPS) for step in range(STEPS + 1)]
    for share, colour in _colours(plans).items():
        same = [plan for plan in plans if plan.share == share]
        for name, curve in _curves(same[0], options).items():
            values = [_or_gap(curve, epsilon) for epsilon in epsilons]
            axes.plot(epsilons, values, color=colour, linestyle=DASHES[name], linewidth=2)
        for plan in same:
            for dot in _dots(plan):
                axes.plot(plan.epsilon, dot, "o", color=colour, markersize=7, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("epsilon")
    if _shows_power(plans[0]):
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    else:
        axes.set_yscale("log")
        _log_labels(axes.yaxis, _points if isinstance(plans[0], WidthPlan) else _people)
    label, title = _words(plans[0])
    axes.set_ylabel(label)
    tidy(axes, title)
    axes.grid(color="#eef0f3", linewidth=0.6, which="minor", axis="y")
    _legend(axes, _colours(plans), list(_curves(plans[0], options)))
    return figure


def survey_chart(plans: Sequence[Plan]) -> Figure:
    """For every question of a survey a line from asking directly to randomising, a row for each planned share.

    Means stand in the table only: they have units of their own.

    Raises
    ------
    ParameterError
        If there is no share among the plans.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    rows = [plan for plan in plans if isinstance(plan, SizePlan | WidthPlan) and plan.share is not None]
    if not rows:
        raise ParameterError("plot: must have a share to draw, got questions with means only")
    figure = Figure(figsize=(8, 1.6 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    colours = _colours(rows)
    for place, plan in enumerate(rows):
        before, after = _ends(plan)
        colour = colours[plan.share]
        axes.plot([before, after], [place, place], color=colour, linewidth=2, zorder=2)
        axes.plot(before, place, "o", color=colour, markerfacecolor="white", markersize=7, zorder=3)
        axes.plot(after, place, "o", color=colour, markersize=7, zorder=3)
    axes.set_yticks(range(len(rows)), [_row_name(plan) for plan in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if isinstance(rows[0], SizePlan):
        axes.set_xscale("log")
        _log_labels(axes.xaxis, _people)
        axes.set_xlabel(f"people for ±{_points(rows[0].half_width)}")
        title = "People needed: asked directly (hollow) and randomised (full)"
    else:
        axes.set_xlim(0, None)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: _points(value)))
        axes.set_xlabel(f"half width of the {100 * rows[0].conf_level:g} % interval")
        title = f"{rows[0].respondents:,} people: asked directly (hollow) and randomised (full)"
    tidy(axes, title)
    axes.grid(visible=False, axis="y")
    return figure


def _colours(plans: Sequence[Plan]) -> dict[float | None, str]:
    """A colour for each planned share, in their order."""
    shares = dict.fromkeys(plan.share for plan in plans)
    return {share: STYLES[place % len(STYLES)][0] for place, share in enumerate(shares)}


def _or_gap(curve: Callable[[float], float], epsilon: float) -> float:
    """NaN, which is not drawn, where integer weights cannot hold an epsilon or no number of people is enough."""
    try:
        return curve(epsilon)
    except ParameterError:
        return math.nan


def _curves(plan: Plan, options: int) -> Curves:
    """The curves of one planned share."""
    share = plan.share
    assert share is not None, "one question is planned by its share"

    @functools.cache
    def estimand(epsilon: float) -> Estimand:
        return Estimand.of_share("", NoiseModel.through(least_noise(options, epsilon)), share)

    if isinstance(plan, SplitPlan):
        questions, wide, certain = plan.questions, plan.half_width, plan.conf_level

        def both(epsilon: float) -> Split:
            return split(questions, epsilon, share, options)

        return {
            "all questions asked": lambda epsilon: both(epsilon).together.sample_size(wide, certain),
            "one drawn for each person": lambda epsilon: both(epsilon).one_each.sample_size(wide, certain),
        }
    if isinstance(plan, PowerPlan):
        test = plan

        def planned(epsilon: float) -> PowerPlan:
            people = test.respondents if _shows_power(test) else None
            return plan_power(
                estimand(epsilon), test.against, test.cohorts, people, test.target, test.level, test.alternative
            )

        if _shows_power(test):
            return {
                "randomised on the device": lambda epsilon: planned(epsilon).power,
                "asked directly": lambda epsilon: planned(epsilon).power_directly,
            }
        return {
            "randomised on the device": lambda epsilon: planned(epsilon).people,
            "asked directly": lambda epsilon: planned(epsilon).people_directly,
        }
    level = plan.conf_level
    if isinstance(plan, SizePlan):
        width = plan.half_width
        return {
            "randomised on the device": lambda epsilon: estimand(epsilon).precision.sample_size(width, level),
            "trusted curator": lambda epsilon: estimand(epsilon).precision.curator_sample_size(width, level),
            "asked directly": lambda epsilon: estimand(epsilon).precision.directly.sample_size(width, level),
        }
    n = plan.respondents
    return {
        "randomised on the device": lambda epsilon: estimand(epsilon).precision.half_width(n, level),
        "trusted curator": lambda epsilon: estimand(epsilon).precision.curator_half_width(n, level),
        "asked directly": lambda epsilon: estimand(epsilon).precision.directly.half_width(n, level),
    }


def _dots(plan: Plan) -> list[float]:
    if isinstance(plan, SplitPlan):
        return [plan.people_together, plan.people_one_each]
    if isinstance(plan, WidthPlan):
        return [plan.half_width_normal]
    return [plan.power if isinstance(plan, PowerPlan) and _shows_power(plan) else plan.people]


def _shows_power(plan: Plan) -> bool:
    return isinstance(plan, PowerPlan) and plan.respondents != plan.people


def _words(plan: Plan) -> tuple[str, str]:
    """Label of the vertical axis, and title."""
    if isinstance(plan, WidthPlan):
        interval = f"half width of the normal {100 * plan.conf_level:g} % interval"
        return interval, f"How precisely {plan.respondents:,} people tell a share"
    if isinstance(plan, PowerPlan):
        whom = "a known" if plan.cohorts == 1 else "a second cohort's"
        difference = f"a share from {whom} {100 * plan.against:g} %"
        if _shows_power(plan):
            return "power", f"How likely {plan.respondents:,} people tell {difference}"
        return "people in all", f"People needed to tell {difference} with power {100 * plan.target:g} %"
    within = f"±{100 * plan.half_width:.3g} points ({100 * plan.conf_level:g} % interval)"
    if isinstance(plan, SplitPlan):
        return "people", f"People needed for {within} in each of {plan.questions} questions"
    return "people", f"People needed for {within}"


def _legend(axes: Axes, colours: dict[float | None, str], names: Sequence[str]) -> None:
    """Dashes say who is asked how, colours which share."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=INK, linestyle=DASHES[name], linewidth=2, label=name) for name in names]
    handles += [
        Line2D([], [], color=colour, marker="o", linestyle="", label=f"share {100 * (share or 0):.4g} %")
        for share, colour in colours.items()
    ]
    axes.legend(handles=handles, loc="best", frameon=False, fontsize=9, labelcolor=FAINT_INK)


def _ends(plan: SizePlan | WidthPlan) -> tuple[float, float]:
    if isinstance(plan, SizePlan):
        return plan.people_directly, plan.people
    return plan.half_width_directly, plan.half_width


def _row_name(plan: SizePlan | WidthPlan) -> str:
    return f"{plan.question}, {100 * (plan.share or 0):.4g} %"


def _people(value: float) -> str:
    return f"{value:,.0f}"


def _points(value: float) -> str:
    return f"{100 * value:.3g} points"


def _log_labels(axis: Axis, shown: Callable[[float], str]) -> None:
    """Name powers of ten and, between them, the numbers that start with 2 or 5."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _position: shown(value)))
    axis.set_minor_formatter(FuncFormatter(lambda value, _position: shown(value) if f"{value:e}"[0] in "25" else ""))
