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
from deniable_server.commands.survey import existing, open_store
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.people.links import id_at, read_place


@click.group()
def issuer() -> None:
    """Sign blind tokens: make keys, and run an issuer apart from the collector."""


@issuer.command(epilog=example("deniable issuer key --url https://issuer.example --db issuer.db"))
@options.database
@click.option("--url", help="Where the issuer will be reached: https://issuer.example. Without it the collector signs.")
def key(database: Location, url: str | None) -> None:
    """Make a key for one survey; prints the table [issuer] for its TOML.

    The private half stays in the database, which is the collector's, or the issuer's where it has an address.
    """
    from deniable_server.signing import PrivateKey

    made = PrivateKey.generate()
    table = Issuer(made.public.der.hex(), url)
    with operation("issuer_key", database):
        open_store(database).add_key(made)
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
    """Let an issuer sign for a survey that a collector elsewhere publishes: its link, its TOML or its published bytes.

    The key must have been made in this database, and serve no other survey.
    """
    found = _read(survey)
    with operation("issuer_add", database, survey=found.id):
        is_new = open_store(existing(database)).publish(found, signs=True)
    if not is_new:
        click.echo("This very survey was added before.", err=True)
    click.echo(found.id)


@issuer.command(epilog=example("deniable issuer reissue abcdefghijklmnopqrstuvwxyz -n 1 --db issuer.db"))
@click.argument("survey_id", metavar="ID|LINK")
@click.option("-n", "number", type=int, required=True, help="Other requests that an invitation may make: 0 to 9.")
@options.database
def reissue(survey_id: str, number: int, database: Location) -> None:
    """Let people whose device lost its token get another one.

    Whoever does not tell that a token was lost can take part as often as that and once more, so results say
    less about people: leave it at 0 unless many ask.
    """
    survey_id = id_at(survey_id, None)
    with operation("issuer_reissue", database, survey=survey_id, reissue=number):
        open_store(existing(database)).set_reissue(survey_id, number)
    others = "1 other request" if number == 1 else f"{number} other requests"
    click.echo(f"Survey {survey_id}: each invitation may make {others} after its first.")


@issuer.command(epilog=example("deniable issuer serve --db issuer.db --port 8001"))
@flags_of_settings
def serve(**flags: Any) -> None:
    """Run an issuer until Ctrl-C: it signs tokens, and takes no reports."""
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
