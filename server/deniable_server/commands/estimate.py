"""``deniable estimate``"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from deniable import Survey
from deniable.access.words import ONE_REPORT
from deniable_commands.main import example
from deniable_commands.numbers import Number
from deniable_commands.rules import RuledCommand, at_most_one, excludes, goes_with
from deniable_server.access import remote
from deniable_server.commands import options
from deniable_server.commands.pooled import pooled_at, pooled_in
from deniable_server.commands.survey import open_store
from deniable_server.commands.waiting import not_shown
from deniable_server.location import Location
from deniable_server.results.query import HIGHEST_SERVED, EstimatesQuery
from deniable_server.results.service import estimates_document
from deniable_server.results.work import estimates_csv
from deniable_statistics.commands.options import (
    assume_fake_option,
    format_option,
    interval_options,
    misbehaviour_options,
)
from deniable_statistics.data.survey_data import estimates_data
from deniable_statistics.data.whole import replace_file
from deniable_statistics.data.writing import check_suffix, write_data_set
from deniable_statistics.intervals.interval import LOWEST_LEVEL
from deniable_statistics.published.columns import (
    BOUNDS,
    COHORT,
    OPTION,
    QUESTION,
    ROBUST,
    Column,
    N,
    figures,
    has,
    text_table,
)
from deniable_statistics.published.method_names import methods_text
from deniable_statistics.published.printed_numbers import percent
from deniable_statistics.views.few_reports import AxisOf, axes_in, few_reports, without_weak


def _refuse_rows(_context: click.Context, _option: click.Parameter, given: str | None) -> None:
    if given is not None:
        raise click.UsageError("--from: shares of rows are estimated by 'deniable analyze shares --from SOURCE'")


@click.command(
    cls=RuledCommand,
    rules=[
        goes_with("--misbehaving", "--misbehaviour"),
        at_most_one("--assume-fake", "--misbehaving", sentence="--assume-fake and --misbehaving: give one of the two"),
        # Both are about all reports of a survey, and each pooled question has as many as the versions that asked it.
        excludes("--pooled", "--assume-fake"),
        excludes("--pooled", "--target"),
    ],
    epilog=example(
        "deniable estimate ID --db deniable.db",
        "deniable estimate https://collector.example/s/ID",
        "deniable estimate https://collector.example/s/ID --by cohort --format csv > estimates.csv",
        "deniable estimate ID --db deniable.db --to estimates.dta",
        "deniable estimate ID --db deniable.db --assume-fake 0.02",
        "deniable estimate ID --db deniable.db --pooled",
    ),
)
@click.argument("survey_id", metavar="ID|LINK")
@options.database
@options.url
@options.token
@click.option("--from", "--engine", "--survey", hidden=True, is_eager=True, callback=_refuse_rows, expose_value=False)
@click.option("--by", type=click.Choice(["cohort"]), help="Estimate separately for each cohort.")
@click.option(
    "--confidence",
    type=Number(LOWEST_LEVEL, HIGHEST_SERVED),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@interval_options
@misbehaviour_options(several=False)
@assume_fake_option
@click.option(
    "--pooled",
    is_flag=True,
    help="Pool the reports with those of earlier surveys that this one revises, for questions that both have.",
)
@options.to
@format_option
def estimate(
    survey_id: str,
    database: Location,
    url: str | None,
    token: str | None,
    pooled: bool,
    to: Path | None,
    form: str,
    **query: Any,
) -> None:
    """Estimate the true shares, with standard errors and confidence intervals.

    Uses the tallies of a database or of a running collector. 'deniable analyze shares' estimates from a file of
    reports, and gives the same figures for the same reports. With --to the estimates are also written to a file.
    """
    if to is not None:
        check_suffix(to)
    # The query has a default for a key that is left out, and refuses one that is null.
    if query["misbehaviour"] is None:
        del query["misbehaviour"]
    if query["misbehaving"] is not None and query["target"] == "respondents":
        raise click.UsageError("--misbehaving goes with --target population")
    survey_id, url = options.survey_at(survey_id, url)
    # A collector refuses what it does not take; here the same model does, so both say the same.
    result = (_pooled if pooled else _estimates)(survey_id, database, url, token, query)
    if to is not None:
        _save(to, result)
    if form == "csv" and (said := not_shown(result)):
        click.echo(f"{said[0].upper()}{said[1:]}.", err=True)
    if form == "table":
        # For the range of means, which says whether the reports are too few for one.
        survey = remote.survey(url, survey_id) if url else open_store(database).survey(survey_id)
        click.echo(_as_table(result, survey))
    else:
        click.echo(FORMATS[form](result), nl=form != "csv")


def _estimates(
    survey_id: str, database: Location, url: str | None, token: str | None, query: dict[str, Any]
) -> dict[str, Any]:
    if url:
        return remote.estimates(url, token, survey_id, query)
    return estimates_document(open_store(database), survey_id, EstimatesQuery.model_validate(query))


def _pooled(
    survey_id: str, database: Location, url: str | None, token: str | None, query: dict[str, Any]
) -> dict[str, Any]:
    wanted = EstimatesQuery.model_validate(query)
    if url:
        return pooled_at(url, token, survey_id, wanted)
    return pooled_in(open_store(database), survey_id, wanted)


def _save(to: Path, result: dict[str, Any]) -> None:
    # CSV and JSON are what the command prints; statistical programs get a data set with labels.
    as_printed = FORMATS.get(to.suffix.lower().removeprefix("."))
    if as_printed is not None:
        replace_file(to, lambda part: part.write_text(as_printed(result), encoding="utf-8", newline=""))
    else:
        write_data_set(estimates_data(f"Survey {result['survey']}", result["estimates"], result["access"]), to)


def _as_table(result: dict[str, Any], survey: Survey) -> str:
    rows = [SimpleNamespace(**row) for row in result["estimates"]]
    axis = axes_in(survey)
    notes = [f"{said[0].upper()}{said[1:]}." for said in (result.get("note"), not_shown(result)) if said]
    flags = [
        f"Attention, {', '.join(filter(None, [row.question, row.option, row.cohort, row.flag]))}"
        for row in rows
        if row.flag
    ]
    few = "\n".join(few_reports(rows, axis))
    return "\n\n".join(
        [
            text_table(_columns(rows, axis), rows),
            *filter(None, [few]),
            f"{_summary(result)}; {ONE_REPORT[result['access']]}",
            *notes,
            *flags,
        ]
    )


def _is_robust(rows: Sequence[dict[str, Any]]) -> bool:
    return any(row.get("misbehaving") is not None for row in rows)


def _summary(result: dict[str, Any]) -> str:
    """The number of reports, and the level and method of the intervals, as a sentence."""
    rows = result["estimates"]
    released = " released" if result.get("more") or result.get("waiting") else ""
    said = [f"{result['n']} report{'' if result['n'] == 1 else 's'}{released}"]
    if released and not result["n"]:
        said = ["no reports released yet"]
    if not rows:
        return f"{said[0]}, no cohorts"
    level = f"{100 * rows[0]['conf_level']:g} % CI: {methods_text(row['method'] for row in rows)} intervals"
    if (fake := rows[0].get("assumed_fake")) is not None:
        level += f" that hold if up to {percent(fake)} of all reports are fake"
    said.append(level)
    if _is_robust(rows):
        said.append(f"robust if at most {percent(rows[0]['misbehaving'])} of the people misbehave")
    return ", ".join(said)


def _columns(rows: Sequence[Any], axis: AxisOf) -> tuple[Column, ...]:
    """The columns of the table; those that are empty in all rows are left out."""
    estimate, error, interval = figures()
    return (
        QUESTION,
        OPTION,
        COHORT,
        replace(N, is_shown=lambda rows: has("cohort")(rows) or len({row.n for row in rows}) > 1),  # devices may draw
        without_weak(estimate, rows, axis),
        error,
        interval,
        BOUNDS,
        ROBUST,
    )


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "csv": lambda result: "".join(estimates_csv(result)),
    "json": lambda result: json.dumps(result, indent=1),
}
