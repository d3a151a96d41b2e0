"""``deniable estimate``"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from deniable.cli import example
from deniable.intervals import DEFAULT_METHOD, METHODS
from deniable.table import format_table
from deniable_server import remote
from deniable_server.commands import options
from deniable_server.commands.survey import existing
from deniable_server.results import estimates_csv, estimates_document, figure
from deniable_server.schemas import EstimatesQuery
from deniable_server.store import Store


@click.command(
    epilog=example(
        "deniable estimate ID --db deniable.db",
        "deniable estimate ID --url http://127.0.0.1:8000 --by cohort --format csv > estimates.csv",
    )
)
@click.argument("survey_id", metavar="ID")
@options.database
@options.url
@click.option("--by", type=click.Choice(["cohort"]), help="One group of rows for each cohort.")
@click.option(
    "--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True
)
@click.option("--method", type=click.Choice(list(METHODS)), default=DEFAULT_METHOD, show_default=True)
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
def estimate(
    survey_id: str, database: Path, url: str | None, by: str | None, confidence: float, method: str, form: str
) -> None:
    """Estimate the true shares, with standard errors and confidence intervals."""
    if url:
        result = remote.estimates(url, survey_id, by, confidence, method)
    else:
        query = EstimatesQuery.model_validate({"by": by, "confidence": confidence, "method": method})
        result = estimates_document(Store(existing(database)), survey_id, query)
    click.echo(FORMATS[form](result), nl=form != "csv")


def _as_table(result: dict[str, Any]) -> str:
    rows = result["estimates"]
    by_cohort = any(row["cohort"] for row in rows)
    header = ["question", "option", *(["cohort", "n"] if by_cohort else []), "estimate", "std. error", "interval"]
    lines = [
        [
            row["question"],
            row["option"] or row["statistic"],
            *([row["cohort"] or "-", str(row["n"])] if by_cohort else []),
            *(figure(row[key], row["statistic"]) for key in ("estimate", "std_error")),
            " to ".join(figure(row[key], row["statistic"]) for key in ("conf_low", "conf_high")),
        ]
        for row in rows
    ]
    table = format_table(header, lines, right={"n", "estimate", "std. error", "interval"})
    methods = ", ".join(dict.fromkeys(row["method"] for row in rows))
    level = f"{100 * rows[0]['conf_level']:g} % intervals ({methods})" if rows else "no cohorts"
    return f"{table}\n\n{result['n']} reports, {level}"


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "table": _as_table,
    "csv": lambda result: "".join(estimates_csv(result)),
    "json": lambda result: json.dumps(result, indent=1),
}
