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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import click

from deniable.errors import DeniableError, NotInstalled
from deniable.installing import extra_with, install_hint

GROUP = "deniable.commands"
"""The entry points of commands that run without an extra; those in ``GROUP.extra`` need it."""

MAY_TAKE_LONG = {"analyze", "backup", "check", "copy", "estimate", "export", "plan", "simulate", "verify", "witness"}
"""Commands that say at a terminal that they are at work. Others ask somebody, serve, or have a progress bar."""


class Commands(click.Group):
    """Commands found by entry point, loaded when they are needed; errors of this project become one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _entries():
            return None
        # A package whose extra is missing still lists its commands, and says what to install when one is run.
        try:
            command: click.Command = _entries()[cmd_name].load()
        except ModuleNotFoundError as error:
            return _NotInstalled(cmd_name, error.name or "a module")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near or not isinstance(error, click.exceptions.NoSuchCommand):
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near[0]!r}?", ctx) from None
        if name in MAY_TAKE_LONG and sys.stderr.isatty():
            from deniable_commands.working import working

            ctx.with_resource(working(ctx))
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        rows: dict[str, list[tuple[str, str]]] = {"": []}
        for name in names:
            sentence = _shortened(self._sentence(ctx, name), formatter.width - 6 - width)
            extra = _extra_of(name)
            rows.setdefault(extra, []).append((name.ljust(width), sentence))
        for extra, listed in sorted(rows.items()):
            with formatter.section(
                f"Commands that need the extra {extra} ({install_hint(extra)})" if extra else "Commands"
            ):
                formatter.write_dl(listed)

    def _sentence(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's help. One that the generated page does not have is loaded for it."""
        if ctx.obj is not self and (help_text := _help_of(f"deniable {name}")):
            return " ".join(help_text.split("\n\n")[1].split())
        command = self.get_command(ctx, name)
        return " ".join((command.help or command.short_help or "").partition("\n\n")[0].split()) if command else ""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _ending_in_order():
                return super().invoke(ctx)
        except DeniableError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            raise click.ClickException(str(NotInstalled(error.name or "a module"))) from error
        except OSError as error:
            # A file that cannot be opened is nobody's bug; one without a name, such as a broken pipe, is click's.
            if not isinstance(error.filename, str | Path):
                raise
            raise click.ClickException(f"{error.filename}: cannot be read or written: {error.strerror}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Sensitive questions, deniable answers.

    \b
    See the whole path on real data:        deniable demo
    Start a survey of your own:             deniable survey new my-survey.toml
                                            deniable survey preview my-survey.toml
                                            deniable survey publish my-survey.toml --db deniable.db
                                            deniable serve --db deniable.db
    """


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: what is unfinished is removed. Servers set a handler of their own."""
    # Handlers can be set from the main thread only, and one that somebody else has set is theirs.
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
    found = entry_points()
    groups = [group for group in found.groups if f"{group}.".startswith(f"{GROUP}.")]
    return {entry.name: entry for group in groups for entry in found.select(group=group)}


def _extra_of(command: str) -> str:
    """The extra that a command needs; empty if it needs none."""
    return _entries()[command].group.removeprefix(GROUP).removeprefix(".")


def _shortened(sentence: str, limit: int) -> str:
    """The sentence, or as many of its words as fit into a line, as click does it."""
    return click.Command(None, help=sentence).get_short_help_str(limit)


class _NotInstalled(click.Command):
    """A command that cannot be loaded for want of a module: its help is read from the generated page."""

    def __init__(self, name: str, module: str) -> None:
        # Several extras may bring the module: the one of the command brings all that it needs.
        self.sentence = f"needs {module}; {install_hint(_extra_of(name) or extra_with(module))}"
        super().__init__(name, short_help=f"({self.sentence})")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not set(ctx.help_option_names) & set(args):
            raise click.ClickException(f"{ctx.command_path} {self.sentence}")
        click.echo(f"{_help_of(ctx.command_path, args)}\n\nIt {self.sentence}")
        ctx.exit()


def _help_of(command: str, args: Sequence[str] = ()) -> str:
    """The help of a command, or of the one below it that the arguments name, from the page that the generator wrote."""
    return next(
        (_page()[below] for each in args if (below := f"{command} {each}") in _page()), _page().get(command, "")
    )


@functools.cache
def _page() -> dict[str, str]:
    page = Path(__file__).with_name("cli.md").read_text(encoding="utf-8")
    parts = (part.partition("`\n\n```text\n") for part in page.split("\n## `")[1:])
    return {name: rest.rpartition("\n```")[0] for name, _, rest in parts}  # `re` takes 8 ms for this
