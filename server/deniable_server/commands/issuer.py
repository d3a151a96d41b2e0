"""``deniable issuer key | add | reissue | serve``"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deniable import Survey, parse_survey, read_survey
from deniable.access.issuer import Issuer
from deniable_commands.main import example
from deniable_server.access import remote
from deniable_server.commands import options
from deniable_server.commands.serve import flags_of_settings, run
from deniable_server.commands.survey import open_or_make, open_store
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.people.links import id_at, read_place


@click.group()
def issuer() -> None:
    """Sign blind tokens: generate keys, and run an issuer that is separate from the collector."""


@issuer.command(epilog=example("deniable issuer key --url https://issuer.example --db issuer.db"))
@options.database
@click.option(
    "--url", help="The address of the issuer, such as https://issuer.example. Without it, the collector signs."
)
def key(database: Location, url: str | None) -> None:
    """Generate a key for one survey, and print the table [issuer] for its TOML file.

    The private key stays in the database: the collector's, or the issuer's if it has an address of its own.
    """
    from deniable_server.signing import PrivateKey

    made = PrivateKey.generate()
    table = Issuer(made.public.der.hex(), url)
    with operation("issuer_key", database):
        open_or_make(database).add_key(made)
    click.echo(f'[issuer]\nkey = "{table.key}"')
    if table.url:
        click.echo(f'url = "{table.url}"')
    click.echo('The survey needs access = "unlinkable" above its first table as well.', err=True)


@issuer.command(
    epilog=example(
        "deniable issuer add https://collector.example/s/abcdefghijklmnopqrstuvwxyz --db issuer.db",
        "deniable issuer add my-survey.toml --db issuer.db",
    )
)
@click.argument("survey", metavar="SURVEY")
@options.database
def add(survey: str, database: Location) -> None:
    """Let an issuer sign tokens for a survey of another collector.

    SURVEY is the link of the survey, its TOML or its published document. The key must have been generated in this
    database, and must not be used for any other survey.
    """
    found = _read(survey)
    with operation("issuer_add", database, survey=found.id):
        is_new = open_store(database).publish(found, signs=True)
    if not is_new:
        click.echo("This very survey was added before.", err=True)
    click.echo(found.id)


@issuer.command(epilog=example("deniable issuer reissue abcdefghijklmnopqrstuvwxyz -n 1 --db issuer.db"))
@click.argument("survey_id", metavar="ID|LINK")
@click.option(
    "-n",
    "number",
    type=int,
    required=True,
    help="Number of additional tokens that each invitation may request: 0 to 9.",
)
@options.database
def reissue(survey_id: str, number: int, database: Location) -> None:
    """Allow people whose device lost its token to get another one.

    Somebody who has not really lost their token can then take part that many additional times, so the results
    guarantee less. Leave it at 0 unless many people ask.
    """
    survey_id = id_at(survey_id, None)
    with operation("issuer_reissue", database, survey=survey_id, reissue=number):
        open_store(database).set_reissue(survey_id, number)
    others = "1 other request" if number == 1 else f"{number} other requests"
    click.echo(f"Survey {survey_id}: each invitation may make {others} after its first.")


@issuer.command(epilog=example("deniable issuer serve --db issuer.db --port 8001"))
@flags_of_settings
def serve(**flags: Any) -> None:
    """Run an issuer until Ctrl-C. It signs tokens and accepts no reports."""
    run("Issuer", flags, is_issuer=True)


def _read(survey: str) -> Survey:
    """The survey at a link, or in a file of its TOML or published bytes."""
    # A link is checked against its hash; a file is what its author gives the operator.
    if survey.startswith(("https://", "http://")):
        collector, survey_id = read_place(survey)
        assert collector, "it is a link"
        return remote.survey(collector, survey_id)
    path = Path(survey)
    if not path.is_file():
        raise click.ClickException(f"{survey}: must be a file, or a link like https://collector.example/s/ID")
    content = path.read_bytes()
    return parse_survey(content) if content.startswith(b"{") else read_survey(content, folder=path.parent)
