"""The common part of the commands of ``deniable analyze``: options that describe a file, and ways to show results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError, ReportError, SurveyError
from deniable.installing import install_hint
from deniable.survey.document import Survey
from deniable.table import printable
from deniable_commands.rules import RuledCommand, excludes, goes_with
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import FILE, NEW_FILE, format_option, plot_option, size_options
from deniable_research.commands.plotting import AskedSize
from deniable_research.engine import EngineReports, Source, open_source
from deniable_research.engine.sources import EMBEDDED
from deniable_research.engine.tallies import survey_of
from deniable_research.files import Layout, Table, quick_question, read_layout
from deniable_research.files.estimating import cautions
from deniable_research.files.labels import Names, labelled_notes
from deniable_research.files.layout import MISSING
from deniable_research.files.paper_table import PAPERS, PaperTable, check_paper, save_paper
from deniable_research.files.pooling import pooled_table
from deniable_research.files.reading import Columns
from deniable_research.files.samples import SamplingColumns, read_margins, replicate_columns
from deniable_research.files.saving import save_results
from deniable_research.hosts import HOSTS, looks_like, read_export
from deniable_research.output import counted, rows_csv, to_json
from deniable_research.pictures import check_picture, save_picture
from deniable_research.regression.term_labels import NO_LABELS, Labels
from deniable_research.web import is_url
from deniable_statistics.authoring.authoring import read_any_survey
from deniable_statistics.commands.options import misbehaviour_options, params_of, with_options
from deniable_statistics.data.writing import WRITERS, WRITTEN, check_suffix
from deniable_statistics.published.picture_size import PictureSize
from deniable_statistics.published.revision import Pool, twice_sentence, versions_of
from deniable_statistics.robustness.misbehaviour import AMONG, Misbehaving
from deniable_statistics.sampling import LONELY, METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FileReports:
    """The reports of a file, with the methods of `EngineReports`, so that commands take either."""

    table: Table

    @property
    def layout(self) -> Layout:
        """The layout of the file."""
        return self.table.layout

    @property
    def names(self) -> Names:
        """The questions and columns of the file."""
        return Names(self.table.layout, tuple(self.table.columns))

    def together(self, _names: Sequence[str]) -> Table:
        """The whole table; an engine would count these questions and columns."""
        return self.table

    def apart(self, names: Sequence[str], _by: str | None = None) -> list[tuple[tuple[str, ...], Table]]:
        """The whole table with all of these questions; an engine would count a table for each of them."""
        return [(tuple(names), self.table)]

    def of_formula(self, _formula: str) -> Table:
        """The whole table; an engine would count the columns of the formula."""
        return self.table


Reports = FileReports | EngineReports


@dataclass(frozen=True)
class Output(AskedSize):
    """The options of every analysis that say how its results are shown.

    Attributes
    ----------
    form : {"table", "csv", "json"}
    confidence_level : float
    picture, to : Path or None
        Files to which the chart and the rows are written.
    labels : mapping of str to str
        Texts in the place of names of questions and columns, in the chart and in a table for a paper.
    """

    form: str
    confidence_level: float
    picture: Path | None
    to: Path | None
    labels: Labels

    @property
    def is_paper(self) -> bool:
        """Whether the file for the rows is a table for a paper."""
        return self.to is not None and self.to.suffix.lower() in PAPERS

    def check(self, data: Path) -> None:
        """Refuse a file that cannot be written, or is the one that is read, before anything is computed."""
        size = self.size
        if self.picture is not None:
            check_picture(self.picture, size)
        if self.to is None:
            return
        if self.to.suffix.lower() not in {*WRITERS, *PAPERS}:
            raise ParameterError(f"file: must end in {', '.join([*WRITERS, *PAPERS])}, got {self.to.name!r:.80}")
        (check_paper if self.is_paper else check_suffix)(self.to)
        # samefile, because links and relative paths are other names of one file.
        if self.to.exists() and data.is_file() and self.to.samefile(data):
            raise click.BadParameter("must be another file than the data", param_hint="--to")

    def show(
        self,
        rows: Sequence[Any],
        row_type: Any,
        document: Mapping[str, Any],
        doubts: Sequence[str],
        chart: Callable[[Labels, PictureSize], Figure],
        paper: Callable[[Labels], PaperTable],
        notes: Sequence[str],
        text: Callable[[], str] | None = None,
    ) -> None:
        """Save, print and draw rows: as a table, as CSV, or as JSON, which is ``document`` with the cautions.

        Cautions (``doubts``) are shown in every format. A table for a paper has ``notes`` below it, too; a terminal
        shows ``text`` in its place if that is given. The functions ``chart`` and ``paper`` get the labels, which are
        none for a terminal.
        """
        if self.to is not None and self.is_paper:
            save_paper(paper(self.labels).noted(labelled_notes([*notes, *doubts], self.labels)), self.to)
        elif self.to is not None:
            analysis = f"deniable analyze {click.get_current_context().info_name}"
            save_results(self.to, analysis, rows, row_type, document, doubts)
        if self.form == "json":
            click.echo(to_json({"cautions": list(doubts), **document}))
        elif self.form == "csv":
            click.echo(rows_csv(rows, row_type), nl=False)
        else:
            click.echo(str(paper(NO_LABELS)) if text is None else text())
        # JSON holds them; below a CSV they would be rows of it, so there they go to standard error.
        for doubt in doubts if self.form != "json" else ():
            click.echo(f"Caution: {printable(doubt)}", err=self.form == "csv")
        if self.picture is not None:
            save_picture(self.picture, lambda: chart(self.labels, self.size), self.size)


def link_hint(link: str) -> str:
    """What to do with the link of a survey where a file of reports is expected."""
    return (
        f"must be a file of reports, got a link; 'deniable estimate {link}' prints the results of a survey, and "
        f"'deniable export {link} --to reports.csv' downloads its reports"
    )


class _DataPath(click.Path):
    """The path of an existing file or folder; an error says what to do with a link."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, if it is no link."""
        if is_url(value):
            self.fail(link_hint(value), param, ctx)
        return super().convert(value, param, ctx)


