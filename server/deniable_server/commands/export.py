"""``deniable export``"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import click

from deniable.commands.main import example
from deniable.data.folder import Row, check_folder, write_folder
from deniable.data.manifest import FORMATS
from deniable.data.scripts import r_script, stata_script
from deniable.data.survey_data import reports_data
from deniable.data.whole import replace_file
from deniable.data.writing import WRITERS, check_suffix, write_data_set
from deniable.errors import ParameterError
from deniable_server.commands import options
from deniable_server.commands.survey import existing, open_store
from deniable_server.location import Location


@click.command(
    epilog=example(
        "deniable export ID --db deniable.db --to reports.dta",
        "deniable export ID --db deniable.db --to reports.csv --scripts",
        "deniable export ID --db deniable.db --to exports/ --format parquet --by-cohort",
    )
)
@click.argument("survey_id", metavar="ID")
@options.database
@click.option(
    "--to",
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    required=True,
    help=f"What to write: a file, {', '.join(WRITERS)}; or with --format a folder, new or empty.",
)
@click.option(
    "--scripts", is_flag=True, help="Write an R script and a Stata do-file that estimate from the CSV, and the CSV."
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Write a folder of parts, for more reports than memory holds."
)
@click.option("--by-cohort", is_flag=True, help="With --format: a folder for each cohort, such as cohort=web.")
def export(survey_id: str, database: Location, to: Path, scripts: bool, form: str | None, by_cohort: bool) -> None:
    """Write the noisy reports of a survey to a file, with labels, or to a folder.

    A row for each report that results show, in the order of their random ids, as reports.csv of the collector has them.
    Labels say what each number stands for: it is what a device sent, not what anybody answered. The scripts have the
    name of the file, and give shares with standard errors of yes-no, k-ary and subset questions and of ticked boxes.

    With --format the folder gets the survey as it was published, the reports in parts, and manifest.json with the rows
    and the SHA-256 of each, also while a collector runs. 'deniable analyze ... --from FOLDER' checks and reads it.
    """
    if form is None:
        if by_cohort:
            raise click.UsageError("--by-cohort goes with --format")
        if to.is_dir():
            raise click.UsageError(f"--to {str(to)!r} is a folder; say with --format what is to be in it")
        check_suffix(to)
    else:
        if scripts:
            raise click.UsageError("--scripts goes with a file, without --format")
        check_folder(to, form)
    store = open_store(existing(database))
    state = store.state(survey_id)
    if state.survey.retention == "tallies":
        raise ParameterError(f"survey {survey_id}: keeps no reports once they are counted; see 'deniable estimate'")
    if state.hidden_because:
        raise ParameterError(f"survey {survey_id}: {state.hidden_because}")
    if form is not None:
        with ExitStack() as reading:
            released = reading.enter_context(store.released(state.survey))
            rows = itertools.chain(released.rows, _finally(reading.close))
            counts = {cohort: tally.n for cohort, tally in released.tallies.items()}
            manifest = write_folder(state.survey, rows, to, form, by_cohort=by_cohort, expected=counts)
        click.echo(f"{to}: {manifest.rows:,} reports")
        return
    data = reports_data(state.survey, store.reports(state.survey))
    table = to.with_suffix(".csv")
    texts = {".R": r_script, ".do": stata_script} if scripts else {}
    written = {to.with_suffix(suffix): script(state.survey, table.name) for suffix, script in texts.items()}
    for path in dict.fromkeys([to, table] if scripts else [to]):
        write_data_set(data, path)
        click.echo(f"{path}: {len(data):,} reports")
    for path, text in written.items():
        replace_file(path, functools.partial(Path.write_text, data=text, encoding="utf-8", newline=""))
        click.echo(path)


def _finally(close: Callable[[], None]) -> Iterator[Row]:
    """No rows: the database is let go of as soon as all have been read, before their parts are hashed."""
    close()
    yield from ()
