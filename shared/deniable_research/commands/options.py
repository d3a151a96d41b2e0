"""Options that several commands of this package share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deniable.commands.files import FILE, NEW_FILE
from deniable_statistics.commands.options import format_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Request = TypeVar("Request")
PICTURES = (".svg", ".png")
"""Suffixes of the files that a chart can be written to."""


def plot_option(drawn: str) -> Callable[[Any], Any]:
    """The option ``--plot FILE``, whose help says what is drawn; the command gets the path as ``picture``."""
    return click.option(
        "--plot", "picture", metavar="FILE", type=NEW_FILE, callback=_checked, help=f"Draw {drawn}, as .svg or .png."
    )


def refuse(request: Request, forbidden: Iterable[tuple[Callable[[Request], Any], str]]) -> None:
    """Raise a click.UsageError with the sentence of the first predicate that is true for a request."""
    for holds, sentence in forbidden:
        if holds(request):
            raise click.UsageError(sentence)


def _checked(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    # Before the command computes anything: a chart is drawn last, and its name may be wrong.
    if path is not None and path.suffix not in PICTURES:
        raise click.BadParameter(f"must end in {' or '.join(PICTURES)}, got {path.name!r}")
    return path


__all__ = ["FILE", "NEW_FILE", "format_option", "plot_option"]
