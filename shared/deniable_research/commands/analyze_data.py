"""What the commands of ``deniable analyze`` share: options that say what a file holds, and ways to print results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from deniable.access.words import ONE_REPORT
from deniable.commands.numbers import Number
from deniable.installing import install_hint
from deniable.output import printable
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import FILE, NEW_FILE, format_option, plot_option
from deniable_research.engine import EngineReports, open_source
from deniable_research.engine.sources import EMBEDDED
from deniable_research.engine.tallies import survey_of
from deniable_research.files import Layout, Table, quick_question, read_layout
from deniable_research.files.paper import PAPERS, check_paper
from deniable_research.files.samples import SamplingColumns, read_margins, replicate_columns
from deniable_research.files.saving import save_results
from deniable_research.output import counted, rows_csv, to_json
from deniable_research.pictures import save_picture
from deniable_research.results.reading import read_any_survey
from deniable_research.sampling import LONELY, METHODS
from deniable_statistics.data.writing import WRITTEN, check_suffix
from deniable_statistics.estimates.fakes import HIGHEST_FAKE
from deniable_statistics.published.charts import Panel, interval_chart
from deniable_statistics.robustness.misbehaviour import AMONG, HIGHEST_SHARE, KINDS, Misbehaving

Command = Callable[..., None]

_SAMPLING = {
    "strata": "strata",
    "cluster": "cluster",
    "population": "population",
    "lonely": "lonely",
    "replicates": "replicates",
    "replicate_method": "replicate_method",
    "replicate_scale": "replicate_scale",
    "replicate_fay": "replicate_fay",
    "df": "degrees_of_freedom",
}
"""Options that say how people were drawn, and the keys of a design file that do."""


@dataclass(frozen=True)
class FileReports:
    """The reports of a file, for commands that take those of an engine as well: see `EngineReports`."""

    table: Table

    @property
    def layout(self) -> Layout:
        """What its columns hold."""
        return self.table.layout

    def together(self, _names: Sequence[str]) -> Table:
        """The table; an engine counts those of some questions and columns."""
        return self.table

    def apart(self, names: Sequence[str], _by: str | None = None) -> list[tuple[tuple[str, ...], Table]]:
        """The table with all of these questions; an engine counts one for each."""
        return [(tuple(names), self.table)]

    def of_formula(self, _formula: str) -> Table:
        """The table; an engine counts the columns of a formula."""
        return self.table


Reports = FileReports | EngineReports


class DataCommand(click.Command):
    """A command whose argument DATA is left out where --from says where the reports are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for --from before arguments are given their places."""
        ctx.meta["from"] = any(each == "--from" or each.startswith("--from=") for each in args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The arguments and options, without DATA if there is --from."""
        every = super().get_params(ctx)
        return [each for each in every if each.name != "data"] if ctx.meta.get("from") else every


_DATA_OPTIONS = (
    click.argument("data", type=FILE),
    click.option(
        "--from",
        "source",
        metavar="SOURCE",
        help="Instead of DATA: a folder of 'deniable export'; a folder, file or pattern of Parquet, CSV or JSONL; the "
        "address of an export, of a file, or of a collector's survey; or table:NAME of the engine. Of any size: the "
        "engine counts, and only counts come back. It takes the extra engine.",
    ),
    click.option(
        "--engine",
        metavar="ENGINE",
        envvar="DENIABLE_ENGINE",
        show_envvar=True,
        help="With --from: duckdb (the default), spark, spark://host:port, or an address of ibis.",
    ),
    click.option(
        "--survey",
        metavar="FILE",
        type=FILE,
        help="Reports of this survey: its TOML or published JSON. An export has it beside.",
    ),
    click.option(
        "--column",
        "renamed",
        metavar="QUESTION=COLUMN",
        multiple=True,
        help="With --survey: where another tool's export keeps a question; only these are read.",
    ),
    click.option(
        "--design", metavar="FILE", type=FILE, help="Reports from elsewhere: TOML, see 'deniable analyze --help'."
    ),
    click.option(
        "--question",
        "lines",
        metavar="LINE",
        multiple=True,
        help='A question in short: "rrt_q1: forced-response truth=2/3 codes=yes:1,no:2".',
    ),
    click.option("--weights", metavar="COLUMN", help="Sampling weights."),
    click.option("--strata", metavar="COLUMN", help="Strata of the sample."),
    click.option("--cluster", metavar="COLUMN", help="Primary sampling units: rows of one are not independent."),
    click.option(
        "--population",
        metavar="COLUMN|NUMBER",
        help="Sampling units in the population of the stratum; those drawn were asked as a whole.",
    ),
    click.option(
        "--lonely", type=click.Choice(LONELY), help="What to do with strata of one sampling unit; by default fail."
    ),
    click.option("--replicates", metavar="COLUMNS", help="Replicate weights: w1..w80, or names with commas."),
    click.option("--replicate-method", type=click.Choice(METHODS), help="How they were made."),
    click.option("--replicate-scale", type=float, help="Instead: what each squared distance counts."),
    click.option("--replicate-fay", type=float, help="Fay's k, with --replicate-method fay."),
    click.option("--df", type=float, help="Degrees of freedom of replicate weights; by default their number minus 1."),
    click.option(
        "--margins",
        metavar="FILE",
        type=FILE,
        help="Known totals of the population, CSV with column,label,total: weights are fitted to them.",
    ),
    click.option("--missing", metavar="TEXT", multiple=True, help="Means nothing, besides an empty field, NA and NaN."),
    click.option(
        "--skip", type=click.IntRange(0), default=0, help="Rows below the header that are not data; Qualtrics: 2."
    ),
    click.option("--delimiter", metavar="CHARACTER", help="By default comma, semicolon or tab, as in the header."),
)

