"""``deniable export``"""

from __future__ import annotations

from pathlib import Path

import click

from deniable.commands.main import example
from deniable.data.survey_data import reports_data
from deniable.data.writing import WRITERS, check_suffix, write_data_set
from deniable.errors import ParameterError
from deniable_server.commands import options
from deniable_server.commands.survey import existing, open_store


@click.command(
    epilog=example(
        "deniable export ID --db deniable.db --to reports.dta",
        "deniable export ID --db deniable.db --to reports.csv",
    )
)
@click.argument("survey_id", metavar="ID")
@options.database
@click.option(
    "--to",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help=f"What to write: {', '.join(WRITERS)}.",
)
def export(survey_id: str, database: Path, to: Path) -> None:
    """Write the noisy reports of a survey to a file, with labels.

    A row for each report that results show, in the order of their random ids, as reports.csv of the collector has them.
    Labels say what each number stands for: it is what a device sent, not what anybody answered.
    """
    check_suffix(to)
    store = open_store(existing(database))
    state = store.state(survey_id)
    if state.survey.retention == "tallies":
        raise ParameterError(f"survey {survey_id}: keeps no reports once they are counted; see 'deniable estimate'")
    if state.hidden_because:
        raise ParameterError(f"survey {survey_id}: {state.hidden_because}")
    data = reports_data(state.survey, store.reports(state.survey))
    write_data_set(data, to)
    click.echo(f"{to}: {len(data):,} reports")
