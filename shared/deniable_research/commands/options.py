"""Options that several commands of this package share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from deniable_commands.files import FILE, NEW_FILE
from deniable_research.commands.plotting import plot_option, size_options
from deniable_statistics.commands.options import format_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Request = TypeVar("Request")


def refuse(request: Request, forbidden: Iterable[tuple[Callable[[Request], Any], str]]) -> None:
    """Raise a click.UsageError with the sentence of the first predicate that is true for a request."""
    for holds, sentence in forbidden:
        if holds(request):
            raise click.UsageError(sentence)


__all__ = ["FILE", "NEW_FILE", "format_option", "plot_option", "size_options"]