_MISBEHAVIOUR_OPTIONS = (
    click.option(
        "--misbehaving",
        metavar="SHARE",
        type=Number(0, HIGHEST_SHARE),
        help="Suppose that up to this share of the people does not do as told: bounds, and intervals that hold anyway.",
    ),
    click.option(
        "--misbehaviour",
        type=click.Choice(list(KINDS)),
        multiple=True,
        help="What they do; by default anything. Lying is all that a device leaves to them.",
    ),
    click.option("--among", type=click.Choice(AMONG), help="Whose share the bounds are for; by default everybody's."),
)

_RESULT_OPTIONS = (
    format_option,
    click.option(
        "--confidence",
        "confidence_level",
        type=LEVEL,
        default=0.95,
        show_default=True,
    ),
    plot_option("the estimates with their intervals"),
    click.option(
        "--to",
        metavar="FILE",
        type=NEW_FILE,
        help=f"Write the results as well, with labels: {WRITTEN}.",
    ),
)


def data_options(command: Command, papers: bool = False) -> Command:
    """Give a command the argument DATA and the options around it; it gets the reports that they name.

    With `papers` its results may be a table for a paper too.
    """

    @functools.wraps(command)
    def with_table(
        source: str | None,
        engine: str | None,
        survey: Path | None,
        renamed: tuple[str, ...],
        design: Path | None,
        lines: tuple[str, ...],
        weights: str | None,
        margins: Path | None,
        missing: tuple[str, ...],
        skip: int,
        delimiter: str | None,
        picture: Path | None,
        to: Path | None,
        data: Path | None = None,
        **others: Any,
    ) -> None:
        if source is None and click.get_current_context().get_parameter_source("engine") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--engine goes with --from")
        if source is not None and skip:
            raise click.UsageError("--skip does not go with --from")
        if renamed and survey is None:
            raise click.UsageError("--column goes with --survey")
        if to is not None:
            (check_paper if papers and to.suffix.lower() in PAPERS else check_suffix)(to)
            read = _file_of(data, source)
            if to.exists() and read is not None and to.samefile(read):
                raise click.BadParameter("must be another file than the data", param_hint="--to")
        opened = None if source is None else open_source(source, engine or EMBEDDED, _delimiter(delimiter))
        has_survey = opened is not None and opened.export is not None
        said = sum((survey is not None, design is not None, bool(lines)))
        if said > 1 or not (said or has_survey):
            raise click.UsageError("say what the columns hold: give one of --survey, --design and --question")
        if survey is not None or not said:
            asked = read_any_survey(survey.read_bytes()) if survey is not None else None
            if opened is not None:
                asked = survey_of(opened, asked)
            assert asked is not None
            layout = Layout.of_survey(asked, dict(map(_pair, renamed)))
        elif design is not None:
            layout = read_layout(design.read_bytes())
        else:
            layout = Layout(tuple(map(quick_question, lines)))
        if weights is not None:
            layout = replace(layout, weights=weights)
        drawn = {key: others.pop(option) for option, key in _SAMPLING.items()}
        layout = replace(layout, sampling=_sampling(layout.sampling, drawn, margins))
        try:
            layout = layout.with_missing(missing)
            reports: Reports
            if opened is not None:
                reports = EngineReports(opened, layout)
                if opened.export is not None:
                    click.echo(f"Each row is a report; {ONE_REPORT[opened.export.survey.access]}", err=True)
            else:
                assert data is not None
                table = Table.read(data, layout, delimiter=_delimiter(delimiter), skip=skip)
                if table.access is not None:
                    click.echo(f"Each row is a report; {ONE_REPORT[table.access]}", err=True)
                reports = FileReports(table)
            command(reports=reports, picture=picture, to=to, **others)
        except ModuleNotFoundError as error:
            raise click.ClickException(f"this analysis needs {error.name}; {install_hint('research')}") from None

    return _with(with_table, *_DATA_OPTIONS)


