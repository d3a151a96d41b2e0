"""``deniable export``"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import click

from deniable.errors import CollectorError, ParameterError, ReportError
from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable_commands.main import example
from deniable_commands.rules import RuledCommand, at_most_one, excludes, goes_with
from deniable_server.access import remote
from deniable_server.commands import options
from deniable_server.commands.survey import open_store
from deniable_server.commands.waiting import not_shown
from deniable_server.location import Location
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from deniable_statistics.data.data_set import DataSet, Kind, Variable
from deniable_statistics.data.folder import Row, check_folder, write_folder
from deniable_statistics.data.manifest import FORMATS
from deniable_statistics.data.reports_csv import reports_from_csv
from deniable_statistics.data.survey_data import report_variables, reports_data, with_boxes
from deniable_statistics.data.whole import replace_file
from deniable_statistics.data.writing import WRITTEN, check_suffix, write_data_set
from deniable_statistics.published.csv_cells import report_cells
from deniable_statistics.published.revision import Pool, versions_of

LABELLED = (".sav", ".dta", ".xlsx")
"""Suffixes of the files that people open in a program of statistics or a spreadsheet."""


@click.command(
    cls=RuledCommand,
    rules=[
        at_most_one("--db", "--url"),
        goes_with("--format", "--by-cohort"),
        # A folder and scripts are of a survey that was published, and versions together are none.
        excludes("--pooled", "--format"),
        excludes("--pooled", "--scripts"),
    ],
    epilog=example(
        "deniable export ID --db deniable.db --to reports.dta",
        "deniable export ID --db deniable.db --to reports.csv --scripts",
        "deniable export ID --db deniable.db --to exports/ --format parquet --by-cohort",
        "deniable export https://collector.example/s/ID --to reports.sav",
        "deniable export ID --db deniable.db --pooled --to all-versions.csv",
    ),
)
@click.argument("survey_id", metavar="ID|LINK")
@options.database
@options.url
@options.token
@click.option(
    "--to",
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    required=True,
    help=f"What to write: a file, {WRITTEN}; or with --format a folder, new or empty.",
)
@click.option(
    "--scripts",
    is_flag=True,
    help="Also write R, Stata, SPSS and Python scripts that compute the estimates, the CSV file that they read, and "
    "regression.R with the codebook that it reads.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help=(
        "Write a folder with the reports in several files, for more reports than fit in memory. Parquet "
        "needs the extra files."
    ),
)
@click.option("--by-cohort", is_flag=True, help="With --format: one folder per cohort, such as cohort=web.")
@click.option(
    "--pooled",
    is_flag=True,
    help="Also write the reports of earlier surveys that this one revises, for the questions that it shares with them.",
)
def export(
    survey_id: str,
    database: Location,
    url: str | None,
    token: str | None,
    to: Path,
    scripts: bool,
    form: str | None,
    by_cohort: bool,
    pooled: bool,
) -> None:
    """Write the noisy reports of a survey to a file, with labels, or to a folder.

    The file has one row for each released report, in the order of the random ids, like the collector's reports.csv.
    The labels remind readers that a row holds what a device sent, not what anybody answered. With --scripts,
    scripts of the same name compute shares and means with standard errors, and with intervals if a share depends on
    a single count. regression.R fits regressions in R to the CSV file, with the codebook of the same name.

    With --url the reports come from a running collector, and each is checked as it arrives. If the results need a
    token, pass it with --token.

    With --format the command writes a folder with the published survey, the reports in several files, and
    manifest.json with the number of rows and the SHA-256 of each file. This also works while a collector is
    running. 'deniable analyze ... --from FOLDER' checks and reads the folder.

    With --db it needs the extra server.
    """
    survey_id, url = options.survey_at(survey_id, url)
    # Before anything is fetched: a download of hours must not end at a name that cannot be written.
    if form is None:
        if to.is_dir():
            raise click.UsageError(f"--to {str(to)!r} is a folder; say with --format what is to be in it")
        check_suffix(to)
        if scripts and to.stem.lower() == Path(REGRESSION).stem:
            raise click.UsageError(f"--to {to.name!r} would give a script the name of {REGRESSION}; take another name")
    else:
        if scripts:
            raise click.UsageError("--scripts goes with a file, without --format")
        check_folder(to, form)
    if pooled:
        data, asked = _pooled(database, url, token, survey_id)
        _write(data, asked, to)
        click.echo(_said(to, len(data)))
        return
    with _found(database, url, token, survey_id) as found:
        if found.not_shown:
            click.echo(f"{found.not_shown[0].upper()}{found.not_shown[1:]}.", err=True)
        if form is not None:
            manifest = write_folder(found.survey, found.rows, to, form, by_cohort=by_cohort, expected=found.counts)
            click.echo(_said(to, manifest.rows))
            return
        data = reports_data(found.survey, (_report(found.survey, row) for row in found.rows))
    table = to.with_suffix(".csv")
    written = _scripts(found.survey, table) if scripts else {}
    for path in dict.fromkeys([to, table] if scripts else [to]):
        _write(data, found.survey, path)
        click.echo(_said(path, len(data)))
    for path, content in written.items():
        replace_file(path, functools.partial(Path.write_bytes, data=content))
        click.echo(path)


def _scripts(survey: Survey, table: Path) -> dict[Path, bytes]:
    """The scripts for the CSV of a survey's reports, and the codebook that one of them reads."""
    # Loaded here: they need numpy, and help is there without it.
    from deniable_statistics.archive.codebook import SurveyCodebook
    from deniable_statistics.archive.codebook_markdown import to_markdown
    from deniable_statistics.archive.supplements import SCRIPTS

    found = {table.with_suffix(suffix): script(survey, table.name).encode() for suffix, script in SCRIPTS.items()}
    codebook = to_markdown(SurveyCodebook.of_survey(survey)).encode()
    return found | {table.with_name(REGRESSION): regression_script(), table.with_suffix(".md"): codebook}