_SOURCE = params_of(
    click.argument("data", type=_DataPath(exists=True, path_type=Path)),
    click.option(
        "--from",
        "source",
        metavar="SOURCE",
        help=(
            "Where to read the reports, however many there are, instead of DATA: a folder written by 'deniable "
            "export'; a folder, file or pattern of Parquet, CSV or JSONL; the address of an export, a "
            "file or a collector's survey; or table:NAME in the engine. The engine does the counting and "
            "returns only counts. Needs the extra engine."
        ),
    ),
    click.option(
        "--engine",
        metavar="ENGINE",
        envvar="DENIABLE_ENGINE",
        show_envvar=True,
        help="With --from: duckdb (the default), spark, spark://host:port, or an ibis connection URL.",
    ),
    click.option(
        "--survey",
        metavar="FILE",
        type=FILE,
        help=(
            "The survey that the reports belong to, as TOML or as published JSON. An exported folder "
            "already contains it."
        ),
    ),
    click.option(
        "--column",
        "renamed",
        metavar="QUESTION=COLUMN",
        multiple=True,
        help=(
            "With --survey: the column in another tool's export that holds a question. Other questions "
            "are read from the columns that have their ids, if there are any."
        ),
    ),
    click.option(
        "--pool",
        "earlier",
        metavar="DATA SURVEY",
        nargs=2,
        type=FILE,
        multiple=True,
        help=(
            "With --survey, if it revises an earlier survey: the reports and the survey of that one, to "
            "analyse both together."
        ),
    ),
    click.option(
        "--host",
        type=click.Choice(list(HOSTS)),
        help=(
            "With --survey: DATA is an export from this tool, whose forms asked the questions. For "
            "jsPsych it can also be a folder with one file per person."
        ),
    ),
    click.option(
        "--person",
        metavar="COLUMN",
        help=(
            "With --host: the column that identifies the person, if a person has several rows. By "
            "default the tool's own identifier."
        ),
    ),
    click.option(
        "--design",
        metavar="FILE",
        type=FILE,
        help="A description of data from elsewhere, as TOML; see 'deniable analyze --help'.",
    ),
    click.option(
        "--question",
        "lines",
        metavar="LINE",
        multiple=True,
        help='A short description of one question: "rrt_q1: forced-response truth=2/3 codes=yes:1,no:2".',
    ),
    click.option("--weights", metavar="COLUMN", help="Sampling weights."),
)