assume_fake_option = click.option(
    "--assume-fake",
    "assume_fake",
    metavar="SHARE",
    type=Number(0, HIGHEST_FAKE),
    help="Suppose that up to this share of the rows is fake: intervals that hold whatever these say.",
)


def misbehaviour_options(command: Command) -> Command:
    """Give a command the options of people who misbehave; it gets what they suppose, or None, as ``suspected``."""

    @functools.wraps(command)
    def with_suspicion(
        misbehaving: float | None, misbehaviour: tuple[str, ...], among: str | None, **others: Any
    ) -> None:
        if misbehaving is None and (misbehaviour or among):
            raise click.UsageError("--misbehaviour and --among go with --misbehaving")
        suspected = None
        if misbehaving is not None:
            suspected = Misbehaving(misbehaving, misbehaviour or ("anything",), among or AMONG[0])
        command(suspected=suspected, **others)

    return _with(with_suspicion, *_MISBEHAVIOUR_OPTIONS)


def result_options(command: Command) -> Command:
    """Give a command the options of how results look."""
    return _with(command, *_RESULT_OPTIONS)


def print_result(
    form: str,
    rows: Sequence[Any],
    row_type: Any,
    text: Callable[[], str],
    document: Mapping[str, Any],
    doubts: Sequence[str],
    to: Path | None,
) -> None:
    """Print rows as a table, as CSV, or in the document that is their JSON; doubts about them are never left out.

    The same rows go to a file, if one is wanted.
    """
    if to is not None:
        save_results(to, f"deniable analyze {click.get_current_context().info_name}", rows, row_type, document, doubts)
    if form == "json":
        click.echo(to_json({"cautions": list(doubts), **document}))
        return
    if form == "csv":
        click.echo(rows_csv(rows, row_type), nl=False)
    else:
        click.echo(text())
    for doubt in doubts:
        click.echo(f"Caution: {printable(doubt)}", err=form == "csv")


def say_dropped(table: Table, questions: Sequence[str]) -> dict[str, int]:
    """Say on stderr how many rows of each question are left out; the same by question."""
    arms = [arm for name in questions for arm in table.layout.arms(name)]
    dropped = {
        arm.name: table.dropped(arm.name) - (0 if arm.arm is None else table.count(~table.asked(arm.name)))
        for arm in arms
    }
    say_asked(table, [arm.name for arm in arms])
    for name, rows in dropped.items():
        if rows and table.layout.question(name).share_asked == 1:
            click.echo(f"{name}: {counted(rows, 'row')} of {table.people} without a report left out", err=True)
    return dropped


def say_asked(table: Table, questions: Sequence[str]) -> None:
    """Say on stderr of how many people the devices asked each question, where they asked some of them."""
    for name in questions:
        question = table.layout.question(name)
        if question.share_asked < 1 or question.arm is not None:
            click.echo(f"{name}: asked of {table.count(table.answered(name))} of {table.people}", err=True)


def draw(picture: Path | None, panels: Callable[[], Sequence[Panel]]) -> None:
    """Write the chart of panels, if one is wanted."""
    if picture is not None:
        save_picture(picture, lambda: interval_chart(panels()))


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def _sampling(said: SamplingColumns, drawn: Mapping[str, Any], margins: Path | None) -> SamplingColumns:
    """What a design file says of how people were drawn, with what options say instead."""
    given = {key: value for key, value in drawn.items() if value is not None}
    if "replicates" in given:
        given["replicates"] = replicate_columns(given["replicates"])
    if "replicate_scale" in given:
        given["replicate_scale"] = (given["replicate_scale"],)
    if margins is not None:
        given["margins"] = read_margins(margins)
    return replace(said, **given)


def _file_of(data: Path | None, source: str | None) -> Path | None:
    """The one file that is read, if it is one."""
    one = data or Path(source or "")
    return one if one.is_file() else None


def _pair(text: str) -> tuple[str, str]:
    question, equals, column = text.partition("=")
    if not equals or not question or not column:
        raise click.BadParameter(f"must be like affair=Q7, got {text!r:.80}", param_hint="--column")
    return question.strip(), column.strip()


def _delimiter(given: str | None) -> str | None:
    return {"tab": "\t", "\\t": "\t"}.get(given or "", given)


__all__ = [
    "DataCommand",
    "FileReports",
    "Reports",
    "assume_fake_option",
    "data_options",
    "draw",
    "misbehaviour_options",
    "print_result",
    "result_options",
    "say_dropped",
]
