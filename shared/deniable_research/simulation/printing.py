"""Simulations for people to read: a row for each figure, and what its columns mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from deniable.output import number, percent
from deniable.table import format_table
from deniable_research.output import counted
from deniable_research.simulation.figures import SimulationRow
from deniable_research.simulation.power import Power
from deniable_research.simulation.simulate import Simulation

SPREAD = "Spread: standard deviation of the estimates; stated: root mean square of the standard errors beside them."

Cells = list[tuple[str, str]]
"""A line of a table: headings with what stands below."""


def simulation_text(rows: Sequence[SimulationRow], simulation: Simulation, seed: int) -> str:
    """How the published figures of a survey behave, in the unit of each: percent, or that of a mean."""
    by_cohort, is_split = simulation.compare is not None, rows[0].empirical_se_if_split is not None
    lines = []
    for row in rows:
        form, fine = (number, _fine) if row.statistic == "mean" else (percent, partial(percent, digits=2))
        cohort: Cells = [("cohort", row.cohort or "")] if by_cohort else []
        split: Cells = [("if split", form(row.empirical_se_if_split))] if is_split else []
        lines.append(
            [
                *(("question", row.question), ("option", row.option or row.statistic), *cohort),
                *(*_estimates(row, form, fine), *split, ("stated", form(row.stated_se))),
                *(("coverage", percent(row.coverage)), ("MC error", percent(row.coverage_error))),
                *(("width", form(row.mean_width)), ("rejected", percent(row.rejected))),
            ]
        )
    tests = "Rejected: surveys whose interval lies above a share of 0"
    if by_cohort:
        tests += f"; of a difference, those with p below {1 - rows[0].conf_level:.2g}"
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    said = [
        f"{rows[0].repetitions} surveys of {simulation.respondents} people, seed {seed} (PCG64: simulation only)",
        f"{100 * rows[0].conf_level:g} % intervals ({methods}). MC error: standard error of the simulation itself.",
        f"{SPREAD}\n{tests}.",
    ]
    if is_split:
        said.append("If split: the spread if all people were asked all questions, at a part of epsilon each.")
    kinds = vars(simulation.misbehaviour).items()
    said += [f"{100 * share:g} % {MISBEHAVIOUR[kind]}." for kind, share in kinds if share]
    return "\n".join([_table(lines, 2 + by_cohort), "", *said])


def power_text(rows: Sequence[SimulationRow], repetitions: int, seed: int) -> str:
    """How the figures of an analysis behave over the samples of a study."""
    varied = any(row.epsilon is not None for row in rows)
    lines = [
        [
            ("figure", row.option or row.statistic),
            *([("epsilon", number(row.epsilon))] if varied else []),
            *(("n", str(row.respondents)), *_estimates(row, number, _fine), ("stated", number(row.stated_se))),
            *(("coverage", percent(row.coverage)), ("rejected", percent(row.rejected))),
        ]
        for row in rows
    ]
    return "\n".join(
        [
            _table(lines, 1),
            "",
            f"{repetitions} samples each, seed {seed} (PCG64: simulation only). {rows[0].question}",
            SPREAD,
            f"Rejected: samples with p below {1 - rows[0].conf_level:.2g}, the power where there is an effect.",
        ]
    )


def cautions(found: Sequence[Power]) -> list[str]:
    """What the rows do not show: samples that were refused, estimated under a prior, or gave no estimate."""
    said = []
    for each in found:
        here = f"Caution: {counted(each.rows[0].respondents, 'respondent')}: " if each.rows else "Caution: "
        for sentence, times in each.failures.items():
            said.append(f"{here}{counted(times, 'sample')} of {each.repetitions} refused: {sentence}")
        for sentence, times in each.priors.items():
            said.append(
                f"{here}in {counted(times, 'sample')} of {each.repetitions} {sentence}, which pulls effects "
                "towards 0; --penalty none does without"
            )
        lost = each.repetitions - sum(each.failures.values()) - min((row.repetitions for row in each.rows), default=0)
        if lost:
            said.append(f"{here}{counted(lost, 'sample')} of {each.repetitions} without every estimate")
    return said


MISBEHAVIOUR = {
    "noncompliance": "of the people report the first option as it is, whatever the instruction",
    "denial": "of the people answer the first option, which then is randomised",
    "careless": "of the people send a report drawn uniformly from all possible ones",
}

_fine = partial(number, digits=3)
"""A bias has fewer digits than what it is of."""


def _estimates(row: SimulationRow, form: Callable[..., str], fine: Callable[..., str]) -> Cells:
    return [
        *(("truth", form(row.truth)), ("mean", form(row.mean_estimate))),
        *(("bias", fine(row.bias)), ("MC error", fine(row.bias_error)), ("spread", form(row.empirical_se))),
    ]


def _table(lines: Sequence[Cells], names: int) -> str:
    """The first columns are names, the others numbers."""
    header = [heading for heading, _ in lines[0]]
    return format_table(header, [[cell for _, cell in line] for line in lines], right=header[names:])