_SAMPLING = params_of(
    click.option("--strata", metavar="COLUMN", help="Strata of the sample."),
    click.option(
        "--cluster",
        metavar="COLUMN",
        help="Primary sampling units (clusters): rows in the same unit are not independent.",
    ),
    click.option(
        "--population",
        metavar="COLUMN|NUMBER",
        help=(
            "Number of primary sampling units in the population of each stratum, for the "
            "finite-population correction. The units drawn must have been surveyed completely."
        ),
    ),
    click.option(
        "--lonely",
        type=click.Choice(LONELY),
        help="How to treat strata that contain a single sampling unit; by default the command fails.",
    ),
    click.option(
        "--replicates",
        metavar="COLUMNS",
        help="Replicate weights: a range such as w1..w80, or names separated by commas.",
    ),
    click.option(
        "--replicate-method", type=click.Choice(METHODS), help="The method that produced the replicate weights."
    ),
    click.option("--replicate-scale", type=float, help="Instead of a method: the factor for each squared deviation."),
    click.option("--replicate-fay", type=float, help="Fay's coefficient, with --replicate-method fay."),
    click.option(
        "--df",
        "degrees_of_freedom",
        type=float,
        help="Degrees of freedom with replicate weights; by default their number minus 1.",
    ),
)
"""Options of the sampling design; each has the name of the design file's key that it replaces."""

_ROWS = params_of(
    click.option(
        "--margins",
        metavar="FILE",
        type=FILE,
        help=(
            "Known population totals, as CSV with the columns column,label,total. The weights are calibrated to them."
        ),
    ),
    click.option(
        "--missing",
        metavar="TEXT",
        multiple=True,
        help="A value that means missing, in addition to an empty field, NA and NaN.",
    ),
    click.option(
        "--skip",
        type=click.IntRange(0),
        default=0,
        help="Number of rows below the header that are not data; 2 for Qualtrics.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="The delimiter of the CSV file; by default comma, semicolon or tab, whichever the header uses.",
    ),
)


def _output() -> list[click.Parameter]:
    """The options of what is printed, drawn and written."""
    papers = f" Or a table for a paper: {', '.join(PAPERS)} (.docx needs the extra files)."
    return params_of(
        format_option,
        click.option(
            "--confidence",
            "confidence_level",
            type=LEVEL,
            default=0.95,
            show_default=True,
            help="Confidence level of the intervals.",
        ),
        plot_option("the estimates with their intervals"),
        *size_options,
        click.option(
            "--to", metavar="FILE", type=NEW_FILE, help=f"Write the results as well, with labels: {WRITTEN}.{papers}"
        ),
        click.option(
            "--label",
            "labels",
            metavar="COLUMN=TEXT",
            multiple=True,
            callback=_read_labels,
            help="What a table for a paper and a plot call a question or column, such as affair=Infidelity. May be "
            "repeated.",
        ),
    )


