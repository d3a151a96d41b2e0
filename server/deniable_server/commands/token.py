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


@click.group()
def token() -> None:
    """Create, list and revoke the tokens that allow publishing over HTTP."""


@token.command(epilog=example("deniable token create ada --days 30 --db deniable.db"))
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(tokens.SCOPES),
    default="publish",
    show_default=True,
    help=(
        "publish: publish surveys, list, close and invite to these, and read their results. operate: the same for all "
        "surveys. read: read results that need a token. metrics: read /metrics. relay: pass on sealed reports, for a "
        "place."
    ),
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=tokens.DEFAULT_DAYS,
    show_default=True,
    help="Number of days after which the token expires.",
)
@options.database
def create(name: str, scope: str, days: int, database: Location) -> None:
    """Create a token. It is shown only once and stored only as a hash.

    The database must exist: a token in another one than the collector's would be refused.
    """
    with operation("create_token", database, token=name, scope=scope, days=days):
        click.echo(tokens.create_token(open_store(database), name, scope, days))


@token.command("list", epilog=example("deniable token list --db deniable.db"))
@options.database
def list_(database: Location) -> None:
    """List tokens by name. The tokens themselves are not stored."""
    rows = [(row.name, row.scope, row.expires_on) for row in open_store(database).tokens()]
    click.echo(format_table(("name", "scope", "expires on"), rows))


@token.command(epilog=example("deniable token revoke ada --db deniable.db"))
@click.argument("name")
@options.database
def revoke(name: str, database: Location) -> None:
    """Revoke a token, effective immediately."""
    with operation("revoke_token", database, token=name):
        tokens.revoke_token(open_store(database), name)
    click.echo(f"The token {name} is revoked.")
