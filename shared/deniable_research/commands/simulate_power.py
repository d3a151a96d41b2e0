"""What ``deniable simulate --formula`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from deniable.output import number, percent
from deniable.table import format_table
from deniable_research.output import counted, records, rows_csv, to_json
from deniable_research.pictures import save_picture
from deniable_research.simulation.charts import power_chart
from deniable_research.simulation.figures import SimulationRow
from deniable_research.simulation.power import Power
from deniable_research.simulation.study import Study

SPREAD = "Spread: standard deviation of the estimates; stated: root mean square of the standard errors beside them."


def print_power(found: Sequence[Power], study: Study, seed: int, form: str, picture: Path | None) -> None:
    """Rows as a table, as CSV or as JSON, and the picture of power if one is wanted."""
    rows = [row for each in found for row in each.rows]
    if form == "csv":
        click.echo(rows_csv(rows, SimulationRow), nl=False)
    elif form == "json":
        document = {
            "formula": study.formula,
            "coefficients": study.coefficients,
            "seed": seed,
            "repetitions": found[0].repetitions,
            "failures": [each.failures for each in found],
            "priors": [each.priors for each in found],
            "misbehaviour": vars(study.misbehaviour),
            "figures": records(rows, SimulationRow),
        }
        click.echo(to_json(document))
    else:
        click.echo(_as_table(rows, found[0].repetitions, seed))
    for sentence in _cautions(found):
        click.echo(sentence, err=True)
    if picture is not None:
        save_picture(picture, lambda: power_chart(rows))


def _as_table(rows: Sequence[SimulationRow], repetitions: int, seed: int) -> str:
    epsilon = ["epsilon"] if any(row.epsilon is not None for row in rows) else []
    header = [
        "figure",
        *epsilon,
        "n",
        "truth",
        "mean",
        "bias",
        "MC error",
        "spread",
        "stated",
        "coverage",
        "rejected",
    ]
    lines = [
        [
            row.option or row.statistic,
            *([number(row.epsilon)] if epsilon else []),
            str(row.respondents),
            *map(number, (row.truth, row.mean_estimate)),
            *(number(each, 3) for each in (row.bias, row.bias_error)),
            *map(number, (row.empirical_se, row.stated_se)),
            percent(row.coverage),
            percent(row.rejected),
        ]
        for row in rows
    ]
    return "\n".join(
        [
            format_table(header, lines, right=header[1:]),
            "",
            f"{repetitions} samples each, seed {seed} (PCG64: simulation only). {rows[0].question}",
            SPREAD,
            f"Rejected: samples with p below {1 - rows[0].conf_level:.2g}, the power where there is an effect.",
        ]
    )


def _cautions(found: Sequence[Power]) -> list[str]:
    said = []
    for each in found:
        here = f"{counted(each.rows[0].respondents, 'respondent')}: " if each.rows else ""
        for sentence, times in each.failures.items():
            said.append(f"Caution: {here}{counted(times, 'sample')} of {each.repetitions} refused: {sentence}")
        for sentence, times in each.priors.items():
            said.append(
                f"Caution: {here}in {counted(times, 'sample')} of {each.repetitions} {sentence}, which pulls effects "
                "towards 0; --penalty none does without"
            )
        lost = each.repetitions - sum(each.failures.values()) - min((row.repetitions for row in each.rows), default=0)
        if lost:
            said.append(f"Caution: {here}{counted(lost, 'sample')} of {each.repetitions} without every estimate")
    return said