def _read_labels(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, equals, text = (part.strip() for part in each.partition("="))
        if not (name and equals and text):
            raise click.BadParameter(f'must be like affair="Infidelity, past year", got {each!r:.80}')
        if name in found:
            raise click.BadParameter(f"must be given once for {name!r:.80}, got it twice")
        found[name] = text
    return found


def _for_papers_or_plots(given: frozenset[str]) -> str | None:
    if "--label" not in given or "--plot" in given or is_to_paper():
        return None
    return f"--label goes with a table for a paper, --to {', '.join(PAPERS)}, or with --plot"


def is_to_paper() -> bool:
    """Whether the command that runs writes a table for a paper."""
    to: Path | None = click.get_current_context().params["to"]
    return to is not None and to.suffix.lower() in PAPERS


class AnalysisCommand(RuledCommand):
    """A command with the argument DATA, the options that describe it and the options of results.

    Its function gets the reports as ``reports``, and the `Output` as ``output``. With --from, which names the reports
    instead, there is no argument DATA.
    """

    def __init__(self, *args: Any, params: list[click.Parameter], **settings: Any) -> None:
        rules = (
            goes_with("--from", "--engine"),
            excludes("--from", "--skip"),
            excludes("--from", "--host"),
            goes_with("--survey", "--column"),
            goes_with("--survey", "--pool"),
            *(excludes("--pool", other) for other in ("--from", "--column", "--host")),
            goes_with("--survey", "--host"),
            goes_with("--host", "--person"),
            excludes("--host", "--skip"),
            _for_papers_or_plots,
            goes_with("--plot", "--width", "--height", "--font-size", "--dpi"),
            *settings.pop("rules", ()),
        )
        self.outputs = _output()
        every = [*_SOURCE, *_SAMPLING, *_ROWS, *params, *self.outputs]
        super().__init__(*args, params=every, rules=rules, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for --from before arguments get their values."""
        # Later is too late: by then the first question would have been taken for DATA.
        ctx.meta["from"] = any(each == "--from" or each.startswith("--from=") for each in args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The arguments and options; without DATA if --from is given."""
        every = super().get_params(ctx)
        return [each for each in every if each.name != "data"] if ctx.meta.get("from") else every

    def run(self, ctx: click.Context) -> Any:
        """Open the reports that the options name, and call the function with them."""

        # Functions get two objects instead of two dozen values, so these leave the context's parameters.
        def taken(params: Sequence[click.Parameter]) -> dict[str, Any]:
            return {str(each.name): ctx.params.pop(str(each.name), None) for each in params}

        output, drawn, said = Output(**taken(self.outputs)), taken(_SAMPLING), taken([*_SOURCE, *_ROWS])
        ctx.invoke(output.check, said["data"] or Path(said["source"] or ""))
        try:
            reports = ctx.invoke(_open, drawn=drawn, **said)
            reports.names.checked(output.labels)
            ctx.params |= {"reports": reports, "output": output}
            return super().run(ctx)
        # Libraries are loaded when a command runs, so that a missing extra is found out here.
        except ModuleNotFoundError as error:
            raise click.ClickException(f"this analysis needs {error.name}; {install_hint('research')}") from None


def _open(
    *,
    data: Path | None,
    source: str | None,
    engine: str | None,
    survey: Path | None,
    renamed: tuple[str, ...],
    earlier: tuple[tuple[Path, Path], ...],
    host: str | None,
    person: str | None,
    design: Path | None,
    lines: tuple[str, ...],
    weights: str | None,
    drawn: Mapping[str, Any],
    margins: Path | None,
    missing: tuple[str, ...],
    skip: int,
    delimiter: str | None,
) -> Reports:
    """The reports that the options name."""
    # A shell does not turn \t into a tab, and few people know how to type one.
    separator = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    opened = None if source is None else open_source(source, engine or EMBEDDED, separator)
    columns: Columns | None = None
    pool = None if survey is None or not earlier else _pool(survey, [each for _, each in earlier])
    if pool is not None:
        layout = Layout.of_survey(pool.survey)
    elif host is not None and data is not None and survey is not None:
        columns, layout = _exported(data, host, separator, person, survey, renamed)
    else:
        layout = _layout(opened, survey, renamed, design, lines)
    if weights is not None:
        layout = replace(layout, weights=weights)
    layout = replace(layout, sampling=_sampling(layout.sampling, drawn, margins)).with_missing(missing)
    reports: Reports
    if opened is not None:
        reports = EngineReports(opened, layout.among(opened.columns))
        access = None if opened.export is None else opened.export.survey.access
    else:
        assert data is not None
        if pool is not None:
            table = _pooled(pool, _in_order(pool, data, earlier), layout, separator, skip)
        else:
            table = _read(data, layout, separator, skip) if columns is None else Table.of(columns, layout)
        reports, access = FileReports(table), table.access
    # To stderr, so that what is piped on holds results alone.
    if access is not None:
        click.echo(f"Each row is a report; {ONE_REPORT[access]}", err=True)
    return reports


def _exported(
    data: Path, host: str, separator: str | None, person: str | None, survey: Path, renamed: Sequence[str]
) -> tuple[Columns, Layout]:
    """The columns of another tool's own export, and their layout; what was left out of it is said."""
    export = read_export(data, host, delimiter=separator, person=person)
    for note in export.rows.notes:
        click.echo(f"{data.name}: {note}", err=True)
    return export.of(read_any_survey(survey.read_bytes(), survey.parent), dict(map(_pair, renamed)))


def _pool(newest: Path, others: Sequence[Path]) -> Pool:
    """The versions of a survey, of which every one but the newest has its file."""
    given = {each.id: each for each in map(_survey_of, others)}

    # A version names the one that it revises, so the chain is walked from the newest back.
    def fetch(survey_id: str) -> Survey:
        if survey_id not in given:
            raise SurveyError(
                f"--pool: must give the reports and the survey of {survey_id} too, which a version revises"
            )
        return given[survey_id]

    versions = versions_of(_survey_of(newest), fetch)
    if strangers := given.keys() - {each.id for each in versions}:
        raise SurveyError(f"--pool: survey {min(strangers)} is not one that {newest.name} revises")
    return Pool(versions)


def _survey_of(file: Path) -> Survey:
    return read_any_survey(file.read_bytes(), file.parent)


def _in_order(pool: Pool, newest: Path, earlier: Sequence[tuple[Path, Path]]) -> list[Path]:
    """The files of reports, in the order of the versions."""
    files = {_survey_of(survey).id: data for data, survey in earlier} | {pool.newest.id: newest}
    return [files[each.id] for each in pool.versions]


def _pooled(pool: Pool, files: Sequence[Path], layout: Layout, separator: str | None, skip: int) -> Table:
    """The table of the reports of all versions; says what was left out, and what it takes for granted."""
    # Those of every file are added again for each version.
    missing = tuple(text for text in layout.questions[0].missing if text not in MISSING)
    tables = [
        _read(file, Layout.of_survey(survey).with_missing(missing), separator, skip)
        for file, survey in zip(files, pool.versions, strict=True)
    ]
    if pool.left_out:
        click.echo(f"Not pooled, because not the same in every version: {', '.join(pool.left_out)}", err=True)
    click.echo(f"Caution: {twice_sentence([table.people for table in tables])}", err=True)
    return pooled_table(pool, tables, layout)


def _read(data: Path, layout: Layout, separator: str | None, skip: int) -> Table:
    """The table of a file; an error says if the file looks like the export of a tool that can be read by itself."""
    try:
        if data.is_dir():
            raise ReportError(f"{data.name}: must be a file, got a folder")
        return Table.read(data, layout, delimiter=separator, skip=skip)
    except ReportError as error:
        if (host := looks_like(data)) is None:
            raise
        raise ReportError(f"{error}; it looks like an export of {HOSTS[host].title}, read by --host {host}") from None


def _layout(
    opened: Source | None, survey: Path | None, renamed: Sequence[str], design: Path | None, lines: Sequence[str]
) -> Layout:
    """The layout that one of three options describes, or the export itself."""
    options = {"--survey": survey, "--design": design, "--question": lines}
    said = [name for name, given in options.items() if given]
    if len(said) > 1:
        chosen = "; to choose questions, write their ids behind DATA" if lines else ""
        raise click.UsageError(f"give only one of --survey, --design and --question, got {' and '.join(said)}{chosen}")
    # An export has its survey beside, and a survey that is named too must be that one: `survey_of` compares them.
    if not (said or (opened and opened.export)):
        raise click.UsageError("say what the columns hold: give one of --survey, --design and --question")
    if design is not None:
        return read_layout(design.read_bytes())
    if lines:
        return Layout(tuple(map(quick_question, lines)))
    asked = None if survey is None else read_any_survey(survey.read_bytes(), survey.parent)
    asked = asked if opened is None else survey_of(opened, asked)
    assert asked is not None
    return Layout.of_survey(asked, dict(map(_pair, renamed)))


def _sampling(said: SamplingColumns, drawn: Mapping[str, Any], margins: Path | None) -> SamplingColumns:
    """The sampling columns of a design file, with those of the options in their place."""
    given = {key: value for key, value in drawn.items() if value is not None}
    if "replicates" in given:
        given["replicates"] = replicate_columns(given["replicates"])
    if "replicate_scale" in given:
        given["replicate_scale"] = (given["replicate_scale"],)  # one for all; a design file may name one for each
    if margins is not None:
        given["margins"] = read_margins(margins)
    return replace(said, **given)


def _pair(text: str) -> tuple[str, str]:
    question, equals, column = text.partition("=")
    if not equals or not question or not column:
        raise click.BadParameter(f"must be like affair=Q7, got {text!r:.80}", param_hint="--column")
    return question.strip(), column.strip()


suspicion_options = with_options(
    misbehaviour_options(several=True),
    click.option(
        "--among", type=click.Choice(AMONG), help="The population that the bounds refer to; by default everybody."
    ),
)

SUSPICION_RULE = goes_with("--misbehaving", "--misbehaviour", "--among")
"""The kind of misbehaviour needs a share of people who misbehave."""


def suspected(
    misbehaving: float | None, misbehaviour: tuple[str, ...] = (), among: str | None = None
) -> Misbehaving | None:
    """The suspected misbehaviour that the options describe; None if they suppose none."""
    # `SUSPICION_RULE` has refused the other two options by then.
    if misbehaving is None:
        return None
    return Misbehaving(misbehaving, misbehaviour or ("anything",), among or AMONG[0])


class QuestionAnalyses(NamedTuple):
    """The results of an analysis that takes one question at a time.

    Attributes
    ----------
    rows, doubts : list
        Rows of all questions, and cautions.
    dropped : dict of str to int
        Number of rows without a report, by question.
    table : Table
        The table of the first question on an engine; the table of the file.
    """

    rows: list[Any]
    doubts: list[str]
    dropped: dict[str, int]
    table: Table


def analyse_apart(
    reports: Reports,
    questions: Sequence[str],
    analyse: Callable[[Table, Sequence[str]], Sequence[Any]],
    by: str | None = None,
) -> QuestionAnalyses:
    """Analyse questions: all at once in a file, one after the other on an engine."""
    # An engine counts equal rows, and rows of many questions are seldom equal.
    parts = reports.apart(questions, by)
    found = QuestionAnalyses([], [], {}, parts[0][1])
    for names, table in parts:
        found.dropped.update(say_dropped(table, names))
        found.rows.extend(analyse(table, names))
        found.doubts.extend(each for each in cautions(table, names, by) if each not in found.doubts)
    return found


def say_dropped(table: Table, questions: Sequence[str]) -> dict[str, int]:
    """Print to stderr how many rows each question leaves out, and return these numbers by question."""
    arms = [arm for name in questions for arm in table.layout.arms(name)]
    # People in other arms were not asked this one, so that they do not lack a report to it.
    dropped = {
        arm.name: table.dropped(arm.name) - (0 if arm.arm is None else table.count(~table.asked(arm.name)))
        for arm in arms
    }
    say_asked(table, [arm.name for arm in arms])
    for name, rows in dropped.items():
        # Where devices ask some questions only, a row without a report is no gap: `say_asked` tells the number.
        if rows and table.layout.question(name).share_asked == 1:
            click.echo(f"{name}: {counted(rows, 'row')} of {table.people} without a report left out", err=True)
    return dropped


def say_asked(table: Table, questions: Sequence[str]) -> None:
    """Print to stderr how many people were asked each question that not everybody was asked."""
    for name in questions:
        question = table.layout.question(name)
        if question.share_asked < 1 or question.arm is not None:
            click.echo(f"{name}: asked of {table.count(table.answered(name))} of {table.people}", err=True)