def _write(data: DataSet, survey: Survey, path: Path) -> None:
    """Write reports; files with labels have a column for each box, other files are like the collector's reports.csv."""
    write_data_set(with_boxes(data, survey) if path.suffix.lower() in LABELLED else data, path)


class _Found(NamedTuple):
    """The released reports of a survey.

    Attributes
    ----------
    survey : Survey
    rows : iterator of Row
    counts : mapping of str or None to int, or None
        The number of reports in each cohort, to compare the rows with; None if it is not known in advance.
    not_shown : str or None
        A sentence about reports that wait for a release; None if there are none.
    """

    survey: Survey
    rows: Iterator[Row]
    counts: Mapping[str | None, int] | None
    not_shown: str | None


def _found(database: Location, url: str | None, token: str | None, survey_id: str) -> AbstractContextManager[_Found]:
    return _at_collector(url, token, survey_id) if url else _in_database(database, survey_id)


def _pooled(database: Location, url: str | None, token: str | None, survey_id: str) -> tuple[DataSet, Survey]:
    """The reports of a survey and of all that it revises, to the questions that all of them ask alike, and these."""
    fetch: Callable[[str], Survey]
    fetch = functools.partial(remote.survey, url) if url else open_store(database).survey
    pool = Pool(versions_of(fetch(survey_id), fetch))
    versions: dict[str, str] = {}
    rows: list[list[Any]] = []
    for place, version in enumerate(pool.versions):
        names = pool.ids_in(place)
        with _found(database, url, token, version.id) as found:
            for row in found.rows:
                report = _report(found.survey, row)
                if versions.setdefault(report.id, version.id) != version.id:
                    raise ReportError(
                        f"id: must be in the reports of one version alone, got one in those of {versions[report.id]} "
                        f"and {version.id}"
                    )
                values = {name: report.values[then] for name, then in names.items()}
                cells = report_cells(pool.survey, Report(report.id, report.cohort, values))
                rows.append([report.id, report.cohort, *cells, version.id])
    said = Variable("version", "Address of the survey that was answered", Kind.CATEGORY)
    return DataSet.of_rows(pool.newest.title, [*report_variables(pool.survey), said], rows), pool.survey


@contextmanager
def _in_database(database: Location, survey_id: str) -> Iterator[_Found]:
    """The released reports in a database, from one snapshot."""
    # Loads what a collector needs; from an address it can be had without.
    from deniable_server.results.service import waiting_rows

    store = open_store(database)
    state = store.state(survey_id)
    _refuse_without_rows(state.survey)
    if state.hidden_because:
        raise ParameterError(f"survey {survey_id}: {state.hidden_because}")
    waits = not_shown({"waiting": waiting_rows(store, state.survey)})
    with ExitStack() as reading:
        released = reading.enter_context(store.released(state.survey))
        counts = {cohort: tally.n for cohort, tally in released.tallies.items()}
        yield _Found(state.survey, itertools.chain(released.rows, _finally(reading.close)), counts, waits)


@contextmanager
def _at_collector(url: str, token: str | None, survey_id: str) -> Iterator[_Found]:
    """The released reports of a running collector.

    They must be as many as its estimates count, so that a download that broke off never passes for a whole one.
    """
    survey = remote.survey(url, survey_id)
    _refuse_without_rows(survey)
    estimates = _shown(url, token, survey)
    before = estimates["n"]
    with remote.report_lines(url, token, survey_id) as lines:

        def rows() -> Iterator[Row]:
            n = 0
            try:
                for each in reports_from_csv(lines, survey):
                    n += 1
                    yield each.id, each.cohort, *each.values.values()
            except ReportError as error:
                raise CollectorError(f"{url}: does not send what it should: {error}") from None
            # A release during the download may add reports, which the estimates then count too.
            if n != before and not before < n <= _shown(url, token, survey)["n"]:
                raise CollectorError(
                    f"{url}: must send the {before} reports that its estimates count, got {n}; try again"
                )

        yield _Found(survey, rows(), None, not_shown(estimates))


def _shown(url: str, token: str | None, survey: Survey) -> dict[str, Any]:
    """The collector's present estimates, whose `n` is the number of released reports."""
    found = remote.estimates(url, token, survey.id, {})
    if found["note"]:
        raise ParameterError(f"survey {survey.id}: {found['note']}")
    return found


def _said(path: Path, n: int) -> str:
    return f"{path}: {n:,} report{'' if n == 1 else 's'}"


def _refuse_without_rows(survey: Survey) -> None:
    if survey.retention == "tallies":
        raise ParameterError(f"survey {survey.id}: keeps no reports once they are counted; see 'deniable estimate'")


def _report(survey: Survey, row: Row) -> Report:
    report_id, cohort, *values = row
    return Report(
        str(report_id),
        cast("str | None", cohort),
        dict(zip([each.id for each in survey.questions], values, strict=True)),
    )


def _finally(close: Callable[[], None]) -> Iterator[Row]:
    """No rows; closes the snapshot as soon as the rows before have been read, not after their parts are hashed."""
    # A long snapshot keeps the database from removing old copies of rows.
    close()
    yield from ()
