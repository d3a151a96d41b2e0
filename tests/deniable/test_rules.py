"""Rules of options, and the sentences of those that are broken."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from deniable_commands.rules import RuledCommand, all_or_none, at_most_one, exactly_one, excludes, goes_with


@click.command(
    cls=RuledCommand,
    rules=[
        goes_with("--roster", "--column", "--sheet", because=", which has names"),
        excludes("--url", "--skip"),
        at_most_one("--db", "--url"),
        exactly_one("-n", "--roster", sentence="say how many with -n, or who with --roster"),
        all_or_none("--low", "--high"),
    ],
)
@click.option("--roster")
@click.option("--column")
@click.option("--sheet")
@click.option("--url", envvar="RULES_URL")
@click.option("--skip", default="0")
@click.option("--db", default="x.db")
@click.option("-n", "number")
@click.option("--low")
@click.option("--high")
def ruled(**_options: str) -> None:
    """Say that all is well."""
    click.echo("well")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("-n 1 --column a", "--column and --sheet go with --roster, which has names"),
        ("-n 1 --url a --skip 0", "--skip does not go with --url"),
        ("-n 1 --url a --db x.db", "--db and --url: give one of them"),
        ("", "say how many with -n, or who with --roster"),
        ("-n 1 --roster a", "say how many with -n, or who with --roster"),
        ("-n 1 --low 1", "--low and --high go together"),
    ],
)
def test_a_broken_rule_is_an_error_of_usage_with_its_sentence(line: str, sentence: str) -> None:
    result = CliRunner().invoke(ruled, line.split())
    assert result.exit_code == 2
    assert f"Error: {sentence}\n" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("line", ["-n 1", "--roster a --column b --sheet c --low 1 --high 2", "-n 1 --db y.db"])
def test_rules_look_at_what_was_typed_and_not_at_defaults_or_the_environment(line: str) -> None:
    result = CliRunner().invoke(ruled, line.split(), env={"RULES_URL": "https://collector.example"})
    assert (result.exit_code, result.stdout) == (0, "well\n")
