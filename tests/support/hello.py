"""A command that nobody lists by hand, for the test that one needs its file and its entry point alone."""

from __future__ import annotations

import click


@click.command()
def hello() -> None:
    """Greet whoever asks."""
    click.echo("Hello.")
