"""The command ``deniable``: a group whose commands the two sides bring as entry points.

Neither side is imported from here, and a side that is not installed costs its commands only. A command is loaded when
it is run, and not to be listed: some of them take a second.
"""

from __future__ import annotations

import difflib
import functools
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from deniable.errors import DeniableError, NotInstalled
from deniable.installing import extra_with, install_hint

SHORT_HELP = {
    "analyze": "Analyse a file of randomised reports, a collector's or anybody's.",
    "answer": "Answer a survey in the terminal.",
    "audit": "Look for anything in what the clients send that tells more than the survey declares.",
    "backup": "Copy the database to a new file, also while a collector uses it, and check the copy.",
    "check": "Compare every row with its checksum and every tally with a recount.",
    "codebook": "Say what each column of a file of reports holds.",
    "copy": "Copy everything from one database to another, and compare what arrived with its checksums.",
    "demo": "Real people's answers through the whole path.",
    "estimate": "Estimate the true shares, with standard errors and confidence intervals.",
    "export": "Write the noisy reports of a survey to a file, with labels, or to a folder.",
    "invite": "Invite people to a survey.",
    "issuer": "Sign blind tokens: make keys, and run an issuer apart from the collector.",
    "plan": "Say how many people a survey takes, or what so many people tell.",
    "risk": "Say what an epsilon means: how much likelier a guess about a person can become.",
    "serve": "Run the collector until Ctrl-C.",
    "simulate": "Draw whole surveys and say how well their estimates do.",
    "survey": "Check, publish, list and close surveys.",
    "token": "Make, list and revoke the tokens that may publish over HTTP.",
}
"""The first sentence of each command's help. A command that is missing here is loaded to be listed."""


class Commands(click.Group):
    """Commands found by entry point, loaded when they are needed; errors of this project become one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _entries().get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ModuleNotFoundError as error:
            return _not_installed(cmd_name, error.name or "a module")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near or not isinstance(error, click.exceptions.NoSuchCommand):
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near[0]!r}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names), default=0)
        rows = [(name, _shortened(self._sentence(ctx, name), limit)) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _sentence(self, ctx: click.Context, name: str) -> str:
        if name in SHORT_HELP:
            return SHORT_HELP[name]
        command = self.get_command(ctx, name)
        return command.get_short_help_str(1000) if command else ""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _ending_in_order():
                return super().invoke(ctx)
        except DeniableError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            raise click.ClickException(str(NotInstalled(error.name or "a module"))) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Sensitive questions, deniable answers.

    \b
    See the whole path on real data:        deniable demo
    Start a survey of your own:             deniable survey check my-survey.toml
                                            deniable survey publish my-survey.toml --db deniable.db
                                            deniable serve --db deniable.db
    """


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: what is unfinished is removed. Servers set a handler of their own."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def example(*lines: str) -> str:
    """Examples for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@functools.cache  # it reads a file of every distribution that is installed
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="deniable.commands")}


def _shortened(sentence: str, limit: int) -> str:
    """The sentence, or as many of its words as fit into a line, as click does it."""
    return click.Command(None, help=sentence).get_short_help_str(limit)


def _not_installed(name: str, module: str) -> click.Command:
    sentence = f"needs {module}; {install_hint(extra_with(module))}"

    def refuse(**_ignored: object) -> None:
        raise click.ClickException(f"deniable {name} {sentence}")

    settings = {"ignore_unknown_options": True}
    rest = click.Argument(["rest"], nargs=-1)
    return click.Command(name, callback=refuse, params=[rest], short_help=f"({sentence})", context_settings=settings)
