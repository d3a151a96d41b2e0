"""`deniable invite`."""

from __future__ import annotations

import click


@click.group()
def invite() -> None:
    """Invite people to a survey."""
