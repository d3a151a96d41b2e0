"""Plans for people to read: a table, and what its first row means in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from deniable.table import format_table
from deniable_research.planning.plans import SizePlan, WidthPlan
from deniable_research.planning.power_plans import PowerPlan
from deniable_research.planning.splitting import SplitPlan

Plan = SizePlan | WidthPlan | PowerPlan | SplitPlan

Column = tuple[str, Callable[[Any], str]]


def plans_table(plans: Sequence[Plan]) -> str:
    """Plans of one kind, a row each; questions are named where there are several.

    >>> from deniable_research.planning.splitting import plan_split
    >>> print(plans_table([plan_split(5, 1, share=0.1, width=0.05)]))
    epsilon  share  questions  epsilon each  all asked: people  one drawn: people  times
     1.0000   10 %          5        0.2000             38,426              7,765    4.9
    """
    columns = COLUMNS[type(plans[0])]
    if any(getattr(plan, "question", "") for plan in plans):
        columns = [("question", lambda plan: plan.question), *columns]
    header = [name for name, _ in columns]
    rows = [[show(plan) for _, show in columns] for plan in plans]
    return format_table(header, rows, right=set(header) - {"question"})


def meaning(plan: Plan) -> list[str]:
    """What a row says, in sentences.

    >>> from deniable import Warner
    >>> from deniable_research.planning import NoiseModel
    >>> from deniable_research.planning.plans import Estimand, plan_size
    >>> noise = NoiseModel.through(Warner.from_epsilon(1))
    >>> for sentence in meaning(plan_size(Estimand.of_share("", noise, 0.1), 0.05)):
    ...     print(sentence)
    1,553 people tell a share of 10 % to within 5 points (95 % interval); asked directly and truthfully, 139 would.
    A trusted curator who sees every answer and publishes at the same epsilon needs 158.
    If direct answers are wrong by more than 2.43 points on the whole, as many randomised ones are nearer to the truth.
    """
    sentences: dict[type, Callable[[Any], list[str]]] = {
        SizePlan: _size_meaning,
        WidthPlan: _width_meaning,
        PowerPlan: _power_meaning,
        SplitPlan: _split_meaning,
    }
    return sentences[type(plan)](plan)


def _size_meaning(plan: SizePlan) -> list[str]:
    return [
        f"{plan.people:,} people tell {_what(plan)} to within {_amount(plan.half_width, plan)} "
        f"({_percent(plan.conf_level)} interval); asked directly and truthfully, {_would(plan.people_directly)}.",
        f"A trusted curator who sees every answer and publishes at the same epsilon needs {plan.people_curator:,}.",
        _break_even(plan),
    ]


def _width_meaning(plan: WidthPlan) -> list[str]:
    found = (
        f"an increase of {_amount(plan.detectable, plan)} or more"
        if plan.detectable is not None
        else "no increase, however large,"
    )
    return [
        f"{plan.respondents:,} people tell {_what(plan)} to within {_amount(plan.half_width, plan)} "
        f"(expected {_percent(plan.conf_level)} interval); asked directly and truthfully, to within "
        f"{_amount(plan.half_width_directly, plan)}.",
        f"A trusted curator comes to within {_amount(plan.half_width_curator, plan)} at the same epsilon; the added "
        f"noise exceeds {_amount(plan.curator_noise, plan)} once in {1 / (1 - plan.conf_level):.3g} times only.",
        _break_even(plan),
        f"From one half of them to the other, {found} is found with a probability of {_percent(plan.power)}.",
    ]


def _power_meaning(plan: PowerPlan) -> list[str]:
    other = "a known" if plan.cohorts == 1 else "another cohort's"
    whole = "" if plan.cohorts == 1 else ", half of them in each cohort,"
    sided = "two-sided" if plan.alternative == "two-sided" else "one-sided"
    test = f"{sided} test, level {_percent(plan.level)}" + (", exact" if plan.exact else "")
    stays = " or more" if plan.exact else ""
    sentences = [
        f"{plan.people:,} people{stays}{whole} tell a share of {_percent(plan.share)} from {other} "
        f"{_percent(plan.against)} with power {_percent(plan.target)} ({test}); "
        f"asked directly and truthfully, {_would(plan.people_directly)}.",
    ]
    if plan.respondents != plan.people:
        sentences.append(
            f"{plan.respondents:,} people have a power of {_percent(plan.power)}; "
            f"asked directly and truthfully, {_percent(plan.power_directly)}."
        )
    return sentences


def _split_meaning(plan: SplitPlan) -> list[str]:
    better, worse = "drawing one question for each person", "asking everybody all of them"
    if plan.ratio < 1:
        better, worse = worse, better
    factor = max(plan.ratio, 1 / plan.ratio)
    return [
        f"For {plan.questions} questions to within {_points(plan.half_width)} points each, {better} takes "
        f"{factor:.1f} times fewer people than {worse} with a part of the epsilon.",
        f"The fewest, {plan.people_best:,}, takes {plan.best}: what a survey with one epsilon for these chooses.",
        "Questions that are to be cross-tabulated must be answered by the same person.",
    ]


def _break_even(plan: SizePlan | WidthPlan) -> str:
    return (
        f"If direct answers are wrong by more than {_amount(plan.break_even_bias, plan)} on the whole, "
        "as many randomised ones are nearer to the truth."
    )


def _what(plan: SizePlan | WidthPlan) -> str:
    return "the mean" if plan.share is None else f"a share of {_percent(plan.share)}"


def _would(people: int) -> str:
    return f"{people:,} would" if people != 1 else "one person would"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _points(width: float) -> str:
    return f"{100 * width:.3g}"


def _amount(value: float, plan: SizePlan | WidthPlan) -> str:
    return f"{_points(value)} points" if plan.statistic == "share" else f"{value:.3g}"


def _cell(value: float | None, plan: SizePlan | WidthPlan) -> str:
    if value is None:
        return "-"
    return _points(value) if plan.statistic == "share" else f"{value:.3g}"


def _factor(times: float) -> str:
    return f"{times:.1f}" if math.isfinite(times) else "-"


EPSILON: Column = ("epsilon", lambda plan: f"{plan.epsilon:.4f}")
SHARE: Column = ("share", lambda plan: "mean" if plan.share is None else _percent(plan.share))
BIAS: Column = ("break-even bias", lambda plan: _cell(plan.break_even_bias, plan))

COLUMNS: dict[type, list[Column]] = {
    SizePlan: [
        EPSILON,
        SHARE,
        ("within ±", lambda plan: _cell(plan.half_width, plan)),
        ("people", lambda plan: f"{plan.people:,}"),
        ("asked directly", lambda plan: f"{plan.people_directly:,}"),
        ("times", lambda plan: _factor(plan.times)),
        ("trusted curator", lambda plan: f"{plan.people_curator:,}"),
        BIAS,
    ],
    WidthPlan: [
        EPSILON,
        SHARE,
        ("within ±", lambda plan: _cell(plan.half_width, plan)),
        ("asked directly", lambda plan: _cell(plan.half_width_directly, plan)),
        ("trusted curator", lambda plan: _cell(plan.half_width_curator, plan)),
        BIAS,
        ("detectable", lambda plan: _cell(plan.detectable, plan)),
        ("people for ±", lambda plan: f"{plan.people:,} for {_cell(plan.wanted, plan)}"),
    ],
    PowerPlan: [
        EPSILON,
        SHARE,
        ("against", lambda plan: _percent(plan.against)),
        ("wanted power", lambda plan: _percent(plan.target)),
        ("people", lambda plan: f"{plan.people:,}"),
        ("asked directly", lambda plan: f"{plan.people_directly:,}"),
        ("times", lambda plan: _factor(plan.times)),
        ("respondents", lambda plan: f"{plan.respondents:,}"),
        ("power", lambda plan: f"{100 * plan.power:.1f} %"),
        ("directly", lambda plan: f"{100 * plan.power_directly:.1f} %"),
    ],
    SplitPlan: [
        EPSILON,
        SHARE,
        ("questions", lambda plan: str(plan.questions)),
        ("epsilon each", lambda plan: f"{plan.epsilon_each:.4f}"),
        ("all asked: people", lambda plan: f"{plan.people_together:,}"),
        ("one drawn: people", lambda plan: f"{plan.people_one_each:,}"),
        ("times", lambda plan: _factor(plan.ratio)),
    ],
}
"""What the table of each kind of plan shows."""
