"""Plans for people to read: a table, and what its first row means in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from deniable_statistics.planning.plans import (
    EpsilonPlan,
    EstimandPlan,
    Plan,
    PowerPlan,
    SizePlan,
    SplitPlan,
    WidthPlan,
)
from deniable_statistics.published.columns import Column, text_table


def plans_table(plans: Sequence[Plan]) -> str:
    """The table of plans of one kind, a row for each plan; a column names the questions of a survey.

    >>> print(plans_table([SplitPlan(5, 1, share=0.1, half_width=0.05)]))
    epsilon  share  questions  epsilon each  all asked: people  one drawn: people  times
     1.0000   10 %          5        0.2000             38,426              7,765    4.9
    """
    return text_table([QUESTION, EPSILON, APPLIES, SHARE, *COLUMNS[type(plans[0])]], plans)


def meaning(plan: Plan) -> list[str]:
    """The figures of a plan in sentences.

    >>> from deniable import Warner
    >>> from deniable_statistics.planning import NoiseModel
    >>> from deniable_statistics.planning.plans import Estimand
    >>> noise = NoiseModel.through(Warner.from_epsilon(1))
    >>> for sentence in meaning(SizePlan(Estimand.of_share("", noise, 0.1), 0.05)):
    ...     print(sentence)
    To estimate a share of 10 % to within 5 points (95 % interval), 1,553 people are needed; with direct, truthful \
