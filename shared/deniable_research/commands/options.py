"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.commands.files import FILE, NEW_FILE
from deniable_statistics.commands.options import format_option

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURES = (".svg", ".png")


def plot_option(drawn: str) -> Callable[[Any], Any]:
    """``--plot FILE``, whose help says what is drawn; the command gets it as ``picture``."""
    return click.option(
        "--plot", "picture", metavar="FILE", type=NEW_FILE, callback=_checked, help=f"Draw {drawn}, as .svg or .png."
    )


def _checked(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix not in PICTURES:
        raise click.BadParameter(f"must end in {' or '.join(PICTURES)}, got {path.name!r}")
    return path


__all__ = ["FILE", "NEW_FILE", "format_option", "plot_option"]
