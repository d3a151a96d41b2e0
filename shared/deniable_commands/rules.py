"""Commands whose options have rules: which go together, and the sentence for those that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

Rule = Callable[[frozenset[str]], str | None]
"""What is wrong with the options that were typed, or None."""


def goes_with(needed: str, *options: str, because: str = "") -> Rule:
    """Each option needs another one.

    >>> goes_with("--map", "--scale", "--legend")(frozenset({"--scale"}))
    '--scale and --legend go with --map'
    """
    verb = "goes" if len(options) == 1 else "go"
    sentence = f"{' and '.join(options)} {verb} with {needed}{because}"
    return lambda given: sentence if given.intersection(options) and needed not in given else None


def excludes(one: str, other: str) -> Rule:
    """Two options that do not go together.

    >>> excludes("--from", "--skip")(frozenset({"--from", "--skip"}))
    '--skip does not go with --from'
    """
    return lambda given: f"{other} does not go with {one}" if {one, other} <= given else None


def at_most_one(*options: str, sentence: str = "") -> Rule:
    """Options of which one may be given.

    >>> at_most_one("--db", "--url")(frozenset({"--db", "--url"}))
    '--db and --url: give one of them'
    """
    said = sentence or f"{' and '.join(options)}: give one of them"
    return lambda given: said if len(given.intersection(options)) > 1 else None


def exactly_one(*options: str, sentence: str) -> Rule:
    """Options of which one must be given."""
    return lambda given: sentence if len(given.intersection(options)) != 1 else None


def all_or_none(*options: str) -> Rule:
    """Options that are given together.

    >>> all_or_none("--roster", "--column")(frozenset({"--column"}))
    '--roster and --column go together'
    """
    sentence = f"{' and '.join(options)} go together"
    return lambda given: sentence if 0 < len(given.intersection(options)) < len(options) else None


class RuledCommand(click.Command):
    """A command that checks its rules before it runs."""

    def __init__(self, *args: Any, rules: Sequence[Rule] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.rules = tuple(rules)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or raise a UsageError with the sentence of the first rule that is broken."""
        # What stands in the environment is for whichever command has a use for it, and breaks no rule.
        typed = frozenset(
            name
            for each in self.get_params(ctx)
            if each.name and ctx.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
            for name in each.opts
        )
        for rule in self.rules:
            if sentence := rule(typed):
                raise click.UsageError(sentence, ctx)
        return self.run(ctx)

    def run(self, ctx: click.Context) -> Any:
        """Run the command, whose rules hold."""
        return super().invoke(ctx)