answers, 139.
    A trusted curator who sees every answer and publishes at the same epsilon needs 158.
    If direct answers are biased by more than 2.43 points, the same number of randomised ones is closer to the truth.
    """
    return MEANINGS[type(plan)](plan)


def _size_meaning(plan: SizePlan) -> list[str]:
    return [
        f"To estimate {_what(plan)} to within {_amount(plan, 'half_width')} ({_percent(plan.conf_level)} interval), "
        f"{_needed(plan['people'])}; with direct, truthful answers, {plan['people_directly']:,}.",
        f"A trusted curator who sees every answer and publishes at the same epsilon needs {plan['people_curator']:,}.",
        _break_even(plan),
    ]


def _width_meaning(plan: WidthPlan) -> list[str]:
    found = "no increase, however large,"
    if plan["detectable"] is not None:
        found = f"an increase of {_amount(plan, 'detectable')} or more"
    return [
        f"With {plan.respondents:,} people, {_what(plan)} is estimated to within {_amount(plan, 'half_width')} "
        f"(expected {_percent(plan.conf_level)} interval); with direct, truthful answers, to within "
        f"{_amount(plan, 'half_width_directly')}.",
        f"A trusted curator achieves {_amount(plan, 'half_width_curator')} at the same epsilon; the noise "
        f"that it adds exceeds {_amount(plan, 'curator_noise')} only once in {1 / (1 - plan.conf_level):.3g} times.",
        _break_even(plan),
        f"Between two halves of these people, {found} is detected with a probability of {_percent(plan.power)}.",
    ]


def _power_meaning(plan: PowerPlan) -> list[str]:
    other, whole = ("a known", "") if plan.cohorts == 1 else ("another cohort's", ", half of them in each cohort,")
    sided = "two-sided" if plan.alternative == "two-sided" else "one-sided"
    test = f"{sided} test, significance level {_percent(plan.level)}" + (", exact" if plan.exact else "")
    stays = " or more" if plan.exact else ""
    sentences = [
        f"{_needed(plan['people'], stays + whole)} to distinguish a share of {_percent(plan['share'])} from {other} "
        f"{_percent(plan.against)} with power {_percent(plan.target)} ({test}); "
        f"with direct, truthful answers, {plan['people_directly']:,}.",
    ]
    # Where nobody says how many answer, the power is the wanted one, which was said above.
    if plan["respondents"] != plan["people"]:
        sentences.append(
            f"At epsilon {plan['epsilon']:.4g}, {plan['respondents']:,} people give a power of "
            f"{_percent(plan['power'])}; with direct, truthful answers, {_percent(plan['power_directly'])}."
        )
    return sentences


def _split_meaning(plan: SplitPlan) -> list[str]:
    better, worse = "drawing one question for each person", "asking everybody all of them"
    if plan["ratio"] < 1:
        better, worse = worse, better
    return [
        f"To estimate {plan.questions} questions to within {_points(plan.half_width)} points each, {better} needs "
        f"{max(plan['ratio'], 1 / plan['ratio']):.1f} times fewer people than {worse} with a part of the epsilon.",
        f'The best way is "{plan["best"]}", with {plan["people_best"]:,} people. A survey that has one epsilon for '
        "these questions and wants only shares does this.",
        "To cross-tabulate questions, the same person must answer them.",
    ]


def _epsilon_meaning(plan: EpsilonPlan) -> list[str]:
    return [
        f"To estimate a share of {_percent(plan.share)} to within {_points(plan.half_width)} points "
        f"({_percent(plan.conf_level)} interval) with {plan.respondents:,} people, epsilon {plan['epsilon']:g} is "
        f"needed; with direct, truthful answers, they give it to within {_points(plan['half_width_directly'])}.",
        "Somebody who thinks an answer as likely as not guesses it correctly from the reply at most "
        f"{math.ceil(100 * plan['right_guesses'])} times in 100.",
    ]


def _break_even(plan: Plan) -> str:
    return (
        f"If direct answers are biased by more than {_amount(plan, 'break_even_bias')}, "
        "the same number of randomised ones is closer to the truth."
    )


def _what(plan: Plan) -> str:
    applies = _applies(plan)
    whose = "" if applies is None else f" among the {_percent(applies)} to whom it applies"
    return ("the mean" if plan["share"] is None else f"a share of {_percent(plan['share'])}") + whose


def _needed(people: int, described: str = "") -> str:
    return f"{people:,} people{described} are needed" if people != 1 else f"one person{described} is needed"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _tenths(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(width: float) -> str:
    return f"{100 * width:.3g}"


def _amount(plan: Plan, name: str) -> str:
    """A figure in percentage points of a share, or in the unit of a mean."""
    # The unit of a mean is known to the author of the question only.
    return _points(plan[name]) + " points" if plan["share"] is not None else f"{plan[name]:.3g}"


def _column(name: str, heading: str, form: Callable[[Any], str] = "{:,}".format) -> Column:
    return Column(heading, lambda plan: form(plan[name]))


def _width(name: str, heading: str) -> Column:
    # Headings name no unit, because means and shares stand below each other.
    return Column(heading, lambda plan: "-" if plan[name] is None else _amount(plan, name).removesuffix(" points"))


def _has_questions(plans: Sequence[Plan]) -> bool:
    return any(isinstance(plan, EstimandPlan) and bool(plan.estimand.question) for plan in plans)


def _applies(plan: Plan) -> float | None:
    """The share of the people to whom the question of a plan applies; None where it is about everybody."""
    return plan.estimand.applies if isinstance(plan, EstimandPlan) else None


def is_among(plans: Sequence[Plan]) -> bool:
    """Whether one of the plans is about those to whom its question applies, and not about everybody."""
    return any(_applies(plan) is not None for plan in plans)


def _factor(times: float) -> str:
    return f"{times:.1f}" if math.isfinite(times) else "-"


QUESTION = Column("question", lambda plan: plan["question"], is_text=True, is_shown=_has_questions)
EPSILON = _column("epsilon", "epsilon", "{:.4f}".format)
APPLIES = Column(
    "applies to", lambda plan: "-" if (whom := _applies(plan)) is None else _percent(whom), is_shown=is_among
)
SHARE = _column("share", "share", lambda share: "mean" if share is None else _percent(share))
WANTED = _width("wanted", "").cell

MEANINGS: dict[type, Callable[[Any], list[str]]] = {
    SizePlan: _size_meaning,
    WidthPlan: _width_meaning,
    PowerPlan: _power_meaning,
    SplitPlan: _split_meaning,
    EpsilonPlan: _epsilon_meaning,
}

COLUMNS: dict[type, list[Column]] = {
    SizePlan: [
        _width("half_width", "within ±"),
        _column("people", "people"),
        _column("people_directly", "asked directly"),
        _column("times", "times", _factor),
        _column("people_curator", "trusted curator"),
        _width("break_even_bias", "break-even bias"),
    ],
    WidthPlan: [
        _width("half_width", "within ±"),
        _width("half_width_directly", "asked directly"),
        _width("half_width_curator", "trusted curator"),
        _width("break_even_bias", "break-even bias"),
        _width("detectable", "detectable"),
        Column("people for ±", lambda plan: f"{plan['people']:,} for {WANTED(plan)}"),
    ],
    PowerPlan: [
        _column("against", "against", _percent),
        _column("target", "wanted power", _percent),
        _column("people", "people"),
        _column("people_directly", "asked directly"),
        _column("times", "times", _factor),
        _column("respondents", "respondents"),
        _column("power", "power", _tenths),
        _column("power_directly", "directly", _tenths),
    ],
    EpsilonPlan: [
        _column("respondents", "people"),
        Column("within \u00b1", lambda plan: _points(plan["half_width_reached"])),
        Column("asked directly", lambda plan: _points(plan["half_width_directly"])),
        _column("right_guesses", "right guesses", _tenths),
    ],
    SplitPlan: [
        _column("questions", "questions", str),
        _column("epsilon_each", "epsilon each", "{:.4f}".format),
        _column("people_together", "all asked: people"),
        _column("people_one_each", "one drawn: people"),
        _column("ratio", "times", _factor),
    ],
}
"""Columns of the table of each kind of plan, after question, epsilon and share."""
