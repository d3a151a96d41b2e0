"""`deniable issuer`."""

from __future__ import annotations

import click


@click.group()
def issuer() -> None:
    """Not written yet."""
