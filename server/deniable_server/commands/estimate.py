"""``deniable estimate``"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
from click.core import ParameterSource

from deniable.access.words import ONE_REPORT
from deniable.commands.main import example
from deniable.commands.numbers import Number
from deniable.errors import DeniableError, ParameterError
from deniable.installing import install_hint
from deniable.output import percent
from deniable_server.access import remote
from deniable_server.commands import options
from deniable_server.commands.survey import existing, open_store
from deniable_server.location import Location
from deniable_server.people.links import id_at
from deniable_server.results.query import HIGHEST_SERVED, INTERVAL_METHODS, EstimatesQuery
from deniable_server.results.service import estimates_document, estimates_of
from deniable_server.results.work import estimates_csv
from deniable_statistics.data.survey_data import estimates_data
from deniable_statistics.data.whole import replace_file
from deniable_statistics.data.writing import check_suffix, write_data_set
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.estimates.fakes import HIGHEST_FAKE
from deniable_statistics.intervals.interval import LOWEST_LEVEL
from deniable_statistics.published.columns import BOUNDS, COHORT, OPTION, QUESTION, ROBUST, N, figures, has, text_table
from deniable_statistics.published.published_rows import TARGETS
from deniable_statistics.robustness.misbehaviour import HIGHEST_SHARE, KINDS


@click.command(
    epilog=example(
        "deniable estimate ID --db deniable.db",
        "deniable estimate ID --url http://127.0.0.1:8000 --by cohort --format csv > estimates.csv",
        "deniable estimate ID --db deniable.db --to estimates.dta",
        "deniable estimate ID --db deniable.db --assume-fake 0.02",
        "deniable estimate --from exports/ --by cohort",
    )
)
@click.argument("survey_id", metavar="[ID|LINK]", required=False)
@options.database
@options.url
@options.token
@click.option(
    "--from",
    "source",
    metavar="SOURCE",
    help="Instead of a database: a folder of 'deniable export', or other rows as 'deniable analyze' takes them, which "
    "an engine counts, which takes the extra engine.",
)
@click.option(
    "--engine",
    metavar="ENGINE",
    envvar="DENIABLE_ENGINE",
    show_envvar=True,
    help="With --from: duckdb (the default), spark, spark://host:port, or an address of ibis.",
)
@click.option(
    "--survey",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --from: whose reports they are, TOML or published JSON. An export has it beside.",
)
@click.option("--by", type=click.Choice(["cohort"]), help="One group of rows for each cohort.")
@click.option("--confidence", type=Number(LOWEST_LEVEL, HIGHEST_SERVED), default=0.95, show_default=True)
@click.option(
    "--method",
    type=click.Choice(INTERVAL_METHODS),
    default=DEFAULT_METHOD,
    show_default=True,
    metavar="NAME",
    help=f"Method of the intervals: {', '.join(INTERVAL_METHODS)}.",
)
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default=TARGETS[0],
    show_default=True,
    help="Whose shares the errors are for.",
)
@click.option("--simultaneous", is_flag=True, help="Intervals that hold all options of a question at once.")
@click.option(
    "--misbehaving",
    metavar="SHARE",
    type=Number(0, HIGHEST_SHARE),
    help="Suppose that up to this share of the people does not do as told: bounds, and intervals that hold anyway.",
)
@click.option(
    "--misbehaviour", type=click.Choice(list(KINDS)), help="What they do: by default anything. A device lets them lie."
)
@click.option(
    "--assume-fake",
    metavar="SHARE",
    type=Number(0, HIGHEST_FAKE),
    help="Suppose that up to this share of the reports is fake: intervals that hold whatever these say.",
)
@options.to
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
def estimate(
    survey_id: str | None,
    database: Location,
    url: str | None,
    token: str | None,
    source: str | None,
    engine: str | None,
    file: Path | None,
    to: Path | None,
    form: str,
    **query: Any,
) -> None:
    """Estimate the true shares, with standard errors and confidence intervals.

    From the tallies of a database, from a running collector, or with --from from the rows of an export, where ID may be
    left out. The same reports give the same figures. With --to the file gets them as well.
    """
    _check_places(url, source, engine, file)
    if to is not None:
        check_suffix(to)
    if query["misbehaviour"] is None:
        del query["misbehaviour"]
    elif query["misbehaving"] is None:
        raise click.UsageError("--misbehaviour goes with --misbehaving")
    if query["misbehaving"] is not None and query["target"] == "respondents":
        raise click.UsageError("--misbehaving goes with --target population")
    if query["misbehaving"] is not None and query["assume_fake"] is not None:
        raise click.UsageError("--assume-fake and --misbehaving: give one of the two")
    if survey_id is not None:
        survey_id = id_at(survey_id, url)
    if source is not None:
        result = _counted(source, engine, file, survey_id, EstimatesQuery.model_validate(query))
    elif survey_id is None:
        raise click.UsageError("Missing argument 'ID'.")
    elif url:
        result = remote.estimates(url, token, survey_id, query)
    else:
        result = estimates_document(open_store(existing(database)), survey_id, EstimatesQuery.model_validate(query))
    if to is not None:
        _save(to, result)
    if form == "csv" and (said := not_shown(result)):
        click.echo(f"{said[0].upper()}{said[1:]}.", err=True)
    click.echo(FORMATS[form](result), nl=form != "csv")


def _check_places(url: str | None, source: str | None, engine: str | None, file: Path | None) -> None:
    """Raise a UsageError unless options name one place and go together."""
    context = click.get_current_context()
    if source is None:
        if file is not None or (engine and context.get_parameter_source("engine") is ParameterSource.COMMANDLINE):
            raise click.UsageError("--engine and --survey go with --from")
    elif url or context.get_parameter_source("database") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--from, --db and --url: give one of them")


def _counted(
    source: str, engine: str | None, file: Path | None, survey_id: str | None, query: EstimatesQuery
) -> dict[str, Any]:
    """Estimates from rows that an engine counts; whoever can do that registers as an entry point."""
    counting = next(iter(entry_points(group="deniable.tallies")), None)
    if counting is None:
        raise DeniableError(f"--from: needs what counts rows on engines; {install_hint('engine')}")
    survey, tallies = counting.load()(source, engine, file)
    if survey_id not in (None, survey.id):
        raise ParameterError(f"survey {survey_id}: must be that of the reports, {survey.id}")
    return estimates_of(survey, tallies, query)


def _save(to: Path, result: dict[str, Any]) -> None:
    as_printed = FORMATS.get(to.suffix.lower().removeprefix("."))
    if as_printed is not None:
        replace_file(to, lambda part: part.write_text(as_printed(result), encoding="utf-8", newline=""))
    else:
        write_data_set(estimates_data(f"Survey {result['survey']}", result["estimates"], result["access"]), to)


def not_shown(result: Mapping[str, Any]) -> str | None:
    """What a collector's estimates say of reports that they do not show: how many there are, or that there may be some.

    >>> not_shown({"more": "others may have come", "waiting": [{"cohort": None, "n": 3}, {"cohort": "web", "n": 180}]})
    '183 reports wait for a release: 3 without a cohort, 180 of web'
    >>> not_shown({"more": "others may have come", "waiting": None}), not_shown({})
    ('others may have come', None)
    """
    waiting = result.get("waiting")
    if not waiting:
        return result.get("more")
    n = sum(each["n"] for each in waiting)
    of = [f"{each['n']} of {each['cohort']}" if each["cohort"] else f"{each['n']} without a cohort" for each in waiting]
    has_cohorts = any(each["cohort"] for each in waiting)
    by_cohort = f": {', '.join(of)}" if has_cohorts else ""
    return f"{n} report{' waits' if n == 1 else 's wait'} for a release{by_cohort}"


def _as_table(result: dict[str, Any]) -> str:
    rows = result["estimates"]
    notes = [f"{said[0].upper()}{said[1:]}." for said in (result.get("note"), not_shown(result)) if said]
    flags = [
        f"Attention, {', '.join(filter(None, [row['question'], row['option'], row['cohort'], row['flag']]))}"
        for row in rows
        if row["flag"]
    ]
    return "\n\n".join([_table_of(rows), f"{_summary(result)}; {ONE_REPORT[result['access']]}", *notes, *flags])


def _table_of(rows: Sequence[dict[str, Any]]) -> str:
    """Estimates as text; a column that says nothing is left out."""
    return text_table(_COLUMNS, [SimpleNamespace(**row) for row in rows])


def _is_robust(rows: Sequence[dict[str, Any]]) -> bool:
    return any(row.get("misbehaving") is not None for row in rows)


def _summary(result: dict[str, Any]) -> str:
    """How many reports, and what the intervals are."""
    rows = result["estimates"]
    released = " released" if result.get("more") or result.get("waiting") else ""
    said = [f"{result['n']} report{'' if result['n'] == 1 else 's'}{released}"]
    if released and not result["n"]:
        said = ["no reports released yet"]
    if not rows:
        return f"{said[0]}, no cohorts"
    methods = ", ".join(dict.fromkeys(row["method"] for row in rows))
    level = f"{100 * rows[0]['conf_level']:g} % intervals ({methods})"
    if (fake := rows[0].get("assumed_fake")) is not None:
        level += f" that hold if up to {percent(fake)} of all reports are fake"
    said.append(level)
    if _is_robust(rows):
        said.append(f"robust if at most {percent(rows[0]['misbehaving'])} of the people misbehave")
    return ", ".join(said)


_COLUMNS = (
    QUESTION,
    OPTION,
    COHORT,
    replace(N, is_shown=lambda rows: has("cohort")(rows) or len({row.n for row in rows}) > 1),  # devices may draw
    *figures(),
    BOUNDS,
    ROBUST,
)

FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "table": _as_table,
    "csv": lambda result: "".join(estimates_csv(result)),
    "json": lambda result: json.dumps(result, indent=1),
}
