"""Simulations for people to read: a row for each figure, and what its columns mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deniable_research.output import counted
from deniable_research.simulation.nested import NestedFormula
from deniable_research.simulation.power import Power
from deniable_research.simulation.repeated_figures import SimulationRow
from deniable_research.simulation.simulation import Simulation
from deniable_research.simulation.study import ImpliedShare, Study
from deniable_statistics.published.columns import (
    COHORT,
    OPTION,
    QUESTION,
    Column,
    Form,
    figure,
    form_of,
    has,
    text_table,
)
from deniable_statistics.published.method_names import methods_text
from deniable_statistics.published.printed_numbers import number, percent

# Both are printed because they should agree: a smaller stated error means intervals that are too short.
SPREAD = "Spread: standard deviation of the estimates; stated: root mean square of the standard errors beside them."

IMPLIED_SHARES = "True shares ({}): --truth is that of all people; those of groups follow from it and --effect."

# Without an intercept nothing can be solved for, so that the share of --truth is reached.
WITHOUT_INTERCEPT = "True shares ({}): they follow from --effect alone, because the formula has no intercept."

MISBEHAVIOUR = {
    "noncompliance": "of the people report the first option as it is, whatever the instruction",
    "denial": "of the people answer the first option, which then is randomised",
    "careless": "of the people send a report drawn uniformly from all possible ones",
}


def _fine_form_of(row: SimulationRow) -> Form:
    """The format of a bias: in the unit of its figure, with digits for a bias much smaller than the figure."""
    return partial(number, digits=3) if row.statistic == "mean" else partial(percent, digits=2)


def _estimates(form: Callable[[Any], Form], fine: Callable[[Any], Form]) -> tuple[Column, ...]:
    return (
        Column("Truth", figure("truth", form)),
        Column("Mean", figure("mean_estimate", form)),
        Column("Bias", figure("bias", fine)),
        Column("MC error", figure("bias_error", fine)),
        Column("Spread", figure("empirical_se", form)),
    )


# Coverage and power are shares, and so in percent for figures of any unit.
_COVERAGE = Column("Coverage", lambda row: percent(row.coverage))
_REJECTED = Column("Rejected", lambda row: percent(row.rejected))

SURVEYS = (
    QUESTION,
    OPTION,
    COHORT,
    *_estimates(form_of, _fine_form_of),
    Column("If split", figure("empirical_se_if_split"), is_shown=has("empirical_se_if_split")),
    Column("Stated", figure("stated_se")),
    _COVERAGE,
    Column("MC error", lambda row: percent(row.coverage_error)),
    Column("Width", figure("mean_width")),
    _REJECTED,
)
"""Columns of the table of a simulated survey."""

SAMPLES = (
    replace(OPTION, heading="Figure"),
    Column("Epsilon", lambda row: number(row.epsilon), is_shown=has("epsilon")),
    Column("n", lambda row: str(row.respondents)),
    # Coefficients, slopes and shares stand below each other, so none is in percent.
    *_estimates(lambda _row: number, lambda _row: partial(number, digits=3)),
    Column("Stated", lambda row: number(row.stated_se)),
    _COVERAGE,
    _REJECTED,
)
"""Columns of the table of a simulated analysis."""


def _group(row: ImpliedShare) -> str:
    return "all people" if row.column is None else f"{row.column}: {row.label}"


IMPLIED = (
    Column("Group", _group, is_text=True),
    Column("Of people", lambda row: percent(row.people)),
    Column("Share", lambda row: percent(row.share)),
)
"""Columns of the table of the true shares of an outcome."""


def simulation_text(rows: Sequence[SimulationRow], simulation: Simulation, seed: int) -> str:
    """The table of a simulated survey, with shares in percent and means in their own units."""
    tests = "Rejected: surveys whose interval lies above a share of 0"
    if simulation.compare is not None:
        tests += f"; of a difference, those with p below {1 - rows[0].conf_level:.2g}"
    said = [
        f"{rows[0].repetitions} surveys of {simulation.respondents} people, seed {seed} (PCG64: simulation only)",
        f"{100 * rows[0].conf_level:g} % {methods_text(row.method for row in rows)} intervals. MC error: standard "
        "error of the simulation itself.",
        f"{SPREAD}\n{tests}.",
    ]
    if has("empirical_se_if_split")(rows):
        said.append("If split: the spread if all people were asked all questions, at a part of epsilon each.")
    kinds = vars(simulation.misbehaviour).items()
    said += [f"{100 * share:g} % {MISBEHAVIOUR[kind]}." for kind, share in kinds if share]
    return "\n".join([text_table(SURVEYS, rows), "", *said])


def against_text(nested: NestedFormula, rows: Sequence[SimulationRow]) -> str:
    """What the likelihood-ratio test against a smaller formula tests, and how often it rejects.

    `rows` has the row of this test for each point of a curve.
    """
    rates = [row.rejected or 0.0 for row in rows]
    low, high = percent(min(rates)), percent(max(rates))
    rate = low if low == high else f"{low} to {high}"
    error = f"{'at most ' if len(rows) > 1 else ''}{100 * max(row.rejected_error or 0.0 for row in rows):.1f} points"
    if nested.is_null:
        what = "false positives, because with the given effects the smaller formula is true"
    else:
        what = "the power to find the effects of what it leaves out, as a whole"
    terms = ", ".join(nested.terms) + (" together" if len(nested.terms) > 1 else "")
    return (
        f"Against {nested.formula}: likelihood-ratio test of {terms} ({counted(nested.df, 'degree')} of freedom). "
        f"It rejects in {rate} of the samples at the significance level {1 - rows[0].conf_level:.2g} (Monte Carlo "
        f"standard error {error}): {what}."
    )


def _by_test(rows: Sequence[SimulationRow]) -> str:
    """By which test coefficients are called significant: that of the p-value beside their intervals."""
    methods = {row.method for row in rows if row.statistic == "coefficient"}
    names = {"profile": "likelihood-ratio tests", "wald": "Wald tests"}
    return f" by {' or '.join(names[each] for each in sorted(methods))}" if methods and methods <= names.keys() else ""


def power_text(found: Sequence[Power], study: Study, repetitions: int, seed: int) -> str:
    """The table of a simulated analysis over the samples of a study, and the true shares that the study implies.

    `found` has the power at each point of a curve.
    """
    rows = [row for each in found for row in each.rows]
    tests = [
        against_text(nested, here)
        for nested in found[0].against
        if (here := [row for row in rows if row.test == nested.test])
    ]
    implied = study.implied_shares
    shares = []
    if implied:
        option = f"{study.outcome}: {study.questions[study.outcome].labels[1]}"
        sentence = IMPLIED_SHARES if "Intercept" in study.coefficients else WITHOUT_INTERCEPT
        shares = ["", sentence.format(option), text_table(IMPLIED, implied)]
    return "\n".join(
        [
            text_table(SAMPLES, rows),
            "",
            f"{repetitions} samples each, seed {seed} (PCG64: simulation only). {rows[0].question}",
            SPREAD,
            f"Rejected: samples with p below {1 - rows[0].conf_level:.2g}{_by_test(rows)}, the power where there is an "
            f"effect; its Monte Carlo standard error is at most {50 / math.sqrt(repetitions):.1f} points.",
            *tests,
            *shares,
        ]
    )


def cautions(found: Sequence[Power]) -> list[str]:
    """Sentences on samples that were refused, estimated under a prior, or without an estimate."""
    said = []
    for each in found:
        here = f"Caution: {counted(each.rows[0].respondents, 'respondent')}: " if each.rows else "Caution: "
        for sentence, times in each.failures.items():
            said.append(f"{here}{counted(times, 'sample')} of {each.repetitions} refused: {sentence}")
        for sentence, times in each.priors.items():
            said.append(
                f"{here}in {counted(times, 'sample')} of {each.repetitions} {sentence}, which pulls effects "
                "towards 0; --penalty none fits without it"
            )
        lost = each.repetitions - sum(each.failures.values()) - min((row.repetitions for row in each.rows), default=0)
        if lost:
            said.append(f"{here}{counted(lost, 'sample')} of {each.repetitions} without every estimate")
    return said
