"""The command ``deniable``: a group whose commands the two sides bring as entry points.

Neither side is imported from here, and a side that is not installed costs its commands only.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from deniable import __version__
from deniable.errors import DeniableError, NotInstalled


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

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            raise click.ClickException(str(NotInstalled(error.name or "a module"))) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="deniable")
def main() -> None:
    """Sensitive questions, deniable answers.

    \b
    See the whole path on real data:        deniable demo
    Start a survey of your own:             deniable survey check my-survey.toml
                                            deniable survey publish my-survey.toml --db deniable.db
                                            deniable serve --db deniable.db
    """


def example(*lines: str) -> str:
    """Examples for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="deniable.commands")}


def _not_installed(name: str, module: str) -> click.Command:
    sentence = f"needs {module}: pip install 'deniable[server]'"

    def refuse(**_ignored: object) -> None:
        raise click.ClickException(f"deniable {name} {sentence}")

    settings = {"ignore_unknown_options": True}
    rest = click.Argument(["rest"], nargs=-1)
    return click.Command(name, callback=refuse, params=[rest], short_help=f"({sentence})", context_settings=settings)
