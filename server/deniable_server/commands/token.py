"""``deniable token create | list | revoke``"""

from __future__ import annotations

import click

from deniable.table import format_table
from deniable_commands.main import example
from deniable_server.access import tokens
from deniable_server.commands import options
from deniable_server.commands.survey import open_store
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.people.links import id_at


@click.group()
def token() -> None:
    """Create, list and revoke the tokens that allow publishing and reading results over HTTP."""


@token.command(
    epilog=example(
        "deniable token create ada --days 30 --db deniable.db",
        "deniable token create rita --scope read --survey https://collector.example/s/ID --db deniable.db",
    )
)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(tokens.SCOPES),
    default="publish",
    show_default=True,
    help=(
        "publish: publish surveys; list and close them, invite people to them, and read their results. operate: the "
        "same for all surveys. read: read results that need a token, of the surveys that --survey names or of all. "
        "metrics: read /metrics. relay: pass on sealed reports, for a place."
    ),
)
@click.option(
    "--survey",
    "surveys",
    metavar="ID|LINK",
    multiple=True,
    help="With --scope read: the survey whose results alone the token reads. Repeat it for several; by default all.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=tokens.DEFAULT_DAYS,
    show_default=True,
    help="Number of days after which the token expires.",
)
@options.database
def create(name: str, scope: str, surveys: tuple[str, ...], days: int, database: Location) -> None:
    """Create a token. It is shown only once and stored only as a hash.

    The database must exist: a token in another one than the collector's would be refused.
    """
    # The database holds no addresses of other collectors: of a link, the id alone matters.
    ids = [id_at(each, None) for each in surveys]
    about = {"surveys": " ".join(ids)} if ids else {}
    with operation("create_token", database, token=name, scope=scope, **about, days=days):
        store = open_store(database)
        click.echo(tokens.create_token(store, name, scope, days, ids))
    for each in ids:
        if store.survey(each).readers == "public":
            click.secho(f"Note: everybody can read the results of {each}, without a token.", fg="yellow", err=True)


@token.command("list", epilog=example("deniable token list --db deniable.db"))
@options.database
def list_(database: Location) -> None:
    """List tokens by name, with the surveys to which they are limited. The tokens themselves are not stored."""
    rows = [(row.name, row.scope, row.expires_on, row.surveys) for row in open_store(database).tokens()]
    click.echo(format_table(("name", "scope", "expires on", "surveys"), rows))


@token.command(epilog=example("deniable token revoke ada --db deniable.db"))
@click.argument("name")
@options.database
def revoke(name: str, database: Location) -> None:
    """Revoke a token, effective immediately."""
    with operation("revoke_token", database, token=name):
        tokens.revoke_token(open_store(database), name)
    click.echo(f"The token {name} is revoked.")
