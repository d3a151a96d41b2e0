"""The option ``--plot``, apart from options that load numpy: ``deniable risk`` runs without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable_commands.files import NEW_FILE

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of the files that a chart can be written to."""


def plot_option(drawn: str) -> Callable[[Any], Any]:
    """The option ``--plot FILE``, whose help says what is drawn; the command gets the path as ``picture``."""
    return click.option(
        "--plot",
        "picture",
        metavar="FILE",
        type=NEW_FILE,
        callback=_checked,
        help=f"Draw {drawn}, as .svg, .png or .pdf.",
    )


def _checked(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    # Before the command computes anything: a chart is drawn last, and its name may be wrong.
    if path is not None and path.suffix not in PICTURES:
        raise click.BadParameter(f"must end in .svg, .png or .pdf, got {path.name!r}")
    return path
