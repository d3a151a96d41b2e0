"""``deniable`` as its users run it, for the tests of its commands."""

from __future__ import annotations

import os
import subprocess
import sys

from click.testing import CliRunner, Result

from deniable_commands.main import main
from tools.rig.patience import PATIENCE


class CommandLine:
    """A command and its first arguments: ``CommandLine("survey", "check").ok(file)``."""

    def __init__(self, *first: str) -> None:
        self.first = first

    def run(self, *arguments: object, typed: str | None = None) -> Result:
        """Run it, whatever comes of it; ``typed`` is what somebody types when it asks."""
        return CliRunner().invoke(main, [*self.first, *map(str, arguments)], input=typed)

    def ok(self, *arguments: object) -> str:
        """What it prints when it succeeds."""
        result = self.run(*arguments)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    def refused(self, *arguments: object) -> str:
        """The sentence with which it refuses, having printed nothing."""
        result = self.run(*arguments)
        assert result.exit_code in (1, 2), result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.stderr


def run_cli(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``deniable`` as a user does."""
    command = [sys.executable, "-m", "deniable", *arguments]
    environment = os.environ | {"COLUMNS": "100"} | settings
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 3, check=False, env=environment)
