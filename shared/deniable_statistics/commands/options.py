"""Options of every command that estimates shares, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from deniable_commands.numbers import Number
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, INTERVAL_METHODS
from deniable_statistics.estimates.fakes import HIGHEST_FAKE
from deniable_statistics.published.published_rows import TARGETS
from deniable_statistics.robustness.misbehaviour import HIGHEST_SHARE, KINDS

Decorator = Callable[[Any], Any]

format_option = click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)


def with_options(*options: Decorator) -> Decorator:
    """Give a command several options, which its help lists in this order."""

    def decorate(command: Any) -> Any:
        # Decorators are applied from the last to the first, and click lists the one that is applied last at the top.
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def params_of(*options: Decorator) -> list[click.Parameter]:
    """The parameters that options make, for classes of commands that add options of their own."""
    # click makes a parameter only by decorating a command, so a command that does nothing collects them.
    return click.command()(with_options(*options)(lambda: None)).params


interval_options = with_options(
    click.option(
        "--method",
        type=click.Choice(INTERVAL_METHODS),
        default=DEFAULT_METHOD,
        show_default=True,
        metavar="NAME",
        help=f"Method of the intervals: {', '.join(INTERVAL_METHODS)}.",
    ),
    click.option(
        "--target",
        type=click.Choice(TARGETS),
        default=TARGETS[0],
        show_default=True,
        help=(
            "What the standard errors and intervals refer to. For respondents they are exact up to 400 "
            "reports, and approximate above."
        ),
    ),
    click.option("--simultaneous", is_flag=True, help="Simultaneous intervals for all options of a question."),
)


def misbehaviour_options(several: bool) -> Decorator:
    """The options for the largest share of people who misbehave, and for one or `several` kinds of misbehaviour."""
    return with_options(
        click.option(
            "--misbehaving",
            metavar="SHARE",
            type=Number(0, HIGHEST_SHARE),
            help=(
                "Assume that up to this share of the respondents do not follow the design: print bounds, "
                "and intervals that remain valid."
            ),
        ),
        click.option(
            "--misbehaviour",
            type=click.Choice(list(KINDS)),
            multiple=several,
            help="How they deviate; by default in any way. With a device, the only possible way is lying.",
        ),
    )


# Fakes are reports without a person, so that their share is apart from that of people who misbehave.
assume_fake_option = click.option(
    "--assume-fake",
    metavar="SHARE",
    type=Number(0, HIGHEST_FAKE),
    help=(
        "Assume that up to this share of the reports is fake: intervals that remain valid whatever the "
        "fake reports say."
    ),
)
