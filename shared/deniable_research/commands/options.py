"""Options that several commands have."""

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


def plot_option(drawn: str) -> Callable[[Any], Any]:
    """``--plot FILE``, whose help says what is drawn; the command gets it as ``picture``."""
    return click.option(
        "--plot", "picture", metavar="FILE", type=NEW_FILE, callback=_checked, help=f"Draw {drawn}, as .svg or .png."
    )


def refuse(request: Request, forbidden: Iterable[tuple[Callable[[Request], Any], str]]) -> None:
    """Raise a click.UsageError with the first sentence whose predicate holds of what a command is asked."""
    for holds, sentence in forbidden:
        if holds(request):
            raise click.UsageError(sentence)


def _checked(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix not in PICTURES:
        raise click.BadParameter(f"must end in {' or '.join(PICTURES)}, got {path.name!r}")
    return path


__all__ = ["FILE", "NEW_FILE", "format_option", "plot_option"]
